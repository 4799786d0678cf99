"""The paper's settings on the authors' files: ISM, SM and DG from the spectral start."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sklearn.preprocessing import StandardScaler
from tests.conftest import needs_files

from altclust import KDAC
from altclust.core.metrics import nmi
from altclust.datasets import load_large_gaussians, load_moons_noise
from altclust.paper import load_task

pytestmark = needs_files


def task(name):
    """The table's set, or its larger sibling of 1,000 rows."""
    if name == "LG1000":
        data = load_large_gaussians(1000)
        return replace(load_task("LG"), X=data.X, given=data.given, alternative=data.alternative)
    if name == "MoonN1000":
        data = load_moons_noise(1000)
        X = StandardScaler().fit_transform(data.X)
        X[:, 4:] /= 3
        return replace(load_task("MoonN"), X=X, given=data.given, alternative=data.alternative)
    return load_task(name)


def fit(name, solver):
    this = task(name)
    X = this.X
    model = KDAC(solver=solver, random_state=0, settings=this.settings).fit(X, this.given)
    assert (model.predict(X) == model.labels_).mean() >= 0.99
    return model, nmi(model.labels_, this.alternative)


@pytest.mark.parametrize("solver", ["ism", "auto"])
@pytest.mark.parametrize("name", ["SG", "LG", "LG1000", "Moon", "MoonN", "MoonN1000"])
def test_ism_and_the_default_find_the_alternative(name, solver):
    model, agreement = fit(name, solver)
    assert agreement >= 0.99
    assert model.overlap_ <= 0.01
    assert model.status_ == "converged"


@pytest.mark.parametrize("solver", ["ism", "auto"])
def test_faces_with_pose_given(solver):
    model, agreement = fit("Faces", solver)
    assert 0.55 <= agreement <= 0.58
    assert model.overlap_ <= 0.01


def test_the_default_is_no_worse_than_ism_on_texts():
    assert fit("WebKB", "auto")[1] >= 0.3


@pytest.mark.parametrize(
    ("name", "solver"),
    [("SG", "sm"), ("LG", "sm"), ("LG1000", "sm"), ("Moon", "sm"), ("SG", "dg"), ("LG", "dg"), ("Moon", "dg")],
)
def test_competitors_reach_the_same_labels(name, solver):
    """The paper prints DG as failing on SG; implemented without its stale kernel, it does not."""
    model, agreement = fit(name, solver)
    assert agreement >= 0.99
    assert model.overlap_ <= 0.01


@pytest.mark.parametrize(("name", "ratio"), [("LG", 35), ("MoonN", 208), ("Faces", 344), ("Moon", 828)])
def test_the_inequality_fails_at_the_papers_own_settings(name, ratio):
    model, _ = fit(name, "ism")
    certificate = model.certificate_
    assert certificate.right / certificate.left == pytest.approx(ratio, rel=0.05)
    assert "strict local minimum" in certificate.verdict
