"""Forty writers and five that take in, all killed at random: nothing is lost, doubled or out of order."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from midwatch.core.event import Event
from midwatch.jobs.launch import ROOT
from midwatch.journal.journal import Journal
from tests.conftest import PATIENCE, until
from tests.integration.events.spooling import (
    BEFORE,
    TAKER,
    WRITER,
    line,
    prepared,
    start,
    taken,
    whole_lines,
)

WRITERS, TAKERS = 40, 5
NOTER = f"""
{BEFORE}
from midwatch.journal import journal
for n in range(1, int(sys.argv[3]) + 1):
    journal.record_event(sys.argv[1], sys.argv[2], "", "noted", count=n)
"""


class Crowd:
    """Writers, whose pace is given to them, and takers, which go as fast as they can."""

    def __init__(self, home: Path, seed: int, stack: contextlib.ExitStack) -> None:
        self.directory, self.truth, self.stack = prepared(home / "jobs"), home / "truth", stack
        self.truth.mkdir()
        os.mkfifo(home / "pace")
        self.pace = os.open(home / "pace", os.O_RDWR)
        stack.callback(os.close, self.pace)
        names = [f"w{number:02d}" for number in range(WRITERS)]
        rest = str(home / "pace"), str(seed)
        self.writers = [self.start(WRITER, str(self.directory), name, str(self.truth / name), *rest) for name in names]
        self.journal = stack.enter_context(contextlib.closing(Journal(str(self.directory))))

    def start(self, script: str, *arguments: str) -> subprocess.Popen[bytes]:
        process = start(script, *arguments)
        self.stack.callback(process.wait)
        self.stack.callback(process.kill)
        return process

    def taker(self) -> subprocess.Popen[bytes]:
        return self.start(TAKER, str(self.directory))

    def written(self) -> int:
        return sum(path.stat().st_size for path in self.truth.iterdir()) // len("w00-000000 0001\n")

    def go_on(self, lines: int, until_written: int) -> None:
        """Let them write so many lines, and wait until some are there and some are taken in."""
        before, newest = self.written(), self.journal.newest()
        os.write(self.pace, b"." * lines)
        until(lambda: self.written() >= before + until_written, self.truth)
        until(lambda: self.journal.newest() > newest, self.directory)


def test_the_journal_loses_nothing_when_forty_writers_and_all_takers_are_killed_at_random(tmp_path: Path) -> None:
    seed = int(os.environ.get("MIDWATCH_SEED") or random.randrange(1 << 32))
    print("seed", seed)
    chance = random.Random(seed)
    with contextlib.ExitStack() as stack:
        crowd = Crowd(tmp_path, seed, stack)
        victims = crowd.writers + [crowd.taker() for _ in range(TAKERS)]
        chance.shuffle(victims)
        while victims:
            writing = any(process in crowd.writers for process in victims)
            if writing:
                lines = chance.randint(10, 200)
                crowd.go_on(lines, chance.randint(1, lines // 2))
            victim = victims.pop(0)
            assert victim.poll() is None, "it ended by itself"
            victim.send_signal(signal.SIGKILL)
            victim.wait(PATIENCE)
            if victim not in crowd.writers and writing:
                victims.insert(chance.randint(0, len(victims)), crowd.taker())
    check(crowd.truth, whole_lines(crowd.directory), crowd.directory)


def check(truth: Path, left: list[tuple[str, int]], directory: Path) -> None:
    told: dict[str, list[int]] = defaultdict(list)
    for path in truth.iterdir():
        for row in path.read_text().splitlines():
            run, n = row.split()
            told[run].append(int(n))
    found: dict[str, list[int | None]] = defaultdict(list)
    for event in taken(directory):
        found[event.run].append(event.n)
    assert len(told) > WRITERS, "too little was written to mean anything"
    for run in {*told, *found}:
        numbers = [*range(1, len(found[run]) + 1)]
        assert found[run] == numbers, f"{run} is {found[run]}"
        # The last line may have been spooled although its writer did not live to write that down.
        assert numbers in (told[run], [*told[run], len(told[run]) + 1]), f"of {run} {told[run]} were written"
    assert all(n in found[run] for run, n in left)


@pytest.mark.parametrize("reopen", [False, True], ids=["kept open", "opened each time"])
def test_a_reader_that_goes_on_from_the_last_number_misses_nothing_that_many_write_at_once(
    tmp_path: Path, *, reopen: bool
) -> None:
    directory, each, noters = prepared(tmp_path / "jobs"), 40, 4
    names = [f"n{number}" for number in range(noters)]
    call = [sys.executable, "-I", "-S", "-c", NOTER, ROOT, str(directory)]
    processes = [subprocess.Popen([*call, name, str(each)]) for name in names]
    seen: list[Event] = []
    journal, spooled = Journal(str(directory)), 0
    try:
        while True:
            over = all(process.poll() is not None for process in processes)
            spooled += 1
            with (directory / f"spool/job.r{spooled}.jsonl").open("w") as spool:
                spool.write(line(f"r{spooled}", 1, "ended") + "\n")
            journal.take_in()
            seen += journal.after(seen[-1].seq if seen else 0, most=7)
            if over and seen[-1].seq == journal.newest():
                break
            if reopen:
                journal.close()
    finally:
        for process in processes:
            process.wait(PATIENCE)
        journal.close()
    assert [process.returncode for process in processes] == [0] * noters
    assert seen == taken(directory)
    assert [event.seq for event in seen] == [*range(1, noters * each + spooled + 1)]
    for name in names:
        bodies = [event.body for event in seen if event.name == name]
        assert bodies == [f'{{"count":{n}}}' for n in range(1, each + 1)]
