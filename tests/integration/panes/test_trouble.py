"""When nothing can be seen, a look says why and what to do, in time, and sees again when it can."""

from __future__ import annotations

import os
import signal
import socket
import time
from pathlib import Path

import pytest

from midwatch.system import procfs
from midwatch.tmux.codec import commands as codec
from midwatch.tmux.server import HUNG, NO_TMUX, ServerSnapshot, TmuxObserver
from tests.conftest import kill, letter, until
from tests.integration.panes.private import Private, everything
from tests.integration.wait.watching import allowed


def stub(directory: Path, script: str) -> str:
    """A program in place of tmux, for what a real one cannot be brought to do."""
    path = directory / "tmux"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def nothing(look: ServerSnapshot) -> bool:
    return look.panes == () and look.screens == {}


def test_no_server(tmp_path: Path) -> None:
    look = TmuxObserver(("-S", str(tmp_path / "s"))).observe(everything)
    assert nothing(look)
    assert (look.cause, look.forks) == (codec.ABSENT, 0)
    assert str(tmp_path / "s") in look.trouble


def test_the_socket_of_a_server_that_was_killed(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(tmp_path / "s"))
    look = TmuxObserver(("-S", str(tmp_path / "s"))).observe(everything)
    assert nothing(look)
    assert (look.cause, look.forks) == (codec.ABSENT, 1)


def test_a_server_that_comes_back_is_seen_again(private: Private, sense: TmuxObserver) -> None:
    private.start()
    assert sense.observe(everything).trouble == ""
    private.stop()
    look = sense.observe(everything)
    assert nothing(look)
    assert look.cause == codec.ABSENT
    pane = private.start("printf back; exec cat")
    private.until_shows(pane, "back")
    look = sense.observe(everything)
    assert (look.trouble, look.screens) == ("", {pane: private.screen(pane)})


@pytest.mark.parametrize("met", [True, False])
def test_a_server_that_hangs(private: Private, *, met: bool) -> None:
    pane = private.start()
    sense = TmuxObserver(private.server, limit=0.3)
    if met:
        until(lambda: sense.observe(everything).trouble == "")
    pid, children = private.pid, procfs.children(os.getpid())
    kill(pid, signal.SIGSTOP)
    try:
        until(lambda: letter(pid) == "T")
        began = time.monotonic()
        look = sense.observe(everything)
        assert 0.3 <= time.monotonic() - began < allowed(5)
        assert nothing(look)
        assert (look.cause, look.forks) == (HUNG, 1)
        assert (f"kill -CONT {pid}" if met else "did not answer within 0.3 s") in look.trouble
        assert sense.observe(everything).forks == (0 if met else 1)
        assert procfs.children(os.getpid()) == children
    finally:
        kill(pid, signal.SIGCONT)
    until(lambda: sense.observe(everything).trouble == "")
    assert sense.observe(everything).screens == {pane: private.screen(pane)}


def test_no_tmux(private: Private, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    private.start()
    monkeypatch.setenv("PATH", str(tmp_path))
    look = TmuxObserver(private.server).observe(everything)
    assert nothing(look)
    assert look.cause == NO_TMUX
    assert "install tmux" in look.trouble


def test_a_tmux_that_may_not_be_run(private: Private, tmp_path: Path) -> None:
    private.start()
    (tmp_path / "tmux").write_text("")
    look = TmuxObserver(private.server, str(tmp_path / "tmux")).observe(everything)
    assert nothing(look)
    assert (look.cause, "Permission denied" in look.trouble) == (NO_TMUX, True)


def test_a_tmux_that_is_too_old_to_understand(private: Private, tmp_path: Path) -> None:
    private.start()
    old = stub(
        tmp_path, 'case "$*" in -V) echo tmux 1.8;; *) echo "usage: if-shell [-b] [-t target-pane]" >&2; exit 1;; esac'
    )
    look = TmuxObserver(private.server, old).observe(everything)
    assert nothing(look)
    assert look.cause == codec.OLD
    assert "tmux 1.8" in look.trouble
    assert "3.0 or later" in look.trouble


def test_a_server_that_is_too_old_though_it_answers(private: Private, tmp_path: Path) -> None:
    private.start()
    old = stub(tmp_path, r"""word=$(printf '%s' "$6" | cut -c 1-10); printf '%sS2.9a,1,2\n%sE\n' "$word" "$word" """)
    look = TmuxObserver(private.server, old).observe(everything)
    assert nothing(look)
    assert (look.cause, "tmux 2.9a" in look.trouble) == (codec.OLD, True)


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("exit 0", "without an answer"),
        ("kill -9 $$", "without an answer"),
        ("echo something new >&2; exit 1", "something new"),
        ("printf 'half a li'", "without an answer"),
    ],
)
def test_a_client_that_says_nothing_of_use(private: Private, tmp_path: Path, script: str, words: str) -> None:
    private.start()
    look = TmuxObserver(private.server, stub(tmp_path, script)).observe(everything)
    assert nothing(look)
    assert (look.cause, words in look.trouble) == (codec.OTHER, True)


def test_a_client_that_never_ends_is_ended(private: Private, tmp_path: Path) -> None:
    private.start()
    children = procfs.children(os.getpid())
    look = TmuxObserver(private.server, stub(tmp_path, "exec sleep 600"), limit=0.2).observe(everything)
    assert nothing(look)
    assert look.cause == HUNG
    assert procfs.children(os.getpid()) == children
