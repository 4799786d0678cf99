"""Access control: only the page's own tabs, under this machine's names, with limited uploads.

Streamlit checks the Host header for its WebSocket only, accepts every other origin on the machine, and asks a server on
the internet for its own address before it refuses a request. So all of that is decided before Streamlit. Starlette's
TrustedHostMiddleware would do one part of it: it checks no origins, and cannot allow all IP addresses.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import re
from collections.abc import Callable, Collection, MutableMapping
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from .streamlit_private import UPLOADS

MEGABYTE = 1 << 20

Scope = MutableMapping[str, Any]
Refusal = tuple[int, str]


@dataclass(frozen=True)
class GuardOptions:
    """How much the page accepts."""

    files: int = 3  # uploads of one visitor: the open table, its replacement, and one in between
    visitors: int = 10  # uploads of full size that are kept at a time
    tabs: int = 100  # tabs open at a time: each may hold a table in memory
    stalled: float = 60.0  # seconds without a byte, after which an upload is given up


class Guard:
    """ASGI middleware: the application behind it sees only requests that are allowed.

    hosts are the names under which the page is served; addresses allows any IP address as well: no other site can have
    such a name. upload_limit is in megabytes. files returns the uploads that are kept: a dict of the visitor's id to
    the files by their ids. inline are the texts of the inline scripts of the page.
    """

    def __init__(
        self,
        app: Any,
        hosts: Collection[str],
        addresses: bool,
        upload_limit: int,
        files: Callable[[], MutableMapping[str, Any]],
        inline: Collection[str] = (),
        options: GuardOptions | None = None,
    ) -> None:
        self._app, self._hosts, self._addresses, self._files = app, set(hosts), addresses, files
        self._limit = upload_limit * MEGABYTE
        self._most = options or GuardOptions()
        self._arriving: list[tuple[str, str, int]] = []  # uploads in progress: visitor, file, bytes
        self._tabs = 0
        self._headers = [(name.encode(), value.encode()) for name, value in headers(inline).items()]

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        """Answer one request, or refuse it."""
        if scope["type"] == "lifespan":
            return await self._app(scope, receive, send)
        told = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        upload = scope["type"] == "http" and scope["method"] == "PUT" and scope["path"].startswith(UPLOADS)
        refusal = self._stranger(told) or (self._too_much(scope["path"], told) if upload else None)
        if scope["type"] == "websocket" and self._tabs >= self._most.tabs:
            refusal = 503, "Too many tabs are open: close one, or try again later."
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
        """Accept an upload; one that stalls is ended."""

        async def receiving() -> Any:
            message = await asyncio.wait_for(receive(), self._most.stalled)
            if message["type"] == "http.disconnect":  # Streamlit would print a traceback in the terminal
                raise ConnectionResetError
            return message

        arriving = (*_place(scope["path"]), size)
        self._arriving.append(arriving)
        try:
            await self._app(scope, receiving, self._with_headers(send))
        except (TimeoutError, ConnectionResetError):
            await _refuse(scope, send, (408, "The upload stalled: send it again."))
        finally:
            self._arriving.remove(arriving)

    def _stranger(self, told: dict[str, str]) -> Refusal | None:
        """Why a request is not from one of the page's own tabs; None if it may be."""
        host = told.get("host", "")
        if not self._is_ours(host):
            return 403, "The page is not served under this host name: start it with --name and that name."
        origin = told.get("origin")
        if origin is not None and _server(origin) != host.lower():
            return 403, "Requests from other sites are refused."
        return None

    def _is_ours(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        return name in self._hosts or (self._addresses and is_address(name))

    def _too_much(self, path: str, told: dict[str, str]) -> Refusal | None:
        """Why an upload is too large; None if it is not."""
        size = told.get("content-length", "")
        if "transfer-encoding" in told or not (size.isdecimal() and len(size) < 16):
            return 411, "An upload must declare its length."
        visitor, name = _place(path)
        if int(size) > self._limit:
            return 413, f"The file is larger than the limit of {self._limit // MEGABYTE} megabytes."
        kept = {one: dict(files) for one, files in list(self._files().items())}
        arriving = [file for one, file, _ in self._arriving if one == visitor]
        if len(kept.get(visitor, {}).keys() - {name, *arriving}) + len(arriving) >= self._most.files:
            return 429, f"There are already {self._most.files} files of this visitor: remove one, or reload the page."
        held = sum(len(file.data) for files in kept.values() for file in files.values())
        held += sum(coming for *_, coming in self._arriving)
        if held + int(size) > self._most.visitors * self._limit:
            return 503, "The uploads of other visitors use all the space: try again in a few minutes."
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
    """The host and port of an origin; None if it is invalid."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return None


async def _refuse(scope: Scope, send: Any, refusal: Refusal) -> None:
    status, sentence = refusal
    if scope["type"] == "websocket":
        return await send({"type": "websocket.close", "code": 1008})
    body = sentence.encode()
    # The rest of an upload is not read, so the connection cannot be used again.
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
    """Security headers: no content from or to other hosts, and no frames of other sites."""
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in inline]
    scripts = " ".join(["'self'", *(f"'sha256-{digest}'" for digest in digests)])
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


def inline_scripts(page: Path) -> list[str]:
    """Texts of the scripts that stand in an HTML file itself."""
    return re.findall(r"<script>(.*?)</script>", page.read_text(encoding="utf-8"), re.DOTALL)
