"""What is built from the sources: the conda recipe asks for what pyproject.toml does, and the wheel works by itself."""

from __future__ import annotations

import importlib
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
USE = """
from importlib.metadata import metadata
from importlib.util import find_spec
from pathlib import Path

import altclust
import pandas as pd
from altclust import KDAC, find
from altclust.base.extras import EXTRA_OF

assert [name for name in EXTRA_OF if find_spec(name)] == []
assert metadata("altclust").get_all("Provides-Extra") == sorted(set(EXTRA_OF.values()))

data = altclust.datasets.moons(100, random_state=0)
model = KDAC(2, sigma=1.0, solver="ism", random_state=0).fit(data.X, data.given)
model.predict(data.X)
frame = pd.DataFrame(data.X).assign(group=data.given)
found = find(frame, given="group", n_clusters=2, significance=False)
assert "2 clusters" in str(found)
print(model.certificate_.proof)
for name in ("rows.xlsx", "rows.parquet"):
    Path(name).write_bytes(b"anything")
uses = (
    found.plot,
    lambda: found.report("view.html"),
    lambda: altclust.tables.read_table("rows.xlsx"),
    lambda: altclust.tables.read_table("rows.parquet"),
    lambda: KDAC(2).fit("rows.parquet"),
)
for use in uses:
    try:
        use()
    except altclust.InputError as error:
        print(error)
"""
# The libraries of the extras dask and torch are asked for only by tables of theirs, so that they are never missing.
SENTENCES = [
    "A proof needs flint: pip install 'altclust[proof]'.",
    "A picture needs matplotlib: pip install 'altclust[app]'.",
    "A report needs jinja2: pip install 'altclust[app]'.",
    "rows.xlsx needs openpyxl: pip install 'altclust[excel]'.",
    "rows.parquet needs pyarrow: pip install 'altclust[parquet]'.",
    "X='rows.parquet' needs pyarrow: pip install 'altclust[parquet]'.",
]


def test_the_conda_recipe_says_what_the_package_does():
    yaml = pytest.importorskip("yaml")
    whole = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project = whole["project"]
    recipe = yaml.safe_load((ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8"))
    python, *needed = recipe["requirements"]["run"]
    assert recipe["package"]["name"] == project["name"]
    assert python == f"python {project['requires-python']}"
    assert [one.replace(" ", "") for one in needed] == project["dependencies"]
    assert recipe["requirements"]["host"] == [python, "pip", *whole["build-system"]["requires"]]
    assert recipe["build"]["python"]["entry_points"] == [f"{name} = {at}" for name, at in project["scripts"].items()]
    assert recipe["about"]["summary"] == project["description"]
    assert recipe["about"]["license"] == project["license"]
    assert [recipe["about"]["license_file"]] == project["license-files"]
    for name in recipe["tests"][0]["python"]["imports"]:
        importlib.import_module(name)


@pytest.mark.slow  # everything is fetched
def test_the_wheel_and_the_sdist_install_with_base_dependencies_only(tmp_path, monkeypatch):
    monkeypatch.delenv("PYTHONPATH", raising=False)  # the command runs what is installed
    subprocess.run([sys.executable, "-m", "build", "--outdir", tmp_path, ROOT], check=True, capture_output=True)
    for file in (*tmp_path.glob("*.whl"), *tmp_path.glob("*.tar.gz")):
        folder = tmp_path / file.suffix[1:]
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        python = next(path for path in (folder / "bin/python", folder / "Scripts/python.exe") if path.exists())
        subprocess.run([python, "-m", "pip", "install", "--quiet", file], check=True)
        used = subprocess.run([python, "-I", "-c", USE], cwd=tmp_path, capture_output=True, text=True)
        assert (used.stdout.splitlines(), used.stderr) == (SENTENCES, "")
        command = subprocess.run([python.with_name("altclust")], capture_output=True, text=True)
        assert command.stderr == "altclust: The command altclust needs typer: pip install 'altclust[app]'.\n"
        (package,) = folder.rglob("site-packages/altclust")
        assert (package / "py.typed").exists()
        own, all_of_it = (
            sum(p.stat().st_size for p in at.rglob("*") if p.is_file()) for at in (package, package.parent)
        )
        print(f"{file.name}: {file.stat().st_size / 1e6:.1f} MB, installed {own / 1e6:.1f} of {all_of_it / 1e6:.0f} MB")
        assert file.stat().st_size < 2e6
