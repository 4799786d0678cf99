"""A library without what a person looks at: it is not imported, and where it is needed one sentence says so."""

from __future__ import annotations

import io
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from altclust import InputError, open_rows
from altclust.apps.cli import explore
from altclust.base.extras import EXTRA_OF, MissingLibrary, missing_library, needed_by
from altclust.tables import read_table

ROOT = Path(__file__).parents[2]


def extras() -> dict[str, list[Requirement]]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = {"": project["dependencies"], **project["optional-dependencies"]}
    return {extra: [Requirement(one) for one in listed] for extra, listed in asked.items()}


OPTIONAL = [one.name for extra, listed in extras().items() if extra for one in listed]


def run(code: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)


def test_the_table_of_extras_is_that_of_the_package():
    asked = {one.name.removeprefix("python-"): extra for extra, listed in extras().items() if extra for one in listed}
    assert asked == EXTRA_OF
    assert not EXTRA_OF.keys() & {one.name for one in extras()[""]}


def test_the_estimator_imports_no_extra():
    # scikit-learn and pandas look for some of them by themselves.
    found = run(
        "import sys\nfrom sklearn.cluster import SpectralClustering\nimport pandas\nbefore = set(sys.modules)\n"
        "from altclust import KDAC, TableEncoder, Views, find, tune\n"
        f"print(sorted((set(sys.modules) - before) & set({OPTIONAL})))"
    )
    assert (found.stdout.strip(), found.stderr) == ("[]", "")


def test_without_extras_all_but_the_looks_works():
    code = f"""
import sys
for name in {[one.name for one in extras()["app"]]}:
    sys.modules[name] = None  # as if it were not installed
import altclust
from altclust.datasets import moons
import pandas as pd

data = moons(60, random_state=0)
frame = pd.DataFrame(data.X).assign(group=data.given)
result = altclust.find(frame, given="group", n_clusters=2, significance=False)
assert "2 clusters" in str(result) and len(result.describe()), str(result)
assert "<p>The picture needs matplotlib" in result._repr_html_()
assert "<p>The picture needs matplotlib" in result.model._repr_html_()
uses = (
    result.plot,
    lambda: result.report("view.html"),
    result.model.plot,
    lambda: result.model.report("view.html"),
    lambda: altclust.plotting,
    lambda: altclust.report.render_comparison,
    altclust.datasets.load_flower,
)
for use in uses:
    try:
        use()
    except altclust.InputError as error:
        assert isinstance(error, ImportError)
        print(error)
from altclust.__main__ import main
main()
"""
    found = run(code)
    assert found.stdout.splitlines() == [
        f"{use}: pip install 'altclust[app]'."
        for use in (
            "A picture needs matplotlib",
            "A report needs jinja2",
            "A picture needs matplotlib",
            "A report needs jinja2",
            "A picture needs matplotlib",
            "A report needs jinja2",
            "load_flower needs matplotlib",
        )
    ], found.stderr
    assert found.stderr == "altclust: The command altclust needs typer: pip install 'altclust[app]'.\n"
    assert found.returncode == 1


@pytest.mark.parametrize(
    ("name", "library", "extra"),
    [("a.parquet", "pyarrow", "parquet"), ("a.feather", "pyarrow", "parquet"), ("a.xlsx", "openpyxl", "excel")],
)
def test_a_file_whose_reader_is_missing(name, library, extra, monkeypatch):
    loaded = [module for module in sys.modules if module.partition(".")[0] == library]
    for module in [*loaded, library]:
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingLibrary) as caught:
        read_table(io.BytesIO(b"anything"), name)
    assert str(caught.value) == f"{name} needs {library}: pip install 'altclust[{extra}]'."


def test_rows_in_a_file_whose_reader_is_missing(tmp_path, monkeypatch):
    path = tmp_path / "rows.parquet"
    path.write_bytes(b"anything")
    for module in [module for module in sys.modules if module.partition(".")[0] == "pyarrow"] + ["pyarrow"]:
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingLibrary, match=r"rows.parquet' needs pyarrow: pip install 'altclust\[parquet\]'\.$"):
        open_rows(path)


@pytest.mark.parametrize("library", ["streamlit", "plotly"])
def test_a_page_without_its_libraries(library, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(InputError, match=rf"^`altclust explore` needs {library}: pip install 'altclust\[app\]'\.$"):
        explore.explore()


def test_other_errors_stay_what_they_are():
    with pytest.raises(AttributeError), needed_by("A report"):
        raise AttributeError
    with pytest.raises(ImportError, match="cannot import name") as caught, needed_by("A report"):
        from json import no_such_name  # noqa: F401
    assert not isinstance(caught.value, MissingLibrary)
    unknown = missing_library("A report", ModuleNotFoundError(name="some.part"))
    assert str(unknown) == "A report needs some: pip install some."
