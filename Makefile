# `make demo` and `make test` set up what they need in .venv; PYTHON names another interpreter.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
POLICY := current() | threshold(0.1) | dedup(0.85) | mmr(0.7) | ushape

.PHONY: demo test lint types properties proofs bounds coverage docs picture bench quality soak clean
.PHONY: test-browser test-integrations test-engines mutants

demo: $(VENV)/installed
	$(BIN)/packer pack examples/support/chunks.jsonl --budget 600 --policy "$(POLICY)"
	$(BIN)/packer explain examples/support/chunks.jsonl --budget 600 --policy "$(POLICY)" "mail-templates#0"

test: lint types properties coverage bounds proofs

lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache

types: $(VENV)/installed
	$(BIN)/mypy

properties: $(VENV)/installed
	HYPOTHESIS_PROFILE=ci $(BIN)/python -m pytest -q

# Theorems by z3 and twins by CrossHair, each with its time; the other proofs are among the tests.
proofs: $(VENV)/installed
	$(BIN)/python -m proofs

# Hours, and not a part of `test`. MUTANTS: options, as "--every 10 strategies.greedy".
mutants: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --editable ".[mutants]"
	$(BIN)/python -m proofs.mutation $(MUTANTS)

# Compiled anew with every index checked: a kernel that reads beside its arrays fails here.
bounds: $(VENV)/installed
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=build/bounds HYPOTHESIS_PROFILE=ci $(BIN)/python -m pytest -q tests/test_kernel_*.py

# Kernels as Python: their lines count, and a debugger would see them.  Without the tests that run
# in other processes or search at length for faults, which cover little and take long.
LONG := check_stage ties pytest_plugin typing
coverage: $(VENV)/installed
	NUMBA_DISABLE_JIT=1 HYPOTHESIS_PROFILE=few $(BIN)/python -m pytest -q tests packer strategies $(LONG:%=--ignore=tests/test_%.py) --cov --cov-report=term

# The HTML pages in Debian's Chromium; how they look is kept in build/screenshots.
test-browser: $(VENV)/browser
	PACKER_BROWSER=required $(BIN)/python -m pytest -q tests/browser

# The pictures in docs/images, as the tool makes them.
picture: $(VENV)/browser
	$(BIN)/python docs/images/picture.py

$(VENV)/browser: $(VENV)/installed
	command -v chromium || { root=$$([ "$$(id -u)" = 0 ] || echo sudo); $$root apt-get update -qq && $$root apt-get install -y -qq --no-install-recommends chromium; }
	$(BIN)/python -m pip install --quiet --editable ".[browser]"
	touch $@

# The pages as a site in build/docs; a warning or a link to nowhere is an error.
docs: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --editable ".[docs]"
	$(BIN)/sphinx-build -W --keep-going -q -E -b html docs build/docs

# With the real frameworks and stores, which are not in `dev`; what is missing fails.
test-integrations: $(VENV)/integrations
	PACKER_REQUIRE_INTEGRATIONS=1 HYPOTHESIS_PROFILE=ci $(BIN)/python -m pytest -q tests/integrations docs/integrations.md

# Daft, Dask, Ray Data and Spark, in an environment of their own, and a million requests through one.
# ENGINES: options of benchmarks.engines, as "--queries 100000 --engine ray".
test-engines: build/engines/installed
	PACKER_ENGINES=all build/engines/bin/python -m pytest -q tests/engines
	build/engines/bin/python -m benchmarks.engines $(ENGINES)

# BENCH: options, as "--quick --jobs knapsack,mmr". A peer that is not there is reported as missing.
bench: $(VENV)/peers
	$(BIN)/python -m benchmarks $(BENCH)

# Evidence recall on ../shared/data, where that is present; docs/quality.md gets the figures.
quality: $(VENV)/peers
	$(BIN)/python -m benchmarks.quality $(QUALITY)

soak: $(VENV)/installed
	$(BIN)/python -m benchmarks.soak

$(VENV)/peers: $(VENV)/installed
	-$(BIN)/python -m pip install --quiet --editable ".[bench]"
	-npm install --prefix build/npm --no-audit --no-fund --silent @silupanda/context-packer@0.2.0
	touch $@

$(VENV)/integrations: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --editable ".[integrations]"
	touch $@

build/engines/installed: pyproject.toml
	command -v java >/dev/null || { $$(test "$$(id -u)" = 0 || echo sudo) sh -c 'apt-get update -qq && apt-get install -y -qq --no-install-recommends openjdk-17-jre-headless'; }
	$(PYTHON) -m venv build/engines
	build/engines/bin/python -m pip install --quiet --editable ".[engines]" "hypothesis>=6.115" "pytest>=8.3" "sybil>=9"
	touch $@

$(VENV)/installed: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; name one by PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	touch $@

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
