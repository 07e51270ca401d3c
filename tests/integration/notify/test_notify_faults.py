"""A disk that refuses writing just after the end, and a sender that is killed: what must be sent is sent once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from midwatch.jobs import launch
from midwatch.notifications import outbox, pending_runs
from tests.conftest import Box, alive, kill, letter, until, until_gone
from tests.integration.api.programs import program, said, started
from tests.integration.notify.conftest import Notices
from tests.integration.wait.disks import fill, mounted

SENDER = "_deliver"
HELD = f"""\
import os, signal, sys
if {SENDER!r} in sys.argv and os.path.exists({{held!r}}):
    with open({{pids!r}}, "a") as file:
        file.write(f"{{{{os.getpid()}}}}\\n")
    os.kill(os.getpid(), signal.SIGSTOP)
"""
"""Run by Python itself before anything of ours: a sender stops here, as if it had only just been started."""


class Senders:
    """Every sender is stopped at its first instruction while this is on."""

    def __init__(self, notices: Notices, home: Path) -> None:
        self.box = notices.box
        self.held, self.pids = home / "held", home / "senders"
        site = home / "site"
        site.mkdir()
        (site / "sitecustomize.py").write_text(HELD.format(held=str(self.held), pids=str(self.pids)))
        self.box.env["PYTHONPATH"] = f"{site}:{launch.ROOT}"
        self.held.touch()

    def first(self) -> int:
        """The pid of the first that was started, once it has stopped."""
        until(lambda: bool(self.started()) and letter(self.started()[0]) == "T")
        return self.started()[0]

    def kill(self) -> None:
        """Kill the first of them; from now on senders are let through."""
        pid = self.first()
        self.held.unlink()
        kill(pid, signal.SIGKILL)
        until(lambda: not alive(pid))

    def started(self) -> list[int]:
        return [int(pid) for pid in self.pids.read_text().split()] if self.pids.exists() else []


@pytest.fixture
def senders(notices: Notices, tmp_path: Path) -> Iterator[Senders]:
    found = Senders(notices, tmp_path)
    yield found
    for pid in {*found.started()} & {*notices.tellers()}:
        kill(pid, signal.SIGKILL)


@pytest.fixture
def disk(notices: Notices) -> Iterator[Notices]:
    """A box whose directory is a disk of its own."""
    notices.mine(notices.command())
    mounted(notices.box.dir, "size=512k,mode=700")
    yield notices
    for pid in notices.tellers():
        kill(pid, signal.SIGKILL)
        until_gone(pid)
    subprocess.run(["mount", "-o", "remount,rw", str(notices.box.dir)], check=False)
    notices.box.sweep()
    subprocess.run(["umount", "--lazy", str(notices.box.dir)], check=True)


def remount(box: Box, how: str) -> None:
    """Waits until nobody has a file open for writing any more, such as a shim that is about to leave."""
    until(lambda: subprocess.run(["mount", "-o", f"remount,{how}", str(box.dir)], check=False).returncode == 0)


def mended_disk(box: Box) -> None:
    box.path("filler").unlink()


def mended_mount(box: Box) -> None:
    remount(box, "rw")


FAULTS: dict[str, tuple[Callable[[Box], None], Callable[[Box], None]]] = {
    "full": (fill, mended_disk),
    "read-only": (lambda box: remount(box, "ro"), mended_mount),
}


def all_sent(notices: Notices, number: int) -> None:
    """So many have arrived, nobody is at it any more, and a whole round of every way to send adds none."""
    until(lambda: len(notices.delivered()) == number and not notices.tellers())
    assert notices.box("ls").code == 0
    assert notices.box("notify", "--pending").code == 0
    until(lambda: not notices.tellers())
    assert len(notices.delivered()) == number
    assert pending_runs.list_directories_due(str(notices.box.dir)) == []


@pytest.mark.parametrize("fault", FAULTS)
def test_an_end_just_before_the_disk_refuses_is_shown_and_sent_once_it_does_not(
    disk: Notices, senders: Senders, fault: str
) -> None:
    """The sender is killed as well: nothing but the files of the job is left to know of it."""
    box, (breaks, mends) = disk.box, FAULTS[fault]
    box("run", "-d", "--name", "build", "--", "sh", "-c", "exit 2")
    assert box("wait", "build").code == 1
    until_gone(box.record("build")["shim"]["pid"])
    senders.first()
    breaks(box)
    senders.kill()
    shown = box("notify", "--pending", "--json")
    assert (shown.code, shown.json["name"], shown.json["tries"]) == (1, "build", 0)
    assert shown.json["text"].startswith("build failed: exit 2 after ")
    assert "cannot write to" in shown.json["problem"]
    assert disk.delivered() == []
    mends(box)
    assert box("ls").code == 0
    all_sent(disk, 1)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_sender_stays_until_it_can_write(disk: Notices, senders: Senders, fault: str) -> None:
    box, (breaks, mends) = disk.box, FAULTS[fault]
    for name in ("one", "two"):
        box("run", "-d", "--name", name, "--", "false")
        box("wait", name)
        until_gone(box.record(name)["shim"]["pid"])
    until(lambda: [letter(pid) for pid in senders.started()] == ["T", "T"])
    breaks(box)
    senders.held.unlink()
    for pid in senders.started():
        kill(pid, signal.SIGCONT)
    until(lambda: pending_runs.is_retry_running(str(box.dir)) and len(disk.tellers()) == 1)  # one stays for all
    mends(box)
    all_sent(disk, 2)


@pytest.mark.parametrize(
    "verb", [("ls",), ("wait", "build"), ("run", "-d", "--name", "next", "--", "true"), ("notify", "--pending")]
)
def test_an_end_whose_sender_was_killed_is_sent_by_the_next_process(
    notices: Notices, senders: Senders, verb: tuple[str, ...]
) -> None:
    notices.mine(notices.command(fields='"{name} {state}"') + 'on = ["failed"]\n')
    notices.box("run", "-d", "--name", "build", "--", "false")
    senders.kill()
    assert notices.delivered() == []
    notices.box(*verb)
    all_sent(notices, 1)
    assert notices.delivered() == [["build failed"]]


API = {
    "run": "midwatch.run(['true'], name='next')",
    "wait": "midwatch.wait('build')",
    "wait_all": "midwatch.wait_all(['build'])",
    "status": "midwatch.status('build')",
    "aio.wait": "asyncio.run(midwatch.aio.wait('build'))",
    "aio.status": "asyncio.run(midwatch.aio.status('build'))",
}


@pytest.mark.parametrize("call", API)
def test_an_end_whose_sender_was_killed_is_sent_by_the_next_program(
    notices: Notices, senders: Senders, call: str
) -> None:
    """The sender is nobody's child, whatever the program thinks of its children, and holds none of its files."""
    notices.mine(notices.command(fields='"{name} {state}"') + 'on = ["failed"]\n')
    notices.box("run", "-d", "--name", "build", "--", "false")
    senders.kill()
    script = f"""
        import asyncio, signal
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        reading, writing = os.pipe()
        os.set_inheritable(writing, True)
        {API[call]}
        os.close(writing)
        print(children(), os.read(reading, 1))
    """
    assert said(program(notices.box, script)) == ["[] b''"]
    all_sent(notices, 1)
    assert notices.delivered() == [["build failed"]]


@pytest.mark.parametrize("call", ["midwatch.status('build')", "asyncio.run(midwatch.aio.wait('build'))"])
def test_a_program_that_goes_on_sends_what_a_killed_sender_left_within_a_minute(
    notices: Notices, senders: Senders, call: str
) -> None:
    """It need not be the next to start."""
    notices.mine(notices.command(fields='"{name} {state}"'))
    gate = notices.home / "gate"
    os.mkfifo(gate)
    script = f"""
        import asyncio, time
        midwatch.status('build')
        midwatch.run(['false'], name='build')
        read(gate)
        now = time.monotonic
        time.monotonic = lambda: now() + 61
        {call}
    """
    with started(notices.box, script, gate=str(gate)) as running:
        senders.kill()
        gate.write_text("go")
        assert running.done().code == 0
    all_sent(notices, 1)
    assert notices.delivered() == [["build failed"]]


def test_a_program_that_finds_a_job_crashed_gets_no_child_by_telling_it(notices: Notices) -> None:
    notices.mine(notices.command(fields='"{name} {state}"'))
    notices.box("run", "-d", "--name", "x", "--", "sleep", "1000")
    for pid in notices.box.pids("x"):
        kill(pid, signal.SIGKILL)
        until_gone(pid)
    assert said(program(notices.box, "print(midwatch.wait('x').state, children())")) == ["crashed []"]
    all_sent(notices, 1)


@pytest.mark.parametrize("arguments", [("tmux-wrapper", "list"), ("orchestrator-helper", "sprint-status", "exists")])
def test_an_end_whose_sender_was_killed_is_sent_by_story_automator(
    notices: Notices, senders: Senders, arguments: tuple[str, ...]
) -> None:
    notices.mine(notices.command(fields='"{name} {state}"'))
    notices.box("run", "-d", "--name", "build", "--", "false")
    senders.kill()
    notices.box.program = [sys.executable, "-m", "midwatch.compat.story_automator"]
    assert notices.box(*arguments, TMUX_TMPDIR=str(notices.home)).code == 0
    notices.box.program = [sys.executable, "-m", "midwatch"]
    all_sent(notices, 1)


@pytest.mark.parametrize("by", ["option", "variable"])
def test_story_automator_sends_for_the_project_that_is_meant(notices: Notices, senders: Senders, by: str) -> None:
    """Which need not be the current directory."""
    notices.mine(notices.command(fields='"{name} {state}"'))
    box = notices.box
    box.env |= {"XDG_STATE_HOME": str(notices.home / "state"), "TMUX_TMPDIR": str(notices.home)}
    del box.env["MIDWATCH_HOME"]
    box("run", "-d", "--name", "build", "--", "false")
    (box.dir,) = (notices.home / "state" / "midwatch").glob("*-????????")
    senders.kill()
    box.program, box.cwd = [sys.executable, "-m", "midwatch.compat.story_automator"], Path("/")
    given = ("--project-root", str(notices.home)) if by == "option" else ()
    box("tmux-status-check", "sa-nobody", *given, **({} if given else {"PROJECT_ROOT": str(notices.home)}))
    box.program, box.cwd = [sys.executable, "-m", "midwatch"], notices.home
    all_sent(notices, 1)


def test_the_end_of_a_run_that_is_in_the_archive_by_now_is_sent(notices: Notices, senders: Senders) -> None:
    notices.mine(notices.command(fields='"{name} {state}"'))
    notices.box("run", "-d", "--name", "build", "--", "false")
    senders.kill()
    until_gone(notices.box.record("build")["shim"]["pid"])
    assert notices.box("run", "--name", "build", "--", "true").code == 0
    all_sent(notices, 2)
    assert sorted(notices.delivered()) == [["build completed"], ["build failed"]]


def test_that_a_job_is_stuck_is_sent_although_the_sender_was_killed(notices: Notices, senders: Senders) -> None:
    notices.mine(notices.command(fields='"{name} {state}"'))
    slow = ("--stale", "1", "--grace", "0.5", "--heartbeat", "0.4")
    notices.box("run", "-d", "--name", "x", *slow, "--", "sleep", "1000")
    senders.kill()
    notices.box("ls")
    until(lambda: notices.delivered() == [["x stuck"]] and not notices.tellers())
    notices.box("ls")
    assert notices.tellers() == []
    assert notices.box("stop", "x").code == 0
    all_sent(notices, 2)


def test_a_job_whose_shim_was_killed_with_its_work_is_sent_by_whoever_lists(notices: Notices) -> None:
    notices.mine(notices.command(fields='"{name} {state}"'))
    notices.box("run", "-d", "--name", "x", "--", "sleep", "1000")
    shim, work = notices.box.pids("x")
    kill(shim, signal.SIGKILL)
    until_gone(shim)
    assert notices.box("ls").code == 0  # its work goes on, and that is no news
    assert pending_runs.list_directories_due(str(notices.box.dir)) == []
    kill(work, signal.SIGKILL)
    until(lambda: not alive(work))
    assert notices.box("ls").code == 0
    all_sent(notices, 1)
    assert notices.delivered() == [["x crashed"]]


WATCHER = """
import sys
from midwatch.notifications import report_change as notify
from midwatch.notifications.model import ChangeSubject
from midwatch.core.verdict import Verdict
directory, project, *states = sys.argv[1:]
before = Verdict("api", "session", "working", False, "a turn", "alive", "unknown")
about = ChangeSubject("4711-1", agent="claude", pane="%3")
for state in states:
    verdict = before._replace(state=state, reason="it asks", cause="question" if state == "waiting" else "")
    notify.report_verdict(directory, verdict, before, project=project, about=about)
    before = verdict
"""


def watch(notices: Notices, *states: str) -> None:
    """A watcher that sees this, one after the other, and is gone then."""
    command = [sys.executable, "-c", WATCHER, str(notices.box.dir), str(notices.home), *states]
    subprocess.run(command, env=notices.box.env, cwd=notices.home, check=True)


def test_what_a_watcher_saw_is_sent_although_the_sender_was_killed(notices: Notices, senders: Senders) -> None:
    notices.mine(notices.command(fields='"{name} {state}"'))
    watch(notices, "waiting")
    senders.kill()
    notices.box("ls")
    all_sent(notices, 1)
    assert notices.delivered() == [["api waiting"]]


def test_what_was_over_before_anybody_could_send_it_is_not_sent(notices: Notices, senders: Senders) -> None:
    notices.mine(notices.command(fields='"{name} {state}"'))
    watch(notices, "waiting", "working")
    until(lambda: [letter(pid) for pid in senders.started()] == ["T", "T"])
    senders.held.unlink()
    for pid in senders.started():
        kill(pid, signal.SIGKILL)
    until(lambda: not notices.tellers())
    notices.box("ls")
    all_sent(notices, 0)
    [event] = notices.events("undelivered")
    assert "it was over before it could be delivered" in event["reason"]


@pytest.mark.parametrize("fault", FAULTS)
def test_what_a_watcher_saw_while_the_disk_refuses_is_sent_once_it_does_not(disk: Notices, fault: str) -> None:
    breaks, mends = FAULTS[fault]
    outbox.prepare_outbox(str(disk.box.dir))
    breaks(disk.box)
    watch(disk, "waiting")
    until(lambda: len(disk.tellers()) == 1)
    mends(disk.box)
    all_sent(disk, 1)


def test_a_notice_is_not_sent_before_it_is_noted_as_told(notices: Notices) -> None:
    """Whoever was killed in between is heard once more, and files the same; had it been sent, it would be twice."""
    notices.mine(notices.command(fields='"{state}"'))
    outbox.prepare_outbox(str(notices.box.dir))
    in_the_way = Path(outbox.state_path(str(notices.box.dir), "api", "4711-1"))
    in_the_way.mkdir()
    teller = notices.start(notices.change())
    until(lambda: bool(notices.pending()))
    shown = notices.box("notify", "--pending", "--json")
    assert (shown.code, shown.json["tries"], notices.delivered()) == (1, 0, [])
    in_the_way.rmdir()
    assert teller.wait(60) == 0
    assert notices.delivered() == [["waiting"]]


def test_nobody_sends_what_a_sender_is_about_to_send(notices: Notices, senders: Senders) -> None:
    notices.mine(notices.command())
    notices.box("run", "-d", "--name", "build", "--", "false")
    senders.first()
    assert notices.box("ls").code == 0
    assert len(notices.tellers()) == 1
    senders.held.unlink()
    kill(senders.first(), signal.SIGCONT)
    all_sent(notices, 1)
