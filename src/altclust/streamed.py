"""One fit of rows that are only ever seen in blocks.

A sample of the rows does the searching. W is found on a small sample, then on larger ones, each from where the one
before ended, and all rows are read only for the last rounds, which decide when to stop.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import numpy as np
from array_api_compat import array_namespace
from joblib import cpu_count

from .certificate import certify
from .engines.lowrank import Coordinates, LowRankEngine, RowEmbedding, RowGamma
from .fitting import FIRST, Fit, Procedure, for_sample, rough, start_on_sample, warn_of_rank
from .given_means import GivenMeans
from .kernels import Array, Gaussian, like
from .metrics import feature_weights, novelty, table_nmi
from .moments import Moments, indicator_tables, one_hot
from .problem import wide_directions
from .rows import STEP, Rows
from .setting import settle
from .solve import Callback, alternate, principal_axes
from .solvers import ISM, Solver
from .solvers.grassmann import orthonormal
from .spectral import KernelMap, nearest, round_to_labels, unit_rows
from .surrogate import Subsampled
from .threads import fitting_threads
from .validate import InputError

logger = logging.getLogger(__name__)

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
    """`altclust.problem.Problem` without its rows; `tables` has the given indicators by code."""

    basis: Array | None
    tables: list[Array]
    n_clusters: int
    n_components: int
    novelty_weight: float
    kernel: Gaussian

    @property
    def signs(self) -> Array:
        """S of γ = F diag(s) Fᵀ."""
        given = sum(table.shape[1] for table in self.tables)
        return np.concatenate([np.ones(self.n_clusters), np.full(given, -self.novelty_weight)])

    def weigh(self, embedding: RowEmbedding, degrees: Array) -> RowGamma:
        """The weights of the W problem; the degrees are those of the U step, which every block makes anew."""
        return RowGamma(embedding, self.tables, self.signs)

    def to_table(self, W: Array) -> Array:
        """W in the coordinates of the table, shape (d, q)."""
        return W if self.basis is None else self.basis @ W


class Rounds:
    """A callback that counts on from sample to sample, and that says the same for ever once it was told to end."""

    def __init__(self, callback: Callback | None) -> None:
        self.callback, self.count, self.ended = callback, 0, False

    def __call__(self, _: int, value: float, change: float) -> bool:
        """After each round of a sample."""
        self.count += 1
        self.ended = self.ended or (self.callback is not None and bool(self.callback(self.count, value, change)))
        return self.ended


def without_hessian(solver: Solver) -> Solver:
    """The same solver without a Newton finish: each product with the Hessian would be four passes over the rows."""
    return replace(solver, finish=False) if isinstance(solver, ISM) else solver


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
    if not bool(array_namespace(X).all(array_namespace(X).isfinite(X))):
        raise InputError("X has NaN or infinity: fill it in (sklearn.impute) or leave those rows out.")
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


def fit_streamed(
    kdac: Any, rows: Rows, clusters: list[int], how: Procedure, reason: str, names: Any, rng: np.random.Generator
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
    names : sequence of str or None
        Of the columns, for messages.
    rng : Generator
    """
    how = replace(how, callback=Rounds(how.callback), solver=without_hessian(how.solver))
    sample, codes = take_sample(rows, rng)
    shift = np.where(np.ptp(sample, axis=0) == 0, sample[0], sample.mean(axis=0, dtype=float))
    moments = Moments.of(rows, shift, clusters, names)
    seen, seen_given = np.asarray(sample[:SEARCHED] - moments.mean, dtype=float), list(codes[:SEARCHED].T)
    with fitting_threads(FIRST):
        setting, question, tuning = settle(kdac, seen, seen_given, rng)
    effects = moments.effects() if setting.subtract_given else []
    means = replace(GivenMeans.fit(seen, seen_given), means=effects) if effects else None
    scatter = moments.without(effects) if effects else moments.scatter
    basis = wide_directions(scatter)
    coordinates = Coordinates(moments.mean, [np.vstack([e, np.zeros(rows.d)]) for e in effects], basis)
    inside = coordinates(sample, codes)
    warn_of_rank(kdac.n_components, inside.shape[1])
    if isinstance(setting.init, str):
        first = max(FIRST, 20 * setting.n_clusters)
        setting = start_on_sample(inside[:first], list(codes[:first].T), basis, setting, rows.n, how, rng)
    W = np.asarray(setting.init, dtype=float)
    W = orthonormal(W if basis is None else basis.T @ W)
    histories: list[dict[str, Array]] = []
    engines: list[LowRankEngine] = []
    landmarks: Array | None = None
    for m in sample_sizes(len(sample), rows.n):
        everything = m == rows.n
        part = rows if everything else rows.subset(sample[:m], codes[:m])
        counts: list[Any] = moments.counts if everything else _counts(codes[:m], clusters)
        here = for_sample(setting, m, rows.n)
        tables, kernel = indicator_tables(counts, here.scaling), Gaussian(here.sigma)
        problem = StreamedProblem(basis, tables, here.n_clusters, W.shape[1], here.novelty_weight, kernel)
        step = step_for(how.memory_limit, inside.shape[1], len(problem.signs), inside.itemsize)
        engine = LowRankEngine(
            part, coordinates, kernel, inside[:PIVOTED], codes[:PIVOTED], tables, landmarks, step=step, rng=rng
        )
        limits = (how if everything else rough(how)).limits
        solver = Subsampled(how.solver, engines[0], limits["tol"]) if engines else how.solver
        end = alternate(cast(Any, problem), cast(Any, engine), cast(Solver, solver), W, **limits)
        engines.append(engine)
        histories.append(end.history | {"rows": np.full(len(end.history["value"]), m)})
        logger.info(
            "%d rows: %d rounds, %d landmarks, %s", m, len(end.history["value"]), len(engine.landmarks), end.status
        )
        W, landmarks = end.W, engine.landmarks
    embedding = cast(RowEmbedding, end.embedding)
    gamma = cast(RowGamma, end.gamma)
    if gamma.embedding is not embedding:
        gamma = problem.weigh(embedding, embedding.degrees)
    cost = -engine.value(W, gamma)
    inner = scatter if basis is None else basis.T @ scatter @ basis
    axes = principal_axes(W, W.T @ inner @ W)
    map = replace(embedding.map, landmarks=embedding.map.landmarks @ (W.T @ axes))
    few = inside[:SEARCHED] @ axes
    U = map.rows(few) * np.sqrt(rows.n / len(few))
    answered, centres = round_to_labels(U, setting.n_clusters, how.rounding, rng)
    map = replace(map, centres=centres)
    labels = rows.each(label_block, coordinates, axes, map, step=step)
    W = problem.to_table(axes)
    return Fit(
        labels=labels,
        components=W.T,
        mean=moments.mean,
        kernel_map=map,
        values=embedding.values,
        cost=cost,
        novelty=_novelty(rows, labels, clusters, coordinates, axes, map),
        weights=feature_weights(W, np.diag(moments.scatter) / rows.n),
        history={name: np.concatenate([h[name] for h in histories]) for name in histories[0]},
        status=end.status,
        setting=setting,
        question=replace(question, n_components=question.n_components if tuning is not None else W.shape[1]),
        answered=answered,
        tuning=tuning,
        given_means=means,
        engine=f"lowrank: {reason}; {len(engine.landmarks)} landmarks, trace error {engine.approximation_error:.2g}",
        error=engine.approximation_error,
        certify=partial(certify, cast(Any, problem), cast(Any, engine), axes, cast(Any, gamma)),
    )


def _counts(codes: np.ndarray, clusters: list[int]) -> list[np.ndarray]:
    return [np.bincount(c[c >= 0], minlength=size) for c, size in zip(codes.T, clusters, strict=True)]


def _novelty(rows: Rows, labels: Any, clusters: list[int], *found: Any) -> float:
    """The largest NMI with a given clustering; counted where the rows are if the labels are not in memory."""
    if isinstance(labels, np.ndarray):
        return novelty(labels, list(rows.codes.T))
    return max(map(table_nmi, rows.total(contingency_block, clusters, *found)), default=float("nan"))
