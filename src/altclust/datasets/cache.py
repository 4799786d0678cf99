"""The folder of data files: present files are verified, missing files are downloaded and verified."""

import os
from hashlib import sha256
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

from altclust.datasets.registry import ORIGIN, REGISTRY, REPOSITORY, RegisteredFile
from altclust.files.atomic import write_atomically

PATIENCE = 30.0  # seconds without an answer of the server


class DatasetUnavailable(OSError):
    """A data file is not in the data folder and could not be downloaded; the message says what to do."""


def data_folder() -> Path:
    """Return the folder of the data files.

    Returns
    -------
    Path
        The environment variable ``ALTCLUST_DATA`` if it is set, ``altclust`` in the user's cache folder
        (``~/.cache``, or ``XDG_CACHE_HOME``) otherwise. The folder need not exist.

    Examples
    --------
    >>> from altclust.datasets import data_folder
    >>> small_gaussian = data_folder() / "small_gaussian.csv"
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache")
    return Path(os.environ.get("ALTCLUST_DATA") or cache / "altclust").expanduser()


def fetch(name: str) -> Path:
    """Return the path of a verified data file; download it if the data folder does not contain it.

    A file whose SHA-256 checksum is wrong is never used: it is downloaded again. A download is written under a
    temporary name and renamed after its checksum was verified.

    Parameters
    ----------
    name : str
        The file's name in the data folder, one of ``altclust.datasets.registry.REGISTRY``.

    Returns
    -------
    Path
        The path of the file.

    Raises
    ------
    DatasetUnavailable
        If the file is missing or damaged and cannot be downloaded.

    Notes
    -----
    The environment variable ``ALTCLUST_DATA_URL`` sets another URL to download from, with the same files
    as :data:`altclust.datasets.registry.ORIGIN`.

    Examples
    --------
    >>> from altclust.datasets import fetch
    >>> fetch("small_gaussian.csv").name
    'small_gaussian.csv'
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
