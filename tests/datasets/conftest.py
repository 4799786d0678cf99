"""The authors' files, a server on the loopback interface, and an empty data folder."""

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from altclust.datasets import cache


@pytest.fixture
def authors_files(monkeypatch):
    """The folder with the authors' files; without one the test is skipped rather than downloading them."""
    folder = os.environ.get("ALTCLUST_DATA")
    if not folder:
        pytest.skip("ALTCLUST_DATA does not name a folder with the authors' files")
    # A file that is missing from the folder must fail the test, not reach for the network.
    monkeypatch.setenv("ALTCLUST_DATA_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return folder


@pytest.fixture
def empty_folder(tmp_path, monkeypatch):
    """A data folder that does not exist yet."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("ALTCLUST_DATA", str(folder))
    return folder


@dataclass
class Server:
    """What the loopback server answers, and which paths it was asked for."""

    url: str = ""
    answers: dict[str, Callable[[BaseHTTPRequestHandler], None]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def serve(self, path: str, body: bytes, *, promised: int | None = None) -> None:
        """Answer `path` with `body`, announcing `promised` bytes."""

        def answer(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(200)
            handler.send_header("Content-Length", str(len(body) if promised is None else promised))
            handler.end_headers()
            handler.wfile.write(body)

        self.answers[path] = answer


@pytest.fixture
def server(monkeypatch):
    """A real HTTP server on 127.0.0.1 from which the loaders download."""
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            state.asked.append(self.path)
            if self.path in state.answers:
                state.answers[self.path](self)
            else:
                self.send_error(404)

        def log_message(self, *_):
            pass

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    state.url = f"http://127.0.0.1:{httpd.server_port}/data"
    monkeypatch.setenv("ALTCLUST_DATA_URL", state.url)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    yield state
    httpd.shutdown()
    httpd.server_close()
    thread.join()


@pytest.fixture
def small_file(monkeypatch):
    """A stand-in for small_gaussian.csv, entered in the registry with its own checksum."""
    body = b"-1.5,-2.5\n1.5,-2.5\n-1.5,2.5\n1.5,2.5\n"
    entry = cache.RegisteredFile(sha256(body).hexdigest(), "data_4.csv")
    monkeypatch.setitem(cache.REGISTRY, "small_gaussian.csv", entry)
    return body
