"""Which criterion that needs no labels finds the right trial of a search?

Every task is searched once, including for k. Each trial then has its NMI with the truth and several criteria; a
criterion is judged by the NMI of the trials that it chooses. All choose among the same trials: those with low overlap
and without tiny clusters come first. Criteria are compared on even seeds, reported on odd seeds and the paper's sets.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from sklearn.metrics import silhouette_score

from altclust.base.backend import Array
from altclust.base.thresholds import ALTERNATIVE
from altclust.core.embedding import informative, round_to_labels
from altclust.core.engines import DenseEngine
from altclust.core.kernels import Gaussian
from altclust.core.metrics import nmi
from altclust.core.problem import Embedding, indicators, remove_given, row_space
from altclust.search.selection import SMALLEST
from altclust.search.trajectories import Trial
from altclust.search.tuning import tune
from quality import chosen_tasks, markdown, parser, read, run, task_key
from tasks import FAMILIES, Task

HALVES = 4  # number of random halves of the rows that are clustered again
PERMUTATIONS = 20
KEPT = ("source", "n_clusters", "separation", "persistence", "overlap", "smallest", "quality", "cost", "chosen")

Criterion = Callable[[pd.DataFrame], pd.Series]

CRITERIA: dict[str, Criterion | None] = {
    "what `tune` chooses": None,
    "separation x persistence⁴": lambda t: t["separation"] * t["persistence"] ** 4,
    "separation x persistence²": lambda t: t["separation"] * t["persistence"] ** 2,
    "separation x persistence": lambda t: t["separation"] * t["persistence"],
    "separation": lambda t: t["separation"],
    "eigengap": lambda t: t["eigengap"],
    "persistence": lambda t: t["persistence"],
    "silhouette": lambda t: t["silhouette"],
    "stability on halves": lambda t: t["stability"],
    "separation x stability²": lambda t: t["separation"] * t["stability"] ** 2,
    "HSIC against permuted labels": lambda t: t["hsic"],
    "lowest cost": lambda t: -t["cost"],
    "highest quality": lambda t: t["quality"],
    "the truth": lambda t: t["truth"],
}


def embed(Z: Array, trial: Trial) -> Embedding:
    """The U step of a trial on projected rows."""
    return DenseEngine(Z, Gaussian(trial.sigma)).embed(np.eye(Z.shape[1]), trial.n_clusters)


def eigengap(Z: Array, trial: Trial) -> float:
    """w_k − w_(k+1) of the normalised kernel; the centred kernel has the eigenvalues from w_2 on."""
    values = embed(Z, trial).values
    return float(values[-2] - values[-1])


def silhouette(Z: Array, trial: Trial) -> float:
    return float(silhouette_score(Z, trial.labels)) if len(np.unique(trial.labels)) > 1 else -1.0


def stability(Z: Array, trial: Trial, rng: np.random.Generator) -> float:
    """Mean NMI of the labels with those of random halves of the rows, clustered again in the same directions."""
    agreement = []
    for _ in range(HALVES):
        half = rng.permutation(len(Z))[: len(Z) // 2]
        U = informative(embed(Z[half], trial)).U
        labels, _ = round_to_labels(U, trial.n_clusters, "kmeans", rng)
        agreement.append(nmi(labels, trial.labels[half]))
    return float(np.mean(agreement))


def hsic_score(Z: Array, trial: Trial, rng: np.random.Generator) -> float:
    """HSIC of the projected rows and the labels, in standard deviations above that of permuted labels."""
    K = Gaussian(trial.sigma).gram(Z)
    Y = indicators([trial.labels], len(Z))
    permuted = [Y[rng.permutation(len(Z))] for _ in range(PERMUTATIONS)]
    value, *null = (float(np.sum(columns * (K @ columns))) for columns in (Y, *permuted))
    return (value - np.mean(null)) / max(float(np.std(null)), 1e-12)


def examine(task: Task) -> dict:
    """Every trial of a search with its criteria and its NMI with the truth."""
    tuning = tune(task.X, task.given, random_state=0)
    rows = task.X[tuning.rows]
    sampled, _ = row_space(rows - rows.mean(axis=0))
    residual = remove_given(sampled, list(task.given[tuning.rows].T))
    rng = np.random.default_rng(0)
    trials = tuning.table[list(KEPT)].to_dict("records")
    for record, trial in zip(trials, tuning.trials, strict=True):
        Z = (residual if trial.source == "residual" else sampled) @ trial.W
        record["truth"] = nmi(trial.labels, task.truth[tuning.rows])
        record["eigengap"] = eigengap(Z, trial)
        record["silhouette"] = silhouette(Z, trial)
        record["stability"] = stability(Z, trial, rng)
        record["hsic"] = hsic_score(Z, trial, rng)
    return {"n_clusters": task.n_clusters, "trials": trials}


def choose(trials: pd.DataFrame, criterion: Criterion | None) -> pd.Series:
    """The best trial: by low overlap first, then by the absence of tiny clusters, then by the criterion.

    Without a criterion it is the choice of the search.
    """
    if criterion is None:
        return trials[trials["chosen"]].iloc[0]
    last_key_first = (
        -criterion(trials).fillna(-np.inf),
        trials["smallest"] < SMALLEST,
        trials["overlap"] > ALTERNATIVE,
    )
    return trials.iloc[np.lexsort(last_key_first)[0]]


def report(records: list[dict]) -> str:
    """The mean NMI of each criterion's choices, sorted by even seeds."""
    tables = [pd.DataFrame(record["trials"]) for record in records]
    generated = np.array([record["family"] in FAMILIES for record in records])
    odd = np.array([record["seed"] % 2 == 1 for record in records])
    true_k = np.array([record["n_clusters"] for record in records])
    rows = {}
    for name, criterion in CRITERIA.items():
        chosen = pd.DataFrame([choose(table, criterion) for table in tables])
        truth, right = chosen["truth"].to_numpy(dtype=float), chosen["n_clusters"].to_numpy() == true_k
        rows[name] = {
            "even seeds (chosen on)": mean(truth[generated & ~odd]),
            "odd seeds (reported)": mean(truth[generated & odd]),
            "k right, odd seeds": mean(right[generated & odd]),
            "k right, all generated": mean(right[generated]),
            "paper sets": mean(truth[~generated]),
        }
    table = pd.DataFrame(rows).T.sort_values("even seeds (chosen on)", ascending=False)
    counts = (
        f"{int(np.sum(generated & ~odd))} even, {int(np.sum(generated & odd))} odd, {int(np.sum(~generated))} paper"
    )
    return markdown(table, f"criterion ({counts})")


def mean(values: np.ndarray) -> float:
    return float(np.mean(values)) if len(values) else float("nan")


def main() -> None:
    options = parser(__doc__, "criteria.jsonl").parse_args()
    if not options.report:
        known = read(options.out)
        tasks = [task for task in chosen_tasks(options) if not task.family.startswith("WebKB")]
        run(examine, [task for task in tasks if task_key(task) not in known], options.out, options.jobs)
    print(report(list(read(options.out).values())))


if __name__ == "__main__":
    main()
