"""Change the code in random places and count the changes that the tests notice: mutation testing with cosmic-ray.

`make mutation` tries 100 of several thousand changes of the core and of the verdict, others every time; `ARGS="--number
20 --seed 1"` tries fewer, and the same again. It works on a copy of the sources and lists what nobody noticed.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from cosmic_ray.work_db import WorkDB, use_db

ROOT = Path(__file__).parents[1]
CORE = ("problem", "reduced", "certificate", "embedding", "metrics", "descent", "alternation")
MODULES = [
    *(f"src/altclust/core/{name}.py" for name in CORE),
    "src/altclust/core/solvers",
    "src/altclust/search/verdict.py",
]
TESTS = "tests/core tests/search/test_significance.py tests/reference"
COMMAND = (
    f"{sys.executable} -m pytest -x -q -p no:xdist -p no:cacheprovider --deselect tests/core/test_array_api.py {TESTS}"
)
OPERATORS = ("core/NumberReplacer", "core/Replace", "core/AddNot", "core/ZeroIterationForLoop")
OF_TYPES = "ReplaceBinaryOperator_BitOr"  # most | are in types, which nothing evaluates


def main() -> None:
    """Sample, run, and print the share that was killed and the survivors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--number", type=int, default=100)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="altclust-mutation-") as folder:
        copy = Path(folder)
        for name in ("src", "tests", "pyproject.toml"):
            (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, copy / name)
        paths = ", ".join(f'"{path}"' for path in MODULES)
        (copy / "config.toml").write_text(
            f"[cosmic-ray]\nmodule-path = [{paths}]\ntimeout = 300.0\nexcluded-modules = []\n"
            f'test-command = "{COMMAND}"\n[cosmic-ray.distributor]\nname = "local"\n',
            encoding="utf-8",
        )
        environment = os.environ | {"PYTHONPATH": f"{copy / 'src'}{os.pathsep}{copy}"}
        for command in ("init", "baseline", "exec"):
            session = ["session.sqlite"] * (command != "baseline")  # which checks that the tests pass without a change
            arguments = [sys.executable, "-m", "cosmic_ray.cli", command, "config.toml", *session]
            subprocess.run(arguments, cwd=copy, env=environment, check=True)
            if command == "init":
                _sample(copy / "session.sqlite", asked.number, asked.seed)
        print(f"--number {asked.number} --seed {asked.seed}")
        _report(copy / "session.sqlite")


def _sample(session: Path, number: int, seed: int) -> None:
    """Keep so many of the changes."""
    with use_db(session, WorkDB.Mode.open) as db:
        names = {item.job_id: item.mutations[0].operator_name for item in db.work_items}
        items = [i for i in db.work_items if names[i.job_id].startswith(OPERATORS) and OF_TYPES not in names[i.job_id]]
        print(f"{len(items)} changes are possible", flush=True)
        kept = random.Random(seed).sample(items, min(number, len(items)))
        db.clear()
        db.add_work_items(kept)


def _report(session: Path) -> None:
    with use_db(session, WorkDB.Mode.open) as db:
        places = {item.job_id: item.mutations[0] for item in db.work_items}
        results = list(db.results)
    survivors = [(places[job], result) for job, result in results if not result.is_killed]
    print(f"{len(results) - len(survivors)} of {len(results)} were noticed")
    for place, result in survivors:
        where = f"{place.module_path}:{place.start_pos[0]} in {place.definition_name}"
        print(f"\n{where}, {place.operator_name}\n{result.diff}")


if __name__ == "__main__":
    main()
