"""Start the page's server in this process."""

from __future__ import annotations

import errno
import os
import socket
import warnings
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path

from ..validate import InputError

TABLE = "ALTCLUST_EXPLORE"  # environment variable with the path that the command line named
BLUE, LIGHT_BLUE = "#0072B2", "#2A85C7"  # Streamlit's red looks like an alarm
FIRST_PORT, LAST_PORT = 8501, 8599


def require_parts() -> None:
    """Refuse to start without the libraries of the page."""
    for part in ("streamlit", "plotly"):
        if find_spec(part) is None:
            raise InputError(f"`altclust explore` needs {part}: pip install 'altclust[app]'.")


def free_port(host: str) -> int:
    """The first port near Streamlit's own that nobody listens on."""
    for port in range(FIRST_PORT, LAST_PORT + 1):
        if is_free(host, port):
            return port
    raise InputError(f"All ports from {FIRST_PORT} to {LAST_PORT} are taken: name another with --port.")


NOT_OURS = "--host {} is not an address of this machine: 127.0.0.1 is the usual one."


def is_free(host: str, port: int) -> bool:
    """Whether a server could listen there."""
    try:
        kind, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except socket.gaierror as error:
        raise InputError(NOT_OURS.format(host)) from error
    with socket.socket(kind) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
        except OSError as error:
            if error.errno == errno.EADDRNOTAVAIL:
                raise InputError(
                    f"--host {host} is not an address of this machine: 127.0.0.1 is the usual one."
                ) from error
            return False
    return True


def is_local(host: str) -> bool:
    """Whether only this machine can reach it."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def options(host: str, port: int, browser: bool, upload_limit: int) -> dict[str, object]:
    """What Streamlit is told.

    Parameters
    ----------
    host, port
        Where it listens.
    browser : bool
        Whether to open one.
    upload_limit : int
        Megabytes.
    """
    told: dict[str, object] = {
        "server.address": host,
        "server.port": port,
        "server.maxUploadSize": upload_limit,
        "server.enableXsrfProtection": True,
        "server.enableCORS": True,
        "server.fileWatcherType": "none",
        "runner.postScriptGC": False,  # a full collection at every look at a job would take the time that the job needs
        "server.showEmailPrompt": False,
        "browser.gatherUsageStats": False,
        "theme.light.primaryColor": BLUE,
        "theme.dark.primaryColor": LIGHT_BLUE,
        "client.showErrorDetails": "none",
        "client.toolbarMode": "minimal",
        "logger.hideWelcomeMessage": True,
        "logger.level": "warning",
    }
    if is_local(host):
        told["server.allowedHosts"] = ("localhost", "127.0.0.1", "[::1]")  # no other name may lead a browser here
    if not browser:
        told["server.headless"] = True
    return told


def serve(table: Path | None, host: str, port: int, browser: bool, upload_limit: int) -> None:
    """Serve the page until the user ends it."""
    from streamlit.web import cli

    os.environ.pop(TABLE, None)
    if table is not None:
        os.environ[TABLE] = str(table.resolve())
    # The page says these things itself, from the model.
    warnings.filterwarnings("ignore", module=r"altclust\.app")
    flags = [flag for name, value in options(host, port, browser, upload_limit).items() for flag in _flags(name, value)]
    cli.main(["run", str(Path(__file__).with_name("page.py")), *flags], standalone_mode=False)


def _flags(name: str, value: object) -> list[str]:
    """An option as Streamlit's command line takes it; several values repeat it."""
    several = value if isinstance(value, tuple) else (value,)
    return [f"--{name}={str(one).lower() if isinstance(one, bool) else one}" for one in several]
