"""What is built from the sources: the conda recipe asks for what pyproject.toml does, and the wheel works by itself."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
USE = """
from altclust import KDAC
from altclust.datasets import moons
data = moons(100, random_state=0)
KDAC(2, sigma=1.0, random_state=0).fit(data.X, data.given).predict(data.X)
"""


def test_the_conda_recipe_asks_for_what_the_package_does():
    yaml = pytest.importorskip("yaml")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    recipe = yaml.safe_load((ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8"))
    python, *needed = recipe["requirements"]["run"]
    assert python == f"python {project['requires-python']}" == recipe["requirements"]["host"][0]
    assert [one.replace(" ", "") for one in needed] == project["dependencies"]
    assert recipe["about"]["summary"] == project["description"]
    assert recipe["about"]["license"] == project["license"]


@pytest.mark.slow  # everything is fetched
def test_the_wheel_and_the_sdist_install_with_base_dependencies_only(tmp_path):
    subprocess.run([sys.executable, "-m", "build", "--outdir", tmp_path, ROOT], check=True, capture_output=True)
    for file in (*tmp_path.glob("*.whl"), *tmp_path.glob("*.tar.gz")):
        folder = tmp_path / file.suffix[1:]
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        python = next(path for path in (folder / "bin/python", folder / "Scripts/python.exe") if path.exists())
        subprocess.run([python, "-m", "pip", "install", "--quiet", file], check=True)
        subprocess.run([python, "-I", "-c", USE], check=True)
        (package,) = folder.rglob("site-packages/altclust")
        assert (package / "py.typed").exists()
        own, all_of_it = (
            sum(p.stat().st_size for p in at.rglob("*") if p.is_file()) for at in (package, package.parent)
        )
        print(f"{file.name}: {file.stat().st_size / 1e6:.1f} MB, installed {own / 1e6:.1f} of {all_of_it / 1e6:.0f} MB")
        assert file.stat().st_size < 2e6
