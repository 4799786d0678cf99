"""The server of the page."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import socket
import sys
import threading
import warnings
import webbrowser
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from ...base.errors import InputError
from ...base.extras import needed_by
from ...report.palette import ACCENTS
from . import streamlit_private

TABLE = "ALTCLUST_EXPLORE"  # environment variable with the path of the table
FIRST_PORT, LAST_PORT = 8501, 8599
HERE = ("localhost", "127.0.0.1", "::1")
EVERYWHERE = ("0.0.0.0", "::")


def require_parts() -> None:
    """Refuse to start without the libraries of the page."""
    with needed_by("`altclust explore`"):
        for part in ("streamlit", "plotly"):
            import_module(part)
    streamlit_private.require_version()


def free_port(host: str) -> int:
    """The first free port, from Streamlit's own on."""
    for port in range(FIRST_PORT, LAST_PORT + 1):
        if is_free(host, port):
            return port
    raise InputError(f"All ports from {FIRST_PORT} to {LAST_PORT} are in use: choose another with --port.")


def is_free(host: str, port: int) -> bool:
    """Whether the port is free."""
    try:
        kind, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        socket.create_server(address, family=kind).close()
    except OSError as error:
        if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
            raise InputError(f"--host {host} is not an address of this machine: 127.0.0.1 is the usual one.") from error
        return False
    return True


def is_local(host: str) -> bool:
    """Whether only this machine can reach the address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def names(host: str, more: Sequence[str] = ()) -> list[str]:
    """Host names of the page; any other may belong to a site that uses DNS rebinding."""
    machine = socket.gethostname()
    ours = [] if is_local(host) else [machine, f"{machine}.local", _full_name()]
    return [name.lower() for name in (*HERE, host, *ours, *more)]


def _full_name() -> str:
    try:
        return socket.getfqdn()
    except UnicodeError:  # the machine has an invalid host name
        return "localhost"


def link(host: str, port: int) -> str:
    """The address of the page for a browser on this machine."""
    shown = "localhost" if host in EVERYWHERE else f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}"


def has_screen() -> bool:
    """Whether a browser can open a window; one in the terminal would block it."""
    return sys.platform != "linux" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def options(host: str, port: int, upload_limit: int) -> dict[str, object]:
    """The options of Streamlit; all that matter for security are set, so that no configuration file can change them.

    The upload limit is in megabytes.
    """
    return {
        "server.address": host,
        "server.port": port,
        "server.maxUploadSize": upload_limit,
        "server.disconnectedSessionTTL": 120,  # seconds; longer than `VisitOptions.gone`, which closes sessions itself
        "server.enableXsrfProtection": True,
        "server.enableCORS": True,
        "server.enableStaticServing": False,
        "server.enableAgentApi": False,
        "server.baseUrlPath": "",
        "server.fileWatcherType": "none",
        "server.headless": True,  # we open the browser; Streamlit's own start page offers to write files
        "server.showEmailPrompt": False,
        "global.developmentMode": False,
        "runner.postScriptGC": False,  # a full garbage collection at every update would slow the job down
        "browser.gatherUsageStats": False,
        "theme.light.primaryColor": ACCENTS[0],  # Streamlit's red looks like an error
        "theme.dark.primaryColor": ACCENTS[1],
        "client.showErrorDetails": "none",
        "client.toolbarMode": "minimal",
        "client.allowedOrigins": [link(host, port)],  # of pages that may control this one: only itself
        "logger.hideWelcomeMessage": True,
        "logger.level": "warning",
    }


def serve(
    table: Path | None, host: str, port: int, browser: bool, upload_limit: int, other_names: Sequence[str] = ()
) -> None:
    """Serve the page until Ctrl-C."""
    import streamlit as st
    from starlette.middleware import Middleware

    from .guard import Guard, inline_scripts

    os.environ.pop(TABLE, None)
    if table is not None:
        os.environ[TABLE] = str(table.resolve())
    # The page shows these warnings itself.
    warnings.filterwarnings("ignore", module=r"altclust\.apps")
    guard = Middleware(
        Guard,
        hosts=names(host, other_names),
        addresses=not is_local(host),
        upload_limit=upload_limit,
        files=streamlit_private.uploads,
        inline=inline_scripts(streamlit_private.start_page()),
    )

    @asynccontextmanager
    async def while_serving(_: Any) -> AsyncIterator[None]:
        order = asyncio.create_task(_keep_order())
        if browser and has_screen():  # some browsers return only when they are closed
            threading.Thread(target=webbrowser.open, args=(link(host, port),), daemon=True).start()
        yield
        order.cancel()

    page = st.App(Path(__file__).with_name("page.py").resolve(), middleware=[guard], lifespan=while_serving)
    sys.argv = [""]  # otherwise the folder of the command would be first in the module search path
    for ending in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ending, signal.default_int_handler)
    hangup = getattr(signal, "SIGHUP", None)  # a terminal that is closed; the server knows only the other two
    if hangup is not None and signal.getsignal(hangup) is not signal.SIG_IGN:
        signal.signal(hangup, lambda *_: signal.raise_signal(signal.SIGTERM))
    with suppress(KeyboardInterrupt):
        page.run(config=options(host, port, upload_limit))


async def _keep_order() -> None:
    from .visits import VISITORS

    await VISITORS.keep_order(streamlit_private.runtime(), streamlit_private.uploads)
