"""The page under attack: other sites, other names, files that are nobody's business."""

from __future__ import annotations

import asyncio
import json
from urllib.parse import urlsplit

import pytest

pytest.importorskip("streamlit", reason="streamlit is not installed")
pytest.importorskip("plotly", reason="plotly is not installed")
pytest.importorskip("benchmarks", reason="the benchmarks are not in this copy of the repository")

from benchmarks.visitor import COOKIE
from tests.apps.web.attacker import EVIL, MARKER, ask, attacked, shake_hands, visit

from altclust.apps.web.serve import options


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with attacked(tmp_path_factory.mktemp("home")) as running:
        yield running


def other_origins(url):
    return [EVIL, "null", "http://127.0.0.1:1", "http://localhost", url + ".evil.example", "file://", ""]


@pytest.mark.slow
def test_another_site_cannot_open_the_socket(server):
    assert shake_hands(server.url, server.url) == 101
    assert shake_hands(server.url) == 101  # not a browser
    for origin in other_origins(server.url):
        assert shake_hands(server.url, origin) == 403, origin


@pytest.mark.parametrize("path", ["/", "/_stcore/health", "/_stcore/metrics", "/_stcore/host-config", "/media/x"])
def test_another_site_gets_nothing(server, path):
    for origin in other_origins(server.url):
        status, body, told = ask(server.url, path, Origin=origin)
        assert status == 403, origin
        assert "access-control-allow-origin" not in told
        assert b"Streamlit" not in body
    assert ask(server.url, path, Origin=server.url)[0] != 403


def test_uploads_need_the_pages_own_token(server):
    token = ask(server.url, "/_stcore/health")[2]["set-cookie"].split(";")[0].split("=", 1)[1]
    other = ask(server.url, "/_stcore/health")[2]["set-cookie"].split(";")[0].split("=", 1)[1]

    async def put(visitor):
        path, good = (
            f"/_stcore/upload_file/{visitor.session_id}/x",
            {"X_Xsrftoken": token, "Cookie": f"{COOKIE}={token}"},
        )
        body = b'--b\r\nContent-Disposition: form-data; name="f"; filename="a.csv"\r\n\r\nx\n\r\n--b--\r\n'
        kind = {"Content_Type": "multipart/form-data; boundary=b"}
        for method in ("PUT", "DELETE"):
            for wrong in (
                {},
                {"X_Xsrftoken": token},
                {"Cookie": f"{COOKIE}={token}"},
                {"X_Xsrftoken": other, "Cookie": f"{COOKIE}={token}"},
                good | {"Origin": EVIL},
                good | {"Host": "evil.example"},
            ):
                status, *_ = await asyncio.to_thread(ask, server.url, path, method, body, **kind, **wrong)
                assert status == 403, (method, wrong)
        assert (await asyncio.to_thread(ask, server.url, path, "POST", body, **kind, **good))[0] == 405
        assert (await asyncio.to_thread(ask, server.url, path, "PUT", body, **kind, **good))[0] == 204
        stranger = "/_stcore/upload_file/00000000-0000-0000-0000-000000000000/x"
        assert (await asyncio.to_thread(ask, server.url, stranger, "PUT", body, **kind, **good))[0] == 400

    visit(server, put)


def test_another_name_does_not_lead_here(server):
    port = urlsplit(server.url).port
    for host in (f"127.0.0.1:{port}", f"localhost:{port}", f"LOCALHOST:{port}", "127.0.0.1", f"[::1]:{port}"):
        assert ask(server.url, "/_stcore/health", Host=host)[0] == 200, host
    names = [
        "evil.example",
        f"127.0.0.1.evil.example:{port}",
        "192.168.0.7",
        "0.0.0.0",
        "",
        "[",
        "a@b",
        "127.0.0.1@evil",
    ]
    for host in names:
        for path in ("/", "/_stcore/health", "/_stcore/metrics"):
            assert ask(server.url, path, Host=host)[0] in (400, 403), host
    # the site that leads a browser here by a trick is its own origin
    assert shake_hands(server.url, f"http://evil.example:{port}", f"evil.example:{port}") == 403


TRAVERSALS = [
    "/../../etc/passwd",
    "/..%2f..%2fetc/passwd",
    "/%2e%2e/%2e%2e/etc/passwd",
    "/%252e%252e/%252e%252e/etc/passwd",
    "//etc/passwd",
    "/etc/passwd",
    "/static/../../../../../../../etc/passwd",
    "/static/..%5c..%5csecret.txt",
    "/static/%2e%2e/%2e%2e/secret.txt",
    "/static/secret.txt",
    "/app/static/secret.txt",
    "/app/static/../secret.txt",
    "/app/static/%2e%2e/secret.txt",
    "/media/../../secret.txt",
    "/media/%2e%2e%2fsecret.txt",
    "/media//etc/passwd",
    "/component/../secret.txt",
    "/component/x/../../secret.txt",
    "/component/streamlit/%2e%2e/%2e%2e/secret.txt",
    "/_stcore/bidi-components/x/../../../secret.txt",
    "/_stcore/upload_file/../../secret.txt",
    "/secret.txt",
    "/named.csv",
    "/./secret.txt",
    "/secret.txt%00.png",
    "/.streamlit/config.toml",
]


@pytest.mark.parametrize("path", TRAVERSALS)
def test_no_file_of_the_machine_is_served(server, path):
    folder = server.log.parent
    for one in (path, path.replace("/secret.txt", str(folder / "secret.txt"))):
        for method in ("GET", "HEAD"):
            _, body, told = ask(server.url, one, method)
            assert MARKER.encode() not in body, one
            assert b"root:" not in body, one
            assert told.get("content-type", "").split(";")[0] in ("", "text/plain", "text/html"), one


@pytest.mark.parametrize("folder", ["/static", "/static/", "/static/js/", "/media/", "/component/", "/app/static/"])
def test_no_folder_is_listed(server, folder):
    _, body, _ = ask(server.url, folder)
    assert b"Index of" not in body
    assert b".woff2</a>" not in body


def test_browsers_are_told_to_trust_nothing_else(server):
    script = ask(server.url, "/")[1].decode().split('src="./static/js/')[1].split('"')[0]
    for path in ("/", "/_stcore/health", "/media/none", "/no/such/page", f"/static/js/{script}", "/static/../x"):
        told = ask(server.url, path)[2]
        assert told["x-content-type-options"] == "nosniff", path
        assert told["x-frame-options"] == "DENY"
        assert told["referrer-policy"] == "no-referrer"
        policy = dict(rule.split(" ", 1) for rule in told["content-security-policy"].split("; "))
        assert policy["frame-ancestors"] == "'none'"
        assert policy["default-src"] == "'self'"
        assert "unsafe" not in policy["script-src"]
    told = ask(server.url, "/", Host="evil.example")[2]
    assert told["x-frame-options"] == "DENY"


def test_doors_that_the_page_does_not_use_are_shut(server):
    assert options("127.0.0.1", 8501, upload_limit=7)["server.enableStaticServing"] is False
    assert ask(server.url, "/_stcore/agent/interact", "POST", b"{}", Content_Type="application/json")[0] >= 400
    assert ask(server.url, "/_stcore/script-health-check")[1].lstrip().startswith(b"<!--")  # only the empty page
    allowed = json.loads(ask(server.url, "/_stcore/host-config")[1])["allowedOrigins"]
    assert allowed == [server.url]
