"""Tasks that were started as the skill itself starts them, without a wrapper: they are resumed all the same."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from midwatch.taskdir.resume import CONTINUE
from tests.conftest import alive, kill, tool, until, until_gone
from tests.integration.panes.private import Private
from tests.integration.three_layer_monitor.skill import MODEL, SkillTask
from tests.integration.three_layer_monitor.tasks import QUICK, Task, outcome
from tests.integration.three_layer_monitor.test_task_defects import crash

FIRST, OTHER = "00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-00000000000f"


@pytest.fixture
def skill(private: Private, tmp_path: Path) -> Iterator[SkillTask]:
    task = SkillTask(private, tmp_path)
    yield task
    task.end()


def end_both(task: SkillTask, pid: int) -> None:
    """Kill the agent, and what the pane's shell has started it with."""
    agent = int(task.runs.read_text().split()[-1])
    for each in (pid, agent):
        kill(each, signal.SIGKILL)
    until_gone(agent)


def check_resumed(task: SkillTask, number: int, conversation: str = FIRST) -> None:
    """It went on with that conversation in the directory of the task, with its model and a prompt."""
    assert task.call(number) == (str(task.project), ["--resume", conversation, "-p", "--model", MODEL, CONTINUE])


def test_a_task_started_inline_that_crashed_is_resumed_in_its_session(skill: SkillTask) -> None:
    skill.plan("", "exit 0")
    pid = skill.begin()
    with skill.watched() as process:
        end_both(skill, pid)
        found = outcome(process)
    assert (found["state"], found["code"], skill.calls()) == ("completed", 0, 2), found
    check_resumed(skill, 2)
    manifest = skill.manifest()
    assert (manifest["status"], manifest["exit_code"], manifest["retry_count"]) == ("completed", 0, 1)
    assert manifest["last_checked_at"].endswith("Z")
    assert (skill.text("exit_code"), skill.has("done"), skill.sessions()) == ("0\n", True, [skill.name])


@pytest.mark.parametrize("shell", ["bash --norc --noprofile", "zsh -f", "dash -i"])
def test_a_task_started_inline_that_hangs_is_ended_and_resumed(skill: SkillTask, shell: str) -> None:
    """The shell that waits for it is interrupted first: it would call the task done, and tell its owner so."""
    tool(shell.partition(" ")[0])
    skill.plan("", "exit 0")
    pid = skill.begin(shell=shell, after="; touch $TASK_TMPDIR/told")
    found = skill.verdict(QUICK)
    assert (found["state"], skill.calls(), alive(pid), skill.has("told")) == ("completed", 2, False, False), found
    check_resumed(skill, 2)
    assert skill.manifest()["retry_count"] == 1
    assert "resumed (1 of 10)" in found["told"]


def test_a_task_is_resumed_again_and_again_and_each_is_counted(skill: SkillTask) -> None:
    skill.plan("die", "die", "exit 0")
    skill.begin()
    found = skill.verdict(QUICK)
    assert (found["state"], skill.calls(), skill.manifest()["retry_count"]) == ("completed", 3, 2), found
    check_resumed(skill, 2)
    check_resumed(skill, 3)


def test_a_monitor_that_starts_after_the_crash_resumes_it(skill: SkillTask) -> None:
    skill.plan("", "exit 0")
    end_both(skill, skill.begin())
    found = skill.verdict()
    assert (found["state"], skill.calls()) == ("completed", 2), found
    check_resumed(skill, 2)


def test_a_monitor_that_starts_after_the_crash_of_a_wrapper_resumes_its_task(skill: SkillTask) -> None:
    """Which script it was nobody has seen; manifest, pane and the agent's file tell how to go on."""
    skill.plan("", "exit 0")
    started = f'cd {skill.project} && claude -p "$(cat $TASK_TMPDIR/prompt)"'
    skill.wrapper.write_text(f"{started} & echo $! > $TASK_TMPDIR/pid; wait")
    skill.converse(OTHER, "2020-01-01T00:00:00.000Z")
    pid = skill.begin(line=f"bash '{skill.wrapper}'")
    crash(skill, pid)
    end_both(skill, pid)
    found = skill.verdict()
    assert (found["state"], skill.calls()) == ("completed", 2), found
    check_resumed(skill, 2)


def test_of_two_conversations_none_is_guessed(skill: SkillTask) -> None:
    skill.begin()
    skill.converse(OTHER)
    end_both(skill, int(skill.text("pid") or 0))
    found = skill.verdict()
    assert (found["state"], found["code"], skill.calls()) == ("crashed", 3, 1)
    assert "not resumed: which of 2 conversations since its start is its own? `claude --resume`" in found["reason"]
    manifest = skill.manifest()
    assert (manifest["retry_count"], "last_checked_at" in manifest) == (0, True)


def test_of_two_conversations_the_one_that_it_told_of_is_gone_on_with(skill: SkillTask) -> None:
    skill.plan("", "exit 0")
    pid = skill.begin()
    skill.converse(OTHER)
    skill.tell_state(FIRST)
    with skill.watched(QUICK._replace(base_s=20.0, max_s=0.2)) as process:
        until(lambda: skill.notes()["worker"]["conversation"] == FIRST, skill.dir)
        end_both(skill, pid)
        found = outcome(process)
    assert (found["state"], skill.calls()) == ("completed", 2), found
    check_resumed(skill, 2)


def test_a_task_whose_conversation_had_not_begun_begins_with_its_prompt(skill: SkillTask) -> None:
    skill.plan("mute die", "exit 0")
    skill.begin()
    found = skill.verdict()
    assert (found["state"], skill.calls()) == ("completed", 2), found
    assert skill.call(2) == (str(skill.project), ["-p", "--model", MODEL, "Do it."])


def test_options_that_were_seen_are_given_again(skill: SkillTask) -> None:
    skill.plan("", "exit 0")
    words = '--allowed-tools Bash -p "$(cat $TASK_TMPDIR/prompt)" --verbose'
    pid = skill.begin(line=f"cd {skill.project} && claude {words} & echo $! > $TASK_TMPDIR/pid; wait")
    with skill.watched(QUICK._replace(base_s=20.0, max_s=0.2)) as process:
        until(lambda: bool(skill.notes()["worker"]["options"]), skill.dir)
        end_both(skill, pid)
        assert outcome(process)["state"] == "completed"
    given = ["--resume", FIRST, "--allowed-tools", "Bash", "-p", CONTINUE, "--verbose"]
    assert skill.call(2) == (str(skill.project), given)


def test_what_nothing_tells_of_is_given_up_with_a_reason(skill: SkillTask) -> None:
    """No agent was seen, and neither manifest nor the name of the session names one."""
    skill.name = "night"
    skill.write_manifest(session_name="night")
    skill.plan("die")
    skill.begin()
    found = skill.verdict()
    assert (found["state"], skill.calls()) == ("crashed", 1)
    assert "neither its wrapper nor which agent it ran is known" in found["reason"]
    assert "--wrapper" in found["reason"]


# The capture is buffered


def test_what_is_new_on_the_screen_is_progress_though_the_capture_holds_nothing(skill: SkillTask) -> None:
    """What perl has read it keeps until its buffer is full."""
    skill.plan("print 45")
    skill.begin()
    with skill.watched(QUICK) as process:
        until(lambda: any("line 45" in row for row in skill.private.screen(skill.pane)))
        seen = skill.notes()
        size = skill.log.stat().st_size
        process.kill()
    assert (size, skill.calls(), seen["total"], seen["stuck"]) == (0, 1, 0, False)
    assert seen["sources"]["screen"]["moved"] > seen["met"]


def test_a_spinner_and_a_timer_are_no_progress(skill: SkillTask) -> None:
    skill.plan("spin 200")
    skill.begin()
    found = skill.verdict(QUICK._replace(retries=0))
    assert (found["state"], found["code"]) == ("stuck", 4), found


def test_a_program_that_no_file_describes_is_seen_to_print(task: Task) -> None:
    task.plan("chatter busy")
    task.open(capture=False)
    task.dispatch()
    with task.watched(QUICK) as process:
        met = task.notes()["met"]
        until(lambda: task.notes()["sources"].get("screen", {"moved": 0.0})["moved"] > met + QUICK.silence_s, task.dir)
        assert (task.notes()["total"], task.modes()) == (0, ["fresh"])
        process.kill()
