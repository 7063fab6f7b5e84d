# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
BIN := .venv/bin
ARGS ?=

.PHONY: demo test check lint unit integration e2e kill-matrix screens bench soak image fuzz mutants messages lock chromium postgres node slack-types

## demo: the whole story on this machine, no Slack account needed (ARGS=--auto plays the reviewers too)
demo: .venv/ready
	@$(BIN)/python tests/demo.py $(ARGS)

## test: the tests of CI
test: check e2e

## check: lint, format, types, import contracts, unit and integration tests
check: lint unit integration

lint: .venv/ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tests/check_hosts.py

unit: .venv/ready slack-types
	$(BIN)/python -m pytest tests/unit -q -n 2

integration: .venv/ready postgres chromium slack-types
	$(BIN)/python -m pytest tests/integration -q -n 3

e2e: .venv/ready chromium
	$(BIN)/python -m pytest tests/e2e -q -n 3 --dist loadfile

## kill-matrix: kill -9 every process at every step of a run (ARGS='-k effects.intend' for some; part of e2e)
kill-matrix: .venv/ready
	$(BIN)/python -m pytest tests/e2e/test_kill_matrix.py -q $(ARGS)

## screens: takes a picture of every card and modal, at phone and desk width, into docs/screens
screens: .venv/ready chromium
	$(BIN)/python tests/screens.py
	$(BIN)/python tests/screens_home.py
	$(BIN)/python tests/screens_after.py

## bench: ours beside the peers' (ARGS: names of benches, --full; --write makes docs/benchmarks.md)
bench: .venv/ready postgres
	$(BIN)/python bench/run.py $(ARGS)

## soak: mixed traffic while every process is killed at random, then an audit (MINUTES, default 30; ARGS=--calm kills nothing)
soak: .venv/ready
	$(BIN)/python bench/soak.py $(or $(MINUTES),30) $(ARGS)

## image: builds deploy/Containerfile with podman, docker or buildah, whichever answers here (IMAGE, default vobo)
image:
	@$(PYTHON) tests/container_image.py $(or $(IMAGE),vobo)

## fuzz: random sequences against a model of the store, then every property test, other ones every time (ARGS=how many, default 300)
fuzz: .venv/ready postgres chromium slack-types
	FUZZ_EXAMPLES=$(or $(ARGS),300) $(BIN)/python -m pytest tests/integration/test_stateful.py -q
	$(BIN)/python -m pytest tests/unit tests/integration -q -n 2 -m hypothesis --hypothesis-profile=fuzz

## mutants: takes every guard away, one at a time, in a copy, and writes which test notices to docs/guards.md
mutants: .venv/ready slack-types
	$(BIN)/python tests/mutants.py $(ARGS)

## messages: brings the catalogues of bot/locales up to date with the texts in bot/, keeping what is translated
messages: .venv/ready
	@$(BIN)/python tests/messages.py

## lock: re-resolve the newest stable releases into requirements.lock
lock:
	uv pip compile --group dev --all-extras pyproject.toml --generate-hashes --no-emit-index-url --no-header --universal --python-version 3.11 -o requirements.lock

.venv/ready: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "vobo needs Python 3.11 or newer; set PYTHON=/path/to/python3.11"; exit 1; }
	@echo "Setting up .venv (about a minute, once)"
	@$(PYTHON) -m venv .venv
	@$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock 2>&1 | grep -v '^WARNING: Location' || true
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e . 2>&1 | grep -v '^WARNING: Location' || true
	@$(BIN)/python -c 'import bot, worker, policies, approvals'
	@touch .venv/ready

chromium:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null \
	  || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && echo "Installing Chromium for the browser tests" \
	       && apt-get update -qq && apt-get install -y -qq chromium >/dev/null; } \
	  || { echo "The browser tests need Chromium. Install it with: sudo apt-get install chromium"; exit 1; }

postgres:
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null \
	  || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && echo "Installing PostgreSQL for the ledger's tests" \
	       && apt-get update -qq && apt-get install -y -qq postgresql >/dev/null; } \
	  || { echo "The ledger is tested on PostgreSQL too. Install one with: sudo apt-get install postgresql"; exit 1; }

node:
	@command -v node >/dev/null && command -v npm >/dev/null \
	  || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && echo "Installing Node for the schema of Slack's types" \
	       && apt-get update -qq && apt-get install -y -qq --no-install-recommends nodejs npm >/dev/null; } \
	  || { echo "The cards are tested against Slack's own types. Install Node 18 or newer: sudo apt-get install nodejs npm"; exit 1; }

# Slack's types as a JSON schema in .var/, made once for each version that tests/slack_types/ pins
slack-types: .venv/ready node
	@$(BIN)/python tests/oracle_types.py
