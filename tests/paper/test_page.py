"""The page is self-contained and shows text as text."""

from __future__ import annotations

from html.parser import HTMLParser

from altclust.paper.page import build_page
from altclust.paper.section import Section

EVIL = '<script>alert("x")</script> & "quotes" \'single\''


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.text = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.text.append(data)


def parse(page):
    parser = Tags()
    parser.feed(page)
    return parser


def test_everything_is_escaped(tmp_path):
    picture = tmp_path / "a.png"
    picture.write_bytes(b"\x89PNG")
    section = Section("name", EVIL, EVIL, [picture], [EVIL, "printed"], [[EVIL, 1.23456], ["b", "–"]])
    page = parse(build_page(EVIL, [section, section], EVIL))
    assert "script" not in page.tags
    assert page.text.count(EVIL) >= 7
    assert "1.235" in page.text
    sources = [value for name, value in page.attributes if name in ("src", "href")]
    assert any(source.startswith("data:image/png;base64,iVBORw") or source.startswith("data:") for source in sources)
    assert all(source.startswith(("data:", "#")) for source in sources)


def test_marks_and_groups():
    rows = [["SG", "1.000 ✓", "1"], ["LG", "0.500", "1"]]
    page = build_page("t", [Section("t", "T", "c", (), ["Set", "NMI", "printed"], rows)])
    assert '<td class="number agrees">1.000 ✓</td><td class="number printed">1</td>' in page
    assert '<tr class="first"><td>LG</td>' in page
    assert "prefers-color-scheme: dark" in page
    assert "<nav>" not in page
