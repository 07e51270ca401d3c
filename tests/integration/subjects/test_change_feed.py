"""The feed of changes: each once, in order, over any number of listeners and of their lives."""

from __future__ import annotations

import json
import os
import select
import signal
from typing import Any

import pytest

from midwatch.subjects.change_feed import STATE
from tests.conftest import PATIENCE, Box, kill, until
from tests.integration.api.programs import program, said, started
from tests.integration.spawn.office import Office
from tests.integration.wait.watching import Gate, start

FOLLOW = ("events", "--follow", "--changes", "--json")
PAST = ("events", "--changes", "--json")


class Follower:
    """A feed at work."""

    def __init__(self, box: Box, *more: str) -> None:
        self.process = box.start(*FOLLOW, *more)
        self.rest = b""
        until(lambda: box.path(STATE).exists() or self.process.poll() is not None)

    def line(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        fd = self.process.stdout.fileno()
        while b"\n" not in self.rest:
            assert select.select([fd], [], [], PATIENCE)[0], "no line came"
            more = os.read(fd, 1 << 16)
            assert more, self.process.communicate()[1]
            self.rest += more
        line, _, self.rest = self.rest.partition(b"\n")
        found: dict[str, Any] = json.loads(line)
        return found

    def until(self, subject: str, state: str) -> dict[str, Any]:
        """The change of this subject to that state; every line before it is passed over."""
        while (found := self.line())["subject"] != subject or found["state"] != state:
            pass
        return found

    def close(self, number: int = signal.SIGINT) -> int:
        kill(self.process.pid, number)
        self.process.communicate()
        return self.process.returncode


def gated(gate: Gate) -> tuple[str, ...]:
    """A command that ends well when the gate says a line."""
    return "sh", "-c", f"read -r line < {gate.path}"


def past(box: Box, *more: str) -> list[tuple[str, str, str]]:
    lines = map(json.loads, box(*PAST, *more).out.splitlines())
    return [(each["subject"], each["was"], each["state"]) for each in lines]


def test_the_changes_of_a_job_come_as_they_happen(box: Box, gate: Gate) -> None:
    start(box, "before", "true")
    assert box("wait", "before").code == 0
    feed = Follower(box)
    start(box, "job", *gated(gate))
    first = feed.until("job/job", "working")
    gate.say()
    last = feed.until("job/job", "completed")
    assert first["seq"] < last["seq"]
    assert (last["was"], last["final"], last["kind"], last["run"]) == ("working", True, "job", first["run"])
    feed.close()
    assert past(box) == [("job/job", "", "working"), ("job/job", "working", "completed")]


def test_who_comes_back_with_the_last_number_goes_on_there(box: Box, gate: Gate) -> None:
    start(box, "job", *gated(gate))
    feed = Follower(box)
    first = feed.until("job/job", "working")
    feed.close(signal.SIGKILL)
    gate.say()
    assert box("wait", "job").code == 0
    feed = Follower(box, "--since", str(first["seq"]))
    assert feed.until("job/job", "completed")["was"] == "working"
    feed.close()
    assert past(box, "--since", str(first["seq"])) == [("job/job", "working", "completed")]


def test_two_listeners_get_the_same_numbers_and_one_writes(box: Box, gate: Gate) -> None:
    start(box, "first", "true")
    assert box("wait", "first").code == 0
    feeds = [Follower(box, "--since", "0"), Follower(box, "--since", "0")]
    start(box, "job", *gated(gate))
    seen = [feed.until("job/job", "working") for feed in feeds]
    assert seen[0] == seen[1]
    feeds[0].close(signal.SIGKILL)  # whichever wrote: the other goes on
    gate.say()
    feeds[1].until("job/job", "completed")
    feeds[1].close()
    assert past(box) == [("job/job", "", "working"), ("job/job", "working", "completed")]


def test_attempts_are_told_as_subjects_of_their_own(box: Box) -> None:
    feed = Follower(box)
    start(box, "job", "false", options=("--retries", "1", "--backoff", "0.3"))
    feed.until("job/job", "failed")
    feed.close()
    found = past(box)
    assert ("job/job/attempt/1", "working", "failed") in found or ("job/job/attempt/1", "", "failed") in found
    assert [each for each in found if each[0] == "job/job"][-1][2] == "failed"


def test_the_turns_of_a_session_and_its_shells_are_told(office: Office) -> None:
    office.spawned(prompt="command")
    feed = Follower(office.box)
    feed.until("session/api", "working")
    shell = feed.line()
    assert (shell["kind"], shell["parent"], shell["state"]) == ("shell", "session/api", "working")
    office.go("ask")
    asked = feed.until("session/api", "waiting")
    assert asked["cause"] == "permission"
    assert office.box("events", "--changes", "api").out.count("changed") >= 3
    feed.close()


def test_what_is_gone_is_told_without_a_state(office: Office) -> None:
    office.spawned(prompt="command")
    feed = Follower(office.box)
    feed.until("session/api", "working")
    shell = feed.line()
    kill(int(shell["subject"].rpartition("/")[2].partition("-")[0]), signal.SIGKILL)
    gone = feed.until(shell["subject"], "")
    assert (gone["was"], gone["final"], gone["reason"]) == ("working", True, "it is no longer there")
    feed.close()


def test_a_feed_reports_a_session_that_needs_a_person(office: Office) -> None:
    told = office.home / "told"
    (office.home / ".config/midwatch").mkdir(parents=True)
    script = office.home / "tell.sh"
    script.write_text(f'#!/bin/sh\necho "$1" >> {told}\n')
    script.chmod(0o755)
    (office.home / ".config/midwatch/config.toml").write_text(
        f'[notify]\non = ["waiting", "final"]\ncommand = ["{script}", "{{name}} {{state}}"]\n'
    )
    office.spawned(prompt="work")
    feeds = [Follower(office.box), Follower(office.box)]
    office.go("ask")
    for feed in feeds:
        feed.until("session/api", "waiting")
    until(told.exists)
    for feed in feeds:
        feed.close()
    assert told.read_text() == "api waiting\n"


def test_the_feed_of_the_api_is_the_same(box: Box, gate: Gate) -> None:
    start(box, "job", *gated(gate))
    script = f"""
        feed = midwatch.changes(panes=False)
        found = next(feed)
        print(found.id, found.was, found.state, found.seq > 0)
        os.write(os.open({gate.path!r}, os.O_WRONLY), b'\\n')
        found = next(feed)
        print(found.id, found.was, found.state)
        before = len(fds())
        feed.close()
        print(len(fds()) < before)
    """
    assert said(program(box, script)) == ["job/job  working True", "job/job working completed", "True"]


def test_the_feed_of_an_event_loop_leaves_no_thread(box: Box, gate: Gate) -> None:
    start(box, "job", *gated(gate))
    script = f"""
        import asyncio, threading
        from midwatch import aio
        async def main():
            async with asyncio.timeout(20):
                feed = aio.changes(panes=False)
                async for found in feed:
                    print(found.id, found.state)
                    if found.final:
                        break
                    os.write(os.open({gate.path!r}, os.O_WRONLY), b'\\n')
                await feed.aclose()
        asyncio.run(main())
        print(threading.active_count())
    """
    assert said(program(box, script)) == ["job/job working", "job/job completed", "1"]


def test_a_feed_that_waits_costs_nothing(box: Box, gate: Gate) -> None:
    """A live job alone is no reason to look again and again."""
    start(box, "job", *gated(gate))
    script = """
        from midwatch.api import subjects
        feed = subjects.open_feed(None, None, panes=False, children=True)
        while feed.take():
            pass
        import time
        print(feed.due - time.monotonic() > 60)
        feed.close()
    """
    assert said(program(box, script)) == ["True"]


def test_a_feed_can_be_written_to_a_file(box: Box) -> None:
    start(box, "first", "true")
    assert box("wait", "first").code == 0
    with (box.cwd / "out").open("w") as out:
        feed = box.start(*FOLLOW, stdout=out)
    until(lambda: box.path(STATE).exists() or feed.poll() is not None)
    start(box, "job", "true")
    until(lambda: "job/job" in (box.cwd / "out").read_text() or feed.poll() is not None)
    kill(feed.pid, signal.SIGINT)
    assert "Error" not in feed.communicate()[1]
    assert "job/job" in (box.cwd / "out").read_text()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_feed_ends_by_a_signal(box: Box, number: int) -> None:
    start(box, "job", "true")
    assert box("wait", "job").code == 0
    feed = Follower(box)
    start(box, "other", "true")
    feed.line()
    assert feed.close(number) in (0, 128 + number, -number)


def test_a_directory_of_others_has_no_feed(box: Box) -> None:
    box.dir.mkdir()
    box.dir.chmod(0o777)
    done = box(*FOLLOW)
    assert done.code == 12
    assert "no journal is kept there" in done.err


def test_a_feed_in_a_program_ends_with_it(box: Box, gate: Gate) -> None:
    start(box, "job", *gated(gate))
    with started(box, "next(midwatch.changes(panes=False)); print('seen')") as running:
        assert running.done().out == "seen\n"
