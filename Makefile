# Two environments, both made here: .venv is what a user has, with the demo and JupyterLab; .venv-dev is for those who
# change prodex. Nothing that checks, builds or measures touches the first. PYTHON may name another interpreter.
PYTHON ?= python3
USERS := .venv
VENV := .venv-dev
BIN := $(VENV)/bin

FRESH := $(VENV)/constraints
# Exact versions, so that what is checked here today is what is checked elsewhere tomorrow.
INSTALL := -m pip install --quiet --constraint constraints.txt

# Tests start hundreds of processes, and each would compile prodex anew where compiled modules may not be kept.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: messages demo check test _read _quick _all times test-clock pythons lab docs bench soak dist constraints clean

demo: $(USERS)/.demo ## load the sandbox's catalogue, correct a text, audit it and write a report
	@PRODEX_HOME=data $(USERS)/bin/prodex demo

# The types take one core a quarter of a minute, and the tests have both: they are done side by side.
BESIDE := @$(MAKE) --no-print-directory --jobs 2 _read

check: $(VENV)/.ready ## in a coffee break: all but browsers, JupyterLab, kills and soak, and a tenth of the slow proofs
	$(BESIDE) _quick

test: $(VENV)/.ready ## everything that CI checks
	$(BESIDE) _all

_read:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

_quick:
	$(BIN)/python -m pytest --quick

_all:
	$(BIN)/python -m pytest

times: ## how long `make check` and `make test` take, in a fresh clone; TIMES='--runs 3' for three
	$(PYTHON) -m tests.times $(TIMES)

test-clock: $(VENV)/.ready ## the tests that have to do with dates, with the clock and the zone moved (needs faketime)
	$(BIN)/python -m tests.clock

pythons: ## the quick suite on every supported Python of this machine; says which ones are missing
	$(PYTHON) -m tests.pythons

messages: $(VENV)/.ready ## bring the catalogues of messages up to date with the code, and compile them
	$(BIN)/python -m tests.catalogues

lab: $(USERS)/.lab ## open the first notebook, ready to run
	@PRODEX_HOME=$(CURDIR)/data $(USERS)/bin/prodex lab --to notebooks $(LAB)

docs: $(VENV)/.docs ## build the documentation into docs/_build/html; a warning is an error
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going docs docs/_build/html

# In 15 to 25 minutes. BENCH='--only first_report' measures installations, which take ten more; and
# BENCH='--sizes 10000 100000 1000000 --loaded 30000 1000000' measures at a million as well, which takes hours.
bench: $(VENV)/.bench ## measure what users do, and other ways to load; writes tests/bench/RESULTS.md
	$(BIN)/python -m tests.bench $(BENCH)

# The laws draw ten times as many examples as in every run, and others each time; tests/laws.py has the numbers.
soak: $(VENV)/.ready ## load, kill, refresh and compare at full size, print the figures, and draw many examples of all laws
	$(BIN)/python -m tests.soak
	$(BIN)/python -m pytest --full-laws
	PRODEX_ALL_DAMAGE=1 PRODEX_WHOLE_SAMPLE=1 PRODEX_ALL_REAL=1 $(BIN)/python -m pytest tests/test_damaged_files.py \
		tests/test_sample_json_lines.py tests/changes/test_real_changes.py

dist: $(VENV)/.dist ## build sdist and wheel for a release, twice, to one digest, with a bill of materials
	$(BIN)/python -m tests.dist

constraints: | $(VENV)/bin/python ## renew the exact versions that all of these install
	rm -rf $(FRESH) && $(PYTHON) -m venv $(FRESH)
	$(FRESH)/bin/python -m pip install --quiet --upgrade pip
	$(FRESH)/bin/python -m pip install --quiet --editable '.[all]' --group test --group docs --group bench --group release
	{ grep '^#' constraints.txt; $(FRESH)/bin/python -m pip freeze --all --exclude pip --exclude-editable | grep '=='; } > $(FRESH)/new
	mv $(FRESH)/new constraints.txt && rm -rf $(FRESH)

clean: ## leave only what was written by hand
	rm -rf $(USERS) $(VENV) .venv-3.* dist docs/_build docs/reference/generated docs/extending/generated docs/tutorials/generated notebooks/data .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find data -mindepth 1 -maxdepth 1 ! -name sample ! -name README.md -exec rm -rf {} +

$(USERS)/bin/python $(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "prodex needs Python 3.11 or newer")'
	@$(PYTHON) -m venv $(@D)/..

# The pip that comes with older Pythons does not know dependency groups. The demo needs none, and does not wait for it.
$(USERS)/.pip $(VENV)/.pip: %/.pip: | %/bin/python
	$*/bin/python -m pip install --quiet --upgrade pip
	touch $@

# Only what the demo uses; it compiles what it imports when it runs, so that nothing else has to be compiled.
$(USERS)/.demo: pyproject.toml constraints.txt | $(USERS)/bin/python
	@echo "Installing prodex and what the demo uses into $(USERS) ..."
	@$(USERS)/bin/python $(INSTALL) --no-compile --editable '.[sandbox]'
	@touch $@

$(USERS)/.lab: $(USERS)/.demo | $(USERS)/.pip
	@echo "Installing JupyterLab into $(USERS), which takes a minute or two ..."
	$(USERS)/bin/python $(INSTALL) --editable '.[sandbox,lab]'
	touch $@

# Compiling all of it takes half of the time; what is imported is compiled then.
$(VENV)/.ready: pyproject.toml constraints.txt | $(VENV)/.pip
	$(BIN)/python $(INSTALL) --no-compile --editable '.[sandbox,sql,cluster,publish]' --group test --group docs
	touch $@

$(VENV)/.docs: pyproject.toml constraints.txt | $(VENV)/.pip
	$(BIN)/python $(INSTALL) --editable '.[sandbox]' --group docs
	touch $@

$(VENV)/.dist: pyproject.toml constraints.txt | $(VENV)/.pip
	$(BIN)/python $(INSTALL) --group release
	touch $@

$(VENV)/.bench: $(VENV)/.ready
	$(BIN)/python $(INSTALL) --group bench
	touch $@
