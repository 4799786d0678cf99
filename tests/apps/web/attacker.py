"""The page's real server and what an attacker can send to it."""

from __future__ import annotations

import asyncio
import http.client
import socket
import threading
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

pytest.importorskip("streamlit", reason="streamlit is not installed")
pytest.importorskip("plotly", reason="plotly is not installed")
pytest.importorskip("benchmarks", reason="the benchmarks are not in this copy of the repository")
if not Path("/proc/self/status").exists():
    pytest.skip("memory is read from /proc", allow_module_level=True)

from benchmarks.load import table
from benchmarks.page_server import serving
from benchmarks.visitor import Visitor
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

MARKER = "the secret of the machine"
LIMIT = 2  # megabytes of an upload
EVIL = "http://evil.example"


@contextmanager
def listening():
    """A stand-in for the rest of the world: its address, and what came there."""
    calls = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def listen():
            while True:
                try:
                    caller, _ = listener.accept()
                except OSError:
                    return
                with caller:
                    calls.append(caller.recv(200))

        threading.Thread(target=listen, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", calls


@contextmanager
def attacked(folder):
    """The real server beside files that are nobody's business; whatever is done to it, it asks nothing of the world."""
    (folder / "secret.txt").write_text(MARKER)
    named = folder / "named.csv"
    named.write_bytes(table(80, 0))
    with listening() as (proxy, calls):
        proxies = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), proxy)
        with serving(str(named), "--upload-limit", str(LIMIT), **proxies, NO_PROXY="") as running:
            (running.log.parent / "secret.txt").write_text(MARKER)
            (running.log.parent / "static").mkdir()
            (running.log.parent / "static" / "secret.txt").write_text(MARKER)
            yield running
            assert running.process.poll() is None, "the server has ended"
        assert not calls


def ask(url, path, method="GET", body=None, **headers):
    """One request exactly as it is written: status, body, headers."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
    try:
        connection.putrequest(method, path, skip_host="Host" in headers)
        for name, value in headers.items():
            connection.putheader(name.replace("_", "-"), value)
        if body is not None and "Transfer_Encoding" not in headers and "Content_Length" not in headers:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        answer = connection.getresponse()
        return answer.status, answer.read(), {name.lower(): value for name, value in answer.getheaders()}
    finally:
        connection.close()


def shake_hands(url, origin=None, host=None):
    """How the socket answers: 101 if it opens."""
    parts = urlsplit(url)

    async def attempt():
        address = f"ws://{host or parts.netloc}/_stcore/stream"
        try:
            async with connect(address, origin=origin, host=parts.hostname, port=parts.port):
                return 101
        except InvalidStatus as error:
            return error.response.status_code

    return asyncio.run(attempt())


def visit(server, steps):
    """Do these steps in a tab of one's own."""

    async def stay():
        visitor = Visitor(server.url)
        await visitor.open()
        try:
            return await asyncio.wait_for(steps(visitor), 120)
        finally:
            await visitor.close()

    return asyncio.run(stay())


async def to_uploads(visitor):
    await visitor.choose("place", "Upload")
    await visitor.until(lambda: visitor.has("upload"))
