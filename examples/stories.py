"""Three tables as people have them: penguins, customers and staff, each with one call of `altclust.find`.

Run it as ``python examples/stories.py --data FOLDER``, where the folder holds churn.csv and attrition.csv (see
docs/howto/churn.md and docs/howto/attrition.md for where to get them); the penguins are part of altclust. It prints
what was found and writes a picture and a report for each table.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import altclust
from altclust.datasets import penguins
from altclust.report.palette import COLOURS
from altclust.report.positions import positions

GIVEN = {"penguins": "species", "churn": "churn", "attrition": "Attrition"}
DROP = {"penguins": ["year"]}  # the calendar is no property of a bird
MOST_LEVELS = 6  # of a column that is drawn by its shares


def draw(result: altclust.Found) -> Figure:
    """What was given and what was found in the learnt directions; then the columns behind it in their own units."""
    figure, axes = plt.subplots(1, 4, figsize=(16, 3.8), layout="constrained")
    result.plot(axes=axes[:2])
    use = result.columns.set_index("column")["use"]
    top = [one["name"] for one in result.summary["weights"][:5]]
    measured = [name for name in top if use[name] in ("numbers", "logarithms")]
    others = [name for name in top if name not in measured]
    witnesses = [witness.column for witness in result.model.significance_.witnesses]
    draw_pair(axes[2], result, *measured[:2])
    draw_column(axes[3], result, [*witnesses, *others, *measured][0])
    return figure


def draw_pair(ax: Axes, result: altclust.Found, x: str, y: str) -> None:
    """The two columns of numbers with the largest weights, coloured by cluster; equal rows beside each other."""
    numbers = result.frame[[x, y]].apply(pd.to_numeric, errors="coerce").to_numpy(dtype=float)
    there = np.isfinite(numbers).all(axis=1)
    places, labels = positions(numbers[there]), result.labels[there]
    for code in range(result.model.n_clusters_):
        some = labels == code
        ax.scatter(places.x[some], places.y[some], 6, COLOURS[code % len(COLOURS)], alpha=0.8, linewidths=0)
    ax.set(title="In their own units", xlabel=x, ylabel=y)


def draw_column(ax: Axes, result: altclust.Found, name: str) -> None:
    """One column in each cluster: boxes of numbers, or shares of values."""
    cells, k = result.frame[name], result.model.n_clusters_
    kind = result.columns.set_index("column").loc[name, "use"]
    if kind in ("numbers", "logarithms"):
        numbers = pd.to_numeric(cells, errors="coerce").to_numpy(dtype=float)
        boxes = ax.boxplot(
            [numbers[(result.labels == code) & ~np.isnan(numbers)] for code in range(k)],
            patch_artist=True,
            showfliers=False,
            widths=0.6,
            tick_labels=[f"cluster {code}" for code in range(k)],
        )
        for code, box in enumerate(boxes["boxes"]):
            box.set(facecolor=COLOURS[code % len(COLOURS)], alpha=0.6)
    else:
        text = cells.astype(object).where(cells.notna(), "missing").astype(str)
        levels = text.value_counts().index[:MOST_LEVELS]
        for code in range(k):
            shares = [float(np.mean(text[result.labels == code] == level)) for level in levels]
            places = np.arange(len(levels)) + 0.8 * (code - (k - 1) / 2) / k
            ax.bar(places, shares, 0.8 / k, color=COLOURS[code % len(COLOURS)])
        ax.set_xticks(range(len(levels)), levels, rotation=20, fontsize=8)
        ax.yaxis.set_major_formatter("{x:.0%}")
    ax.set_title(name)


def tell(name: str, result: altclust.Found) -> None:
    """Print the result, its test, the columns that were not used by name, and the other views."""
    print(f"\n{name}, given {GIVEN[name]}: {len(result.frame):,} rows")
    print(result)
    print(result.model.significance_)
    for other in result.views[1:]:
        print(f"view {other.view.number}: {other.verdict}")
    print(result.stopped)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(GIVEN), help="stories to run; all if left out")
    parser.add_argument("--data", type=Path, default=Path("."), help="folder with churn.csv and attrition.csv")
    parser.add_argument("--out", type=Path, default=Path("stories"), help="folder for pictures and reports")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name in arguments.names:
        table = penguins(as_frame=True) if name == "penguins" else pd.read_csv(arguments.data / f"{name}.csv")
        result = altclust.find(table, given=GIVEN[name], drop=DROP.get(name, ()))
        tell(name, result)
        draw(result).savefig(arguments.out / f"story-{name}.png", dpi=75)
        result.report(arguments.out / f"{name}.html")
        print(f"picture: {arguments.out / f'story-{name}.png'}, report: {arguments.out / f'{name}.html'}")


if __name__ == "__main__":
    main()
