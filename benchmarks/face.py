"""The cost of reading a table compared with pandas, and of a report and a warm refit compared with a fit.

Everything runs alternately in one process, and the ratios matter.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table

from altclust import KDAC
from altclust.report import render, summarise
from altclust.tables import TableEncoder, learn_recipe, read_table


def customers(n: int) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    known, hidden = rng.integers(0, 3, (2, n))
    noise = rng.standard_normal((n, 6))
    noise[:, 0] += 4 * known
    noise[:, 1] += 4 * hidden
    return pd.DataFrame(noise, columns=list("abcdef")).assign(segment=np.array(["x", "y", "z"])[known])


def seconds(run: Callable[[], Any], times: int) -> float:
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def refit(model: KDAC, X: pd.DataFrame, given: pd.Series, weight: float) -> KDAC:
    """The fit that a move of the web app's slider triggers."""
    settings = replace(model.settings_, novelty_weight=weight, pull=None, subspace=None, init=model.components_.T)
    return KDAC(settings=settings, random_state=0).fit(X, given)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000, help="rows of the table that is read and reported on")
    parser.add_argument("--times", type=int, default=5)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    table = Table(
        "what", "seconds", "beside", "seconds", "ratio", title=f"{asked.rows:,} rows, medians of {asked.times}"
    )

    def row(what: str, cost: float, beside: str, base: float) -> None:
        table.add_row(what, f"{cost:.2f}", beside, f"{base:.2f}", f"{cost / base:.2f}")

    frame = customers(asked.rows)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "customers.csv"
        frame.to_csv(path, index=False)
        plain = seconds(lambda: pd.read_csv(path), asked.times)
        row("read_table", seconds(lambda: read_table(path), asked.times), "pandas.read_csv", plain)
        read = read_table(path).frame
    row(
        "learn_recipe and apply",
        seconds(lambda: learn_recipe(read, TableEncoder(), {"segment"}).apply(read), asked.times),
        "pandas.read_csv",
        plain,
    )

    X, given = frame.drop(columns="segment"), frame["segment"]
    fixed = {"n_clusters": 3, "n_components": 2, "sigma": 1.0, "random_state": 0}
    model = KDAC(**fixed).fit(X, given)
    fit = seconds(lambda: KDAC(**fixed).fit(X, given), asked.times)
    model.certificate_  # noqa: B018  (its cost belongs to the fit, not to the report)
    page = seconds(lambda: render(summarise(model, X, given)), asked.times)
    size = len(render(summarise(model, X, given)))
    row("report", page, "a fit with everything fixed", fit)

    small = customers(1000)
    X, given = small.drop(columns="segment"), small["segment"]
    searched = KDAC(random_state=0).fit(X, given)
    cold = seconds(lambda: KDAC(random_state=0).fit(X, given), 1)
    warm = max(
        seconds(lambda weight=weight: refit(searched, X, given, weight), asked.times) for weight in (0.1, 1, 10, 100)
    )
    row("slowest warm refit, 1,000 rows", warm, "an automatic fit", cold)
    Console().print(table)
    Console().print(f"The report takes {size / 1e6:.2f} MB.")


if __name__ == "__main__":
    main()
