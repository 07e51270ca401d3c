"""A client in control mode attaches where it may, leaves everything as it was, and goes when a person comes."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
from collections.abc import Callable, Iterator

import pytest

from midwatch.core.pane_model import Pane
from midwatch.tmux.server import TmuxObserver
from tests.conftest import kill, until, until_gone
from tests.integration.control.through import (
    Attach,
    attached,
    client_of,
    clients,
    control_of,
    free,
    until_lost,
    until_ready,
)
from tests.integration.panes.private import Private, everything

Visit = Callable[[str], subprocess.Popen[bytes]]
Reason = Callable[[Private, str], object]
DUMPS = (
    ["show-options", "-s"],
    ["show-options", "-g"],
    ["show-options", "-gw"],
    ["show-options", "-t", "=ours:"],
    ["show-options", "-w", "-t", "=ours:"],
    ["show-options", "-A", "-p", "-t", "=ours:"],
    ["show-hooks", "-g"],
    ["show-hooks", "-t", "=ours:"],
    ["show-environment", "-g"],
    ["show-environment", "-t", "=ours"],
    ["show-environment", "-t", "=theirs"],
    ["list-buffers"],
    ["list-keys"],
    ["list-panes", "-a", "-F", "#{pane_id} #{pane_width}x#{pane_height} #{pane_pid} #{pane_active} #{pane_in_mode}"],
    ["list-windows", "-a", "-F", "#{window_id} #{window_name} #{window_layout} #{window_activity} #{window_flags}"],
    ["list-sessions", "-F", "#{session_id} #{session_name} #{session_windows} #{session_group} #{session_path}"],
    ["display-message", "-p", "-t", "=theirs:", "#{session_attached} #{session_last_attached} #{session_activity}"],
)  # fmt: skip


def dump(private: Private) -> list[str]:
    return [private(*command) for command in DUMPS]


@pytest.fixture
def ours(private: Private) -> str:
    """A session that stands for one that Midwatch started, beside one of others."""
    private.start(name="theirs", size=(50, 7))
    pane = private.start(name="ours", size=(70, 9))
    private("split-window", "-d", "-t", pane, "cat")
    private("new-window", "-d", "-t", "=ours:", "cat")
    private("set-hook", "-g", "after-list-panes", "set-environment -g HOOKED yes")
    private("list-panes")
    return pane


def person(private: Private, session: str, size: tuple[int, int] = (90, 20)) -> tuple[subprocess.Popen[bytes], int]:
    """Somebody who attaches from a terminal; the process, and the terminal's other end."""
    outer, inner = pty.openpty()
    os.environ.setdefault("TERM", "xterm")
    width, height = size
    subprocess.run(["stty", "cols", str(width), "rows", str(height)], stdin=inner, check=True)
    command = [private.program, "-u", *private.server, "attach-session", "-t", f"={session}"]
    come = subprocess.Popen(command, stdin=inner, stdout=inner, stderr=inner, start_new_session=True)
    os.close(inner)
    return come, outer


@pytest.fixture
def visit(private: Private) -> Iterator[Visit]:
    come: list[tuple[subprocess.Popen[bytes], int]] = []

    def one(session: str) -> subprocess.Popen[bytes]:
        come.append(person(private, session))
        until(lambda: any(line.startswith("/dev/") for line in private("list-clients").splitlines()))
        return come[-1][0]

    yield one
    for process, terminal in come:
        process.kill()
        process.wait()
        os.close(terminal)


def pane_of(private: Private, name: str) -> Pane:
    return next(pane for pane in TmuxObserver(private.server, limit=20.0).observe(everything).panes if pane.id == name)


def test_nothing_is_changed_by_coming_looking_and_going(
    private: Private, ours: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = dump(private)
    monkeypatch.setenv("SSH_AUTH_SOCK", "/ours")
    monkeypatch.setenv("DISPLAY", ":ours")
    through = attached(private, ours)
    for colours in (False, True):
        assert through.observe(everything, colours=colours).trouble == ""
    assert dump(private) == before
    flags = private("list-clients", "-F", "#{client_session} #{client_flags}")
    assert flags.split(" ")[0] == "ours"
    assert {"control-mode", "ignore-size", "no-output"} <= set(flags.strip().split(" ")[1].split(","))
    through.close()
    until(lambda: clients(private) == [])
    assert dump(private) == before
    assert private("display-message", "-p", "-t", "=ours:", "#{session_attached}") == "0\n"


def test_an_agent_is_told_of_the_focus_once_and_of_nothing_else(private: Private) -> None:
    """Agents ask for it. One that hears that it has lost it may begin to sum up for the one who is away."""
    pane = private.start("stty raw -echo; printf '\\033[?1004hready '; exec cat -v")
    private.until_shows(pane, "ready")
    for _ in range(3):
        attached(private, pane).close()
        until(lambda: clients(private) == [])
    private("send-keys", "-t", pane, "-l", ".")
    private.until_shows(pane, ".")
    assert private.screen(pane)[0] in ("ready ^[[I.", "ready .")


def test_it_goes_when_a_person_comes_and_stays_away(
    private: Private, ours: str, attach: Attach, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("midwatch.tmux.control_client.AGAIN", 0.0)
    through = attach(ours)
    client = client_of(through)
    someone = visit("ours")
    until_lost(through)
    until_gone(client)
    assert clients(private) == ["ours"]
    assert private("display-message", "-p", "-t", "=ours:", "#{window_width}") == "90\n"
    assert through.observe(everything).forks > 0
    someone.kill()
    until(lambda: clients(private) == [])
    for _ in range(3):
        look = through.observe(everything)
        assert (look.forks > 0, look.trouble) == (True, "")
        through.attach(next(pane for pane in look.panes if pane.id == ours))
    assert control_of(through)._client is None
    through.attach(pane_of(private, private.start(name="another")))
    until_ready(through)
    assert clients(private) == ["another"]


def test_a_person_elsewhere_does_not_drive_it_away(private: Private, ours: str, attach: Attach, visit: Visit) -> None:
    through = attach(ours)
    visit("theirs")
    assert sorted(clients(private)) == ["ours", "theirs"]
    assert free(through, through.observe(everything))
    assert control_of(through).ready()


def other_name(private: Private, _: str) -> None:
    private("rename-session", "-t", "=ours", "renamed")
    private.start(name="ours")


def moved(private: Private, ours: str) -> None:
    private("move-pane", "-d", "-s", ours, "-t", "=theirs:")


def respawned(private: Private, ours: str) -> None:
    private("respawn-pane", "-k", "-t", ours, "cat")


REASONS: dict[str, Reason] = {
    "another session has the name": other_name,
    "the pane is in another session": moved,
    "another process is in the pane": respawned,
    "the pane is gone": lambda private, ours: private("kill-pane", "-t", ours),
    "it would be put into another session": lambda private, _: private("set-option", "-g", "detach-on-destroy", "off"),
    "its being there would keep the server": lambda private, _: (
        private("set-option", "-s", "exit-empty", "off"), private("set-option", "-s", "exit-unattached", "on")
    ),
    "a hook of the owner would take it for a person": lambda private, _: (
        private("set-hook", "-g", "client-attached", "set-option -g @come 1")
    ),
    "a hook of the session would": lambda private, ours: (
        private("set-hook", "-t", ours, "client-detached", "set-option -g @gone 1")
    ),
    "a hook would hear of the focus": lambda private, _: (
        private("set-hook", "-gw", "pane-focus-in", "set-option -g @focus 1")
    ),
}  # fmt: skip


@pytest.mark.parametrize("reason", REASONS.values(), ids=REASONS)
def test_it_does_not_attach(private: Private, ours: str, reason: Reason, visit: Visit) -> None:
    through = TmuxObserver(private.server, limit=20.0)
    pane = next(pane for pane in through.observe(everything).panes if pane.id == ours)
    visit("theirs")  # lest tmux end what nobody is attached to
    reason(private, ours)
    through.attach(pane)
    try:
        through.observe(everything)
        until_lost(through)
        assert clients(private) == ["theirs"]
        look = through.observe(everything)
        assert (look.forks > 0, look.trouble) == (True, "")
    finally:
        through.close()


def test_it_does_not_attach_where_a_person_is(private: Private, ours: str, visit: Visit) -> None:
    visit("ours")
    through = TmuxObserver(private.server, limit=20.0)
    through.attach(next(pane for pane in through.observe(everything).panes if pane.id == ours))
    try:
        through.observe(everything)
        until_lost(through)
        assert clients(private) == ["ours"]
    finally:
        through.close()


def test_it_does_not_stay_in_a_session_that_it_was_put_into(private: Private, ours: str, attach: Attach) -> None:
    through = attach(ours)
    client = client_of(through)
    private("set-option", "-g", "detach-on-destroy", "off")
    private("kill-session", "-t", "=ours")
    until_lost(through)
    until_gone(client)
    until(lambda: clients(private) == [])
    assert through.observe(everything).trouble == ""
    assert clients(private) == []


@pytest.mark.parametrize(
    "name", ["two words", "it's", '"', "; kill-server", "#x", "{a}", "a$ b", "日本 ✳", "=x", "-t", "a,b", "~"]
)
def test_a_session_of_any_name_can_be_ours(private: Private, attach: Attach, name: str) -> None:
    private.start(name="other")
    pane = private.start(name=name)
    attach(pane)
    assert private("list-clients", "-F", "#{session_id}") == private(
        "display-message", "-p", "-t", pane, "#{session_id}"
    )


def test_we_may_run_in_a_pane_ourselves(
    private: Private, ours: str, attach: Attach, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client that knows its pane may refuse to attach, if there is one that has no terminal."""
    private("split-window", "-d", "-t", "=theirs:", "")
    monkeypatch.setenv("TMUX", f"{private.socket},{private.pid},0")
    monkeypatch.setenv("TMUX_PANE", ours)
    assert control_of(attach(ours)).ready()


def test_it_may_be_stopped(ours: str, attach: Attach) -> None:
    """It is not in the way of what the server tells."""
    through = attach(ours)
    kill(client_of(through), signal.SIGSTOP)
    assert free(through, through.observe(everything))
    assert control_of(through).ready()
