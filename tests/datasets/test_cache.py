"""Downloads, against a real server on the loopback interface."""

import os
import socket
from pathlib import Path

import numpy as np
import pytest

from altclust.datasets import DatasetUnavailable, data_folder, fetch, load_small_gaussians, load_webkb
from altclust.datasets.cache import REGISTRY, REPOSITORY

NAME = "small_gaussian.csv"


def files_below(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def assert_helps(caught, *parts):
    """One sentence that names the file, where it comes from and the folder it belongs in."""
    message = str(caught.value)
    for part in parts:
        assert str(part) in message
    assert "\n" not in message
    assert ". " not in message
    assert caught.value.__cause__ is not None


def test_download_then_cache(server, empty_folder, small_file):
    server.serve("/data/data_4.csv", small_file)
    data = load_small_gaussians()
    np.testing.assert_array_equal(data.X, [[-1.5, -2.5], [1.5, -2.5], [-1.5, 2.5], [1.5, 2.5]])
    assert files_below(empty_folder) == [NAME]
    load_small_gaussians()
    assert server.asked == ["/data/data_4.csv"]


def test_download_into_a_subfolder(server, empty_folder, small_file, monkeypatch):
    name = "growth/Dimond_gaussians_128_64.csv"
    monkeypatch.setitem(REGISTRY, name, REGISTRY[NAME])
    server.serve("/data/data_4.csv", small_file)
    assert fetch(name) == empty_folder / name
    assert (empty_folder / name).read_bytes() == small_file


def test_nothing_is_printed(server, empty_folder, small_file, capfd):
    server.serve("/data/data_4.csv", small_file)
    fetch(NAME)
    assert capfd.readouterr() == ("", "")


def test_wrong_checksum(server, empty_folder, small_file):
    server.serve("/data/data_4.csv", small_file.replace(b"1", b"7"))
    with pytest.raises(DatasetUnavailable, match="the downloaded file has a wrong SHA-256 checksum") as caught:
        fetch(NAME)
    assert_helps(caught, NAME, f"{server.url}/data_4.csv", empty_folder)
    assert files_below(empty_folder) == []


def test_broken_transfer(server, empty_folder, small_file):
    server.serve("/data/data_4.csv", small_file[:10], promised=len(small_file))
    with pytest.raises(DatasetUnavailable, match="the download failed") as caught:
        fetch(NAME)
    assert_helps(caught, NAME, f"{server.url}/data_4.csv", empty_folder)
    assert files_below(empty_folder) == []


def test_missing_on_the_server(server, empty_folder):
    with pytest.raises(DatasetUnavailable, match="the server answered 404") as caught:
        fetch(NAME)
    assert_helps(caught, NAME, f"{server.url}/data_4.csv", empty_folder)
    assert files_below(empty_folder) == []


def test_no_server(empty_folder, monkeypatch):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
        monkeypatch.setenv("ALTCLUST_DATA_URL", f"{url}/")
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        with pytest.raises(DatasetUnavailable, match="the download failed") as caught:
            fetch(NAME)
    assert_helps(caught, NAME, f"{url}/data_4.csv", empty_folder)
    assert files_below(empty_folder) == []


def test_an_address_that_is_none(empty_folder, monkeypatch):
    monkeypatch.setenv("ALTCLUST_DATA_URL", "nowhere")
    with pytest.raises(DatasetUnavailable, match="the download failed") as caught:
        fetch(NAME)
    assert_helps(caught, NAME, "nowhere/data_4.csv", empty_folder)


def test_folder_below_a_file(server, small_file, tmp_path, monkeypatch):
    (tmp_path / "occupied").write_text("a file, not a folder")
    folder = tmp_path / "occupied" / "cache"
    monkeypatch.setenv("ALTCLUST_DATA", str(folder))
    server.serve("/data/data_4.csv", small_file)
    with pytest.raises(DatasetUnavailable, match="cannot be used") as caught:
        fetch(NAME)
    assert_helps(caught, NAME, f"{server.url}/data_4.csv", folder)
    assert files_below(tmp_path) == ["occupied"]


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="permissions do not bind this user or system"
)
def test_read_only_folder(server, empty_folder, small_file):
    empty_folder.mkdir()
    empty_folder.chmod(0o500)
    server.serve("/data/data_4.csv", small_file)
    try:
        with pytest.raises(DatasetUnavailable, match="cannot be used") as caught:
            fetch(NAME)
    finally:
        empty_folder.chmod(0o700)
    assert_helps(caught, NAME, f"{server.url}/data_4.csv", empty_folder)
    assert files_below(empty_folder) == []


def test_refused_permission(server, empty_folder, small_file, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    # The same as a read-only folder, also for the superuser, whom the modes of files do not stop.
    monkeypatch.setattr("altclust.files.atomic.os.open", refuse)
    server.serve("/data/data_4.csv", small_file)
    with pytest.raises(DatasetUnavailable, match=r"cannot be used \(.*ermission denied\)") as caught:
        fetch(NAME)
    assert_helps(caught, NAME, f"{server.url}/data_4.csv", empty_folder)


def test_damaged_copy_is_replaced(server, empty_folder, small_file):
    empty_folder.mkdir()
    (empty_folder / NAME).write_bytes(b"1,2\n")
    server.serve("/data/data_4.csv", small_file)
    assert fetch(NAME).read_bytes() == small_file


def test_damaged_copy_is_not_used(server, empty_folder, small_file):
    empty_folder.mkdir()
    (empty_folder / NAME).write_bytes(b"1,2\n")
    with pytest.raises(DatasetUnavailable, match="the copy in the data folder fails its SHA-256 check") as caught:
        load_small_gaussians()
    assert_helps(caught, NAME, f"{server.url}/data_4.csv", empty_folder, "404")
    assert files_below(empty_folder) == [NAME]


@pytest.mark.parametrize("damaged", [False, True])
def test_file_without_a_download(server, empty_folder, damaged):
    if damaged:
        empty_folder.mkdir()
        (empty_folder / "webkb_500.npz").write_bytes(b"PK")
    with pytest.raises(DatasetUnavailable, match="it has no download") as caught:
        load_webkb(500)
    assert_helps(caught, "webkb_500.npz", REPOSITORY, empty_folder)
    assert ("fails its SHA-256 check" in str(caught.value)) == damaged
    assert server.asked == []


def test_unknown_file(empty_folder):
    with pytest.raises(ValueError, match=r"got 'faces\.tsv'.*faces\.csv"):
        fetch("faces.tsv")


def test_data_folder(monkeypatch):
    monkeypatch.setenv("ALTCLUST_DATA", "somewhere")
    assert str(data_folder()) == "somewhere"
    monkeypatch.setenv("ALTCLUST_DATA", "")
    monkeypatch.setenv("XDG_CACHE_HOME", "elsewhere")
    assert data_folder() == Path("elsewhere/altclust")
    for name in ("ALTCLUST_DATA", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name)
    assert data_folder() == Path.home() / ".cache" / "altclust"


def test_registry_is_well_formed():
    assert all(len(file.sha256) == 64 for file in REGISTRY.values())
    assert [name for name, file in REGISTRY.items() if file.remote is None] == ["webkb_500.npz"]
    remotes = [file.remote for file in REGISTRY.values()]
    assert len(set(remotes)) == len(remotes)
