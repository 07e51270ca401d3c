"""Where servers are looked for."""

from __future__ import annotations

import os
import socket
import subprocess
from pathlib import Path

import pytest

from midwatch.tmux import client as tmux_client
from midwatch.tmux.server import TmuxObserver
from tests.integration.panes.private import Private, everything


@pytest.mark.parametrize("server", [("-L", "named"), ()], ids=["named", "default"])
def test_servers_are_where_tmux_puts_them(server: tuple[str, ...], tmp_path: Path) -> None:
    private = Private(tmp_path / f"tmux-{os.getuid()}" / (server[1] if server else "default"))
    call = [private.program, "-f", os.devnull, *server, "new-session", "-d", "cat"]
    subprocess.run(call, check=True, capture_output=True)
    try:
        assert tmux_client.socket_path(server) == str(private.socket)
        assert tmux_client.list_sockets() == [str(private.socket)]
        look = TmuxObserver(server).observe(everything)
        assert (look.trouble, [pane.server for pane in look.panes]) == ("", [server])
    finally:
        private.end()


def test_sockets_are_listed_and_nothing_else(private: Private, tmp_path: Path) -> None:
    directory = tmp_path / f"tmux-{os.getuid()}"
    directory.mkdir(mode=0o700)
    (directory / "file").write_text("")
    (directory / "directory").mkdir()
    os.symlink(directory / "nowhere", directory / "link")
    private.socket = directory / "a b,c"
    private.server = ("-S", str(private.socket))
    private.start()
    assert tmux_client.list_sockets() == [str(private.socket)]


def test_the_server_that_we_run_in_is_listed_wherever_it_is(private: Private, monkeypatch: pytest.MonkeyPatch) -> None:
    private.start()
    assert tmux_client.list_sockets() == []
    monkeypatch.setenv("TMUX", f"{private.socket},{private.pid},0")
    assert tmux_client.list_sockets() == [str(private.socket)]


def test_a_directory_that_there_is_not_does_not_count(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for wished in (str(tmp_path / "missing"), ""):
        monkeypatch.setenv("TMUX_TMPDIR", wished)
        assert tmux_client.socket_path(()) == f"/tmp/tmux-{os.getuid()}/default"
    monkeypatch.delenv("TMUX_TMPDIR")
    assert tmux_client.socket_path(("-L", "x")) == f"/tmp/tmux-{os.getuid()}/x"


def test_a_relative_path_is_meant_from_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert tmux_client.socket_path(("-S", "x/y")) == str(tmp_path / "x/y")


def test_a_socket_is_held_by_who_has_bound_it_however_he_names_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    monkeypatch.chdir(tmp_path)
    for name, bound in (("a b", tmp_path / "a b"), ("two", Path("two")), ("three", tmp_path / "link" / "three")):
        path = str(tmp_path / name)
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(str(bound))
            assert (tmux_client.is_socket(path), tmux_client.is_open(path)) == (True, True)
            assert not tmux_client.is_open(str(tmp_path / "another" / name)) or not bound.is_absolute()
        assert (tmux_client.is_socket(path), tmux_client.is_open(path)) == (True, False), "the file is left behind"


def test_a_server_holds_its_socket_until_it_ends(private: Private) -> None:
    private.start()
    assert tmux_client.is_open(str(private.socket))
    private.stop()
    assert not tmux_client.is_open(str(private.socket))
