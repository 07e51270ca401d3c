"""`midwatch report` over real jobs and sessions."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import PATIENCE, Box, Done, kill, until, until_gone
from tests.integration.spawn.office import Office
from tests.integration.wait.watching import Gate, start_gated


def subjects(done: Done) -> dict[str, dict[str, Any]]:
    assert done.code == 0, done
    return {line["name"]: line for line in map(json.loads, done.out.splitlines())}


def test_jobs_are_told_with_how_long_they_worked_and_what_needs_a_person(box: Box, gate: Gate) -> None:
    box("run", "--name", "build", "--", "true")
    box("run", "--name", "test", "--", "sh", "-c", "exit 3")
    box("run", "--name", "night", "--retries", "1", "--backoff", "10ms", "--", "sh", "-c", "exit 4")
    start_gated(box, gate, "train", "true")
    told = box("report")
    assert told.code == 0
    assert "Needs you (2)\n  night: failed: exit 4" in told.out
    assert "  test: failed: exit 3" in told.out
    assert "  train: working\n" in told.out
    found = subjects(box("report", "--json"))
    assert [found[name]["needs_you"] for name in ("build", "test", "night", "train")] == [False, True, True, False]
    assert (found["night"]["retries"], found["build"]["state"], found["build"]["verified"]) == (1, "completed", None)
    for each in found.values():
        assert sum(period["end"] - period["begin"] for period in each["periods"]) == pytest.approx(12 * 3600)
        assert each["seconds"]["working"] > 0
        assert each["seconds"]["not_observed"] == 0
    gate.say()


def test_what_a_killed_shim_did_not_see_is_not_observed(box: Box, gate: Gate) -> None:
    start_gated(box, gate, "job", "true", "--heartbeat", "100ms")
    shim, work = box.pids("job")
    until(lambda: box.path("job.heartbeat").stat().st_mtime > box.record("job")["started"] + 0.2)
    kill(shim, signal.SIGKILL)
    until_gone(shim)
    found = subjects(box("report", "--json"))["job"]
    assert found["seconds"]["not_observed"] > 0
    assert [each["state"] for each in found["periods"]] == ["absent", "working", "not_observed"]
    kill(work, signal.SIGKILL)


def test_a_session_is_observed_only_while_a_monitor_watches(office: Office) -> None:
    office.spawned(prompt="work")
    before = subjects(office.box("report", "--json"))["api"]
    assert [each["state"] for each in before["periods"]] == ["absent", "not_observed"]
    assert (before["kind"], before["agent"], before["state"]) == ("session", "claude", "working")
    watcher = office.monitor("api")
    office.until_watched("working")
    during = subjects(office.box("report", "--json"))["api"]
    assert [each["state"] for each in during["periods"]] == ["absent", "not_observed", "working"]
    office.go("ask")
    assert watcher.end()["state"] == "waiting"
    after = subjects(office.box("report", "--json"))["api"]
    assert [each["state"] for each in after["periods"]][2:] == ["working", "waiting", "not_observed"]
    assert (after["state"], after["needs_you"]) == ("waiting", True)
    told = office.box("report").out
    assert "api: waiting: it waits for a permission" in told
    assert "\n    midwatch attach api\n" in told


def test_a_monitor_that_was_killed_is_believed_up_to_its_last_note(office: Office) -> None:
    office.spawned(prompt="work")
    watcher = office.monitor("api")
    office.until_watched("working")
    watcher.process.kill()
    watcher.process.wait()
    found = subjects(office.box("report", "--json"))["api"]
    assert [each["state"] for each in found["periods"]] == ["absent", "not_observed"]


def test_a_resume_is_told_with_its_reason_and_a_check_with_what_it_said(office: Office) -> None:
    office.spawned("api", "--verify", "true", prompt="work")
    office.resumed("say")
    watcher = office.monitor("api", "--resume", "1")
    office.until_watched("working")
    office.go("die 9")
    assert watcher.end()["state"] == "completed"
    found = subjects(office.box("report", "--json"))["api"]
    assert (found["resumes"], found["verified"], found["runs"]) == (1, True, 2)
    (resumed,) = [each for each in found["remarks"] if each["what"] == "resumed"]
    assert "SIGKILL" in resumed["reason"]
    assert "resumed once" in office.box("report").out


def test_a_page_is_one_file(box: Box) -> None:
    box("run", "--name", "test", "--", "sh", "-c", "exit 3")
    done = box("report", "--html", "night.html")
    assert (done.code, done.out) == (0, "")
    assert "wrote night.html" in done.err
    page = (box.cwd / "night.html").read_text()
    assert page.startswith("<!DOCTYPE html>")
    assert "midwatch why test" in page
    assert box("report", "--html", "-").out.startswith("<!DOCTYPE html>")


def test_a_page_that_cannot_be_written_is_an_error(box: Box) -> None:
    done = box("report", "--html", "/no/such/place.html")
    assert done.code == 12
    assert "cannot write /no/such/place.html" in done.err


def test_only_what_was_there_in_the_span_is_told(box: Box) -> None:
    box("run", "--name", "job", "--", "true")
    assert subjects(box("report", "--since", "1h", "--json"))["job"]["state"] == "completed"
    done = box("report", "--since", "2020-01-01", "--until", "2020-01-02")
    assert "Nothing ran in this time." in done.out
    assert box("report", "--since", "2020-01-01", "--until", "2020-01-02", "--json").out == ""


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (["job"], "report takes no names"),
        (["--since", "lunch"], "--since 'lunch' is no moment"),
        (["--until", "25:00"], "--until '25:00' is no time of a day"),
        (["--since", "1h", "--until", "2h"], "--since must be before --until"),
        (["--all", "--dir", "."], "--dir names one directory"),
    ],
)
def test_what_cannot_be_meant_is_refused(box: Box, wrong: list[str], words: str) -> None:
    done = box("report", *wrong)
    assert (done.code, words in done.err) == (2, True), done


def test_all_projects_are_told_apart(box: Box) -> None:
    del box.env["MIDWATCH_HOME"]
    for project in ("one", "two"):
        box.cwd = Path(box.env["HOME"]) / project
        box.cwd.mkdir()
        (box.cwd / "midwatch.toml").write_text("")
        assert box("run", "--name", "job", "--", "true").code == 0
    told = box("report", "--all").out
    assert [line.split("-")[0] for line in told.splitlines() if line.endswith("/job: completed")] == ["  one", "  two"]
    assert "one" not in box("report").out


def test_a_journal_that_cannot_be_written_is_read_all_the_same(box: Box) -> None:
    box("run", "--name", "job", "--", "true")
    assert box("events").code == 0
    for path in (box.dir, *box.dir.glob("journal.sqlite*")):
        path.chmod(0o500 if path.is_dir() else 0o400)
    try:
        assert subjects(box("report", "--json"))["job"]["state"] == "completed"
    finally:
        box.dir.chmod(0o700)


def test_where_nothing_was_ever_started_nothing_is_made(box: Box) -> None:
    assert "Nothing ran in this time." in box("report").out
    assert not box.dir.exists()


@pytest.mark.parametrize(("columns", "colour"), [(60, True), (40, False)])
def test_a_terminal_gets_colours_and_lines_that_fit(box: Box, columns: int, colour: bool) -> None:
    box("run", "--name", "test", "--", "sh", "-c", "exit 3")
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("4H", 24, columns, 0, 0))
    env = box.env | ({"TERM": "xterm"} if colour else {"NO_COLOR": "1", "TERM": "xterm"})
    call = subprocess.Popen(
        [sys.executable, "-m", "midwatch", "report"], stdout=follower, stderr=follower, stdin=follower, env=env,
        cwd=box.cwd,
    )  # fmt: skip
    os.close(follower)
    said = b""
    until(lambda: call.poll() is not None)
    while True:
        try:
            data = os.read(leader, 4096)
        except OSError:
            break
        if not data:
            break
        said += data
    os.close(leader)
    assert call.wait(PATIENCE) == 0
    assert (b"\x1b[31mfailed\x1b[0m" in said) == colour, said
    plain = said.replace(b"\x1b[31m", b"").replace(b"\x1b[0m", b"").decode()
    assert max(map(len, plain.splitlines())) <= columns
