"""Whatever becomes of the client or the server, the next look says what is so, and nothing is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from midwatch.core.pane_model import Pane
from midwatch.system import procfs
from midwatch.tmux import control_client
from midwatch.tmux.codec import commands as codec
from midwatch.tmux.codec import query_modes
from midwatch.tmux.control_client import ClientGoneError
from midwatch.tmux.server import HUNG, TmuxObserver
from tests.conftest import kill, letter, until, until_gone
from tests.integration.control.through import Attach, client_of, clients, control_of, until_lost, until_ready
from tests.integration.panes.private import Private, everything
from tests.integration.panes.test_trouble import nothing, stub
from tests.integration.wait.watching import allowed

BEFORE: set[int] = set()
"""Children of this process that a test has nothing to do with: earlier tests may have left some for good."""


@pytest.fixture(autouse=True)
def _before() -> None:
    BEFORE.clear()
    BEFORE.update(procfs.children(os.getpid()))


def left() -> list[int]:
    """Children that a test has left."""
    return [pid for pid in procfs.children(os.getpid()) if pid not in BEFORE]


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new client may be started at once."""
    monkeypatch.setattr(control_client, "AGAIN", 0.0)


def test_a_client_that_was_killed_is_not_missed(private: Private, attach: Attach) -> None:
    pane = private.start()
    through = attach(pane)
    kill(client_of(through), signal.SIGKILL)
    until_lost(through)
    for _ in range(3):
        look = through.observe(everything)
        assert (look.forks, look.trouble, look.screens) == (1, "", {pane: private.screen(pane)})
    assert left() == []


@pytest.mark.usefixtures("soon")
def test_another_client_takes_its_place(private: Private, attach: Attach) -> None:
    through = attach(private.start())
    number = control_of(through).fileno()
    client = client_of(through)
    kill(client, signal.SIGKILL)
    until_lost(through)
    until_ready(through)
    assert client_of(through) != client
    assert control_of(through).fileno() == number
    assert len(clients(private)) == 1


@pytest.mark.usefixtures("soon")
def test_a_pane_with_another_process_is_attached_to_when_we_are_told_of_it(private: Private, attach: Attach) -> None:
    """As after a resume in the same pane. Until the client is lost, it may stay."""
    pane = private.start(name="ours")
    through = attach(pane)
    client = client_of(through)
    private("respawn-pane", "-k", "-t", pane, "cat")
    control = control_of(through)
    assert through.attach(through.observe(everything).panes[0]) is control
    assert client_of(through) == client
    kill(client, signal.SIGKILL)
    until_lost(through)
    until_ready(through)
    assert client_of(through) != client


def test_clients_that_cannot_attach_are_started_ever_less_often(
    private: Private, monkeypatch: pytest.MonkeyPatch
) -> None:
    private.start(name="other")
    pane = private.start()
    through = TmuxObserver(private.server, limit=20.0)
    through.attach(next(found for found in through.observe(everything).panes if found.id == pane))
    private("kill-pane", "-t", pane)
    now, started = time.monotonic(), []
    try:
        for second in range(200):
            monkeypatch.setattr(time, "monotonic", lambda second=second: now + second)
            if control_of(through).start("3.3a"):
                started.append(second)
                until_lost(through)
    finally:
        through.close()
    assert started == [0, 10, 30, 70, 150]


def test_no_client_is_started_for_a_server_that_is_too_old(private: Private) -> None:
    private.start()
    through = TmuxObserver(private.server, limit=20.0)
    found = through.attach(through.observe(everything).panes[0])
    try:
        assert [found.start(version) for version in ("3.0a", "3.2a", "3.3a")] == [0, 0, 1]
    finally:
        through.close()
    assert left() == []


def test_a_server_that_ends_is_gone_at_once(private: Private, attach: Attach) -> None:
    through = attach(private.start())
    client = client_of(through)
    private.stop()
    look = through.observe(everything)
    assert nothing(look)
    assert look.cause == codec.ABSENT
    until_gone(client)
    assert left() == []


def test_a_server_that_is_killed_is_gone_at_once(private: Private, attach: Attach) -> None:
    through = attach(private.start())
    server = private.pid
    kill(server, signal.SIGKILL)
    until_gone(server)
    look = through.observe(everything)
    assert nothing(look)
    assert look.cause == codec.ABSENT
    until_lost(through)
    assert left() == []


@pytest.mark.usefixtures("soon")
def test_another_server_at_the_same_place_is_not_attached_to(private: Private, attach: Attach) -> None:
    pane = private.start(name="ours")
    through = attach(pane)
    private.stop()
    assert through.observe(everything).trouble
    assert private.start("printf new; exec cat", name="ours") == pane
    private.until_shows(pane, "new")
    look = through.observe(everything)
    assert (look.trouble, look.screens) == ("", {pane: private.screen(pane)})
    until_lost(through)
    assert clients(private) == []


@pytest.mark.usefixtures("soon")
def test_a_server_that_hangs(private: Private, attach: Attach) -> None:
    pane = private.start()
    through = attach(pane)
    through.limit = 0.3
    client, pid = client_of(through), private.pid
    kill(pid, signal.SIGSTOP)
    try:
        until(lambda: letter(pid) == "T")
        began = time.monotonic()
        look = through.observe(everything)
        assert 0.3 <= time.monotonic() - began < allowed(5)
        assert nothing(look)
        assert look.cause == HUNG
        assert f"kill -CONT {pid}" in look.trouble
        again = through.observe(everything)
        assert (again.cause, again.forks) == (HUNG, 0)
        if control_of(through).way.limit:  # then it was asked, and did not answer
            until_gone(client)
            assert left() == []
    finally:
        kill(pid, signal.SIGCONT)
    through.limit = 20.0
    until_ready(through)
    assert through.observe(everything).screens == {pane: private.screen(pane)}
    assert len(clients(private)) == 1


def test_a_session_that_ends_takes_only_its_client_with_it(private: Private, attach: Attach) -> None:
    other, pane = private.start(name="other"), private.start(name="ours")
    through = attach(pane)
    client = client_of(through)
    private("kill-session", "-t", "=ours")
    look = through.observe(everything)
    assert (look.trouble, look.screens) == ("", {other: private.screen(other)})
    until_gone(client)


def test_a_server_that_goes_between_list_and_capture(private: Private, attach: Attach) -> None:
    first, second = private.start(), private.start()
    through = attach(first)
    fresh = TmuxObserver(private.server, limit=20.0, control=through.control)

    def wanted(pane: Pane) -> bool:
        if pane.id == second:
            private.stop()
        return True

    look = fresh.observe(wanted)
    assert look.screens == {}
    assert look.cause == codec.ABSENT


HERE = "echo '%session-changed $0 x'"
CLIENTS = {
    "ends at once": "exit 1",
    "cannot be understood": "echo hello; echo %begin; exit 0",
    "goes when it is asked": f"{HERE}; read line; exit 0",
    "answers something else": f"{HERE}; sed -un 's/^display-message -p //p'",
    "tells of no server": f"{HERE}; sed -un 's/^display-message -p \\(.*\\)Z/\\1E\\n\\1Z/p'",
    "says what is not so": f"{HERE}; sed -un 's/^display-message -p \\(.*\\)Z/\\1S3.3a,1,2\\n\\1Z/p'",
}


@pytest.mark.parametrize("script", CLIENTS.values(), ids=CLIENTS)
def test_a_client_that_is_of_no_use_costs_nothing_but_a_client(private: Private, tmp_path: Path, script: str) -> None:
    pane = private.start()
    program = stub(tmp_path, f'case "$*" in *"-C has"*) {script};; *) exec {private.program} "$@";; esac')
    through = TmuxObserver(private.server, program, limit=20.0)
    try:
        through.attach(through.observe(everything).panes[0])
        assert through.observe(everything).forks == 2
        until(lambda: control_of(through).ready() or control_of(through)._client is None)
        for _ in range(2):
            look = through.observe(everything)
            assert (look.forks, look.trouble, look.screens) == (1, "", {pane: private.screen(pane)})
    finally:
        through.close()
    assert left() == []


def test_a_client_that_never_attaches_is_given_up(
    private: Private, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    private.start()
    program = stub(tmp_path, f'case "$*" in *"-C has"*) exec sleep 600;; *) exec {private.program} "$@";; esac')
    through = TmuxObserver(private.server, program, limit=20.0)
    try:
        through.attach(through.observe(everything).panes[0])
        through.observe(everything)
        client = client_of(through)
        assert not control_of(through).ready()
        monkeypatch.setattr(control_client, "SLOW", 0.0)
        assert not control_of(through).ready()
        until_gone(client)
        assert through.observe(everything).forks == 1
    finally:
        through.close()


def test_a_client_that_talks_without_end_and_answers_nothing(private: Private, tmp_path: Path) -> None:
    pane = private.start()
    flood = f"{HERE}; read line; exec yes '%window-add @1'"
    program = stub(tmp_path, f'case "$*" in *"-C has"*) {flood};; *) exec {private.program} "$@";; esac')
    through = TmuxObserver(private.server, program, limit=20.0)
    try:
        through.attach(through.observe(everything).panes[0])
        through.observe(everything)
        until(lambda: control_of(through).ready())
        control_of(through).way = query_modes.PRINTED
        through.limit = 0.3
        assert through.observe(everything).cause == HUNG
        through.limit = 20.0
        look = through.observe(everything)
        assert (look.forks, look.trouble, look.screens) == (1, "", {pane: private.screen(pane)})
    finally:
        through.close()
    assert left() == []


def test_where_there_is_no_client_none_is_asked(private: Private) -> None:
    private.start()
    through = TmuxObserver(private.server, limit=20.0)
    found = through.attach(through.observe(everything).panes[0])
    with pytest.raises(ClientGoneError):
        found.ask(["display-message"], "word", time.monotonic())
    through.close()


def test_nothing_is_left_in_our_own_process(private: Private, attach: Attach) -> None:
    pane = private.start()
    attach(pane).close()
    before = len(os.listdir("/proc/self/fd"))
    for killed in (False, True):
        until(lambda: clients(private) == [])
        through = attach(pane)
        if killed:
            kill(client_of(through), signal.SIGKILL)
        through.observe(everything)
        through.close()
        assert len(os.listdir("/proc/self/fd")) == before
        assert left() == []
    until(lambda: clients(private) == [])


SCRIPT = """
import sys, time
from midwatch.tmux.server import TmuxObserver
sense = TmuxObserver(("-S", sys.argv[1]), limit=20.0)
everything = lambda pane: True
sense.attach(sense.observe(everything).panes[0])
while not sense.control.ready():
    sense.observe(everything)
    time.sleep(0.01)
print(sense.control._client._pid, flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_watcher_that_ends_leaves_no_client(private: Private, sign: signal.Signals) -> None:
    private.start()
    program = [sys.executable, "-c", SCRIPT, str(private.socket)]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as watcher:
        assert watcher.stdout is not None
        client = int(watcher.stdout.readline())
        assert len(clients(private)) == 1
        watcher.send_signal(sign)
    until_gone(client)
    until(lambda: clients(private) == [])


def test_ctrl_c_reaches_the_client_too_and_neither_is_left(private: Private) -> None:
    """Everybody in the foreground of a terminal is told."""
    private.start()
    program = [sys.executable, "-c", SCRIPT, str(private.socket)]
    watcher = subprocess.Popen(
        program, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True
    )
    with watcher:
        assert watcher.stdout is not None
        client = int(watcher.stdout.readline())
        os.killpg(watcher.pid, signal.SIGINT)
    until_gone(client)
    until(lambda: clients(private) == [])


def test_a_look_that_is_interrupted_leaves_no_half_request(
    private: Private, attach: Attach, monkeypatch: pytest.MonkeyPatch
) -> None:
    through = attach(private.start())
    control_of(through).way = query_modes.PRINTED
    write: Callable[..., int] = os.write

    def interrupted(fd: int, data: bytes) -> int:
        write(fd, data[:20])
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        through.observe(everything)
    monkeypatch.undo()
    assert control_of(through)._client is None
    look = through.observe(everything)
    assert (look.forks, look.trouble) == (1, "")
    assert left() == []
