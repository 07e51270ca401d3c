"""Real agents, watched while they live: every look at least 2 s after a true change is right, and nothing flickers."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from dogwatch.judge import timelines
from dogwatch.loops import trials
from tests.lab.lab import Lab
from tests.lab.timelines import Tape, told
from tests.lab.timelines.stories import STORIES

FIRST = ("claude", "codex", "codex-nodaemon")
DANGERS = ("permission", "interrupted-before-a-word", "killed")
"""Stories in which a wrong word costs people work; played with every agent."""


def cases() -> list[Any]:
    found: list[Any] = []
    for agent in (*FIRST, "opencode", "gemini", "qwen"):
        mark = getattr(pytest.mark, agent.partition("-")[0])
        found += [pytest.param(agent, story, id=f"{agent}-{story}", marks=mark) for story in DANGERS]
    return found


def play(lab: Lab, agent: str, story: str, path: Path, *, hooks: bool = False) -> trials.Replay:
    spool = lab.root / "spool"
    spool.mkdir(mode=0o700, exist_ok=True)
    pane = lab.start(agent, **(told(agent, spool) if hooks else {}))
    tape = Tape(pane, spool)
    tape.true(time.time(), "idle", "", "driver: the prompt is there and nothing was sent")
    try:
        STORIES[story](pane, tape)
    finally:
        tape.save(path, story)
    return trials.replay(str(path), trials.Detectors())


@pytest.mark.parametrize(("agent", "story"), cases(), indirect=["agent"])
def test_every_verdict_is_true(lab: Lab, agent: str, story: str, tmp_path: Path) -> None:
    done = play(lab, agent, story, tmp_path / "t.jsonl")
    looks = list(trials.looks(done))
    assert looks
    assert [look for look in looks if not look.right] == []
    truths = [(truth.at, truth.turn) for truth in done.truths]
    assert timelines.flickers(truths, trials.spoken(done), 2.0, 1.0) == []


@pytest.mark.claude
@pytest.mark.parametrize("agent", ["claude"], indirect=True)
def test_the_hook_tells_of_a_permission_and_of_the_end(lab: Lab, agent: str, tmp_path: Path) -> None:
    done = play(lab, agent, "permission", tmp_path / "t.jsonl", hooks=True)
    rules = {piece.says.rsplit(" ", 1)[-1] for moment in done.moments for piece in moment.verdict.evidence}
    assert {"hook-permission", "hook-stop"} <= rules
    assert [look for look in trials.looks(done) if not look.right] == []
