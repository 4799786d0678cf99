"""Any table, any labels, any parameters: a finite, orthonormal, reproducible result, or a sentence of our own.

A hundred cases by default, the same in every run, and 500 by `make nightly`, which takes 2,000 others as well, from a
seed that it prints. ALTCLUST_CASES is another number of cases, ALTCLUST_SEED the seed of a run that should come again.
"""

from __future__ import annotations

import faulthandler
import inspect
import os
import random
import signal
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from tests.conftest import kdac, some
from tests.trust.strategies import (
    BAD_VALUES,
    BASELINES,
    PLAIN,
    Labels,
    Table,
    Values,
    arguments,
    labels,
    ordinary_tables,
    tables,
    values,
)

from altclust import ISM, KDAC, InputError, baselines, tune

SLOWEST = 120  # seconds that a case may take, on a machine that does other things as well
FIXED = {"n_clusters": 2, "n_components": 1, "sigma": "auto", "init": "random", "n_init": 1, "max_iter": 8}


@dataclass(frozen=True)
class Case:
    """A fit, and the new rows that it is asked about afterwards."""

    table: Table = field(default_factory=Table)
    labels: Labels = field(default_factory=Labels)
    values: Values = field(default_factory=Values)
    new: Table | None = None
    method: str = "KDAC"
    arguments: dict[str, Any] = field(default_factory=dict)


@contextmanager
def watched(case: Case) -> Iterator[None]:
    """End a case that hangs, by an error where Python is at work and by a stack trace where it is not."""

    def give_up(*_: Any) -> None:
        raise TimeoutError(f"{case} took more than {SLOWEST} seconds")

    alarm = getattr(signal, "SIGALRM", None)
    before = signal.signal(alarm, give_up) if alarm else None
    if alarm:
        signal.alarm(SLOWEST)
    faulthandler.dump_traceback_later(3 * SLOWEST, exit=True, file=sys.__stderr__)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # numpy's RuntimeWarning above all: something was not finite
            warnings.simplefilter("ignore", UserWarning)  # ours, in words
            yield
    finally:
        faulthandler.cancel_dump_traceback_later()
        if alarm:
            signal.alarm(0)
            signal.signal(alarm, before)


def is_a_sentence(message: str, *names: str) -> bool:
    """Whether an error says in one line which argument it is about."""
    line = "\n" not in message and len(message) < 1000 and message.endswith((".", "…"))
    return line and any(name in message for name in names)


def check_model(model: KDAC, n: int, given: Any) -> dict[str, Any]:
    """What every fitted KDAC owes; returns what must come out again."""
    k, q = model.n_clusters_, model.n_components_
    assert model.labels_.shape == (n,)
    assert model.labels_.dtype.kind == "i"
    assert model.labels_.min() >= 0
    assert model.labels_.max() < k
    assert model.components_.shape == (q, model.n_features_in_)
    if model.settings_.whitening == 0:
        assert np.abs(model.components_ @ model.components_.T - np.eye(q)).max() < 1e-8
    assert np.isfinite([model.quality_, model.cost_, model.sigma_, model.novelty_weight_, *model.mean_]).all()
    assert np.isnan(model.overlap_) if given is None else 0 <= model.overlap_ <= 1 + 1e-9
    assert -1e-6 <= model.quality_ <= k + 1e-6
    assert np.abs(model.feature_weights_.sum() - 1) < 1e-6
    assert model.feature_weights_.min() >= 0
    assert np.isfinite(model.history_["value"]).all()
    assert np.isfinite(model.certificate_.residual)
    assert is_a_sentence(model.certificate_.verdict, "W", "tationary", "minimum", "saddle")
    return {name: getattr(model, name) for name in ("labels_", "components_", "cost_", "sigma_", "mean_")}


def check_new_rows(model: KDAC, X: Any, rows: int | None, folder: Any) -> dict[str, Any]:
    """Labels in range and finite projections, the same from the model that was saved and loaded."""
    labels, projected = model.predict(X), model.transform(X)
    assert labels.shape == (len(projected),)
    assert rows is None or len(labels) == rows
    assert labels.min() >= 0
    assert labels.max() < model.n_clusters_
    assert projected.shape[1] == model.n_components_
    assert np.isfinite(projected).all()
    path = os.path.join(folder, "model.npz")
    model.save(path)
    loaded = KDAC.load(path)
    assert np.array_equal(loaded.predict(X), labels)
    assert np.array_equal(loaded.transform(X), projected)
    assert loaded.certificate_.verdict == model.certificate_.verdict
    return {"predicted": labels, "projected": projected}


def fit(case: Case, folder: Any, fixed: dict[str, Any]) -> dict[str, Any]:
    """Fit and ask, by KDAC."""
    X = case.table.build()
    y = case.labels.build(X, case.table.n)
    model = kdac(**(fixed | {"random_state": 0} | case.values.build() | case.arguments)).fit(X, y)
    n = len(model.labels_)
    found = check_model(model, n, y)
    if case.new is not None:
        found |= check_new_rows(model, case.new.build(), None, folder)
    elif case.table.kept in PLAIN:
        found |= check_new_rows(model, X, n, folder)
    return found


def fit_baseline(case: Case, folder: Any) -> dict[str, Any]:
    """Fit one of the other methods, and ask it for new rows if it can tell."""
    X = case.table.build()
    y = case.labels.build(X, case.table.n)
    model = getattr(baselines, case.method)(**({"random_state": 0} | case.arguments)).fit(X, y)
    assert model.labels_.dtype.kind == "i"
    assert set(model.labels_) == set(range(model.n_clusters_))
    assert np.isnan(model.overlap_) if y is None else 0 <= model.overlap_ <= 1 + 1e-9
    found = {"labels": model.labels_}
    for ask in ("predict", "transform"):
        if hasattr(model, ask) and case.table.kept in PLAIN:
            found[ask] = getattr(model, ask)(X)
            assert np.isfinite(found[ask]).all()
    return found


def fit_views(case: Case, folder: Any) -> dict[str, Any]:
    """View after view, or the search alone."""
    X = case.table.build()
    y = case.labels.build(X, case.table.n)
    if case.method == "tune":
        tuning = tune(X, y, **({"n_clusters": 2, "n_components": 1} | case.arguments))
        assert np.isfinite(tuning.settings.sigma)
        return {"W": tuning.settings.init, "sigma": tuning.settings.sigma}
    found = kdac(**FIXED | {"random_state": 0} | case.arguments).fit(X, y).views_
    for view in found:
        check_model(view.model, case.table.n, y if view.number == 1 else 0)
    predicted = [view.model.predict(X) for view in found] if case.table.kept in PLAIN else []
    return {"labels": [view.labels for view in found], "predicted": predicted, "why": found.stopped}


def examine(case: Case, work: Callable[[Case, Any], dict[str, Any]], folder: Any) -> str:
    """Do it twice: the same results, or the same sentence."""
    answers = []
    names = {"X", "given", *BAD_VALUES, *case.arguments}
    for _ in range(2):
        with watched(case):
            try:
                answers.append(work(case, folder))
            except (InputError, NotFittedError) as error:
                answers.append(str(error))
    first, second = answers
    if isinstance(first, str):
        assert is_a_sentence(first, *names), first
        assert first == second
        return "refused"
    assert not isinstance(second, str), second
    for name, value in first.items():
        assert np.array_equal(value, second[name]), name
    return "results"


def automatic(case: Case, folder: Any) -> dict[str, Any]:
    """Everything left open."""
    return fit(case, folder, {})


def with_fixed(case: Case, folder: Any) -> dict[str, Any]:
    """The quickest of fits."""
    return fit(case, folder, FIXED)


@dataclass(frozen=True)
class Area:
    """A share of all cases: their strategy and what is done with them."""

    share: float
    cases: st.SearchStrategy[Case]
    work: Callable[[Case, Any], dict[str, Any]]


few_rows = st.one_of(ordinary_tables(15), tables(most_rows=15))  # for what takes longer
few_values = values(most_bad=0)


def case_of_method(method: str) -> st.SearchStrategy[Case]:
    """Any table, labels and arguments of one of the other methods."""
    called = {"views": KDAC, "tune": tune}.get(method) or getattr(baselines, method)
    names = [name for name in inspect.signature(called).parameters if name not in ("X", "given")]
    return st.builds(Case, few_rows, labels(), method=st.just(method), arguments=arguments(names))


AREAS = {
    "tables": Area(0.27, st.builds(Case, tables(), labels(good=True), few_values), with_fixed),
    "labels": Area(0.2, st.builds(Case, ordinary_tables(), labels(), few_values), with_fixed),
    "parameters": Area(0.23, st.builds(Case, ordinary_tables(), labels(good=True), values()), with_fixed),
    "new rows": Area(0.12, st.builds(Case, ordinary_tables(30), labels(good=True), few_values, tables()), with_fixed),
    "other methods": Area(0.14, st.sampled_from(BASELINES).flatmap(case_of_method), fit_baseline),
    "automatic": Area(0.02, st.builds(Case, few_rows, labels(good=True)), automatic),
    "views": Area(0.02, st.sampled_from(["views", "tune"]).flatmap(case_of_method), fit_views),
}


def try_many(area: Area, cases: int, folder: Any, chosen: int | None) -> Counter[str]:
    """Draw cases and examine each; the same ones every time unless a seed was chosen."""
    counts: Counter[str] = Counter()

    @settings(
        max_examples=max(1, round(area.share * cases)),
        derandomize=chosen is None,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
        print_blob=False,
    )
    @given(case=area.cases)
    def check(case: Case) -> None:
        counts[examine(case, area.work, folder)] += 1

    (check if chosen is None else seed(chosen)(check))()
    return counts


def report(name: str, counts: Counter[str]) -> None:
    """Say how it went, and refuse a strategy that only makes tables to refuse."""
    print(f"{name}: {counts['results']} cases with results, {counts['refused']} refused")
    assert 2 * counts["results"] >= counts["refused"]  # about two of three, but some areas have few cases


@pytest.mark.parametrize("name", AREAS)
def test_any_case(name, tmp_path):
    report(name, try_many(AREAS[name], int(os.environ.get("ALTCLUST_CASES", some(100, 500))), tmp_path, None))


@pytest.mark.slow
@pytest.mark.parametrize("name", AREAS)
def test_any_case_at_random(name, tmp_path):
    chosen = int(os.environ.get("ALTCLUST_SEED") or random.SystemRandom().randrange(2**32))
    print(f"ALTCLUST_SEED={chosen}")
    report(name, try_many(AREAS[name], int(os.environ.get("ALTCLUST_CASES", 2_000)), tmp_path, chosen))


HALVES = Labels("whole numbers")
# What once ended in a bare error, in a warning of numpy's or, worse, in a result: the case, how it is asked, its end.
FOUND = {
    "one row": (Case(Table(n=1)), with_fixed, "refused"),
    "masked cells, which were read": (Case(Table(kept="masked")), with_fixed, "refused"),
    "times, which were counted": (Case(Table(kept="times")), with_fixed, "refused"),
    "numbers beyond any float": (Case(Table(kept="huge objects")), with_fixed, "refused"),
    "a table that raises": (Case(Table(kept="hostile")), with_fixed, "refused"),
    "an outlier that drowned all distances": (Case(Table(38, 5, "outlier", seed=38)), with_fixed, "refused"),
    "the same in a search": (Case(Table(16, 3, "outlier")), automatic, "refused"),
    "float32 whose squares overflow": (Case(Table(20, 3, scale=1e20, kept="float32")), with_fixed, "results"),
    "float32 whose squares vanish": (Case(Table(20, 3, scale=1e-20, kept="float32")), with_fixed, "results"),
    "new rows whose squares overflow": (Case(new=Table(scale=1e300)), with_fixed, "refused"),
    "new float32 rows far away": (Case(new=Table(scale=1e30, kept="float32")), with_fixed, "results"),
    "components that collapsed": (
        Case(Table(12, 3, "noise", kept="uint64", seed=605), Labels("Fortran columns")),
        automatic,
        "results",
    ),
    "progress that is no function": (Case(method="tune", arguments={"progress": 1}), fit_views, "refused"),
    "labels that raise when compared": (Case(labels=Labels("raises always")), with_fixed, "refused"),
    "labels that raise when hashed": (Case(labels=Labels("raises when hashed")), with_fixed, "refused"),
    "labels that cannot be shown": (Case(labels=Labels("unhashable that cannot be shown")), with_fixed, "refused"),
    "labels with fields": (Case(labels=Labels("structured")), with_fixed, "refused"),
    "labels in a ragged dictionary": (Case(labels=Labels("ragged dictionary")), with_fixed, "refused"),
    "labels in a dictionary of numbers": (Case(labels=Labels("dictionary of numbers")), with_fixed, "refused"),
    "labels without a column": (Case(labels=Labels("no columns")), with_fixed, "refused"),
    "no labels at all": (Case(labels=Labels("empty")), with_fixed, "refused"),
    "half-precision weight": (
        Case(labels=HALVES, arguments={"novelty_weight": np.float16(2)}),
        with_fixed,
        "results",
    ),
    "eight-bit number of clusters": (
        Case(labels=HALVES, arguments={"n_clusters": np.uint8(8)}),
        with_fixed,
        "results",
    ),
    "width that JSON does not know": (Case(arguments={"sigma": np.longdouble(2)}), with_fixed, "results"),
    "width in single precision": (Case(arguments={"sigma": np.float32(2)}), with_fixed, "results"),
    "width beyond any float": (Case(arguments={"sigma": 10**400}), with_fixed, "refused"),
    "a sample beyond any float": (Case(arguments={"sample_size": 10**400}), with_fixed, "results"),
    "start of huge numbers": (Case(arguments={"init": [[10**400]] * 3}), with_fixed, "refused"),
    "complex start, of which half was dropped": (Case(arguments={"init": np.eye(3, 1) * 1j}), with_fixed, "refused"),
    "solver without a tolerance": (Case(arguments={"solver": ISM(tol=float("nan"))}), with_fixed, "refused"),
    "solver with half a step": (Case(arguments={"solver": ISM(max_iter=1.5)}), with_fixed, "refused"),
    "no process": (Case(arguments={"n_jobs": 0}), automatic, "refused"),
    "kernel of another method": (Case(method="NACI", arguments={"sigma": 1e-300}), fit_baseline, "refused"),
    "weight of another method": (
        Case(labels=HALVES, method="MinCEntropy", arguments={"novelty_weight": 1e308}),
        fit_baseline,
        "refused",
    ),
    "a search without a weight": (Case(method="tune", arguments={"novelty_weight": "auto"}), fit_views, "refused"),
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow if FOUND[name][1] is automatic else ()) for name in FOUND],
)
def test_what_was_found_before(name, tmp_path):
    case, work, end = FOUND[name]
    assert examine(case, work, tmp_path) == end


def test_a_solver_that_does_not_know_its_method():
    with pytest.raises(InputError, match="eigen='magic' is not a method: choose among auto"):
        ISM(eigen="magic")
