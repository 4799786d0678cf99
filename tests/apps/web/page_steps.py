"""What a visitor does on the page, step by step."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def upload(page, name, content):
    page.locator("input[type=file]").set_input_files({"name": name, "mimeType": "text/csv", "buffer": content})


def choose_clusters(page, number):
    box = page.get_by_role("combobox", name="Number of new clusters")
    box.scroll_into_view_if_needed()
    page.wait_for_timeout(500)  # a page that still moves closes the list again
    box.click()
    page.get_by_role("option", name=f"Number of clusters: {number}", exact=True).click()


def choose_type(page, row, kind):
    """Change a type in the list of columns, which is drawn on a canvas."""
    from playwright.sync_api import TimeoutError

    page.wait_for_timeout(1000)  # the list is drawn anew after a change
    grid = page.get_by_test_id("stExpander").get_by_test_id("stDataFrame")
    option = page.get_by_role("option", name=kind, exact=True)
    for _ in range(5):  # a list that is just being drawn does not take the first click, and may have moved
        grid.scroll_into_view_if_needed()
        box = grid.bounding_box()
        page.mouse.click(box["x"] + 20, box["y"] + 35 * (row + 1) + 17)
        page.keyboard.press("ArrowRight")  # from the name to the type
        page.keyboard.press("Enter")
        with suppress(TimeoutError):
            option.click(timeout=3000)
            return
    raise AssertionError(f"The list of types did not open for row {row}.")


def find(page):
    page.get_by_role("button", name="Find alternative").click()
    page.get_by_role("heading", name="New clusters").wait_for()
    both_charts(page)
    page.get_by_text("Testing significance", exact=True).wait_for(state="hidden")


def rest(page):
    """Wait until nothing runs beside the page any more, which would draw it again."""
    page.get_by_text("Nothing more that is significant: views").wait_for()


def both_charts(page):
    # not by a function in the page: its policy forbids to make scripts of strings
    page.locator(".js-plotly-plot .scatterlayer .points path").nth(100).wait_for(state="attached")
    assert page.locator(".js-plotly-plot:has(.scatterlayer)").count() >= 2  # a third shows two columns of the table


def colour_by(page, side, name):
    box = page.get_by_role("combobox", name=f"Colours of the {side} chart")
    box.scroll_into_view_if_needed()
    page.wait_for_timeout(500)  # a page that still moves closes the list again
    box.click()
    page.get_by_role("option", name=f"Colour by {name}", exact=True).click()


def brush(page, chart):
    """Drag over the left half of a chart."""
    area = page.locator(".js-plotly-plot:has(.scatterlayer)").nth(chart).locator(".nsewdrag").first
    area.scroll_into_view_if_needed()
    box = area.bounding_box()
    left, top, middle = box["x"] + 4, box["y"] + 4, box["x"] + box["width"] / 2
    page.mouse.move(left, top)
    page.mouse.down()
    page.mouse.move(middle, top + box["height"] / 2, steps=6)
    page.mouse.move(middle, top + box["height"] - 10, steps=6)
    page.mouse.up()


def taken(page, label):
    page.get_by_test_id("stStatusWidget").wait_for(state="hidden")
    page.wait_for_timeout(1000)  # a page that is just drawn anew has new files, and forgets those of its old buttons
    with page.expect_download() as download:
        page.get_by_role("button", name=label, exact=True).click()
    return download.value.suggested_filename, Path(download.value.path()).read_bytes()


def keep_picture(page, name):
    if folder := os.environ.get("ALTCLUST_SCREENSHOTS"):
        page.screenshot(path=f"{folder}/{name}.png")
