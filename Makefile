# What a person types: make chat, make test, make check, make fix.
# Needs python3 >= 3.11 with venv, and nothing as root. PYTHON=/path/to/python picks another one.

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PYTHON ?= $(or $(shell command -v python3.11 2>/dev/null),$(shell command -v python3 2>/dev/null))
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help setup chat test check fix

help:
	@echo 'make setup   make .venv with the sayso command in it'
	@echo 'make chat    talk to sayso on this machine'
	@echo 'make test    run the tests'
	@echo 'make check   format, lint, types, import contracts, docs'
	@echo 'make fix     mend what a tool can mend'

setup: $(STAMP)

$(STAMP): requirements.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo 'No python3 found. Install Python 3.11 or newer (Debian: apt install python3 python3-venv).'; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo 'sayso needs Python 3.11 or newer; $(PYTHON) is older. Try: make setup PYTHON=/path/to/python3.11'; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null \
	  || { echo '$(PYTHON) cannot make virtual environments. Debian: apt install python3-venv'; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo 'Installing what requirements.lock lists; this takes a minute the first time.'
	@$(BIN)/python -m pip install --quiet --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --no-build-isolation --no-deps -e .
	@touch $(STAMP)

chat: setup
	@$(BIN)/sayso chat

test: setup
	$(BIN)/pytest -m "not live" -n auto tests/gate tests/ledger \
	  --cov=gate --cov=ledger --cov-branch --cov-report=term-missing:skip-covered --cov-fail-under=100
	$(BIN)/pytest -m "not live" -n auto --dist worksteal --ignore=tests/gate --ignore=tests/ledger

check: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -q tests/test_docs.py

fix: setup
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
