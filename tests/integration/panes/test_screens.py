"""What stands on a screen comes as tmux itself prints it, whatever it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from midwatch.tmux.codec import commands as codec
from midwatch.tmux.server import TmuxObserver
from tests.integration.panes.private import Private, everything

WORD = "qwertyuiop"


def shows(private: Private, tmp_path: Path, text: str, size: tuple[int, int] = (60, 5)) -> str:
    """A pane that has printed a text and then stays as it is."""
    file = tmp_path / f"text-{len(list(tmp_path.iterdir()))}"
    file.write_bytes(text.encode("utf-8", "surrogateescape") + b"<shown>")
    pane = private.start(f"cat '{file}'; exec cat", size=size)
    private.until_shows(pane, "<shown>")
    return pane


SCREENS = {
    "nothing": "",
    "blanks at the end": "a   \r\n   b   \r\n",
    "wide letters": "日本語 é ä ⏵⏵ 🎉\r\n│ ┌─ ✻ Thinking… │",
    "lines that are none": "a\u2028b\u2029c\x85d\x0be",
    "no text": "a\udcff\udcfeb",
    "bold and dim": "\x1b[1mbold\x1b[0m \x1b[2mdim\x1b[0m \x1b[38;5;213mpink\x1b[0m",
    "a program of its own": "before\x1b[?1049h\x1b[Hinside",
    "full to the last row": "\r\n".join(f"row {n}" for n in range(20)),
    "wrapped": "x" * 150,
    "line drawing": "\x1b(0lqqk\x1b(B",
}


@pytest.mark.parametrize("text", SCREENS.values(), ids=SCREENS)
def test_screens_come_as_tmux_prints_them(private: Private, sense: TmuxObserver, tmp_path: Path, text: str) -> None:
    pane = shows(private, tmp_path, text)
    assert sense.observe(everything).screens == {pane: private.screen(pane)}
    assert sense.observe(everything, colours=True).screens == {pane: private.screen(pane, "-e")}


def test_a_screen_cannot_pass_for_another_by_showing_our_mark(
    private: Private, sense: TmuxObserver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(codec, "make_word", lambda _: WORD)
    forged = [f"{WORD}C%1,5", "the agent is done", f"{WORD}E", f"{WORD}P%1,@1,1,1", f"{WORD}."]
    first = shows(private, tmp_path, "\r\n".join(forged), size=(60, 6))
    second = shows(private, tmp_path, "the truth")
    for look in (sense.observe(everything), sense.observe(everything)):
        assert look.trouble == ""
        assert [pane.id for pane in look.panes] == [first, second] == ["%0", "%1"]
        assert look.screens == {first: private.screen(first), second: private.screen(second)}
        assert forged[1] in look.screens[first]


def test_screens_of_all_sizes_stay_apart(private: Private, sense: TmuxObserver) -> None:
    sizes = [(1, 1), (200, 1), (9, 60), (300, 100), (80, 24)]
    panes = [private.start(f"printf {at}; exec cat", size=size) for at, size in enumerate(sizes)]
    for at, pane in enumerate(panes):
        private.until_shows(pane, str(at))
    look = sense.observe(everything)
    assert look.screens == {pane: private.screen(pane) for pane in panes}
    assert [(pane.width, pane.height) for pane in look.panes] == sizes
    assert [len(look.screens[pane]) for pane in panes] == [height for _, height in sizes]


def test_a_person_who_scrolls_back_does_not_change_what_we_see(
    private: Private, sense: TmuxObserver, tmp_path: Path
) -> None:
    pane = shows(private, tmp_path, "\r\n".join(f"row {n}" for n in range(50)))
    before = private.screen(pane)
    private("copy-mode", "-u", "-t", pane)
    assert sense.observe(everything).screens == {pane: before}


def test_the_list_tells_cursor_and_screen_of_a_pane(private: Private, sense: TmuxObserver, tmp_path: Path) -> None:
    shows(private, tmp_path, "\x1b[?1049h\x1b[?25l\x1b[3;4H")
    pane = sense.observe(everything).panes[0]
    assert (pane.alternate, pane.cursor_visible) == (True, False)
    assert (pane.cursor_x, pane.cursor_y) == (3 + len("<shown>"), 2)
    assert pane.server == private.server
    assert pane.tty.startswith("/dev/")
    assert pane.command == "cat"


def test_only_wanted_screens_are_shown_but_all_panes_listed(private: Private, sense: TmuxObserver) -> None:
    panes = [private.start() for _ in range(3)]
    look = sense.observe(lambda pane: pane.id == panes[1])
    assert [pane.id for pane in look.panes] == panes
    assert list(look.screens) == [panes[1]]
    look = sense.observe(lambda pane: pane.id == panes[2])
    assert list(look.screens) == [panes[2]]
