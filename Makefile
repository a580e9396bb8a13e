# kafka-planner: `make demo` shows it, `make test` proves it.
#
# Every target sets up .venv for itself, from pyproject.toml and constraints.txt, and
# does so once. Another Python: make PYTHON=python3.12 … The newest versions that
# pyproject.toml allows, instead of the pinned ones: make UNPINNED=1 …

SHELL := /usr/bin/env bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help demo test coverage quick lint docs dist bench bench-smoke bench-live fuzz fuzz-solved golden \
	soak clean \
	env-base env-dev needs-python needs-tests needs-browser wheel linted checks \
	checked tests
.NOTPARALLEL:

PYTHON ?=
UNPINNED ?=
export PYTHON UNPINNED
# What the user's shell adds to Python's path would hide what is tested; and without
# compiled files every command that a test starts would compile all anew.
unexport PYTHONPATH PYTHONHOME PYTHONDONTWRITEBYTECODE

BIN := .venv/bin
PACKAGES := placement assignment planner
# Of `make coverage`: what lines and branches are counted, and how many the tests must
# reach, in percent.
COVERAGE := $(PACKAGES:%=--cov=%) --cov-branch --cov-report=
COVERAGE_GATE := 95
WORKERS := 2
# Of `make test`: two for the tests on Kafka, which mostly wait for brokers, one for those
# on Spark, and one for those on lakes, which all do the rest as soon as they are done.
# With six, two cores are so busy that brokers and pages answer too late.
ALL_WORKERS := 4
# In the groups and in the order of tests/conftest.py.
GROUPED := --dist loadgroup --no-loadscope-reorder
COMPILE := from placement.core.model.search_budget import NORMAL; from placement.core.search.preload import search_compiled; search_compiled(NORMAL, with_rare=True)
# Of `make fuzz`: how many cases, and from which seed on; `make soak` draws from the seed too.
CASES := 100000
SEED := 1
# Of `make soak`: how long faults are drawn at random.
MINUTES := 4
# And the effort of each plan: with `normal` CP-SAT takes part.
EFFORT := quick

# Of `make golden`: rewrite the corpus; only cases whose name contains a text; print the
# outputs of one case.
WRITE ?=
ONLY ?=
SHOW ?=

help: ## Say what there is to make
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | while IFS=$$'\t' read -r name words; do \
		printf '  make %-12s %s\n' "$$name" "$$words"; done

demo: env-base ## Plan, check and verify on a bundled cluster; needs only Python
	@$(BIN)/kafka-planner demo

test: needs-tests needs-browser wheel checks tests ## Lint, then every test on the built wheel, a real Kafka included

# Counting takes half as much time again, and finds nothing that fails: it runs at night.
coverage: COUNTED := $(COVERAGE)
coverage: test ## The same, and how many lines and branches the tests reach; at least 95 %
	@$(BIN)/coverage report --skip-covered --fail-under=$(COVERAGE_GATE)

quick: env-dev checked ## Lint and the short tests that need no JVM and no browser
	@HYPOTHESIS_PROFILE=quick $(BIN)/pytest -q -n $(WORKERS) $(GROUPED) -m "not kafka and not spark and not browser and not slow and not not_quick"

lint: env-dev linted ## ruff, mypy --strict and the direction of imports

linted:
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

docs: env-dev ## Build the documentation as a site, in site/; a broken link fails
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

dist: env-dev ## Build the wheel and the source archive, in dist/
	@rm -rf dist
	@$(BIN)/python -m build --no-isolation --outdir dist .

bench: env-dev ## Measure, and write the tables of docs/benchmarks.md
	@PYTHONPATH=tests $(BIN)/python -m benchmarks.run --write docs/benchmarks.md
	@PYTHONPATH=tests $(BIN)/python -m benchmarks.placing --write docs/benchmarks.md
	@PYTHONPATH=tests $(BIN)/python -m benchmarks.small --write docs/benchmarks.md
	@PYTHONPATH=tests $(BIN)/python -m benchmarks.shapes --write docs/benchmarks.md
	@PYTHONPATH=tests $(BIN)/python -m benchmarks.comparing --write docs/benchmarks.md
	@PYTHONPATH=tests $(BIN)/python -m benchmarks.consuming --write docs/benchmarks.md
	@PYTHONPATH=tests $(BIN)/python -m benchmarks.waving --write docs/benchmarks.md
	@PYTHONPATH=tests $(BIN)/python -m benchmarks.reporting --write docs/benchmarks.md
	@PYTHONPATH=tests $(BIN)/python -m benchmarks.answering --write docs/benchmarks.md
	@PYTHONPATH=tests $(BIN)/python -m benchmarks.starting --write docs/benchmarks.md
	@PYTHONPATH=tests $(BIN)/python -m benchmarks.tools --write docs/comparison.md
	@PYTHONPATH=tests $(BIN)/python -W ignore -m benchmarks.spark --write docs/benchmarks.md
	@PYTHONPATH=tests $(BIN)/python -W ignore -m benchmarks.spark_small --write docs/benchmarks.md
	@PYTHONPATH=tests $(BIN)/python -W ignore -m benchmarks.keying --write docs/benchmarks.md

bench-smoke: env-dev ## Run every benchmark once, small
	@PYTHONPATH=tests $(BIN)/python -m benchmarks.run --smoke
	@PYTHONPATH=tests $(BIN)/python -m benchmarks.placing --smoke
	@PYTHONPATH=tests $(BIN)/python -m benchmarks.small --smoke
	@PYTHONPATH=tests $(BIN)/python -m benchmarks.shapes --count 4
	@PYTHONPATH=tests $(BIN)/python -m benchmarks.consuming --smoke
	@PYTHONPATH=tests $(BIN)/python -m benchmarks.waving --smoke
	@PYTHONPATH=tests $(BIN)/python -m benchmarks.reporting --smoke
	@PYTHONPATH=tests $(BIN)/python -m benchmarks.answering --smoke
	@PYTHONPATH=tests $(BIN)/python -m benchmarks.starting --smoke
	@PYTHONPATH=tests $(BIN)/python -W ignore -m benchmarks.spark --smoke
	@PYTHONPATH=tests $(BIN)/python -W ignore -m benchmarks.spark_small --smoke
	@PYTHONPATH=tests $(BIN)/python -W ignore -m benchmarks.keying --smoke

bench-live: needs-tests env-dev ## Time a snapshot of a running cluster, and latencies while a plan is carried out
	@PYTHONPATH=tests $(BIN)/python -W ignore -m benchmarks.live
	@PYTHONPATH=tests $(BIN)/python -W ignore -m benchmarks.moving --write docs/benchmarks.md

soak: needs-tests env-dev ## Tests that take long on a real Kafka: random faults, long cuts, a bigger cluster
	@SOAK_MINUTES=$(MINUTES) SOAK_SEED=$(SEED) $(BIN)/pytest -q -s -m soak

fuzz: env-dev ## Draw 100,000 cases of every operation under rules, and judge each plan
	@PYTHONPATH=tests $(BIN)/python -m fuzz.run --cases $(CASES) --seed $(SEED) --effort $(EFFORT)

fuzz-solved: env-dev ## Hold plans of CP-SAT's on 10,000 drawn clusters to the checker
	@PYTHONPATH=tests $(BIN)/python -m fuzz.solved --seed $(SEED)

golden: env-dev ## Compare outputs of every command with the corpus; WRITE=1 rewrites it
	@PYTHONPATH=tests $(BIN)/python -m golden.run --only "$(ONLY)" --show "$(SHOW)" $(if $(WRITE),--write)

clean: ## Remove everything that make made
	rm -rf .venv .cache dist build site demo-plan .hypothesis .mypy_cache .pytest_cache \
		.ruff_cache .import_linter_cache .coverage .coverage.*

# --- what the targets above are made of -------------------------------------------

needs-python:
	@.ci/prerequisites python >/dev/null

needs-tests:
	@.ci/prerequisites python java mvn >/dev/null

needs-browser:
	@.ci/browser
	@.ci/prerequisites chromium >/dev/null

env-base: needs-python
	@.ci/set-up base

env-dev: needs-python
	@.ci/set-up dev

# The tests run against the wheel, not the checkout: what is left out of the wheel
# must fail here, not at the user's.
wheel: env-dev
	@rm -rf dist
	@$(BIN)/python -m build --wheel --no-isolation --outdir dist . >/dev/null
	@rm -f .venv/.is-editable
	@$(BIN)/python -m pip install --quiet --force-reinstall --no-deps dist/*.whl

# Else each worker rewrites the assertions of all tests, as pytest does once.
checks: REWRITE := && { $(BIN)/pytest --collect-only -q >/dev/null || true; }
checks: wheel checked

# The kernels are compiled once, not by each worker, and while there is a core at rest:
# those that were installed, not the ones that lie here.
checked:
	@{ $(BIN)/python -P -c '$(COMPILE)' $(REWRITE); } & compiling=$$!; \
		$(MAKE) --no-print-directory linted || { kill $$compiling; exit 1; }; \
		wait $$compiling

# What needs Kafka or Spark in a process each, and so one after the other: see
# tests/conftest.py.
tests: wheel
	@KAFKA_PLANNER_EXPECT_INSTALLED=1 $(BIN)/pytest -q -n $(ALL_WORKERS) $(GROUPED) $(COUNTED)
