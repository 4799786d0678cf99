"""The results of a run: the table with new columns, directions, figures, models, pictures and the report."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ...base.errors import InputError
from ...core.solvers import Status
from ...models.kdac import KDAC
from ...models.study import FIRST, Study, view_name
from ...models.views import View
from ...report import write_report
from ...report.sentences import number
from ...tables import Recipe
from .files import writing
from .screen import say
from .task import Task, UsageError, command_line

FILES = r"table\.\w+|directions\.csv|figures\.json|report\.html|alternative(_\d+)?\.(npz|png)"
VIEWS = r"alternative(_\d+)?"
PARAMETERS = ("n_clusters", "n_components", "sigma", "novelty_weight", "subtract_given")


Described = tuple[dict[str, Any], dict[str, Any]]  # the summary of a view, and its figures


def write_results(task: Task, views: Sequence[View], described: Iterable[Described], stopped: str) -> dict[str, Any]:
    """Write everything, and return the figures; stopped says why there are no more views."""
    study, names = task.study, [view_name(view.number) for view in views]
    columns = {name: view.labels for name, view in zip(names, views, strict=True) if view.in_table}
    new = pd.DataFrame(columns, index=study.X.index)
    if study.first is not None:
        new.insert(0, FIRST, study.first)
    for view in views:
        model = view.model
        if model.status_ not in (Status.CONVERGED, Status.CANCELLED):
            told = f"the optimisation stopped before it converged, after {model.n_iter_} rounds; see the verdict."
            say(f"{view_name(view.number)}: {told}", style="yellow")
    labels = [view.labels for view in views]
    summaries, of_views = zip(*described, strict=True)
    figures = {
        "altclust": version("altclust"),
        "command": command_line(),
        "table": task.table.name,
        "rows": len(study.X),
        "features": study.X.shape[1],
        "given": [] if study.given is None else list(study.given.columns),
        "views": list(of_views),
        "stopped": stopped,
        "recipe": study.recipe.to_dict(),
    }
    with writing(task, FILES) as files:
        for i, (name, view) in enumerate(zip(names, views, strict=True)):
            files.write(f"{name}.npz", view.model.save)
            files.write(f"{name}.png", partial(_picture, model=view.model, study=study, before=labels[:i]))
        directions = [_directions(name, view.model) for name, view in zip(names, views, strict=True)]
        files.write_csv("directions.csv", pd.concat(directions, ignore_index=True))
        files.write("report.html", lambda path: write_report(path, *summaries))
        files.write_json("figures.json", figures)
        files.write_table(task.table, new)
    return figures


def read_results(folder: Path) -> tuple[dict[str, Any], Recipe, dict[str, KDAC]]:
    """The figures, the recipe and the models that `write_results` wrote to a folder."""
    try:
        figures = json.loads((folder / "figures.json").read_text(encoding="utf-8"))
        recipe = Recipe.from_dict(figures["recipe"])
        names = [view["name"] for view in figures["views"]]
        texts = [figures["table"], *figures["given"], *names]
        if not all(isinstance(text, str) for text in texts) or not isinstance(figures["given"], list):
            raise ValueError("table, given and names should be text")
        if not all(re.fullmatch(VIEWS, name) for name in names):  # they become names of files in this folder
            raise ValueError("a view should be named as `write_results` names it")
        models = {name: KDAC.load(folder / f"{name}.npz") for name in names}
        if any(list(getattr(model, "feature_names_in_", ())) != recipe.names for model in models.values()):
            raise ValueError("the models are of other columns")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        why = f": {error}" if isinstance(error, InputError) else "."
        raise UsageError(f"{folder} holds no complete results of `altclust find`{why}") from error
    return figures, recipe, models


def _weights(view: View) -> list[tuple[str, float]]:
    """The columns and their weights, the heaviest first."""
    pairs = zip(map(str, view.model.feature_names_in_), map(float, view.model.feature_weights_), strict=True)
    return sorted(pairs, key=lambda pair: -pair[1])


def view_figures(view: View, summary: dict[str, Any], why: str | None) -> dict[str, Any]:
    """The figures of a view; why says why these parameters, where the model does not hold the reason."""
    model, found = view.model, view.model.fitted_.certificate
    certificate = {} if found is None else asdict(found)
    tested = {key: value for key, value in summary["significance"].items() if key != "reference"}
    return {
        "name": view_name(view.number),
        "clusters": view.n_clusters,
        "cluster_sizes": np.bincount(view.labels, minlength=view.n_clusters).tolist(),
        "overlap": number(view.overlap),
        "overlaps": view.overlaps,
        "variants": list(view.variants),
        "quality": model.quality_,
        "reasons": why or summary["reasons"],
        "feature_weights": dict(_weights(view)),
        "cost": model.cost_,
        "parameters": {key: getattr(model, f"{key}_") for key in PARAMETERS},
        "rounds": model.n_iter_,
        "status": model.status_,
        "engine": model.engine_,
        "approximation_error": model.approximation_error_,
        "certificate": {key: number(v) if isinstance(v, float) else v for key, v in certificate.items()} or None,
        "significance": None if view.significance is None else tested,
        "badge": summary["headline"]["badge"],
        "verdict": summary["headline"]["verdict"],
        "advice": summary["headline"]["advice"],
        "rule": summary["rule"] and summary["rule"]["sentence"],
        "agreement": summary["agreement"],
        "left_out": summary["left_out"],
        "descriptions": [cluster["sentence"] for cluster in summary["clusters"]],
    }


def _directions(name: str, model: KDAC) -> pd.DataFrame:
    """One row per feature: its weight, and its coefficient in every direction."""
    frame = pd.DataFrame({"view": name, "feature": model.feature_names_in_, "weight": model.feature_weights_})
    return frame.assign(**{f"direction_{i}": row for i, row in enumerate(model.components_, 1)})


def _picture(path: Path, model: KDAC, study: Study, before: list[np.ndarray]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from ...report.plotting import plot_views

    given = None if study.given is None else study.given.iloc[:, 0]
    figure = plot_views(study.positions(model, before), given, model.labels_)[0].figure
    figure.savefig(path, dpi=150)
    plt.close(figure)
