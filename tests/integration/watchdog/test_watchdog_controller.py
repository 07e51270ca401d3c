"""Which pane leads, and when it may be spoken to: real tmux, and a stand-in for an agent."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from midwatch.config import trust
from midwatch.mail import store as mail_store
from midwatch.sessions.prompting import prompt_delivery, undelivered_store
from tests.conftest import until
from tests.integration.send.conftest import Agent, attached
from tests.integration.watchdog.swarm import Swarm


def rename(swarm: Swarm, pane: str, title: str) -> None:
    swarm.private("select-pane", "-t", pane, "-T", title)


def test_it_is_found_by_its_title_in_any_window(swarm: Swarm) -> None:
    swarm.private("new-window", "-d", "-t", "=work:", "cat")
    swarm.private("move-window", "-d", "-s", swarm.agent.pane, "-t", "=work:7")
    with swarm.dog() as (dog, log):
        dog.round(tick=True)
    assert dog.sight.controller == swarm.agent.pane
    assert log[0] == f"controller-found {swarm.agent.pane} ✳ Claude Code"


def test_the_title_alone_counts_not_the_command(swarm: Swarm) -> None:
    """controller-proxy-watchdog looked for its expression in the whole line of the pane."""
    rename(swarm, swarm.agent.pane, "somebody")
    command = swarm.private("display-message", "-p", "-t", swarm.agent.pane, "#{pane_current_command}").strip()
    with swarm.dog(title=command) as (dog, _):
        dog.round(tick=True)
    assert dog.sight.trouble == "no-controller-pane"


def test_where_no_title_fits_the_name_of_its_window_does(swarm: Swarm) -> None:
    """Claude Code writes what it is at into its title, over whatever somebody had called it."""
    swarm.private("rename-window", "-t", swarm.agent.pane, "the-controller")
    swarm.private("split-window", "-d", "-t", swarm.agent.pane, "cat")
    with swarm.dog(title="controller") as (dog, log):
        dog.round(tick=True)
    assert dog.sight.controller == swarm.agent.pane
    assert log[0] == f"controller-found {swarm.agent.pane} in window the-controller"


def test_of_several_none_is_taken(swarm: Swarm, tmp_path: Path) -> None:
    swarm.task("add", "First thing")
    other = Agent(swarm.private, tmp_path / "other", "elsewhere").start()
    swarm.private("move-window", "-d", "-s", other.pane, "-t", "=work:5")
    with swarm.dog() as (dog, log):
        dog.round(tick=True)
        assert dog.sight.trouble == f"multiple-controller-pane-matches {swarm.agent.pane} {other.pane}"
        assert f"not-sent multiple-controller-pane-matches {swarm.agent.pane} {other.pane}" in log
        assert swarm.agent.typed == other.typed == b""
        swarm.private("kill-pane", "-t", other.pane)
        dog.round(tick=False)
    assert dog.sight.controller == swarm.agent.pane
    assert swarm.messages == 1


def test_it_stays_the_one_whatever_its_title_becomes(swarm: Swarm) -> None:
    """Agents write what they are at into their title."""
    with swarm.dog() as (dog, _):
        dog.round(tick=True)
        rename(swarm, swarm.agent.pane, "fixing the build")
        dog.round(tick=False)
        assert dog.sight.controller == swarm.agent.pane


def test_the_next_watchdog_knows_it_too(swarm: Swarm) -> None:
    swarm.start()
    swarm.until_logged("controller-found")
    until(lambda: swarm.status()["controller"] == swarm.agent.pane)
    rename(swarm, swarm.agent.pane, "fixing the build")
    swarm("stop")
    swarm.start()
    until(lambda: swarm.status()["last_tick"] is not None)
    assert swarm.status()["controller"] == swarm.agent.pane


def test_its_death_and_its_return_are_noticed(swarm: Swarm, tmp_path: Path) -> None:
    swarm.task("add", "First thing")
    swarm.private("new-window", "-d", "-t", "=work:", "cat")
    with swarm.dog() as (dog, log):
        dog.round(tick=True)
        swarm.private("kill-pane", "-t", swarm.agent.pane)
        dog.round(tick=False)
        assert f"controller-gone {swarm.agent.pane}" in log
        assert dog.sight.trouble == "no-controller-pane"
        other = Agent(swarm.private, tmp_path / "other", "elsewhere").start()
        swarm.private("move-window", "-d", "-s", other.pane, "-t", "=work:5")
        dog.round(tick=False)
    assert log[-1].startswith(f"controller-found {other.pane}")


def test_an_agent_that_ends_in_its_pane_is_noticed(swarm: Swarm, tmp_path: Path) -> None:
    swarm.private("kill-pane", "-t", swarm.private.start("cat", "spare"))
    shell = Agent(swarm.private, tmp_path / "shell", "inside").start(shell=True)
    with swarm.dog(session="inside") as (dog, log):
        dog.round(tick=True)
        assert dog.sight.state == "idle"
        swarm.private("send-keys", "-t", shell.pane, "C-z")
        shell.mood("gone")
        pid = int(swarm.private("display-message", "-p", "-t", shell.pane, "#{pane_pid}"))
        (child,) = [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
        os.kill(child, 9)
        until(lambda: not Path(f"/proc/{child}").exists())
        dog.round(tick=False)
        assert [line for line in log if line.startswith(f"controller-ended {shell.pane}: ")]
        swarm.private("send-keys", "-t", shell.pane, "C-c")
        shell.start_in(shell.pane)
        swarm.private.until_shows(shell.pane, "? for shortcuts")

        def back() -> bool:
            dog.round(tick=False)
            return any(line.startswith(f"controller-back {shell.pane}: ") for line in log)

        until(back)


def test_only_exactly_that_session_is_looked_at(swarm: Swarm, tmp_path: Path) -> None:
    """The server takes the beginning of a name for the name; controller-proxy-watchdog took names for expressions."""
    longer = Agent(swarm.private, tmp_path / "longer", "work-2").start()
    dotted = Agent(swarm.private, tmp_path / "dotted", "wirk").start()
    with swarm.dog() as (dog, _):
        dog.round(tick=True)
        assert dog.sight.controller == swarm.agent.pane
    with swarm.dog(session="w.rk") as (dog, _):
        dog.round(tick=True)
        assert (dog.sight.controller, dog.sight.trouble) == ("", "no-session w.rk")
    assert longer.typed == dotted.typed == b""


def test_nothing_is_typed_into_a_turn_and_it_is_told_right_after(swarm: Swarm) -> None:
    swarm.task("add", "First thing")
    swarm.agent.state("busy")
    with swarm.dog() as (dog, log):
        dog.round(tick=True)
        dog.round(tick=False)
        assert swarm.agent.typed == b""
        assert sum("not-sent" in line for line in log) == 1
        swarm.agent.state("idle")
        dog.round(tick=False)
    assert swarm.messages == 1


def test_nothing_is_typed_into_a_pane_that_somebody_is_in(swarm: Swarm) -> None:
    swarm.task("add", "First thing")
    with swarm.dog() as (dog, log):
        with attached(swarm.private, "attach-session", "-t", "=work"):
            dog.round(tick=True)
            assert swarm.agent.typed == b""
            assert any("a person is in that pane" in line for line in log)
        until(lambda: swarm.private("list-clients") == "")
        dog.round(tick=False)
    assert swarm.messages == 1


def test_somebody_in_another_window_does_not_mind(swarm: Swarm) -> None:
    swarm.task("add", "First thing")
    swarm.private("new-window", "-t", "=work:", "cat")
    with swarm.dog() as (dog, _), attached(swarm.private, "attach-session", "-t", "=work"):
        dog.round(tick=True)
    assert swarm.messages == 1


def test_a_draft_of_somebody_elses_is_left_alone(swarm: Swarm) -> None:
    swarm.task("add", "First thing")
    swarm.private("send-keys", "-t", swarm.agent.pane, "-l", "my own words")
    swarm.private.until_shows(swarm.agent.pane, "my own words")
    with swarm.dog() as (dog, log):
        dog.round(tick=True)
    assert swarm.agent.typed == b"my own words"
    assert any("a draft stands in its box" in line for line in log)


def test_a_message_that_was_not_taken_is_sent_when_it_can_be_and_only_once(swarm: Swarm) -> None:
    """Enter is deaf at first: the message is taken out again, noted, and comes at the next look."""
    swarm.task("add", "First thing")
    swarm.agent.mood("numb")
    with swarm.dog() as (dog, log):
        dog.round(tick=True)
        assert "prompt-sent" not in " ".join(log)
        swarm.agent.calm("numb")
        dog.round(tick=False)
    assert "WATCHDOG" not in swarm.agent.box
    assert sum("prompt-sent" in line for line in log) == 1
    assert undelivered_store.read_all_notes() == []


def test_a_message_that_came_late_into_the_box_is_sent_and_not_written_again(
    swarm: Swarm, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The agent reads nothing for a while: what was pasted appears when nobody waits for it any more."""
    monkeypatch.setattr(prompt_delivery, "SHOWN", 0.5)
    monkeypatch.setattr(prompt_delivery, "EMPTIED", 0.5)
    swarm.task("add", "First thing")
    swarm.agent.mood("held")
    with swarm.dog() as (dog, log):
        dog.round(tick=True)
        assert "prompt-not-consumed" in log[-1]
        swarm.agent.calm("held")
        swarm.private.until_shows(swarm.agent.pane, "Pasted text")
        dog.round(tick=False)
        dog.round(tick=True)
    assert f"prompt-left {swarm.agent.pane}: it is sent now" in log
    assert swarm.agent.typed.count(b"<<<WATCHDOG TICK>>>") == 1
    assert swarm.messages == 1
    assert undelivered_store.read_all_notes() == []


def test_a_report_that_nobody_read_is_told_of(swarm: Swarm) -> None:
    where = mail_store.mail_directory(str(swarm.project))
    letter = mail_store.send_mail(
        where, sender="pane3", to="controller", subject="bd-1: done", text="all of it", task="bd-1"
    )
    path = next(Path(where).rglob(f"*{letter.id}*"))
    with swarm.dog() as (dog, _):
        dog.round(tick=True)
        before = swarm.messages
        path.write_text(path.read_text().replace(_stamp(path), "2020-01-01T00:00:00Z"))
        dog.round(tick=False)
        assert swarm.messages == before + 1
        assert f"- unread_reports: {letter.id} about bd-1\n".encode() in swarm.agent.typed
        mail_store.mark_mail(where, letter.id)
        dog.round(tick=False)
    assert swarm.messages == before + 1


def _stamp(path: Path) -> str:
    return next(line.split(": ", 1)[1] for line in path.read_text().splitlines() if line.startswith("at: "))


def test_companions_are_made_only_if_that_was_asked_for(swarm: Swarm) -> None:
    task = swarm.task("add", "First thing")
    with swarm.dog(beads=(task,)) as (dog, _):
        dog.round(tick=True)
    assert "Quality loops" not in swarm.task("list")
    assert f"- quality_loops_due: {task}\n".encode() in swarm.agent.typed
    (swarm.project / "midwatch.toml").write_text("[watchdog]\nensure_quality = true\n")
    with swarm.dog(beads=(task,)) as (dog, log):
        dog.round(tick=True)
        dog.round(tick=True)
    assert "Quality loops" not in swarm.task("list"), "companions were made that nobody has trusted"
    told = [line for line in log if line.startswith("not-trusted ensure_quality")]
    assert len(told) == 1
    assert "is not trusted: read it, then `midwatch trust`" in told[0]
    trust.trust_file(f"{swarm.project}/midwatch.toml")
    with swarm.dog(beads=(task,)) as (dog, log):
        dog.round(tick=True)
    assert f"Quality loops for {task}" in swarm.task("list")
    assert log[0].startswith("companion-made dw-")


def test_nothing_of_the_work_is_touched(swarm: Swarm) -> None:
    """The watchdog assigns, claims and closes nothing."""
    tasks = [swarm.task("add", f"Thing {number}") for number in range(3)]
    swarm.task("start", tasks[1])
    file = swarm.project / "midwatch-tasks.jsonl"
    before = file.read_bytes()
    with swarm.dog(beads=tuple(tasks)) as (dog, _):
        dog.round(tick=True)
        dog.round(tick=True)
    assert file.read_bytes() == before


def test_the_projects_own_words(swarm: Swarm) -> None:
    (swarm.project / "midwatch.toml").write_text('[watchdog]\nprompt = "words.md"\n')
    (swarm.project / "words.md").write_text("{marker}\nUp, {session}! {state}\n{quality}\n{marker}")
    swarm.task("add", "First thing")
    with swarm.dog() as (dog, log):
        dog.round(tick=True)
        assert b"<<<WATCHDOG TICK>>>" in swarm.agent.typed, "words were used that nobody has trusted"
        assert [line for line in log if "prompt-template" in line and "is not trusted" in line]
    trust.trust_file(f"{swarm.project}/midwatch.toml")
    with swarm.dog() as (dog, _):
        dog.round(tick=True)
    assert b"\nUp, work! State:\n" in swarm.agent.typed
    assert f"midwatch quality ensure --project-dir {swarm.project}".encode() in swarm.agent.typed


def test_a_server_that_is_gone_is_waited_for(swarm: Swarm) -> None:
    with swarm.dog() as (dog, log):
        dog.round(tick=True)
        swarm.private.stop()
        dog.round(tick=False)
        assert dog.sight.controller == ""
        assert not [line for line in log if "failed" in line]
