"""`midwatch attach` leads the person at a terminal to the session that was named, and changes nothing else."""

from __future__ import annotations

import contextlib
import os
import pty
import shlex
import subprocess
from collections.abc import Iterator

import pytest

from tests.conftest import Done, until
from tests.integration.spawn.office import Office
from tests.integration.wait.watching import start

TERMINAL = {"TERM": "xterm-256color"}


@contextlib.contextmanager
def at_terminal(office: Office, *command: str, **env: str) -> Iterator[subprocess.Popen[bytes]]:
    """A program at a terminal of its own."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        command, stdin=follower, stdout=follower, stderr=follower, start_new_session=True, cwd=office.box.cwd,
        env=office.box.env | TERMINAL | env,
    )  # fmt: skip
    os.close(follower)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        os.close(leader)


def clients(office: Office) -> list[str]:
    return office.tmux("list-clients", "-F", "#{client_session}").split()


def attach(office: Office, *words: str) -> Done:
    return office.box("attach", *words)


def test_without_a_terminal_it_prints_the_command_that_attaches(office: Office) -> None:
    office.spawned()
    done = attach(office, "api")
    assert (done.code, done.err) == (0, "")
    command = shlex.split(done.out)
    assert command == ["tmux", "-S", str(office.tmux.socket), "attach", "-t", "=api"]
    assert clients(office) == []
    with at_terminal(office, *command):
        until(lambda: clients(office) == ["api"])


def test_at_a_terminal_it_attaches(office: Office) -> None:
    office.spawned()
    with at_terminal(office, *office.box.program, "attach", "api"):
        until(lambda: clients(office) == ["api"])


@pytest.mark.parametrize("target", ["=desk", "pane"])
def test_any_session_and_any_pane_can_be_named(office: Office, target: str) -> None:
    office.tmux.start("cat", "desk-two")
    office.tmux.start("cat", "desk")
    pane = office.tmux("split-window", "-P", "-F", "#{pane_id}", "-d", "-t", "=desk:", "cat").strip()
    named = pane if target == "pane" else target
    with at_terminal(office, *office.box.program, "attach", named, "-S", str(office.tmux.socket)):
        until(lambda: clients(office) == ["desk"])
        if target == "pane":
            until(lambda: office.tmux("display-message", "-p", "-t", "=desk:", "#{pane_id}").strip() == pane)


def test_inside_tmux_it_switches_the_client(office: Office) -> None:
    office.spawned()
    call = shlex.join([*office.box.program, "attach", "api"])
    office.tmux.start("cat", "desk", size=(80, 24))
    desk = office.tmux.start("cat", "other", size=(80, 24))
    with office.attached("desk"), office.attached("other"):
        until(lambda: sorted(clients(office)) == ["desk", "other"])
        env = [f"{name}={value}" for name, value in office.box.env.items()]
        office.tmux("respawn-pane", "-k", "-t", desk, shlex.join(["env", *env, "sh", "-c", f"{call}; cat"]))
        until(lambda: sorted(clients(office)) == ["api", "desk"])


def test_in_another_tmux_it_prints_the_command(office: Office) -> None:
    office.spawned()
    with at_terminal(office, *office.box.program, "attach", "api", TMUX=f"{office.home}/elsewhere,1,0") as process:
        assert process.wait(30) == 0
    assert clients(office) == []


def test_json_tells_where_it_is_and_attaches_nothing(office: Office) -> None:
    record = office.spawned()
    found = attach(office, "api", "--json").json
    assert found == {
        "schema": 1, "name": "api", "server": record["pane"]["server"], "session": "api", "pane": None,
        "command": ["tmux", "-S", str(office.tmux.socket), "attach", "-t", "=api"],
    }  # fmt: skip


def test_a_job_has_no_session(office: Office) -> None:
    start(office.box, "build", "true")
    done = attach(office, "build")
    assert done.code == 12
    assert "build is a job, not a session; `midwatch logs -f build` follows what it prints" in done.err


def test_a_session_whose_pane_is_gone_says_how_to_go_on(office: Office) -> None:
    office.spawned()
    office.tmux("kill-session", "-t", "=api")
    done = attach(office, "api")
    assert done.code == 7
    assert "`midwatch resume api`" in done.err


def test_after_a_restart_of_the_server_another_pane_is_not_taken_for_ours(office: Office) -> None:
    office.spawned()
    office.tmux.stop()
    office.tmux.start("cat", "api")
    assert attach(office, "api").code == 7


@pytest.mark.parametrize("target", ["nobody", "=nobody", "%99"])
def test_what_is_not_there_is_not_found(office: Office, target: str) -> None:
    office.tmux.start("cat", "nobody-else")
    done = attach(office, target, "-S", str(office.tmux.socket))
    assert (done.code, done.out) == (7, "")
    assert "there is no" in done.err


def test_a_server_that_does_not_run_has_no_session(office: Office) -> None:
    assert attach(office, "=api", "-S", str(office.tmux.socket)).code == 7


def test_one_session_at_a_time(office: Office) -> None:
    assert attach(office).code == attach(office, "a", "b").code == 2
