"""What `answer` shows a person, what it asks on a terminal, and the screens that the server compares."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from midwatch.tmux.codec import screen_guard, sgr
from midwatch.tmux.pane_input import KeyTyper
from midwatch.tmux.pane_snapshot import take_snapshot
from tests.conftest import PATIENCE, Box
from tests.integration.answer.conftest import ASKING, AskingAgent
from tests.integration.panes.agent import show
from tests.integration.panes.private import Private


def test_where_the_choices_cannot_be_read_the_screen_is_shown(box: Box, private: Private, tmp_path: Path) -> None:
    pane = show(private, tmp_path, "claude", "menu-help")
    done = box("answer", pane, "1", *private.server)
    assert done.code == 12, done
    assert "For more help" in done.out
    assert "(unreadable): nothing tells how Claude Code lists the choices" in done.err
    assert f"`midwatch attach {pane}`" in done.err
    found = box("answer", pane, *private.server, "--json").json
    assert (found["outcome"], found["dialog"]["readable"], found["dialog"]["choices"]) == ("unreadable", False, [])


def test_nobody_there(box: Box, private: Private) -> None:
    private.start("cat")
    done = box("answer", "%99", "1", *private.server)
    assert done.code == 7
    assert "no agent in pane %99" in done.err
    assert box("answer", "api").code == 7


@contextmanager
def on_terminal(box: Box, *words: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A call whose input and messages are a terminal's; its keyboard."""
    leader, follower = pty.openpty()
    called = box.start(*words, stdin=follower, stderr=follower)
    os.close(follower)
    try:
        yield called, leader
    finally:
        called.kill()
        called.wait()
        os.close(leader)


def read_until(terminal: int, words: bytes) -> bytes:
    found = b""
    while words not in found:
        found += os.read(terminal, 4096)
    return found


@pytest.mark.parametrize(("said", "code", "taken"), [("n", 130, ""), ("", 130, ""), ("y", 0, "touch marker: No\n")])
def test_on_a_terminal_the_dialog_is_shown_and_you_are_asked(
    box: Box, asking: AskingAgent, said: str, code: int, taken: str
) -> None:
    with on_terminal(box, "answer", asking.pane, "3", *asking.private.server) as (called, keyboard):
        read_until(keyboard, b"select choice 3? [y/N] ")
        assert asking.read("typed") == ""
        os.write(keyboard, f"{said}\n".encode())
        out, _ = called.communicate(timeout=PATIENCE)
    assert called.returncode == code, out
    assert "3. No" in out
    assert asking.read("taken") == taken


def test_a_dialog_that_is_replaced_while_you_think_is_not_answered(box: Box, asking: AskingAgent) -> None:
    with on_terminal(box, "answer", asking.pane, "1", *asking.private.server) as (called, keyboard):
        read_until(keyboard, b"[y/N] ")
        asking.ask("rm -rf build")
        os.write(keyboard, b"y\n")
        called.communicate(timeout=PATIENCE)
    assert called.returncode == 12
    assert (asking.read("typed"), asking.read("taken")) == ("", "")


def test_a_session_of_ours_is_answered_by_its_name(box: Box, private: Private, tmp_path: Path) -> None:
    agent = AskingAgent(private, tmp_path / "agent")
    agent.directory.mkdir()
    agent.put("question", "touch marker")
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "claude").write_text(f"#!/bin/bash\nexec -a claude {sys.executable} {ASKING} {agent.directory}\n")
    (programs / "claude").chmod(0o755)
    box.env["PATH"] = f"{programs}:{box.env['PATH']}"
    started = box("spawn", "api", "--agent", "claude", "--socket", str(private.socket), "--json")
    assert started.code == 0, started
    private.until_shows(box.record("api")["pane"]["id"], "touch marker")
    done = box("answer", "api", "1", "--json")
    assert (done.code, done.json["outcome"]) == (0, "answered"), done
    assert agent.read("taken") == "touch marker: Yes\n"
    told = [json.loads(line) for line in box("events", "api", "--json").out.splitlines()]
    mine = [event for event in told if event["event"] in ("answer", "answered")]
    assert [event["event"] for event in mine] == ["answer", "answered"]
    assert {event["run"] for event in mine} == {box.record("api")["run"]}


SHOWN = (
    ("claude", "permission-bash"), ("claude", "2.1.325-s60x15-trust"), ("claude", "s60x15-permission-overflow"),
    ("codex", "permission-46x14"), ("codex", "question-1-of-3"), ("gemini", "permission-second-of-three-100x30"),
    ("gemini", "question-46x14"), ("opencode", "permission-edit-200x50"), ("opencode", "question-long-46x14"),
    ("qwen", "0.24.4-permission-60x15"), ("qwen", "permission-write-80x24"),
)  # fmt: skip


@pytest.mark.parametrize(("agent", "case"), SHOWN, ids=lambda each: each)
def test_the_server_finds_every_row_of_real_dialogs_where_it_stands(
    private: Private, tmp_path: Path, agent: str, case: str
) -> None:
    pane = show(private, tmp_path, agent, case)
    seen = take_snapshot(private.server, pane)
    assert seen is not None
    rows = sgr.split_styles(seen.rows)[0]
    wanted = tuple(at for at, row in enumerate(rows) if any(map(str.isalnum, row)))
    assert len(wanted) > 3
    hand = KeyTyper(private.server, pane)
    assert hand.press(("x",), screen_guard.guard_rows(seen.guard, rows, wanted))
    changed = list(rows)
    changed[wanted[-1]] = "another row"
    assert not hand.press(("x",), screen_guard.guard_rows(seen.guard, tuple(changed), wanted))


def test_rows_full_of_signs_that_mean_something_to_tmux_are_compared_too(private: Private, tmp_path: Path) -> None:
    text = "echo #{pane_id},#(true) ${HOME} [a-z]* (b|c)? ^x$ \\ \"q\" 'r'; é 日本語 👍 100% }} #[fg=red] :x|y"
    (tmp_path / "text").write_text(text)
    pane = private.start(f"stty -echo; cat {tmp_path}/text; exec sleep 1000", size=(120, 5))
    private.until_shows(pane, "日本語")
    seen = take_snapshot(private.server, pane)
    assert seen is not None
    guard = screen_guard.guard_rows(seen.guard, sgr.split_styles(seen.rows)[0], (0,))
    assert KeyTyper(private.server, pane).press(("x",), guard)
