from __future__ import annotations

import asyncio
import signal
import socket
import sys

import pytest

from altclust import InputError
from altclust.app import serve
from altclust.commands import explore


def test_a_taken_port_is_left_alone():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert not serve.is_free("127.0.0.1", port)
        with pytest.raises(InputError, match=f"--port {port} is taken"):
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


@pytest.mark.parametrize("browser", [True, False])
def test_the_browser_opens_once_the_server_is_there(monkeypatch, browser):
    streamlit = pytest.importorskip("streamlit", reason="streamlit is not installed")
    opened = []

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
    monkeypatch.setattr(serve.webbrowser, "open", opened.append)
    monkeypatch.setattr(serve, "_keep_order", lambda: asyncio.sleep(60))
    monkeypatch.setenv(serve.TABLE, "")
    serve.serve(None, "0.0.0.0", 8501, browser=browser, upload_limit=200)
    assert opened == (["http://localhost:8501"] if browser else [])


@pytest.mark.parametrize(("host", "warned"), [("0.0.0.0", True), ("127.0.0.1", False)])
def test_a_page_for_others_says_so_in_words(monkeypatch, capsys, host, warned, customers_csv):
    monkeypatch.setattr(explore, "serve", lambda *_: None)
    explore.explore(customers_csv, host=host)
    said = " ".join(capsys.readouterr().err.split())
    assert ("Everybody who can reach 0.0.0.0 can use the page and see customers.csv." in said) is warned
    assert ("There is no password" in said) is warned


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"table": serve.Path("absent.csv")}, "absent.csv is not a file"),
        ({"host": "no such host"}, "--host no such host is not an address"),
    ],
)
def test_mistakes_get_a_sentence(arguments, message):
    with pytest.raises(InputError, match=message):
        explore.explore(**arguments)


def test_a_missing_part_is_named(monkeypatch):
    monkeypatch.setattr(serve, "find_spec", lambda part: None)
    with pytest.raises(InputError, match=r"needs streamlit: pip install 'altclust\[app\]'"):
        explore.explore()
