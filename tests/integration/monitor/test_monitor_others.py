"""Agents in panes that others opened: watched, and nothing is done to them."""

from __future__ import annotations

import shlex
import signal

from tests.conftest import alive, kill, until
from tests.integration.spawn.office import Office


def opened(office: Office, prompt: str = "", name: str = "work", *, shell: bool = False, then: str = "") -> str:
    """Somebody starts an agent, and what is to follow; its pane."""
    variables = [f"{key}={value}" for key, value in office.box.env.items() if key != "TMUX_TMPDIR"]
    command = shlex.join(["claude", "--session-id", office.conversation])
    office.begin(prompt)
    pane = office.tmux.start(
        shlex.join(["exec", "env", *variables, *(["bash", "--norc", "-i"] if shell else shlex.split(command))]),
        name,
        size=(100, 30),
        cwd=str(office.cwd),
    )
    if shell:
        office.tmux("send-keys", "-t", pane, f"{command}; {then}" if then else command, "Enter")
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


# Told to bring it back -----------------------------------------------------------------------------------------------


def test_a_crash_is_resumed_in_its_own_shell_where_that_was_asked_for(office: Office) -> None:
    pane = opened(office, "work", shell=True)
    watcher = office.monitor(pane, *on(office), "--resume", "1")
    watcher.until_said("working")
    kill(office.start(1)["pid"], signal.SIGKILL)
    end = watcher.end()
    assert (end["state"], end["code"]) == ("completed", 0), end["reason"]
    assert office.start(2)["argv"] == ["--resume", office.conversation]
    assert b"Continue where you left off." in office.typed()
    assert "; resuming it in its shell (1 of 1)" in "".join(watcher.said)
    assert office.tmux("display-message", "-p", "-t", pane, "#{pane_id}").strip() == pane


def test_the_second_crash_in_a_shell_is_one_when_no_resume_is_left(office: Office) -> None:
    office.resumed("die 9")
    pane = opened(office, "work", shell=True)
    watcher = office.monitor(pane, *on(office), "--resume", "1")
    watcher.until_said("working")
    kill(office.start(1)["pid"], signal.SIGKILL)
    end = watcher.end()
    assert (end["state"], end["code"], len(office.starts())) == ("crashed", 3, 2)


def test_a_hang_of_an_agent_of_others_is_never_ended(office: Office) -> None:
    pane = opened(office, "still", shell=True)
    watcher = office.monitor(pane, *on(office), "--resume", "1", "--stale", "2s", "--grace", "1s")
    end = watcher.end()
    assert (end["state"], end["code"], len(office.starts())) == ("stuck", 4, 1)
    assert "resum" not in "".join(watcher.said) + end["reason"]
    assert alive(office.start(1)["pid"])


def test_a_shell_that_runs_something_is_left_to_it(office: Office) -> None:
    """The crashed agent's shell goes on with the next command of its line."""
    pane = opened(office, "work", shell=True, then="cat")
    watcher = office.monitor(pane, *on(office), "--resume", "1")
    watcher.until_said("working")
    kill(office.start(1)["pid"], signal.SIGKILL)
    end = watcher.end()
    assert (end["state"], len(office.starts())) == ("crashed", 1)
    assert "not resumed: " in end["reason"]


def test_a_job_watches_an_agent_of_others(office: Office) -> None:
    opened(office, "ask")
    done = office.box("monitor", "-d", "=work", *on(office))
    assert (done.code, done.out) == (0, "=work@s.monitor\n"), done
    office.box.until_file("=work@s.monitor.log", lambda text: "waiting: it waits for a permission" in text)
    again = office.box("monitor", "-d", "=work", *on(office))
    assert again.code == 125
    assert "=work@s is watched already, by the job =work@s.monitor" in again.err
    office.tmux("send-keys", "-t", "=work:", "y")
    assert office.box("wait", "=work@s.monitor", "--json").json["state"] == "completed"


def test_what_is_not_there_is_said_before_a_job_is_started(office: Office) -> None:
    office.tmux.start("cat", "work")
    done = office.box("monitor", "-d", "=work", *on(office), "--json")
    assert (done.code, done.json["state"]) == (7, "not_found")
    assert office.listed() == {}
