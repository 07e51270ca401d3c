"""A session that `spawn` starts: whose processes they are, what is known of them, and what is not to be seen."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

import pytest

from tests.conftest import alive, kill, until, until_gone
from tests.integration.spawn.office import Office

SECRET = "the-password-of-the-cat"


def seen_by_all() -> str:
    """Command lines and environments of all processes that we may look at."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        for what in ("cmdline", "environ"):
            with contextlib.suppress(OSError):
                found.append(Path(f"/proc/{pid}/{what}").read_text(errors="replace"))
    return "\n".join(found)


def test_the_agent_is_the_foreground_command_of_its_pane_and_the_child_of_our_shim(office: Office) -> None:
    record = office.spawned()
    [start] = office.starts()
    shim, work = office.box.pids("api")
    assert office.pane("#{pane_current_command} #{pane_pid} #{session_name}") == f"claude {shim} api"
    assert (start["pid"], start["group"], start["cwd"]) == (work, True, str(office.cwd))
    assert (record["kind"], record["agent"], record["pane"]["session"]) == ("session", "claude", "api")
    assert record["pane"]["server"] == ["-S", str(office.tmux.socket)]


def test_the_conversation_stands_in_the_record_and_is_the_agents(office: Office) -> None:
    record = office.spawned()
    assert office.start(1)["argv"] == ["--session-id", record["conversation"]]


def test_model_and_arguments_reach_the_agent_as_they_are(office: Office) -> None:
    done = office.spawn("api", "--model", "opus", "--", "--verbose", "a b; $HOME #{pane_id} 'c\"")
    assert done.code == 0
    assert office.start(1)["argv"][2:] == ["--model", "opus", "--verbose", "a b; $HOME #{pane_id} 'c\""]


def test_it_says_its_name_and_with_json_what_it_is(office: Office) -> None:
    assert office.spawn("one").out == "one\n"
    assert office.spawn("two", "--json").json["kind"] == "session"


@pytest.mark.parametrize(
    ("begin", "state", "code", "number"),
    [
        ("bye 0", "completed", 0, None),
        ("exit 3", "failed", 3, None),
        ("die 9", "crashed", None, 9),
        ("die 15", "crashed", None, 15),
        ("die 2", "stopped", None, 2),
        ("exit 130", "stopped", 130, None),
        ("exit 143", "stopped", 143, None),
    ],
)
def test_how_it_ends_is_known_from_its_parent(
    office: Office, begin: str, state: str, code: int | None, number: int | None
) -> None:
    office.begin(begin)
    office.spawned()
    office.box("wait", "api")
    end = office.box.record("api")["end"]
    assert (end["state"], end["exit_code"], end["signal"]) == (state, code, number)
    assert office.listed() == {"api": state}


def test_its_shim_keeps_the_terminal_open(office: Office) -> None:
    """Tmux closes a terminal that nobody has open any more; its shim would take that for a wish to stop."""
    office.spawned()
    shim, _ = office.box.pids("api")
    assert office.pane("#{pane_tty}") in [os.readlink(fd) for fd in Path(f"/proc/{shim}/fd").iterdir()]


def test_its_pane_stays_when_it_has_ended(office: Office) -> None:
    office.begin("bye 0")
    office.spawned()
    office.box("wait", "api")
    until(lambda: office.pane("#{pane_dead}") == "1")
    assert "Fine." in office.shown()


def test_the_log_holds_what_was_shown_without_escapes(office: Office) -> None:
    office.spawned(prompt="say something")
    text = office.box.until_file("api.log", lambda text: "● Fine." in text)
    assert "\x1b" not in text
    assert "\r" not in text
    assert office.box("logs", "api").out == office.box.path("api.log").read_text()


def test_a_directory_whose_name_means_something_to_tmux_and_to_shells_is_written_to(office: Office) -> None:
    odd = office.home / "it's #{pane_id} %H $(x)"
    office.box.env["MIDWATCH_HOME"] = str(odd)
    office.box.dir = odd
    office.spawned(prompt="say something")
    office.box.until_file("api.log", lambda text: "● Fine." in text)


def test_the_prompt_is_on_no_command_line_and_in_no_environment(office: Office) -> None:
    office.begin("work")
    (office.home / "prompt").write_text(f"work {SECRET}")
    spawning = office.box.start(
        "spawn", "api", "--agent", "claude", "--socket", str(office.tmux.socket), "--prompt-file",
        str(office.home / "prompt"),
    )  # fmt: skip
    until(lambda: len(office.starts()) == 1)
    assert SECRET not in seen_by_all()
    office.go()
    spawning.communicate(timeout=60)
    assert spawning.returncode == 0
    assert SECRET in office.typed().decode()
    assert SECRET not in seen_by_all()
    assert office.tmux("list-buffers") == ""


def test_a_large_environment_is_the_agents_and_the_place_is_that_of_its_pane(office: Office) -> None:
    large = {f"LARGE_{number}": "x" * 1000 for number in range(200)}
    office.box.env |= large | {"TERM": "dumb", "TMUX_PANE": "%77", "CLAUDECODE": "1"}
    office.spawned()
    found = office.start(1)["variables"]
    assert large.items() <= found.items()
    assert found["TERM"] != "dumb"
    assert found["TMUX_PANE"] == office.box.record("api")["pane"]["id"]
    assert found["TMUX"].startswith(f"{office.tmux.socket},")
    assert found["MIDWATCH_NAME"] == "api"
    assert "CLAUDECODE" not in found


@pytest.mark.parametrize("name", ["#{pane_id} it's", "a b", "100%"])
def test_a_directory_of_any_name_can_be_worked_in(office: Office, name: str) -> None:
    (office.home / name).mkdir()
    office.spawned("api", "--cwd", str(office.home / name))
    assert office.start(1)["cwd"] == str(office.home / name)


def test_its_lease_is_free_when_the_last_of_its_processes_is_gone(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = office.spawned(prompt="child")
    shim, work = office.box.pids("api")
    until(lambda: len(office.holders(record["conversation"], monkeypatch)) == 3)
    [child] = set(office.holders(record["conversation"], monkeypatch)) - {shim, work}
    for pid in (shim, work):
        kill(pid, signal.SIGKILL)
        until_gone(pid)
    assert office.holders(record["conversation"], monkeypatch) == [child]
    kill(child, signal.SIGKILL)
    until_gone(child)
    assert office.holders(record["conversation"], monkeypatch) == []


def test_stop_ends_all_of_it_and_says_so(office: Office) -> None:
    office.spawned(prompt="child")
    shim, work = office.box.pids("api")
    assert office.box("stop", "api").code == 0
    assert not alive(work)
    until_gone(shim)
    assert office.listed() == {"api": "stopped"}


def test_nothing_is_left_in_the_temporary_directory(office: Office) -> None:
    office.spawned()
    assert list(office.temporary.iterdir()) == []


def test_ls_and_why_say_what_its_turn_does(office: Office) -> None:
    office.spawned("api", prompt="ask")
    office.spawned("web", prompt="work")
    assert office.listed() == {"api": "waiting", "web": "working"}
    why = office.state("api")
    assert (why["turn"], why["detail"], why["process"]) == ("waiting", "permission", "alive")
    assert "shim" in {each["source"] for each in why["for"]}
