"""Without a terminal there is a line now and then."""

from __future__ import annotations

import pytest

from altclust.apps.cli import screen
from altclust.base.progress import Progress


@pytest.fixture
def clock(monkeypatch):
    """A clock that the test moves, and lines that are not kept from an earlier run."""
    now = [0.0]
    monkeypatch.setattr(screen.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(screen.console, "quiet", False)
    return now


def test_a_line_every_ten_seconds(clock, capsys):
    with screen.live("Searching") as bar:
        for done in range(1, 7):
            clock[0] += 4
            assert not bar.update(Progress("search", done, 43, -1.5, 0.1))
        clock[0] += 4
        bar.stage("Writing the report")
        clock[0] += 14
        bar.stage("Writing more")
    lines = [line for line in capsys.readouterr().err.splitlines() if line.strip()]
    assert lines == ["Searching, 3 of 43 (12 s) …", "Searching, 6 of 43 (24 s) …", "Writing more (42 s) …"]


def test_nothing_where_the_user_wants_quiet(clock, capsys, monkeypatch):
    monkeypatch.setattr(screen.console, "quiet", True)
    with screen.live("Searching") as bar:
        clock[0] += 60
        bar.update(Progress("search", 1, 43, -1.5, 0.1))
    assert capsys.readouterr().err == ""


def test_no_lines_beside_a_bar(clock, capsys, monkeypatch):
    monkeypatch.setattr(screen.console, "_force_terminal", True)
    with screen.live("Searching") as bar:
        clock[0] += 60
        bar.update(Progress("search", 1, 43, -1.5, 0.1))
    assert "…" not in capsys.readouterr().err
