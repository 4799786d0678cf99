from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from altclust.apps.web.guard import MEGABYTE, Guard, GuardOptions, headers, inline_scripts

MOST = GuardOptions()
PUT = "/_stcore/upload_file/ada/x"


async def no_body():
    return {"type": "http.request", "body": b"", "more_body": False}


def answer(kept=None, addresses=False, path="/", method="GET", kind="http", **told):
    """The status with which a guard answers; 200 is what lies behind it."""

    async def behind(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})

    guard = Guard(behind, ["localhost"], addresses, upload_limit=1, files=lambda: kept or {})
    sent = []

    async def send(message):
        sent.append(message)

    named = {"host": "localhost:80"} | {name.replace("_", "-"): value for name, value in told.items()}
    lines = [(name.encode(), value.encode("utf-8")) for name, value in named.items()]
    asyncio.run(guard({"type": kind, "path": path, "method": method, "headers": lines}, no_body, send))
    return sent[0].get("status", sent[0].get("code"))


def kept(**sizes):
    return {
        name: {str(i): SimpleNamespace(data=bytes(size)) for i, size in enumerate(of)} for name, of in sizes.items()
    }


@pytest.mark.parametrize(
    ("host", "here", "for_others"),
    [
        ("localhost:80", 200, 200),
        ("LocalHost", 200, 200),
        ("192.168.0.7:8501", 403, 200),
        ("[fe80::1]:8501", 403, 200),
        ("evil.example", 403, 403),
        ("192.168.0.7.evil.example", 403, 403),
        ("[", 403, 403),
        ("", 403, 403),
    ],
)
def test_only_names_that_no_other_site_can_take_lead_here(host, here, for_others):
    assert answer(host=host) == here
    assert answer(host=host, addresses=True) == for_others


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://localhost:80", 200),
        ("https://localhost:80", 200),
        ("http://localhost:81", 403),
        ("null", 403),
        ("http://[", 403),
    ],
)
def test_only_the_page_itself_may_ask(origin, status):
    assert answer(origin=origin) == status
    assert answer(origin=origin, kind="websocket") == (1008 if status == 403 else 200)


def test_uploads_are_bounded():
    def put(size, kept=None):
        return answer(kept, path=PUT, method="PUT", content_length=str(size))

    assert put(MEGABYTE) == 200
    assert put(MEGABYTE + 1) == 413
    assert answer(path=PUT, method="PUT") == 411
    assert put("9" * 5000) == 411
    assert answer(path=PUT, method="PUT", content_length="1", transfer_encoding="chunked") == 411
    assert put(1, kept(ada=[1] * MOST.files)) == 429
    assert put(1, kept(ada=[1] * (MOST.files - 1), bob=[1] * MOST.files)) == 200
    full = kept(bob=[MEGABYTE] * MOST.visitors)
    assert put(1, full) == 503
    full["bob"].popitem()
    assert put(1, full) == 200


def put(guard, path, receive=no_body):
    """An upload of a whole megabyte, as a task; its answer is the status, or None if it ended without one."""
    lines = [(b"host", b"localhost"), (b"content-length", str(MEGABYTE).encode())]

    async def go():
        sent = []

        async def send(message):
            sent.append(message)

        await guard({"type": "http", "path": path, "method": "PUT", "headers": lines}, receive, send)
        return sent[0]["status"] if sent else None

    return asyncio.create_task(go())


@pytest.mark.parametrize("files", ["0123", "0000"])
def test_uploads_under_way_are_counted_for_each_visitor(files):
    async def visit():
        leave = asyncio.Event()
        kept_files = kept(ada=[1])

        async def stay(scope, receive, send):
            await leave.wait()

        guard = Guard(stay, ["localhost"], False, upload_limit=1, files=lambda: kept_files)
        first = [put(guard, f"/_stcore/upload_file/ada/new{file}") for file in files]
        await asyncio.sleep(0.01)
        assert [task.done() for task in first] == [False] * (MOST.files - 1) + [True] * 2
        assert {task.result() for task in first if task.done()} == {429}
        other = put(guard, "/_stcore/upload_file/bob/0")
        await asyncio.sleep(0.01)
        assert not other.done()
        leave.set()
        assert await asyncio.gather(*first, other) == [None] * (MOST.files - 1) + [429] * 2 + [None]
        assert await put(guard, "/_stcore/upload_file/ada/new") is None  # there is room again

    asyncio.run(visit())


def test_an_upload_that_stalls_gives_its_room_back():
    async def read(scope, receive, send):
        await receive()

    async def visit():
        guard = Guard(read, ["localhost"], False, 1, files=dict, options=GuardOptions(stalled=0.01))
        for _ in range(2):
            stalled = [put(guard, f"/_stcore/upload_file/ada/{i}", asyncio.Event().wait) for i in range(MOST.files)]
            assert await asyncio.wait_for(asyncio.gather(*stalled), 20) == [408] * MOST.files

    asyncio.run(visit())


def test_an_upload_whose_sender_has_left_ends_without_an_error():
    async def leave():
        return {"type": "http.disconnect"}

    async def read(scope, receive, send):
        if (await receive())["type"] == "http.disconnect":
            raise RuntimeError("this would be a traceback in the terminal")

    async def visit():
        return await put(Guard(read, ["localhost"], False, upload_limit=1, files=dict), PUT, leave)

    assert asyncio.run(visit()) == 408


def test_a_foreign_name_is_told_the_remedy():
    sent = []

    async def send(message):
        sent.append(message)

    guard = Guard(None, ["localhost"], False, upload_limit=1, files=dict)
    asyncio.run(guard({"type": "http", "path": "/", "method": "GET", "headers": [(b"host", b"me")]}, no_body, send))
    assert b"start it with --name" in sent[1]["body"]


def test_the_rest_of_a_refused_upload_is_read_after_the_answer_and_before_the_end():
    """A connection that is closed with unread bytes is reset, and its sender sees no answer."""
    happened = []

    async def receive():
        happened.append("read")
        return {"type": "http.request", "body": b"x", "more_body": happened.count("read") < 3}

    async def send(message):
        happened.append("ended" if not message.get("more_body") and "body" in message else message["type"])

    lines = [(b"host", b"localhost")]  # without its length
    guard = Guard(None, ["localhost"], False, upload_limit=1, files=dict)
    asyncio.run(guard({"type": "http", "path": PUT, "method": "PUT", "headers": lines}, receive, send))
    assert happened == ["http.response.start", "http.response.body", *["read"] * 3, "ended"]


def test_a_refused_upload_that_never_ends_is_not_read_for_long():
    async def visit():
        guard = Guard(None, ["localhost"], False, upload_limit=0, files=dict, options=GuardOptions(ignored=0.05))
        return await asyncio.wait_for(put(guard, PUT, asyncio.Event().wait), 20)

    assert asyncio.run(visit()) == 413


def test_tabs_are_bounded():
    leave, sent = asyncio.Event(), []

    async def stay(scope, receive, send):
        await leave.wait()

    async def send(message):
        sent.append(message["type"])

    async def visit():
        guard = Guard(stay, ["localhost"], False, 1, files=dict, options=GuardOptions(tabs=2))
        scope = {"type": "websocket", "path": "/", "headers": [(b"host", b"localhost")]}
        tabs = [asyncio.create_task(guard(scope, None, send)) for _ in range(3)]
        await asyncio.sleep(0.01)
        assert sent == ["websocket.close"]  # the third
        leave.set()
        await asyncio.gather(*tabs)
        await guard(scope, None, send)
        assert len(sent) == 1  # there is room again

    asyncio.run(visit())


def test_the_scripts_of_the_page_itself_may_run(tmp_path):
    page = tmp_path / "index.html"
    page.write_text("<script>\n one()\n</script><script src=x></script><script>two()</script>")
    assert inline_scripts(page) == ["\n one()\n", "two()"]
    assert "script-src 'self' 'sha256-" in headers(inline_scripts(page))["content-security-policy"]
