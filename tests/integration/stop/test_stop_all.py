"""`stop --all` says what it will stop, asks, and leaves alone what Midwatch did not start."""

from __future__ import annotations

import os
import pty
import subprocess

import pytest

from tests.conftest import Box, alive
from tests.integration.wait.watching import listed, start


def states(box: Box) -> dict[str, str]:
    return {name: row["state"] for name, row in listed(box).items()}


@pytest.fixture
def busy(box: Box) -> Box:
    start(box, "one", "sleep", "300")
    start(box, "two", "sleep", "300")
    start(box, "done", "true")
    box("wait", "done")
    return box


def answer(box: Box, text: bytes) -> tuple[int, str]:
    """The exit code of `stop --all` at a terminal where somebody answers, and what it said."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [*box.program, "stop", "--all"], stdin=follower, stdout=follower, stderr=follower, env=box.env, cwd=box.cwd,
    )  # fmt: skip
    os.close(follower)
    shown = b""
    while b"[y/N]" not in shown:
        shown += os.read(leader, 4096)
    os.write(leader, text)
    try:
        while data := os.read(leader, 4096):
            shown += data
    except OSError:
        pass  # the terminal is closed
    os.close(leader)
    return process.wait(30), shown.decode()


def test_with_yes_all_that_lives_is_stopped_and_named(busy: Box) -> None:
    done = busy("stop", "--all", "--yes")
    assert done.code == 0
    assert [line.split(":")[0] for line in done.out.splitlines()] == ["one", "two"]
    assert "midwatch: stops one: working" in done.err
    assert states(busy) == {"done": "completed", "one": "stopped", "two": "stopped"}


def test_without_a_terminal_it_needs_yes(busy: Box) -> None:
    done = busy("stop", "--all")
    assert done.code == 2
    assert "add --yes" in done.err
    assert states(busy)["one"] == "working"


def test_at_a_terminal_it_asks(busy: Box) -> None:
    code, shown = answer(busy, b"n\n")
    assert (code, states(busy)["one"]) == (12, "working")
    assert "would stop one:" in shown
    assert "Stop these 2? [y/N]" in shown
    code, _ = answer(busy, b"y\n")
    assert (code, states(busy)["one"]) == (0, "stopped")


def test_where_nothing_lives_nothing_is_asked(box: Box) -> None:
    start(box, "done", "true")
    box("wait", "done")
    done = box("stop", "--all")
    assert (done.code, done.out) == (0, "")
    assert "nothing to stop here" in done.err


def test_what_midwatch_did_not_start_stays(busy: Box) -> None:
    work = subprocess.Popen(["sleep", "300"])
    assert busy("adopt", "--pid", str(work.pid), "--name", "theirs").code == 0
    done = busy("stop", "--all", "--yes")
    assert "theirs stays: Midwatch did not start it" in done.err
    assert alive(work.pid)
    assert busy("stop", "theirs").code == 0
    work.wait()


def test_the_job_that_it_is_called_in_stays(busy: Box) -> None:
    done = busy("run", "--name", "inside", "--", *busy.program, "stop", "--all", "--yes")
    assert done.code == 0, done
    assert states(busy) == {"done": "completed", "inside": "completed", "one": "stopped", "two": "stopped"}


@pytest.mark.parametrize("words", [("--all", "one"), ("one", "--yes")])
def test_names_and_all_do_not_go_together(busy: Box, words: tuple[str, ...]) -> None:
    assert busy("stop", *words).code == 2
