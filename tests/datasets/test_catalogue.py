import doctest
import importlib

import pytest

from altclust import datasets
from altclust.datasets import CATALOGUE
from altclust.datasets.cache import REGISTRY

NO_DOWNLOAD = [entry for entry in CATALOGUE if entry.origin != "file"]
FILES = [entry for entry in CATALOGUE if entry.origin == "file"]


def check(entry):
    data = entry.load()
    assert data.name == entry.name
    assert data.X.shape == (entry.n_samples, entry.n_features)
    assert tuple(data.labels) == entry.labels
    assert len(data.feature_names) == entry.n_features
    assert all(y.shape == (entry.n_samples,) and y.min() == 0 for y in data.labels.values())


@pytest.mark.parametrize("entry", NO_DOWNLOAD, ids=lambda entry: entry.name)
def test_entries_without_a_download_tell_the_truth(entry):
    check(entry)


@pytest.mark.parametrize("entry", FILES, ids=lambda entry: entry.name)
def test_file_entries_tell_the_truth(authors_files, entry):
    check(entry)


def test_names_are_unique_and_descriptions_are_one_line():
    assert len({entry.name for entry in CATALOGUE}) == len(CATALOGUE)
    assert all(entry.description and "\n" not in entry.description for entry in CATALOGUE)


def test_every_generator_and_loader_is_listed():
    listed = {getattr(entry.load, "func", entry.load).__name__ for entry in CATALOGUE}
    offered = {name for name in datasets.__all__ if name.startswith("load_")}
    assert listed == offered | {"small_gaussians", "large_gaussians", "moons", "growth", "penguins"}


def run_examples(module):
    result = doctest.testmod(importlib.import_module(f"altclust.datasets{module}"))
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("module", ["", ".dataset", ".generators", ".penguins"])
def test_examples(module):
    run_examples(module)


@pytest.mark.parametrize("module", [".loaders"])
def test_examples_on_the_files(authors_files, module):
    run_examples(module)


def test_every_file_of_the_catalogue_is_registered_and_every_registered_file_is_used():
    named = {name for entry in CATALOGUE for name in entry.files}
    assert named == set(REGISTRY)
    assert all(bool(entry.files) == (entry.origin == "file") for entry in CATALOGUE)
