"""`midwatch events --follow`: each event once, as it comes, over any number of lives of the listener."""

from __future__ import annotations

import contextlib
import json
import math
import os
import random
import select
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from midwatch.journal import journal, journal_database
from midwatch.journal.journal import Journal
from midwatch.subjects.event_feed import EventFeed
from tests.conftest import PATIENCE, Box, until
from tests.integration.events.spooling import line, prepared, taken
from tests.integration.wait.disks import fill, mounted
from tests.integration.wait.watching import listening, silent_for


class Listener:
    """A `midwatch events --follow --json` that has come to the point where it waits."""

    def __init__(self, box: Box, *arguments: str, **env: str) -> None:
        self.process = box.start("events", "--follow", "--json", *arguments, env=env)
        self.rest = b""

    def waits(self) -> None:
        until(lambda: listening(self.process) or self.process.poll() is not None)

    def line(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        fd = self.process.stdout.fileno()
        while b"\n" not in self.rest:
            ready, _, _ = select.select([fd], [], [], PATIENCE)
            assert ready, "the event did not come"
            more = os.read(fd, 65536)
            assert more, f"it ended: {self.process.communicate()}"
            self.rest += more
        row, _, self.rest = self.rest.partition(b"\n")
        found: dict[str, Any] = json.loads(row)
        return found

    def numbers(self, count: int) -> list[int]:
        return [self.line()["n"] for _ in range(count)]

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def follow(box: Box) -> Iterator[Any]:
    with contextlib.ExitStack() as stack:

        def started(*arguments: str, **env: str) -> Listener:
            return stack.enter_context(contextlib.closing(Listener(box, *arguments, **env)))

        yield started


@pytest.fixture
def ready(box: Box) -> Box:
    prepared(box.dir)
    return box


def spool(box: Box, run: str, *numbers: int, event: str = "moved", name: str = "job") -> None:
    with box.path(f"spool/{name}.{run}.jsonl").open("a") as file:
        file.writelines(line(run, n, event, name) + "\n" for n in numbers)


def test_a_job_is_told_of_as_it_runs(box: Box, follow: Any) -> None:
    listener = follow()
    listener.waits()
    assert box("run", "--name", "job", "--", "true").code == 0
    told = [listener.line() for _ in range(2)]
    assert [(row["name"], row["event"]) for row in told] == [("job", "started"), ("job", "ended")]


def test_it_begins_with_what_comes_from_now_on(ready: Box, follow: Any) -> None:
    spool(ready, "r1", 1, 2, 3)
    listeners = {
        follow(): [4],
        follow("--since", "0"): [1, 2, 3, 4],
        follow("--since", "2"): [3, 4],
        follow("-n", "1"): [3, 4],
        follow("other"): [],
    }
    for listener in listeners:
        listener.waits()
    spool(ready, "r1", 4)
    spool(ready, "r2", 5, name="other")
    for listener, expected in listeners.items():
        assert listener.numbers(len(expected) + 1) == [*expected, 5] if expected else [5]


@pytest.mark.parametrize("events", ["on", "off"])
def test_what_another_has_taken_in_or_noted_is_told_too(ready: Box, follow: Any, events: str) -> None:
    listener = follow("--since", "0", **({"MIDWATCH_EVENTS": "off"} if events == "off" else {}))
    spool(ready, "r1", 1)
    assert listener.numbers(1) == [1]
    journal.record_event(str(ready.dir), "job", "", "noted", by="me")
    assert listener.line()["by"] == "me"
    spool(ready, "r1", 2, event="ended")
    taken(ready.dir)
    assert listener.numbers(1) == [2]


def test_all_listeners_hear_the_same_in_the_same_order(ready: Box, follow: Any) -> None:
    listeners = [follow("--since", "0") for _ in range(4)]
    for number in range(1, 101):
        spool(ready, f"r{number}", 1, event="ended")
    told = [[listener.line() for _ in range(100)] for listener in listeners]
    assert told[1:] == told[:1] * 3
    assert [row["seq"] for row in told[0]] == [*range(1, 101)]


def test_a_listener_that_is_killed_at_any_moment_goes_on_exactly_where_it_was(ready: Box, follow: Any) -> None:
    seed = int(os.environ.get("MIDWATCH_SEED") or random.randrange(1 << 32))
    print("seed", seed)
    heard: list[dict[str, Any]] = []
    chance, written, lives = random.Random(seed), 0, 0
    while len(heard) < 300:
        listener = follow("--since", str(heard[-1]["seq"] if heard else 0))
        lives += 1
        for _ in range(chance.randint(1, 3)):
            more = chance.randint(1, 20)
            spool(ready, "r1", *range(written + 1, written + more + 1))
            written += more
            heard += [listener.line() for _ in range(chance.randint(0, min(more, written - len(heard))))]
        listener.process.kill()
    assert lives > 3
    assert [row["n"] for row in heard] == [*range(1, len(heard) + 1)]
    assert [row["seq"] for row in heard] == [*range(1, len(heard) + 1)]


def test_ctrl_c_ends_it_with_130(follow: Any) -> None:
    listener = follow()
    listener.waits()
    listener.process.send_signal(signal.SIGINT)
    assert listener.process.wait(PATIENCE) == 130
    assert listener.process.stderr.read() == ""


@pytest.mark.parametrize("events", ["on", "off"])
def test_when_its_reader_has_gone_it_ends_with_141_although_nothing_happens(
    ready: Box, follow: Any, events: str
) -> None:
    spool(ready, "r1", 1)
    listener = follow("--since", "0", **({"MIDWATCH_EVENTS": "off"} if events == "off" else {}))
    listener.line()
    listener.process.stdout.close()
    assert listener.process.wait(PATIENCE) == 141
    assert listener.process.stderr.read() == ""


def test_taking_in_does_not_keep_it_awake(tmp_path: Path) -> None:
    directory = prepared(tmp_path / "jobs")
    (directory / "spool/job.r2.jsonl").write_text('{"torn')
    reading, writing = os.pipe()
    with contextlib.closing(Journal(str(directory))) as book:
        book.take_in()
        with contextlib.closing(EventFeed(book, 0, [], writing)) as following:
            stream = following.events()
            for n in (1, 2, 3):
                (directory / f"spool/job.r1{n}.jsonl").write_text(line(f"r1{n}", n, "ended") + "\n")
                assert next(stream).n == n
            following.since, looks = 3, 0
            while True:
                assert following.listen()
                assert following.observe() == []
                looks += 1
                if not following._poll.poll(500):
                    break
                following.sleep(math.inf)
            assert looks <= 3
    os.close(reading)
    os.close(writing)


def test_a_journal_that_is_put_aside_meanwhile_costs_no_event(ready: Box, follow: Any) -> None:
    spool(ready, "r1", 1)
    listener = follow("--since", "0")
    assert listener.numbers(1) == [1]
    assert journal_database.set_aside(str(ready.dir), journal_database.journal_inode(str(ready.dir)))
    journal.record_event(str(ready.dir), "job", "", "noted")
    assert "noted" in {listener.line()["event"] for _ in range(2)}  # and 1 again: it still stands in its spool
    spool(ready, "r1", 2)
    assert listener.numbers(1) == [2]


def test_a_listener_outlives_a_journal_that_is_put_aside_with_all_that_it_held(ready: Box, follow: Any) -> None:
    spool(ready, "r1", 1, event="ended")
    listener = follow("--since", "0")
    assert listener.numbers(1) == [1]
    assert journal_database.set_aside(str(ready.dir), journal_database.journal_inode(str(ready.dir)))
    until(ready.path("journal.sqlite").exists, ready.dir)
    spool(ready, "r2", 2)
    assert listener.numbers(1) == [2]


def test_a_journal_that_is_removed_meanwhile_ends_it_with_an_error(ready: Box, follow: Any) -> None:
    spool(ready, "r1", 1, 2)
    listener = follow("--since", "0")
    assert listener.numbers(2) == [1, 2]
    ready.path("spool/job.r1.jsonl").unlink()
    for path in ready.dir.glob("journal.sqlite*"):
        path.unlink()
    assert listener.process.wait(PATIENCE) == 12
    assert "beyond the newest event" in listener.process.stderr.read()


def test_a_disk_that_is_full_for_a_while_is_waited_for(box: Box, follow: Any) -> None:
    mounted(box.dir, "size=512k,mode=700")
    try:
        prepared(box.dir)
        spool(box, "r1", 1)
        listener = follow("--since", "0")
        assert listener.numbers(1) == [1]
        fill(box)
        spool(box, "r1", 2)  # in the block that its file has already
        assert "is the disk full" in listener.process.stderr.readline()
        box.path("filler").unlink()
        assert listener.numbers(1) == [2]
    finally:
        box.sweep()
        subprocess.run(["umount", "--lazy", str(box.dir)], check=True)


def test_it_is_silent_while_nothing_happens(ready: Box, follow: Any) -> None:
    spool(ready, "r1", 1)
    listener = follow()
    listener.waits()
    assert silent_for(listener.process, 1.0)
