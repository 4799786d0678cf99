"""The start of W: the paper's spectral initialization (SI), or a random one (RI)."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from ..base.backend import Array
from ..base.errors import InputError
from .kernel_family import Linear, Squared
from .kernels import Gaussian
from .linalg.eigen import fix_signs
from .problem import Embedding, KernelEngine, Problem
from .solvers.grassmann import orthonormal


class SpectralStart(NamedTuple):
    """Eigenvalues (r,) ascending and eigenvectors (r, r) of Φ at W = 0, and the U step that defines γ."""

    values: Array
    vectors: Array
    embedding: Embedding

    def gap(self, most: int) -> int:
        """The number of directions, at most `most`, before the largest gap between eigenvalues."""
        jumps = np.diff(self.values)[:most]
        return int(np.argmax(jumps)) + 1 if len(jumps) else 1


def spectral_start(problem: Problem, engine: KernelEngine, embedding: Embedding | None = None) -> SpectralStart:
    """Equation (9): the eigenvectors of Σ γ_ij A_ij / σ², the kernel replaced by ones and D by n I.

    U is the spectral embedding of the rows as they are (W = I). With γ centred, Φ is −(2/σ²) Xᵀ γ X, which
    has at most k negative eigenvalues. U does not depend on λ, so the embedding of another λ may be passed.
    """
    n, r = engine.X.shape
    if embedding is None:
        embedding = engine.embed(np.eye(r), problem.n_clusters)
    F, s = engine.weigh(embedding, np.full(n, float(n)), problem.novelty_weight)
    projected = engine.X.T @ F
    steepness = problem.kernel.precision if isinstance(problem.kernel, Gaussian) else 1.0  # eigenvectors stay the same
    values, vectors = eigh(-2 * steepness * (projected * s) @ projected.T)
    return SpectralStart(values, fix_signs(vectors), embedding)


def linear_optimum(problem: Problem, engine: KernelEngine) -> Array:
    """The optimum for kernels that are linear in WWᵀ, where U can represent all of XW (q ≤ k).

    HSIC(XW, U) is then Tr(WᵀXᵀXW), and W are the leading eigenvectors of Xᵀ(I − λŶŶᵀ)X.
    """
    X = engine.X - engine.X.mean(axis=0)
    columns, weights = [engine.given], [np.full(engine.given.shape[1], -problem.novelty_weight)]
    if engine.keep is not None:
        columns.append(engine.keep[0])
        weights.append(engine.keep[1])
    crossed = X.T @ np.hstack(columns)
    return fix_signs(eigh(-(X.T @ X) - (crossed * np.concatenate(weights)) @ crossed.T)[1][:, : problem.n_components])


def random_start(d: int, q: int, rng: np.random.Generator) -> Array:
    """The orthonormal factor of a Gaussian matrix, shape (d, q)."""
    return orthonormal(rng.standard_normal((d, q)))


def check_start(init: Array, d: int, n_components: int | None) -> Array:
    """Independent directions to start from, shape (d, q)."""
    W = _check_directions("init", init, d)
    if n_components is not None and W.shape[1] != n_components:
        raise InputError(f"init has {W.shape[1]} columns but n_components={n_components}: make them agree.")
    return W


def check_subspace(subspace: Array, d: int) -> Array:
    """Orthonormal columns with the same span, shape (d, m)."""
    return orthonormal(_check_directions("subspace", subspace, d))


def _check_directions(name: str, array: Array, d: int) -> Array:
    try:
        if np.iscomplexobj(array) or np.ma.is_masked(array):
            raise TypeError("numpy would drop imaginary parts and masks")
        W = np.asarray(array, dtype=float)
    except Exception as error:  # it may be any object
        raise InputError(f"{name} is not an array of numbers: pass directions of shape (n_features, q).") from error
    if W.ndim != 2 or len(W) != d or not 1 <= W.shape[1] <= d:
        raise InputError(f"{name} has shape {W.shape}: pass an array of shape ({d}, q) with 1 <= q <= {d}.")
    if not np.isfinite(W).all() or np.linalg.matrix_rank(W) < W.shape[1]:
        raise InputError(f"{name} has NaN, infinity or dependent columns: pass independent directions.")
    return W


def make_starts(
    problem: Problem, engine: KernelEngine, init: str | Array, choose_q: bool, n_init: int, rng: np.random.Generator
) -> tuple[Problem, list[tuple[Array, Embedding | None]]]:
    """The starts (W, U step or None) that a fit tries, and the problem, with q from the spectral start if choose_q.

    That q is the one at the largest gap between the eigenvalues, at most k. `init` is "spectral", "random" (n_init
    starts) or an array (r, q) in the coordinates of the engine's rows. For kernels that are linear in WWᵀ the only
    start is the optimum, whatever `init` is.
    """
    if not choose_q and isinstance(problem.kernel, Linear | Squared) and problem.n_components <= problem.n_clusters:
        return problem, [(linear_optimum(problem, engine), None)]
    if not isinstance(init, str):
        return problem, [(orthonormal(init[:, : problem.n_components]), None)]
    if choose_q or init == "spectral":
        start = spectral_start(problem, engine)
        if choose_q:
            problem = replace(problem, n_components=start.gap(most=problem.n_clusters))
        if init == "spectral":
            return problem, [(start.vectors[:, : problem.n_components], start.embedding)]
    return problem, [(random_start(engine.X.shape[1], problem.n_components, rng), None) for _ in range(n_init)]
