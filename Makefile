# make demo: see it work.   make test: everything that must hold.   make bench: how fast, beside its anchors.
SHELL := /bin/sh
VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip install --quiet --disable-pip-version-check

.PHONY: demo test bench install lint unit integration clean

demo: install
	@$(VENV)/bin/dogwatch demo

install: $(VENV)/.runtime
	@# Sources are installed in place; compiled files keep every start fast, whatever PYTHONDONTWRITEBYTECODE says.
	@env -u PYTHONDONTWRITEBYTECODE $(PY) -m compileall -q src

$(VENV)/.runtime: pyproject.toml scripts/venv
	@echo "preparing $(VENV) …"
	@scripts/venv $(VENV)
	@$(PIP) --editable .
	@touch $@

$(VENV)/.dev: requirements-dev.txt $(VENV)/.runtime
	@$(PIP) --requirement requirements-dev.txt
	@touch $@

test: install $(VENV)/.dev
	@scripts/need strace=strace
	@$(MAKE) --no-print-directory lint unit integration

lint:
	$(VENV)/bin/ruff check --quiet .
	$(VENV)/bin/mypy --no-error-summary
	PYTHONPATH=src $(VENV)/bin/lint-imports --no-logo

unit:
	$(VENV)/bin/pytest tests/unit tests/property tests/architecture

integration:
	$(VENV)/bin/pytest -n 4 tests/integration

bench: install
	@scripts/need tsp=task-spooler inotifywait=inotify-tools
	@$(PIP) --requirement requirements-bench.txt
	@$(PY) -m bench

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .hypothesis build
