"""Print the coverage of each package of altclust from the data of the last `make coverage`."""

from __future__ import annotations

import io
import json
import tempfile
from collections import defaultdict
from pathlib import Path

from coverage import Coverage

COUNTED = ("num_statements", "covered_lines", "num_branches", "covered_branches")


def rooms() -> dict[str, dict[str, int]]:
    """Statements and branches, and how many of them were run, by package."""
    data = Coverage()
    data.load()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "coverage.json")
        data.json_report(outfile=str(path))
        files = json.loads(path.read_text())["files"]
    found: dict[str, dict[str, int]] = defaultdict(lambda: dict.fromkeys(COUNTED, 0))
    for name, figures in files.items():
        inside = Path(name).parts[Path(name).parts.index("altclust") + 1 :]
        for room in (inside[0] if len(inside) > 1 else "(top)", "total"):
            for key in COUNTED:
                found[room][key] += figures["summary"][key]
    return found


def table(found: dict[str, dict[str, int]]) -> str:
    """A line per package, the total last."""
    said = io.StringIO()
    print(f"{'package':12}{'lines':>8}{'covered':>10}{'branches':>10}{'covered':>10}{'both':>8}", file=said)
    for room in sorted(found, key=lambda room: (room == "total", room)):
        lines, run, branches, taken = (found[room][key] for key in COUNTED)
        shares = [part / whole if whole else 1.0 for part, whole in ((run, lines), (taken, branches))]
        both = (run + taken) / (lines + branches)
        print(f"{room:12}{lines:8}{shares[0]:10.1%}{branches:10}{shares[1]:10.1%}{both:8.1%}", file=said)
    return said.getvalue()


if __name__ == "__main__":
    print(table(rooms()), end="")
