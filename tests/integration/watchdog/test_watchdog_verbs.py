"""`midwatch watchdog start|stop|status|run`, as a person uses them."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.conftest import kill, until, until_gone
from tests.integration.watchdog.swarm import TITLE, Swarm


def test_it_runs_in_a_window_of_the_session_and_wakes_the_controller(swarm: Swarm) -> None:
    task = swarm.task("add", "First thing")
    started = swarm.start()
    log = f"{os.environ['XDG_STATE_HOME']}/midwatch/work-watchdog.log"
    assert started.out == f"started work:work-controller-watchdog\nlog: {log}\n"
    assert started.code == 0
    swarm.until_logged("prompt-sent tick")
    assert swarm.agent.typed.startswith(b"\x1b[200~<<<WATCHDOG TICK>>>")
    assert f"- ready: {task}\n".encode() in swarm.agent.typed
    until(lambda: swarm.status()["last_delivery"] is not None)
    found = swarm.status()
    assert found["running"] is True
    assert found["watchdog_window"] == "work:work-controller-watchdog"
    assert found["controller"] == swarm.agent.pane
    assert found["delivery"] == "delivered: its transcript tells of it"
    assert found["tick"].startswith(f"tick epic=OPEN ready={task} ")
    assert found["log_file"] == log
    windows = swarm.private("list-windows", "-t", "=work:", "-F", "#{window_index} #{window_name} #{window_active}")
    assert f"{found['window_index']} work-controller-watchdog 0" in windows.splitlines(), "it took somebody there"
    stopped = swarm("stop")
    assert (stopped.code, stopped.out) == (0, "stopped work:work-controller-watchdog\n")
    assert "work-controller-watchdog" not in swarm.private("list-windows", "-t", "=work:", "-F", "#{window_name}")
    assert swarm.messages == 1


def test_the_pane_and_the_file_have_the_same_lines(swarm: Swarm) -> None:
    swarm.start()
    swarm.until_logged("tick epic=")
    window = swarm.status()["window_index"]
    until(lambda: "tick epic=" in swarm.private("capture-pane", "-J", "-p", "-t", f"=work:{window}"))
    shown = swarm.private("capture-pane", "-J", "-p", "-t", f"=work:{window}").splitlines()
    assert shown[0].rstrip() == swarm.log.splitlines()[0]
    assert shown[0].startswith("[controller-watchdog] 20")


def test_status_tells_people_all_of_it(swarm: Swarm) -> None:
    swarm.task("add", "Quality loops for bd-1")
    swarm.start("--epic", "bd-epic", "--beads", "bd-7", "--force")
    swarm.until_logged("tick epic=")
    until(lambda: "last_tick: 20" in swarm("status").out)
    told = swarm("status")
    assert told.code == 0
    for words in ("watchdog_window: work:", "running: yes", "window_index: ", "controller: %", "last_delivery: ",
                  "Quality loops for bd-1", "epic: bd-epic", "missing_tasks: bd-epic, bd-7", "log_file: ",
                  "  | [controller-watchdog] "):  # fmt: skip
        assert words in told.out


def test_status_and_stop_of_one_that_does_not_run(swarm: Swarm) -> None:
    found = swarm("status")
    assert found.code == 7
    assert "running: no" in found.out
    assert (swarm("stop").code, swarm("stop").out) == (0, "not running: work has no watchdog\n")
    assert swarm("stop", "--json").json == {"schema": 1, "session": "work", "stopped": False}


def test_one_that_was_killed_does_not_run_whatever_it_left(swarm: Swarm) -> None:
    swarm.start()
    pid = swarm.status()["pid"]
    kill(pid, signal.SIGKILL)
    until_gone(pid)
    assert swarm.status()["running"] is False
    assert swarm("stop").out == "not running: work has no watchdog\n"
    assert swarm.start().code == 0


def test_there_is_one_for_a_session(swarm: Swarm) -> None:
    swarm.start()
    first = swarm.status()["pid"]
    second = swarm("run", "--once", "--project-dir", str(swarm.project))
    assert second.code == 12
    assert f"session work has a watchdog (pid {first})" in second.err
    again = swarm.start()
    assert again.out.splitlines()[0] == "stopped work-controller-watchdog, which ran until now"
    until_gone(first)
    assert swarm.status()["pid"] != first
    names = swarm.private("list-windows", "-t", "=work:", "-F", "#{window_name}").splitlines()
    assert names.count("work-controller-watchdog") == 1


def test_many_who_start_it_at_once_leave_one(swarm: Swarm) -> None:
    words = ("--session", "work", *swarm.private.server, "--project-dir", str(swarm.project), "--force")
    starting = [swarm.box.start("watchdog", "start", *words) for _ in range(4)]
    for each in starting:
        each.communicate(timeout=90)
    pid = swarm.status()["pid"]
    assert pid
    until(lambda: swarm.private("list-windows", "-t", "=work:", "-F", "#{window_name}").count("watchdog") == 1)


def test_what_was_told_is_not_told_again_by_the_next_one(swarm: Swarm) -> None:
    swarm.task("add", "First thing")
    swarm.start()
    swarm.until_logged("prompt-sent tick")
    swarm("stop")
    swarm.start()
    swarm.until_logged(": nothing new")
    assert swarm.messages == 1


def test_once_is_one_tick_and_nothing_twice(swarm: Swarm) -> None:
    swarm.task("add", "First thing")
    words = ("--once", "--project-dir", str(swarm.project), "--controller-title-regex", TITLE)
    first, second = swarm("run", *words), swarm("run", *words)
    assert (first.code, second.code) == (0, 0)
    assert "prompt-sent tick" in first.err
    assert "exit code=0 reason=once" in first.err
    assert "prompt-sent" not in second.err
    assert swarm.messages == 1


def test_a_dry_run_shows_the_message_and_touches_nothing(swarm: Swarm) -> None:
    task = swarm.task("add", "First thing")
    done = swarm("run", "--once", "--dry-run", "--project-dir", str(swarm.project), "--controller-title-regex", TITLE)
    assert done.code == 0
    assert done.out.startswith("<<<WATCHDOG TICK>>>\n")
    assert f"- ready: {task}\n" in done.out
    assert swarm.agent.typed == b""
    assert swarm.standing() is None
    assert swarm.log == ""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_ends_it_and_it_says_so(swarm: Swarm, number: int, code: int) -> None:
    words = ("--session", "work", *swarm.private.server, "--project-dir", str(swarm.project))
    running = swarm.box.start("watchdog", "run", *words)
    swarm.until_logged("tick epic=")
    kill(running.pid, number)
    running.communicate(timeout=60)
    assert running.returncode == code
    assert swarm.log.splitlines()[-1].endswith(f"exit code={code} reason=signal {int(number)}")
    assert swarm.status()["ended"] == f"signal {int(number)}"


def test_closing_its_window_ends_it(swarm: Swarm) -> None:
    swarm.start()
    pid = swarm.status()["pid"]
    swarm.private("kill-window", "-t", f"=work:{swarm.status()['window_index']}")
    until_gone(pid)
    assert swarm.status()["running"] is False


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--interval-seconds", "59"), "at least 60"),
        (("--exit-mode", "maybe"), "--exit-mode is one of confirm, auto"),
        (("--exit-mode", "auto"), "name it with --epic"),
        (("--controller-title-regex", "("), "no regular expression"),
        (("--project-dir", "/nowhere/at/all"), "is no directory"),
        (("--once",), "--once is for `midwatch watchdog run`"),
    ],
)
def test_what_cannot_be_meant_is_refused(swarm: Swarm, words: tuple[str, ...], said: str) -> None:
    done = swarm("start", *words)
    assert done.code == 2
    assert said in done.err


def test_a_session_must_be_named_and_be_there(swarm: Swarm) -> None:
    assert swarm.box("watchdog", "start").code == 2
    missing = swarm("start", session="nobody")
    assert missing.code == 12
    assert "was not found: no-session nobody" in missing.err
    assert "no window could be opened in session nobody" in swarm("start", "--force", session="nobody").err


def test_a_log_that_cannot_be_written_is_said_before_anything_begins(swarm: Swarm) -> None:
    done = swarm("run", "--once", "--log-file", "/proc/nothing/log")
    assert done.code == 12
    assert "name another with --log-file" in done.err


def test_a_log_of_ones_own(swarm: Swarm, tmp_path: Path) -> None:
    log = tmp_path / "own dir" / "my.log"
    started = swarm.start("--log-file", str(log))
    assert f"log: {log}" in started.out
    until(lambda: log.exists() and "tick epic=" in log.read_text(), tmp_path)
    assert swarm.status()["log_file"] == str(log)


def test_it_gets_our_variables_and_not_those_of_the_server(swarm: Swarm) -> None:
    """A tmux server has the environment of whoever started it first, perhaps days ago."""
    swarm.private("set-environment", "-g", "XDG_STATE_HOME", "/nowhere")
    assert swarm.start().code == 0
    assert swarm.status()["running"]


def test_what_is_quoted_in_names_is_only_a_name(swarm: Swarm) -> None:
    evil = swarm.box.cwd / "it's; touch owned $(touch owned) `touch owned` #{pid}"
    evil.mkdir()
    done = swarm("start", "--project-dir", str(evil), "--controller-title-regex", "'; touch owned; '",
                 "--force")  # fmt: skip
    assert done.code == 0, done
    swarm.until_logged("tick epic=")
    assert swarm.status()["project"] == str(evil)
    assert not list(swarm.box.cwd.rglob("owned"))


def test_help_shows_examples(swarm: Swarm) -> None:
    told = subprocess.run(
        [*swarm.box.program, "watchdog", "--help"], capture_output=True, text=True, check=True, timeout=60
    )
    assert "midwatch watchdog start --session project" in told.stdout
