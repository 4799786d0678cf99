"""The sums of the dense engine over small tiles of the kernel, which are computed, used and discarded."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import groupby, islice, pairwise
from typing import Any

import numpy as np
from joblib import cpu_count

from ...base.backend import Array, accuracy_of
from ...base.parallel import fitting_threads
from ...base.sampling import sample_rows
from ..kernels import Gaussian
from ..linalg.eigen import ANGLE, FEW, fix_signs, lapack_subset
from ..linalg.krylov import GUARDS, leading_ritz
from ..problem import Embedding, Gamma, no_columns, tall_weights
from .dense import DenseEngine

logger = logging.getLogger(__name__)

TILE = 600  # rows, measured: larger tiles exceed the cache, smaller ones have overhead; a stride of 2^k is slow
SMALLEST = 32  # rows of a tile, at least, whatever the memory limit
FEW_COLUMNS = 32  # up to which Φ is so cheap compared with the kernel that it is computed with every value
LANDMARKS = 300  # rows whose eigenvectors are the start of the U step
LEAST, MOST = 3, 40  # passes of a U step

Tile = tuple[slice, slice]
Room = tuple[Array, Array]  # scratch arrays


class TilesEngine:
    """K(XW) tile by tile, exact, without any n x n array.

    Tile (i, j) is also used for (j, i). Several threads compute tiles, each with a BLAS of one thread, and the sums are
    added in a fixed order, so that results do not depend on the number of threads. Rows of single precision are
    computed in single precision within a tile and added in double precision.

    Parameters
    ----------
    X : array, shape (n, d)
        Centred rows.
    kernel : Gaussian
    given : array, shape (n, c), optional
        Centred indicators of the given clusterings.
    memory : float
        Bytes for all tiles in use together, in addition to arrays of n rows.
    threads : int, optional
        Default: one per processor.
    """

    def __init__(
        self,
        X: Array,
        kernel: Gaussian,
        given: Array | None = None,
        *,
        memory: float = 512e6,
        threads: int | None = None,
    ) -> None:
        self.X = X
        self.kernel = kernel
        self.keep: tuple[Array, Array] | None = None
        self.given = no_columns(X) if given is None else given
        self.accuracy = accuracy_of(X)
        self.threads = cpu_count() if threads is None else threads
        self.tile = _tile_rows(memory / self.threads, X.shape[1], X.itemsize)
        self._spare: list[Array] = []
        self._last_degrees: tuple[Array, Array] | None = None
        self._last_phi: tuple[Array, Gamma, float, Array] | None = None

    def weigh(self, embedding: Embedding, degrees: Array, novelty_weight: float) -> Gamma:
        """γ for this U and these D."""
        return tall_weights(embedding, self.given, degrees, novelty_weight, self.keep)

    def degrees(self, W: Array) -> Array:
        """K 1, shape (n,)."""
        if self._last_degrees is None or not np.array_equal(self._last_degrees[0], W):
            ones = np.ones((len(self.X), 1))
            self._last_degrees = W.copy(), self._times(self._kernel_of(self._project(W)), ones)[:, 0]
        return self._last_degrees[1]

    def value(self, W: Array, gamma: Gamma) -> float:
        """Σ γ_ij K_ij = Σ_l s_l f_lᵀ K f_l.

        With few columns Φ is computed too: the solver needs it next if the line search accepts W.
        """
        if self.X.shape[1] <= FEW_COLUMNS:
            return self.value_and_phi(W, gamma)[0]
        kernel, (signed, F) = self._kernel_of(self._project(W)), self._weights(gamma)

        def part(i: slice, j: slice, room: Room) -> float:
            return _copies(i, j) * float(np.vdot(signed[i], kernel(i, j, room) @ F[j]))

        return sum(done for _, done in self._each(part))

    def value_and_gradient(self, W: Array, gamma: Gamma) -> tuple[float, Array]:
        """Σ γ_ij K_ij and Φ(W) W; with many columns, without the n²d product that Φ needs."""
        if self.X.shape[1] <= FEW_COLUMNS:
            value, phi = self.value_and_phi(W, gamma)
            return value, phi @ W
        return self._laplacian(self._psi_of(W, gamma), self._project(W))

    def value_and_phi(self, W: Array, gamma: Gamma) -> tuple[float, Array]:
        """Σ γ_ij K_ij and Φ(W) = (2/σ²) Xᵀ (diag(Ψ1) − Ψ) X."""
        last = self._last_phi
        if last is None or last[1] is not gamma or not np.array_equal(last[0], W):
            last = self._last_phi = (W.copy(), gamma, *self._phi(W, gamma))
        return last[2], last[3]

    def _phi(self, W: Array, gamma: Gamma) -> tuple[float, Array]:
        X, (n, d), psi = self.X, self.X.shape, self._psi_of(W, gamma)
        sums, cross = np.zeros(n), np.zeros((d, d))

        def part(i: slice, j: slice, room: Room) -> tuple[Array, Array, Array]:
            P = psi(i, j, room)
            return P.sum(axis=1), P.sum(axis=0), P @ X[j]

        for i, strip in groupby(self._each(part), key=lambda done: done[0][0]):
            product = np.zeros((i.stop - i.start, d))
            for (_, j), (right, down, along) in strip:
                sums[i] += right
                if i != j:
                    sums[j] += down
                product += _copies(i, j) * along
            cross += X[i].T @ product
        for i in self._spans():
            cross -= X[i].T @ (sums[i, None] * X[i])
        return float(sums.sum()), -self.kernel.precision * (cross + cross.T)

    def hessian(self, W: Array, gamma: Gamma, phi: Array) -> Callable[[Array], Array]:
        """Z -> (1/σ²) Σ Ψ_ij [A_ij Z − Tr(Zᵀ A_ij W) A_ij W / σ²], the paper's directional derivative."""
        psi, rows, ones = self._psi_of(W, gamma), self._project(W), np.ones(len(self.X), dtype=self.X.dtype)

        def product(Z: Array) -> Array:
            moved = self._project(Z)
            dots = np.sum(rows * moved, axis=1)
            # Tr(Zᵀ A_ij W) = (xᵢ−xⱼ)ᵀW · (xᵢ−xⱼ)ᵀZ for all pairs, again as one product
            left, right = np.column_stack([rows, moved, dots, ones]), np.column_stack([-moved, -rows, ones, dots])

            def twist(i: slice, j: slice, room: Room) -> Array:
                P = psi(i, j, room)
                P *= np.matmul(left[i], right[j].T, out=_shaped(room[1], i, j))
                return P

            return phi @ Z - self.kernel.precision * self._laplacian(twist, rows)[1]

        return product

    def fourth_moment(self, W: Array, gamma: Gamma) -> float:
        """Σ |γ_ij| K_ij ‖x_i − x_j‖⁴."""
        X, psi = self.X, self._psi_of(W, gamma)

        def part(i: slice, j: slice, room: Room) -> float:
            P = psi(i, j, room)
            E = self.kernel.exponent(X[i], X[j], out=_shaped(room[1], i, j))
            np.multiply(E, E, out=E)
            return _copies(i, j) * float(np.vdot(np.abs(P, out=P), E))

        return 4 * self.kernel.sigma**4 * sum(done for _, done in self._each(part))

    def embed(self, W: Array, k: int, start: Embedding | None = None) -> Embedding:
        """The k leading eigenvectors of H D^(-1/2) K D^(-1/2) H, with the accuracy of the dense engine.

        The cost is the number of passes over the kernel. So the first pass, for D, already multiplies the start: the
        last U, the eigenvectors of a few hundred rows extended to all, and random columns in case both miss some.
        """
        if len(self.X) <= max(FEW, 10 * (k + GUARDS)):
            return DenseEngine(self.X.astype(float), self.kernel).embed(W, k, start)
        with fitting_threads(1):  # outside the passes the matrices are thin
            return self._embed(W, k, start)

    def _embed(self, W: Array, k: int, start: Embedding | None) -> Embedding:
        n, rows = len(self.X), self._project(W)
        kernel = self._kernel_of(rows)
        guess, extended = self._from_landmarks(rows, k + GUARDS)
        columns = [extended, np.random.default_rng(0).standard_normal((n, GUARDS)) / np.sqrt(n)]
        block = _centred(np.column_stack(columns if start is None else [start.U, *columns]))
        if self._last_degrees is None or not np.array_equal(self._last_degrees[0], W):
            image = self._times(kernel, np.column_stack([np.ones(n), block / np.sqrt(guess)[:, None]]))
            self._last_degrees = W.copy(), image[:, 0].copy()
            block = _centred(image[:, 1:] / np.sqrt(image[:, :1]))
        degrees = self._last_degrees[1]
        scale = 1 / np.sqrt(degrees)[:, None]

        def apply(B: Array) -> Array:
            return _centred(scale * self._times(kernel, scale * _centred(B)))

        found = leading_ritz(apply, block, k, error=ANGLE, least=LEAST, most=MOST)
        if found.error > ANGLE:
            logger.info("The U step ended after %d passes with an error of %.1e.", MOST, found.error)
        return Embedding(fix_signs(found.vectors[:, :k]), found.values[:k], degrees)

    def _from_landmarks(self, rows: Array, count: int) -> tuple[Array, Array]:
        """Degrees estimated from a few rows, and the leading eigenvectors of these rows extended to all (Nyström)."""
        n = len(rows)
        picked = sample_rows(n, LANDMARKS, np.random.default_rng(0))
        few = rows[picked]
        K = self.kernel.gram(few.astype(float))
        scale = 1 / np.sqrt(K.sum(axis=1))
        _, V = lapack_subset(scale[:, None] * K * scale, len(few) - count, len(few) - 1)
        right = np.column_stack([np.ones(len(few)), scale[:, None] * V])
        image = np.vstack([np.exp(self.kernel.exponent(rows[i], few)) @ right for i in self._spans()])
        guess = 1 + image[:, 0] * n / len(few)  # plus 1 for the row itself, which may be far from all landmarks
        return guess, image[:, 1:] / np.sqrt(guess)[:, None]

    def _project(self, W: Array) -> Array:
        return self.X @ W.astype(self.X.dtype, copy=False)

    def _weights(self, gamma: Gamma) -> tuple[Array, Array]:
        """γ as a product of two tall factors."""
        return (gamma.F * gamma.s).astype(self.X.dtype, copy=False), gamma.F.astype(self.X.dtype, copy=False)

    def _kernel_of(self, rows: Array) -> Callable[[slice, slice, Room], Array]:
        """A function that computes tiles of K in the first scratch array."""

        def kernel(i: slice, j: slice, room: Room) -> Array:
            K = self.kernel.exponent(rows[i], rows[j], out=_shaped(room[0], i, j))
            np.exp(K, out=K)
            if i == j:
                np.fill_diagonal(K, 1.0)
            return K

        return kernel

    def _psi_of(self, W: Array, gamma: Gamma) -> Callable[[slice, slice, Room], Array]:
        """A function that computes tiles of Ψ = γ ∘ K in the first scratch array."""
        kernel, (signed, F) = self._kernel_of(self._project(W)), self._weights(gamma)

        def psi(i: slice, j: slice, room: Room) -> Array:
            P = kernel(i, j, room)
            P *= np.matmul(signed[i], F[j].T, out=_shaped(room[1], i, j))
            return P

        return psi

    def _laplacian(self, tiles: Callable[[slice, slice, Room], Array], rows: Array) -> tuple[float, Array]:
        """Σ T_ij of symmetric tiles T, and (2/σ²) Xᵀ (diag(T1) − T) rows, shape (d, q)."""
        image = self._times(tiles, np.column_stack([rows, np.ones(len(rows), dtype=rows.dtype)]))
        difference = image[:, -1:] * rows - image[:, :-1]
        return float(image[:, -1].sum()), 2 * self.kernel.precision * (self.X.T @ difference)

    def _times(self, tiles: Callable[[slice, slice, Room], Array], B: Array) -> Array:
        """T B for symmetric tiles T and few columns B."""
        image, narrow = np.zeros(B.shape), B.astype(self.X.dtype, copy=False)

        def part(i: slice, j: slice, room: Room) -> tuple[Array, Array | None]:
            T = tiles(i, j, room)
            return T @ narrow[j], None if i == j else T.T @ narrow[i]

        for (i, j), (along, across) in self._each(part):
            image[i] += along
            if across is not None:
                image[j] += across
        return image

    def _spans(self) -> list[slice]:
        """The rows in slices of almost equal size, at most one tile each."""
        n = len(self.X)
        edges = np.linspace(0, n, -(-n // self.tile) + 1).astype(int).tolist()
        return [slice(a, b) for a, b in pairwise(edges)]

    def _each(self, work: Callable[[slice, slice, Room], Any]) -> Iterator[tuple[Tile, Any]]:
        """The results of work on every tile on or above the diagonal, row by row, in a fixed order."""
        spans = self._spans()
        tiles = ((i, j) for first, i in enumerate(spans) for j in spans[first:])

        def run(tile: Tile) -> tuple[Tile, Any]:
            room = self._take_room()
            try:
                return tile, work(*tile, (room[0], room[1]))
            finally:
                self._spare.append(room)

        threads = min(self.threads, len(spans))
        with fitting_threads(1):
            yield from map(run, tiles) if threads == 1 else _ahead(run, tiles, threads)

    def _take_room(self) -> Array:
        """Two flat scratch arrays of a tile's size, reused if free."""
        try:
            return self._spare.pop()
        except IndexError:
            return np.empty((2, self.tile**2), dtype=self.X.dtype)


def _tile_rows(memory: float, d: int, itemsize: int) -> int:
    """The largest tile such that two of them, and the sums that wait to be added, fit into one thread's memory."""
    rows = TILE
    while rows > SMALLEST and rows * (2 * rows * itemsize + 3 * 8 * d) > memory:
        rows = max(rows // 2, SMALLEST)
    return rows


def _shaped(flat: Array, i: slice, j: slice) -> Array:
    """The first entries of a flat array, in the shape of a tile."""
    shape = i.stop - i.start, j.stop - j.start
    return flat[: shape[0] * shape[1]].reshape(shape)


def _copies(i: slice, j: slice) -> int:
    """The multiplicity of a tile in the full matrix: off-diagonal tiles count twice."""
    return 1 if i == j else 2


def _centred(B: Array) -> Array:
    """H B."""
    return B - B.mean(axis=0)


def _ahead(run: Callable[[Tile], Any], tiles: Iterator[Tile], threads: int) -> Iterator[Any]:
    """The results of run in the order of the tiles, computed a few tiles ahead."""
    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[Future] = deque(pool.submit(run, tile) for tile in islice(tiles, 3 * threads))
        while waiting:
            done = waiting.popleft().result()
            waiting.extend(pool.submit(run, tile) for tile in islice(tiles, 1))
            yield done
