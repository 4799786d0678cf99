from __future__ import annotations

import pytest

from altclust.apps.web.escape import JOINER, for_disk, for_markdown, for_plotly, paragraph, unique_names


@pytest.mark.parametrize("text", ["**x**", "[a](javascript:alert(1))", "<script>", "$x$", "`x`", "# x", "a_b", "~x~"])
def test_every_sign_is_escaped_in_markdown(text):
    shown = for_markdown(text)
    for i, sign in enumerate(shown):
        assert sign.isalnum() or sign in f"\\ {JOINER}" or shown[i - 1] == "\\", shown
    assert shown.replace("\\", "").replace(JOINER, "") == text


def test_directives_emoji_and_arrows_are_parted():
    assert for_markdown(":red[x]").startswith(f"\\:{JOINER}red")
    assert f"\\:{JOINER}smile" in for_markdown(":smile:")
    assert "->" not in for_markdown("a -> b").replace("\\", "")
    assert for_markdown("one\ntwo") == "one two"


def test_charts_get_no_tags_and_short_lines():
    assert for_plotly("<b>x</b> & 'y'\nz") == "&lt;b&gt;x&lt;/b&gt; &amp; 'y' z"
    assert len(for_plotly("a" * 500)) == 60
    assert "<img" not in paragraph("<img src=x onerror=alert(1)>")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("customers 2024 (new)", "customers 2024 (new)"),
        ("../../etc/passwd", "etc_passwd"),
        ("..\\..\\x", "x"),
        ('a"; filename="b', "a_ filename_b"),
        ("a\r\nSet-Cookie: x", "a Set-Cookie_ x"),
        ("größe→😀", "größe"),
        ("a\x00\x1b[31m", "a_31m"),
        ("...", "table"),
        ("x" * 500, "x" * 60),
    ],
)
def test_names_of_files_lead_to_no_other_folder(name, expected):
    assert for_disk(name) == expected


def test_names_become_different():
    assert unique_names(["a", "b", "a", "a", "a (2)"]) == ["a", "b", "a (2)", "a (3)", "a (2) (2)"]
