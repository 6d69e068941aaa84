# Everything runs from the .venv made here; PYTHON may name another interpreter (3.11 or newer).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lab bench soak clean

demo: $(VENV)/.ready ## pull the sandbox's catalogue, correct a text, audit it and write a report
	PRODEX_HOME=data $(BIN)/prodex demo

test: $(VENV)/.ready ## everything that CI checks
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest

lab: $(VENV)/.lab ## open the first notebook, ready to run
	PRODEX_HOME=$(CURDIR)/data $(BIN)/jupyter lab notebooks/01_first_look.ipynb

bench: $(VENV)/.bench ## measure against json_normalize and dlt
	$(BIN)/python -m tests.bench

soak: $(VENV)/.ready ## load, kill, refresh and compare at full size, and print the figures
	$(BIN)/python -m tests.soak
	PRODEX_ALL_DAMAGE=1 $(BIN)/python -m pytest tests/test_damaged_files.py

clean: ## leave only what was written by hand
	rm -rf $(VENV) notebooks/data .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find data -mindepth 1 -maxdepth 1 ! -name sample ! -name README.md -exec rm -rf {} +

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "prodex needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.ready: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable '.[sandbox,sql]' --group test
	touch $@

$(VENV)/.lab: $(VENV)/.ready
	$(BIN)/python -m pip install --quiet --editable '.[lab]'
	touch $@

$(VENV)/.bench: $(VENV)/.ready
	$(BIN)/python -m pip install --quiet --group bench
	touch $@
