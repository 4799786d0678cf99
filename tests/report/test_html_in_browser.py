"""The page as people see it, in a real browser."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from tests.browser import chromium, needs_chromium

from altclust.comparison import compare
from altclust.report import Shown, render_comparison, summarise, write_report

pytestmark = needs_chromium

WIDTHS = (375, 1440)


@pytest.fixture(scope="module")
def browser():
    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def report(model, data, tmp_path_factory):
    """The page of a small view, with two givens, of which one is not known everywhere."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    given = {"group": data.given, "half": np.where(np.arange(200) < 50, -1, np.arange(200) % 3)}
    names = [f"customer {i}" for i in range(200)]
    write_report(
        path, summarise(model, data.X, given, Shown(ids=names, name="moons", command="altclust find moons.csv"))
    )
    return path


@pytest.fixture
def open_page(browser):
    """A function that opens a file; it fails at the end if the page asked for anything or had an error."""
    contexts, wrong = [], []

    def show(path, width=1440, **options):
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        page = context.new_page()

        def route(request):
            if request.request.url == path.as_uri():
                request.continue_()
            else:
                wrong.append(f"request of {request.request.url}")
                request.abort()

        page.route("**/*", route)
        page.on("console", lambda message: wrong.append(message.text) if message.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: (wrong.append(dialog.message), dialog.dismiss()))
        page.goto(path.as_uri())
        return page

    yield show
    for context in contexts:
        context.close()
    assert wrong == []


def picture(page, name):
    """Keep a picture where somebody asked for it."""
    folder = os.environ.get("ALTCLUST_SCREENSHOTS")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=Path(folder) / f"report_{name}.png", full_page=True)


@pytest.mark.parametrize(
    ("scheme", "width"),
    [
        ("light", 1440),
        ("dark", 375),
        pytest.param("light", 375, marks=pytest.mark.slow),
        pytest.param("dark", 1440, marks=pytest.mark.slow),
    ],
)
def test_fits_the_screen(open_page, report, width, scheme):
    page = open_page(report, width, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, background[4:-1].split(","))) < 300) == (scheme == "dark")
    picture(page, f"{scheme}_{width}")


def plot(page, panel):
    return page.locator(f".panel[data-panel='{panel}'] .plot")


def place(page, panel, row):
    """Where a row is drawn, in pixels from the corner of the plot."""
    points = json.loads(page.locator(".data").text_content())
    scale = plot(page, panel).locator("svg").bounding_box()["width"] / 1000
    return {"x": points["x"][row] * scale, "y": points["y"][row] * scale}


def test_pointing_at_a_row_tells_it(open_page, report):
    page = open_page(report)
    told = page.locator(".told")
    assert not told.is_visible()
    plot(page, 0).hover(position=place(page, 0, 7))
    words = told.inner_text()
    assert "customer 7" in words
    assert "group" in words
    assert "unknown" in words  # the second given clustering knows nothing of this row
    assert "column 0" in words
    assert page.locator(".ring[visibility=visible]").count() == 3
    page.mouse.move(5, 5)
    assert not told.is_visible()


@pytest.mark.slow
@pytest.mark.parametrize("width", WIDTHS)
def test_arrow_keys_go_from_row_to_row(open_page, report, width):
    page = open_page(report, width)
    plot(page, 1).focus()
    seen = []
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft"):
        page.keyboard.press(key)
        seen.append(page.locator(".told p").inner_text())
    assert seen[0] == seen[2] != seen[1]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.keyboard.press("Escape")
    assert not page.locator(".told").is_visible()


@pytest.mark.slow
def test_a_finger_tells_a_row(open_page, report):
    page = open_page(report, 375, has_touch=True)
    plot(page, 1).tap(position=place(page, 1, 0))
    assert "customer 0" in page.locator(".told").inner_text()


def faded(page, panel, which):
    """The clusters whose rows are faded in a picture."""
    paths = page.locator(f".panel[data-panel='{panel}'] .points path.dim")
    return {cell.split()[which] for cell in paths.evaluate_all("all => all.map(path => path.dataset.cell)")}


def test_choosing_a_cluster_fades_the_others_in_both_pictures(open_page, report):
    page = open_page(report)
    button = page.locator(".panel[data-panel='0'] .legend button").first
    button.click()
    assert button.get_attribute("aria-pressed") == "true"
    for panel in (0, 1):
        assert faded(page, panel, 0) == {"1"}
    opacity = "getComputedStyle(document.querySelector('.points path.dim')).opacity"
    page.wait_for_function(f"{opacity} < 0.2")
    picture(page, "chosen")
    button.press("Enter")
    assert button.get_attribute("aria-pressed") == "false"
    assert faded(page, 0, 0) == faded(page, 1, 0) == set()


@pytest.mark.slow
def test_choosing_a_given_cluster(open_page, report):
    page = open_page(report)
    page.locator(".panel[data-panel='1'] .legend button").nth(1).click()
    assert faded(page, 0, 1) == faded(page, 1, 1) == {"0"}


def test_what_is_on_the_left_can_be_chosen(open_page, report):
    page = open_page(report)
    panels = [page.locator(f".panel[data-panel='{i}']") for i in range(3)]
    assert [panel.is_visible() for panel in panels] == [True, True, False]
    page.get_by_role("button", name="half", exact=True).click()
    assert [panel.is_visible() for panel in panels] == [True, False, True]


def test_it_reads_without_script(open_page, report):
    page = open_page(report, java_script_enabled=False)
    assert page.locator(".panel").count() == 3
    assert all(panel.is_visible() for panel in page.locator(".panel").all())
    assert page.locator(".cross").first.is_visible()


def test_hostile_names_stay_text(open_page, hostile, tmp_path):
    write_report(tmp_path / "hostile.html", summarise(**hostile))
    for width in WIDTHS:
        page = open_page(tmp_path / "hostile.html", width)
        plot(page, 0).focus()
        for _ in range(10):
            page.keyboard.press("ArrowRight")
        assert page.evaluate("window.__pwned") is None
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert "{{ 7*7 }}" in page.inner_text("body")
        picture(page, f"hostile_{width}")


@pytest.mark.slow
def test_it_prints(open_page, report):
    page = open_page(report, color_scheme="dark")
    page.get_by_role("button", name="cluster 0").click()
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.locator(".choose").is_visible()
    assert all(section.is_visible() for section in page.locator("section, .panel").all())
    assert page.evaluate("getComputedStyle(document.querySelector('.points path.dim')).opacity") == "1"
    assert page.pdf(format="A4").startswith(b"%PDF")


@pytest.mark.parametrize("width", [1440, pytest.param(375, marks=pytest.mark.slow)])
def test_a_comparison_is_readable(open_page, data, tmp_path, width):
    found = compare(data.X, data.given, methods=["Residual", "Orth-1", "CIB"], n_clusters=2)
    page_of = render_comparison(found, data.X[:, :2], name="<b>moons</b>")
    (tmp_path / "comparison.html").write_text(page_of, encoding="utf-8")
    page = open_page(tmp_path / "comparison.html", width)
    picture(page, f"comparison_{width}")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("h1").inner_text() == "<b>moons</b>"
    assert "needs counts" in page.locator(".compared").inner_text()
    cell = page.locator(".compared td").first.bounding_box()
    assert cell["height"] < 60  # figures stand on one line
    assert page.locator(".scatter").count() == 2
