"""The results of a run: the table with new columns, directions, figures, models, pictures and the report."""

from __future__ import annotations

import json
import re
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
from ...report import summarise, write_report
from ...report.agreement import agreement
from ...report.labelling import alternative_labelling, collapse
from ...report.menu import chosen_number, reasons
from ...report.sentences import number
from ...report.summary import describe_clusters
from ...search.significance import Significance
from ...tables import Recipe
from ...tables.readable import readable
from .files import writing
from .screen import say
from .task import Task, UsageError, command_line

SHARED_FILES = r"table\.\w+|directions\.csv|figures\.json|report\.html"
FIND_FILES = rf"{SHARED_FILES}|alternative\.(npz|png)"
VIEWS_FILES = rf"{SHARED_FILES}|view_\d+\.(npz|png)"
FILES = rf"{FIND_FILES}|{VIEWS_FILES}"  # a run of one of both commands replaces that of the other
VIEWS = r"alternative|view_\d+"
PARAMETERS = ("n_clusters", "n_components", "sigma", "novelty_weight", "subtract_given")


def write_results(
    task: Task,
    views: dict[str, KDAC],
    *,
    first: np.ndarray | None = None,
    why: str | None = None,
    stopped: str | None = None,
    rejected: KDAC | None = None,
    all_views: bool = False,
) -> dict[str, Any]:
    """Write everything, and return the figures.

    Parameters
    ----------
    task : Task
    views : dict of str to KDAC
        The models by the names of the columns that they add; each differs from what is given and from those before it.
    first : int array, shape (n,), optional
        The clustering that was found first, where none was given.
    why : str, optional
        Why these parameters, where the model does not hold the reason.
    stopped : str, optional
        Why there are no more views.
    rejected : KDAC, optional
        The view at which a search for several stopped: it is only shown, as not significant.
    all_views : bool
        Whether to add a column for each other view on the menu of a model, named after its number there.
    """
    new = pd.DataFrame({name: model.labels_ for name, model in views.items()}, index=task.prepared.X.index)
    for name, model in views.items() if all_views else ():
        chosen = chosen_number(model)
        others = {i: one.labels for i, one in enumerate(model.candidates_, 1) if i != chosen}
        new = new.assign(**{f"{name}_{i}": labels for i, labels in others.items()})
    if first is not None:
        new.insert(0, "first_view", first)
    for name, model in views.items():
        if model.status_ not in (Status.CONVERGED, Status.CANCELLED):
            say(f"{name}: {model.status_} after {model.n_iter_} rounds; a larger --sigma may converge.", style="yellow")
    shown = views if rejected is None else views | {f"view_{len(views) + 1}, not significant": rejected}
    summaries = summaries_of(task, shown, command_line(again=True))
    described = [
        _figures(name, model, why)
        | {
            "badge": summary["headline"]["badge"],
            "verdict": summary["headline"]["verdict"],
            "advice": summary["headline"]["advice"],
            "rule": summary["rule"] and summary["rule"]["sentence"],
            "agreement": summary["agreement"],
            "left_out": summary["left_out"],
            "descriptions": [c["sentence"] for c in summary["clusters"]],
            "candidates": [_without_points(one) for one in summary["candidates"]],
        }
        for (name, model), summary in zip(shown.items(), summaries, strict=True)
    ]
    figures = {
        "altclust": version("altclust"),
        "command": command_line(),
        "table": task.table.name,
        "rows": len(task.prepared.X),
        "features": task.prepared.X.shape[1],
        "given": [] if task.given is None else list(task.given.columns),
        "views": described[: len(views)],
        "rejected": described[-1] if rejected is not None else None,
        "stopped": stopped,
        "recipe": task.prepared.recipe.to_dict(),
    }
    with writing(task, FILES) as files:
        for name, model in views.items():
            files.write(f"{name}.npz", model.save)
            files.write(f"{name}.png", partial(_picture, model=model, task=task))
        if views:
            directions = [_directions(*view) for view in views.items()]
            files.write_csv("directions.csv", pd.concat(directions, ignore_index=True))
        if shown:
            files.write("report.html", lambda path: write_report(path, *summaries))
        files.write_json("figures.json", figures)
        files.write_table(new)
    return figures


def summaries_of(task: Task, views: dict[str, KDAC], command: str, own: bool = True) -> list[dict]:
    """The summaries for the report; own: whether the models were fitted to these rows."""
    known = {} if task.given is None else dict(task.given.items())
    added = [name for name in task.table.frame.columns if re.fullmatch(rf"({VIEWS})(_\d+)?", name)]
    values = readable(task.table.frame.drop(columns=[*known, *added], errors="ignore"), task.prepared.recipe)
    summaries = []
    for name, model in views.items():
        labels = np.asarray(model.labels_ if own else task.prepared.predict(model))
        summaries.append(
            summarise(
                model,
                task.prepared.X,
                pd.DataFrame(known) if known else None,
                labels=labels,
                values=values,
                ids=task.prepared.ids,
                keep=task.prepared.keep,
                name=task.table.name,
                alternative=name,
                decisions=task.prepared.recipe.sentences,
                listing=task.prepared.recipe.listing,
                command=command,
                significance=model._view.significance is not None,  # not where it was switched off or interrupted
                predicted=not own,
            )
        )
        known[name] = labels.astype(str)
    return summaries


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
        raise UsageError(f"{folder} holds no complete results of `altclust find` or `altclust views`{why}") from error
    return figures, recipe, models


def answer(task: Task, model: KDAC, why: str | None = None) -> dict[str, Any]:
    """What a view is, without anything that takes long: its significance and its optimality."""
    known = [] if task.given is None else list(task.given.columns)
    labelled = alternative_labelling("", model.labels_, len(task.prepared.X), model.n_clusters_, None)
    values = readable(task.table.frame.drop(columns=known, errors="ignore"), task.prepared.recipe)
    clusters = describe_clusters(collapse(labelled), values)
    return _plain_figures(model, why) | {
        "agreement": agreement(model, labelled.codes, task.prepared.keep),
        "descriptions": [cluster["sentence"] for cluster in clusters],
    }


def _plain_figures(model: KDAC, why: str | None) -> dict[str, Any]:
    pairs = sorted(zip(model.feature_names_in_, model.feature_weights_, strict=True), key=lambda pair: -pair[1])
    return {
        "clusters": model.n_clusters_,
        "cluster_sizes": np.bincount(np.asarray(model.labels_), minlength=model.n_clusters_).tolist(),
        "overlap": number(model.overlap_),
        "quality": model.quality_,
        "reasons": why or reasons(model),
        "feature_weights": {str(feature): float(weight) for feature, weight in pairs},
    }


def _figures(name: str, model: KDAC, why: str | None) -> dict[str, Any]:
    found = model._view.certificate
    certificate = {} if found is None else asdict(found)
    return (
        {"name": name}
        | _plain_figures(model, why)
        | {
            "cost": model.cost_,
            "parameters": {key: getattr(model, f"{key}_") for key in PARAMETERS},
            "rounds": model.n_iter_,
            "status": model.status_,
            "engine": model.engine_,
            "approximation_error": model.approximation_error_,
            "certificate": {key: number(v) if isinstance(v, float) else v for key, v in certificate.items()} or None,
            "significance": None if model._view.significance is None else _significance(model._view.significance),
        }
    )


def _without_points(one: dict[str, Any]) -> dict[str, Any]:
    """A view on the menu without its plot."""
    return {key: value for key, value in one.items() if key != "drawing"}


def _significance(found: Significance) -> dict[str, Any]:
    return {
        "p_value": number(found.p_value),
        "smallest_p": number(found.smallest_p),
        "stability": number(found.stability),
        "is_real": found.is_real,
        "verdict": found.verdict,
        "witnesses": [asdict(witness) for witness in found.witnesses],
    }


def _directions(name: str, model: KDAC) -> pd.DataFrame:
    """One row per feature: its weight, and its coefficient in every direction."""
    frame = pd.DataFrame({"view": name, "feature": model.feature_names_in_, "weight": model.feature_weights_})
    return frame.assign(**{f"direction_{i}": row for i, row in enumerate(model.components_, 1)})


def _picture(path: Path, model: KDAC, task: Task) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from ...report.plotting import plot_views

    given = None if task.given is None else task.given.iloc[:, 0]
    figure = plot_views(np.asarray(model.transform(task.prepared.X)), given, model.labels_)[0].figure
    figure.savefig(path, dpi=150)
    plt.close(figure)
