"""Tables, labels and parameters of every kind, most of them bad, each with a name that says what it is."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from hypothesis import strategies as st
from scipy import sparse

from altclust import ISM, KDAC, Growth, Newton, Stiefel, baselines

Maker = Callable[[np.random.Generator, int, int], np.ndarray]


def blobs(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Two clusters along every column, those of the columns independent of each other."""
    return 4.0 * rng.integers(0, 2, (n, d)) + rng.standard_normal((n, d))


def _with(cells: Callable[[np.ndarray, np.random.Generator], None]) -> Maker:
    """Blobs of which some cells were written over."""

    def make(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
        X = blobs(rng, n, d)
        cells(X, rng)
        return X

    return make


def _set(where: str, value: float) -> Maker:
    """Blobs with this value in a cell, a column or a row."""

    def cells(X: np.ndarray, rng: np.random.Generator) -> None:
        i, j = int(rng.integers(len(X))), int(rng.integers(X.shape[1]))
        X[{"cell": (i, j), "column": (slice(None), j), "row": (i, slice(None))}[where]] = value

    return _with(cells)


# What a table holds, before it is scaled.
CONTENTS: dict[str, Maker] = {
    "blobs": blobs,
    "noise": lambda rng, n, d: rng.standard_normal((n, d)),
    "grid": lambda rng, n, d: rng.integers(0, 3, (n, d)).astype(float),
    "zeros": lambda rng, n, d: np.zeros((n, d)),
    "equal rows": lambda rng, n, d: np.tile(rng.standard_normal(d), (n, 1)),
    "two distinct rows": lambda rng, n, d: blobs(rng, 2, d)[np.arange(n) % 2],
    "every row twice": lambda rng, n, d: blobs(rng, n, d)[np.arange(n) // 2],
    "one row differs": lambda rng, n, d: np.tile(np.eye(n)[:, :1], (1, d)),
    "copied columns": lambda rng, n, d: np.tile(blobs(rng, n, 1), (1, d)),
    "almost copied columns": lambda rng, n, d: blobs(rng, n, 1) + 1e-12 * rng.standard_normal((n, d)),
    "offset": lambda rng, n, d: 1e12 + blobs(rng, n, d),
    "offset beyond the digits": lambda rng, n, d: 1e16 + blobs(rng, n, d),
    "heavy tails": lambda rng, n, d: rng.standard_cauchy((n, d)) ** 3,
    "columns of every scale": lambda rng, n, d: blobs(rng, n, d) * 10.0 ** rng.integers(-40, 40, d),
    "columns of any scale": lambda rng, n, d: blobs(rng, n, d) * 10.0 ** rng.integers(-300, 300, d),
    "denormal": lambda rng, n, d: 5e-324 * rng.integers(0, 1000, (n, d)),
    "steps of the last digit": lambda rng, n, d: 1.0 + np.finfo(float).eps * rng.integers(0, 3, (n, d)),
    "negative zero": lambda rng, n, d: np.where(blobs(rng, n, d) > 2, -0.0, 0.0),
    "constant column": _set("column", 7.3),
    "outlier": _set("cell", 1e12),
    "wild outlier": _set("cell", 1e40),
    "outlying row": _set("row", -1e9),
    "NaN cell": _set("cell", np.nan),
    "NaN column": _set("column", np.nan),
    "infinite cell": _set("cell", np.inf),
    "negatively infinite row": _set("row", -np.inf),
}

SCALES = (1.0, 1e-300, 1e-160, 1e-60, 1e-49, 1e-20, 1e-8, 1e-3, 1e3, 1e8, 1e20, 1e49, 1e60, 1e155, 1e300)


def _integers(bits: str) -> Callable[[np.ndarray], np.ndarray]:
    def convert(X: np.ndarray) -> np.ndarray:
        limits = np.iinfo(bits)
        return np.nan_to_num(np.clip(X, limits.min / 2, limits.max / 2)).astype(bits)

    return convert


def _objects(cell: Callable[[float], Any]) -> Callable[[np.ndarray], np.ndarray]:
    def convert(X: np.ndarray) -> np.ndarray:
        table = np.empty(X.shape, dtype=object)
        for at, value in np.ndenumerate(X):
            table[at] = cell(float(value))
        return table

    return convert


def _whole(value: float) -> int:
    return int(value) if np.isfinite(value) else 0


def _read_only(X: np.ndarray) -> np.ndarray:
    X.flags.writeable = False
    return X


def _foreign_column(values: Callable[[int], Any]) -> Callable[[np.ndarray], pd.DataFrame]:
    """A frame with one column more, which holds no numbers."""
    return lambda X: pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])]).assign(other=values(len(X)))


def _nullable(X: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(X).convert_dtypes()


class HostileTable:
    """Something with rows that cannot be read."""

    def __len__(self) -> int:
        return 5

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        raise RuntimeError("no")

    def __repr__(self) -> str:
        raise RuntimeError("no")


# What a table is kept in. The first ones are tables that must work, whatever else may be wrong.
PLAIN: dict[str, Callable[[np.ndarray], Any]] = {
    "array": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "float16": lambda X: X.astype(np.float16),
    "long double": lambda X: X.astype(np.longdouble),
    "swapped bytes": lambda X: X.astype(">f8"),
    "int8": _integers("int8"),
    "int64": _integers("int64"),
    "uint64": _integers("uint64"),
    "bool": lambda X: X > 2,
    "list": lambda X: X.tolist(),
    "tuple of deques": lambda X: tuple(deque(row) for row in X.tolist()),
    "list of arrays": lambda X: list(X),
    "Fortran": np.asfortranarray,
    "every other": lambda X: np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2],
    "backwards": lambda X: X[::-1, ::-1],
    "read-only": _read_only,
    "pandas": lambda X: pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])]),
    "pandas numbered": lambda X: pd.DataFrame(X, index=np.zeros(len(X))),
    "pandas nullable": _nullable,
    "pandas arrow": lambda X: pd.DataFrame(X).convert_dtypes(dtype_backend="pyarrow"),
    "pandas same names": lambda X: pd.DataFrame(X, columns=["c"] * X.shape[1]),
    "polars": lambda X: pl.DataFrame({f"c{j}": X[:, j] for j in range(X.shape[1])}),
    "objects": _objects(float),
    "decimals": _objects(Decimal),
    "whole objects": _objects(_whole),
    "fractions": _objects(lambda value: Fraction(_whole(value), 3)),
    "numbers as text": _objects(str),
}
STRANGE: dict[str, Callable[[np.ndarray], Any]] = {
    "objects with None": lambda X: np.where(X > 4, None, X),
    "objects with text": lambda X: np.where(X > 4, "many", X.astype(object)),
    "objects with lists": lambda X: [[[cell] for cell in row] for row in X.tolist()],
    "objects with complex": _objects(lambda value: complex(value, 1)),
    "objects with times": _objects(lambda value: date(2020, 1, 1)),
    "huge objects": _objects(lambda value: 10**400),
    "text": lambda X: X.astype(str),
    "bytes": lambda X: X.astype(str).astype("S"),
    "complex": lambda X: X + 1j,
    "real complex": lambda X: X.astype(complex),
    "masked": lambda X: np.ma.masked_greater(X, 4),
    "masked nowhere": lambda X: np.ma.array(X),
    "times": lambda X: np.nan_to_num(X).clip(-1e9, 1e9).astype("datetime64[s]"),
    "spans of time": lambda X: np.nan_to_num(X).clip(-1e9, 1e9).astype("timedelta64[s]"),
    "structured": lambda X: np.array([tuple(row) for row in X], dtype=[(f"c{j}", float) for j in range(X.shape[1])]),
    "sparse": sparse.csr_matrix,
    "sparse array": sparse.coo_array,
    "pandas sparse": lambda X: pd.DataFrame(X).astype(pd.SparseDtype(float, 0.0)),
    "pandas text": _foreign_column(lambda n: ["a", "b"] * (n // 2) + ["c"] * (n % 2)),
    "pandas categories": _foreign_column(lambda n: pd.Categorical(["a"] * n)),
    "pandas numbers as categories": _foreign_column(lambda n: pd.Categorical(np.arange(n) % 2)),
    "pandas times": _foreign_column(lambda n: pd.date_range("2020", periods=n)),
    "pandas spans": _foreign_column(lambda n: pd.to_timedelta(np.arange(n), unit="s")),
    "pandas periods": _foreign_column(lambda n: pd.period_range("2020", periods=n, freq="D")),
    "pandas intervals": _foreign_column(lambda n: pd.interval_range(0, n, periods=n)),
    "pandas missing": _foreign_column(lambda n: [pd.NA] * n),
    "pandas mixed names": lambda X: pd.DataFrame(X, columns=["c", *range(1, X.shape[1])]),
    "polars with null": lambda X: pl.DataFrame({"a": X[:, 0], "b": [None] * len(X)}),
    "polars text": lambda X: pl.DataFrame({"a": X[:, 0], "b": ["x"] * len(X)}),
    "polars times": lambda X: pl.DataFrame({"a": X[:, 0], "b": [date(2020, 1, 1)] * len(X)}),
    "polars lists": lambda X: pl.DataFrame({"a": X[:, 0], "b": [[1, 2]] * len(X)}),
    "dictionary": lambda X: {f"c{j}": X[:, j].tolist() for j in range(X.shape[1])},
    "iterator": lambda X: iter(X.tolist()),
    "ragged": lambda X: [row[: 1 + i % 2] for i, row in enumerate(X.tolist())],
    "one column": lambda X: X[:, 0],
    "series": lambda X: pd.Series(X[:, 0]),
    "cube": lambda X: X[:, :, None],
    "number": lambda X: float(X[0, 0]),
    "nothing": lambda X: None,
    "word": lambda X: "table.csv",
    "set": lambda X: set(X[:, 0].tolist()),
    "type": lambda X: float,
    "no rows": lambda X: X[:0],
    "no columns": lambda X: X[:, :0],
    "hostile": lambda X: HostileTable(),
    "flat memory": lambda X: memoryview(np.ascontiguousarray(X)),
}
KEPT = PLAIN | STRANGE


@dataclass(frozen=True)
class Table:
    """A table by its name; `build` makes it."""

    n: int = 20
    d: int = 3
    content: str = "blobs"
    scale: float = 1.0
    kept: str = "array"
    seed: int = 0

    def build(self) -> Any:
        """The table itself, the same every time."""
        with np.errstate(all="ignore"):
            X = CONTENTS[self.content](np.random.default_rng(self.seed), self.n, self.d) * self.scale
            return KEPT[self.kept](X)


class Hostile:
    """A label that raises wherever Python asks it something."""

    def __init__(self, *raising: str) -> None:
        self.raising = raising

    def _ask(self, what: str, answer: Any) -> Any:
        if what in self.raising:
            raise RuntimeError("no")
        return answer

    def __eq__(self, other: object) -> Any:
        return self._ask("eq", self is other)

    def __ne__(self, other: object) -> Any:
        return self._ask("eq", self is not other)

    def __hash__(self) -> int:
        return self._ask("hash", id(self))

    def __repr__(self) -> str:
        return self._ask("repr", "a label\nof two lines")

    def __bool__(self) -> bool:
        return self._ask("bool", True)


class Undecided:
    """A label whose comparisons answer with an array."""

    def __eq__(self, other: object) -> Any:
        return np.array([True, False])

    __ne__ = __eq__
    __hash__ = object.__hash__


def _of(values: list[Any]) -> Callable[[np.ndarray, np.ndarray], list[Any]]:
    """Labels from these values, by a random code below their number."""
    return lambda codes, X: [values[c % len(values)] for c in codes]


def _objects_of(codes: np.ndarray, make: Callable[[], Any]) -> list[Any]:
    pair = make(), make()
    return [pair[c % 2] for c in codes]


def _numbers(X: Any, n: int) -> np.ndarray:
    """The first column of a table, where it has one of numbers."""
    try:
        return np.asarray(X, dtype=float).reshape(n, -1)[:, 0]
    except (TypeError, ValueError, RuntimeError, IndexError, OverflowError):
        return np.arange(n) % 3.0


# Labels, from random codes below 4 and the table. The first ones must work on twelve or more rows.
GOOD_LABELS: dict[str, Callable[[np.ndarray, Any], Any]] = {
    "whole numbers": lambda codes, X: codes % 2,
    "three clusters": lambda codes, X: codes % 3,
    "negative": lambda codes, X: -2 - codes % 2,
    "floats": lambda codes, X: codes % 2 + 0.5,
    "extreme floats": _of([1e308, -1e308, 5e-324]),
    "huge numbers": _of([10**400, 10**300]),
    "text": _of(["a", "b", "c"]),
    "long text": _of(["x" * 10_000, "y\n\0" * 99]),
    "bytes": _of([b"a", b"b"]),
    "bools": lambda codes, X: codes % 2 == 0,
    "small ints": lambda codes, X: (codes % 2).astype(np.int8),
    "unknown as None": _of(["a", "b", None]),
    "unknown as NaN": _of([1.0, 2.0, np.nan]),
    "unknown as -1": _of([1, 0, -1]),
    "mixed": _of([1, "1", 1.5, True]),
    "categories": lambda codes, X: pd.Series(pd.Categorical(codes % 2)),
    "bare categories": lambda codes, X: pd.Categorical(codes % 2),
    "pandas text": lambda codes, X: pd.Series([["a", "b"][c % 2] for c in codes], name="X"),
    "pandas nullable": lambda codes, X: pd.Series(codes % 2, dtype="Int64"),
    "pandas index": lambda codes, X: pd.Index(codes % 2),
    "polars": lambda codes, X: pl.Series(codes % 2),
    "times": lambda codes, X: pd.Series(pd.to_datetime(codes % 2, unit="D")),
    "numpy times": lambda codes, X: (codes % 2).astype("datetime64[D]"),
    "spans of time": _of([timedelta(1), timedelta(2)]),
    "complex": lambda codes, X: codes % 2 + 1j,
    "one column": lambda codes, X: (codes % 2)[:, None],
    "two columns": lambda codes, X: np.column_stack([codes % 2, codes // 2 % 2]),
    "two equal columns": lambda codes, X: np.column_stack([codes % 2, codes % 2]),
    "frame": lambda codes, X: pd.DataFrame({"a": codes % 2, "b": [["x", "y"][c // 2 % 2] for c in codes]}),
    "polars frame": lambda codes, X: pl.DataFrame({"a": codes % 2, "b": codes // 2 % 2}),
    "dictionary": lambda codes, X: {"a": codes % 2, "b": codes // 2 % 2},
    "range of ids in two": lambda codes, X: [i // max(2, len(codes) // 2) for i in range(len(codes))],
    "tuple": lambda codes, X: tuple(codes % 2),
    "pairs": _of([(1, 2), (1, 3), (2, 2)]),
    "infinite": _of([np.inf, -np.inf]),
    "one row differs": lambda codes, X: np.arange(len(codes)) == 0,
    "the first column, cut": lambda codes, X: _numbers(X, len(codes)) > 2,
    "almost all unknown": lambda codes, X: np.where(np.arange(len(codes)) < 2, np.arange(len(codes)), -1),
    "objects": lambda codes, X: _objects_of(codes, Hostile),
    "Fortran columns": lambda codes, X: np.asfortranarray(np.column_stack([codes % 2, codes // 2 % 2]))[::1],
    "masked nowhere": lambda codes, X: np.ma.array(codes % 2),
}
BAD_LABELS: dict[str, Callable[[np.ndarray, Any], Any]] = {
    "too short": lambda codes, X: codes[:-1],
    "too long": lambda codes, X: np.append(codes, 0),
    "empty": lambda codes, X: [],
    "no columns": lambda codes, X: np.zeros((len(codes), 0)),
    "no columns in a frame": lambda codes, X: pd.DataFrame(index=range(len(codes))),
    "all the same": lambda codes, X: np.zeros(len(codes)),
    "all different": lambda codes, X: np.arange(len(codes)) + 5,
    "all unknown": lambda codes, X: [None] * len(codes),
    "cube": lambda codes, X: np.zeros((len(codes), 2, 2)),
    "a list of several": lambda codes, X: [codes % 2, codes // 2],
    "ragged": lambda codes, X: [[1] * (1 + c % 2) for c in codes],
    "ragged dictionary": lambda codes, X: {"a": [1, 2], "b": [1]},
    "dictionary of numbers": lambda codes, X: {"a": 1, "b": 2},
    "sets": _of([{1}, {2}]),
    "lists in objects": lambda codes, X: pd.Series([[c % 2] for c in codes]),
    "number": lambda codes, X: 5,
    "word": lambda codes, X: "segment",
    "function": lambda codes, X: print,
    "iterator": lambda codes, X: iter(codes.tolist()),
    "set": lambda codes, X: set(codes.tolist()),
    "sparse": lambda codes, X: sparse.csr_matrix(np.eye(len(codes))),
    "structured": lambda codes, X: np.array([(c, c) for c in codes], dtype=[("a", int), ("b", int)]),
    "the first column": lambda codes, X: _numbers(X, len(codes)),
    "the table": lambda codes, X: X,
    "masked": lambda codes, X: np.ma.masked_equal(codes % 3, 2),
    "raises when compared": lambda codes, X: _objects_of(codes, lambda: Hostile("eq")),
    "raises when hashed": lambda codes, X: _objects_of(codes, lambda: Hostile("hash")),
    "raises when shown": lambda codes, X: _objects_of(codes, lambda: Hostile("repr")),
    "raises when decided": lambda codes, X: _objects_of(codes, lambda: Hostile("bool")),
    "raises always": lambda codes, X: _objects_of(codes, lambda: Hostile("eq", "hash", "repr", "bool")),
    "answers with arrays": lambda codes, X: _objects_of(codes, Undecided),
    "unhashable that cannot be shown": lambda codes, X: pd.Series([[Hostile("repr")] for _ in codes]),
    "hostile table": lambda codes, X: HostileTable(),
}
LABELS = GOOD_LABELS | BAD_LABELS


@dataclass(frozen=True)
class Labels:
    """Labels by their name; `build` makes them for a table."""

    kind: str | None = None
    seed: int = 0

    def build(self, X: Any, n: int) -> Any:
        """The labels themselves, the same every time but for objects."""
        if self.kind is None:
            return None
        return LABELS[self.kind](np.random.default_rng(self.seed + 1).integers(0, 4, n), X)


# Values of KDAC's parameters beside the plain ones: first the good, then the bad.
GOOD_VALUES: dict[str, list[Any]] = {
    "n_clusters": [1, 2, 3, 5, 8, np.int64(2), np.uint8(3), "auto"],
    "n_components": [1, 2, 3, np.int32(1), "auto"],
    "sigma": [1e-3, 0.3, 1, 10.0, 1e4, np.float32(2), np.int64(3), np.longdouble(2)],
    "novelty_weight": [0, 0.0, 1e-300, 1e-3, 3, 1e9, np.float16(2), "auto"],
    "subtract_given": [True, False, np.True_, None],
    "scaling": ["balanced", "paper"],
    "solver": [
        *("ism", "sm", "dg", "newton", ISM(), Newton(), Growth(), Stiefel()),
        *(ISM(safeguard=False, max_iter=5), ISM(finish=False), ISM(tol=0.5), ISM(max_iter=1), ISM(tol=0, max_iter=4)),
        *(ISM(eigen=eigen) for eigen in ("full", "subset", "lobpcg", "power")),
        *(Growth(max_iter=1), Stiefel(max_iter=1), Newton(max_iter=1), Newton(tol=1e9), Newton(tol=0, max_iter=3)),
    ],
    "init": [
        "spectral",
        "random",
        np.eye(3, 1),
        np.eye(3, 2),
        [[1], [2], [3]],
        1e-200 * np.eye(3, 1),
        1e300 * np.eye(3),
    ],
    "n_init": [1, 2, np.int64(3)],
    "sample_size": [100, 101, 3000, np.int64(200), 10**9],
    "rounding": ["kmeans", "cluster_qr"],
    "max_iter": [1, 2, 30, np.int64(3)],
    "tol": [0, 1e-300, 1e-2, 0.5, 1e9, np.float32(0.1)],
    "n_jobs": [None, 1],
    "callback": [None, lambda *figures: None, lambda *figures: True],
    "random_state": [0, 2**32 - 1, np.int64(5)],
}
NOT_NUMBERS = [None, "", "many", [], [1], {}, (), 1j, np.nan, np.array([1, 2]), np.array("auto"), object(), pd.NA, KDAC]
BAD_VALUES: dict[str, list[Any]] = {
    "n_clusters": [0, -1, 1.5, 2.0, 100, 10**30, np.inf, "2", *NOT_NUMBERS],
    "n_components": [0, -1, 1.5, 100, 10**30, np.inf, "2", *NOT_NUMBERS],
    "sigma": [0, -1, 1e-300, 1e-20, 1e300, np.inf, -np.inf, 10**400, "1", *NOT_NUMBERS],
    "novelty_weight": [-1, -1e-300, 1e10, np.inf, 10**400, "1", *NOT_NUMBERS],
    "subtract_given": [1, 0, "yes", "True", *NOT_NUMBERS],
    "scaling": [0, "Balanced", *NOT_NUMBERS],
    "solver": [
        *("ISM", print, ISM, 0, ISM(tol=np.nan), ISM(tol=-1), ISM(tol="small"), ISM(tol=None), ISM(max_iter=-5)),
        *(ISM(max_iter=1.5), ISM(max_iter=None), Newton(tol=np.array([1, 2]))),
        *(Growth(max_iter="x"), Growth(tol=np.nan), Stiefel(max_iter=-1), Stiefel(tol=1j), Newton(max_iter=0)),
        *NOT_NUMBERS,
    ],
    "init": [
        *(
            "spektral",
            np.eye(4),
            np.zeros((3, 1)),
            np.full((3, 1), np.nan),
            np.eye(3)[None],
            np.ones((3, 2)),
            [["a"]] * 3,
        ),
        *(
            np.eye(3, 1) * 1j,
            np.full((3, 1), np.inf),
            np.zeros((3, 0)),
            pd.DataFrame(np.eye(2)),
            [[Hostile("repr")]] * 3,
        ),
        *(np.eye(3, 2) * [1, 1e-200], [[10**400]] * 3, np.ma.masked_all((3, 1)), sparse.eye(3, format="csr")),
        *NOT_NUMBERS,
    ],
    "n_init": [0, -1, 10**9, 1.5, *NOT_NUMBERS],
    "sample_size": [0, 5, -1, 150.5, np.inf, "all", *NOT_NUMBERS],
    "rounding": [0, "k-means", *NOT_NUMBERS],
    "max_iter": [0, -1, 1.5, np.inf, *NOT_NUMBERS],
    "tol": [np.inf, 10**400, -1, -1e-300, "small", *NOT_NUMBERS],
    "n_jobs": [0, 1.5, "all", *NOT_NUMBERS],
    "callback": [0, "print", *NOT_NUMBERS[:-1]],  # what can be called is the user's own, and so are its errors
    "random_state": [-1, 2**32, 1.5, "seed", *NOT_NUMBERS],
}


@dataclass(frozen=True)
class Values:
    """Parameters by name: (name, kind, index) means GOOD_VALUES or BAD_VALUES[name][index]."""

    chosen: tuple[tuple[str, bool, int], ...] = ()

    def build(self) -> dict[str, Any]:
        """Keyword arguments."""
        return {name: (GOOD_VALUES if good else BAD_VALUES)[name][i] for name, good, i in self.chosen}


def tables(most_rows: int = 60) -> st.SearchStrategy[Table]:
    """Tables that are odd in one way or in all ways; most have the three columns that starts of KDAC have above."""
    rows, few_rows = st.integers(12, most_rows), st.sampled_from([1, 2, 3, 4, 6, 9])
    three, any_columns = st.just(3), st.integers(1, 12)
    content, any_content = st.sampled_from(["blobs", "noise"]), st.sampled_from(list(CONTENTS))
    one, scale = st.just(1.0), st.sampled_from(SCALES)
    array, plain, kept = st.just("array"), st.sampled_from(list(PLAIN)), st.sampled_from(list(KEPT))
    seed = st.integers(0, 1000)
    return st.one_of(
        st.builds(Table, rows, any_columns, content, one, array, seed),
        st.builds(Table, few_rows, three, content, one, array, seed),
        st.builds(Table, rows, three, any_content, one, array, seed),
        st.builds(Table, rows, three, any_content, one, plain, seed),
        st.builds(Table, rows, three, content, scale, plain, seed),
        st.builds(Table, rows, three, content, one, plain, seed),
        st.builds(Table, rows, any_columns, content, one, plain, seed),
        st.builds(Table, rows, three, content, one, kept, seed),
        st.builds(Table, st.one_of(rows, few_rows), any_columns, any_content, scale, kept, seed),
    )


def ordinary_tables(most_rows: int = 40) -> st.SearchStrategy[Table]:
    """Tables with which nothing is wrong."""
    return st.builds(
        Table, st.integers(12, most_rows), content=st.sampled_from(["blobs", "noise"]), seed=st.integers(0, 1000)
    )


def labels(good: bool = False) -> st.SearchStrategy[Labels]:
    """Labels of every kind, or the good ones only."""
    kinds = (
        st.sampled_from(list(GOOD_LABELS))
        if good
        else st.one_of(st.sampled_from(list(GOOD_LABELS)), st.sampled_from(list(LABELS)))
    )
    return st.builds(Labels, st.one_of(st.none(), kinds, kinds, kinds), st.integers(0, 1000))


def values(most_bad: int = 1) -> st.SearchStrategy[Values]:
    """A few parameters, and sometimes a bad value among them."""

    def pick(good: bool) -> st.SearchStrategy[tuple[str, bool, int]]:
        source = GOOD_VALUES if good else BAD_VALUES
        names = st.sampled_from(list(source))
        return names.flatmap(
            lambda name: st.tuples(st.just(name), st.just(good), st.integers(0, len(source[name]) - 1))
        )

    good = st.lists(pick(True), max_size=4, unique_by=lambda entry: entry[0])
    bad = st.one_of(st.just([]), st.lists(pick(False), max_size=most_bad))
    return st.builds(lambda a, b: Values(tuple({entry[0]: entry for entry in [*a, *b]}.values())), good, bad)


BASELINES = [name for name in baselines.__all__ if name not in ("Baseline", "RegressOut", "gower_kernel")]
ANY_NUMBER = [
    0,
    1,
    2,
    3,
    0.5,
    100,
    -1,
    1e-300,
    1e300,
    10**400,
    np.inf,
    np.nan,
    "auto",
    None,
    True,
    np.uint8(3),
    np.float16(1),
    [],
]


def arguments(signature: list[str]) -> st.SearchStrategy[dict[str, Any]]:
    """At most one of these arguments, with any number."""
    chosen = st.dictionaries(st.sampled_from(signature), st.sampled_from(ANY_NUMBER), max_size=1)
    return st.one_of(st.just({}), chosen)
