"""What a program in a pane reports of itself (OSC 7501), in a real tmux: asked for, heard, believed, and only read."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

import pytest

from midwatch.sessions import spawn
from midwatch.tmux.pane_status_reader import ANSWER
from midwatch.tmux.sessions import TmuxSessions
from tests.conftest import until, until_gone
from tests.integration.spawn.reporter import BLOCKED, Reporter

ANSWERS = re.compile(rb"\x1b\]7501;\?\x1b\\|\x1b\[\?[\d;]*c|\x1bP>[^\x1b]*\x1b\\")
"""To what it has asked: ours, and tmux's to the rest."""


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
    spawn.start_capture(TmuxSessions(seat.server), seat, str(reporter.box.path("api.log")), None)
    spawn.start_capture(TmuxSessions(seat.server), seat, str(reporter.box.path("api.log")), "")
    until(lambda: reporter.reader() != reader)
    assert reporter.reported("state=done", "idle")["cause"] == "turn-ended"


@pytest.mark.parametrize("way", ["flag", "variable", "file"])
def test_it_can_be_turned_off(reporter: Reporter, way: str) -> None:
    if way == "file":
        (reporter.office.cwd / "midwatch.toml").write_text("[session]\nstatus_protocol = false\n")
    flags = ["--no-status-protocol"] if way == "flag" else []
    if way == "variable":
        reporter.box.env["MIDWATCH_STATUS_PROTOCOL"] = "0"
    done = reporter.spawn(*flags)
    assert done.code == 0, done
    until(lambda: "7501" in reporter.box.path("api.log").read_text() or reporter.office.state()["process"] == "alive")
    assert reporter.files() == []
    assert reporter.note("heard") == b""


def test_a_value_that_is_neither_on_nor_off_is_an_error(reporter: Reporter) -> None:
    done = reporter.spawn(MIDWATCH_STATUS_PROTOCOL="perhaps")
    assert (done.code, "MIDWATCH_STATUS_PROTOCOL is 0 or 1" in done.err) == (2, True)


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
