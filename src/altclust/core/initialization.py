"""Where W begins: the spectral start of the paper (SI), or a random one (RI)."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from ..base.backend import Array, to_numpy
from ..base.errors import InputError
from .linalg.eigen import fix_signs
from .problem import Embedding, KernelEngine, Problem
from .solvers.grassmann import orthonormal


class SpectralStart(NamedTuple):
    """Eigenvalues (r,) ascending and eigenvectors (r, r) of Φ at W = 0, and the U step that it was made of."""

    values: Array
    vectors: Array
    embedding: Embedding

    def gap(self, most: int) -> int:
        """The number of leading directions, at most `most`, behind which the eigenvalues jump furthest."""
        jumps = np.diff(self.values)[:most]
        return int(np.argmax(jumps)) + 1 if len(jumps) else 1


def spectral_start(problem: Problem, engine: KernelEngine, embedding: Embedding | None = None) -> SpectralStart:
    """Equation (9): the eigenvectors of Σ γ_ij A_ij / σ², the kernel replaced by ones and D by n I.

    U is the spectral embedding of the rows as they are (W = I). With γ centred, Φ is −(2/σ²) Xᵀ γ X, which
    has at most k negative eigenvalues. U does not depend on λ: that of another λ may be passed.
    """
    n, r = problem.X.shape
    if embedding is None:
        embedding = engine.embed(np.eye(r), problem.n_clusters)
    F, s = problem.gamma(embedding.U, np.full(n, float(n)))
    projected = to_numpy(problem.X.T @ F)
    values, vectors = eigh(-2 * problem.kernel.precision * (projected * s) @ projected.T)
    return SpectralStart(values, fix_signs(vectors), embedding)


def random_start(problem: Problem, rng: np.random.Generator) -> Array:
    """The orthonormal factor of a Gaussian matrix, shape (r, q)."""
    return orthonormal(rng.standard_normal((problem.X.shape[1], problem.n_components)))


def check_start(init: Array, d: int, n_components: int | None) -> Array:
    """An orthonormal start from an array of shape (d, q)."""
    try:
        if np.iscomplexobj(init) or np.ma.is_masked(init):
            raise TypeError("numpy would drop what is imaginary or masked")
        W = np.asarray(init, dtype=float)
    except Exception as error:  # its entries may be anything
        raise InputError("init is not an array of numbers: pass directions of shape (n_features, q).") from error
    if W.ndim != 2 or len(W) != d or not 1 <= W.shape[1] <= d:
        raise InputError(f"init has shape {W.shape}: pass an array of shape ({d}, q) with 1 <= q <= {d}.")
    if n_components is not None and W.shape[1] != n_components:
        raise InputError(f"init has {W.shape[1]} columns but n_components={n_components}: make them agree.")
    if not np.isfinite(W).all() or np.linalg.matrix_rank(W) < W.shape[1]:
        raise InputError("init has NaN, infinity or dependent columns: pass independent directions.")
    return W


def make_starts(
    problem: Problem, engine: KernelEngine, init: str | Array, choose_q: bool, n_init: int, rng: np.random.Generator
) -> tuple[Problem, list[tuple[Array, Embedding | None]]]:
    """The starts that a fit tries, and the problem with the q that the spectral start chose where that was left open.

    Parameters
    ----------
    problem : Problem
    engine : KernelEngine
    init : {"spectral", "random"} or array of shape (d, q), in the coordinates of the table
    choose_q : bool
        Whether q is to be where the spectral start's eigenvalues jump furthest, at most k.
    n_init : int
        Random starts.
    rng : Generator

    Returns
    -------
    problem : Problem
    starts : list of (W, embedding)
        The embedding is None where the U step at W is to be made.
    """
    if not isinstance(init, str):
        W = np.asarray(init, dtype=float)
        W = W if problem.basis is None else problem.basis.T @ W
        return problem, [(orthonormal(W[:, : problem.n_components]), None)]
    if choose_q or init == "spectral":
        start = spectral_start(problem, engine)
        if choose_q:
            problem = replace(problem, n_components=start.gap(most=problem.n_clusters))
        if init == "spectral":
            return problem, [(start.vectors[:, : problem.n_components], start.embedding)]
    return problem, [(random_start(problem, rng), None) for _ in range(n_init)]
