"""The page as people use it: a real server, a real browser."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import closing

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("streamlit", reason="streamlit is not installed")
pytest.importorskip("plotly", reason="plotly is not installed")

from tests.apps.web.page_steps import (
    both_charts,
    brush,
    choose_clusters,
    choose_type,
    colour_by,
    find,
    keep_picture,
    rest,
    taken,
    upload,
)
from tests.browser import chromium, needs_chromium

from altclust.core.metrics import nmi
from altclust.datasets import views

pytestmark = needs_chromium

ALTCLUST = "from altclust.apps.cli.main import main; main()"
PATIENCE = 60_000  # milliseconds
HOSTILE = [
    "<script>window.hacked = 1</script>",
    "<img src=x onerror=window.hacked=1>",
    "**bold** [a](javascript:window.hacked=1)",
    ":red[x] :smile: $x^2$ -> \"quoted\" 'too' 😀",
]

REMOTE = [
    "![x](http://evil.example/a.png)",
    "<img src=http://evil.example/b.png>",
    "[press me](http://evil.example/c) https://evil.example/d",
    "<link rel=stylesheet href=//evil.example/e.css>",
    "<style>@import 'http://evil.example/f.css'</style>",
    "$\\href{http://evil.example/g}{x}$ <svg><image href=http://evil.example/h>",
]


def free_port():
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Where the page is; at the end Ctrl-C must end it without a word."""
    folder = tmp_path_factory.mktemp("server")
    port = free_port()
    log = (folder / "log").open("wb")
    process = subprocess.Popen(
        [sys.executable, "-c", ALTCLUST, "explore", "--no-browser", "--port", str(port), "--upload-limit", "5"],
        cwd=folder,
        stdout=log,
        stderr=subprocess.STDOUT,
        env=os.environ | {"OMP_NUM_THREADS": "1", "HOME": str(folder)},
    )
    url = f"http://127.0.0.1:{port}"
    try:
        _wait_for(url, process)
        yield url
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
    finally:
        process.kill()
        log.close()
    said = (folder / "log").read_text()
    assert f"altclust is at {url}" in said
    assert "Traceback" not in said


def _wait_for(url, process):
    for _ in range(240):
        assert process.poll() is None
        try:
            return urllib.request.urlopen(f"{url}/_stcore/health", timeout=5).read()
        except OSError:
            time.sleep(0.25)
    raise AssertionError("the server did not start")


@pytest.fixture(scope="module")
def browser():
    with chromium() as running:
        yield running


@pytest.fixture
def visit(browser, server):
    """Open the page as a new visitor; nothing may go wrong in the console, and nothing may be asked of other hosts."""
    contexts, wrong = [], []

    def open_page(**how):
        contexts.append(browser.new_context(**({"viewport": {"width": 1440, "height": 1000}} | how)))
        page = contexts[-1].new_page()
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: wrong.append(dialog.message))
        page.on("request", lambda request: None if _is_ours(request.url, server) else wrong.append(request.url))
        page.goto(server)
        page.get_by_text("1. Table").wait_for()
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not wrong


def _is_ours(url, server):
    return url.startswith((server, server.replace("http", "ws"), "data:", "blob:"))


@pytest.mark.slow
def test_the_views_are_found_one_after_the_other_and_are_grey_if_not_significant(visit, customers_csv):
    page = visit()
    upload(
        page, "customers.csv", customers_csv.read_bytes().replace(b"returns", b"a name that is too long for one line")
    )
    page.get_by_text("customers.csv: 160 rows, 6 columns.").wait_for()
    choose_clusters(page, 2)
    find(page)
    page.get_by_text(re.compile(r"View \d: (Preparing|Searching|Comparing|Testing)")).wait_for()
    keep_picture(page, "searching")
    for chart in page.locator(".js-plotly-plot").all():  # no title of an axis is cut off
        frame = chart.bounding_box()
        titles = [title.bounding_box() for title in chart.locator(".xtitle, .ytitle").all()]
        for box in filter(None, titles):  # an empty title has no box
            assert frame["x"] <= box["x"] < box["x"] + box["width"] <= frame["x"] + frame["width"]
            assert frame["y"] <= box["y"] < box["y"] + box["height"] <= frame["y"] + frame["height"]
    rest(page)
    tabs = page.get_by_role("radio", name=re.compile(r"View \d"))
    assert tabs.count() >= 2
    assert tabs.first.is_checked()  # the visitor was not moved
    colours = [tab.locator("p, span").last.evaluate("part => getComputedStyle(part).color") for tab in tabs.all()]
    assert colours[-1] == colours[-2]
    assert colours[-1] not in colours[1:-2]
    tabs.last.click()
    page.get_by_text(re.compile(r"segment(.* view 1| and \d others)")).wait_for()
    both_charts(page)
    keep_picture(page, "not significant")


def test_from_upload_to_download(visit, customers, customers_csv):
    frame, hidden = customers
    page = visit()
    upload(page, "customers.csv", customers_csv.read_bytes())
    page.get_by_text("customers.csv: 160 rows, 6 columns.").wait_for()
    page.get_by_test_id("stMultiSelect").first.get_by_text("segment", exact=True).wait_for()  # guessed
    known = page.get_by_role("combobox", name="Columns with known clusters")
    known.press("Backspace")
    page.get_by_test_id("stMultiSelect").first.get_by_text("segment", exact=True).wait_for(state="detached")
    known.fill("segm")
    page.get_by_role("option", name="segment").click()
    known.press("Escape")
    choose_clusters(page, 2)
    find(page)
    keep_picture(page, "found")

    rest(page)
    brush(page, 0)
    chosen = page.get_by_text(re.compile(r"\d+ rows selected"))
    chosen.wait_for()
    count = int(chosen.inner_text().split()[0])
    assert 0 < count < 160
    faint = "path => getComputedStyle(path).opacity < 0.5"
    for chart in (0, 1):  # the same rows stand out in both
        points = page.locator(".js-plotly-plot:has(.scatterlayer)").nth(chart).locator(".points path")
        assert points.count() == 160
        assert points.evaluate_all(f"paths => paths.filter({faint}).length") == 160 - count
    keep_picture(page, "brushed")
    page.get_by_role("button", name="Clear selection").click()
    page.get_by_text("Drag over points").wait_for()

    page.get_by_placeholder("Name cluster 0").fill("loyal ones")
    page.keyboard.press("Enter")
    page.get_by_text(re.compile(r"loyal ones \(\d+ rows")).wait_for()

    rest(page)
    keep_picture(page, "all")

    name, content = taken(page, "Table")
    table = pd.read_csv(io.BytesIO(content))
    assert name == "customers-alternative.csv"
    assert table[frame.columns].equals(pd.read_csv(customers_csv))
    assert set(table["alternative"]) == {"loyal ones", "cluster 1"}
    assert nmi(table["alternative"], hidden) > 0.9
    name, content = taken(page, "Report")
    assert name == "report.html"
    assert b"loyal ones" in content
    assert taken(page, "Plot")[1].startswith(b"\x89PNG")
    figures = json.loads(taken(page, "Figures")[1])
    assert [one["alternative"] for one in figures["views"][:2]] == ["alternative", "alternative_2"]
    real = [one["significance"]["is_real"] for one in figures["views"]]
    assert real[-2:] == [False, False]
    assert sum(name.startswith("alternative") for name in table) == 1 + sum(real[1:])
    assert figures["views"][0]["overlap"] < 0.05


@pytest.mark.slow
def test_both_charts_are_seen_without_scrolling_and_can_be_coloured_by_a_column(visit, customers_csv):
    page = visit(viewport={"width": 1280, "height": 900})
    upload(page, "customers.csv", customers_csv.read_bytes())
    page.get_by_text("customers.csv: 160 rows, 6 columns.").wait_for()
    page.locator("[data-testid=stDataFrame]").get_by_text("visits", exact=True).first.wait_for(state="attached")
    keep_picture(page, "preview")
    choose_clusters(page, 2)
    find(page)
    main = page.locator("[data-testid=stMain]")
    main.evaluate("main => main.scrollTo(0, 0)")
    for chart in (0, 1):
        points = page.locator(".js-plotly-plot:has(.scatterlayer)").nth(chart).locator(".nsewdrag").bounding_box()
        assert points["y"] + points["height"] <= 900
    colour_by(page, "left", "visits")
    page.locator(".js-plotly-plot .cbtitle, .js-plotly-plot .colorbar").first.wait_for(state="attached")
    page.get_by_role("heading", name="Column", exact=True).wait_for()
    brush(page, 0)
    page.get_by_text(re.compile(r"\d+ rows selected")).wait_for()
    page.get_by_text("The columns behind it, in their own units").wait_for()
    assert page.locator(".js-plotly-plot .boxlayer").count() >= 2


@pytest.mark.slow
def test_the_type_of_a_column_is_changed_in_the_list(visit, customers_csv):
    page = visit(viewport={"width": 1280, "height": 900})
    upload(page, "customers.csv", customers_csv.read_bytes())
    page.get_by_text("Used as numbers: spend, visits, returns, age, height.").wait_for()
    choose_type(page, 4, "identifier")
    page.get_by_text("Left out: age (identifier).").wait_for()
    choose_type(page, 0, "date")
    page.get_by_role("alert").filter(has_text="asks for dates").wait_for()
    choose_type(page, 0, "automatic")
    page.get_by_text("Left out: age (identifier).").wait_for()
    keep_picture(page, "types")
    choose_clusters(page, 2)
    find(page)
    figures = json.loads(taken(page, "Figures")[1])
    assert "age" not in [one["name"] for one in figures["views"][0]["weights"]]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("broken.parquet", b"PAR1 this is no table", "broken.parquet could not be read as PARQUET"),
        ("**empty**.csv", b"", "**empty**.csv is empty"),
        ("zeros.csv", b"a,b\n\0\0\0\n", "zero bytes"),
    ],
)
def test_a_bad_file_gets_one_sentence(visit, name, content, sentence):
    page = visit()
    upload(page, name, content)
    error = page.get_by_role("alert").filter(has_text=re.compile(re.escape(sentence).replace(":", ".")))
    error.wait_for()
    assert "Traceback" not in page.content()
    assert page.get_by_role("button", name="Find alternative").count() == 0


@pytest.mark.slow
def test_a_second_visitor_sees_nothing_of_the_first(visit):
    first = visit()
    upload(first, "secret.csv", b"secret,x,y\n" + b"".join(b"%d,%d,%d\n" % (i % 2, i, i * i) for i in range(60)))
    first.get_by_text("secret.csv: 60 rows").wait_for()
    second = visit()
    second.get_by_text("An example").wait_for()
    assert "secret" not in second.content()
    assert second.get_by_role("button", name="Find alternative").count() == 0


@pytest.mark.slow
def test_hostile_strings_are_shown_and_never_run(visit):
    rng = np.random.default_rng(0)
    known, hidden = rng.integers(0, 2, (2, 150))
    frame = pd.DataFrame(
        {
            HOSTILE[0]: np.array([HOSTILE[2], HOSTILE[3]])[known],
            HOSTILE[1]: 6 * hidden + rng.standard_normal(150),
            HOSTILE[3]: 5 * hidden + rng.standard_normal(150),
            "plain\nname": 6 * known + rng.standard_normal(150),
        }
    )
    page = visit()
    upload(page, "<img src=x onerror=window.hacked=1> **x** :red[y].csv", frame.to_csv(index=False).encode())
    page.get_by_text("150 rows, 4 columns.").wait_for()
    page.get_by_text("Used as numbers").wait_for()
    assert HOSTILE[1] in page.get_by_text("Used as numbers").inner_text()
    choose_clusters(page, 2)
    find(page)
    for text in (HOSTILE[0], HOSTILE[2][:30]):
        assert page.get_by_text(text).count(), text
    brush(page, 1)
    page.get_by_text(re.compile(r"\d+ rows selected")).wait_for()
    page.get_by_placeholder("Name cluster 0").fill(HOSTILE[1])
    page.keyboard.press("Enter")
    sizes = "|".join(map(str, np.bincount(hidden)))  # either cluster may be the first
    page.get_by_text(re.compile(f"^{re.escape(HOSTILE[1])} \\(({sizes}) rows")).wait_for()
    page.get_by_role("tab", name="Column weights").click()
    page.locator(".js-plotly-plot .barlayer .point").first.wait_for(state="attached")
    keep_picture(page, "hostile")
    assert page.evaluate("window.hacked") is None
    assert page.locator("img[src=x], a[href^=javascript]").count() == 0
    # the report is opened from a disk, where a script could read files
    content = taken(page, "Report")[1].decode()
    opened = page.context.browser.new_page()
    opened.set_content(content)
    assert opened.evaluate("window.hacked") is None
    opened.close()


@pytest.mark.slow
def test_nothing_in_a_table_calls_another_machine(visit):
    """The fixture notes every request to another host; the policy of the page would refuse it as well."""
    rng = np.random.default_rng(0)
    known, hidden = rng.integers(0, 2, (2, 150))
    frame = pd.DataFrame(
        {
            REMOTE[0]: np.array([REMOTE[1], REMOTE[2]])[known],
            REMOTE[3]: 6 * hidden + rng.standard_normal(150),
            REMOTE[4]: 5 * hidden + rng.standard_normal(150),
            REMOTE[5]: 6 * known + rng.standard_normal(150),
        }
    )
    page = visit()
    upload(page, REMOTE[1].replace("/", "-") + ".csv", frame.to_csv(index=False).encode())
    page.get_by_text("150 rows, 4 columns.").wait_for()
    page.get_by_text("Used as numbers").wait_for()
    choose_clusters(page, 2)
    find(page)
    brush(page, 1)
    page.get_by_text(re.compile(r"\d+ rows selected")).wait_for()
    page.get_by_placeholder("Name cluster 0").fill(REMOTE[2][:60])
    page.keyboard.press("Enter")
    page.get_by_text(re.compile(rf"^{re.escape(REMOTE[2][:60])} \(\d+ rows")).wait_for()
    for tab in ("Cross table", "Column weights"):
        page.get_by_role("tab", name=tab).click()
    page.mouse.move(700, 500)
    assert page.locator("[src*='evil.example'], [href*='evil.example'], [srcdoc], iframe").count() == 0


@pytest.mark.slow
def test_a_narrow_screen_is_enough(visit, customers_csv):
    page = visit(viewport={"width": 375, "height": 800}, color_scheme="dark")
    upload(page, "customers.csv", customers_csv.read_bytes())
    page.get_by_text("customers.csv: 160 rows").wait_for()
    choose_clusters(page, 2)
    find(page)
    rest(page)
    brush(page, 1)
    page.get_by_text(re.compile(r"\d+ rows selected")).wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    assert page.locator("[data-testid=stMain]").evaluate("main => main.scrollWidth") <= 375
    for chart in page.locator(".js-plotly-plot:has(.scatterlayer)").all():
        assert chart.bounding_box()["width"] > 300
    keep_picture(page, "narrow")


@pytest.mark.slow
def test_cancel_ends_the_search_and_leaves_the_page_as_it_was(visit):
    data = views(1500, noise_columns=60, random_state=0)  # a search that takes some seconds
    page = visit()
    upload(page, "large.csv", pd.DataFrame(data.X).assign(segment=data.given).to_csv(index=False).encode())
    page.get_by_role("button", name="Find alternative").click()
    page.get_by_text(re.compile(r"Searching: \d+ of \d+ candidates")).wait_for()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text(re.compile(r"Searching: \d+ of \d+ candidates")).wait_for(state="detached")
    assert page.get_by_role("button", name="Find alternative").is_enabled()
    assert page.locator(".js-plotly-plot").count() == 0
    page.get_by_role("button", name="Find alternative").click()
    page.get_by_role("button", name="Stop and keep the best so far").click()
    both_charts(page)
    page.get_by_text("The search was stopped early").wait_for()


@pytest.mark.slow
def test_another_table_takes_the_place_of_the_first(visit, customers_csv):
    page = visit()
    content = customers_csv.read_bytes()
    upload(page, "customers.csv", content)
    page.get_by_text("customers.csv: 160 rows").wait_for()
    choose_clusters(page, 2)
    find(page)
    upload(page, "others.csv", content.replace(b"segment", b"kind"))
    page.get_by_text("others.csv: 160 rows").wait_for()
    assert page.get_by_text("encountered an error").count() == 0
    find(page)
    assert page.get_by_text("encountered an error").count() == 0
    for number in range(4):  # the page keeps few files at a time, and the browser gives the others back
        upload(page, f"table{number}.csv", content)
        page.get_by_text(f"table{number}.csv: 160 rows").wait_for()
