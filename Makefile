# What a developer types. Each target sets up what it needs; only Python 3.11+, git and a package index have to be there.
#
#   make demo      the main job on the shipped examples, in a new folder
#   make test      all fast tests
#   make check     style, types, layers, sizes; generated files are current
#   make generate  writes the generated files: schemas/, docs/fields.md, docs/findings.md, clusters/
#   make e2e       the same objects and runs on a real control plane (needs Go; T=name plays one test,
#                  WITHIN=minutes skips, saying so, what can't be built or begun in time)
#   make bench     speed, against the floor and against kubectl kustomize; ARGS=--quick for a look
#   make search    looks for examples that break a property, new ones each time
#   make clean     removes the environment and caches

SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
STAMP := $(VENV)/.installed
TAUGEN := $(PY) -m taugen
CORES := $(shell nproc 2>/dev/null || echo 2)
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test e2e check generate schemas docs clusters bench search clean
.DEFAULT_GOAL := demo

# One install, repeated only when pyproject.toml changes.
$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "taugen needs Python 3.11 or newer; choose one with: make PYTHON=python3.12")'
	@test -x $(PY) || $(PYTHON) -m venv $(VENV)
	@echo "installing taugen and its tools into $(VENV)" >&2
	@$(PY) -m pip install --quiet --editable '.[dev]'
	@touch $(STAMP)

demo: $(STAMP)
	@$(TAUGEN) demo $(DIR)
	@command -v taugen >/dev/null || echo "The command stands in $(VENV)/bin; this puts it on the path: . $(abspath $(VENV))/bin/activate"

test: $(STAMP)
	@$(PY) -m pytest -n $(CORES)

e2e: $(STAMP)
	@$(PY) -m tests.e2e $(if $(WITHIN),--within $(WITHIN)) $(T)

check: $(STAMP)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports
	$(PY) -m pytest -p no:cacheprovider tests/house
	$(TAUGEN) schema --write schemas --check
	$(PY) tools/make_docs.py --check
	$(TAUGEN) -C examples check --strict
	$(TAUGEN) -C examples render -o . --check

generate: schemas docs clusters

schemas: $(STAMP)
	$(TAUGEN) schema --write schemas

docs: $(STAMP)
	$(PY) tools/make_docs.py

clusters: $(STAMP)
	$(TAUGEN) -C examples render -o .

search: $(STAMP)
	@TAUGEN_SEARCH=1 $(PY) -m pytest -n $(CORES) $$(grep -rl --include='test_*.py' '^@given' tests --exclude-dir=e2e)
	@$(PY) -m tests.attacks.fuzz --count 20000

bench: $(STAMP)
	@$(PY) -m benchmarks $(ARGS)

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache taugen-demo
