"""A look leaves no trace: on the server, on the disk, in our own process."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from midwatch.system import procfs
from midwatch.tmux import client as tmux_client
from midwatch.tmux.server import TmuxObserver
from tests.integration.panes.private import Private, everything

SETTINGS = (
    ["show-options", "-s"],
    ["show-options", "-g"],
    ["show-options", "-gw"],
    ["show-options", "-A", "-p", "-t", "%0"],
    ["show-hooks", "-g"],
    ["show-environment", "-g"],
    ["show-environment", "-t", "%0"],
    ["list-clients"],
    ["list-buffers"],
    ["list-keys"],
    [
        "list-sessions",
        "-F",
        "#{session_id} #{session_name} #{session_attached} #{session_last_attached} #{session_activity}",
    ],
    ["list-windows", "-a", "-F", "#{window_id} #{window_name} #{window_layout} #{window_activity} #{window_flags}"],
)


def settings(private: Private) -> list[str]:
    return [private(*command) for command in SETTINGS]


def test_nothing_on_the_server_is_changed(
    private: Private, sense: TmuxObserver, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        private.start()
    before = settings(private)
    monkeypatch.setenv("SSH_AUTH_SOCK", "/ours")
    monkeypatch.setenv("DISPLAY", ":ours")
    for colours in (False, True, False):
        assert sense.observe(everything, colours=colours).trouble == ""
    assert settings(private) == before


def test_looking_starts_no_server_and_makes_no_file(tmp_path: Path) -> None:
    for server in ((), ("-L", "name"), ("-S", str(tmp_path / "s"))):
        look = TmuxObserver(server).observe(everything)
        assert look.trouble
        assert look.forks == 0
    assert list(tmp_path.iterdir()) == []
    assert tmux_client.list_sockets() == []


def test_a_client_that_finds_nobody_starts_no_server(private: Private, sense: TmuxObserver) -> None:
    """Even where the socket that a killed server left makes us ask."""
    private.start()
    kept = private.socket.with_name("kept")
    os.link(private.socket, kept)
    private.stop()
    os.rename(kept, private.socket)
    look = sense.observe(everything)
    assert (look.forks, bool(look.trouble)) == (1, True)
    with pytest.raises(AssertionError, match="no server running"):
        private("list-sessions")


def test_nothing_is_left_in_our_own_process(private: Private, sense: TmuxObserver) -> None:
    private.start()
    sense.observe(everything)
    before, children = os.listdir("/proc/self/fd"), procfs.children(os.getpid())
    for _ in range(5):
        sense.observe(everything)
    private.stop()
    sense.observe(everything)
    assert len(os.listdir("/proc/self/fd")) == len(before)
    assert procfs.children(os.getpid()) == children


def test_hooks_of_the_owner_may_speak_between_our_lines(private: Private, sense: TmuxObserver) -> None:
    panes = [private.start(f"printf 'pane number {number}'; exec cat") for number in range(3)]
    for pane in panes:
        private.until_shows(pane, "pane number")
    for command in ("capture-pane", "list-panes"):
        private("set-hook", "-g", f"after-{command}", "show-options -gv status-left")
    shown = {pane: private.screen(pane)[:5] for pane in panes}
    for look in (sense.observe(everything), sense.observe(everything)):
        assert (look.trouble, look.screens) == ("", shown)
        assert [pane.id for pane in look.panes] == panes


def test_we_may_run_in_a_pane_ourselves(private: Private, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pane = private.start()
    other = Private(tmp_path / "other,1")
    try:
        theirs = other.start("printf theirs; exec cat")
        other.until_shows(theirs, "theirs")
        monkeypatch.setenv("TMUX", f"{other.socket},{other.pid},0")
        monkeypatch.setenv("TMUX_PANE", "%7")
        assert TmuxObserver().observe(everything).screens == {theirs: other.screen(theirs)}
        assert TmuxObserver(private.server).observe(everything).screens == {pane: private.screen(pane)}
    finally:
        other.end()
