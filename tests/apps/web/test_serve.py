from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import pytest

from altclust import InputError
from altclust.apps.cli import explore
from altclust.apps.cli.screen import console
from altclust.apps.web import serve, streamlit_private


def test_a_taken_port_is_left_alone():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert not serve.is_free("127.0.0.1", port)
        with pytest.raises(InputError, match=f"--port {port} is in use"):
            explore.explore(port=port)
    assert serve.is_free("127.0.0.1", port)


def test_the_server_is_for_this_machine_and_tells_nobody():
    told = serve.options("127.0.0.1", 8501, upload_limit=7)
    assert told["server.address"] == "127.0.0.1"
    assert told["server.maxUploadSize"] == 7
    assert told["server.enableXsrfProtection"] is True
    assert told["browser.gatherUsageStats"] is False
    assert told["client.showErrorDetails"] == "none"
    for door in ("server.enableStaticServing", "server.enableAgentApi", "global.developmentMode"):
        assert told[door] is False
    assert serve.names("127.0.0.1") == ["localhost", "127.0.0.1", "::1", "127.0.0.1"]


def test_a_page_for_others_answers_to_the_names_of_the_machine_and_to_those_that_were_named():
    names = serve.names("0.0.0.0", ["Data.example.org"])
    assert {"localhost", "data.example.org", socket.gethostname().lower()} <= set(names)
    assert "evil.example.org" not in names


def test_a_page_for_others_answers_to_the_full_name_of_the_machine(monkeypatch):
    monkeypatch.setattr(socket, "getfqdn", lambda: "Box.lab.example.org")
    assert "box.lab.example.org" in serve.names("0.0.0.0")
    assert "box.lab.example.org" not in serve.names("127.0.0.1")


def test_a_machine_with_a_name_beyond_all_rules_can_serve(monkeypatch):
    def refuse():
        raise UnicodeError("label too long")

    monkeypatch.setattr(socket, "getfqdn", refuse)
    assert socket.gethostname().lower() in serve.names("0.0.0.0")


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", "http://127.0.0.1:80"),
        ("::1", "http://[::1]:80"),
        ("0.0.0.0", "http://localhost:80"),
        ("::", "http://localhost:80"),
    ],
)
def test_the_link_can_be_opened(host, expected):
    assert serve.link(host, 80) == expected


def test_streamlit_knows_every_option():
    pytest.importorskip("streamlit", reason="streamlit is not installed")
    from streamlit import config

    told = serve.options("127.0.0.1", 8501, upload_limit=7)
    assert set(told) <= set(config.get_config_options())


def test_the_table_reaches_the_page_whatever_its_name(monkeypatch, tmp_path):
    table = tmp_path / "--server.port=1 'x'.csv"
    table.write_text("a,b\n1,2\n")
    streamlit = pytest.importorskip("streamlit", reason="streamlit is not installed")
    told = {}

    class App:
        def __init__(self, page, middleware, lifespan):
            told["page"], told["guard"] = page, middleware[0]

        def run(self, config):
            told["config"] = config
            raise KeyboardInterrupt  # as Ctrl-C does: it ends without a word

    monkeypatch.setattr(streamlit, "App", App)
    monkeypatch.setattr(sys, "argv", ["altclust"])
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setenv(serve.TABLE, "another")
    serve.serve(table, "127.0.0.1", 8501, browser=False, upload_limit=200, other_names=["here.example.org"])
    assert serve.os.environ[serve.TABLE] == str(table)
    assert told["page"].name == "page.py"
    assert told["config"]["server.headless"] is True
    assert "here.example.org" in told["guard"].kwargs["hosts"]
    assert not told["guard"].kwargs["addresses"]


@pytest.fixture
def live_shortly(monkeypatch):
    """A server that is there for a moment, on a machine with a screen."""
    streamlit = pytest.importorskip("streamlit", reason="streamlit is not installed")

    class App:
        def __init__(self, page, middleware, lifespan):
            self.lifespan = lifespan

        def run(self, config):
            async def live():
                async with self.lifespan(self):
                    await asyncio.sleep(0.1)

            asyncio.run(live())

    monkeypatch.setattr(streamlit, "App", App)
    monkeypatch.setattr(sys, "argv", ["altclust"])
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(serve, "_keep_order", lambda: asyncio.sleep(60))
    monkeypatch.setenv(serve.TABLE, "")
    monkeypatch.setenv("DISPLAY", ":0")


@pytest.mark.parametrize("browser", [True, False])
def test_the_browser_opens_once_the_server_is_there(monkeypatch, live_shortly, browser):
    opened = []
    monkeypatch.setattr(serve.webbrowser, "open", opened.append)
    serve.serve(None, "0.0.0.0", 8501, browser=browser, upload_limit=200)
    assert opened == (["http://localhost:8501"] if browser else [])


def test_a_browser_that_does_not_return_holds_nobody(monkeypatch, live_shortly):
    close, closed = threading.Event(), []

    def stay(link):
        close.wait(20)
        closed.append(link)

    monkeypatch.setattr(serve.webbrowser, "open", stay)
    serve.serve(None, "127.0.0.1", 8501, browser=True, upload_limit=200)
    assert not closed
    close.set()


@pytest.mark.parametrize(
    ("platform", "variable", "opens"),
    [("linux", "", False), ("linux", "DISPLAY", True), ("linux", "WAYLAND_DISPLAY", True), ("darwin", "", True)],
)
def test_a_browser_without_a_screen_does_not_take_the_terminal(monkeypatch, live_shortly, platform, variable, opens):
    opened = []
    monkeypatch.setattr(serve.webbrowser, "open", opened.append)
    monkeypatch.setattr(serve.sys, "platform", platform)
    for one in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(one, raising=False)
    if variable:
        monkeypatch.setenv(variable, "0")
    serve.serve(None, "127.0.0.1", 8501, browser=True, upload_limit=200)
    assert bool(opened) is opens


HELD = """
import threading, time
from altclust import __main__
from altclust.apps.cli import main as cli
cli.main = lambda: (threading.Thread(target=time.sleep, args=(100,)).start(), print("held", flush=True))
__main__.main()
"""
LATE = """
import os, signal
from altclust import __main__
from altclust.apps.cli import main as cli
class Late:
    def __del__(self, kill=os.kill, own=os.getpid(), what=signal.{}):
        kill(own, what)
late = Late()
cli.main = lambda: None
__main__.main()
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has other signals")
@pytest.mark.parametrize("ending", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_a_thread_that_goes_on_at_the_end_does_not_hold_the_user(ending):
    with subprocess.Popen([sys.executable, "-c", HELD], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            assert process.stdout.readline() == b"held\n"
            time.sleep(0.5)
            process.send_signal(ending)
            assert process.wait(30) == 130
            assert b"Traceback" not in process.stderr.read()
        finally:
            process.kill()


@pytest.mark.skipif(os.name == "nt", reason="Windows has other signals")
@pytest.mark.parametrize("ending", ["SIGTERM", pytest.param("SIGINT", marks=pytest.mark.slow)])
def test_a_signal_while_python_tidies_up_changes_nothing(ending):
    done = subprocess.run([sys.executable, "-c", LATE.format(ending)], capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has other signals")
@pytest.mark.parametrize("ending", ["SIGHUP", "SIGTERM"])
def test_the_page_ends_with_its_terminal(ending, customers_csv):
    port = serve.free_port("127.0.0.1")
    arguments = ["explore", str(customers_csv), "--no-browser", "--port", str(port)]
    heard = partial(signal.signal, getattr(signal, ending), signal.SIG_DFL)  # also where nohup runs the tests
    command = [sys.executable, "-m", "altclust", *arguments]
    with subprocess.Popen(command, stderr=subprocess.PIPE, preexec_fn=heard) as process:
        try:
            until = time.monotonic() + 120
            while serve.is_free("127.0.0.1", port) and time.monotonic() < until:
                time.sleep(0.2)
            process.send_signal(getattr(signal, ending))
            assert process.wait(60) == 0
            assert b"Traceback" not in process.stderr.read()
        finally:
            process.kill()


@pytest.mark.parametrize(("host", "warned"), [("0.0.0.0", True), ("127.0.0.1", False)])
def test_a_page_for_others_says_so_in_words(monkeypatch, capsys, host, warned, customers_csv):
    monkeypatch.setattr(explore, "serve", lambda *_: None)
    monkeypatch.setattr(console, "quiet", False)  # another command may have left it
    explore.explore(customers_csv, host=host)
    said = " ".join(capsys.readouterr().err.split())
    assert ("Everybody who can reach 0.0.0.0 can use the page and see customers.csv." in said) is warned
    assert ("There is no password" in said) is warned


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"table": serve.Path("absent.csv")}, "absent.csv does not exist or is not a file"),
        ({"host": "no such host"}, "--host no such host is not an address"),
    ],
)
def test_mistakes_get_a_sentence(arguments, message):
    with pytest.raises(InputError, match=message):
        explore.explore(**arguments)


@pytest.mark.parametrize(("found", "fits"), [("1.67.0", True), ("1.70rc1", True), ("1.9.0", False), ("2.0.0", False)])
def test_a_streamlit_without_the_private_parts_that_are_used_is_refused(monkeypatch, found, fits):
    monkeypatch.setattr(streamlit_private, "version", lambda name: found)
    if fits:
        streamlit_private.require_version()
    else:
        with pytest.raises(InputError, match=f"at least 1.67 and below 2.0, and {found} is installed"):
            streamlit_private.require_version()


def test_only_one_module_uses_private_parts_of_streamlit():
    folder = Path(serve.__file__).parent
    private = re.compile(r"streamlit\.(runtime|file_util|web|proto)|_stcore|_streamlit_")
    using = {file.name for file in folder.glob("*.py") if private.search(file.read_text(encoding="utf-8"))}
    assert using == {"streamlit_private.py"}
