"""What a call of the hook costs an agent, beside a shell that does nothing."""

import json
import os
import random
from collections.abc import Iterator
from statistics import median

import midwatch
from bench.stage import Stage
from bench.table import Row, in_ms, informs, ratio_at_most
from bench.waiting import end_of, now

ROUNDS = 100
GOAL = 4.0
SCRIPT = os.path.join(os.path.dirname(midwatch.__file__), "agents", "hooks", "hook.sh")
TOLD = {
    "session_id": "ac9bca38-3986-4ce6-972c-a83b13136ed1", "transcript_path": "/home/dev/.claude/projects/-proj/x.jsonl",
    "cwd": "/home/dev/proj", "permission_mode": "default", "hook_event_name": "PostToolUse", "tool_name": "Bash",
    "tool_input": {"command": "make test", "description": "Run the tests"},
}  # fmt: skip
PANE = {"TMUX": "/tmp/tmux-1000/default,12,0", "TMUX_PANE": "%3"}


def payload(size: int) -> bytes:
    """What an agent says when a tool has ended, with so many bytes of its output."""
    words = "all of this, was printed by a tool. "
    return json.dumps(TOLD | {"tool_response": words * (size // len(words)), "tool_use_id": "toolu_1"}).encode()


def rows(stage: Stage) -> Iterator[Row]:
    spool = stage.dir("hooks")
    hook = ["sh", SCRIPT, spool, "claude"]
    small, large = payload(300), payload(50_000)
    calls = {
        "a hook (payload of 0.7 kB)": (hook, small),
        "a hook (payload of 50 kB)": (hook, large),
        "sh -c :": (["sh", "-c", ":"], small),
        "sh -c cat": (["sh", "-c", "cat; :"], small),
    }
    taken: dict[str, list[float]] = {what: [] for what in calls}
    order, chance = list(calls), random.Random(1)
    for _ in range(ROUNDS):
        chance.shuffle(order)
        for what in order:
            taken[what].append(_time(stage, *calls[what]))
    kept = sum(os.path.getsize(f"{spool}/{name}") for name in os.listdir(spool))
    anchor = in_ms("sh -c :", taken["sh -c :"])
    shell = os.path.basename(os.path.realpath("/bin/sh"))
    note = f"{ROUNDS} rounds, all calls in each; {kept / ROUNDS / 2:.0f} bytes kept of each; sh is {shell}"
    first, second, _, cat = (median(taken[what]) * 1000 for what in calls)
    yield ratio_at_most("a hook (payload of 0.7 kB)", first, "ms", GOAL, anchor, note)._replace(goal=f"<= {GOAL:g} x")
    yield informs("a hook (payload of 50 kB)", second, "ms", anchor)
    yield informs("sh -c cat (for comparison)", cat, "ms", anchor)


def _time(stage: Stage, command: list[str], told: bytes) -> float:
    """Seconds from start to end, with the payload waiting in the pipe as agents leave it."""
    reading, writing = os.pipe()
    os.write(writing, told)
    os.close(writing)
    began = now()
    ended, code = end_of(stage.start(*command, more=PANE, stdin=reading))
    os.close(reading)
    if code:
        raise RuntimeError(f"{command} ended with {code}")
    return ended - began
