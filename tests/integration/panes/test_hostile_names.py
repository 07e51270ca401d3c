"""Titles, paths and names come as they are, and a session is found by its name and no other."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from midwatch.tmux.codec import commands as codec
from midwatch.tmux.server import TmuxObserver
from tests.conftest import until
from tests.integration.panes.private import Private, everything

TITLES = [
    "a|b|c",
    "@@@ ### %% %s %3",
    "#{pane_id} #(id) #[fg=red]",
    "'\"\\n \\ $HOME `id` $(id)",
    "✳ Läuft… 日本 🎉",
    "a,b;c ; kill-server",
]


@pytest.mark.parametrize("title", TITLES)
@pytest.mark.parametrize("locale", ["C.UTF-8", "C"])
def test_titles_come_as_they_are(
    private: Private, sense: TmuxObserver, title: str, locale: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "title").write_text(f"\x1b]2;{title}\x1b\\")
    pane = private.start("cat title; exec cat", cwd=str(tmp_path))
    for name in ("LC_ALL", "LC_CTYPE", "LANG"):
        monkeypatch.setenv(name, locale)
    until(lambda: title.rsplit(maxsplit=1)[-1] in private("display-message", "-p", "-t", pane, "#{pane_title}"))
    said = private("display-message", "-p", "-t", pane, "#{pane_title}")
    assert [found.title for found in sense.observe(everything).panes] == [said[:-1]]


@pytest.mark.parametrize(
    "name", ["x", "two words", "a\nb\n", "a\tb|c", "@@@", "#{pane_id}", "ünï 日本", "'\"\\", "\udcff\udc80", "end\n."]
)
def test_paths_come_as_they_are(private: Private, sense: TmuxObserver, name: str, tmp_path: Path) -> None:
    """Entered by the program in the pane, for tmux itself takes a directory only as a format."""
    path = f"{tmp_path}/deep/{name}"
    os.makedirs(os.fsencode(path))
    other = private.start(cwd=str(tmp_path))
    pane = private.start("cd deep/* && exec cat", cwd=str(tmp_path))
    paths = {pane: path, other: str(tmp_path)}
    until(lambda: {found.id: found.path for found in sense.observe(everything).panes} == paths)


@pytest.mark.parametrize("name", ["a|b", "@@@", "#[x] %s", "'\"\\n", "日本 ✳"])
def test_names_of_sessions_come_as_tmux_writes_them(private: Private, sense: TmuxObserver, name: str) -> None:
    private.start()
    pane = private.start(name=name)
    written = private("display-message", "-p", "-t", pane, "#{session_name}")[:-1]
    look = sense.observe(everything)
    assert {found.id: found.session for found in look.panes}[pane] == written
    assert look.screens[pane] == private.screen(pane)


def test_a_session_is_found_by_its_whole_name(private: Private, sense: TmuxObserver) -> None:
    short, long = private.start(name="work"), private.start(name="worker")
    panes = sense.observe(everything).panes

    def of(name: str) -> list[str]:
        return [pane.id for pane in panes if codec.is_in_session(pane, name)]

    assert (of("work"), of("worker"), of("wor"), of("work*"), of("=work"), of("")) == ([short], [long], [], [], [], [])


def test_sessions_that_share_a_window_are_all_named(private: Private, sense: TmuxObserver) -> None:
    pane = private.start(name="first")
    private("new-session", "-d", "-t", "=first", "-s", "second")
    look = sense.observe(everything)
    assert [(found.id, found.session, found.also) for found in look.panes] == [(pane, "first", ("second",))]
