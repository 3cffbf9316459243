# Two commands do everything on a fresh machine that has git, make and Python 3.11+:
#   make demo       runs the embedded model
#   make test       runs lint, types and unit tests against the installed package, in some minutes
# and a third what CI runs:
#   make test-all   also the tests that start browsers, databases or Ray, kill processes, or take long
# make docs builds the documentation, make package the wheel and the sdist.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
PACKAGE := pyproject.toml constraints.txt hatch_build.py $(shell find src -type f -not -name '*.pyc' -not -name 'libemoscope.*')

.PHONY: demo test test-all docs package lint types unit all-tests clean

demo: $(VENV)/.installed
	@$(BIN)/emoscope demo

test: lint types unit

test-all: lint types all-tests

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(VENV)/.installed-dev
	$(BIN)/mypy

# The tests of a file share what they train, so a file stays on one worker.
PYTEST := $(BIN)/pytest -n auto --dist loadfile --doctest-modules --pyargs emoscope tests

unit: $(VENV)/.installed-dev
	$(PYTEST) -m 'not e2e and not slow'

all-tests: $(VENV)/.installed-dev
	$(PYTEST)

# The site in build/site: open build/site/index.html, no server needed.
docs: $(VENV)/.installed-dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# The wheel and the sdist in dist/, with a version and a changelog that agree, and a description a package index accepts.
package: $(VENV)/.installed-dev
	$(BIN)/python tools/release_check.py
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/twine check --strict dist/*

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
