"""A kanban board of the real Hermes, in a home and a network of its own."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from midwatch.integrations import hermes_kanban
from midwatch.integrations.hermes_kanban import KanbanCard
from tests.conftest import PATIENCE, tool
from tests.lab import hermes
from tests.lab.installs import NotInstalled

PASSED = (
    "HERMES_KANBAN_DB", "HERMES_KANBAN_BUSY_TIMEOUT_MS", "HERMES_PROFILE_NAME", "HERMES_KANBAN_TASK",
    "HERMES_KANBAN_RUN_ID", "PYTHONUTF8",
)  # fmt: skip
"""What reaches Hermes of the environment, besides what it is given here."""


class Board:
    """A board, and a person who uses it."""

    def __init__(self, home: Path, program: Path) -> None:
        self.home = home
        self.calls = home / "calls"
        self.program = str(home / "hermes")
        unshare = [tool("unshare"), *([] if os.getuid() == 0 else ["--user", "--map-current-user"]), "--net", "--"]
        given = ["PATH=/usr/bin:/bin", "LANG=C.UTF-8", f"HOME={home}", f"HERMES_HOME={home / '.hermes'}"]
        passed = " ".join(f'${{{name}:+"{name}=${name}"}}' for name in PASSED)
        (home / "hermes").write_text(
            f'#!/bin/sh\necho "$2" >> {shlex.quote(str(self.calls))}\n'
            f'exec {shlex.join([*unshare, "env", "-i", *given])} {passed} {shlex.quote(str(program))} "$@"\n'
        )
        (home / "hermes").chmod(0o755)

    def __call__(self, *words: str) -> str:
        """What a person types after `hermes kanban`, and what Hermes answers."""
        done = subprocess.run(
            [self.program, "kanban", *words], env={"PATH": os.environ["PATH"]}, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=PATIENCE * 2, check=False,
        )  # fmt: skip
        return done.stdout

    def new(self, *words: str) -> KanbanCard:
        """A card that a person has made."""
        return self.card(json.loads(self("create", "--json", *words, "watch my sessions"))["id"])

    def card(self, task: str, **more: str) -> KanbanCard:
        return KanbanCard(task, program=self.program, **more)

    # What is on it, read from its database: a call of Hermes takes a second

    def task(self, card: KanbanCard) -> dict[str, Any]:
        (found,) = self._rows("SELECT * FROM tasks WHERE id = ?", card)
        return found

    def status(self, card: KanbanCard) -> str:
        return str(self.task(card)["status"])

    def comments(self, card: KanbanCard) -> list[tuple[str, str]]:
        return [
            (row["author"], row["body"]) for row in self._rows("SELECT * FROM task_comments WHERE task_id = ?", card)
        ]

    def notes(self, card: KanbanCard) -> list[str]:
        """What heartbeats said."""
        rows = self._rows("SELECT * FROM task_events WHERE task_id = ? AND kind = 'heartbeat'", card)
        return [json.loads(row["payload"])["note"] for row in rows]

    def second(self, card: KanbanCard) -> int:
        """When the last comment was made, as Hermes has it."""
        return int(self._rows("SELECT * FROM task_comments WHERE task_id = ?", card)[-1]["created_at"])

    def _rows(self, query: str, card: KanbanCard) -> list[dict[str, Any]]:
        with contextlib.closing(sqlite3.connect(self.home / ".hermes" / "kanban.db", timeout=PATIENCE)) as database:
            database.row_factory = sqlite3.Row
            return [dict(row) for row in database.execute(f"{query} ORDER BY rowid", (card.task,))]

    def asked(self) -> list[str]:
        """The verbs of all calls so far."""
        return self.calls.read_text().split()


@pytest.fixture
def board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Board:
    for name in [name for name in os.environ if name.startswith(("HERMES_", "MIDWATCH_HERMES"))]:
        if name != "MIDWATCH_HERMES_HOME":
            monkeypatch.delenv(name)
    try:
        return Board(tmp_path, hermes.find())
    except NotInstalled as missing:
        if os.environ.get("CI") == "true":
            pytest.fail(str(missing))
        pytest.skip(str(missing))


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], KanbanCard]:
    """A card whose program is a shell script: what Hermes does when it is broken."""
    monkeypatch.setattr(hermes_kanban, "LIMIT", PATIENCE)

    def make(script: str) -> KanbanCard:
        path = tmp_path / "broken"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return KanbanCard("t_1", program=str(path))

    return make
