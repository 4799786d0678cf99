"""Who may speak to the page: its own tabs, under names that are this machine's, with uploads that are bounded.

Streamlit looks at the host's name for its socket only, lets every other server on the machine speak to it, and asks a
machine on the internet what its own address is before it turns a stranger away. So all of that is decided before it.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import re
from collections.abc import Callable, Collection, MutableMapping
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

UPLOADS = "/_stcore/upload_file/"
MOST_FILES = 3  # of one visitor: the table that is open, its successor, and one in between
MOST_VISITORS = 10  # full uploads that are kept side by side
MOST_TABS = 100  # open at a time: each may hold a table in memory
MEGABYTE = 1 << 20
STALLED = 60.0  # seconds without a byte, after which an upload is given up

Scope = MutableMapping[str, Any]
Refusal = tuple[int, str]


class Guard:
    """An ASGI application around another one, which only sees what passes here.

    Parameters
    ----------
    app : ASGI application
    hosts : collection of str
        Names under which the page may be asked for.
    addresses : bool
        Whether any IP address will do as well: no other site can give itself such a name.
    upload_limit : int
        Megabytes of one file.
    files : callable
        Tells the uploaded files that are kept, as a dict of the visitor's id to the files by their ids.
    inline : collection of str
        Texts of the scripts that stand in the page itself.
    """

    def __init__(
        self,
        app: Any,
        hosts: Collection[str],
        addresses: bool,
        upload_limit: int,
        files: Callable[[], MutableMapping[str, Any]],
        inline: Collection[str] = (),
    ) -> None:
        self._app, self._hosts, self._addresses, self._files = app, set(hosts), addresses, files
        self._limit = upload_limit * MEGABYTE
        self._arriving: list[tuple[str, str, int]] = []  # uploads that are under way: visitor, file, bytes
        self._tabs = 0
        self._headers = [(name.encode(), value.encode()) for name, value in headers(inline).items()]

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        """Answer one request, or refuse it."""
        if scope["type"] == "lifespan":
            return await self._app(scope, receive, send)
        told = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        upload = scope["type"] == "http" and scope["method"] == "PUT" and scope["path"].startswith(UPLOADS)
        refusal = self._stranger(told) or (self._too_much(scope["path"], told) if upload else None)
        if scope["type"] == "websocket" and self._tabs >= MOST_TABS:
            refusal = 503, "Too many tabs are open."
        if refusal is not None:
            return await _refuse(scope, send, refusal)
        if upload:
            return await self._take(scope, receive, send, int(told["content-length"]))
        tab = scope["type"] == "websocket"
        self._tabs += tab
        try:
            await self._app(scope, receive, self._with_headers(send))
        finally:
            self._tabs -= tab

    async def _take(self, scope: Scope, receive: Any, send: Any, size: int) -> None:
        """Let an upload in; whoever holds the room for it without sending anything loses it."""

        async def receiving() -> Any:
            message = await asyncio.wait_for(receive(), STALLED)
            if message["type"] == "http.disconnect":  # of which Streamlit would make a traceback in the terminal
                raise ConnectionResetError
            return message

        arriving = (*_place(scope["path"]), size)
        self._arriving.append(arriving)
        try:
            await self._app(scope, receiving, self._with_headers(send))
        except (TimeoutError, ConnectionResetError):
            await _refuse(scope, send, (408, "The upload has stalled: send it again."))
        finally:
            self._arriving.remove(arriving)

    def _stranger(self, told: dict[str, str]) -> Refusal | None:
        """Why this is not one of the page's own tabs; None if it may be one."""
        host = told.get("host", "")
        if not self._is_ours(host):
            return 403, "This page is not served under that name: start it with --name and that name."
        origin = told.get("origin")
        if origin is not None and _server(origin) != host.lower():
            return 403, "Another site may not speak to this page."
        return None

    def _is_ours(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        return name in self._hosts or (self._addresses and is_address(name))

    def _too_much(self, path: str, told: dict[str, str]) -> Refusal | None:
        """Why this upload does not fit; None if it does."""
        size = told.get("content-length", "")
        if "transfer-encoding" in told or not (size.isdecimal() and len(size) < 16):
            return 411, "An upload has to tell its length."
        visitor, name = _place(path)
        if int(size) > self._limit:
            return 413, f"The page takes files of at most {self._limit // MEGABYTE} megabytes."
        kept = {one: dict(files) for one, files in list(self._files().items())}
        arriving = [file for one, file, _ in self._arriving if one == visitor]
        if len(kept.get(visitor, {}).keys() - {name, *arriving}) + len(arriving) >= MOST_FILES:
            return 429, f"{MOST_FILES} files of this visitor are kept already: remove one, or open the page anew."
        held = sum(len(file.data) for files in kept.values() for file in files.values())
        held += sum(coming for *_, coming in self._arriving)
        if held + int(size) > MOST_VISITORS * self._limit:
            return 503, "Other visitors' uploads take all the room that there is: try again in a few minutes."
        return None

    def _with_headers(self, send: Any) -> Any:
        async def sending(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *self._headers]
            await send(message)

        return sending


def _place(path: str) -> tuple[str, str]:
    """The visitor and the file that an upload is for."""
    visitor, _, name = path.removeprefix(UPLOADS).partition("/")
    return visitor, name


def _server(origin: str) -> str | None:
    """The server that a site is on; None if it cannot be told."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return None


async def _refuse(scope: Scope, send: Any, refusal: Refusal) -> None:
    status, sentence = refusal
    if scope["type"] == "websocket":
        return await send({"type": "websocket.close", "code": 1008})
    body = sentence.encode()
    # The rest of an upload is not read, so no other request may follow on the same connection.
    told = {"content-type": "text/plain", "content-length": str(len(body)), "connection": "close"} | headers()
    start = [(name.encode(), value.encode()) for name, value in told.items()]
    await send({"type": "http.response.start", "status": status, "headers": start})
    await send({"type": "http.response.body", "body": body})


def is_address(name: str) -> bool:
    """Whether this is an IP address rather than a name."""
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def headers(inline: Collection[str] = ()) -> dict[str, str]:
    """What browsers are told: nothing from or to other places, and no frame of another site around the page.

    Parameters
    ----------
    inline : collection of str
        Texts of the scripts that stand in the page itself.
    """
    scripts = " ".join(["'self'", *(f"'sha256-{_digest(text)}'" for text in inline)])
    policy = {
        "default-src": "'self'",
        "script-src": scripts,
        "style-src": "'self' 'unsafe-inline'",  # Streamlit writes its styles into the page
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "worker-src": "'self' blob:",
        "object-src": "'none'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
    }
    return {
        "content-security-policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "referrer-policy": "no-referrer",
        "cross-origin-resource-policy": "same-origin",
    }


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def inline_scripts(page: Path) -> list[str]:
    """Texts of the scripts that stand in an HTML file itself."""
    return re.findall(r"<script>(.*?)</script>", page.read_text(encoding="utf-8"), re.DOTALL)
