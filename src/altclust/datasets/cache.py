"""The folder of data files: present files are verified, missing files are downloaded and verified."""

import logging
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pooch

from altclust.datasets.registry import ORIGIN, REGISTRY, REPOSITORY, RegisteredFile

UNFINISHED = ".altclust-download-"  # prefix of the names of temporary download folders
A_DAY = 24 * 3600.0


class DatasetUnavailable(OSError):
    """A data file is not in the data folder and could not be downloaded; the message says what to do."""


def data_folder() -> Path:
    """Return the folder of the data files.

    Returns
    -------
    Path
        The environment variable ``ALTCLUST_DATA`` if it is set, the user's cache folder otherwise. The folder
        need not exist.

    Examples
    --------
    >>> from altclust.datasets import data_folder
    >>> small_gaussian = data_folder() / "small_gaussian.csv"
    """
    return Path(os.environ.get("ALTCLUST_DATA") or pooch.os_cache("altclust")).expanduser()


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
    file = REGISTRY[name]
    path = data_folder() / name
    try:
        if not (path.is_file() and pooch.file_hash(str(path), alg="sha256") == file.sha256):
            _download(file, path)
    except (OSError, ValueError) as error:
        raise DatasetUnavailable(
            f"{name} is not available because {_reason(file, path, error)}; {_remedy(file, path)}"
        ) from error
    return path


def _download(file: RegisteredFile, path: Path) -> None:
    if file.remote is None:
        raise FileNotFoundError(f"{path.name} has no download")
    path.parent.mkdir(parents=True, exist_ok=True)
    for left in path.parent.glob(f"{UNFINISHED}*"):  # left by a killed download
        with suppress(OSError):
            if left.stat().st_mtime < time.time() - A_DAY:
                shutil.rmtree(left)
    with _quiet_pooch(), TemporaryDirectory(prefix=UNFINISHED, dir=path.parent) as folder:
        pooch.retrieve(
            _url(file.remote),
            known_hash=f"sha256:{file.sha256}",
            fname=path.name,
            path=folder,
            downloader=pooch.HTTPDownloader(timeout=30),
        )
        os.replace(Path(folder) / path.name, path)


def _url(remote: str) -> str:
    base = os.environ.get("ALTCLUST_DATA_URL") or ORIGIN
    return f"{base.rstrip('/')}/{remote}"


def _reason(file: RegisteredFile, path: Path, error: OSError | ValueError) -> str:
    # The errors of requests are OSErrors too, without errno; they have a response only if the server sent one.
    status = getattr(getattr(error, "response", None), "status_code", None)
    if not isinstance(error, OSError):
        reason = "the downloaded file has a wrong SHA-256 checksum"
    elif status is not None:
        reason = f"the server answered {status}"
    elif error.errno is not None or isinstance(error, PermissionError):
        reason = f"the folder {path.parent} cannot be used ({error.strerror or 'permission denied'})"
    elif file.remote is None:
        reason = "it has no download"
    else:
        reason = f"the download failed ({type(error).__name__})"
    # A valid copy would have been used.
    damaged = os.path.isfile(path)
    return f"the copy in the data folder fails its SHA-256 check and {reason}" if damaged else reason


def _remedy(file: RegisteredFile, path: Path) -> str:
    if file.remote is None:
        return f"it was counted from web pages in {REPOSITORY}: put a copy into the folder {path.parent}"
    return f"get it from {_url(file.remote)} and put it into the folder {path.parent} as {path.name}"


@contextmanager
def _quiet_pooch() -> Iterator[None]:
    # pooch's logger prints to the terminal, which a library must not do.
    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)
