"""What each part of the search is worth: the NMI of the chosen trial without it.

Every task is searched once, with nothing set and with the true k, and halves of the rows are searched for all trials.
Then each source of starts, each term of the score and each rule is left out in turn, and the choice is made anew among
the trials. A part whose removal costs less than 0.003 in the mean of the group means should go.

    python benchmarks/ablation.py --jobs 2 --every 2     # half of the tasks
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from itertools import permutations
from unittest.mock import patch

import pandas as pd
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

import tasks
import zoo
from altclust import tune
from altclust.base.thresholds import ALTERNATIVE
from altclust.core.metrics import nmi
from altclust.search import tuning
from altclust.search.halves import Halves
from altclust.search.proposals import SOURCES
from altclust.search.selection import REJECTED, TERMS, fewest
from altclust.search.verdict import SAME_VIEW
from quality import markdown

Choice = Callable[[pd.DataFrame], pd.Series]


def all_tasks() -> list[tuple[str, tasks.Task]]:
    """Tasks with their groups."""
    found = [("natural", task) for name in zoo.NATURAL for task in zoo.natural(name)]
    found += [("labelled", task) for name in zoo.LABELLED for task in zoo.labelled(name)]
    found += [("pairs", zoo.pair(a, b, 40 + i % 3)) for i, (a, b) in enumerate(permutations(zoo.SINGLE, 2))]
    found += [("generated", tasks.generated(family, seed)) for family in tasks.FAMILIES for seed in (30, 31)]
    found += [("thin", tasks.spirals(seed, n)) for seed in range(3) for n in (300, 1000)]
    found += [
        ("thin", tasks.shapes(kind, seed, n)) for kind in ("moons", "rings") for seed in range(3) for n in (300, 1000)
    ]
    found += [
        ("unequal", tasks.unequal(seed, n, share)) for seed in range(4) for n in (300, 1000) for share in (0.1, 0.15)
    ]
    return found + [("related", tasks.related(seed)) for seed in range(6)]


def searched(group: str, task: tasks.Task) -> list[pd.DataFrame]:
    """The trials with nothing set and with the true k, and their NMI with the truth."""
    found = []
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        for k in (None, task.n_clusters):
            with (
                patch.object(tuning, "rank", side_effect=tuning.rank) as ranked,
                patch.object(tuning, "smoothest", side_effect=tuning.smoothest) as smoothed,
            ):
                result = tune(task.X, task.given, n_clusters=k)
            spec, trials, seed = ranked.call_args.args
            before = next(call.args[2] for call in smoothed.call_args_list if call.args[0] is trials)
            truth, halves = task.truth[result.rows], Halves(spec, seed)
            table = result.table.assign(
                again=[halves.found_again(trial) for trial in trials],
                nmi=[nmi(trial.labels, truth) for trial in trials],
                before=[float(i == before) for i in range(len(trials))],
            )
            found.append(
                table.assign(**{"k set": k is not None}, task=f"{task.family} {task.seed} {len(task.X)}", group=group)
            )
    return found


def score(table: pd.DataFrame, without: str = "") -> pd.Series:
    """The score without one of its terms or rules."""
    found = sum(table[name] for name in TERMS if name != without)
    outliers, resembling = table["smallest"] < fewest(table["n_clusters"]), table["overlap"] > ALTERNATIVE
    rules = {"outliers": outliers, "resembling": resembling}
    return found - REJECTED * sum(rule.astype(float) for name, rule in rules.items() if name != without)


def chosen(table: pd.DataFrame, choice: Choice) -> pd.Series:
    """The mean NMI of the trials with the highest score, by group and by whether k is set."""
    best = table.loc[choice(table).groupby([table["task"], table["k set"]]).idxmax()]
    means = best.groupby(["k set", "group"])["nmi"].mean().unstack("group")
    means.insert(0, "mean", means.mean(axis=1))
    means = means.rename(index={False: "nothing set", True: "k set"}).stack()
    return means.set_axis([f"{group}, {how}" for how, group in means.index])


def ablate(table: pd.DataFrame) -> pd.DataFrame:
    """One row for each part that is left out."""
    found = {
        "all": chosen(table, lambda t: t["chosen"].astype(float)),
        "thin trials kept": chosen(table, lambda t: t["before"]),
        "products kept whole": chosen(table, score),
    }
    for name in table["source"].unique():
        found[f"without start {name}"] = chosen(
            table, lambda t, name=name: score(t) - 2 * REJECTED * (t["source"] == name)
        )
    for name in [*TERMS, "outliers", "resembling"]:
        found[f"without {name}"] = chosen(table, lambda t, name=name: score(t, name))
    for name in TERMS:
        found[f"twice {name}"] = chosen(table, lambda t, name=name: score(t) + t[name])
    found["found again first"] = chosen(table, lambda t: score(t) - REJECTED / 2 * (t["again"] < SAME_VIEW))
    found["minus the overlap"] = chosen(table, lambda t: score(t) - t["overlap"].fillna(0))
    found["the best trial"] = chosen(table, lambda t: t["nmi"])
    return pd.DataFrame(found).T


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1, help="number of parallel tasks")
    parser.add_argument("--every", type=int, default=1, help="take every so many tasks")
    options = parser.parse_args()
    some = all_tasks()[:: options.every]
    found = Parallel(n_jobs=options.jobs)(delayed(searched)(*one) for one in some)
    table = pd.concat([one for both in found for one in both], ignore_index=True)
    assert set(table["source"]) <= set(SOURCES)
    print(markdown(ablate(table), f"{len(some)} tasks"))


if __name__ == "__main__":
    main()
