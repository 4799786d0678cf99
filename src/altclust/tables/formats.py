"""Files with a table: one reader per format, which also writes the same file with columns added."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd

from ..base.errors import InputError, short_repr
from ..base.extras import missing_library
from ..files.npy import BadFile, read_npy, read_npz
from .arrow_files import read_arrow, read_parquet
from .csv_files import read_delimited
from .excel_files import read_workbook
from .header import with_header
from .limits import Limits

Write = Callable[[Path, pd.DataFrame], Any]
Read = Callable[[BinaryIO, Limits], tuple[Any, ...]]  # the frame, notes, how to write it; for text also `blank_end`


@dataclass(frozen=True)
class Table:
    """The rows of a file."""

    name: str  # of the file
    frame: pd.DataFrame  # its cells: text from a CSV, typed values from other formats. Names are unique strings
    notes: tuple[str, ...]  # what was guessed, as sentences
    add: Write  # writes the file with columns added: called with a path and the new columns
    blank_end: int = 0  # blank lines at the end of a file with one column; they may be rows without a value

    @property
    def suffix(self) -> str:
        """The end of the file's name, such as ".csv"."""
        return Path(self.name).suffix.lower()


def read_table(source: Path | str | BinaryIO, name: str | None = None, limits: Limits | None = None) -> Table:
    """Read a table from a path or an open file; the end of its name says the format.

    No code in a file is ever run. A file that is damaged, or does not fit in memory or the limits, raises an
    InputError.
    """
    if isinstance(source, str | Path):
        path = Path(source)
        if not path.is_file():
            raise InputError(f"{path} does not exist or is not a file: pass the path of a table.")
        with path.open("rb") as file:
            return read_table(file, path.name, limits)
    named = Path(name or "table.csv")
    read = FORMATS.get(named.suffix.lower())
    if read is None:
        raise InputError(f"{named} has no format that altclust reads: its name should end in {', '.join(FORMATS)}.")
    limits = limits or Limits()
    try:
        frame, notes, add, *more = read(source, limits)
        limits.check(*frame.shape)
    except BadFile as error:
        raise InputError(f"{named} {error}") from error
    except InputError as error:
        raise InputError(f"{named}: {error}") from error
    except MemoryError as error:
        raise InputError(f"{named} does not fit in memory: pass a part of it, or close other programs.") from error
    except ModuleNotFoundError as error:
        raise missing_library(str(named), error) from error
    except Exception as error:  # a damaged file makes the libraries that read it fail in many ways
        kind = named.suffix[1:].upper()
        raise InputError(f"{named} could not be read as {kind}: it is damaged or in another format.") from error
    frame.columns = [str(column) for column in frame.columns]
    if frame.shape[0] == 0 or frame.shape[1] == 0:
        raise InputError(f"{named} has no rows.")
    twice = frame.columns[frame.columns.duplicated()]
    if len(twice):
        raise InputError(f"{named} has two columns named {short_repr(twice[0])}: rename one.")
    shown = named.name.encode("utf-8", "replace").decode()  # a name need not be text, but what is written has to be
    return Table(shown, frame, tuple(notes), add, *more)


def _delimited(file: BinaryIO, limits: Limits) -> tuple[pd.DataFrame, list[str], Write, int]:
    text = read_delimited(file, limits)
    frame, notes = with_header(text.cells)
    has_header = len(frame) < len(text.cells)

    def add(path: Path, new: pd.DataFrame) -> None:
        text.write(path, new, None if has_header else list(frame.columns))

    return frame, text.notes + notes, add, text.blank_end


def _npy(file: BinaryIO, limits: Limits) -> tuple[pd.DataFrame, list[str], Write]:
    array = read_npy(file, limits.bytes / 2)  # the frame is a second copy

    def add(path: Path, new: pd.DataFrame) -> None:
        kind = array.dtype if array.dtype.kind == "f" else None
        with path.open("wb") as target:
            np.save(target, np.column_stack([array, new.to_numpy(dtype=kind)]), allow_pickle=False)

    return _spread("column", array, limits), [], add


def _npz(file: BinaryIO, limits: Limits) -> tuple[pd.DataFrame, list[str], Write]:
    arrays = read_npz(file, limits.bytes / 2)
    tables = [a for a in arrays.values() if a.ndim == 2]
    rows = len(tables[0]) if tables else max((len(a) for a in arrays.values() if a.ndim == 1), default=0)
    used = {name: a for name, a in arrays.items() if a.ndim in (1, 2) and len(a) == rows}
    others = ", ".join(name for name in arrays if name not in used)
    notes = [f"Arrays with another number of rows are left out: {others}."] if others else []

    def add(path: Path, new: pd.DataFrame) -> None:
        added = {name: np.array(new[name].tolist()) for name in new.columns}
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:  # savez reserves some names
            for name, values in {**arrays, **added}.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, values, allow_pickle=False)

    frame = pd.concat([_spread(name, a, limits) for name, a in used.items()], axis=1) if used else pd.DataFrame()
    return frame, notes, add


def _spread(name: str, array: np.ndarray, limits: Limits) -> pd.DataFrame:
    """A column per column of the array, numbered from 1."""
    if array.dtype.kind in "Vc":
        raise BadFile(f"has an array of {short_repr(str(array.dtype))}: it should hold numbers or text.")
    if array.ndim == 1:
        return pd.DataFrame({name: array})
    if array.ndim != 2:
        raise BadFile(f"has an array with {array.ndim} axes: it should have rows and columns.")
    limits.check(*array.shape)
    return pd.DataFrame(array, columns=[f"{name}_{j}" for j in range(1, array.shape[1] + 1)])


FORMATS: dict[str, Read] = {
    ".csv": _delimited,
    ".tsv": _delimited,
    ".txt": _delimited,
    ".parquet": read_parquet,
    ".feather": read_arrow,
    ".arrow": read_arrow,
    ".xlsx": read_workbook,
    ".npy": _npy,
    ".npz": _npz,
}
