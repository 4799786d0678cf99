"""Where W begins: the spectral start of the paper (SI), or a random one (RI)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from .eigen import fix_signs
from .kernels import Array
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


def spectral_start(problem: Problem, engine: KernelEngine) -> SpectralStart:
    """Equation (9): the eigenvectors of Σ γ_ij A_ij / σ², the kernel replaced by ones and D by n I.

    U is the spectral embedding of the rows as they are (W = I). With γ centred, Φ is −(2/σ²) Xᵀ γ X, which
    has at most k negative eigenvalues.
    """
    n, r = problem.X.shape
    embedding = engine.embed(np.eye(r), problem.n_clusters)
    F, s = problem.gamma(embedding.U, np.full(n, float(n)))
    projected = problem.X.T @ F
    values, vectors = eigh(-2 * problem.kernel.precision * (projected * s) @ projected.T)
    return SpectralStart(values, fix_signs(vectors), embedding)


def random_start(problem: Problem, rng: np.random.Generator) -> Array:
    """The orthonormal factor of a Gaussian matrix, shape (r, q)."""
    return orthonormal(rng.standard_normal((problem.X.shape[1], problem.n_components)))
