# `make demo` and `make test` set up what they need in .venv; PYTHON names another interpreter.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
POLICY := threshold(0.1) | current() | dedup(0.85) | mmr(0.7) | ushape

.PHONY: demo test lint types properties coverage bench clean

demo: $(VENV)/installed
	$(BIN)/packer pack examples/support/chunks.jsonl --budget 600 --policy "$(POLICY)"
	$(BIN)/packer explain examples/support/chunks.jsonl --budget 600 --policy "$(POLICY)" "mail-templates#0"

test: lint types properties coverage

lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache

types: $(VENV)/installed
	$(BIN)/mypy

properties: $(VENV)/installed
	HYPOTHESIS_PROFILE=ci $(BIN)/python -m pytest -q

# Kernels as Python: their lines count, and a debugger would see them.
coverage: $(VENV)/installed
	NUMBA_DISABLE_JIT=1 HYPOTHESIS_PROFILE=ci $(BIN)/python -m pytest -q --cov --cov-report=term

bench: $(VENV)/installed
	$(BIN)/python -m benchmarks.import_time

$(VENV)/installed: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; name one by PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	touch $@

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
