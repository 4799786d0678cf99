from __future__ import annotations

import socket
import sys
from types import SimpleNamespace

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
    told = serve.options("127.0.0.1", 8501, browser=False, upload_limit=7)
    assert told["server.address"] == "127.0.0.1"
    assert told["server.allowedHosts"] == ("localhost", "127.0.0.1", "[::1]")
    assert told["server.maxUploadSize"] == 7
    assert told["server.enableXsrfProtection"] is True
    assert told["browser.gatherUsageStats"] is False
    assert told["client.showErrorDetails"] == "none"
    assert "server.allowedHosts" not in serve.options("0.0.0.0", 8501, browser=False, upload_limit=7)


def test_streamlit_knows_every_option():
    pytest.importorskip("streamlit", reason="streamlit is not installed")
    from streamlit import config

    told = serve.options("127.0.0.1", 8501, browser=False, upload_limit=7)
    assert set(told) <= set(config.get_config_options())


def test_the_table_reaches_the_page_whatever_its_name(monkeypatch, tmp_path):
    table = tmp_path / "--server.port=1 'x'.csv"
    table.write_text("a,b\n1,2\n")
    called = []
    monkeypatch.setitem(
        sys.modules, "streamlit.web", SimpleNamespace(cli=SimpleNamespace(main=lambda a, **_: called.append(a)))
    )
    monkeypatch.setenv(serve.TABLE, "another")
    serve.serve(table, "127.0.0.1", 8501, browser=False, upload_limit=200)
    assert serve.os.environ[serve.TABLE] == str(table)
    assert not any("'x'" in argument for argument in called[0])
    assert "--server.allowedHosts=localhost" in called[0]
    assert "--server.headless=true" in called[0]


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
