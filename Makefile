# One command for each thing a contributor does. CI runs `make check test docs` and nothing of its own.
# Needs only Rust (cargo), Python 3.10 or later with venv, and a C compiler; the rest goes into .venv.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

VENV := .venv
BIN := $(VENV)/bin
# The first Python on the path that is new enough; the versions with wheels of every test tool come first.
FIND_PYTHON = for python in python3.11 python3.12 python3.13 python3 python3.10; do \
	  if $$python -c 'import sys, venv; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then echo $$python; exit; fi; \
	done; echo "needs Python 3.10 or later with the venv module" >&2; exit 1
PYTHON ?= $(shell $(FIND_PYTHON))

LOCK := requirements.lock
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
CRATES := $(shell find crates -type f)
# The binding is an extension module: it links into Python alone, so that its tests are pytest's.
RUST_TESTED := --workspace --exclude reinfors-py
# Golden records have no --check: parity tests hold the same code to the reference live.
GENERATORS := $(filter-out scripts/make_golden%,$(wildcard scripts/make_*.py))
PYTHON_SOURCES := python tests docs examples scripts

SCENES ?= 100000
HOURS ?= 24

export VIRTUAL_ENV := $(abspath $(VENV))
# One interpreter for every build of the binding, so that cargo does not build pyo3 twice.
export PYO3_PYTHON := $(abspath $(BIN)/python)

.PHONY: help setup check check-rust check-python check-generated format test test-rust test-python bench bench-check docs demo fuzz soak wheel clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-16s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

# Set-up: each stamp is made once, and again when what it stands on changes.

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(PIP) install $$(grep -E '^pip==' $(LOCK))

$(VENV)/demo.stamp: $(LOCK) pyproject.toml | $(BIN)/python
	$(PIP) install --group build --group demo --constraint $(LOCK)
	@touch $@

$(VENV)/tools.stamp: $(LOCK) pyproject.toml | $(BIN)/python
	$(PIP) install --group tools --constraint $(LOCK)
	@touch $@ $(VENV)/demo.stamp

$(VENV)/extension.stamp: Cargo.toml Cargo.lock pyproject.toml $(CRATES) | $(VENV)/demo.stamp
	$(BIN)/maturin develop --release --locked --quiet
	@touch $@

# What only the tests of adapters, examples and guides need: gigabytes.
$(VENV)/learn.stamp: $(LOCK) pyproject.toml | $(VENV)/tools.stamp
	$(PIP) install --group learn --constraint $(LOCK)
	@touch $@

setup: $(VENV)/tools.stamp $(VENV)/extension.stamp ## Create .venv: locked tools, the release extension, commit hooks
	@if git rev-parse --git-dir >/dev/null 2>&1; then $(BIN)/pre-commit install; fi

check: check-rust check-python check-generated ## Formats, lints, types, stub, layers, generated files, rustdoc

check-rust: | $(BIN)/python
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --all-features --locked --quiet -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked --quiet

check-python: $(VENV)/tools.stamp $(VENV)/extension.stamp
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy $(PYTHON_SOURCES)
	$(BIN)/stubtest reinfors._reinfors
	$(BIN)/pytest --quiet tests/test_layers.py

check-generated: $(VENV)/tools.stamp $(VENV)/extension.stamp
	for script in $(GENERATORS); do echo "$$script --check"; $(BIN)/python $$script --check; done

format: $(VENV)/tools.stamp ## Format Rust and Python in place
	cargo fmt --all
	$(BIN)/ruff check --fix-only --quiet
	$(BIN)/ruff format --quiet

test: test-rust test-python ## All tests: cargo's unoptimised with assertions, pytest's on the release build

# The digests of the engine's records are constants: the release build is held to them here, where only the engine
# and what it stands on are compiled once more.
test-rust:
	cargo test $(RUST_TESTED) --locked --quiet
	cargo test --release --locked --quiet -p reinfors-engine --test integration determinism

test-python: $(VENV)/tools.stamp $(VENV)/learn.stamp $(VENV)/extension.stamp
	$(BIN)/pytest

bench: $(VENV)/tools.stamp $(VENV)/extension.stamp ## reinfors and its peers in one run (ARGS="--quick --install-peers"); leaves out/bench.*
	@mkdir -p out
	$(BIN)/python -m reinfors.bench --json out/bench.json --plot out/bench.svg $(ARGS)

bench-check: | $(BIN)/python ## Instructions of fixed work against the record, under valgrind (ARGS=--record)
	$(BIN)/python scripts/count_instructions.py $(ARGS)

docs: $(VENV)/tools.stamp $(VENV)/extension.stamp ## Build the site into site/; a warning is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

fuzz: ## Draw 100,000 random scenes (SCENES=n) with both rasterisers, of the library and of each game
	REINFORS_FUZZ_SCENES=$(SCENES) cargo test --release --locked --quiet -p reinfors-render -p reinfors-games thumbnails

demo: $(VENV)/demo.stamp $(VENV)/extension.stamp ## Train a small NumPy network for a minute; leaves a film, a picture and its weights in out/
	$(BIN)/reinfors demo $(ARGS)

wheel: | $(VENV)/demo.stamp ## Build the wheel and the sdist into dist/; try the wheel in a bare environment without Rust
	rm -rf dist
	$(BIN)/maturin build --release --locked --quiet --out dist
	$(BIN)/maturin sdist --out dist
	$(BIN)/python scripts/check_wheel.py dist

soak: $(VENV)/demo.stamp $(VENV)/extension.stamp ## Use everything for a day's steps (HOURS=24); memory must stay flat
	MALLOC_ARENA_MAX=1 $(BIN)/python scripts/soak.py --hours $(HOURS)  # what arenas keep is not what we hold

lock: $(VENV)/tools.stamp ## Resolve the versions of requirements.lock anew
	$(BIN)/uv pip compile --quiet --universal --python-version 3.10 --upgrade --no-annotate \
	  --group tools --group learn --custom-compile-command "make lock" --output-file $(LOCK)

clean: ## Remove everything that make has made
	rm -rf $(VENV) target site out dist .mypy_cache .pytest_cache .ruff_cache .hypothesis python/reinfors/*.so
	find $(PYTHON_SOURCES) -name __pycache__ -prune -exec rm -rf {} +
