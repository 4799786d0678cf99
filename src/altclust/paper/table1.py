"""Reproduction of Table 1: run its cells, store each result, and compare ours with the printed values."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from ..base.parallel import end_with_parent
from ..files.atomic import write_atomically
from .expected import MEASURES, RULE, agrees, printed
from .page import build_page
from .runs import METHODS, VARIANTS, Cell, run_cell, settings
from .section import Section

BUDGET = 900.0

Record = dict[str, Any]


def stored(cell: Cell, out: Path, budget: float) -> Record | None:
    """The stored record of a cell, if it has the same settings and did not exceed a smaller budget."""
    try:
        record = json.loads(_path(cell, out).read_text(encoding="utf-8"))
        same = all(record.get(key) == value for key, value in settings(cell).items())
        _shown(summarise(record))  # fails for a damaged record, which is then computed again
        return record if same and (not record["note"] or budget <= record["budget"]) else None
    except (OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError):
        return None


def run_cells(wanted: Sequence[Cell], out: Path, *, jobs: int = 1, budget: float = BUDGET) -> Iterator[Cell]:
    """Run cells in parallel processes, those of the last and largest sets first; yields each when it is written."""
    tasks = (delayed(_run_and_keep)(cell, out, budget) for cell in reversed(wanted))
    yield from Parallel(n_jobs=jobs, return_as="generator_unordered", pre_dispatch=jobs + 1)(tasks)


def _run_and_keep(cell: Cell, out: Path, budget: float) -> Cell:
    end_with_parent()
    record = run_cell(cell, budget)
    write_text(_path(cell, out), json.dumps(record, indent=1))
    return cell


def _path(cell: Cell, out: Path) -> Path:
    return out / "cells" / f"{cell.name}.json"


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically; creates its folder if needed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, lambda temporary: temporary.write_text(text, encoding="utf-8"))


def summarise(record: Record) -> dict[str, Any]:
    """Means and standard deviations over the finished runs, the printed values, and whether they agree."""
    cell = Cell(**record["cell"])
    # a cancelled run is used only if there is no other
    runs = [run for run in record["runs"] if not run["cancelled"]] or record["runs"]
    row = printed().get(cell.printed_row, {})
    measures = {}
    for measure in (*MEASURES, "true_cost", "rounds", "iterations", "longest"):
        values = [run[measure] for run in runs if run[measure] is not None]
        if values:
            mean, figure = float(np.mean(values)), row.get(measure)
            measures[measure] = {
                "mean": mean,
                "std": float(np.std(values)) if cell.init == "RI" else None,
                "printed": None if figure is None else str(figure),
                "agrees": figure is not None and agrees(measure, mean, figure),
            }
    return {
        "set": cell.set,
        "method": cell.method,
        "init": cell.init,
        "runs": len(runs),
        "parameters": record["parameters"],
        "measures": measures,
        "status": _status(record),
        "extra": cell.set in VARIANTS or "-" in cell.method,
    }


def _status(record: Record) -> str:
    if record["note"]:
        return record["note"]
    counts = Counter(run["status"] for run in record["runs"])
    if len(record["runs"]) == 1:
        return record["runs"][0]["status"]
    return "; ".join(f"{count} {status}" for status, count in counts.most_common())


COLUMNS = (
    "Set",
    "Method",
    *(f for name in ("NMI", "CQ", "Novelty", "Cost, theirs") for f in (name, "printed")),
    "Cost, true",
    "Seconds",
    "printed",
    "Rounds",
    "Iterations",
    "longest W step",
    "How it ended",
)

_CAPTION = (
    "Every row of Table 1, ours beside the printed one; random starts (RI) as mean ± standard deviation of single "
    "runs with the seeds 0, 1, …. The true cost is −HSIC(XW, U) + λ HSIC(XW, Y); in theirs, which the paper prints, Y "
    "is replaced by the first q columns of Y with the new labels appended. Seconds are processor time of one thread. "
    "Iterations are summed over all rounds; the longest W step is the largest count in one round."
)


def table_section(records: Sequence[Record], out: Path) -> Section:
    """Write ``table1.json``, ``table1.md`` and ``table1.html`` into out and return the section that they show."""
    rows = [summarise(record) for record in records]
    notes = [f"{name}: {text}" for name, text in METHODS.items() if "-" in name]
    notes += [f"{name}: {what}" for name, (_, what) in VARIANTS.items()]
    extras = f"Rows with a hyphen are not in the paper. {'; '.join(notes)}."
    caption = "\n\n".join([_CAPTION, extras, RULE, _score(rows)])
    figures = {"rule": RULE, "rows": rows}
    section = Section("table1", "Table 1: the seven sets", caption, (), COLUMNS, [_shown(row) for row in rows], figures)
    write_text(out / "table1.json", json.dumps(figures, indent=1))
    write_text(out / "table1.md", markdown(section))
    write_text(out / "table1.html", build_page("Table 1, reproduced", [section]))
    return section


def _score(rows: Sequence[dict[str, Any]]) -> str:
    parts = []
    for init, words in (("SI", "spectral"), ("RI", "random")):
        for measure, name in (("nmi", "NMI"), ("cq", "CQ"), ("novelty", "novelty"), ("cost", "cost")):
            compared = [
                row["measures"][measure]["agrees"]
                for row in rows
                if row["init"] == init and not row["extra"] and row["measures"].get(measure, {}).get("printed")
            ]
            if compared:
                parts.append(f"{name} {sum(compared)} of {len(compared)} ({words} start)")
    return f"Printed rows that agree: {', '.join(parts)}." if parts else ""


def _shown(row: dict[str, Any]) -> list[str]:
    def ours(measure: str) -> str:
        value = row["measures"].get(measure)
        if value is None:
            return "–"
        text = _number(value["mean"])
        if value["std"] is not None:
            text += f" ± {_number(value['std'])}"
        return f"{text} ✓" if value["agrees"] else text

    def theirs(measure: str) -> str:
        return str((row["measures"].get(measure) or {}).get("printed") or "–")

    def count(measure: str) -> str:
        mean = row["measures"][measure]["mean"]
        return f"{mean:.0f}" if mean >= 100 or mean == int(mean) else f"{mean:.1f}"

    pairs = [f(measure) for measure in ("nmi", "cq", "novelty", "cost") for f in (ours, theirs)]
    end = [ours("true_cost"), ours("time"), theirs("time"), count("rounds"), count("iterations"), count("longest")]
    return [row["set"], f"{row['method']} {row['init']}", *pairs, *end, row["status"]]


def _number(value: float) -> str:
    if value == int(value) and abs(value) >= 2:
        return str(int(value))
    # no minus sign before a rounded zero
    return f"{value:.{3 if abs(value) < 10 else 1}f}".replace("-0.000", "0.000")


def markdown(section: Section) -> str:
    """A section as Markdown; pipes in cells are replaced."""
    lines = [f"# {section.title}", "", section.caption, "", "| " + " | ".join(section.columns) + " |"]
    lines.append("|" + " --- |" * len(section.columns))
    lines += ["| " + " | ".join(str(cell).replace("|", "/") for cell in row) + " |" for row in section.rows]
    return "\n".join(lines) + "\n"
