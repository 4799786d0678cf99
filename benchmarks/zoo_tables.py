"""Tables as people have them: what `altclust find` and `altclust.find` make of each, with three given columns in turn.

Every run is checked: exit code 0, nothing of another library on the screen, the same labels from the command line and
from Python, and the table back cell for cell, with one more column. The first view is printed as a Markdown table.

    python benchmarks/zoo_tables.py            # nine tables, three given columns each
    python benchmarks/zoo_tables.py titanic
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

import altclust
from zoo import folder

GIVEN = {
    "penguins": ("species", "island", "sex"),
    "attrition": ("Attrition", "Department", "Gender"),
    "churn": ("churn", "contract", "internet_service"),
    "computers": ("premium", "cd", "screen"),
    "credit": ("Status", "Home", "Job"),
    "diamonds": ("cut", "color", "clarity"),
    "survey": ("Sex", "W.Hnd", "Smoke"),
    "titanic": ("survived", "sex", "passengerClass"),
    "wages": ("region", "ethnicity", "smsa"),
}
FOREIGN = ("Traceback", "Warning:", "sklearn", "pandas", "numpy", "site-packages")


def run(file: Path, given: str, out: Path) -> tuple[dict, float]:
    """The figures of one run of the command line, after all checks, and its seconds."""
    start = time.perf_counter()
    command = [sys.executable, "-m", "altclust", "find", str(file), "--given", given, "--views", "1", "--out", str(out)]
    ended = subprocess.run(command, capture_output=True, text=True)
    seconds = time.perf_counter() - start
    said = ended.stdout + ended.stderr
    assert ended.returncode == 0, said
    assert not any(word in said for word in FOREIGN), said
    before, after = (pd.read_csv(path, dtype=str, keep_default_na=False) for path in (file, out / "table.csv"))
    assert after.columns[-1] == "alternative"
    assert before.equals(after.drop(columns="alternative")), "cells were lost"
    found = altclust.find(pd.read_csv(file), given=given, significance=False)
    assert np.array_equal(found.labels, after["alternative"].astype(int)), "Python gives other labels"
    return json.loads((out / "figures.json").read_text(encoding="utf-8")), seconds


def main(names: list[str]) -> None:
    """Print one line for each table and given column."""
    print("| table | given | k | what tells the clusters apart | verdict | left aside | seconds |")
    print("| :-- | :-- | --: | :-- | :-- | :-- | --: |", flush=True)
    for name in names or list(GIVEN):
        for given in GIVEN[name]:
            with tempfile.TemporaryDirectory() as scratch:
                figures, seconds = run(folder() / "mixed" / f"{name}.csv", given, Path(scratch) / "out")
            view = figures["views"][0]
            sizes = ", ".join(map(str, view["cluster_sizes"]))
            said = view["rule"] or view["descriptions"][0]
            verdict = " ".join(
                [view["significance"]["verdict"], *(w["sentence"] for w in view["significance"]["witnesses"])]
            )
            aside = (view["left_out"] or "").removeprefix("Obvious groups that were left aside: ")
            cells = [name, given, f"{view['clusters']} ({sizes})", said, verdict, aside, f"{seconds:.0f}"]
            print(f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
