"""The real Claude Code with rules that know nothing of its newer title: its own state file gives the title away."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from midwatch.agents import catalog
from midwatch.agents.source_checks.rules import ENOUGH
from tests.agents.conftest import PREVIOUS, need
from tests.lab.lab import Lab
from tests.lab.pane import AgentPane

SLOW = 90.0
WORK = 8
"""Seconds of a turn: longer than timing explains."""
TITLE = {"source": "title", "turn": "idle", "rule": "title-rest"}


class Watched:
    """Claude Code in a pane of somebody else's, recorded: that looks again and again, as any watcher."""

    def __init__(self, lab: Lab, pane: AgentPane) -> None:
        self.lab = lab
        self.pane = pane
        self.env = {
            "XDG_CONFIG_HOME": str(lab.root / "config"),
            "XDG_STATE_HOME": str(lab.root / "state"),
            "MIDWATCH_HOME": str(lab.root / "jobs"),
        }
        file = lab.root / "config" / "midwatch" / "agents" / "claude.toml"
        file.parent.mkdir(parents=True)
        ours = Path(catalog.OURS, "claude", catalog.FILE).read_text()
        before, rule, after = ours.partition('name = "title-rest"')
        assert 'versions = "- 2.1.198"\n' in after
        file.write_text(before + rule + after.replace('versions = "- 2.1.198"\n', "", 1))
        out = str(lab.root / "timeline.jsonl")
        program = [sys.executable, "-m", "midwatch", "record", pane.pane_id, *pane.server_args, "-o", out]
        self.process = lab.begin(program, **self.env)

    def call(self, *words: str) -> str:
        return self.lab.run([sys.executable, "-m", "midwatch", *words], timeout=SLOW, **self.env).stdout

    def outcomes(self) -> list[str]:
        """What was counted of the title at rest."""
        return [outcome for _, outcome, *_ in self._title().get("outcomes", [])]

    def disbelief(self) -> dict[str, Any] | None:
        found: dict[str, Any] | None = self._title().get("disbelief")
        return found

    def _title(self) -> dict[str, Any]:
        file = self.lab.root / "state" / "midwatch" / "sources.json"
        releases = json.loads(file.read_text())["releases"] if file.exists() else []
        claims = [
            claim for release in releases if release["version"] == self.pane.version for claim in release["claims"]
        ]
        return next((claim for claim in claims if TITLE.items() <= claim.items()), {})

    def until(self, done: Callable[[], bool], what: str) -> None:
        self.pane.until(lambda _: done(), SLOW, what=what)

    def turn(self, number: int) -> None:
        """One turn, after a rest that was long enough to be counted."""
        self.until(lambda: self.outcomes().count("agrees") > number, f"the rest before turn {number}")
        self.lab.say(f"part{number}", f"Part {number} has come.")
        self.pane.type(f"go [[slow {WORK}]]+[[say part{number}]]")
        self.pane.until(f"Part {number} has come", SLOW)

    def end(self) -> None:
        self.process.send_signal(signal.SIGINT)
        self.process.wait(SLOW)


@pytest.mark.claude
def test_the_newer_title_is_found_out(lab: Lab) -> None:
    need("claude", "current")
    watched = Watched(lab, lab.start("claude", version="current"))
    for number in range(ENOUGH):
        assert watched.disbelief() is None
        watched.turn(number)
    watched.until(lambda: watched.disbelief() is not None, "the end of belief in the title")
    watched.end()
    doubt = watched.disbelief()
    assert doubt is not None
    assert (doubt["by"], doubt["wrong"]) == ("state", ENOUGH)
    pane = watched.pane
    assert f"is not believed for Claude Code {pane.version}" in watched.call("why", pane.pane_id, *pane.server_args)
    assert f"`midwatch replay {doubt['evidence']}` shows it" in watched.call("doctor", *pane.server_args)
    assert watched.call("events", "--json").count('"event":"drift"') == 1
    shown = watched.call("replay", doubt["evidence"])
    assert "state says working, by rule file-busy" in shown
    assert "title says idle, by rule title-rest" in shown


@pytest.mark.claude
@pytest.mark.previous
def test_the_older_title_is_believed(lab: Lab) -> None:
    need("claude", PREVIOUS)
    watched = Watched(lab, lab.start("claude", version=PREVIOUS))
    for number in range(ENOUGH):
        watched.turn(number)
    watched.until(lambda: len(watched.outcomes()) > ENOUGH, "the rest after the last turn")
    watched.end()
    assert set(watched.outcomes()) == {"agrees"}
    assert watched.disbelief() is None
