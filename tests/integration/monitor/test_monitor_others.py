"""Agents in panes that others opened: watched, and nothing is done to them."""

from __future__ import annotations

import shlex
import signal

from tests.conftest import kill, until
from tests.integration.spawn.office import Office


def opened(office: Office, prompt: str = "", name: str = "work", *, shell: bool = False) -> str:
    """Somebody starts an agent; its pane."""
    variables = [f"{key}={value}" for key, value in office.box.env.items() if key != "TMUX_TMPDIR"]
    command = shlex.join(["env", *variables, "claude", "--session-id", office.conversation])
    office.begin(prompt)
    pane = office.tmux.start("sh" if shell else f"exec {command}", name, size=(100, 30), cwd=str(office.cwd))
    if shell:
        office.tmux("send-keys", "-t", pane, command, "Enter")
    until(lambda: len(office.starts()) > 0)
    return pane


def on(office: Office) -> tuple[str, str]:
    return "-S", str(office.tmux.socket)


def test_a_pane_of_others_is_watched_to_its_turns_end(office: Office) -> None:
    pane = opened(office, "work")
    watcher = office.monitor(pane, *on(office))
    watcher.until_said("working")
    office.go()
    end = watcher.end()
    assert (end["state"], end["name"]) == ("completed", pane)
    assert office.sessions() == ["work"]


def test_a_session_of_others_is_found_by_its_exact_name(office: Office) -> None:
    opened(office, "ask")
    assert office.monitor("=work", *on(office)).end()["state"] == "waiting"
    assert office.monitor("=wor", *on(office)).end()["state"] == "not_found"


def test_an_agent_that_left_its_shell_has_crashed_if_it_said_nothing(office: Office) -> None:
    pane = opened(office, "work", shell=True)
    watcher = office.monitor(pane, *on(office))
    watcher.until_said("working")
    kill(office.start(1)["pid"], signal.SIGKILL)
    end = watcher.end()
    assert (end["state"], end["code"]) == ("crashed", 3)
    assert office.sessions() == ["work"]


def test_an_agent_that_exits_without_a_word_was_stopped_as_far_as_the_kernel_tells(office: Office) -> None:
    pane = opened(office, "work", shell=True)
    watcher = office.monitor(pane, *on(office))
    watcher.until_said("working")
    office.go("exit 0")
    end = watcher.end()
    untold = ("crashed", "no-status", 3)  # it has left its state file
    assert (end["state"], end["cause"], end["code"]) in (("stopped", "left-mid-turn", 10), untold)
    assert end["final"] is True


def test_what_became_of_an_agent_whose_pane_is_gone_is_told_as_far_as_the_kernel_tells(office: Office) -> None:
    pane = opened(office, "work")
    office.tmux.start("cat", "others")
    watcher = office.monitor(pane, *on(office))
    watcher.until_said("working")
    office.tmux("kill-session", "-t", "=work")
    end = watcher.end()
    assert (end["state"], end["code"], end["signal"]) in (("not_found", 7, None), ("stopped", 10, signal.SIGHUP))


def test_cleanup_closes_the_session_that_was_named(office: Office) -> None:
    opened(office, "say", "work")
    office.tmux.start("cat", "work-2")
    assert office.monitor("=work", *on(office), "--cleanup").end()["state"] == "completed"
    assert office.sessions() == ["work-2"]


def test_the_end_of_the_monitor_leaves_it(office: Office) -> None:
    pane = opened(office, "work")
    watcher = office.monitor(pane, *on(office))
    watcher.until_said("working")
    watcher.process.terminate()
    assert watcher.end()["state"] == "abandoned"
    assert office.sessions() == ["work"]
