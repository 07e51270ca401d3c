"""Bringing back what crashed or hangs: by its own conversation, as often as was said, and against nobody's will."""

from __future__ import annotations

import json
import signal
import subprocess
from datetime import UTC, datetime, timedelta

import pytest

from midwatch.sessions import limit_tracker
from midwatch.system import procfs
from tests.conftest import alive, kill, until, until_gone
from tests.integration.send.conftest import Gate
from tests.integration.spawn.office import Office


@pytest.fixture
def gate(office: Office) -> Gate:
    directory = office.home / "gate"
    directory.mkdir()
    return Gate(office.box, office.tmux.program, directory)


def crash(office: Office) -> None:
    office.until_watched("working")
    kill(office.box.pids("api")[1], signal.SIGKILL)


def test_a_crash_is_resumed_by_its_recorded_conversation_and_told_to_go_on(office: Office) -> None:
    before = office.spawned("api", "--model", "opus", prompt="work")
    watcher = office.monitor("api", "--resume", "1")
    crash(office)
    end = watcher.end()
    after = office.box.record("api")
    assert (end["state"], end["code"]) == ("completed", 0)
    assert office.start(2)["argv"] == ["--resume", before["conversation"], "--model", "opus"]
    assert (after["again"], after["attempt"], after["conversation"]) == (before["run"], 2, before["conversation"])
    assert after["pane"] == before["pane"]
    assert b"Continue where you left off." in office.typed()
    assert "; resuming it (1 of 1)" in "".join(watcher.said)


def test_the_second_crash_is_one_when_no_resume_is_left(office: Office) -> None:
    office.resumed("die 9")
    office.spawned(prompt="work")
    watcher = office.monitor("api", "--resume", "1")
    crash(office)
    end = watcher.end()
    assert (end["state"], end["code"], len(office.starts())) == ("crashed", 3, 2)


def test_without_being_asked_nothing_is_resumed(office: Office) -> None:
    office.spawned(prompt="work")
    watcher = office.monitor()
    crash(office)
    assert (watcher.end()["state"], len(office.starts())) == ("crashed", 1)


def test_a_hang_is_ended_and_then_resumed(office: Office) -> None:
    """A defect of the original systems: it typed into the hung agent's pane, and never ended it."""
    office.begin("deaf")
    office.spawned(prompt="work")
    shim, work = office.box.pids("api")
    watcher = office.monitor("api", "--resume", "1", "--stale", "2s", "--grace", "1s")
    assert watcher.end()["state"] == "completed"
    assert not alive(work)
    assert not alive(shim)
    assert [start["argv"][0] for start in office.starts()] == ["--session-id", "--resume"]
    first = json.loads(office.box("show", "api", "--json").out.splitlines()[0])
    (ended,) = [event for event in first["events"] if event["event"] == "ended"]
    assert (ended["state"], ended["cause"]) == ("stuck", "no-progress")
    assert ended["reason"].endswith("; ended by its monitor, to be resumed")
    assert "resumed" in [event["event"] for event in first["events"]]
    assert first["verdict"]["state"] == "stuck"


@pytest.mark.parametrize("then", ["exit 0", "bye 0", "exit 3", "die 15", "die 1"])
def test_what_ended_by_itself_or_was_told_to_is_not_resumed(office: Office, then: str) -> None:
    office.spawned(prompt="work")
    watcher = office.monitor("api", "--resume", "1")
    office.until_watched("working")
    office.go(then)
    assert watcher.end()["final"]
    assert len(office.starts()) == 1


def test_what_somebody_stopped_is_not_resumed(office: Office) -> None:
    office.spawned(prompt="work")
    watcher = office.monitor("api", "--resume", "1")
    office.until_watched("working")
    office.box("stop", "api")
    assert watcher.end()["state"] == "stopped"
    assert len(office.starts()) == 1


def test_a_stop_before_a_hang_was_noticed_forbids_its_resume(office: Office) -> None:
    """Somebody's `stop` was killed half way: that it should be over was said."""
    office.spawned(prompt="work")
    office.box.path("api.halt").write_text(f"{office.box.record('api')['started'] + 0.001}\n")
    end = office.monitor("api", "--resume", "1", "--stale", "2s", "--grace", "1s").end()
    assert (end["state"], len(office.starts())) == ("stopped", 1)
    assert "somebody stopped it meanwhile" in end["reason"]


def test_a_stop_during_a_resume_wins(office: Office) -> None:
    office.begin("", "work")
    office.spawned(prompt="work")
    watcher = office.monitor("api", "--resume", "2")
    crash(office)
    until(lambda: len(office.starts()) == 2)  # it is at work, so that it cannot be told to go on yet
    assert office.box("stop", "api").code == 0
    assert watcher.end()["state"] == "stopped"
    assert office.listed() == {"api": "stopped"}
    assert len(office.starts()) == 2


def test_a_stop_before_the_resumed_agent_is_there_wins(office: Office, gate: Gate) -> None:
    office.spawned(prompt="work")
    watcher = office.monitor("api", "--resume", "1")
    office.until_watched("working")
    gate.close("respawn-pane")
    kill(office.box.pids("api")[1], signal.SIGKILL)
    gate.reached()
    office.box("stop", "api")
    gate.open()
    end = watcher.end()
    assert (end["state"], end["code"]) == ("stopped", 10)
    assert "somebody stopped it meanwhile" in end["reason"]
    assert office.listed() == {"api": "stopped"}


def test_a_conversation_that_another_has_open_is_left_to_him(office: Office) -> None:
    record = office.spawned(prompt="work")
    watcher = office.monitor("api", "--resume", "1")
    words = ["bash", "-c", "exec -a claude bash -c 'read x' --resume \"$0\"", record["conversation"]]
    with subprocess.Popen(words, stdin=subprocess.PIPE) as other:
        until(lambda: procfs.read_text(f"/proc/{other.pid}/cmdline").startswith("claude"))
        crash(office)
        end = watcher.end()
        other.kill()
    assert (end["state"], len(office.starts())) == ("crashed", 1)
    assert f"not resumed: its conversation is open in another process ({other.pid})" in end["reason"]
    assert office.listed() == {"api": "crashed"}
    assert office.box("resume", "api").code == 0


def test_what_the_agent_left_keeps_its_conversation(office: Office) -> None:
    """It has none of our marks, so it is not ours to end."""
    record = office.spawned(prompt="ghost")
    watcher = office.monitor("api", "--resume", "1")
    office.until_watched("working")
    ghost = int((office.notes / "ghost").read_text())
    for pid in office.box.pids("api"):
        kill(pid, signal.SIGKILL)
    end = watcher.end()
    refused = office.box("resume", "api")
    kill(ghost, signal.SIGKILL)
    until_gone(ghost)
    assert (end["state"], len(office.starts())) == ("crashed", 1)
    assert f"conversation {record['conversation']} is open in another process ({ghost})" in end["reason"]
    assert refused.code == 12
    assert office.box("resume", "api").code == 0


def test_the_dialog_of_a_resumed_agent_is_told(office: Office) -> None:
    office.begin("", "trust")
    office.spawned(prompt="work")
    watcher = office.monitor("api", "--resume", "1")
    crash(office)
    end = watcher.end()
    assert (end["state"], end["code"]) == ("waiting", 8)
    assert "trusting the folder" in end["reason"]
    assert b"Continue" not in office.typed()


def test_an_agent_that_cannot_be_started_again_is_said_to_have_crashed(office: Office) -> None:
    office.spawned(prompt="work")
    watcher = office.monitor("api", "--resume", "1")
    office.until_watched("working")
    office.box.cwd = office.home
    office.cwd.rename(office.home / "elsewhere")
    kill(office.box.pids("api")[1], signal.SIGKILL)
    end = watcher.end()
    assert end["state"] == "crashed"
    assert f"not resumed: there is no directory {office.cwd} any more" in end["reason"]
    assert office.listed() == {"api": "crashed"}


def test_its_pane_may_be_gone(office: Office) -> None:
    office.spawned(prompt="work")
    office.tmux.start("cat", "others")
    watcher = office.monitor("api", "--resume", "1")
    office.until_watched("working")
    kill(watcher.pid, signal.SIGSTOP)
    shim, work = office.box.pids("api")
    kill(work, signal.SIGKILL)
    until_gone(shim)
    office.tmux("kill-session", "-t", "=api")
    kill(watcher.pid, signal.SIGCONT)
    assert watcher.end()["state"] == "completed"
    assert office.sessions() == ["api", "others"]


# Limits ---------------------------------------------------------------------------------------------------------------


def limit(seconds: float) -> str:
    """A limit that is over, margin included, in so many seconds."""
    end = datetime.now(UTC) + timedelta(seconds=seconds - limit_tracker.MARGIN)
    return f"limit {end.strftime('%Y-%m-%dT%H:%M:%SZ')}"


def test_a_limit_is_waited_for_and_then_it_is_told_to_go_on(office: Office) -> None:
    office.spawned(prompt=limit(4))
    watcher = office.monitor("api", "--on-limit", "wait")
    end = watcher.end()
    assert (end["state"], end["code"]) == ("completed", 0)
    assert "limited: it hit a limit" in "".join(watcher.said)
    assert "its limit is over; it is told to go on" in "".join(watcher.said)
    assert office.typed().count(b"Continue where you left off.") == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [("limit when it pleases", "its end is not known"), ("limit in 9h", "beyond the monitor's deadline")],
)
def test_a_limit_that_cannot_be_waited_for_is_reported(office: Office, words: str, said: str) -> None:
    office.spawned(prompt=words)
    end = office.monitor("api", "--on-limit", "wait", "--deadline", "5h").end()
    assert (end["state"], end["code"]) == ("limited", 9)
    assert said in end["reason"]


def test_the_monitor_can_be_ended_while_it_waits_for_a_limit(office: Office) -> None:
    office.spawned(prompt="limit in 1h")
    watcher = office.monitor("api", "--on-limit", "wait")
    office.until_watched("limited")
    watcher.process.terminate()
    assert watcher.end()["state"] == "abandoned"
    assert office.listed() == {"api": "limited"}
