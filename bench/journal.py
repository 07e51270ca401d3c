"""What remembering costs: an event in the shim, taking ten thousand in, and showing a job that has so many."""

import contextlib
import json
import os
import random
import shutil
import sys
from collections.abc import Callable, Iterator
from statistics import median

from bench.stage import Stage
from bench.table import Anchor, Figure, Row, at_most, in_ms, informs, percentile
from bench.waiting import now
from midwatch.journal.journal import Journal
from midwatch.system import atomic_files

EVENTS = 10_000
APPENDS = 2000
ROUNDS = 20
TAKINGS = 5
EVENT_GOAL = 1000.0
"""Microseconds."""
SHOW_GOAL = 300.0


def rows(stage: Stage) -> Iterator[Row]:
    yield from _appends(stage)
    directory = stage.dir("journal")
    stage.jobs(directory, ["job"], "true")
    stage.wait_for(directory, "job").wait()
    _spool(directory)
    yield from _takings(stage, directory)
    yield from _shows(stage, directory)


def _line(n: int, run: str = "18f6a2b3c4d-a1b2c3") -> str:
    event = {"schema": 1, "run": run, "n": n, "at": 1794783515.5 + n, "mono": 22041.3 + n, "name": "job"}
    return (
        atomic_files.dumps({**event, "event": "stale", "reason": "no output for 10m; its grace period begins"}) + "\n"
    )


def _spool(directory: str) -> None:
    with open(f"{directory}/job.json", encoding="utf-8") as file:
        run = json.load(file)["run"]
    with open(f"{directory}/spool/job.{run}.jsonl", "a", encoding="ascii") as file:
        file.writelines(_line(n, run) for n in range(3, EVENTS + 1))


def _appends(stage: Stage) -> Iterator[Row]:
    """One line as a shim spools it, in turn with a bare write of the same bytes to a file that is open."""
    directory = stage.dir("spool")
    fd = os.open(f"{directory}/bare", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    same = _line(1).encode()
    taken: dict[str, list[float]] = {"append": [], "write": []}
    ways: dict[str, Callable[[int], object]] = {
        "append": lambda n: atomic_files.append(f"{directory}/job.jsonl", _line(n)),
        "write": lambda _: os.write(fd, same),
    }
    for n in range(1, APPENDS + 1):
        for way, do in ways.items():
            began = now()
            do(n)
            taken[way].append(now() - began)
    os.close(fd)
    anchor = Anchor("os.write to an open file", Figure(median(taken["write"]) * 1e6, "µs"))
    note = f"{APPENDS} of each; one in a hundred takes more than {percentile(taken['append'], 99) * 1e6:.0f} µs"
    yield at_most("an event in the shim", median(taken["append"]) * 1e6, "µs", EVENT_GOAL, anchor, note)


def _takings(stage: Stage, directory: str) -> Iterator[Row]:
    taken = []
    for number in range(TAKINGS):
        copy = f"{stage.root}/taking-{number}"
        shutil.copytree(directory, copy)
        with contextlib.closing(Journal(copy)) as journal:
            began = now()
            journal.take_in()
            taken.append(now() - began)
            if journal.newest() != EVENTS:
                raise RuntimeError(f"{journal.newest()} of {EVENTS} events were taken in")
    yield informs(
        f"taking in {EVENTS:,} events", median(taken) * 1000, "ms", note=f"{TAKINGS} times, a new journal each"
    )


def _shows(stage: Stage, directory: str) -> Iterator[Row]:
    first = stage.time(stage.program, "show", "job", "--dir", directory)
    show = f"midwatch show ({EVENTS:,} events)"
    calls = {
        show: [stage.program, "show", "job", "--dir", directory],
        f"{show[:-1]}, --json)": [stage.program, "show", "job", "--json", "--dir", directory],
        "python -c pass": [sys.executable, "-c", "pass"],
    }
    taken: dict[str, list[float]] = {what: [] for what in calls}
    order, chance = list(calls), random.Random(1)
    for _ in range(ROUNDS):
        chance.shuffle(order)
        for what in order:
            taken[what].append(stage.time(*calls[what]))
    anchor = in_ms("python -c pass", taken["python -c pass"])
    note = f"{ROUNDS} rounds; the first call, which took them all in, {first * 1000:.0f} ms"
    for what in list(calls)[:2]:
        yield at_most(what, median(taken[what]) * 1000, "ms", SHOW_GOAL, anchor, note)
        note = ""
