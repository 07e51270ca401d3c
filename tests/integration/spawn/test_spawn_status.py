"""What a program in a pane reports of itself (OSC 7501), in a real tmux: asked for, heard, believed, and only read."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from dogwatch.hands.panes import PaneHand
from dogwatch.loops import spawning
from dogwatch.model.facts import Seat
from dogwatch.status_reader import ANSWER
from tests.conftest import Done, until, until_gone
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
ANSWERS = re.compile(rb"\x1b\]7501;\?\x1b\\|\x1b\[\?[\d;]*c|\x1bP>[^\x1b]*\x1b\\")
"""To what it has asked: ours, and tmux's to the rest."""
BLOCKED = "state=blocked:kind=permission:msg=YXBwcm92ZSBXcml0ZTogbm90ZXMubWQ="


class Reporter:
    """An agent that asks whether its reports are read, and a program that does not."""

    def __init__(self, office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
        self.office, self.box = office, office.box
        config = office.home / "config"
        (config / "dogwatch" / "agents").mkdir(parents=True)
        (config / "dogwatch" / "agents" / "asker.toml").write_text(AGENT)
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
        (found,) = (self.office.home / "state" / "dogwatch" / "status").iterdir()
        return found

    def files(self) -> list[Path]:
        return [*(self.office.home / "state" / "dogwatch").glob("status/*")]

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.file().read_text().splitlines()]

    def reader(self) -> int:
        return int(self.lines()[0]["reader"][0])

    def seat(self) -> Seat:
        pane = self.box.record("api")["pane"]
        return Seat(tuple(pane["server"]), pane["id"], pane["session"], pane["life"])


@pytest.fixture
def reporter(office: Office, monkeypatch: pytest.MonkeyPatch) -> Reporter:
    return Reporter(office, monkeypatch)


def test_an_agent_that_asks_is_answered_first_and_every_report_tells_its_state(reporter: Reporter) -> None:
    reporter.started()
    assert reporter.note("heard").startswith(ANSWER[:-2])
    assert reporter.lines()[1]["asked"] is True
    assert reporter.reported("state=working", "working")["turn"] == "working"
    found = reporter.reported(BLOCKED, "waiting")
    assert (found["cause"], found["message"]) == ("permission", "approve Write: notes.md")
    assert found["reason"] == "it waits for a permission: approve Write: notes.md"
    (told,) = [each for each in found["for"] if each["source"] == "osc7501"]
    assert told["says"] == "waiting (permission), by rule reports-permission,"
    assert told["age_s"] >= 0
    assert reporter.reported("state=done", "idle")["cause"] == "turn-ended"
    assert reporter.reported("state=error:msg=Ym9vbQ==", "idle")["reason"] == "its turn failed: boom"
    reporter.reported("state=working", "working")
    assert reporter.reported("state=idle", "waiting")["cause"] == "interrupted"


@pytest.mark.parametrize(
    ("reports", "state", "cause"),
    [
        (["state=working", "state=done"], "completed", "turn-ended"),
        (["state=done"], "completed", "turn-ended"),
        (["state=working", "state=idle"], "waiting", "interrupted"),
        (["state=working", "state=error:msg=Ym9vbQ=="], "failed", "turn-failed"),
        (["state=working", BLOCKED], "waiting", "permission"),
        (["state=working", "state=blocked:id=part:kind=question"], "waiting", "question"),
    ],
)
def test_a_monitor_returns_what_was_reported(reporter: Reporter, reports: list[str], state: str, cause: str) -> None:
    reporter.started()
    watcher = reporter.office.monitor()
    for words in reports:
        reporter.report(words)
    found = watcher.end()
    assert (found["state"], found["cause"]) == (state, cause), found


def test_once_it_was_asked_nothing_more_is_typed(reporter: Reporter) -> None:
    reporter.started()
    reporter.reported("state=done", "idle")
    before = (reporter.note("heard") + reporter.note("typed")).count(ANSWER)
    assert reporter.lines()[1]["answers"] >= before > 0
    os.write(_stdout_of(reporter.reader()), b"not typed")
    reporter.office.tmux("send-keys", "-t", "=api:", "-l", "typed")
    until(lambda: ANSWERS.sub(b"", reporter.note("typed")) == b"typed")


def _stdout_of(pid: int) -> int:
    """What a process has as its standard output, opened here."""
    return os.open(f"/proc/{pid}/fd/1", os.O_WRONLY)


def test_a_reader_that_was_killed_harms_nothing_and_the_next_goes_on(reporter: Reporter) -> None:
    reporter.started()
    reporter.reported("state=working", "working")
    reader = reporter.reader()
    os.kill(reader, signal.SIGKILL)
    until_gone(reader)
    found = reporter.office.state()
    assert found.get("turn") != "working", "nobody hears whether it still works"
    assert any("its reader has ended" in each["says"] for each in found["against"])
    seat = reporter.seat()
    spawning.capture(PaneHand(seat.server), seat, str(reporter.box.path("api.log")), None)
    spawning.capture(PaneHand(seat.server), seat, str(reporter.box.path("api.log")), "")
    until(lambda: reporter.reader() != reader)
    assert reporter.reported("state=done", "idle")["cause"] == "turn-ended"


@pytest.mark.parametrize("way", ["flag", "variable", "file"])
def test_it_can_be_turned_off(reporter: Reporter, way: str) -> None:
    if way == "file":
        (reporter.office.cwd / "dogwatch.toml").write_text("[session]\nstatus_protocol = false\n")
    flags = ["--no-status-protocol"] if way == "flag" else []
    if way == "variable":
        reporter.box.env["DOGWATCH_STATUS_PROTOCOL"] = "0"
    done = reporter.spawn(*flags)
    assert done.code == 0, done
    until(lambda: "7501" in reporter.box.path("api.log").read_text() or reporter.office.state()["process"] == "alive")
    assert reporter.files() == []
    assert reporter.note("heard") == b""


def test_a_value_that_is_neither_on_nor_off_is_an_error(reporter: Reporter) -> None:
    done = reporter.spawn(DOGWATCH_STATUS_PROTOCOL="perhaps")
    assert (done.code, "DOGWATCH_STATUS_PROTOCOL is 0 or 1" in done.err) == (2, True)


def test_a_report_cannot_make_a_dead_agent_alive(reporter: Reporter) -> None:
    reporter.started()
    reporter.reported("state=working", "working")
    terminal = reporter.office.pane("#{pane_tty}")
    os.kill(int(reporter.note("started").split()[0]), signal.SIGKILL)
    assert reporter.office.until_state("crashed")["final"]
    if os.path.exists(terminal):
        Path(terminal).write_bytes(b"\x1b]7501;state=working\x07")
    assert reporter.office.state()["state"] == "crashed"


# Any program ---------------------------------------------------------------------------------------------------------


def test_any_program_is_judged_as_a_job_until_it_reports_and_then_by_that(reporter: Reporter) -> None:
    reporter.program()
    found = reporter.office.until_state("working")
    assert any("judged as a job" in each["says"] for each in found["against"])
    found = reporter.reported("state=blocked:kind=question:msg=V2hpY2g/", "waiting")
    assert (found["cause"], found["message"]) == ("question", "Which?")
    assert any("no known agent" in each["says"] for each in found["against"])
    listed = reporter.box("ls", "--panes", "-S", str(reporter.office.tmux.socket), "--json").json
    assert (listed["name"], listed["state"]) == (reporter.seat().id, "waiting")
    watcher = reporter.office.monitor("api", "--json")
    assert watcher.end()["code"] == 8
    reporter.reported("state=working", "working")
    watcher = reporter.office.monitor("api", "--json")
    reporter.report("state=done")
    assert watcher.end()["state"] == "completed"
    reporter.report("bye")
    assert reporter.office.until_state("completed")["final"]


def test_any_program_needs_a_command(reporter: Reporter) -> None:
    done = reporter.spawn(agent="program")
    assert (done.code, "needs a command after --" in done.err) == (2, True)


# Panes of others -----------------------------------------------------------------------------------------------------


def listen(reporter: Reporter, *more: str) -> Done:
    return reporter.box("listen", "%0", "-S", str(reporter.office.tmux.socket), *more)


def test_a_pane_of_others_is_read_only_where_the_user_asks_for_it_and_no_pipe_is_in_use(reporter: Reporter) -> None:
    office = reporter.office
    office.tmux.start(f"STAND_IN={office.notes} {sys.executable} -I -S {PROGRAM}", "work")
    until(lambda: reporter.note("started") != b"")
    reporter.report("state=working")
    panes = ("ls", "--panes", "-S", str(office.tmux.socket), "--json")
    assert reporter.box(*panes).out == ""
    assert listen(reporter).code == 0
    until(lambda: reporter.files() != [])
    reporter.report("state=blocked")
    until(lambda: '"waiting"' in reporter.box(*panes).out)
    again = listen(reporter)
    assert (again.code, "is piped to a program already" in again.err) == (12, True)
    assert listen(reporter, "--off").code == 0
    until(lambda: reporter.files() == [])
    assert office.tmux("display-message", "-p", "-t", "%0", "#{pane_pipe}").strip() == "0"
    assert reporter.note("typed") == b""


def test_the_capture_of_a_session_is_not_ended_by_listen(reporter: Reporter) -> None:
    reporter.started()
    done = listen(reporter, "--off")
    assert (done.code, "does not read pane" in done.err) == (12, True)
    reporter.reported("state=working", "working")
