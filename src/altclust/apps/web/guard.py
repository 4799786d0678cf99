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
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse
from starlette.websockets import WebSocketClose

from .streamlit_private import UPLOADS

MEGABYTE = 1 << 20

Scope = MutableMapping[str, Any]


@dataclass(frozen=True)
class GuardOptions:
    """How much the page accepts."""

    files: int = 3  # uploads of one visitor: the open table, its replacement, and one in between
    visitors: int = 10  # uploads of full size that are kept at a time
    tabs: int = 100  # tabs open at a time: each may hold a table in memory
    stalled: float = 60.0  # seconds without a byte, after which an upload is given up
    ignored: float = 2.0  # seconds during which the rest of a refused upload is read and thrown away


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
        self._headers = headers(inline)

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        """Answer one request, or refuse it."""
        if scope["type"] == "lifespan":
            return await self._app(scope, receive, send)
        tab = scope["type"] == "websocket"

        async def sending(message: Scope) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self._headers)
            await send(message)

        try:
            told = Headers(scope=scope)
            self._refuse_strangers(told)
            if tab and self._tabs >= self._most.tabs:
                raise HTTPException(503, "Too many tabs are open: close one, or try again later.")
            if not tab and scope["method"] == "PUT" and scope["path"].startswith(UPLOADS):
                return await self._take(scope, receive, sending, told)
            self._tabs += tab
            try:
                await self._app(scope, receive, sending)
            finally:
                self._tabs -= tab
        except HTTPException as refusal:
            if tab:
                return await WebSocketClose(1008)(scope, receive, send)
            await self._refuse(refusal, scope, receive, send)

    async def _refuse(self, refusal: HTTPException, scope: Scope, receive: Any, send: Any) -> None:
        """Say why, read the rest of an upload for a moment without keeping it, and close the connection.

        To close a connection that has unread bytes is to reset it, and then the sender does not see the answer.
        """

        async def sending(message: Scope) -> None:
            if message["type"] == "http.response.body":
                await send({**message, "more_body": True})
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._most.ignored):
                        while (await receive()).get("more_body"):
                            pass
                message = {**message, "body": b""}
            await send(message)

        more = headers() | {"connection": "close"}
        await PlainTextResponse(refusal.detail, refusal.status_code, more)(scope, receive, sending)

    async def _take(self, scope: Scope, receive: Any, send: Any, told: Headers) -> None:
        """Accept an upload, unless it is too large; one that stalls is ended."""

        async def receiving() -> Any:
            message = await asyncio.wait_for(receive(), self._most.stalled)
            if message["type"] == "http.disconnect":  # Streamlit would print a traceback in the terminal
                raise ConnectionResetError
            return message

        visitor, _, name = scope["path"].removeprefix(UPLOADS).partition("/")
        arriving = visitor, name, self._size(visitor, name, told)
        self._arriving.append(arriving)
        try:
            await self._app(scope, receiving, send)
        except (TimeoutError, ConnectionResetError) as error:
            raise HTTPException(408, "The upload stalled: send it again.") from error
        finally:
            self._arriving.remove(arriving)

    def _refuse_strangers(self, told: Headers) -> None:
        """Refuse a request that is not from one of the page's own tabs."""
        host = told.get("host", "")
        try:
            name = urlsplit(f"//{host}").hostname or ""
            ours = name in self._hosts or (self._addresses and ip_address(name) is not None)
        except ValueError:  # not even an address
            ours = False
        if not ours:
            raise HTTPException(403, "The page is not served under this host name: start it with --name and that name.")
        if "origin" in told and told["origin"].lower().partition("://")[2] != host.lower():
            raise HTTPException(403, "Requests from other sites are refused.")

    def _size(self, visitor: str, name: str, told: Headers) -> int:
        """The bytes of an upload of this file; it is refused if it is too large, or one too many."""
        size = told.get("content-length", "")
        if "transfer-encoding" in told or not (size.isdecimal() and len(size) < 16):
            raise HTTPException(411, "An upload must declare its length.")
        if int(size) > self._limit:
            raise HTTPException(413, f"The file is larger than the limit of {self._limit // MEGABYTE} megabytes.")
        kept = {one: dict(files) for one, files in list(self._files().items())}
        arriving = [file for one, file, _ in self._arriving if one == visitor]
        if len(kept.get(visitor, {}).keys() - {name, *arriving}) + len(arriving) >= self._most.files:
            already = f"There are already {self._most.files} files of this visitor"
            raise HTTPException(429, f"{already}: remove one, or reload the page.")
        held = sum(len(file.data) for files in kept.values() for file in files.values())
        held += sum(coming for *_, coming in self._arriving)
        if held + int(size) > self._most.visitors * self._limit:
            raise HTTPException(503, "The uploads of other visitors use all the space: try again in a few minutes.")
        return int(size)


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
