"""A real Chromium for the tests of pages; they skip where there is none."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NAMES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]


def find_chromium() -> str | None:
    """The path of an installed Chromium, or None."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


def why_not() -> str | None:
    """Why pages cannot be opened here, or None where they can."""
    if find_spec("playwright") is None:
        return "playwright is not installed"
    return None if find_chromium() else f"there is no browser: install one of {', '.join(NAMES)}"


needs_chromium = pytest.mark.skipif(why_not() is not None, reason=why_not() or "")


@contextmanager
def chromium() -> Iterator[Browser]:
    """A running Chromium, closed at the end."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()
