# OpAtlas: `make run` serves it, `make test` proves it, `make bench` times it.
#
# The environment is rebuilt only when a requirements file changes: a stamp in .venv carries the
# checksum of what was installed. The gates of `make test` are a table in tests/gates.py; pytest
# runs there once with PostgreSQL (tests marked `postgres` or `both_databases`) and once with
# SQLite (everything not marked `postgres`).

VENV := .venv
PY := $(VENV)/bin/python
RUN_STAMP := $(VENV)/.installed-$(shell cat requirements.txt | cksum | tr ' ' '-')
TEST_STAMP := $(VENV)/.installed-test-$(shell cat requirements.txt requirements-test.txt | cksum | tr ' ' '-')

# The first interpreter that is new enough and can make an environment; `make PYTHON=... ` overrides.
USABLE := import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(firstword $(foreach name,python3.11 python3.12 python3.13 python3.14 python3,\
	$(shell $(name) -c '$(USABLE)' >/dev/null 2>&1 && echo $(name))))

.PHONY: run test lint bench messages clean
.DEFAULT_GOAL := run

run: $(RUN_STAMP)
	@exec $(PY) manage.py up $(if $(HOST),--host $(HOST)) $(if $(PORT),--port $(PORT))

test: $(TEST_STAMP)
	@exec $(PY) -m tests.gates

lint: $(TEST_STAMP)
	@exec $(PY) -m tests.gates --static

bench: $(RUN_STAMP)
	@exec $(PY) -m tests.bench $(if $(ONLY),--only $(ONLY))

# Collects the strings of the pages and the engine, merges them into the catalogue, compiles it.
messages: $(TEST_STAMP)
	@exec $(PY) manage.py messages

# Leaves var/ alone: it holds the database, the cases and the reports.
clean:
	rm -rf $(VENV) build dist staticfiles *.egg-info .mypy_cache .ruff_cache .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(PY):
	@test -n "$(PYTHON)" || { echo "OpAtlas needs Python 3.11 or newer with venv \
	(Debian: apt-get install python3-venv)." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(RUN_STAMP): $(PY)
	@echo 'Installing requirements.txt into $(VENV) (about 1.4 GB the first time).'
	$(PY) -m pip install --quiet --disable-pip-version-check -r requirements.txt
	@rm -f $(VENV)/.installed-*
	@touch $@

$(TEST_STAMP): $(PY)
	@echo 'Installing requirements-test.txt into $(VENV) (about 1.5 GB the first time).'
	$(PY) -m pip install --quiet --disable-pip-version-check -r requirements-test.txt
	@rm -f $(VENV)/.installed-*
	@touch $@ $(RUN_STAMP)
