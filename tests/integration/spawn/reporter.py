"""Programs that report of themselves (OSC 7501) in panes: one asks first whether that is read, one does not."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from midwatch.core.job_model import PaneRef
from tests.conftest import Done, until
from tests.integration.spawn.office import Office

PROGRAM = Path(__file__).with_name("status_stand_in.py")
AGENT = r"""
agent = "asker"
title = "Asker"
tested = []
[process]
names = '^asker '
[start]
command = ["asker"]
[status]
asks_after = "\u001b[?2031h"
"""
BLOCKED = "state=blocked:kind=permission:msg=YXBwcm92ZSBXcml0ZTogbm90ZXMubWQ="


class Reporter:
    """An agent that asks whether its reports are read, and a program that does not."""

    def __init__(self, office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
        self.office, self.box = office, office.box
        config = office.home / "config"
        (config / "midwatch" / "agents").mkdir(parents=True)
        (config / "midwatch" / "agents" / "asker.toml").write_text(AGENT)
        self.box.env["XDG_CONFIG_HOME"] = str(config)
        monkeypatch.setenv("XDG_STATE_HOME", self.box.env["XDG_STATE_HOME"])
        asker = office.home / "bin" / "asker"
        asker.write_text(f"#!/bin/bash\nexec -a asker {sys.executable} -I -S {PROGRAM} --asks\n")
        asker.chmod(0o755)

    def spawn(self, *more: str, agent: str = "asker", **env: str) -> Done:
        return self.box("spawn", "api", "--agent", agent, "--socket", str(self.office.tmux.socket), *more, **env)

    def started(self) -> None:
        done = self.spawn()
        assert done.code == 0, done
        until(lambda: self.note("started") != b"")

    def program(self, *more: str) -> None:
        done = self.spawn(*more, "--", sys.executable, "-I", "-S", str(PROGRAM), agent="program")
        assert done.code == 0, done
        until(lambda: self.note("started") != b"")

    def note(self, name: str) -> bytes:
        path = self.office.notes / name
        return path.read_bytes() if path.exists() else b""

    def report(self, words: str) -> None:
        with (self.office.notes / "say").open("w") as file:
            file.write(f"{words}\n")

    def reported(self, words: str, state: str) -> dict[str, Any]:
        self.report(words)
        return self.office.until_state(state)

    def file(self) -> Path:
        (found,) = (self.office.home / "state" / "midwatch" / "status").iterdir()
        return found

    def files(self) -> list[Path]:
        return [*(self.office.home / "state" / "midwatch").glob("status/*")]

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.file().read_text().splitlines()]

    def reader(self) -> int:
        return int(self.lines()[0]["reader"][0])

    def seat(self) -> PaneRef:
        pane = self.box.record("api")["pane"]
        return PaneRef(tuple(pane["server"]), pane["id"], pane["session"], pane["life"])


@pytest.fixture
def reporter(office: Office, monkeypatch: pytest.MonkeyPatch) -> Reporter:
    return Reporter(office, monkeypatch)
