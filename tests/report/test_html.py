from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from altclust import KDAC, InputError
from altclust.report import Shown, render, summarise, write_report

MEGABYTE = 1_000_000


class Page(HTMLParser):
    """The elements of a page, its text, and the headings in order."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.words, self.open = [], [], [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes
        self.open.append(tag)

    def handle_endtag(self, tag):
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, words):
        if not {"script", "style"} & set(self.open[-1:]):
            self.words.append(" ".join(words.split()))

    @property
    def text(self):
        return " ".join(filter(None, self.words))


@pytest.fixture(scope="module")
def page(model, data):
    return render(summarise(model, data.X, data.given, Shown(command="altclust find moons.csv")))


def test_sections_in_order(page):
    headings = re.findall(r"<h2>(.*?)</h2>", page)
    assert headings == [
        "Given and new clusters",
        "Description of the clusters",
        "Cross table",
        "Column weights",
        "Overlap, significance and quality",
        "Convergence",
        "Parameters",
    ]
    assert "altclust find moons.csv" in Page(page).text


def test_given_clusters_do_not_look_like_new_ones(page):
    given, new = (re.search(f'data-panel="{which}".*?</ul>', page, re.DOTALL)[0] for which in (1, 0))
    assert set(re.findall(r"url\(#(.)", given)) == {"g"}
    assert set(re.findall(r"url\(#(.)", new)) == {"m"}
    assert 'class="given g0"' in given
    assert 'class="given' not in new
    cross = re.search(r'<table class="cross.*?</table>', page, re.DOTALL)[0]
    assert re.findall(r'<path class="(\w+)', cross) == ["c0", "c1", "given", "given"]


def test_nothing_comes_from_elsewhere(page):
    assert not re.search(r"https?:|//cdn|@import|url\((?!#)", page)
    sources = [value for name, value in Page(page).attributes if name in ("src", "href", "srcset", "action")]
    assert sources == ["data:,"]


def test_everything_is_named_for_those_who_hear_it(page):
    for svg in re.findall(r"<svg [^>]*>", page):
        assert 'role="img" aria-label="' in svg or 'aria-hidden="true"' in svg
    assert all("scope=" in th for th in re.findall(r"<th\b[^>]*>", page))
    assert all('aria-pressed="' in button for button in re.findall(r"<button\b[^>]*>", page))


def test_hostile_names_are_only_text(hostile):
    page = render(summarise(**hostile))
    seen = Page(page)
    assert seen.tags.count("script") == 2
    assert "img" not in seen.tags
    assert "49" not in seen.text.replace("{{ 7*7 }}", "")[:200]
    for words in ("<script>window.__pwned = 1</script>", "{{ 7*7 }}", "\"quotes' &amp;", "=1+1", "emoji 🎉"):
        assert words in seen.text
    assert not [name for name, _ in seen.attributes if name.startswith("on")]


def test_several_views_on_one_page(model, data):
    first = summarise(model, data.X, data.given, Shown(alternative="view_1"))
    second = summarise(model, data.X, shown=Shown(alternative="view_2"))
    page = render(first, second)
    assert re.findall(r'<a href="#(.*?)">(.*?)</a>', page) == [("view-1", "view_1"), ("view-2", "view_2")]
    assert page.count("<article") == 2
    assert "<h3>Parameters</h3>" in page
    ids = re.findall(r'\bid="(.*?)"', page)
    assert len(ids) == len(set(ids))


def test_no_view_is_refused():
    with pytest.raises(InputError, match="views is empty"):
        render()


def test_half_a_character_can_be_written(model, data, tmp_path):
    write_report(tmp_path / "report.html", summarise(model, data.X, shown=Shown(name="broken \ud83d")))
    assert "broken ?" in (tmp_path / "report.html").read_text(encoding="utf-8")


def wide_table(n):
    rng = np.random.default_rng(0)
    return pd.DataFrame(rng.normal(size=(n, 8)) * 1e4, columns=[f"a rather long name {j}" for j in range(8)])


@pytest.mark.parametrize("n", [4_000, 100_000])
def test_the_file_is_small(n, tmp_path):
    rng = np.random.default_rng(0)
    X, given = rng.normal(size=(n, 3)), rng.integers(0, 3, (n, 2))
    X[:, 0] += 4 * rng.integers(0, 2, n)
    with pytest.warns(UserWarning, match="before it converged|converged"):
        model = KDAC(2, sigma=2.0, n_components=1, max_iter=1, tol=0, random_state=0).fit(X, given)
    summary = summarise(model, X, given, Shown(values=wide_table(n)))
    write_report(tmp_path / "report.html", summary)
    assert (tmp_path / "report.html").stat().st_size < MEGABYTE
    note = f"A random sample of 4,000 of {n:,} rows is shown."
    assert (note in (tmp_path / "report.html").read_text()) == (n > 4_000)
    assert "random: there is only one direction" in (tmp_path / "report.html").read_text()


def test_many_clusters_on_both_sides(data, model):
    given = np.arange(200) % 60
    labels = np.arange(200) % 50
    page = render(summarise(model, data.X, given, Shown(labels=labels)))
    assert "31 others" in page
    assert "21 others" in page
    assert page.count("<article") == 1
