"""What the gate lets through, and what not: owners, modes and links on the way to a socket."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from midwatch.tmux import client as tmux_client
from midwatch.tmux.codec import commands as codec
from midwatch.tmux.server import TmuxObserver
from midwatch.tmux.socket_gate import UnsafeServerError
from tests import users
from tests.conftest import PATIENCE
from tests.integration.tmux_gate.conftest import NOTHING, Attacker, Victim

STRANGER = 65534


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with users.shared_place() as found:
        monkeypatch.setenv("TMUX_TMPDIR", str(found))
        monkeypatch.delenv("TMUX", raising=False)
        yield found


def bind(path: Path, mode: int = 0o700) -> str:
    """A socket of ours in a directory that is made for it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.parent.chmod(mode)
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(path))
    return str(path)


def own(place: Path) -> Path:
    return place / f"tmux-{os.getuid()}"


@pytest.mark.parametrize("mode", [0o700, 0o750, 0o500])
def test_a_directory_as_tmux_makes_it_will_do(place: Path, mode: int) -> None:
    assert tmux_client.find_refusal(bind(own(place) / "default", mode)) == ""


@pytest.mark.parametrize("mode", [0o777, 0o755, 0o701, 0o770, 0o1777, 0o702])
def test_tmuxs_directory_is_for_nobody_else(place: Path, mode: int) -> None:
    """With tmux's own rules; and a group that may write can put another socket there."""
    why = tmux_client.find_refusal(bind(own(place) / "default", mode))
    assert f"others may use {own(place)} (mode {mode:04o})" in why
    assert f"`chmod 700 {own(place)}`" in why


def test_tmuxs_directory_is_no_link(place: Path) -> None:
    bind(place / "elsewhere" / "default")
    own(place).symlink_to(place / "elsewhere")
    assert "is not a directory" in tmux_client.find_refusal(str(own(place) / "default"))


@pytest.mark.parametrize("mode", [0o700, 0o755, 0o1777])
def test_elsewhere_others_may_look_but_not_replace(place: Path, mode: int) -> None:
    assert tmux_client.find_refusal(bind(place / "elsewhere" / "s", mode)) == ""


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o757])
def test_elsewhere_nobody_else_may_write(place: Path, mode: int) -> None:
    why = tmux_client.find_refusal(bind(place / "elsewhere" / "s", mode))
    assert f"others may write to {place}/elsewhere" in why


def test_every_directory_above_counts(place: Path) -> None:
    path = bind(place / "one" / "two" / "s")
    assert tmux_client.find_refusal(path) == ""
    (place / "one").chmod(0o777)
    assert f"others may write to {place}/one and replace {place}/one/two" in tmux_client.find_refusal(path)
    (place / "one").chmod(0o755)
    os.chown(place / "one", STRANGER, -1)
    assert f"{place}/one belongs to another user (uid {STRANGER})" in tmux_client.find_refusal(path)


def test_a_socket_of_somebody_else_is_refused_wherever_it_is(place: Path) -> None:
    """Also by root, who could connect to any."""
    for directory in (own(place), place / "elsewhere"):
        path = bind(directory / "s")
        os.chown(path, STRANGER, -1)
        assert f"{path} belongs to another user (uid {STRANGER})" in tmux_client.find_refusal(path)


def test_links_are_checked_where_they_stand_and_where_they_lead(place: Path) -> None:
    path = bind(place / "real" / "s")
    (place / "link").symlink_to("real")
    (place / "long").symlink_to(place / "link" / ".." / "link" / "s")
    assert tmux_client.find_refusal(str(place / "link" / "s")) == ""
    assert tmux_client.find_refusal(str(place / "long")) == ""
    os.chown(path, STRANGER, -1)
    assert "belongs to another user" in tmux_client.find_refusal(str(place / "long"))
    os.chown(path, os.getuid(), -1)
    (place / "open").mkdir()
    (place / "open").chmod(0o1777)
    (place / "open" / "link").symlink_to(path)
    assert tmux_client.find_refusal(str(place / "open" / "link")) == ""
    os.lchown(place / "open" / "link", STRANGER, -1)
    assert f"{place}/open/link belongs to another user" in tmux_client.find_refusal(str(place / "open" / "link"))


def test_links_without_an_end_are_refused(place: Path) -> None:
    (place / "a").symlink_to("b")
    (place / "b").symlink_to("a")
    assert "more than 40 links" in tmux_client.find_refusal(str(place / "a" / "s"))


def test_where_nothing_is_nothing_is_refused(place: Path) -> None:
    for path in (own(place) / "default", place / "no" / "where", place / "file" / "s"):
        (place / "file").touch()
        assert tmux_client.find_refusal(str(path)) == ""


def test_where_nothing_is_no_client_is_run(place: Path) -> None:
    """Another user could put a directory there between the check and the connection, and take it away before each."""
    ran = place / "ran"
    client = place / "client"
    client.write_text(f"#!/bin/sh\ntouch {ran}\n")
    client.chmod(0o755)
    for path in (own(place) / "default", place / "no" / "where", place / "s"):
        answer = tmux_client.run_client(str(path), ["list-panes"], time.monotonic() + PATIENCE, tmux=str(client))
        assert (answer.out, answer.errors, answer.late) == (b"", f"no server running on {path}", False)
        with pytest.raises(FileNotFoundError):
            tmux_client.start_control_client(str(path), ["list-panes"], (0, 1), str(client))
    assert not ran.exists()


def test_no_server_is_started_where_no_directory_is(place: Path) -> None:
    """Tmux's own is made before; any other that comes meanwhile may be another user's."""
    path = place / "no" / "where"
    assert f"there is no {place}/no" in tmux_client.find_refusal(str(path), starting=True)
    with pytest.raises(UnsafeServerError, match="make that directory"):
        tmux_client.run_client(str(path), ["new-session", "-d"], time.monotonic() + PATIENCE, starting=True)


def test_no_server_is_started_where_others_could_be_faster(place: Path) -> None:
    (place / "open").mkdir()
    (place / "open").chmod(0o1777)
    assert tmux_client.find_refusal(str(place / "open" / "s")) == ""
    assert f"others may write to {place}/open" in tmux_client.find_refusal(str(place / "open" / "s"), starting=True)


SANDBOX = """
import ctypes, os
from midwatch.tmux import client as servers
place, uid = servers.default_socket(), os.geteuid()
print(bool(servers.find_refusal(place)))
if ctypes.CDLL(None).unshare(0x10000000):
    raise SystemExit("no user namespace can be made")
print(os.geteuid(), bool(servers.find_refusal(place)))
with open("/proc/self/uid_map", "w") as file:
    file.write(f"{uid} {uid} 1")
print(os.stat("/").st_uid, servers.find_refusal(place))
"""


def test_in_a_sandbox_root_outside_of_it_is_no_stranger(victim: Victim) -> None:
    """There / and /tmp belong to nobody that is known; but who has no number there, owns nothing for sure."""
    path = bind(victim.directory / "default")
    for each in (path, victim.directory):
        os.chown(each, victim.uid, -1)
    done = victim.run(sys.executable, "-P", "-c", SANDBOX)
    if "no user namespace" in done.err and os.environ.get("CI") != "true":
        pytest.skip("no user namespace can be made here")
    assert done.out.splitlines() == ["False", "65534 True", f"{65534 if victim.uid else 0} "], done


def test_a_server_named_by_path_is_checked_too(victim: Victim, attacker: Attacker, place: Path) -> None:
    socket = attacker.listen(place / "tmp" / "open", "s")
    for command in (("ls", "--panes"), ("why", "%0"), ("send", "%0", "hello"), ("doctor",)):
        done = victim(*command, "-S", str(socket))
        assert attacker.loot == NOTHING
        assert f"{socket.parent} belongs to another user (uid {attacker.uid})" in done.out + done.err, done


def test_each_look_checks_again(place: Path) -> None:
    """A directory that was ours may be another's by the next look; then its panes are unknown, not gone."""
    directory = own(place)
    directory.mkdir(mode=0o700)
    server = ("-S", str(directory / "default"))
    start = ["tmux", "-f", os.devnull, *server, "new-session", "-d", "cat"]
    subprocess.run(start, env=os.environ | {"SHELL": "/bin/sh"}, check=True)
    sense = TmuxObserver(server)
    try:
        assert [pane.id for pane in sense.observe(lambda _: True).panes] == ["%0"]
        os.chown(directory, STRANGER, -1)
        look = sense.observe(lambda _: True)
        assert (look.panes, look.cause, look.forks) == ((), codec.REFUSED, 0)
        assert f"{directory} belongs to another user" in look.trouble
        os.chown(directory, os.getuid(), -1)
        assert sense.observe(lambda _: True).trouble == ""
    finally:
        subprocess.run(["tmux", *server, "kill-server"], check=True)


def test_a_client_in_control_mode_is_checked_too(place: Path) -> None:
    path = bind(own(place) / "default", 0o777)
    with pytest.raises(UnsafeServerError, match="others may use"):
        tmux_client.start_control_client(path, ["list-panes"], (0, 1))


def test_a_server_of_ours_is_asked_as_ever(victim: Victim) -> None:
    """Through the directory that tmux itself has made."""
    victim.run("tmux", "-f", os.devnull, "new-session", "-d", "-s", "own", "cat")
    try:
        done = victim("ls", "--panes")
        assert (done.code, "no agents in panes here" in done.err) == (0, True), done
        assert "%0" in victim("_complete", "--", "why", "%").out
    finally:
        victim.run("tmux", "kill-server")
