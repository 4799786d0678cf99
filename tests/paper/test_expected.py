"""The printed figures are all there, and what counts as agreement."""

from __future__ import annotations

import pytest

from altclust.paper.expected import MEASURES, Figure, agrees, printed

SETS = ("SG", "LG", "Moon", "MoonN", "Flower", "Faces", "WebKB")


def test_every_printed_row_is_complete():
    rows = printed()
    assert set(rows) == {(s, m, i) for s in SETS for m in ("ISM", "SM", "DG") for i in ("SI", "RI")}
    assert len(rows) == 42
    for (name, _, init), figures in rows.items():
        assert set(figures) == set(MEASURES) - ({"nmi"} if name == "Flower" else set())
        assert all((figure.deviation is not None) == (init == "RI") for figure in figures.values())


def test_digits_are_kept_as_printed():
    assert str(printed()["Moon", "ISM", "RI"]["cq"]) == "2.0 ± 0.0"
    assert str(printed()["MoonN", "ISM", "RI"]["cq"]) == "2.0 ± 0"
    assert str(printed()["WebKB", "DG", "SI"]["time"]) == "199887.134"
    assert printed()["SG", "SM", "SI"]["cost"].value == -1.791


@pytest.mark.parametrize(
    ("measure", "ours", "figure", "expected"),
    [
        ("nmi", 0.589, Figure("0.57"), True),
        ("nmi", 0.595, Figure("0.57"), False),
        ("nmi", 0.6, Figure("1"), False),
        ("nmi", 0.6, Figure("0.91", "0.4"), True),
        ("novelty", 0.03, Figure("0.0", "0.0"), False),
        ("cq", 1.933, Figure("1.9"), True),
        ("cq", 1.6, Figure("2"), False),
        ("cost", 19.503, Figure("20"), True),
        ("cost", 12.2, Figure("509"), False),
        ("cost", 505.0, Figure("509"), True),
        ("cost", -0.2728, Figure("-0.273"), True),
        ("time", 1.0, Figure("1"), False),
    ],
)
def test_agreement(measure, ours, figure, expected):
    assert agrees(measure, ours, figure) is expected
