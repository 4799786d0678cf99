"""Real tables as tasks: tables with several known labels, and pairs of tables with one label each.

A pair puts the columns of two tables side by side and pairs their rows at random: both clusterings are real, and they
are independent by construction. Tables are split by source: some to choose by, the others only to report on.
"""

from __future__ import annotations

import os
from itertools import combinations, permutations
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.preprocessing import StandardScaler

from altclust.core.initialization import random_start
from tasks import SeveralTask, Task

ROWS = 300
NATURAL = {"penguins": 2, "leaves": 3, "midwest": 2, "crohn": 2}  # leading columns that are labels
LABELLED = {
    "aloi": 2, "alzheimer": 2, "birds": 2, "cars": 2, "cells": 2, "fruit": 2, "gut": 2, "leafshape": 2, "pbmc": 2,
    "simulated_cells": 2, "stemcells": 2, "turned_digits": 2, "vowel": 3,
}  # fmt: skip
PRINCIPAL = ("pbmc", "simulated_cells")  # principal directions, which are not standardised
CHOSEN_ON = ("segment", "penbased", "twonorm", "banana", "phoneme", "leaves", "crohn")
SINGLE = ("banana", "movement_libras", "penbased", "phoneme", "ring", "segment", "texture", "twonorm", "wdbc")
MOST_CLASSES = 6
FEWEST_ROWS = 150  # more classes are taken where a table has fewer rows
NOISE = (0, 0, 5, 10)


def folder() -> Path:
    """The folder of the tables."""
    root = os.environ.get("ALTCLUST_DATA")
    if root is None or not (Path(root) / "zoo").is_dir():
        raise FileNotFoundError("The real tables are not here: let ALTCLUST_DATA name a folder that holds zoo/.")
    return Path(root) / "zoo"


def natural(name: str) -> list[Task]:
    """A table with several labels, in all directions."""
    return _in_all_directions("natural", name, NATURAL[name])


def labelled(name: str) -> list[Task]:
    """One of the other tables with several labels, in all directions."""
    return _in_all_directions("labelled", name, LABELLED[name])


def _read(kind: str, name: str, count: int) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The rows, and the codes of each label."""
    table = pd.read_csv(folder() / kind / f"{name}.csv")
    labels, X = table.iloc[:, :count], table.iloc[:, count:].to_numpy(float)
    if name not in PRINCIPAL:
        X = StandardScaler().fit_transform(X[:, X.std(axis=0) > 0])
    return X, {column: pd.factorize(labels[column])[0] for column in labels}


def _in_all_directions(kind: str, name: str, count: int) -> list[Task]:
    X, codes = _read(kind, name, count)
    return [
        Task(f"{name}: {given} → {truth}", 0, X, codes[given][:, None], codes[truth])
        for given, truth in permutations(codes, 2)
    ]


def classes(name: str, rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of a few classes of a table with one label, in random order."""
    table = pd.read_csv(folder() / "single" / f"{name}.csv", skipinitialspace=True)
    kinds, codes = np.unique(table.iloc[:, -1], return_inverse=True)
    order = rng.permutation(len(kinds))
    enough = int(np.searchsorted(np.cumsum(np.bincount(codes)[order]), FEWEST_ROWS)) + 1
    some = order[: max(enough, rng.integers(2, min(MOST_CLASSES, len(kinds)) + 1))]
    rows = rng.permutation(np.flatnonzero(np.isin(codes, some)))[:n]
    return table.iloc[rows, :-1].to_numpy(float), np.unique(codes[rows], return_inverse=True)[1]


def pair(first: str, second: str, seed: int, n: int = ROWS) -> Task:
    """The classes of the first table are given, those of the second are hidden."""
    rng = np.random.default_rng([seed, SINGLE.index(first), SINGLE.index(second)])
    (A, given), (B, truth) = classes(first, rng, n), classes(second, rng, n)
    m = min(len(A), len(B))
    X = np.column_stack([StandardScaler().fit_transform(A[:m]), StandardScaler().fit_transform(B[:m])])
    X = np.column_stack([X, rng.standard_normal((m, int(rng.choice(NOISE))))])
    X = X[:, X.std(axis=0) > 0]
    if rng.random() < 0.3:
        X = X @ random_start(X.shape[1], X.shape[1], rng)
    return Task(f"{first} → {second}", seed, StandardScaler().fit_transform(X), given[:m, None], truth[:m])


def large_pair(first: str, second: str, seed: int, n: int) -> Task:
    """A pair of any number of rows: rows of each table are drawn with replacement and paired at random."""
    rng = np.random.default_rng([seed, SINGLE.index(first), SINGLE.index(second)])
    parts = []
    for name in (first, second):
        X, codes = classes(name, rng, n)
        drawn = rng.integers(len(X), size=n)
        parts.append((X[drawn], codes[drawn]))
    (A, given), (B, truth) = parts
    X = np.column_stack([A, B])
    X = StandardScaler().fit_transform(X[:, X.std(axis=0) > 0])
    return Task(f"{first} → {second}", seed, X, given[:, None], truth)


def pairs(chosen_on: bool, seeds: range) -> list[Task]:
    """Ordered pairs of different tables, all of the tables to choose by or all of the others."""
    names = [name for name in SINGLE if (name in CHOSEN_ON) == chosen_on]
    return [pair(a, b, seed) for a, b in permutations(names, 2) for seed in seeds]


def naturals(chosen_on: bool) -> list[Task]:
    """Tables with several labels, of those to choose by or of the others."""
    return [task for name in NATURAL if (name in CHOSEN_ON) == chosen_on for task in natural(name)]


def triple(given: str, hidden: tuple[str, str], seed: int, n: int = ROWS) -> SeveralTask:
    """Three tables side by side: the classes of one are given, those of the two others are hidden."""
    names = (given, *hidden)
    rng = np.random.default_rng([seed, *map(SINGLE.index, names)])
    parts = [classes(name, rng, n) for name in names]
    m = min(len(rows) for rows, _ in parts)
    X = np.column_stack([rows[:m] for rows, _ in parts])
    X = StandardScaler().fit_transform(X[:, X.std(axis=0) > 0])
    known, *truths = (codes[:m] for _, codes in parts)
    return SeveralTask(
        f"{given} → {' + '.join(hidden)}", seed, X, known[:, None], dict(zip(hidden, truths, strict=True))
    )


def triples(chosen_on: bool, seeds: range) -> list[SeveralTask]:
    """Three different tables, all of the tables to choose by or all of the others; then tables with three labels."""
    names = [name for name in SINGLE if (name in CHOSEN_ON) == chosen_on]
    found = [
        triple(given, hidden, seed)
        for seed in seeds
        for given in names
        for hidden in combinations([name for name in names if name != given], 2)
    ]
    kinds = {"natural": NATURAL, "labelled": LABELLED}
    three = [(kind, name) for kind, tables in kinds.items() for name, count in tables.items() if count == 3]
    for kind, name in three:
        if (name in CHOSEN_ON) == chosen_on:
            X, codes = _read(kind, name, 3)
            for given in codes:
                truths = {label: one for label, one in codes.items() if label != given}
                found.append(SeveralTask(f"{name}: {given} given", 0, X, codes[given][:, None], truths))
    return found
