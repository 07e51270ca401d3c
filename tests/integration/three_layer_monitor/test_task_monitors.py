"""Monitors that come and go: killed, two at once, out of time, out of retries."""

from __future__ import annotations

import os
import signal
import time

import pytest

from midwatch.core.verdict import Verdict
from midwatch.system import procfs
from midwatch.taskdir.monitor import monitor_task
from tests.conftest import alive, tool, until, until_gone
from tests.integration.foreign.template import sleeper
from tests.integration.three_layer_monitor.conftest import Make
from tests.integration.three_layer_monitor.tasks import PATIENT, QUICK, Task, outcome
from tests.integration.three_layer_monitor.test_task_defects import crash


def test_of_two_monitors_one_acts_and_both_say_the_same(task: Task) -> None:
    task.plan("", "exit 0")
    agent = task.begin()
    with task.watched() as first, task.beside() as second:
        crash(task, agent)
        said, beside = outcome(first), outcome(second)
    assert said["state"] == "completed"
    assert [beside[key] for key in ("state", "reason", "final", "code")] == [
        said[key] for key in ("state", "reason", "final", "code")
    ]
    assert ("resumed" in said["told"], beside["told"]) == (True, "")
    assert task.modes() == ["fresh", "resumed"]


def test_a_monitor_that_watches_beside_takes_over_from_one_that_is_killed(task: Task) -> None:
    task.plan("", "exit 0")
    agent = task.begin()
    with task.watched() as first, task.beside() as second:
        first.kill()
        first.wait()
        crash(task, agent)
        found = outcome(second)
    assert (found["state"], task.modes()) == ("completed", ["fresh", "resumed"])


def test_a_monitor_that_watches_beside_takes_over_from_one_that_is_ended(task: Task) -> None:
    task.begin()
    with task.watched() as first, task.beside() as second:
        first.terminate()
        assert outcome(first)["state"] == "abandoned"
        until(lambda: task.manifest()["status"] == "running", task.dir)
        task.say("exit", "0")
        assert outcome(second)["state"] == "completed"


def test_a_monitor_that_only_watches_says_what_it_says_and_writes_nothing(task: Task) -> None:
    task.begin()
    with task.watched() as first, task.beside() as second:
        before = task.manifest()
        second.terminate()
        assert "another one goes on" in outcome(second)["reason"]
        assert task.manifest() == before
        first.kill()


def test_where_the_owners_own_monitor_runs_it_is_the_one_who_acts(task: Task) -> None:
    task.plan("", "exit 0")
    agent = task.begin()
    with sleeper() as rival:
        (task.dir / "monitor.pid").write_text(f"{rival}\n")
        with task.watched(QUICK._replace(base_s=2.0)) as process:
            crash(task, agent)
            until(lambda: task.notes()["gone_since"] is not None, task.dir)
            os.kill(rival, signal.SIGKILL)
            until_gone(rival)
            found = outcome(process)
    assert (found["state"], task.modes()) == ("completed", ["fresh", "resumed"])


# Killed: the next one carries on


def test_retries_and_deadline_survive_a_monitor_that_is_killed(task: Task) -> None:
    task.plan("", "")
    agent = task.begin()
    with task.watched() as process:
        crash(task, agent)
        second = task.until_run(2, "resumed")
        until(lambda: task.notes()["agent"][0] == second, task.dir)
        process.kill()
    known = task.notes()
    with task.watched(QUICK._replace(base_s=200.0, max_s=0.1, retries=1)) as process:
        crash(task, second)
        found = outcome(process)
    assert (known["total"], task.notes()["total"], task.notes()["began"]) == (1, 1, known["began"])
    assert (found["state"], found["code"]) == ("abandoned", 11)
    assert found["reason"].startswith("resumed 1 times, and again: ")
    manifest = task.manifest()
    assert (manifest["status"], manifest["abandon_reason"]) == ("abandoned", "max_retries_exceeded")
    assert manifest["retry_count"] == 1


def test_a_suspicion_survives_a_monitor_that_is_killed(task: Task) -> None:
    slow = QUICK._replace(grace_s=300.0, retries=0)
    task.begin()
    with task.watched(slow) as process:
        until(lambda: task.notes()["stale_since"] is not None, task.dir)
        process.kill()
    since = task.notes()["stale_since"]
    found = task.verdict(slow._replace(grace_s=0.1))
    assert (found["state"], task.notes()["stale_since"]) == ("stuck", since)


def test_a_resume_that_was_cut_short_is_finished_by_the_next_monitor_and_counted_once(task: Task) -> None:
    task.plan("", "exit 0")
    agent = task.begin()
    task.private("copy-mode", "-t", task.pane)  # nothing can be typed there
    with task.watched() as process:
        crash(task, agent)
        until(lambda: task.notes()["phase"] == "ready", task.dir)
        process.kill()
    assert (task.has("resume"), task.has("pid")) == (True, False)
    task.private("send-keys", "-t", task.pane, "-X", "cancel")
    found = task.verdict()
    assert (found["state"], task.modes(), task.notes()["total"]) == ("completed", ["fresh", "resumed"], 1)


def test_a_monitor_after_a_verdict_begins_anew(task: Task) -> None:
    task.plan("die", "die", "die", "exit 0")
    task.given = str(task.wrapper)
    task.begin()
    found = task.verdict(QUICK._replace(retries=2))
    assert (found["state"], len(task.modes())) == ("abandoned", 3)
    assert task.verdict(QUICK._replace(retries=1))["state"] == "completed"
    assert task.modes() == ["fresh", "resumed", "resumed", "resumed"]


def test_a_monitor_that_never_saw_wrapper_or_agent_says_that_it_cannot_go_on(make: Make) -> None:
    task = make("night")
    crash(task, task.begin())
    found = task.verdict()
    assert (found["state"], found["code"], task.modes()) == ("crashed", 3, ["fresh"])
    assert "neither its wrapper nor which agent it ran is known" in found["reason"]
    manifest = task.manifest()
    assert (manifest["status"], manifest["retry_count"], "last_checked_at" in manifest) == ("crashed", 0, True)


# Limits


def test_a_deadline_abandons_the_task_and_leaves_it_as_it_is(task: Task) -> None:
    task.plan("chatter busy")
    agent = task.begin()
    found = task.verdict(QUICK._replace(deadline_s=4.0), cleanup=True)
    assert (found["state"], found["code"], task.modes()) == ("abandoned", 11, ["fresh"])
    assert "not done after 4s" in found["reason"]
    assert "its session was left" in found["reason"]
    assert (alive(agent), task.sessions()) == (True, [task.name])
    assert task.manifest()["abandon_reason"] == "deadline_exceeded"


def test_an_agent_that_computes_in_silence_is_not_stuck(task: Task) -> None:
    task.plan("burn")
    task.begin()
    found = task.verdict(QUICK._replace(deadline_s=6.0))
    assert (found["state"], task.modes()) == ("abandoned", ["fresh"])


def test_a_silent_tool_below_the_agent_is_named(task: Task) -> None:
    task.plan("tool")
    task.begin()
    found = task.verdict(QUICK._replace(retries=0))
    assert (found["state"], found["final"]) == ("stuck", False)
    assert "with sleep (" in found["reason"]


def test_a_suspended_agent_waits_for_a_person_and_is_left_alone(task: Task) -> None:
    agent = task.begin()
    with task.watched(QUICK._replace(base_s=2.0)) as process:
        os.kill(agent, signal.SIGSTOP)
        found = outcome(process)
    assert (found["state"], found["code"], task.modes()) == ("waiting", 8, ["fresh"])
    os.kill(agent, signal.SIGCONT)
    task.say("exit", "0")
    assert task.verdict()["state"] == "completed"


def test_an_agent_that_crashes_at_once_is_not_resumed_at_once(task: Task) -> None:
    """After a resume without output the next waits for the interval of the protocol, which doubles."""
    task.plan("die", "die")
    task.given = str(task.wrapper)
    task.begin()
    with task.watched(PATIENT) as process:
        until(lambda: len(task.modes()) == 2 and task.has("done"), task.dir)
        until(lambda: task.notes()["gone_since"] is not None, task.dir)
        process.terminate()
        found = outcome(process)
    assert "killed by SIGKILL; resumed in 6m" in found["reason"]
    assert task.modes() == ["fresh", "resumed"]


def test_ends_are_heard_where_the_kernel_sends_no_events(task: Task) -> None:
    task.plan("", "exit 0")
    agent = task.begin()
    task.env["MIDWATCH_EVENTS"] = "off"
    with task.watched() as process:
        crash(task, agent)
        found = outcome(process)
    assert (found["state"], task.modes()) == ("completed", ["fresh", "resumed"])


def test_time_in_which_the_monitor_stood_still_does_not_count(task: Task) -> None:
    """It looks every 3 s here. A sleep of which it was stopped for 9 s began 3 s early at most, so 6 s are left out."""
    task.begin()
    with task.watched(PATIENT._replace(base_s=3.0, max_s=3.0, grace_s=600.0)) as process:
        process.send_signal(signal.SIGSTOP)
        began = task.notes()["began"]
        with sleeper() as clock:
            until(lambda: age(clock) > 9.0)
        process.send_signal(signal.SIGCONT)
        until(lambda: task.notes()["began"] > began, task.dir)
        assert task.notes()["began"] - began > 5.0
        task.say("exit", "0")
        assert outcome(process)["state"] == "completed"


def age(pid: int) -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME) - procfs.start_time(pid) / procfs.TICKS


def test_a_wrapper_that_cannot_be_run_again_uses_up_its_retries(task: Task) -> None:
    agent = task.begin()
    with task.watched(QUICK._replace(base_s=200.0, max_s=0.1, retries=2, dispatch_s=0.5)) as process:
        task.wrapper.write_text("exit 1\n")
        crash(task, agent)
        found = outcome(process)
    assert (found["state"], task.modes()) == ("abandoned", ["fresh"])
    assert "wrote no pid file" in found["reason"]


def test_a_directory_that_is_not_there_is_not_found(task: Task) -> None:
    task.dir = task.home / "nowhere"
    found = task.verdict()
    assert (found["state"], found["code"]) == ("not_found", 7)


def test_a_directory_that_is_removed_is_not_found_any_more(task: Task) -> None:
    agent = task.begin()
    with task.watched() as process:
        task.dir.rename(task.home / "elsewhere")
        assert outcome(process)["state"] == "not_found"
    assert alive(agent)
    moved = task.home / "elsewhere"
    assert moved.is_dir()
    os.kill(agent, signal.SIGKILL)
    until_gone(agent)


# Abandoned


def end_watch(task: Task) -> None:
    with task.watched() as process:
        process.terminate()
        assert outcome(process)["state"] == "abandoned"


def test_every_abandonment_is_told_and_each_once(task: Task) -> None:
    """A second monitor beside the first tells of the same event, the next one's end is another."""
    delivered = task.home / "delivered"
    (task.home / ".config" / "midwatch").mkdir(parents=True)
    (task.home / ".config" / "midwatch" / "config.toml").write_text(
        f'[notify]\ncommand = ["{tool("sh")}", "-c", "echo \\"$1\\" >> {delivered}", "sh", "{{state}}"]\n'
    )
    task.env["MIDWATCH_HOME"] = str(task.home / "jobs")
    task.begin()
    with task.watched(PATIENT._replace(deadline_s=2.0)) as first, task.beside() as second:
        said = [outcome(each)["state"] for each in (first, second)]
    assert said == ["abandoned", "abandoned"]
    until(lambda: delivered.exists() and len(delivered.read_text().splitlines()) == 1, task.home)
    end_watch(task)
    until(lambda: len(delivered.read_text().splitlines()) == 2, task.home)
    end_watch(task)
    until(lambda: len(delivered.read_text().splitlines()) == 3, task.home)


def test_a_fault_of_the_monitor_is_told_as_an_abandonment(task: Task) -> None:
    def fail(_: Verdict) -> None:
        raise RuntimeError("a fault of ours")

    told: list[str] = []
    crash(task, task.begin())
    with pytest.raises(RuntimeError):
        monitor_task(
            task.name, str(task.dir), task.private.server, PATIENT, wrapper=str(task.wrapper), tell=fail,
            ended=lambda verdict, _run, _at: told.append(verdict.state),
        )  # fmt: skip
    assert (told, task.manifest()["abandon_reason"]) == (["abandoned"], "monitor_failed")


def test_what_is_said_of_an_abandonment_goes_when_the_task_runs_again(task: Task) -> None:
    task.begin()
    end_watch(task)
    assert {"abandoned_at", "abandon_reason"} <= task.manifest().keys()
    with task.watched() as process:
        until(lambda: task.manifest()["status"] == "running", task.dir)
        assert task.manifest().keys().isdisjoint({"abandoned_at", "abandon_reason"})
        process.kill()


def test_what_was_given_up_and_is_resumed_is_not_abandoned_any_more(task: Task) -> None:
    task.plan("", "")
    agent = task.begin()
    end_watch(task)
    crash(task, agent)
    with task.watched() as process:
        task.until_run(2, "resumed")
        until(lambda: task.manifest()["status"] == "running", task.dir)
        assert task.manifest().keys().isdisjoint({"abandoned_at", "abandon_reason"})
        process.kill()


def test_without_any_file_events_left_a_task_is_resumed_all_the_same(make: Make) -> None:
    """In a user namespace of its own, whose limit of file watchers is none."""
    task = make(form="manifest")
    task.plan("", "exit 0")
    agent = task.begin()
    task.within = ("unshare", "-Ur", "sh", "-c", 'echo 0 > /proc/sys/user/max_inotify_instances; exec "$@"', "sh")
    with task.watched() as process:
        crash(task, agent)
        found = outcome(process)
    assert (found["state"], task.modes()) == ("completed", ["fresh", "resumed"]), found
