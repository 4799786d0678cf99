"""Every figure leaves a picture, its numbers and a section; the numbers are those that the documentation quotes."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.image import imread
from tests.conftest import needs_files

from altclust.datasets import moons
from altclust.paper.figures import convergence, figure1, figure2, figure3, hsic, hyperparameters, theorem
from altclust.paper.figures.canvas import number, plain


def check(section, out):
    """The files are there, whole and alone; the table is rectangular."""
    assert sorted(path.name for path in out.iterdir()) == [f"{section.name}.json", f"{section.name}.png"]
    assert list(section.pictures) == [out / f"{section.name}.png"]
    height, width = imread(section.pictures[0]).shape[:2]
    assert min(height, width) >= 600
    assert json.loads((out / f"{section.name}.json").read_text(encoding="utf-8")) == section.figures
    assert section.rows
    assert all(len(row) == len(section.columns) for row in section.rows)
    assert section.title
    assert section.caption.endswith(".")
    return section.figures


def test_figure1_on_generated_rows(tmp_path):
    figures = check(figure1.make(tmp_path / "new" / "folder", moons(100, random_state=0)), tmp_path / "new" / "folder")
    assert figures["cross_table"] == [[25, 25], [25, 25]]


@needs_files
def test_figure1(tmp_path):
    assert check(figure1.make(tmp_path), tmp_path)["rows"] == 400


def test_hsic_sees_what_correlation_misses(tmp_path):
    figures = check(hsic.make(tmp_path), tmp_path)
    for name in ("parabola", "circle", "wave", "cross"):
        assert figures[name]["hsic_p"] <= 0.01
        assert figures[name]["correlation_p"] > 0.05
    for name in ("four clusters", "independent"):
        assert figures[name]["hsic_p"] > 0.05


@needs_files
@pytest.mark.slow
def test_figure2(tmp_path):
    figures = check(figure2.make(tmp_path), tmp_path)
    for name in ("SG", "LG", "Moon", "MoonN"):
        assert figures[name]["nmi"] == pytest.approx(1)
        assert figures[name]["novelty"] == pytest.approx(0, abs=1e-3)
    assert figures["Flower"]["nmi"] is None
    assert figures["Faces, pose given"]["nmi"] == pytest.approx(0.57, abs=0.01)
    assert figures["Faces, person given"]["nmi"] < 0.15


@needs_files
def test_figure3_measures_every_way(tmp_path):
    figures = check(figure3.make(tmp_path, (64, 128)), tmp_path)
    assert all(set(times) == {"64", "128"} for times in figures["seconds"].values())
    assert not any(figures["skipped"].values())


@needs_files
@pytest.mark.slow
def test_figure3_grows_at_most_linearly_by_default(tmp_path):
    figures = check(figure3.make(tmp_path), tmp_path)
    assert figures["slopes"][figure3.OURS]["all"] <= 1.2
    assert figures["slopes"][figure3.OURS]["tall"] <= 1.2
    assert all(fit["status"] == "converged" for fit in figures["fits"].values())


def test_slope_of_a_power():
    assert figure3.slope({d: 1e-6 * d**2.5 for d in (64, 256, 1024)}) == pytest.approx(2.5)
    assert np.isnan(figure3.slope({64: 1.0}))


@needs_files
@pytest.mark.parametrize(
    "names", [("SG", "LG", "MoonN", "Flower"), pytest.param(tuple(convergence.SETS), marks=pytest.mark.slow)]
)
def test_convergence(tmp_path, names):
    figures = check(convergence.make(tmp_path, names), tmp_path)
    for both in figures.values():
        assert both["safeguarded"]["rises"] == 0
        assert both["safeguarded"]["iterations_to_rest"] is not None
    if "WebKB" in names:
        assert figures["WebKB"]["paper's loop"]["iterations_to_rest"] is None
        assert figures["WebKB"]["paper's loop"]["rises"] > 10


@needs_files
@pytest.mark.parametrize(
    "names", [("LG", "MoonN", "Faces", "Moon", "Flower"), pytest.param(tuple(theorem.SETS), marks=pytest.mark.slow)]
)
def test_theorem(tmp_path, names):
    figures = check(theorem.make(tmp_path, names), tmp_path)
    for name in ("LG", "MoonN", "Faces", "Moon", "Flower"):
        assert figures[name]["ratio"] == pytest.approx(figures[name]["authors_ratio"], rel=0.05)
    for certificate in figures.values():
        assert not certificate["theorem_holds"]
        assert certificate["smallest_curvature"] > 0


@pytest.mark.slow
@needs_files
def test_the_rule_on_one_set(tmp_path):
    figures = check(hyperparameters.make(tmp_path, ("SG",)), tmp_path)["SG"]
    assert figures["chosen"][hyperparameters.PRINTED]["ratio"] > 1
    chosen = figures["chosen"][hyperparameters.WIDE]
    assert chosen["ratio"] <= 1
    assert chosen["sigma"] > figures["median_distance"]
    assert chosen["quality"] < 0.1


@needs_files
@pytest.mark.slow
def test_the_rule_chooses_flat_kernels(tmp_path):
    figures = check(hyperparameters.make(tmp_path), tmp_path)
    for these in figures.values():
        assert these["chosen"][hyperparameters.WIDE]["quality"] < 0.1
        assert these["chosen"][hyperparameters.PRINTED]["ratio"] > 5
    assert figures["Moon"]["chosen"][hyperparameters.RULE]["nmi"] < 0.5
    assert figures["Moon"]["chosen"][hyperparameters.PRINTED]["nmi"] == pytest.approx(1)


def test_the_rule_prefers_quality_among_the_satisfied():
    point = hyperparameters.Point(1.0, 1.0, 2, 0.5, 2.0, 2, 0.0, 0.0, True)
    near, far = replace(point, ratio=1.5), replace(point, ratio=9.0, quality=2.0)
    assert hyperparameters.choose([far, near, point]) is near
    good, poor = replace(point, ratio=0.9, quality=0.3), replace(point, ratio=0.1, quality=0.2)
    assert hyperparameters.choose([far, poor, near, good]) is good


def test_numbers_as_json_and_as_cells():
    assert plain({1: np.array([1.5, np.nan]), "b": (np.int64(2), np.bool_(True))}) == {"1": [1.5, None], "b": [2, True]}
    assert [number(value) for value in (0.0, 0.123456, 12345.6, 1.5e6, 2e-5, None)] == [
        "0",
        "0.123",
        "12,346",
        "1.50e+06",
        "2.00e-05",
        "–",
    ]
