"""A visitor of the web app without a browser: exchanges messages with the server as Streamlit's page does."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any
from uuid import uuid4

import requests
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

PATIENCE = 600.0  # timeout of a visitor in seconds
COOKIE = "_streamlit_xsrf"


class Visitor:
    """One tab: the elements that the server has sent, and the values of its widgets.

    Attributes
    ----------
    wrong : list of str
        Exceptions in the page, and lost connections.
    sentences : list of (float, str)
        Time and text of each message of a progress bar.
    times : int
        Number of complete runs of the page.
    token : str
        What all tabs of one browser send; empty before `open`, unless it is that of another tab.
    """

    def __init__(self, url: str, token: str = "") -> None:
        self.url, self.token = url, token
        self.wrong: list[str] = []
        self.sentences: list[tuple[float, str]] = []
        self.session_id = ""
        self._socket: ClientConnection | None = None
        self._elements: dict[tuple[int, ...], tuple[int, str, Element]] = {}
        self._widgets: dict[str, WidgetState] = {}
        self._upload_urls: Any = None
        self._file = ""
        self.times = self._run = 0
        self._timers: dict[str, asyncio.Task[None]] = {}
        self._news = asyncio.Event()
        self._reader: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Open the page and wait for its first run."""
        answer = await asyncio.to_thread(requests.get, f"{self.url}/_stcore/health", timeout=PATIENCE)
        self.token = self.token or answer.cookies[COOKIE]
        self._socket = await connect(
            self.url.replace("http", "ws", 1) + "/_stcore/stream",
            origin=self.url,
            subprotocols=["streamlit", self.token],
            additional_headers={"Cookie": f"{COOKIE}={self.token}"},
            max_size=None,
            open_timeout=PATIENCE,
            ping_interval=None,
        )
        self._reader = asyncio.create_task(self._read())
        await self.rerun()

    async def close(self) -> None:
        """Close the tab."""
        for timer in self._timers.values():
            timer.cancel()
        if self._reader is not None and self._socket is not None:
            self._reader.cancel()
            await self._socket.close()

    # Actions

    async def rerun(self) -> float:
        """Run the page again; return the seconds that it took."""
        start, before = time.monotonic(), self.times
        await self._send()
        await self.until(lambda: self.times > before)
        return time.monotonic() - start

    async def press(self, key: str) -> None:
        """Press a button."""
        name, button = self._widget(key)
        state = WidgetState(id=button.id, trigger_value=True)
        await self._send(state, fragment=self._fragment_of(name, key))

    async def choose(self, key: str, *values: str) -> None:
        """Set a widget with text values, such as a slider or a list."""
        name, widget = self._widget(key)
        state = WidgetState(id=widget.id)
        if name == "selectbox":
            state.string_value = values[0]
        else:
            state.string_array_value.data.extend(values)
        self._widgets[widget.id] = state
        await self._send()

    async def upload(self, file: str, content: bytes) -> None:
        """Upload a table and wait until the page has processed it."""
        _, widget = self._widget("upload")
        self._upload_urls = None
        message = BackMsg()
        message.file_urls_request.request_id = str(uuid4())
        message.file_urls_request.session_id = self.session_id
        message.file_urls_request.file_names.append(file)
        await self._write(message)
        await self.until(lambda: self._upload_urls is not None)
        urls = self._upload_urls
        answer = await asyncio.to_thread(self.put, urls.upload_url, file, content)
        answer.raise_for_status()
        state = WidgetState(id=widget.id)
        state.file_uploader_state_value.uploaded_file_info.add(
            file_id=urls.file_id, name=file, size=len(content), file_urls=urls
        )
        self._widgets[widget.id] = state
        await self.rerun()

    async def take(self, key: str) -> str:
        """Press a download button; return the path of the file."""
        self._file = ""
        message = BackMsg()
        message.backend_operation_request.request_id = str(uuid4())
        message.backend_operation_request.session_id = self.session_id
        message.backend_operation_request.deferred_file.file_id = self._widget(key)[1].deferred_file_id
        await self._write(message)
        await self.until(lambda: bool(self._file))
        return self._file

    def put(self, path: str, file: str, content: bytes, **headers: str) -> requests.Response:
        """Send a file to the upload URL."""
        return requests.put(
            self.url + path,
            files={"file": (file, content, "text/csv")},
            headers={"X-Xsrftoken": self.token, "Cookie": f"{COOKIE}={self.token}"} | headers,
            timeout=PATIENCE,
        )

    async def settled(self, before: int) -> None:
        """Wait until the page has run more than `before` times and no search is running."""
        await self.until(lambda: self.times > before and not self.shown("progress"))

    async def until(self, reached: Callable[[], bool], seconds: float = PATIENCE) -> None:
        """Wait until a condition holds."""
        async with asyncio.timeout(seconds):
            while not reached():
                if self._reader is not None and self._reader.done():
                    raise ConnectionError(f"the connection was lost: {self.wrong[-1:]}")
                self._news.clear()
                await self._news.wait()

    # Contents of the page

    def shown(self, kind: str) -> list[Any]:
        """All elements of a kind on the page."""
        return [getattr(element, kind) for *_, element in self._elements.values() if element.WhichOneof("type") == kind]

    def words(self) -> str:
        """All text of the page."""
        return "\n".join(
            [alert.body for alert in self.shown("alert")]
            + [part.body for kind in ("html", "markdown", "text") for part in self.shown(kind)]
            + [bar.text for bar in self.shown("progress")]
        )

    def has(self, key: str) -> bool:
        """Whether there is a widget whose key starts with this."""
        return any(self._named(key))

    def ids(self) -> list[str]:
        """The ids of all widgets in messages to the server."""
        return [widget.id for _, _, widget in self._named("")]

    def _named(self, key: str) -> Iterator[tuple[str, str, Any]]:
        for _, fragment, element in self._elements.values():
            kind = element.WhichOneof("type")
            widget = getattr(element, kind) if kind else None
            # an id ends with the key of the widget
            if f"-{key}" in getattr(widget, "id", "")[-(len(key) + 60) :]:
                yield kind, fragment, widget

    def _widget(self, key: str) -> tuple[str, Any]:
        for kind, _, widget in self._named(key):
            return kind, widget
        raise LookupError(f"the page has no widget {key}: it says {self.words()}")

    def _fragment_of(self, kind: str, key: str) -> str:
        return next(fragment for name, fragment, _ in self._named(key) if name == kind)

    # Messages

    async def _write(self, message: BackMsg) -> None:
        assert self._socket is not None
        await self._socket.send(message.SerializeToString())

    async def _send(self, pressed: WidgetState | None = None, fragment: str = "", by_timer: bool = False) -> None:
        message = BackMsg()
        state = message.rerun_script
        state.widget_states.widgets.extend([*self._widgets.values(), *([pressed] if pressed else [])])
        state.fragment_id, state.is_auto_rerun = fragment, by_timer
        await self._write(message)

    async def _read(self) -> None:
        assert self._socket is not None
        try:
            async for data in self._socket:
                message = ForwardMsg()
                message.ParseFromString(data)
                self._take(message)
                self._news.set()
            self.wrong.append("the server closed the connection")
        except ConnectionClosed as error:
            self.wrong.append(str(error))
        finally:
            self._news.set()

    def _take(self, message: ForwardMsg) -> None:
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self._run += 1
            self.session_id = message.new_session.initialize.session_id or self.session_id
        elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
            self._place(tuple(message.metadata.delta_path), message.delta.fragment_id, message.delta.new_element)
        elif kind == "script_finished":
            self._finish(message.script_finished)
        elif kind == "auto_rerun":
            self._start_timer(message.auto_rerun.fragment_id, message.auto_rerun.interval)
        elif kind == "stop_auto_rerun":
            self._stop_timers(lambda fragment: fragment in message.stop_auto_rerun.fragment_ids)
        elif kind == "file_urls_response":
            self._upload_urls = message.file_urls_response.file_urls[0]
        elif kind == "backend_operation_response":
            answer = message.backend_operation_response
            self._file = answer.deferred_file.url or "none"
            self.wrong += [answer.error_msg] if answer.error_msg else []
        elif kind == "session_event" and message.session_event.WhichOneof("type") == "script_compilation_exception":
            self.wrong.append(message.session_event.script_compilation_exception.message)

    def _place(self, path: tuple[int, ...], fragment: str, element: Element) -> None:
        self._elements[path] = (self._run, fragment, element)
        kind = element.WhichOneof("type")
        if kind == "exception":
            self.wrong.append(element.exception.message)
        elif kind == "progress":
            self.sentences.append((time.monotonic(), element.progress.text))

    def _finish(self, status: int) -> None:
        """After a complete run, remove elements that this run did not send."""
        if status == ForwardMsg.FINISHED_SUCCESSFULLY:
            self._elements = {path: sent for path, sent in self._elements.items() if sent[0] == self._run}
            alive = {fragment for _, fragment, _ in self._elements.values()}
            self._stop_timers(lambda fragment: fragment not in alive)
            self.times += 1

    def _start_timer(self, fragment: str, seconds: float) -> None:
        self._stop_timers(lambda other: other == fragment)

        async def ask() -> None:
            with suppress(ConnectionClosed):  # the reader reports it
                while True:
                    await asyncio.sleep(seconds)
                    await self._send(fragment=fragment, by_timer=True)

        self._timers[fragment] = asyncio.create_task(ask())

    def _stop_timers(self, which: Callable[[str], bool]) -> None:
        for fragment in [fragment for fragment in self._timers if which(fragment)]:
            self._timers.pop(fragment).cancel()
