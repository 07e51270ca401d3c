"""Every known defect of the three-layer monitor, by name, and right here."""

from __future__ import annotations

import os
import signal
import time

import pytest

from midwatch.core.job_model import Alive
from midwatch.taskdir.model import TaskNotes
from midwatch.taskdir.observe import TaskObserver
from tests.conftest import alive, until, until_gone
from tests.integration.adopt.elsewhere import kernel_keeps
from tests.integration.foreign.template import dead_pid, sleeper
from tests.integration.three_layer_monitor.conftest import Make
from tests.integration.three_layer_monitor.tasks import PATIENT, QUICK, Task, outcome

NEVER = PATIENT._replace(retries=0)
"""What has crashed is only reported."""
ONLY_LOOK = QUICK._replace(retries=0)


def crash(task: Task, agent: int) -> None:
    """Kill wrapper and agent, so that nobody is left to say how it ended."""
    wrapper = task.wrapper_pid(agent)
    for pid in (wrapper, agent):
        os.kill(pid, signal.SIGKILL)
    until_gone(agent)


# Hang recovery never kills the hung process: keys go into the busy pane, and the monitor waits for a pid file for ever


def test_a_hung_agent_is_ended_before_its_wrapper_is_run_again(task: Task) -> None:
    task.plan("", "exit 0")
    first = task.begin()
    found = task.verdict(QUICK)
    assert (found["state"], task.modes()) == ("completed", ["fresh", "resumed"])
    assert not alive(first)
    assert "no output, CPU, I/O or screen since we look, " in found["told"]


def test_a_hung_agent_that_does_not_hear_is_killed_with_what_it_started(task: Task) -> None:
    task.plan("leave", "exit 0")
    first = task.begin()
    task.say("deaf")
    until(lambda: task.has("deaf") and bool(task.text("left")), task.dir)
    left = int(task.text("left") or "0")
    found = task.verdict(QUICK)
    assert (found["state"], task.modes()) == ("completed", ["fresh", "resumed"])
    assert not alive(first)
    assert not alive(left)


def test_what_a_crashed_agent_left_running_is_ended_before_it_is_resumed(task: Task) -> None:
    task.plan("leave", "exit 0")
    agent = task.begin()
    until(lambda: bool(task.text("left")), task.dir)
    left = int(task.text("left") or "0")
    with task.watched() as process:
        crash(task, agent)
        assert alive(left)
        found = outcome(process)
    assert (found["state"], task.modes(), alive(left)) == ("completed", ["fresh", "resumed"], False)


# Killing only the agent gives `done` and failed/137, and no resume


def test_an_agent_that_was_killed_is_resumed_although_its_wrapper_called_it_done(task: Task) -> None:
    task.plan("", "exit 0")
    first = task.begin()
    with task.watched() as process:
        os.kill(first, signal.SIGKILL)
        found = outcome(process)
    assert (found["state"], found["code"], task.modes()) == ("completed", 0, ["fresh", "resumed"])
    assert "killed by SIGKILL; resumed (1 of 10)" in found["told"]
    assert (task.manifest()["status"], task.manifest()["exit_code"]) == ("completed", 0)


def test_an_agent_that_was_killed_is_crashed_where_it_is_not_to_be_resumed(task: Task) -> None:
    task.plan("die")
    task.begin()
    found = task.verdict(NEVER)
    assert (found["state"], found["signal"], found["exit_code"], found["code"]) == ("crashed", 9, None, 3)
    assert (task.manifest()["status"], task.manifest()["exit_code"]) == ("failed", 137)  # its wrapper's words stand


@pytest.mark.parametrize(
    ("code", "state", "exits"), [("0", "completed", 0), ("3", "failed", 1), ("130", "stopped", 10)]
)
def test_an_end_that_was_meant_is_never_resumed(task: Task, code: str, state: str, exits: int) -> None:
    task.plan(f"exit {code}")
    task.begin()
    found = task.verdict()
    assert (found["state"], found["code"], task.modes()) == (state, exits, ["fresh"])


# The wrapper dies and the agent survives: `done` never comes, and the task is abandoned at the deadline


@pytest.mark.parametrize(("code", "state"), [(0, "completed"), (3, "failed")])
def test_an_agent_that_outlives_its_wrapper_is_told_by_its_own_end(task: Task, code: int, state: str) -> None:
    agent = task.begin()
    with task.watched(NEVER) as process:
        os.kill(task.wrapper_pid(agent), signal.SIGKILL)
        task.say("exit", str(code))
        found = outcome(process)
    if not kernel_keeps():
        assert found["state"] == "crashed"
        return
    assert (found["state"], found["exit_code"]) == (state, code)
    assert "its wrapper was gone" in found["reason"]
    # Readers of the directory come to an end, too.
    assert (task.text("exit_code"), task.has("done")) == (f"{code}\n", True)
    assert (task.manifest()["status"], task.manifest()["exit_code"]) == (state, code)
    assert task.verdict()["state"] == state


def test_an_agent_that_outlived_its_wrapper_and_crashed_is_resumed(task: Task) -> None:
    task.plan("", "exit 0")
    agent = task.begin()
    with task.watched() as process:
        wrapper = task.wrapper_pid(agent)
        os.kill(wrapper, signal.SIGKILL)
        until(lambda: task.wrapper_pid(agent) != wrapper)
        os.kill(agent, signal.SIGKILL)
        found = outcome(process)
    assert (found["state"], task.modes()) == ("completed", ["fresh", "resumed"])


# `done` without a pid file is never noticed


def test_done_is_looked_at_first_although_there_is_no_pid_file(task: Task) -> None:
    task.open()
    (task.dir / "exit_code").write_text("0\n")
    (task.dir / "done").touch()
    assert task.verdict()["state"] == "completed"


def test_done_is_noticed_when_it_comes_although_there_is_no_pid_file(task: Task) -> None:
    task.open()
    with task.watched() as process:
        (task.dir / "exit_code").write_text("4\n")
        (task.dir / "done").touch()
        assert outcome(process)["exit_code"] == 4


def test_done_is_looked_at_first_although_there_is_no_session_and_no_server(task: Task) -> None:
    (task.dir / "exit_code").write_text("0\n")
    (task.dir / "done").touch()
    assert task.verdict()["state"] == "completed"


# The session is gone: exit 0, yet the status says abandoned, without a reason


def test_a_session_that_is_gone_with_its_agent_is_crashed_and_says_why(make: Make) -> None:
    other = make("claude-other")
    other.begin()
    task = make()
    agent = task.begin()
    with task.watched() as process:
        task.private("kill-session", "-t", f"={task.name}")
        found = outcome(process)
    assert (found["state"], found["code"]) == ("crashed", 3)
    assert "there is no session claude-task" in found["reason"]
    assert not alive(agent)
    assert task.manifest()["status"] in ("crashed", "failed")
    assert other.sessions() == ["claude-other"]


def test_a_session_that_is_gone_after_its_end_has_the_result_of_its_task(task: Task) -> None:
    task.plan("exit 0")
    task.begin()
    until(lambda: task.has("done"), task.dir)
    task.private("kill-session", "-t", f"={task.name}")
    assert task.verdict()["state"] == "completed"


def test_an_agent_that_outlives_its_session_is_watched_to_its_end(task: Task) -> None:
    agent = task.begin()
    task.say("deaf")
    until(lambda: task.has("deaf"), task.dir)
    with task.watched(QUICK._replace(retries=0)) as process:
        task.private("kill-session", "-t", f"={task.name}")
        found = outcome(process)
    assert (found["state"], found["final"]) == ("stuck", False)
    assert f"but the agent goes on (pid {agent})" in found["reason"]
    assert alive(agent)


# Ending the monitor kills the session that it watches


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_monitor_that_is_ended_leaves_session_and_agent_and_says_so(task: Task, number: int) -> None:
    agent = task.begin()
    with task.watched() as process:
        process.send_signal(number)
        found = outcome(process)
    assert (found["state"], found["code"]) == ("abandoned", 11)
    assert signal.Signals(number).name in found["reason"]
    assert task.sessions() == [task.name]
    assert alive(agent)
    manifest = task.manifest()
    assert (manifest["status"], manifest["abandon_reason"]) == ("abandoned", "monitor_ended")
    assert manifest["abandoned_at"].endswith("Z")


def test_the_next_monitor_says_that_it_is_watched_again(task: Task) -> None:
    task.begin()
    with task.watched() as process:
        process.terminate()
        outcome(process)
    with task.watched() as process:
        until(lambda: task.manifest()["status"] == "running", task.dir)
        task.say("exit", "0")
        assert outcome(process)["state"] == "completed"


def test_a_finished_task_is_never_overwritten_by_a_monitor_that_is_ended(task: Task) -> None:
    agent = task.begin()
    with task.watched() as process:
        process.send_signal(signal.SIGSTOP)
        task.say("exit", "0")
        until(lambda: task.has("done"), task.dir)
        before = task.manifest()
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGCONT)
        found = outcome(process)
    assert not alive(agent)
    assert (found["state"], task.manifest()) == ("completed", before)


# Of a name tmux takes whatever begins with it: the wrong session is killed


@pytest.mark.parametrize("there", [True, False])
def test_clearing_away_kills_exactly_that_session(make: Make, there: bool) -> None:
    longer, task = make("claude-ab"), make("claude-a")
    longer.begin()
    task.plan("exit 0")
    task.begin()
    until(lambda: task.has("done"), task.dir)
    if not there:
        task.private("kill-session", "-t", "=claude-a")
    assert task.verdict(cleanup=True)["state"] == "completed"
    assert longer.sessions() == ["claude-ab"]


def test_a_session_whose_name_only_begins_so_is_not_taken_for_it(make: Make) -> None:
    make("claude-ab").begin()
    task = make("claude-a")
    (task.dir / "pid").write_text(f"{dead_pid()}\n")
    found = task.verdict()
    assert found["state"] == "crashed"
    assert "there is no session claude-a" in found["reason"]


def test_a_dot_in_the_name_is_found_as_tmux_writes_it(make: Make) -> None:
    task = make("claude-a.b")
    task.plan("", "exit 0")
    agent = task.begin()
    assert task.sessions() in (["claude-a_b"], ["claude-a.b"])
    server = task.private.pid
    with task.watched(cleanup=True) as process:
        crash(task, agent)
        found = outcome(process)
    assert (found["state"], task.modes()) == ("completed", ["fresh", "resumed"])
    until_gone(server)


# `stat` prints more than a time, and a missing file is infinitely old: get_mtime


def test_the_age_of_the_log_is_what_was_seen_and_not_what_its_time_says(task: Task) -> None:
    sense = TaskObserver(task.name, str(task.dir), task.private.server, "")
    task.log.write_text("x")
    with sleeper() as pid:
        (task.dir / "pid").write_text(f"{pid}\n")
        for moment in (0.0, time.time() + 3600.0):
            os.utime(task.log, (moment, moment))
            began = time.monotonic()
            facts = sense.observe(TaskNotes(sense.boot, began, began), 600.0)
            assert isinstance(facts.agent, Alive)
            assert facts.notes.sources["output"].moved >= began
            later = sense.observe(facts.notes, 600.0)
            assert later.notes.sources["output"].moved == facts.notes.sources["output"].moved
            task.log.write_text(task.log.read_text() + "x")
            os.utime(task.log, (moment, moment))
            grown = sense.observe(facts.notes, 600.0)
            assert facts.now <= grown.notes.sources["output"].moved <= grown.now
    sense.close()


def test_a_log_whose_time_is_in_the_future_keeps_no_hung_agent_fresh(task: Task) -> None:
    task.begin()
    os.utime(task.log, (time.time() + 3600, time.time() + 3600))
    assert task.verdict(ONLY_LOOK)["state"] == "stuck"


def test_without_a_log_silence_counts_from_the_start(task: Task) -> None:
    task.begin(capture=False)
    found = task.verdict(ONLY_LOOK)
    assert (found["state"], found["code"], task.has("output.log")) == ("stuck", 4, False)
    assert "stale after 1.2s, grace 0.5s" in found["reason"]


# A pid may be another's by now


def test_a_pid_that_another_process_has_by_now_is_neither_alive_nor_signalled(task: Task) -> None:
    task.open()
    with sleeper() as pid:
        (task.dir / "pid").write_text(f"{pid}\n")
        os.utime(task.dir / "pid", (time.time() - 3600, time.time() - 3600))
        found = task.verdict(NEVER)
        assert alive(pid)
    assert found["state"] == "crashed"
    assert "now belongs to a younger process" in found["reason"]


# Completion race: a success is called crashed


def test_an_end_that_its_wrapper_is_slow_to_write_is_waited_for(task: Task) -> None:
    os.mkfifo(task.dir / "slow")
    agent = task.begin()
    with task.watched() as process:
        task.say("exit", "0")
        until_gone(agent)
        until(lambda: task.notes()["gone_since"] is not None, task.dir)
        with open(task.dir / "slow", "w", encoding="utf-8") as slow:
            slow.write("now\n")
        found = outcome(process)
    assert (found["state"], task.modes()) == ("completed", ["fresh"])
