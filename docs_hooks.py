"""What MkDocs fills in while it builds: the command line reference, written from the commands themselves."""

from __future__ import annotations

import re
from typing import Any

import typer

from altclust.apps.cli.main import app

MARK = "<!-- every command, from the code -->"
OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*")
NOTES = re.compile(r"\s*\[([^\[\]]*)\]$")  # what the parser appends to a help text: default, range, required


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Called by MkDocs with every page; the one with the mark gets the reference."""
    return markdown.replace(MARK, command_reference()) if MARK in markdown else markdown


def command_reference() -> str:
    """Every command as Markdown: what it does, its usage, its options, its examples."""
    return "\n".join(_section("altclust", typer.main.get_command(app), level=2, parent=None)).strip()


def _section(name: str, command: Any, level: int, parent: Any) -> list[str]:
    context = command.context_class(command, info_name=name, parent=parent)
    usage = " ".join(command.get_usage(context).split()).removeprefix("Usage: ")
    told = _with_code((command.help or "").strip())
    lines = [f"{'#' * level} {context.command_path}", "", told, "", "```text", usage, "```", ""]
    lines += _options([p.get_help_record(context) for p in command.params if not getattr(p, "hidden", False)])
    lines += _examples(command.epilog or "")
    for below, inner in getattr(command, "commands", {}).items():
        lines += _section(below, inner, min(level + 1, 4), context)
    return lines


def _options(records: list[tuple[str, str] | None]) -> list[str]:
    shown = [(names, *_split(text)) for names, text in filter(None, records) if "completion" not in names]
    if not shown:
        return []
    rows = [f"| {_code(names)} | {_escaped(text)} | {_escaped(notes)} |" for names, text, notes in shown]
    return ["| option | what it means | default, limits |", "| :-- | :-- | :-- |", *rows, ""]


def _split(text: str) -> tuple[str, str]:
    """A help text and the notes behind it."""
    found = NOTES.search(text)
    return (text, "") if found is None else (text[: found.start()], found[1].replace("default: ", ""))


def _examples(epilog: str) -> list[str]:
    lines = [line.strip() for line in epilog.splitlines() if line.strip().startswith("altclust ")]
    return ["```text", *lines, "```", ""] if lines else []


def _code(text: str) -> str:
    return f"`{text}`".replace("|", "\\|")


def _escaped(text: str) -> str:
    """A text as one cell of a table; signs that Markdown or HTML would read otherwise are kept."""
    plain = text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*").replace("\n", " ")
    return _with_code(plain)


def _with_code(text: str) -> str:
    """The text with its options set as code, except where they are already."""
    parts = text.split("`")
    parts[::2] = [OPTION.sub(r"`\g<0>`", part) for part in parts[::2]]
    return "`".join(parts)
