"""The page under attack: too much of everything, other visitors, tabs that lie."""

from __future__ import annotations

import asyncio
import io
import zipfile
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest
import requests

pytest.importorskip("streamlit", reason="streamlit is not installed")
pytest.importorskip("plotly", reason="plotly is not installed")
pytest.importorskip("benchmarks", reason="the benchmarks are not in this copy of the repository")

from benchmarks.load import table
from benchmarks.visitor import COOKIE, Visitor
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from tests.apps.web.attacker import LIMIT, ask, attacked, to_uploads, visit
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with attacked(tmp_path_factory.mktemp("home")) as running:
        yield running


@pytest.mark.slow
def test_an_upload_beyond_the_limit_is_refused_before_it_is_read(server):
    async def flood(visitor):
        path = f"/_stcore/upload_file/{visitor.session_id}/x"
        token = {"X_Xsrftoken": visitor.token, "Cookie": f"{COOKIE}={visitor.token}"}
        kind = {"Content_Type": "multipart/form-data; boundary=b"}
        before = server.memory()
        for told, expected in (
            ({"Content_Length": str(10**12)}, 413),
            ({"Content_Length": str((LIMIT + 1) << 20)}, 413),
            ({"Content_Length": "-1"}, 400),
            ({"Transfer_Encoding": "chunked"}, 411),
            ({"Transfer_Encoding": "chunked", "Content_Length": "9"}, 400),
        ):
            status, *_ = await asyncio.to_thread(ask, server.url, path, "PUT", b"", **told, **token, **kind)
            assert status == expected or (expected == 400 and status == 411), told
        assert server.memory() - before < 100

    visit(server, flood)


def test_one_visitor_cannot_fill_the_memory(server):
    async def flood(visitor):
        content = b"x" * (LIMIT * 1000 * 1000)
        path = f"/_stcore/upload_file/{visitor.session_id}/"
        answers = [await asyncio.to_thread(visitor.put, f"{path}{i}", "a.csv", content) for i in range(6)]
        assert [answer.status_code for answer in answers] == [204, 204, 204, 429, 429, 429]
        assert "There are already 3 files of this visitor" in answers[-1].text
        again = await asyncio.to_thread(visitor.put, f"{path}0", "a.csv", content)
        assert again.status_code == 204  # in place of the one that it was

    visit(server, flood)


def test_uploads_that_only_begin_count_as_well(server):
    parts = urlsplit(server.url)

    async def begin(visitor):
        path = f"/_stcore/upload_file/{visitor.session_id}/"
        head = (
            f"PUT {path}{{}} HTTP/1.1\r\nHost: {parts.netloc}\r\nContent-Length: {LIMIT << 20}\r\n"
            f"X-Xsrftoken: {visitor.token}\r\nCookie: {COOKIE}={visitor.token}\r\n"
            "Content-Type: multipart/form-data; boundary=b\r\n\r\n"
        )
        writers = []
        for i in range(3):
            _, writer = await asyncio.open_connection(parts.hostname, parts.port)
            writer.write(head.format(i).encode())
            writers.append(writer)
        await asyncio.sleep(1)
        assert (await asyncio.to_thread(visitor.put, f"{path}x", "a.csv", b"a\n1\n")).status_code == 429
        for writer in writers:
            writer.close()
        await asyncio.sleep(1)
        assert (await asyncio.to_thread(visitor.put, f"{path}x", "a.csv", b"a\n1\n")).status_code == 204
        assert "Disconnect" not in server.log.read_text()

    visit(server, begin)


def test_all_visitors_together_cannot_fill_the_memory(server):
    async def flood(first):
        others = [Visitor(server.url) for _ in range(4)]
        for visitor in others:
            await visitor.open()
        content = b"x" * (LIMIT * 1000 * 1000)
        codes = []

        def put(visitor, path):
            try:
                return visitor.put(path, "a.csv", content).status_code
            except requests.exceptions.RequestException:  # refused before the whole file was sent
                return 503

        for visitor in (first, *others):
            for i in range(3):
                path = f"/_stcore/upload_file/{visitor.session_id}/{i}"
                codes.append(await asyncio.to_thread(put, visitor, path))
        for visitor in (first, *others):
            for i in range(3):  # make room again for the tests that follow
                path = f"/_stcore/upload_file/{visitor.session_id}/{i}"
                await asyncio.to_thread(ask, server.url, path, "DELETE", X_Xsrftoken=visitor.token,
                                        Cookie=f"{COOKIE}={visitor.token}")  # fmt: skip
        for visitor in others:
            await visitor.close()
        return codes

    codes = visit(server, flood)
    assert set(codes) == {204, 503}
    assert codes.count(204) <= 10


def wide():
    return b",".join(b"c%d" % i for i in range(20_001)) + b"\n" + b",".join([b"1"] * 20_001) + b"\n"


def bomb(suffix):
    """A file of a few kilobytes that says it holds gigabytes."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        if suffix == ".npz":
            header = io.BytesIO()
            np.lib.format.write_array_header_1_0(
                header, {"descr": "<f8", "fortran_order": False, "shape": (300_000_000, 1)}
            )
            with archive.open("X.npy", "w", force_zip64=True) as inside:
                inside.write(header.getvalue())
                for _ in range(400):  # 400 MB of zeros
                    inside.write(bytes(1 << 20))
        else:
            archive.writestr("[Content_Types].xml", "<Types/>")
            with archive.open("xl/workbook.xml", "w", force_zip64=True) as inside:
                for _ in range(1500):
                    inside.write(b" " * (1 << 20))
    return target.getvalue()


@pytest.mark.parametrize(
    ("name", "make", "sentence"),
    [
        ("wide.csv", wide, "20,001"),
        ("bomb.npz", lambda: bomb(".npz"), "bomb.npz"),
        pytest.param("bomb.xlsx", lambda: bomb(".xlsx"), "bomb.xlsx", marks=pytest.mark.slow),
    ],
)
def test_a_table_beyond_the_limits_gets_a_sentence(server, name, make, sentence):
    content = make()
    assert len(content) < LIMIT << 20

    async def open_it(visitor):
        await to_uploads(visitor)
        await visitor.upload(name, content)
        alerts = [alert.body.replace("\\", "") for alert in visitor.shown("alert")]
        assert len(alerts) == 1
        assert sentence in alerts[0]
        assert not visitor.has("find")
        assert not visitor.wrong

    before = server.memory("VmHWM")
    visit(server, open_it)
    assert server.memory("VmHWM") - before < 600


def test_a_visitor_sees_nothing_of_another(server):
    async def both(first):
        await to_uploads(first)
        await first.upload("private.csv", table(120, 3).replace(b"noise1", b"private"))
        second = Visitor(server.url)
        await second.open()
        try:
            assert "private" in first.words()
            assert "private" not in second.words()
            before = first.times
            await first.choose("clusters-", "2")
            await first.until(lambda: first.times > before)
            before = first.times
            await first.press("find")
            await first.settled(before)
            link = await first.take("get-Table")
            assert len(Path(link).stem) >= 32  # nobody guesses that
            status, body, told = await asyncio.to_thread(ask, server.url, link)
            assert (status, told["content-disposition"]) == (200, 'attachment; filename="private-alternative.csv"')
            assert b"private" in body
        finally:
            await second.close()

    visit(server, both)


NAMES = [
    "../../../secret.csv",
    "..\\..\\secret.csv",
    "/etc/passwd.csv",
    "<img src=x onerror=alert(1)>.csv",
    "a\r\nSet-Cookie: x=1.csv",
    "a\x07\x1b[31m.csv",
    'a"; filename="evil.exe.csv',
    "x" * 2000 + ".csv",
    "ünï→😀.csv",
    ".csv.csv",
]


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_a_hostile_file_name_is_only_a_name(server, name):
    async def open_it(visitor):
        await to_uploads(visitor)
        await visitor.upload(name, table(60, 1))
        words = visitor.words()
        assert "60 rows" in words or "could not be read" in words.replace("\\", "") or "ends" in words, words
        assert "<img" not in words
        assert not visitor.wrong

    visit(server, open_it)


def test_a_tab_that_outlives_the_server_is_told_that_its_table_is_gone(server):
    async def come_back(visitor):
        await to_uploads(visitor)
        await visitor.upload("old.csv", table(60, 1))
        await asyncio.to_thread(ask, server.url, visitor._upload_urls.delete_url, "DELETE",
                                X_Xsrftoken=visitor.token, Cookie=f"{COOKIE}={visitor.token}")  # fmt: skip
        await visitor.rerun()
        assert "This table is no longer available" in visitor.words()
        assert not visitor.has("find")
        assert not visitor.wrong

    visit(server, come_back)


def test_a_tab_that_sends_nonsense_is_told_nothing_of_the_machine(server):
    async def lie(visitor):
        for make in (
            lambda one: WidgetState(id=one, string_value="\x00../../etc/passwd"),
            lambda one: WidgetState(id=one, int_value=-(2**60)),
            lambda one: WidgetState(id=one, json_value='{"selection": {"points": [{"customdata": ["x"]}]}}'),
            lambda one: WidgetState(id=one, bytes_value=b"\xff" * 1000),
            lambda one: WidgetState(id=one, double_value=float("nan")),
        ):
            for widget in visitor.ids():
                visitor._widgets = {widget: make(widget)}
                await visitor._send()
                await asyncio.sleep(0.05)
        visitor._widgets = {}
        await visitor.rerun()
        return visitor.wrong

    said = " ".join(visit(server, lie))
    assert "/altclust/" not in said
    assert "Traceback" not in said
    assert "Error" not in said


@pytest.mark.parametrize("frame", [b"\xff\xff\xff\xff nonsense", "text"])
def test_a_broken_message_ends_only_its_own_connection(server, frame):
    async def send():
        async with connect(server.url.replace("http", "ws", 1) + "/_stcore/stream") as tab:
            await tab.send(frame)
            try:
                while True:
                    told = await asyncio.wait_for(tab.recv(), 30)
                    assert b"Traceback" not in told
            except ConnectionClosed:
                return

    asyncio.run(send())
    assert ask(server.url, "/_stcore/health")[0] == 200


def test_nobody_can_clear_what_all_share_or_end_the_server(server):
    async def try_it(visitor):
        for field in ("clear_cache", "debug_shutdown_runtime", "debug_disconnect_websocket"):
            message = BackMsg()
            setattr(message, field, True)
            await visitor._write(message)
        await visitor.rerun()
        assert not visitor.wrong

    visit(server, try_it)
    assert ask(server.url, "/_stcore/health")[0] == 200
