# make demo: see it work.   make test: everything that must hold.   make bench: how fast, beside its anchors.
# make test-agents: the same with every real agent.   make accuracy: how often it reads them right.
# make docs: the pages that are made from the source.   make pictures: the picture of the README, with real agents.
# make flows: which files each of five flows enters (docs/how-it-works/flows.md).
# make night: one night of a real agent, played against short thresholds (docs/guides/overnight.md).
# make newest: today's newest release of every agent, played and judged (docs/guides/new-release.md).
SHELL := /bin/sh
VENV := .venv
PY := $(VENV)/bin/python
MQTT := mosquitto=mosquitto mosquitto_pub=mosquitto-clients openssl=openssl
LAB := bwrap=bubblewrap socat=socat jq=jq unshare=util-linux setpriv=util-linux ps=procps ip=iproute2
PIP := $(PY) -m pip install --quiet --disable-pip-version-check
LOCKED := $(PIP) --require-hashes --requirement
PYTEST := $(VENV)/bin/pytest --durations=20

.PHONY: demo test test-agents other-agents agents accuracy newest bench install lint unit integration first-agents clean

demo: prepared
	@$(VENV)/bin/midwatch demo

install: prepared
	@echo "installed: $(CURDIR)/$(VENV)/bin/midwatch (for every shell: uv tool install ., or pipx install .)"

.PHONY: prepared
prepared: $(VENV)/.runtime
	@# Sources are installed in place; compiled files keep every start fast, whatever PYTHONDONTWRITEBYTECODE says.
	@env -u PYTHONDONTWRITEBYTECODE $(PY) -m compileall -q src

$(VENV)/.runtime: pyproject.toml scripts/venv requirements/pip.txt requirements/run.txt
	@echo "preparing $(VENV) …"
	@scripts/venv $(VENV)
	@$(LOCKED) requirements/run.txt
	@$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.dev: requirements/dev.txt $(VENV)/.runtime
	@$(LOCKED) requirements/dev.txt
	@touch $@

# Versions and hashes of all that is installed, anew. requirements/*.in and tests/lab/agents.toml say which.
.PHONY: locks
locks: prepared $(VENV)/.dev
	@scripts/locks
	@scripts/agents --all --lock
	@PYTHONPATH=. $(PY) -m bench.rivals --lock

test: prepared $(VENV)/.dev
	@scripts/need strace=strace tmux=tmux perl=perl busybox=busybox shellcheck=shellcheck zsh=zsh fish=fish node=nodejs $(LAB) $(MQTT)
	@PYTHON=$(PY) scripts/hermes
	@$(MAKE) --no-print-directory lint unit integration first-agents

# Real agents, installed with npm at pinned versions into a cache outside the repository.
agents: prepared $(VENV)/.dev
	@scripts/need tmux=tmux $(LAB)
	@scripts/agents --all

test-agents: agents
	$(PYTEST) tests/agents

# The night of a real agent depends on a machine without other load; `make night` and `make test-agents` play it.
FIRST := (claude or codex) and not previous and not night
first-agents:
	@scripts/agents claude codex
	$(PYTEST) tests/agents -m "$(FIRST)"

# Those that `make test` leaves out. Agents mostly wait, so three at a time keep two cores busy.
other-agents: agents
	$(PYTEST) -n 3 tests/agents -m "not night and not ($(FIRST))"

.PHONY: night
night: prepared $(VENV)/.dev
	@scripts/need tmux=tmux $(LAB)
	@scripts/agents claude
	$(PYTEST) tests/agents -m night

accuracy: prepared $(VENV)/.dev
	@PYTHONPATH=. $(PY) -m tests.accuracy

# An hour on two cores. AGENTS="claude qwen" plays only those.
newest: prepared $(VENV)/.dev
	@scripts/need tmux=tmux $(LAB)
	@PYTHONPATH=. $(PY) -m tests.accuracy.newest $(AGENTS)

# Ten minutes of hostile input for every reader of foreign bytes. FUZZ="--seconds 60 tmux" is shorter.
.PHONY: fuzz
fuzz: prepared $(VENV)/.dev
	@$(LOCKED) requirements/fuzz.txt
	@PYTHONPATH=. $(PY) -m tests.fuzz $(FUZZ)

# Which files of src/midwatch five flows enter: make flows > docs/how-it-works/flows.md
.PHONY: flows
flows: prepared $(VENV)/.dev
	@scripts/need tmux=tmux
	@$(PY) scripts/flows

.PHONY: docs
docs: prepared
	@$(PY) scripts/command-line > docs/reference/command-line.md

.PHONY: pictures
pictures: prepared $(VENV)/.dev
	@scripts/need tmux=tmux $(LAB)
	@scripts/agents claude codex
	@$(PY) scripts/pictures docs

lint:
	$(VENV)/bin/ruff check --quiet .
	$(VENV)/bin/bandit --quiet --configfile pyproject.toml --recursive src
	$(VENV)/bin/mypy --no-error-summary
	PYTHONPATH=src $(VENV)/bin/lint-imports --no-logo

unit:
	$(PYTEST) -n 2 tests/unit tests/property tests/fuzz tests/architecture tests/accuracy

integration:
	$(PYTEST) -n 4 tests/integration

# What is released: a wheel and the sources, the same bytes wherever they are built.
.PHONY: dist
dist: prepared $(VENV)/.dev
	@$(PY) scripts/dist dist

bench: prepared
	@scripts/need tsp=task-spooler inotifywait=inotify-tools tmux=tmux node=nodejs
	@$(LOCKED) requirements/bench.txt
	@$(PY) -m bench.rivals
	@$(PY) -m bench

clean:
	rm -rf $(VENV) dist .mypy_cache .ruff_cache .hypothesis build
