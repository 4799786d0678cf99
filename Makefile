# Two commands matter: `make demo` and `make test`. Both set up everything they need.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
EXTRAS := app,dask,excel,parquet,proof

.PHONY: demo test coverage lint docs bench scale quality race load mutation nightly oldest lock audit release clean

demo: $(READY)
	$(BIN)/python examples/penguins.py --out demo

# The quick tests, in about 5 minutes on 2 cores; `make nightly` runs all.
test: $(READY)
	$(BIN)/python -m pytest -n auto

# Lines and branches that `make test` runs, for each package of altclust.
coverage: $(READY)
	$(BIN)/python -m pytest -n auto --cov --cov-report=
	$(BIN)/python tools/coverage_table.py

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
	$(BIN)/python benchmarks/import_time.py

# `ARGS=--big` adds ten times as many rows in a file, `ARGS="--only pass"` takes one item.
scale: $(READY)
	$(BIN)/python benchmarks/scale.py $(ARGS)

# Hours on two cores; every finished task is kept, so that an interrupted run goes on.
quality: $(READY)
	mkdir -p benchmarks/out
	$(BIN)/python benchmarks/quality.py --jobs 2 --out benchmarks/out/quality.jsonl
	$(BIN)/python benchmarks/calibration.py --jobs 2 --out benchmarks/out/calibration.jsonl

# Other methods on the same tables, with the same seeds and limits; writes docs/race.md and its picture. Under an hour on
# two cores. An interrupted run goes on; `ARGS="--every 4 --largest 100000"` takes fewer tables.
race:
	$(PYTHON) -m venv .venv-race
	.venv-race/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	.venv-race/bin/python -m pip install --quiet --editable . --group peers
	.venv-race/bin/python benchmarks/race.py $(ARGS)

# The page with 20 visitors, and what one long search costs the others.
load: $(READY)
	$(BIN)/python benchmarks/load.py $(ARGS)

# A sample of changes to the core and the verdict, and whether a test notices them; `ARGS="--number 20 --seed 1"`.
mutation: $(READY)
	$(BIN)/python -m pip install --quiet "cosmic-ray>=8.7"
	$(BIN)/python tools/mutation.py $(ARGS)

# All tests, with the oldest and with the newest libraries, and a sample of changes that they should notice; the audit is
# last, because not every registry has its list.
nightly: $(READY) oldest
	ALTCLUST_NIGHTLY=1 $(BIN)/python -m pytest -n auto -m "slow or not slow"
	$(MAKE) mutation ARGS="--number 20"
	$(MAKE) audit

# The tests beside the oldest version of everything that altclust asks for; those say by themselves what is out of date.
oldest:
	$(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	.venv-oldest/bin/python tests/oldest.py > .venv-oldest/constraints.txt
	.venv-oldest/bin/python -m pip install --quiet --editable ".[$(EXTRAS)]" --group dev --constraint .venv-oldest/constraints.txt
	.venv-oldest/bin/python -m pytest -n auto -W default

# What exactly to install, with hashes, for those who serve the page to others.
lock: $(READY)
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --quiet --universal --upgrade --generate-hashes --no-annotate \
	  --custom-compile-command "make lock" --extra app --extra dask --extra excel --extra parquet \
	  pyproject.toml --output-file requirements.lock

# Known weaknesses of what is locked; needs the registry's list of them.
audit: $(READY)
	$(BIN)/python -m pip install --quiet pip-audit
	$(BIN)/pip-audit --strict --disable-pip --require-hashes --requirement requirements.lock

release: $(READY)
	$(BIN)/python tools/release.py "$(VERSION)"

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --no-compile --editable ".[$(EXTRAS)]" --group dev
	touch $(READY)

clean:
	rm -rf $(VENV) .venv-oldest .venv-race demo site artefacts .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage
