"""Records one story of an agent in a lab of its own, as a timeline."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from midwatch.agents import catalog
from midwatch.agents.program_status import observe as program_status_observe
from midwatch.sessions import spawn
from tests.lab.lab import Lab
from tests.lab.timelines import Tape, told
from tests.lab.timelines.claude_stories import OWN
from tests.lab.timelines.stories import OF_CODEX, OF_QWEN, STORIES, Story

USUAL = (120, 40)


def stories(agent: str) -> dict[str, Story]:
    """All that is recorded of an agent."""
    return STORIES | {"claude": OWN, "codex": OF_CODEX, "qwen": OF_QWEN}.get(agent.partition("-")[0], {})


def reader(agent: str, lab: Lab, status: Path) -> Callable[[str], list[str]]:
    """What hears the reports of an agent in a pane, as in a session that Midwatch starts."""
    status.mkdir(mode=0o700)
    server = (lab.tmux.arguments[0], lab.tmux.arguments[1])
    asks = catalog.load(agent.partition("-")[0]).asks_after
    return lambda pane: spawn.capture_command(
        "", program_status_observe.status_file_path(str(status), server, pane), asks
    )


def record(
    agent: str, story: str, version: str | None, out: Path, *, hooks: bool = False, reports: bool = False,
    size: tuple[int, int] = USUAL,
) -> Path:  # fmt: skip
    """The file; it is not there when the story fails."""
    width, height = size
    told_by = ["hooks" if hooks else "", "reports" if reports else ""]
    marks = [version, *told_by, "" if size == USUAL else f"{width}x{height}"]
    # A version has dots of its own.
    path = out / ("-".join([agent, story, *filter(None, marks)]) + ".jsonl")
    try:
        with Lab() as lab:
            spool = lab.root / "spool"
            spool.mkdir(mode=0o700)
            found = stories(agent)[story]
            tells = told(agent, spool) if hooks else {}
            status = lab.root / "status"
            heard = {"reader": reader(agent, lab, status)} if reports else {}
            pane = lab.start(agent, size=size, version=version, **{**found.start, **tells, **heard})
            tape = Tape(pane, spool, status)
            tape.true(time.time(), "idle", "", "driver: the prompt is there and nothing was sent")
            try:
                found.play(pane, tape)
            finally:
                tape.save(path, story)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return path
