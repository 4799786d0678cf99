"""Sections as one self-contained HTML page: pictures are embedded and all text is escaped."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from .section import Section

STYLE = """
:root { color-scheme: light dark; --ink: #1c2430; --paper: #ffffff; --faint: #5b6675; --line: #d9dee5;
  --band: #f4f6f9; --good: #11703c; --link: #1f5fae; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e8ee; --paper: #14181e; --faint: #9aa6b5; --line: #323a45;
  --band: #1c222a; --good: #6fd39b; --link: #8ab8f2; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 110rem; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 1rem; }
h2 { font-size: 1.25rem; margin: 3rem 0 .5rem; }
p { max-width: 48rem; margin: .5rem 0 1rem; }
a { color: var(--link); }
nav ul { padding-left: 1.2rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .8rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .45rem; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
th { white-space: nowrap; color: var(--faint); font-weight: 600; border-bottom-width: 2px; }
.number { text-align: right; white-space: nowrap; }
td:first-child { white-space: nowrap; }
td:nth-child(2) { min-width: 7rem; }
td:last-child:not(.number) { min-width: 11rem; }
td.printed { color: var(--faint); }
td.agrees { color: var(--good); font-weight: 600; }
tr.first td { border-top: 2px solid var(--line); }
tbody tr:hover { background: var(--band); }
figure { margin: 1rem 0; }
img { max-width: 100%; height: auto; background: #ffffff; border-radius: 4px; }
@media print { @page { size: A4 landscape; margin: 12mm; } body { max-width: none; padding: 0; font-size: 10pt; }
  table { font-size: 6.5pt; } th, td { padding: .15rem .25rem; } th { white-space: normal; }
  .scroll { overflow: visible; } nav { display: none; } tr, figure { break-inside: avoid; } h2 { break-after: avoid; } }
"""

_NUMBER = re.compile(r"^[-−+]?[\d.,]+(e[-+]?\d+)?( ± [\d.,]+)?( ✓| %)?$|^–$")


def build_page(title: str, sections: Sequence[Section], introduction: str = "") -> str:
    """One HTML page with a section for each of `sections`, and links to them; pictures are embedded."""
    links = "".join(f'<li><a href="#{escape(s.name)}">{escape(s.title)}</a></li>' for s in sections)
    navigation = f"<nav><ul>{links}</ul></nav>" if len(sections) > 1 else ""
    lead = f"<p>{escape(introduction)}</p>" if introduction else ""
    body = "\n".join(_section(section) for section in sections)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n"
        f"<body>\n<h1>{escape(title)}</h1>\n{lead}\n{navigation}\n{body}\n</body>\n</html>\n"
    )


def _section(section: Section) -> str:
    pictures = "\n".join(_picture(path, section.title) for path in section.pictures)
    table = _table(section.columns, section.rows) if section.columns else ""
    caption = "\n".join(f"<p>{escape(paragraph)}</p>" for paragraph in section.caption.split("\n\n"))
    return (
        f'<section id="{escape(section.name)}">\n<h2>{escape(section.title)}</h2>\n'
        f"{caption}\n{pictures}\n{table}\n</section>"
    )


def _picture(path: Path, title: str) -> str:
    data = base64.b64encode(path.read_bytes()).decode("ascii")
    return f'<figure><img src="data:image/png;base64,{data}" alt="{escape(title)}"></figure>'


def _table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    head = "".join(_header(column, [row[i] for row in rows]) for i, column in enumerate(columns))
    lines, last = [], None
    for row in rows:
        cells = "".join(_cell(column, cell) for column, cell in zip(columns, row, strict=True))
        # a line above the first row of each group of rows with the same first cell
        mark = ' class="first"' if last is not None and row[0] != last else ""
        lines.append(f"<tr{mark}>{cells}</tr>")
        last = row[0]
    return (
        f'<div class="scroll"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n'
        + "\n".join(lines)
        + ("\n</tbody>\n</table></div>")
    )


def _header(column: str, cells: Sequence[Any]) -> str:
    mark = ' class="number"' if cells and all(_NUMBER.match(_text(cell)) for cell in cells) else ""
    return f'<th scope="col"{mark}>{escape(column)}</th>'


def _text(cell: Any) -> str:
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)


def _cell(column: str, cell: Any) -> str:
    text = _text(cell)
    classes = ["number"] if _NUMBER.match(text) else []
    classes += ["printed"] if column == "printed" else []
    classes += ["agrees"] if text.endswith("✓") else []
    joined = " ".join(classes)
    mark = f' class="{joined}"' if classes else ""
    return f"<td{mark}>{escape(text)}</td>"
