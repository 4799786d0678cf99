"""Files that hold a table: one reader per format, which also knows how to write the same file with columns added."""

from __future__ import annotations

import importlib.util
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd

from ..validate import InputError
from .cells import numbers
from .delimited import read_delimited, write_delimited

Write = Callable[[Path, pd.DataFrame], Any]
EXTRAS = {"pyarrow": "parquet", "openpyxl": "excel"}


@dataclass(frozen=True)
class Table:
    """The rows of a file.

    Attributes
    ----------
    name : str
        Of the file.
    frame : DataFrame
        Its cells: text as it stands in a CSV, values where the format has types. Names are unique strings.
    notes : tuple of str
        What had to be guessed, in sentences.
    add : callable
        Writes such a file again: called with a path and the new columns.
    """

    name: str
    frame: pd.DataFrame
    notes: tuple[str, ...]
    add: Write

    @property
    def suffix(self) -> str:
        """How such a file's name ends."""
        return Path(self.name).suffix.lower()


def read_table(source: Path | str | BinaryIO, name: str | None = None) -> Table:
    r"""Read a table from a file, by how its name ends.

    Parameters
    ----------
    source : path or binary file
    name : str, optional
        The file's name, where source is an open file.

    Examples
    --------
    >>> import io
    >>> from altclust.tables import read_table
    >>> read_table(io.BytesIO(b"age;city\n31;Graz\n"), "people.csv").frame
      age  city
    0  31  Graz
    """
    if isinstance(source, str | Path):
        path = Path(source)
        if not path.is_file():
            raise InputError(f"{path} is not a file: pass the path of a table.")
        with path.open("rb") as file:
            return read_table(file, path.name)
    named = Path(name or "table.csv")
    read = FORMATS.get(named.suffix.lower())
    if read is None:
        raise InputError(f"{named} is in no format that altclust reads: it should end in {', '.join(FORMATS)}.")
    try:
        frame, notes, add = read(source)
    except InputError as error:
        raise InputError(f"{named}: {error}") from error
    except MemoryError:
        raise
    except ImportError as error:
        extra = EXTRAS.get(error.name or "", "parquet")
        raise InputError(f"{named} needs {error.name}: pip install 'altclust[{extra}]'.") from error
    except (ValueError, OSError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
        if "allow_pickle" in str(error) or "Object arrays" in str(error):
            raise InputError(
                f"{named} is damaged or holds Python objects, which could run code: save it as plain arrays."
            ) from error
        why = " ".join(str(error).split()).removeprefix("Error tokenizing data. C error: ") or type(error).__name__
        raise InputError(f"{named} could not be read as {named.suffix[1:].upper()}: {why.rstrip('.')}.") from error
    frame.columns = [str(column) for column in frame.columns]
    if frame.shape[0] == 0 or frame.shape[1] == 0:
        raise InputError(f"{named} has no rows: there is nothing to cluster.")
    twice = frame.columns[frame.columns.duplicated()]
    if len(twice):
        raise InputError(f"{named} has two columns named {twice[0]!r}: rename one.")
    return Table(named.name, frame, tuple(notes), add)


def _delimited(file: BinaryIO) -> tuple[pd.DataFrame, list[str], Write]:
    cells, dialect, notes = read_delimited(file)
    frame, more = _with_header(cells)
    return frame, notes + more, lambda path, new: write_delimited(path, _beside(frame, new), dialect)


def _with_header(cells: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """The first row as names, unless it consists of numbers."""
    if len(cells) == 0:
        raise InputError("The table is empty: there is nothing to cluster.")
    first = cells.iloc[0]
    measured = numbers(first)
    if measured is not None and not np.isnan(measured[0]).any():
        names = [f"column_{j}" for j in range(1, cells.shape[1] + 1)]
        return cells.set_axis(names, axis=1), ["The first line holds only numbers, so it is a row: columns got names."]
    names = ["" if pd.isna(name) else str(name) for name in first]
    names = [f"unnamed_{j}" if not name and "" in names[:j] else name for j, name in enumerate(names)]
    return cells.iloc[1:].reset_index(drop=True).set_axis(names, axis=1), []


def _beside(frame: pd.DataFrame, new: pd.DataFrame) -> pd.DataFrame:
    return pd.concat([frame, new.set_axis(frame.index)], axis=1)


def _require(module: str) -> None:
    if importlib.util.find_spec(module) is None:
        raise ImportError(f"{module} is missing", name=module)


def _parquet(file: BinaryIO) -> tuple[pd.DataFrame, list[str], Write]:
    _require("pyarrow")
    import pyarrow.parquet as pq

    table = pq.read_table(file)
    return _frame(table), [], lambda path, new: pq.write_table(_appended(table, new), path)


def _arrow(file: BinaryIO) -> tuple[pd.DataFrame, list[str], Write]:
    _require("pyarrow")
    import pyarrow as pa
    from pyarrow import feather

    data = pa.BufferReader(file.read())
    try:
        table, stream = pa.ipc.open_file(data).read_all(), False
    except pa.ArrowInvalid:
        data.seek(0)
        try:
            table, stream = pa.ipc.open_stream(data).read_all(), True
        except pa.ArrowInvalid:  # the first version of Feather had a format of its own
            data.seek(0)
            table, stream = feather.read_table(data), False

    def add(path: Path, new: pd.DataFrame) -> None:
        whole = _appended(table, new)
        with (pa.ipc.new_stream if stream else pa.ipc.new_file)(str(path), whole.schema) as writer:
            writer.write_table(whole)

    return _frame(table), [], add


def _frame(table: Any) -> pd.DataFrame:
    """An Arrow table for us to compute with; what pandas took for its index is a column like any other."""
    return table.to_pandas(ignore_metadata=True)


def _appended(table: Any, new: pd.DataFrame) -> Any:
    """The Arrow table itself with columns more, so that all its types stay as they are."""
    import pyarrow as pa

    for name in new.columns:
        table = table.append_column(name, pa.array(new[name].to_numpy()))
    return table


def _excel(file: BinaryIO) -> tuple[pd.DataFrame, list[str], Write]:
    _require("openpyxl")
    book = pd.ExcelFile(file, engine="openpyxl")
    sheet = str(book.sheet_names[0])
    cells = pd.read_excel(book, sheet_name=sheet, header=None, dtype=object, keep_default_na=False, na_values=[""])
    frame, notes = _with_header(cells)
    if len(book.sheet_names) > 1:
        notes = [f"The workbook has {len(book.sheet_names)} sheets: {sheet!r}, the first, is read.", *notes]

    def add(path: Path, new: pd.DataFrame) -> None:
        from openpyxl import Workbook

        result = Workbook(write_only=False)
        page = result.active
        page.title = sheet
        whole = _beside(frame, new)
        for i, row in enumerate([list(whole.columns), *whole.itertuples(index=False)], 1):
            for j, value in enumerate(row, 1):
                cell = page.cell(i, j, None if pd.isna(value) else getattr(value, "item", lambda v=value: v)())
                if cell.data_type == "f":  # text that begins with = stays text
                    cell.data_type = "s"
        result.save(path)

    return frame, notes, add


def _npy(file: BinaryIO) -> tuple[pd.DataFrame, list[str], Write]:
    array = np.load(file, allow_pickle=False)

    def add(path: Path, new: pd.DataFrame) -> None:
        kind = array.dtype if array.dtype.kind == "f" else None
        with path.open("wb") as target:
            np.save(target, np.column_stack([array, new.to_numpy(dtype=kind)]), allow_pickle=False)

    return _spread("column", array), [], add


def _npz(file: BinaryIO) -> tuple[pd.DataFrame, list[str], Write]:
    with np.load(file, allow_pickle=False) as opened:
        arrays = {name: opened[name] for name in opened.files}
    tables = [a for a in arrays.values() if a.ndim == 2]
    rows = len(tables[0]) if tables else max((len(a) for a in arrays.values() if a.ndim == 1), default=0)
    used = {name: a for name, a in arrays.items() if a.ndim in (1, 2) and len(a) == rows}
    others = ", ".join(name for name in arrays if name not in used)
    notes = [f"Arrays without {rows} rows are not part of the table: {others}."] if others else []

    def add(path: Path, new: pd.DataFrame) -> None:
        added = {name: np.array(new[name].tolist()) for name in new.columns}
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:  # savez has names of its own in the way
            for name, values in {**arrays, **added}.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, values, allow_pickle=False)

    frame = pd.concat([_spread(name, a) for name, a in used.items()], axis=1) if used else pd.DataFrame()
    return frame, notes, add


def _spread(name: str, array: np.ndarray) -> pd.DataFrame:
    """A column per column of the array, numbered from 1."""
    if array.ndim == 1 and array.dtype.names is None:
        return pd.DataFrame({name: array})
    if array.ndim != 2:
        raise InputError(f"An array with {array.ndim} axes is not a table: it should have rows and columns.")
    return pd.DataFrame(array, columns=[f"{name}_{j}" for j in range(1, array.shape[1] + 1)])


FORMATS: dict[str, Callable[[BinaryIO], tuple[pd.DataFrame, list[str], Write]]] = {
    ".csv": _delimited,
    ".tsv": _delimited,
    ".txt": _delimited,
    ".parquet": _parquet,
    ".feather": _arrow,
    ".arrow": _arrow,
    ".xlsx": _excel,
    ".npy": _npy,
    ".npz": _npz,
}
