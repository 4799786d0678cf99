"""A fit of rows that are read in blocks.

The parameters are searched for on a sample. W is found on a small sample, then on larger ones, each starting from the
last W, and all rows are read only for the final rounds, which decide about convergence.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from joblib import cpu_count

from ..base.backend import Array
from ..base.errors import FitWarning
from ..base.parallel import fitting_threads
from ..core.alternation import Alternation, alternate, principal_axes
from ..core.certificate import certify
from ..core.embedding import round_to_labels
from ..core.engines.lowrank import MOST_LANDMARKS, TOLERANCE, LowRankEngine
from ..core.engines.recipes import Coordinates, RowEmbedding, RowGamma
from ..core.feature_weights import feature_weights
from ..core.metrics import overlap_p_value
from ..core.problem import Objective, Problem, wide_directions
from ..core.solvers import ISM, Solver
from ..core.solvers.grassmann import orthonormal
from ..core.surrogate import Subsampled
from ..data.rows import BLOCK_BYTES, STEP, Levels, Rows
from ..data.sums import Moments, indicator_tables
from ..search.obvious import as_they_were, reproduced_by
from ..search.resolve import resolve_parameters
from ..search.spec import Parameters, SearchSpec, Spec
from ..search.tuning import Tuning
from .fitted_view import FittedView
from .fitting import fit_in_memory, how_found, warn_of_rank
from .residuals import GivenMeans
from .solving import SampleOptions, SolveOptions, build_problem, counting, for_sample, start_on_sample
from .streamed_labels import given_features, label_block, streamed_overlap

logger = logging.getLogger(__name__)

STEPS = 10  # limit on the steps of ISM in one round
MOST_TILED = 30_000  # rows up to which exact tiles are used if too many landmarks would be needed
EXPECTED_RANK = 300


def few_steps(solver: Solver[Objective]) -> Solver[Objective]:
    """The same solver without Newton steps (a Hessian product takes four passes over the rows), and with few ISM steps.

    If these do not solve a W step, updating U and D is more effective than further steps.
    """
    return replace(solver, finish=False, max_iter=min(solver.max_iter, STEPS)) if isinstance(solver, ISM) else solver


def take_sample(rows: Rows, samples: SampleOptions, rng: np.random.Generator) -> tuple[Array, np.ndarray, np.ndarray]:
    """Random rows in random order, so that the first m of them are a sample too; their codes and their places."""
    most = max(min(samples.most, int(samples.most_bytes / (8 * rows.d))), samples.first)
    chosen = np.sort(rng.choice(rows.n, min(rows.n, most), replace=False))
    sample, codes = rows.take(chosen)
    order = rng.permutation(len(chosen))
    return sample[order], codes[order], chosen[order]


def sample_sizes(sampled: int, n: int, samples: SampleOptions) -> list[int]:
    """The number of rows of each stage: growing parts of the sample, up to half of all rows, and then all rows."""
    sizes = [samples.first * samples.growth**i for i in range(1, 20)]
    return [m for m in sizes if m <= min(sampled, n / 2)] + [n]


def step_for(limit: float | None, d: int, columns: int, itemsize: int) -> int:
    """Rows per step, such that the temporaries of all threads fit the limit; the largest ones are in `_phi_sums`."""
    bytes_per_row = itemsize * (4 * EXPECTED_RANK + (columns + 3) * d)
    available = BLOCK_BYTES if limit is None else min(BLOCK_BYTES, limit / 4 / cpu_count())
    return int(np.clip(available / bytes_per_row, 16, STEP))


@dataclass(frozen=True)
class StreamingProblem:
    """The problem, and the sample of its rows in memory.

    Attributes
    ----------
    rows : Rows
    levels : list of Levels
        What the codes of each given column mean.
    moments : Moments
    sample, codes : arrays, shapes (s, d) and (s, g)
        Raw rows in random order, and their codes.
    inside : array, shape (s, r)
        The sample in the coordinates of the problem.
    coordinates : Coordinates
    scatter : array, shape (r, r)
        XᵀX of all rows in these coordinates.
    parameters : Parameters
    """

    rows: Rows
    levels: list[Levels]
    moments: Moments
    sample: Array
    codes: np.ndarray
    inside: Array
    coordinates: Coordinates
    scatter: Array
    parameters: Parameters

    @classmethod
    def of(
        cls,
        rows: Rows,
        levels: list[Levels],
        moments: Moments,
        sample: Array,
        codes: np.ndarray,
        parameters: Parameters,
    ) -> StreamingProblem:
        """From the raw sample: subtract the given effects if requested, and restrict to the row space."""
        effects = moments.effects([one.table for one in levels]) if parameters.subtract_given else []
        scatter = moments.without(effects) if effects else moments.scatter
        basis = wide_directions(scatter, widest=float(np.trace(moments.scatter)) if effects else 0.0)
        coordinates = Coordinates(moments.mean, [np.vstack([e, np.zeros(rows.d)]) for e in effects], basis)
        scatter = scatter if basis is None else basis.T @ scatter @ basis
        inside = coordinates(sample, codes)
        return cls(rows, levels, moments, sample, codes, inside, coordinates, scatter, parameters)

    def stage(
        self, m: int, W: Array, landmarks: Array | None, options: SolveOptions, rng: np.random.Generator
    ) -> tuple[Problem, LowRankEngine]:
        """The problem of the first m rows of the sample, or of all."""
        n, codes, pivoted = self.rows.n, self.codes, options.samples.pivoted
        part = self.rows if m == n else self.rows.subset(self.sample[:m], codes[:m])
        counts = self.moments.counts if m == n else _counts(codes[:m], self.levels)
        here = replace(for_sample(self.parameters, m, n), n_components=W.shape[1])
        tables = indicator_tables(counts, here.scaling, [one.table for one in self.levels])
        problem = build_problem(self.inside.shape[1], here, self.coordinates.basis)
        columns = here.n_clusters + sum(table.shape[1] for table in tables)
        engine = LowRankEngine(
            part,
            self.coordinates,
            problem.kernel,
            self.inside[:pivoted],
            codes[:pivoted],
            tables,
            landmarks,
            step=step_for(options.memory_limit, self.inside.shape[1], columns, self.inside.itemsize),
            rng=rng,
        )
        return problem, engine


def fit_streamed(
    rows: Rows,
    levels: list[Levels],
    names: Sequence[str] | None,
    spec: Spec,
    options: SolveOptions,
    reason: str,
    rng: np.random.Generator,
) -> FittedView:
    """Fit rows in blocks with the low-rank engine, on growing samples and then on all rows.

    Parameters
    ----------
    rows : Rows
        With the codes of what is given.
    levels : list of Levels
        What the codes of each given column mean.
    names : sequence of str, optional
        Column names for messages.
    spec : Spec
    options : SolveOptions
    reason : str
        Why this engine was chosen.
    rng : Generator
    """
    logger.info("engine lowrank: %s", reason)
    samples = options.samples
    sample, codes, places = take_sample(rows, samples, rng)
    shift = np.where(np.ptp(sample, axis=0) == 0, sample[0], sample.mean(axis=0, dtype=float))
    shift = shift.astype(sample.dtype).astype(float)  # rounded as in the blocks
    moments = Moments.of(rows, shift, [one.size for one in levels], names)
    moments.check_single(sample.dtype)
    searched = samples.searched
    seen, seen_given = (
        np.asarray(sample[:searched] - moments.mean, dtype=float),
        given_features(codes[:searched], levels),
    )
    with fitting_threads(samples.first):
        originals = None if spec.originals is None else spec.originals.iloc[places[:searched]]
        keep = None if spec.keep is None else spec.keep.take(places[:searched])
        streamable = replace(spec, whitening=0.0, pull=0.0, originals=originals, keep=keep)
        parameters, search, tuning = resolve_parameters(
            streamable, seen, seen_given, rng, n_jobs=options.n_jobs, callback=options.callback, names=names
        )
    options = counting(options)
    stated = StreamingProblem.of(rows, levels, moments, sample, codes, parameters)
    warn_of_rank(spec.n_components, stated.inside.shape[1])
    W = _start(stated, options, rng)
    if options.engine == "auto" and rows.n <= MOST_TILED and not rows.scattered:
        error = stated.stage(rows.n, W, None, options, np.random.default_rng(0))[1].find_landmarks(W)
        if error > TOLERANCE:
            why = f"{MOST_LANDMARKS} landmarks would leave out {error:.2g} of the kernel's trace"
            resolved = replace(parameters, n_components=W.shape[1], init=_to_table(stated, W)), search, tuning
            with suppress(MemoryError):  # fall through to the low-rank engine
                return _fit_by_tiles(stated, resolved, names, spec, options, why, rng)
    with fitting_threads(stated.inside.shape[1]):  # threads process blocks; only Φ is left for BLAS
        problem, engine, end, history = _descend(stated, W, options, rng)
    embedding, gamma = end.embedding, end.gamma
    if gamma.embedding is not embedding:
        gamma = engine.weigh(embedding, embedding.degrees, problem.novelty_weight)
    axes = principal_axes(end.W, end.W.T @ stated.scatter @ end.W)
    map = replace(embedding.map, landmarks=embedding.map.landmarks @ (end.W.T @ axes))
    few = stated.inside[:searched] @ axes
    U = map.rows(few) * np.sqrt(rows.n / len(few))
    searched_labels, centres = round_to_labels(U, problem.n_clusters, options.rounding, rng)
    map = replace(map, centres=centres)
    found = stated.coordinates, axes, map
    labels = rows.each(label_block, *found, step=engine.step)
    table_W, error = _to_table(stated, axes), engine.approximation_error
    rule = None
    if tuning is not None or originals is not None:
        before = as_they_were(seen, names, originals)
        beside = as_they_were(seen, names, None)
        rule = reproduced_by(searched_labels, before, cuts=False, given=seen_given, beside=beside)
    if error > 2 * TOLERANCE:
        warnings.warn(
            FitWarning(
                f"{len(engine.landmarks)} landmarks leave out {error:.2g} of the kernel's trace, a large error: "
                'choose a larger sigma, fewer directions, or engine="tiles".'
            ),
            stacklevel=4,
        )
    return FittedView(
        labels=labels,
        components=table_W.T,
        mean=moments.mean,
        feature_weights=feature_weights(seen, searched_labels, table_W),
        overlap=streamed_overlap(rows, labels, levels, *found),
        overlap_p_value=overlap_p_value(searched_labels, seen_given),
        known=", ".join(one.description for one in levels),
        quality=float(np.sum(embedding.values)),
        cost=-engine.value(end.W, gamma),
        status=str(end.status),
        n_iter=len(history["value"]),
        sigma=parameters.sigma,
        novelty_weight=parameters.novelty_weight,
        subtract_given=parameters.subtract_given,
        whitening=0.0,
        degree_floor=0.0,
        pull=0.0,
        n_components=axes.shape[1],
        n_clusters=problem.n_clusters,
        engine=f"lowrank: {reason}; {len(engine.landmarks)} landmarks, trace error {error:.2g}",
        approximation_error=error,
        history=history,
        tuning=tuning,
        kernel_map=map,
        given_means=_given_means(stated, seen, seen_given),
        **how_found(tuning, 0, search, parameters, axes.shape[1]),
        searched_labels=searched_labels,
        rule=rule,
        certify=partial(certify, problem, engine, axes, end.gamma),
    )


def _start(stated: StreamingProblem, options: SolveOptions, rng: np.random.Generator) -> Array:
    """The start W: that of the search, or of an exact fit of a few rows."""
    basis, parameters = stated.coordinates.basis, stated.parameters
    if isinstance(parameters.init, str):
        few = max(options.samples.first, 20 * parameters.n_clusters)
        given = given_features(stated.codes[:few], stated.levels)
        parameters = start_on_sample(stated.inside[:few], given, basis, parameters, stated.rows.n, options, rng)
    W = np.asarray(parameters.init, dtype=float)
    return orthonormal(W if basis is None else basis.T @ W)


def _descend(
    stated: StreamingProblem, W: Array, options: SolveOptions, rng: np.random.Generator
) -> tuple[Problem, LowRankEngine, Alternation[RowEmbedding, RowGamma], dict[str, Array]]:
    """Alternate on growing samples and then on all rows; the history contains the numbers of rows."""
    histories: list[dict[str, Array]] = []
    first: LowRankEngine | None = None
    landmarks: Array | None = None
    solver = few_steps(options.solver)
    for m in sample_sizes(len(stated.sample), stated.rows.n, options.samples):
        problem, engine = stated.stage(m, W, landmarks, options, rng)
        here = options.on_sample() if first is None and m < stated.rows.n else options
        stepper = solver if first is None else Subsampled(solver, engine, first, here.tol)
        end = alternate(problem, engine, stepper, W, **here.limits(given_features(engine.codes, stated.levels)))
        rounds = len(end.history["value"])
        histories.append(end.history | {"rows": np.full(rounds, m)})
        logger.info("%d rows: %d rounds, %d landmarks, %s", m, rounds, len(engine.landmarks), end.status)
        W, landmarks, first = end.W, engine.landmarks, first or engine
    return problem, engine, end, {name: np.concatenate([h[name] for h in histories]) for name in histories[0]}


def _fit_by_tiles(
    stated: StreamingProblem,
    resolved: tuple[Parameters, SearchSpec, Tuning | None],
    names: Sequence[str] | None,
    spec: Spec,
    options: SolveOptions,
    why: str,
    rng: np.random.Generator,
) -> FittedView:
    """An exact fit, for rows whose kernel landmarks cannot approximate."""
    rows, mean = stated.rows, stated.moments.mean
    table, codes = rows.take(np.arange(rows.n))
    centred, given = np.asarray(table, dtype=float) - mean, given_features(codes, stated.levels)
    parameters, search, tuning = resolved
    fixed = replace(search.fixed, keep=spec.keep)
    resolved = parameters, replace(search, X=centred, given=given, fixed=fixed), tuning
    known = ", ".join(one.description for one in stated.levels)
    model = rows.model("tiles")
    return fit_in_memory(centred, mean, given, spec, options, "tiles", why, model, rng, resolved, names, known)


def _to_table(stated: StreamingProblem, W: Array) -> Array:
    basis = stated.coordinates.basis
    return W if basis is None else basis @ W


def _given_means(stated: StreamingProblem, seen: Array, given: list[np.ndarray]) -> GivenMeans | None:
    """The means to subtract from new rows: effects of all rows, with a discriminant learnt from the sample."""
    if not stated.coordinates.effects:
        return None
    learnt = GivenMeans.fit(seen, given)
    labels = [e for e, one in zip(stated.coordinates.effects, stated.levels, strict=True) if one.table is None]
    effects = [table[: len(w)] for table, w in zip(labels, learnt.weights, strict=True)]
    return replace(learnt, means=effects)


def _counts(codes: np.ndarray, levels: list[Levels]) -> list[np.ndarray]:
    return [np.bincount(c[c >= 0], minlength=one.size) for c, one in zip(codes.T, levels, strict=True)]
