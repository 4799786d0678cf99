"""One fit of rows that are only ever seen in blocks.

A sample of the rows does the searching. W is found on a small sample, then on larger ones, each from where the one
before ended, and all rows are read only for the last rounds, which decide when to stop.
"""

from __future__ import annotations

import logging
import warnings
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import numpy as np
from joblib import cpu_count

from ..base.backend import Array, host, like
from ..base.parallel import fitting_threads
from ..core.alternation import Alternation, alternate, principal_axes
from ..core.certificate import certify
from ..core.embedding import KernelMap, nearest, round_to_labels, unit_rows
from ..core.engines.lowrank import MOST_LANDMARKS, TOLERANCE, LowRankEngine
from ..core.engines.recipes import Coordinates, RowEmbedding, RowGamma
from ..core.kernels import Gaussian
from ..core.metrics import feature_weights, overlap, table_nmi
from ..core.problem import wide_directions
from ..core.solvers import ISM, Solver
from ..core.solvers.grassmann import orthonormal
from ..core.surrogate import Subsampled
from ..data.rows import STEP, Rows
from ..data.sums import Moments, check_block, indicator_tables, one_hot
from ..search.resolve import Setting, settle
from .fitting import FIRST, Fit, Procedure, Rounds, fit_in_memory, for_sample, rough, start_on_sample, warn_of_rank
from .residuals import GivenMeans

logger = logging.getLogger(__name__)

STEPS = 10  # of ISM in one round
GROWTH = 8  # each sample has so many times the rows of the one before
MOST_SAMPLED = 100_000  # rows of the largest sample
MOST_SAMPLED_BYTES = 64e6
SEARCHED = 10_000  # rows of the sample that the search, the rounding and the confidence see
PIVOTED = 8192  # rows of the sample among which landmarks are found
MOST_TILED = 30_000  # rows up to which exact tiles are worth their time where too many landmarks would be needed
BLOCK_BYTES = 64e6  # of the temporaries of one thread
EXPECTED_RANK = 300


@dataclass(frozen=True)
class StreamedProblem:
    """`altclust.core.problem.Problem` without its rows; `tables` has the given indicators by code."""

    basis: Array | None
    tables: list[Array]
    n_clusters: int
    n_components: int
    novelty_weight: float
    kernel: Gaussian
    codes: tuple[()] = ()

    @property
    def signs(self) -> Array:
        """S of γ = F diag(s) Fᵀ."""
        given = sum(table.shape[1] for table in self.tables)
        return np.concatenate([np.ones(self.n_clusters), np.full(given, -self.novelty_weight)])

    def weigh(self, embedding: RowEmbedding, degrees: Array) -> RowGamma:
        """The weights of the W problem; the degrees are those of the U step, which every block makes anew."""
        return RowGamma(embedding, self.tables, self.signs)


def few_steps(solver: Solver) -> Solver:
    """The same solver without a Newton finish: each product with the Hessian would be four passes over the rows.

    Nor does it insist: where few steps do not solve a W step, new U and D bring more than further steps.
    """
    return replace(solver, finish=False, max_iter=min(solver.max_iter, STEPS)) if isinstance(solver, ISM) else solver


def take_sample(rows: Rows, rng: np.random.Generator) -> tuple[Array, np.ndarray]:
    """Rows at random, in random order, so that the first of them are a sample too; and their codes."""
    most = max(min(MOST_SAMPLED, int(MOST_SAMPLED_BYTES / (8 * rows.d))), FIRST)
    chosen = rng.choice(rows.n, min(rows.n, most), replace=False)
    sample, codes = rows.take(np.sort(chosen))
    order = rng.permutation(len(chosen))
    return sample[order], codes[order]


def sample_sizes(sampled: int, n: int) -> list[int]:
    """How many rows each stage sees: ever more of the sample, where that is far less than all, and then all."""
    sizes = [FIRST * GROWTH**i for i in range(1, 20)]
    return [m for m in sizes if m <= min(sampled, n / 2)] + [n]


def step_for(limit: float | None, d: int, columns: int, itemsize: int) -> int:
    """Rows at once, such that the temporaries of all threads stay within the limit; see `_phi_sums` for the widest."""
    bytes_per_row = itemsize * (4 * EXPECTED_RANK + (columns + 3) * d)
    room = BLOCK_BYTES if limit is None else min(BLOCK_BYTES, limit / 4 / cpu_count())
    return int(np.clip(room / bytes_per_row, 16, STEP))


def label_block(X: Any, codes: Any, coordinates: Coordinates, W: Array, map: KernelMap) -> Any:
    """The labels of a block of raw rows."""
    return nearest(unit_rows(map.block(coordinates(X, codes) @ like(W, X))), map.centres)


def project_block(X: Any, codes: Any, mean: Array, given_means: GivenMeans | None, components: Array) -> Any:
    """New rows in the learnt directions."""
    check_block(X)
    rows = X - like(mean, X)
    return (rows if given_means is None else given_means.remove(rows)) @ like(components, X).T


def predict_block(X: Any, codes: Any, mean: Array, means: GivenMeans | None, components: Array, map: KernelMap) -> Any:
    """The labels of new rows."""
    return nearest(unit_rows(map.block(project_block(X, codes, mean, means, components))), map.centres)


def contingency_block(X: Any, codes: Any, clusters: list[int], *found: Any) -> tuple[Any, ...]:
    """How many rows of each label have each code, per given clustering; unknown ones count nowhere."""
    _, _, map = found
    labels = one_hot(label_block(X, codes, *found), len(map.centres), X)
    return tuple(labels.T @ one_hot(codes[:, g], size, X) for g, size in enumerate(clusters))


@dataclass(frozen=True)
class Posed:
    """What is to be solved, and the sample that is in memory.

    Attributes
    ----------
    rows : Rows
    clusters : list of int
        How many clusters each given clustering has.
    moments : Moments
    sample, codes : arrays, shapes (s, d) and (s, g)
        Raw rows in random order, and their codes.
    inside : array, shape (s, r)
        The same in the coordinates of the problem.
    coordinates : Coordinates
    scatter : array, shape (r, r)
        XᵀX there, of all rows.
    setting : Setting
    """

    rows: Rows
    clusters: list[int]
    moments: Moments
    sample: Array
    codes: np.ndarray
    inside: Array
    coordinates: Coordinates
    scatter: Array
    setting: Setting

    @classmethod
    def of(
        cls, rows: Rows, clusters: list[int], moments: Moments, sample: Array, codes: np.ndarray, setting: Setting
    ) -> Posed:
        """With or without the given means, in the row space."""
        effects = moments.effects() if setting.subtract_given else []
        scatter = moments.without(effects) if effects else moments.scatter
        basis = wide_directions(scatter, widest=float(np.trace(moments.scatter)) if effects else 0.0)
        coordinates = Coordinates(moments.mean, [np.vstack([e, np.zeros(rows.d)]) for e in effects], basis)
        scatter = scatter if basis is None else basis.T @ scatter @ basis
        inside = coordinates(sample, codes)
        return cls(rows, clusters, moments, sample, codes, inside, coordinates, scatter, setting)

    def stage(
        self, m: int, W: Array, landmarks: Array | None, limit: float | None, rng: np.random.Generator
    ) -> tuple[StreamedProblem, LowRankEngine]:
        """The problem of the first m rows of the sample, or of all."""
        n, codes = self.rows.n, self.codes
        part = self.rows if m == n else self.rows.subset(self.sample[:m], codes[:m])
        counts = self.moments.counts if m == n else _counts(codes[:m], self.clusters)
        here = for_sample(self.setting, m, n)
        tables, kernel = indicator_tables(counts, here.scaling), Gaussian(here.sigma)
        basis = self.coordinates.basis
        problem = StreamedProblem(basis, tables, here.n_clusters, W.shape[1], here.novelty_weight, kernel)
        step = step_for(limit, self.inside.shape[1], len(problem.signs), self.inside.itemsize)
        pivoted = self.inside[:PIVOTED]
        engine = LowRankEngine(
            part, self.coordinates, kernel, pivoted, codes[:PIVOTED], tables, landmarks, step=step, rng=rng
        )
        return problem, engine


def fit_streamed(
    kdac: Any, rows: Rows, clusters: list[int], how: Procedure, reason: str, rng: np.random.Generator
) -> Fit:
    """Rows in blocks, by the low-rank engine, over samples that grow.

    Parameters
    ----------
    kdac : KDAC
        Whose parameters say what is fixed.
    rows : Rows
        With the codes of what is given.
    clusters : list of int
        How many clusters each given clustering has.
    how : Procedure
    reason : str
        Why this engine.
    rng : Generator
    """
    logger.info("engine lowrank: %s", reason)
    how = replace(how, callback=Rounds(how.callback))
    sample, codes = take_sample(rows, rng)
    shift = np.where(np.ptp(sample, axis=0) == 0, sample[0], sample.mean(axis=0, dtype=float))
    shift = shift.astype(sample.dtype).astype(float)  # as the blocks will see it
    moments = Moments.of(rows, shift, clusters, kdac)
    moments.check_single(sample.dtype)
    seen, seen_given = np.asarray(sample[:SEARCHED] - moments.mean, dtype=float), list(codes[:SEARCHED].T)
    with fitting_threads(FIRST):
        setting, question, tuning = settle(kdac, seen, seen_given, rng)
    posed = Posed.of(rows, clusters, moments, sample, codes, setting)
    warn_of_rank(kdac.n_components, posed.inside.shape[1])
    W = _start(posed, how, rng)
    if kdac.engine == "auto" and rows.n <= MOST_TILED and not rows.scattered:
        error = posed.stage(rows.n, W, None, how.memory_limit, np.random.default_rng(0))[1].find_landmarks(W)
        if error > TOLERANCE:
            why = f"{MOST_LANDMARKS} landmarks would leave out {error:.2g} of the kernel's trace"
            settled = replace(setting, n_components=W.shape[1], init=_to_table(posed, W)), question, tuning
            with suppress(MemoryError):  # the lean way is still open
                return _fit_by_tiles(kdac, posed, settled, how, why, rng)
    with fitting_threads(posed.inside.shape[1]):  # threads share the blocks, and Φ is all that is left for BLAS
        problem, engine, end, history = _descend(posed, W, how, rng)
    embedding, gamma = cast(RowEmbedding, end.embedding), cast(RowGamma, end.gamma)
    if gamma.embedding is not embedding:
        gamma = problem.weigh(embedding, embedding.degrees)
    axes = principal_axes(end.W, end.W.T @ posed.scatter @ end.W)
    map = replace(embedding.map, landmarks=embedding.map.landmarks @ (end.W.T @ axes))
    few = posed.inside[:SEARCHED] @ axes
    U = map.rows(few) * np.sqrt(rows.n / len(few))
    answered, centres = round_to_labels(U, problem.n_clusters, how.rounding, rng)
    map = replace(map, centres=centres)
    found = posed.coordinates, axes, map
    labels = rows.each(label_block, *found, step=engine.step)
    table_W, error = _to_table(posed, axes), engine.approximation_error
    if error > 2 * TOLERANCE:
        warnings.warn(
            f"{len(engine.landmarks)} landmarks leave out {error:.2g} of the kernel's trace, so the view is rough: "
            'choose a larger sigma, fewer components, or engine="tiles".',
            UserWarning,
            stacklevel=4,
        )
    return Fit(
        labels=labels,
        components=table_W.T,
        mean=moments.mean,
        kernel_map=map,
        values=embedding.values,
        cost=-engine.value(end.W, gamma),
        overlap=_overlap(rows, labels, clusters, *found),
        weights=feature_weights(table_W, np.diag(moments.scatter) / rows.n),
        history=history,
        status=end.status,
        setting=setting,
        question=replace(question, n_components=question.n_components if tuning is not None else axes.shape[1]),
        answered=answered,
        tuning=tuning,
        given_means=_given_means(posed, seen, seen_given),
        engine=f"lowrank: {reason}; {len(engine.landmarks)} landmarks, trace error {error:.2g}",
        error=error,
        certify=partial(certify, cast(Any, problem), cast(Any, engine), axes, end.gamma),
    )


def _start(posed: Posed, how: Procedure, rng: np.random.Generator) -> Array:
    """W that the search found, or that an exact fit of a few rows finds."""
    basis, setting = posed.coordinates.basis, posed.setting
    if isinstance(setting.init, str):
        few = max(FIRST, 20 * setting.n_clusters)
        given = list(posed.codes[:few].T)
        setting = start_on_sample(posed.inside[:few], given, basis, setting, posed.rows.n, how, rng)
    W = np.asarray(setting.init, dtype=float)
    return orthonormal(W if basis is None else basis.T @ W)


def _descend(
    posed: Posed, W: Array, how: Procedure, rng: np.random.Generator
) -> tuple[StreamedProblem, LowRankEngine, Alternation, dict[str, Array]]:
    """Alternate on ever more rows, at last on all; the history says how many there were."""
    histories: list[dict[str, Array]] = []
    first: LowRankEngine | None = None
    landmarks: Array | None = None
    solver = few_steps(how.solver)
    for m in sample_sizes(len(posed.sample), posed.rows.n):
        problem, engine = posed.stage(m, W, landmarks, how.memory_limit, rng)
        limits = (rough(how) if first is None and m < posed.rows.n else how).limits
        stepper = solver if first is None else cast(Solver, Subsampled(solver, first, limits["tol"]))
        end = alternate(cast(Any, problem), cast(Any, engine), stepper, W, **limits)
        rounds = len(end.history["value"])
        histories.append(end.history | {"rows": np.full(rounds, m)})
        logger.info("%d rows: %d rounds, %d landmarks, %s", m, rounds, len(engine.landmarks), end.status)
        W, landmarks, first = end.W, engine.landmarks, first or engine
    return problem, engine, end, {name: np.concatenate([h[name] for h in histories]) for name in histories[0]}


def _fit_by_tiles(
    kdac: Any, posed: Posed, settled: tuple[Setting, Any, Any], how: Procedure, why: str, rng: np.random.Generator
) -> Fit:
    """The exact way, for rows that landmarks cannot stand for."""
    rows, mean = posed.rows, posed.moments.mean
    table, codes = rows.take(np.arange(rows.n))
    centred, given = np.asarray(table, dtype=float) - mean, list(codes.T)
    setting, question, tuning = settled
    settled = setting, replace(question, X=centred, given=given), tuning
    return fit_in_memory(kdac, centred, mean, given, how, "tiles", why, rows.model("tiles"), rng, settled)


def _to_table(posed: Posed, W: Array) -> Array:
    basis = posed.coordinates.basis
    return W if basis is None else basis @ W


def _given_means(posed: Posed, seen: Array, given: list[np.ndarray]) -> GivenMeans | None:
    """What new rows lose: the means of all rows, by a guess that the sample taught."""
    if not posed.coordinates.effects:
        return None
    guess = GivenMeans.fit(seen, given)
    effects = [table[: len(w)] for table, w in zip(posed.coordinates.effects, guess.weights, strict=True)]
    return replace(guess, means=effects)


def _counts(codes: np.ndarray, clusters: list[int]) -> list[np.ndarray]:
    return [np.bincount(c[c >= 0], minlength=size) for c, size in zip(codes.T, clusters, strict=True)]


def _overlap(rows: Rows, labels: Any, clusters: list[int], *found: Any) -> float:
    """The largest NMI with a given clustering; counted where the rows are if the labels are not in memory."""
    if isinstance(labels, np.ndarray):
        return overlap(labels, list(host(rows.codes).T))
    tables = rows.total(contingency_block, clusters, *found) if clusters else ()
    return max(map(table_nmi, tables), default=float("nan"))
