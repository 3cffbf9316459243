# Two commands do everything on a fresh machine that has git, make and Python 3.11+:
#   make demo   runs the embedded model
#   make test   runs lint, types and tests against the installed package

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
PACKAGE := pyproject.toml constraints.txt $(shell find src -type f -not -name '*.pyc')

.PHONY: demo test lint types unit clean

demo: $(VENV)/.installed
	@$(BIN)/emoscope demo

test: lint types unit

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(VENV)/.installed-dev
	$(BIN)/mypy

unit: $(VENV)/.installed-dev
	$(BIN)/pytest -n auto --doctest-modules --pyargs emoscope tests

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "emoscope needs Python 3.11 or newer; set PYTHON=...")'
	$(PYTHON) -m venv $(VENV)

# The package is installed, not linked, so that what is tested is what a user gets.
$(VENV)/.installed: $(VENV)/bin/python $(PACKAGE)
	$(PIP) install --constraint constraints.txt .
	$(PIP) install --force-reinstall --no-deps .
	@touch $@

$(VENV)/.installed-dev: $(VENV)/bin/python $(PACKAGE)
	$(PIP) install --constraint constraints.txt '.[dev]'
	$(PIP) install --force-reinstall --no-deps .
	@touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
