"""A first example: the Gaussians of the moon data are given; find the other clustering.

Run it with ``make demo``; it prints the results and writes a picture and a report.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import pandas as pd
from rich.console import Console
from rich.table import Table
from sklearn.preprocessing import StandardScaler

from altclust import KDAC
from altclust.core.metrics import nmi
from altclust.datasets import moons


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("demo"), help="folder for the picture")
    out = parser.parse_args().out

    data = moons(400, random_state=0)
    X = pd.DataFrame(StandardScaler().fit_transform(data.X), columns=list(data.feature_names))
    model = KDAC(random_state=0).fit(X, pd.Series(data.given, name="gaussians"))

    table = Table(title="400 points in four columns; the two Gaussians were given", show_header=False)
    table.add_row("agreement with the hidden moons", f"{nmi(model.labels_, data.alternative):.3f}  (NMI; 1 is perfect)")
    table.add_row("agreement with what was given", f"{model.overlap_:.3f}  (NMI; 0 is independent)")
    table.add_row("quality", f"{model.quality_:.3f}  (HSIC; at most 2)")
    weights = zip(data.feature_names, model.feature_weights_, strict=True)
    table.add_row("main features", ", ".join(f"{name} {weight:.0%}" for name, weight in weights))
    table.add_row("why these parameters", model.tuning_.reasons)
    table.add_row("rounds", f"{model.n_iter_}, {model.status_}")
    table.add_row("solver check", model.certificate_.verdict)
    console = Console()
    console.print(table)

    out.mkdir(parents=True, exist_ok=True)
    model.plot()[0].figure.savefig(out / "moon.png", dpi=150)
    model.report(out / "report.html", name="moons")
    console.print(f"Open {out / 'report.html'} in a browser; {out / 'moon.png'} shows both views.", markup=False)


if __name__ == "__main__":
    main()
