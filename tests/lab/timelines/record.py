"""Records one story of an agent in a lab of its own, as a timeline."""

from __future__ import annotations

import time
from pathlib import Path

from tests.lab.lab import Lab
from tests.lab.timelines import Tape, told
from tests.lab.timelines.claude_stories import OWN
from tests.lab.timelines.stories import OF_QWEN, STORIES, Story

USUAL = (120, 40)


def stories(agent: str) -> dict[str, Story]:
    """All that is recorded of an agent."""
    return STORIES | {"claude": OWN, "qwen": OF_QWEN}.get(agent, {})


def record(
    agent: str, story: str, version: str | None, out: Path, *, hooks: bool = False, size: tuple[int, int] = USUAL
) -> Path:
    """The file; it is not there when the story fails."""
    width, height = size
    marks = [version, "hooks" if hooks else "", "" if size == USUAL else f"{width}x{height}"]
    # A version has dots of its own.
    path = out / ("-".join([agent, story, *filter(None, marks)]) + ".jsonl")
    try:
        with Lab() as lab:
            spool = lab.root / "spool"
            spool.mkdir(mode=0o700)
            found = stories(agent)[story]
            tells = told(agent, spool) if hooks else {}
            pane = lab.start(agent, size=size, version=version, **{**found.start, **tells})
            tape = Tape(pane, spool)
            tape.true(time.time(), "idle", "", "driver: the prompt is there and nothing was sent")
            try:
                found.play(pane, tape)
            finally:
                tape.save(path, story)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return path
