"""What cannot be started leaves nothing behind: no session, no file, no lease, and an answer that helps."""

from __future__ import annotations

import shutil
import signal
from pathlib import Path

import pytest

from tests.conftest import Box, until
from tests.integration.send.conftest import Gate
from tests.integration.spawn.office import Office

REFUSED, NO_SUCH_PROGRAM, INTERRUPTED = 125, 127, 130


def only(office: Office, *programs: str) -> str:
    """A PATH with nothing else in it."""
    directory = office.home / "few"
    directory.mkdir()
    for program in programs:
        (directory / program).symlink_to(str(shutil.which(program, path=office.box.env["PATH"])))
    return str(directory)


def nothing_left(office: Office, others: tuple[str, ...] = ()) -> None:
    assert office.sessions() == [*others]
    assert list(office.temporary.iterdir()) == []
    assert not office.box.path("api.json").exists()


def test_without_tmux_it_is_said_what_can_be_done(office: Office) -> None:
    office.box.env["PATH"] = only(office, "claude")
    done = office.spawn()
    assert done.code == REFUSED
    assert "there is no tmux in PATH; install it, or use --headless" in done.err
    assert office.starts() == []
    nothing_left(office)


def test_without_the_program_nothing_is_left_but_the_answer(office: Office) -> None:
    office.box.env["PATH"] = only(office, "tmux")
    done = office.spawn()
    assert done.code == NO_SUCH_PROGRAM
    assert "claude: could not be started: No such file or directory" in done.err
    assert office.sessions() == []
    assert list(office.temporary.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("api",), "--agent is one of"),
        (("api", "--agent", "nobody"), "not 'nobody'"),
        (("=api", "--agent", "claude"), "means something else to tmux"),
        (("a/b", "--agent", "claude"), "a/b"),
        (("api", "--agent", "claude", "--cwd", "/nowhere"), "there is no directory /nowhere"),
        (("api", "--agent", "claude", "--prompt", "x", "--prompt-file", "y"), "give one"),
        (("api", "--agent", "claude", "--prompt-file", "/nowhere"), "/nowhere: No such file"),
        (("api", "--agent", "claude", "--prompt", "!rm -r x"), "!"),
        (("api", "--agent", "claude", "--headless"), "needs --prompt"),
        ((), "spawn needs one NAME"),
    ],
)
def test_what_is_meant_must_be_said_well(office: Office, words: tuple[str, ...], said: str) -> None:
    done = office.box("spawn", *words)
    assert done.code == 2
    assert said in done.err
    assert office.starts() == []


def test_a_server_that_cannot_be_reached_is_named(office: Office) -> None:
    done = office.box("spawn", "api", "--agent", "claude", "--socket", "/nowhere/socket")
    assert done.code == REFUSED
    assert "tmux server /nowhere/socket is refused: there is no /nowhere" in done.err
    assert "/nowhere/socket" in done.err
    nothing_left(office)


@pytest.fixture
def gate(office: Office, box: Box) -> Gate:
    directory = office.home / "gate"
    directory.mkdir()
    return Gate(box, office.tmux.program, directory)


@pytest.mark.parametrize("moment", ["new-session", "set-option", "set-hook", "pipe-pane"])
def test_ctrl_c_while_it_starts_leaves_nothing_behind(office: Office, gate: Gate, moment: str) -> None:
    office.tmux.start(name="other")  # a server that is just starting does not yet say which sessions it has
    gate.close(moment)
    spawning = office.box.start("spawn", "api", "--agent", "claude", "--socket", str(office.tmux.socket))
    gate.reached()
    spawning.send_signal(signal.SIGINT)
    gate.open()
    assert spawning.wait(60) == INTERRUPTED
    spawning.communicate()
    until(lambda: office.sessions() == ["other"])
    nothing_left(office, ("other",))
    assert office.starts() == []
    assert locked(office) == []
    office.spawned()


def locked(office: Office) -> list[str]:
    """Leases that somebody holds."""
    leases = [*office.box.dir.glob("*.lock"), *(office.home / "state" / "midwatch" / "leases").glob("*.lock")]
    inodes = {f":{path.stat().st_ino} " for path in leases}
    return [line for line in Path("/proc/locks").read_text().splitlines() if any(inode in line for inode in inodes)]


def test_ctrl_c_before_the_prompt_leaves_the_agent_without_it(office: Office) -> None:
    office.begin("work")
    spawning = office.box.start(
        "spawn", "api", "--agent", "claude", "--socket", str(office.tmux.socket), "--prompt", "say hello"
    )
    until(lambda: office.box.path("api.json").exists() and office.state()["state"] == "working")
    spawning.send_signal(signal.SIGINT)
    _, said = spawning.communicate(timeout=60)
    assert spawning.returncode == INTERRUPTED
    assert "api runs, but its prompt was not delivered: interrupted" in said
    assert office.typed() == b""
    assert office.sessions() == ["api"]


def test_a_dialog_in_the_way_of_the_prompt_is_said_and_nothing_is_typed_into_it(office: Office) -> None:
    office.begin("trust")
    done = office.spawn(prompt="say hello")
    assert done.code == 8
    assert "api runs, but its prompt was not delivered: it waits for a word on trusting the folder" in done.err
    assert "`midwatch send api --file F` gives it later" in done.err
    assert office.typed() == b""


def test_an_agent_that_ends_before_its_prompt_is_said_to_have(office: Office) -> None:
    office.begin("exit 3")
    done = office.spawn(prompt="say hello")
    assert done.code == 7
    assert "its prompt was not delivered" in done.err
    assert "runs" not in done.err
    assert office.listed() == {"api": "failed"}


def test_a_disk_that_cannot_be_written_is_named(office: Office) -> None:
    office.box.dir.mkdir()
    office.box.dir.chmod(0o777)
    done = office.spawn()
    assert done.code == REFUSED
    assert "others may write" in done.err
    assert office.sessions() == []


@pytest.mark.parametrize("moment", ["new-session", "set-option", "set-hook", "pipe-pane"])
def test_whoever_starts_it_may_be_killed_at_any_moment(office: Office, gate: Gate, moment: str) -> None:
    gate.close(moment)
    spawning = office.box.start("spawn", "api", "--agent", "claude", "--socket", str(office.tmux.socket))
    gate.reached()
    spawning.kill()
    spawning.communicate()
    gate.open()
    until(lambda: not office.sessions() and not any(office.temporary.iterdir()))
    assert locked(office) == []
    assert office.starts() == []
    office.spawned()
