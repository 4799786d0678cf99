import doctest
import importlib

import pytest


def run_examples(module):
    result = doctest.testmod(importlib.import_module(f"altclust.datasets{module}"))
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("module", ["", ".dataset", ".generators", ".penguins"])
def test_examples(module):
    run_examples(module)


def test_examples_on_the_files(authors_files):
    run_examples(".loaders")
