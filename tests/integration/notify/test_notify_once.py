"""A change is told once: by ten watchers, by one that was killed, after the outbox was down and up again."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from midwatch.core.policy import PATIENT
from midwatch.core.verdict import Verdict
from midwatch.jobs import launch, start_sender
from midwatch.jobs.job_directory import JobDirectory
from midwatch.notifications import report_change
from midwatch.notifications.model import ChangeSubject
from tests.conftest import Box, until, until_gone
from tests.integration.notify.conftest import Notices, timeless

WATCHER = """
import sys, time
from midwatch.notifications import report_change as notify
from midwatch.notifications.model import ChangeSubject
from midwatch.core.verdict import Verdict
directory, project, at = sys.argv[1], sys.argv[2], float(sys.argv[3])
def verdict(state):
    return Verdict("api", "session", state, False, "it waits for an answer", "alive", "unknown", "question")
about = ChangeSubject("4711-1", agent="claude", pane="%3")
notify.report_verdict(directory, verdict("waiting"), verdict("working"), project=project, about=about, at=at)
"""


def ended(box: Box, *command: str) -> str:
    """A job that has ended; its run."""
    box("run", "-d", "--name", "build", "--", *command)
    box("wait", "build")
    return str(box.record("build")["run"])


def test_ten_tellers_of_one_job_tell_its_end_once(notices: Notices, box: Box) -> None:
    notices.mine(notices.command())
    run = ended(box, "sh", "-c", "exit 2")
    tellers = [notices.start(None, "--run", run, "build") for _ in range(10)]
    for teller in tellers:
        assert teller.wait(60) == 0
    until(lambda: notices.tellers() == [])
    [[text]] = notices.delivered()
    assert text.startswith("build failed: exit 2 after ")
    assert text.endswith(" (next: escalate)")
    assert notices.pending() == []
    [event] = notices.events("notice")
    assert (event["name"], event["run"], event["state"], event["tries"]) == ("build", run, "failed", 1)


def test_ten_watchers_of_one_session_tell_once_that_it_waits(notices: Notices, box: Box, tmp_path: Path) -> None:
    notices.mine(notices.command())
    command = [sys.executable, "-c", WATCHER, str(box.dir), str(tmp_path)]
    watchers = [subprocess.Popen([*command, str(at)], env=box.env, cwd=tmp_path) for at in range(100, 110)]
    for watcher in watchers:
        assert watcher.wait(60) == 0
    until(lambda: bool(notices.delivered()) and not notices.tellers())
    [[text]] = notices.delivered()
    assert timeless(text) == "api waits for an answer (claude, %3, 0s)"


def test_each_channel_is_told_once(notices: Notices) -> None:
    notices.mine(notices.command())
    notices.projects(notices.command())
    assert notices.box("trust", "--yes").code == 0
    tellers = [notices.start(notices.change()) for _ in range(5)]
    for teller in tellers:
        assert teller.wait(60) == 0
    assert len(notices.delivered()) == 2


def test_what_is_over_and_comes_back_is_told_again(notices: Notices) -> None:
    notices.mine(notices.command(fields='"{state}"'))
    for state in ("waiting", "waiting", "working", "waiting", "stopped", "stopped"):
        notices.tell(notices.change(state))
    assert notices.delivered() == [["waiting"], ["waiting"], ["stopped"]]


def test_another_run_of_the_same_name_is_another_story(notices: Notices, box: Box) -> None:
    notices.mine(notices.command(fields='"{state}"'))
    first = ended(box, "false")
    second = ended(box, "true")
    until(lambda: not notices.tellers())
    shutil.rmtree(box.dir / "outbox", ignore_errors=True)  # as if their shims had told nobody
    notices.out.unlink(missing_ok=True)
    for run in (first, second, first):  # the first one's files are in the archive by now
        assert notices.start(None, "--run", run, "build").wait(60) == 0
    until(lambda: not notices.tellers())
    assert notices.delivered() == [["failed"], ["completed"]]


def test_a_teller_killed_between_delivering_and_noting_it_costs_one_duplicate(notices: Notices, tmp_path: Path) -> None:
    once = str(tmp_path / "once")
    kills = f"if not os.path.exists({once!r}):\n    open({once!r}, 'w').close()\n    os.kill(os.getppid(), 9)"
    notices.mine(notices.command(then=kills))
    assert notices.start(notices.change()).wait(60) == -9
    [left] = notices.pending()
    assert (left["tries"], len(notices.delivered())) == (1, 1)
    assert notices.box("notify", "--pending").code == 0
    assert (len(notices.delivered()), notices.pending()) == (2, [])
    assert notices.box("notify", "--pending").code == 0
    notices.tell(notices.change())
    assert len(notices.delivered()) == 2


def test_a_teller_killed_before_it_wrote_down_that_it_told_tells_nothing_twice(notices: Notices) -> None:
    """The notice is in the outbox, what was told is not: whoever comes next writes the same notice."""
    notices.mine(notices.command(then="sys.exit(1)"))
    teller = notices.start(notices.change())
    until(lambda: any(notice["trouble"] for notice in notices.pending()))
    teller.kill()
    [told] = (notices.box.dir / "outbox" / "told").iterdir()
    told.unlink()
    notices.start(notices.change())
    until(told.exists)
    assert len(notices.pending()) == 1


def test_whoever_comes_after_a_killed_watcher_sees_that_it_is_over(
    notices: Notices, box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its first look says `working`; without that the next wait would pass for the old one."""
    notices.mine(notices.command(fields='"{state}"'))
    notices.tell(notices.change(at=1.0))
    for key, value in box.env.items():
        monkeypatch.setenv(key, value)
    about, working = ChangeSubject("4711-1"), Verdict("api", "session", "working", False, "a turn", "alive", "unknown")
    waiting = working._replace(state="waiting")
    [told] = (box.dir / "outbox" / "told").iterdir()
    report_change.report_verdict(str(box.dir), working, None, project=str(notices.home), about=about, at=2.0)
    until(lambda: '"open": false' in told.read_text())
    report_change.report_verdict(str(box.dir), waiting, working, project=str(notices.home), about=about, at=3.0)
    until(lambda: len(notices.delivered()) == 2)


@pytest.mark.parametrize(("ending", "last"), [("exit 2", [["abandoned"], ["failed"]]), ("", [["abandoned"]])])
def test_that_a_monitor_gives_up_is_told_and_then_how_it_really_ended(
    notices: Notices, box: Box, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, last: list[list[str]]
) -> None:
    """Only that a person then stops it is no news."""
    notices.mine(notices.command(fields='"{state}"'))
    os.mkfifo(tmp_path / "gate")
    box("run", "-d", "--name", "x", "--", "sh", "-c", f"read line < gate; {ending}")
    for key, value in box.env.items():
        monkeypatch.setenv(key, value)
    looker = JobDirectory(str(box.dir), PATIENT)
    record = looker.facts("x").record
    assert record is not None
    working = looker.verdict("x")
    abandoned = working._replace(state="abandoned", final=True, reason="the monitor was ended")
    for _ in range(3):  # as many as watched
        report_change.report_verdict(
            str(box.dir), abandoned, working, project=record.notify, about=report_change.change_subject(record)
        )
    until(lambda: notices.delivered() == [["abandoned"]])
    if ending:
        (tmp_path / "gate").write_text("\n")
    else:
        box("stop", "x")
    assert box("wait", "x").code == (1 if ending else 10)
    until_gone(record.shim.pid)
    until(lambda: len(notices.delivered()) == len(last) and not notices.tellers())
    assert notices.delivered() == last


def test_nothing_is_started_where_nobody_is_to_be_told(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[list[str]] = []
    monkeypatch.setattr(start_sender, "start", lambda command, _=b"": started.append(command))
    monkeypatch.setenv("HOME", str(box.cwd))
    working = Verdict("x", "job", "working", False, "alive", "alive", "unknown")
    failed = working._replace(state="failed", final=True)
    assert report_change.find_configured_project(str(box.cwd)) == ""
    report_change.report_verdict(str(box.dir), failed, working, project="")
    report_change.report_verdict(str(box.dir), working, None, project=str(box.cwd))
    report_change.report_verdict(str(box.dir), working, working, project=str(box.cwd))
    report_change.start_delivery(str(box.dir))
    assert started == []
    report_change.report_verdict(str(box.dir), failed, working, project=str(box.cwd))
    [report] = (box.dir / "outbox" / "reports").iterdir()
    assert started == [launch.sender_command(str(box.dir), report=report.name)]


def test_a_record_says_whether_anybody_is_told(notices: Notices, box: Box) -> None:
    box("run", "--name", "before", "--", "true")
    notices.mine(notices.command())
    box("run", "--name", "after", "--", "true")
    assert "notify" not in box.record("before")
    assert box.record("after")["notify"] == os.path.realpath(notices.home)
    assert notices.start(None, "--run", box.record("before")["run"], "before").wait(60) == 0
    until(lambda: not notices.tellers())
    assert [text for [text] in notices.delivered() if "before" in text] == []
