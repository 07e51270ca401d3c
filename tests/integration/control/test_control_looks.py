"""A look through a client in control mode finds what a look by a client of its own finds, and takes none."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from midwatch.agents import catalog
from midwatch.core.pane_model import Pane
from midwatch.sessions.pane_observer import PaneObserver
from midwatch.system import procfs
from midwatch.tmux.codec import query_modes
from midwatch.tmux.codec.control_mode import ControlReply
from midwatch.tmux.server import TmuxObserver
from tests.conftest import PATIENCE, kill, until
from tests.integration.control.through import Attach, control_of, free, until_ready
from tests.integration.panes.agent import show
from tests.integration.panes.private import Private, everything
from tests.integration.panes.test_many import crowd, stir
from tests.integration.panes.test_screens import SCREENS, shows

NAMES = ["a|b", "@@@", "#[x] %s", "'\"\\n", "日本 ✳", "two words", "; kill-server", "$HOME", "{x}", "=x", "-t"]


def zoo(private: Private, tmp_path: Path) -> list[str]:
    """Panes of every odd kind."""
    panes = [shows(private, tmp_path, text) for text in SCREENS.values()]
    panes += [shows(private, tmp_path, f"\x1b]2;{name}\x1b\\%end 17 {at} 1\r\n") for at, name in enumerate(NAMES)]
    panes += [private.start(name=name) for name in NAMES]
    dead = private.start("exec cat")
    private("set-option", "-p", "-t", dead, "remain-on-exit", "on")
    kill(int(private("display-message", "-p", "-t", dead, "#{pane_pid}")), signal.SIGKILL)

    def noticed() -> bool:
        private("run-shell", "-b", "true")  # tmux 3.3a loses the end of a child now and then; another's tells it
        return any("Pane is dead" in row for row in private.screen(dead))

    until(noticed)
    private("split-window", "-d", "-t", panes[0], "cat")
    private("new-session", "-d", "-t", panes[1], "-s", "grouped")
    return [*panes, dead]


@pytest.mark.parametrize("colours", [False, True])
def test_every_odd_pane_is_seen_alike(private: Private, attach: Attach, tmp_path: Path, *, colours: bool) -> None:
    panes = zoo(private, tmp_path)
    through = attach(panes[-2])
    forked = TmuxObserver(private.server, limit=20.0)
    until(
        lambda: through.observe(everything, colours=colours).panes == forked.observe(everything, colours=colours).panes
    )
    assert through.observe(everything, colours=colours).screens == forked.observe(everything, colours=colours).screens
    fresh = TmuxObserver(private.server, limit=20.0, control=through.control)
    for known in ([], panes, ["%99", *panes]):
        look = fresh.observe(everything, colours=colours, known=known)
        assert free(fresh, look)
        assert look.screens == {pane.id: private.screen(pane.id, *(["-e"] if colours else [])) for pane in look.panes}


def test_quiet_screens_are_kept(private: Private, attach: Attach) -> None:
    panes = [private.start() for _ in range(3)]
    through = attach(panes[0])
    kept = private.quiet(through)
    private.echo(panes[1], "hello")
    look = through.observe(everything)
    assert [look.screens[pane] is kept[pane] for pane in panes] == [True, False, True]
    assert free(through, look)


def test_what_prints_again_and_again_is_asked_for_at_once(
    private: Private, attach: Attach, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what begins to, as soon as the list has told of it."""
    panes = [private.start() for _ in range(2)]
    through = attach(panes[0])
    private.quiet(through)
    asked: list[list[str]] = []
    ask = control_of(through).ask

    def noted(command: list[str], word: str, deadline: float) -> ControlReply:
        asked.append(command)
        return ask(command, word, deadline)

    monkeypatch.setattr(through.control, "ask", noted)
    control_of(through).way = query_modes.PRINTED  # in any version
    for number, requests in enumerate((2, 1, 1)):
        private.echo(panes[1], f"line {number}.")
        assert f"line {number}." in through.observe(everything).screens[panes[1]]
        assert len(asked) == requests
        asked.clear()


def test_two_hundred_sessions_take_no_client(private: Private, attach: Attach) -> None:
    panes = crowd(private, 200)
    through = attach(panes[0])
    for times in (1, 2):
        for known in ([], panes):
            look = TmuxObserver(private.server, limit=20.0, control=through.control).observe(everything, known=known)
            assert free(through, look)
            assert {pane for pane, rows in look.screens.items() if rows.count(f"i am {pane} .") >= times} == set(panes)
        stir(private, panes)


@pytest.mark.parametrize("at_once", [True, False])
def test_a_server_keeps_nothing_of_what_it_was_asked(
    private: Private, attach: Attach, tmp_path: Path, *, at_once: bool
) -> None:
    """It never frees what it runs by `if`, nor, up to 3.5, what it prints of screens in control mode: 20 MB here."""
    pane = shows(private, tmp_path, "\r\n".join([*["x" * 99] * 99, ""]), size=(100, 100))
    through, server = attach(pane), private.pid
    if not control_of(through).way.limit:
        control_of(through).way = query_modes.BUFFERED  # others would be told of it, but kept is nothing

    def resident() -> int:
        return int(procfs.read_text(f"/proc/{server}/statm").split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def look() -> None:
        fresh = TmuxObserver(private.server, limit=20.0, control=through.control)
        assert len(fresh.observe(everything, known=[pane] if at_once else []).screens[pane]) == 100

    for _ in range(500):  # its log of messages has an end
        look()
    before = resident()
    for _ in range(2000):
        look()
    assert resident() - before < 500_000


def test_no_buffer_is_left_and_none_of_others_is_touched(private: Private, attach: Attach) -> None:
    panes = [private.start() for _ in range(3)]
    private("set-buffer", "-b", "mine", "text")
    through = attach(panes[0])
    before = private("list-buffers")
    for known in (panes, ["%99", *panes], [panes[0], "%99", *panes]):
        fresh = TmuxObserver(private.server, limit=20.0, control=through.control)
        assert set(fresh.observe(everything, known=known).screens) == set(panes)
        assert private("list-buffers") == before
    assert private("show-buffer", "-b", "mine") == "text"


@pytest.mark.parametrize(
    "text",
    ["it's", '"', "\\", "a;", "a ; b", "#{pane_id}", "# x", "{x}", "}", "$HOME", "~", "%if", "%1", "A=b", "日本", "\t",
     "-t", "!", "=", "\\n", "one\ntwo\n", "'\n'", "  ", "\x1b[1m", "'''", "\\'", "x" * 200_000],
)  # fmt: skip
def test_any_text_comes_to_tmux_as_one_argument(private: Private, attach: Attach, text: str) -> None:
    through = control_of(attach(private.start()))
    through.way = query_modes.PRINTED
    through.ask(["set-buffer", "-b", "kept", "--", text], "qwertyuiop", time.monotonic() + PATIENCE)
    assert private("show-buffer", "-b", "kept") == text


def test_agents_are_judged_alike_and_without_a_fork(private: Private, tmp_path: Path) -> None:
    pane = show(private, tmp_path, "claude", "permission-bash")
    panes = PaneObserver(catalog.load_all(), str(tmp_path / "spool"), private.server)
    try:
        (first,) = panes.observe().seen
        panes.attach(first.sighting.pane)
        until_ready(panes.tmux)
        looked = panes.observe(pane)
        assert looked.forks == 0 or not control_of(panes.tmux).way.limit
        assert [(seen.sighting.pane.id, seen.verdict.state) for seen in looked.seen] == [(pane, "waiting")]
        assert looked.seen[0].sighting.rows == first.sighting.rows
    finally:
        panes.close()


@pytest.mark.parametrize("way", [query_modes.LISTED, query_modes.PRINTED, query_modes.BUFFERED])
def test_each_way_sees_the_same(private: Private, attach: Attach, tmp_path: Path, way: query_modes.QueryMode) -> None:
    """Whichever way a version needs, this version can be asked in it."""
    pane = shows(private, tmp_path, "\x1b[1mbold\x1b[0m back\\slash $HOME é")
    through = attach(pane)
    control_of(through).way = way
    look = TmuxObserver(private.server, limit=20.0, control=through.control).observe(everything, colours=True)
    assert look.forks == (0 if way.limit else 1)
    if (
        way != query_modes.BUFFERED
        or query_modes.control_mode_for(private("display-message", "-p", "#{version}").strip()) == way
    ):
        assert look.screens == {pane: private.screen(pane, "-e")}


@pytest.mark.parametrize("way", [query_modes.PRINTED, query_modes.BUFFERED])
def test_a_pane_that_goes_between_list_and_capture_passes_for_no_other(
    private: Private, attach: Attach, way: query_modes.QueryMode
) -> None:
    panes = [private.start(f"printf 'pane number {number}'; exec cat", size=(60, 2)) for number in range(4)]
    for number, pane in enumerate(panes):
        private.until_shows(pane, f"pane number {number}")
    through = attach(panes[0])
    control_of(through).way = way

    def wanted(pane: Pane) -> bool:
        if pane.id == panes[2]:
            private("kill-pane", "-t", pane.id)
        return True

    look = TmuxObserver(private.server, limit=20.0, control=through.control).observe(wanted)
    assert free(through, look)
    assert look.screens == {panes[number]: (f"pane number {number}", "") for number in (0, 1, 3)}
    assert private("list-buffers") == ""
