"""Libraries that only some uses need: where one is missing, one sentence says how to install it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .errors import InputError

EXTRA_OF = {  # the extra of pyproject.toml that has the library
    **dict.fromkeys(("jinja2", "markupsafe", "matplotlib", "plotly", "rich", "streamlit", "typer"), "app"),
    "dask": "dask",
    "flint": "proof",
    "openpyxl": "excel",
    "pyarrow": "parquet",
    "torch": "torch",
}


class MissingLibrary(InputError, ImportError):
    """A library that is not installed; the message has the command that installs it."""


@contextmanager
def needed_by(use: str) -> Iterator[None]:
    """Import the libraries of an extra in this context: a missing one raises a `MissingLibrary` about this use."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise missing_library(use, error) from error


def missing_library(use: str, error: ModuleNotFoundError) -> MissingLibrary:
    """The sentence about a failed import."""
    library = (error.name or "").partition(".")[0]
    package = f"'altclust[{EXTRA_OF[library]}]'" if library in EXTRA_OF else library
    return MissingLibrary(f"{use} needs {library}: pip install {package}.")
