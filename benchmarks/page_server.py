"""The web app's real server in its own process, as `altclust explore` starts it, for benchmarks and tests."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import requests


@dataclass
class Server:
    """The web app's server in its own process."""

    url: str
    process: subprocess.Popen[bytes]
    log: Path

    def memory(self, figure: str = "VmRSS") -> float:
        """Resident memory in megabytes, with the processes that it has started; VmHWM is its maximum so far."""
        pid = self.process.pid
        children = Path(f"/proc/{pid}/task").glob("*/children")
        processes = [pid, *(child for file in children for child in file.read_text().split())]
        return sum(_figure(f"/proc/{one}/status", figure) for one in processes) / 1024

    def figures(self) -> dict[str, float]:
        """The server's own metrics: sessions, and bytes of uploads."""
        metrics = requests.get(f"{self.url}/_stcore/metrics", timeout=60).text
        pairs = (line.rsplit(" ", 1) for line in metrics.splitlines() if not line.startswith("#"))
        return {name: float(value) for name, value in pairs}

    def sessions(self) -> int:
        """Number of open tabs."""
        return int(next(value for name, value in self.figures().items() if name.startswith("active_sessions")))

    def uploads(self) -> int:
        """Bytes of stored uploads."""
        return int(sum(value for name, value in self.figures().items() if "UploadedFileManager" in name))

    def complaints(self) -> list[str]:
        """Lines in its terminal after the first, which has the address: warnings and errors."""
        return [line for line in self.log.read_text().splitlines()[1:] if line.strip()]


def _figure(path: str, figure: str) -> int:
    return next(int(line.split()[1]) for line in Path(path).read_text().splitlines() if line.startswith(figure))


@contextmanager
def serving(*arguments: str, **environment: str) -> Iterator[Server]:
    """A running server, stopped by an interrupt at the end of the block."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", "altclust", "explore", "--no-browser", "--port", str(port), *arguments],
                cwd=folder,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=os.environ | {"HOME": folder} | environment,
            )
        server = Server(f"http://127.0.0.1:{port}", process, log)
        try:
            _wait_for(server)
            yield server
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait_for(server: Server) -> None:
    for _ in range(240):
        if server.process.poll() is not None:
            raise OSError(f"the server did not start: {server.log.read_text()}")
        try:
            requests.get(f"{server.url}/_stcore/health", timeout=5).raise_for_status()
            return
        except requests.RequestException:
            time.sleep(0.25)
    raise OSError("the server did not start")
