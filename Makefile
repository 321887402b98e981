# Everything runs in .venv, which any target makes first: `make test` is all a fresh clone needs.
# Its two stamps say what is installed in it, and fall out of date with the two files that decide that.

PYTHON ?= python3
INSTALL = .venv/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: help demo test test-all check bench clean

help: ## show these targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 12

demo: .venv/.run ## the main job on real data, start to finish
	.venv/bin/bough demo

test: .venv/.dev ## the tests, without the slow ones
	.venv/bin/pytest

test-all: .venv/.dev ## all the tests
	.venv/bin/pytest -m "slow or not slow"

check: .venv/.dev ## style, types, and which room imports which
	.venv/bin/ruff check
	.venv/bin/ruff format --check
	.venv/bin/pyright
	.venv/bin/lint-imports

bench: .venv/.dev ## the same work side by side with the peers
	.venv/bin/bough bench

clean: ## remove the environment and every cache
	rm -rf .venv .pytest_cache .ruff_cache .hypothesis .import_linter_cache dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/.run: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(INSTALL) -e .
	touch $@

.venv/.dev: .venv/.run
	$(INSTALL) -e ".[dev]"
	touch $@
