"""The folder of data files: present files are verified, missing files are downloaded and verified."""

import os
from dataclasses import dataclass
from hashlib import sha256
from http.client import HTTPException
from importlib.resources import files
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

from altclust.files.atomic import write_atomically

# The data folder of the paper's authors (MIT licence), at the commit of the checksums, and its web page.
ORIGIN = "https://raw.githubusercontent.com/neu-spiral/ISM/a4aae10f71f77ec01342446259834aba567e7211/data_sets"
REPOSITORY = "https://github.com/neu-spiral/ISM"
PATIENCE = 30.0  # seconds without an answer of the server


@dataclass(frozen=True)
class RegisteredFile:
    """One file: its SHA-256 checksum, and its path below `ORIGIN` or None if it has no download."""

    sha256: str
    remote: str | None


_LISTED = files("altclust.datasets").joinpath("registry.txt").read_text(encoding="utf-8")
REGISTRY = {
    name: RegisteredFile(checksum, None if remote == "-" else remote)
    for checksum, name, remote in map(str.split, _LISTED.splitlines())
}


class DatasetUnavailable(OSError):
    """A data file is not in the data folder and could not be downloaded; the message says what to do."""


def data_folder() -> Path:
    """The folder of the data files, which need not exist.

    It is the environment variable ``ALTCLUST_DATA`` if that is set, ``altclust`` in the user's cache folder otherwise.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache")
    return Path(os.environ.get("ALTCLUST_DATA") or cache / "altclust").expanduser()


def fetch(name: str) -> Path:
    """The path of a verified data file; it is downloaded if the data folder does not contain it.

    A file whose SHA-256 checksum is wrong is never used: it is downloaded again, from the URL in the environment
    variable ``ALTCLUST_DATA_URL`` if that is set. `DatasetUnavailable` is raised if that fails.
    """
    if name not in REGISTRY:
        raise ValueError(f"name must be one of the registered data files, got {name!r}: {', '.join(REGISTRY)}")
    file, path = REGISTRY[name], data_folder() / name
    damaged = False
    try:
        if path.is_file():
            if _checksum(path.read_bytes()) == file.sha256:
                return path
            damaged = True
        path.parent.mkdir(parents=True, exist_ok=True)
        content = _download(file)
        write_atomically(path, lambda temporary: temporary.write_bytes(content))
    except _NotDownloaded as error:
        reason, cause = str(error), error.__cause__ or error
    except OSError as error:
        reason, cause = f"the folder {path.parent} cannot be used ({error.strerror or 'permission denied'})", error
    else:
        return path
    if damaged:
        reason = f"the copy in the data folder fails its SHA-256 check and {reason}"
    raise DatasetUnavailable(f"{name} is not available because {reason}; {_remedy(file, path)}") from cause


class _NotDownloaded(Exception):
    """Why a file could not be downloaded, as a part of a sentence."""


def _download(file: RegisteredFile) -> bytes:
    """The verified content of a file."""
    if file.remote is None:
        raise _NotDownloaded("it has no download")
    try:
        with urlopen(_url(file.remote), timeout=PATIENCE) as answer:
            content: bytes = answer.read()
    except HTTPError as error:
        error.close()
        raise _NotDownloaded(f"the server answered {error.code}") from error
    except (OSError, HTTPException, ValueError) as error:  # ValueError: an address that is none
        raise _NotDownloaded(f"the download failed ({type(error).__name__})") from error
    if _checksum(content) != file.sha256:
        raise _NotDownloaded("the downloaded file has a wrong SHA-256 checksum")
    return content


def _checksum(content: bytes) -> str:
    return sha256(content).hexdigest()


def _url(remote: str) -> str:
    base = os.environ.get("ALTCLUST_DATA_URL") or ORIGIN
    return f"{base.rstrip('/')}/{remote}"


def _remedy(file: RegisteredFile, path: Path) -> str:
    if file.remote is None:
        return f"it was counted from web pages in {REPOSITORY}: put a copy into the folder {path.parent}"
    return f"get it from {_url(file.remote)} and put it into the folder {path.parent} as {path.name}"
