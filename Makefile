# Everything is done in .venv, which is made anew when pyproject.toml or the lock
# changes. PYTHON may be any python3 from 3.10 to 3.13.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PEERS := .venv-peers
BENCHMARKS := startup throughput compile_stage scale hostile keystroke
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c requirements-dev.lock
PYTEST_ARGS ?= -n auto --dist worksteal
FUZZ_SECONDS ?= 600
KILLS ?= 72
PYTHONS ?= python3.10 python3.11 python3.12 python3.13
FUZZ_TARGETS ?= source manifest settings suppressions messages tools sass symbol database baselines shards

.PHONY: help lint test check format bench corpus oracle fuzz faults gpu-test gpu-bench docs pictures site snapshots mutants lock bounds release clean

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' Makefile

lint: $(VENV)/.installed  ## install cudalint with nvcc, lint the shipped kernels
	$(BIN)/cudalint kernels/

test: $(VENV)/.installed-dev  ## install what the tests need, run them
	$(BIN)/python -m pytest $(PYTEST_ARGS)

check: $(VENV)/.installed-dev  ## formatting, ruff, types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(VENV)/.installed-dev  ## format the Python code, mend what ruff can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.installed-dev $(PEERS)/.installed  ## cudalint beside its peers, then start-up, throughput, the compile stage, growth, hostile files, keystrokes
	$(BIN)/python benchmarks/peers.py $(if $(FOLDER),--folder "$(FOLDER)")
	failed=0; for program in $(BENCHMARKS); do $(BIN)/python benchmarks/$$program.py || failed=1; done; exit $$failed

corpus: $(VENV)/.installed-dev  ## kernels and launches of TREES by other means
	$(BIN)/python benchmarks/corpus.py $(TREES)

oracle: $(VENV)/.installed-dev  ## CU303 and CU108 held to nvcc's own warnings on TREES
	$(BIN)/python benchmarks/oracle.py $(if $(NVCC_FLAGS),--flags "$(NVCC_FLAGS)") $(TREES)

fuzz: $(VENV)/.installed-dev  ## fuzz each reader for FUZZ_SECONDS
	$(INSTALL) -e '.[fuzz]'
	for target in $(FUZZ_TARGETS); do $(BIN)/python fuzz/run.py $$target $(FUZZ_SECONDS) || exit 1; done

faults: $(VENV)/.installed-dev  ## kill each of seven commands KILLS times at random moments
	$(BIN)/python tests/faults/killing.py --kills $(KILLS)

gpu-test: $(VENV)/.installed-dev  ## the kernels' tests; need a GPU, PyTorch and CuPy
	$(BIN)/python -m pytest tests/gpu $(PYTEST_ARGS)

gpu-bench: $(VENV)/.installed-dev  ## the kernels against PyTorch, into docs/kernels.md; needs a GPU
	$(BIN)/python benchmarks/gpu/run.py

docs: $(VENV)/.installed  ## write what in docs/ is generated: rules, settings, the outputs that are shown
	$(BIN)/python tools/rule_docs.py
	$(BIN)/python tools/settings_docs.py
	$(BIN)/python tools/output_docs.py

pictures: $(VENV)/.installed-dev  ## draw docs/pictures/ anew; needs a Chromium
	$(BIN)/python tools/pictures.py

site: $(VENV)/.installed-dev  ## build the documentation as a site, strictly, into site/; check its links
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	$(BIN)/python tools/site/check_links.py site

snapshots: $(VENV)/.installed-dev  ## write anew what the rules say of their examples; look at the difference
	$(BIN)/python tests/snapshots.py

mutants: $(VENV)/.installed-dev  ## change the rules one thing at a time: a test must fail (docs/mutation.md)
	$(INSTALL) -e '.[mutants]'
	$(BIN)/python tools/mutants $(MUTANTS_ARGS)

lock:  ## pin what dependencies are new; PYTHONS names one interpreter of each version
	$(PYTHON) tools/lock.py $(LOCK_FLAGS) $(PYTHONS)

bounds: $(VENV)/.installed-dev  ## quick tests with the oldest dependencies allowed, and with the newest
	$(INSTALL) -e '.[release]'
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python tools/bounds.py $(firstword $(PYTHONS)) $(lastword $(PYTHONS))

release: $(VENV)/.installed-dev  ## all of a release but the upload, into dist/ (docs/releasing.md)
	$(INSTALL) -e '.[release]'
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python tools/release.py dist $(PYTHONS)

clean:  ## remove the virtual environment and what tools left behind
	rm -rf $(VENV) $(PEERS) dist build site .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(not (3, 10) <= sys.version_info)' \
	  || { echo "cudalint needs Python 3.10 or newer: make PYTHON=python3.12 ..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV) \
	  || { echo "python3 has no venv module (on Debian and Ubuntu: apt install python3-venv)" >&2; exit 1; }

$(VENV)/.installed: pyproject.toml requirements-dev.lock | $(BIN)/python
	$(INSTALL) -e '.[nvcc]'
	touch $@

$(VENV)/.installed-dev: pyproject.toml requirements-dev.lock | $(BIN)/python
	$(INSTALL) -e '.[nvcc,dev,docs]'
	touch $(VENV)/.installed $@

$(PEERS)/.installed: benchmarks/peers.txt | $(BIN)/python
	$(BIN)/python -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check -r benchmarks/peers.txt
	touch $@
