# Two commands matter: `make demo` and `make test`. Both set up everything they need.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test lint docs bench scale quality nightly clean

demo: $(READY)
	$(BIN)/python examples/moon.py --out demo

test: $(READY)
	$(BIN)/python -m pytest -n auto

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The site in site/; `$(BIN)/mkdocs serve` shows it while you write.
docs: $(READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

bench: $(READY)
	$(BIN)/python benchmarks/evaluation.py
	$(BIN)/python benchmarks/fit.py
	$(BIN)/python benchmarks/eigen.py
	$(BIN)/python benchmarks/ustep.py
	$(BIN)/python benchmarks/automatic.py
	$(BIN)/python benchmarks/face.py

# `ARGS=--big` adds ten times as many rows in a file, `ARGS="--only pass"` takes one item.
scale: $(READY)
	$(BIN)/python benchmarks/scale.py $(ARGS)

# Hours on two cores; every finished task is kept, so that an interrupted run goes on.
quality: $(READY)
	mkdir -p benchmarks/out
	$(BIN)/python benchmarks/quality.py --jobs 2 --out benchmarks/out/quality.jsonl
	$(BIN)/python benchmarks/criteria.py --jobs 2 --out benchmarks/out/criteria.jsonl
	$(BIN)/python benchmarks/confidence.py --jobs 2 --out benchmarks/out/confidence.jsonl

nightly: $(READY)
	$(BIN)/python -m pytest -n auto -m "slow or not slow"

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable . --group dev
	touch $(READY)

clean:
	rm -rf $(VENV) demo site artefacts .pytest_cache .mypy_cache .ruff_cache .hypothesis
