# `make demo` and `make test` set up what they need in .venv; PYTHON names another interpreter.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
POLICY := current() | threshold(0.1) | dedup(0.85) | mmr(0.7) | ushape

.PHONY: demo test lint types properties bounds coverage bench quality soak clean

demo: $(VENV)/installed
	$(BIN)/packer pack examples/support/chunks.jsonl --budget 600 --policy "$(POLICY)"
	$(BIN)/packer explain examples/support/chunks.jsonl --budget 600 --policy "$(POLICY)" "mail-templates#0"

test: lint types properties bounds coverage

lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache

types: $(VENV)/installed
	$(BIN)/mypy

properties: $(VENV)/installed
	HYPOTHESIS_PROFILE=ci $(BIN)/python -m pytest -q

# Compiled anew with every index checked: a kernel that reads beside its arrays fails here.
bounds: $(VENV)/installed
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=build/bounds HYPOTHESIS_PROFILE=ci $(BIN)/python -m pytest -q tests/test_kernel_*.py

# Kernels as Python: their lines count, and a debugger would see them.
coverage: $(VENV)/installed
	NUMBA_DISABLE_JIT=1 HYPOTHESIS_PROFILE=ci $(BIN)/python -m pytest -q --cov --cov-report=term

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

$(VENV)/installed: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; name one by PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	touch $@

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
