PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEMO_OUT ?= demo-output
LOCK := scripts/requirements.txt
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test test-thorough venv bench lint docs lock audit clean

venv: $(STAMP)

$(STAMP): pyproject.toml scripts/constraints.txt $(LOCK)
	@command -v $(PYTHON) >/dev/null || { echo "make: $(PYTHON) not found; set PYTHON=..., 3.11 or later" >&2; exit 1; }
	@case "$$($(PYTHON) -c 'import sys; print(sys.version_info >= (3, 11))')" in True) ;; \
	  False) echo "make: $$($(PYTHON) --version) is too old; Python 3.11 or later is needed, as in PYTHON=python3.12 make venv" >&2; exit 1;; \
	  *) echo "make: $(PYTHON) does not run; set PYTHON=..., 3.11 or later, as in PYTHON=python3.12 make venv" >&2; exit 1;; esac
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --require-hashes -r $(LOCK)
	$(PIP) --no-deps --no-build-isolation -e .
	@touch $(STAMP)

demo: $(STAMP)
	$(BIN)/granola demo --out $(DEMO_OUT)

# Compiled modules are kept, even where PYTHONDONTWRITEBYTECODE is set: compiling takes a fifth of the tests' time.
test: $(STAMP)
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n auto --dist loadgroup

test-thorough: $(STAMP)
	PYTHONDONTWRITEBYTECODE= GRANOLA_THOROUGH=1 $(BIN)/python -m pytest -m "not thorough" -n auto --dist loadgroup --timeout 3600
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m tests.thorough --record

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/mypy

docs: $(STAMP)
	PYTHONPATH=. $(BIN)/python scripts/command_docs.py
	$(BIN)/python scripts/api_docs.py

lock:
	$(PYTHON) scripts/lock.py

audit:
	PYTHON=$(PYTHON) scripts/audit.sh

bench: $(STAMP)
	$(BIN)/python scripts/bench_matching.py
	$(BIN)/python scripts/bench_decoding.py
	$(BIN)/python scripts/bench_dump.py
	$(BIN)/python scripts/bench_neo4j.py
	GRANOLA_RANDOM_STRINGS=1000000 $(BIN)/python -m pytest -q --timeout 0 tests/granola/test_grounding_text.py -k random_strings

clean:
	rm -rf $(VENV) $(DEMO_OUT) api-docs .mypy_cache .ruff_cache .pytest_cache
