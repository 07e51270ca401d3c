"""The ways to ask a tmux server, and how its screens come back in each.

A client process for each request works everywhere. A client in control mode stays and costs no fork, but servers have
holes, through which a busy agent would cost them hundreds of MB a day (all tried):

- What `if` runs is never freed (up to 3.7): in control mode nothing is asked with it. What must not stop the rest when
  its pane is gone stands on a line of its own.
- What `capture-pane -p` prints for a client in control mode is not freed up to 3.5. In 3.3a screens go through a
  paste buffer instead, which is made, shown and deleted in one go, so that nobody sees it. Servers after that tell
  other clients in control mode of each buffer, so from those only the list comes this way.
- 3.2 tells an agent that it has lost the focus when a client goes, and when it is to delete a buffer that there is not,
  it deletes the last one that a person has copied: nothing attaches there.
"""

from __future__ import annotations

import re

from midwatch.core import check_targets
from midwatch.core.value import Value

CONTROL_SINCE, BUFFERS, TELLS_OF_BUFFERS, FREES = (3, 3, ""), (3, 3, "a"), (3, 4, ""), (3, 6, "")
"""Versions from which: a client attaches; a buffer can be used; others hear of buffers; all memory is freed."""
BEGIN, END = b"%begin ", b"%end "
TOGETHER = 100
"""Screens behind one heading, of which tmux prints no more than 8 kB."""
ESCAPE = re.compile(rb"\\([0-3][0-7]{2}|.)", re.DOTALL)
LETTERS = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"v": b"\v", b"f": b"\f", b"r": b"\r", b"n": b"\n", b"s": b" "}


class QueryMode(Value):
    limit: int
    """Bytes that a request may have; 0: no screen is asked for in this way."""
    words: int = 1 << 20
    """Arguments that it may have."""
    guarded: bool = False
    """What each command prints stands between lines of tmux."""
    buffered: bool = False
    """Screens come through a paste buffer, with escapes for what is not printable."""


FORKED = QueryMode(14_000, words=1000)
"""A client cannot send 16 kB in one message, and sends a command in one only; from 3.7 on, of a thousand arguments."""
LISTED = QueryMode(0, guarded=True)
PRINTED = QueryMode(1 << 22, guarded=True)
BUFFERED = QueryMode(1 << 22, guarded=True, buffered=True)


def control_mode_for(version: str) -> QueryMode | None:
    """How a server of that version is asked through a client in control mode; None: it is not."""
    number = check_targets.parse_release(version) or TELLS_OF_BUFFERS
    if number < CONTROL_SINCE:
        return None
    return PRINTED if number >= FREES else BUFFERED if BUFFERS <= number < TELLS_OF_BUFFERS else LISTED


# Out ----------------------------------------------------------------------------------------------------------


def capture_command(way: QueryMode, word: str, pane: str, heading: list[str], *, colours: bool) -> list[str]:
    """The heading and the screen, for a line of its own in control mode; nothing is left of a buffer behind it."""
    screen = _screen_command(way, word, pane, colours=colours)
    if not way.buffered:
        return [*heading, ";", *screen]
    at = screen.index(";")
    return [*screen[:at], ";", *heading, *screen[at:], ";", "deleteb", f"-b{word}"]


def capture_many_command(way: QueryMode, word: str, mark: str, panes: list[str], *, colours: bool) -> list[str]:
    """Many screens in one line of control mode, each some behind a heading that numbers them: one for each costs much.

    Whose a screen is then follows from its place among the answers (`screens`). The buffer is left to the line's end.
    """
    command: list[str] = []
    for at in range(0, len(panes), TOGETHER):
        some = panes[at : at + TOGETHER]
        command += [";", "display", "-p", mark + ",".join([pane[1:] for pane in some])]
        for pane in some:
            command += [";", *_screen_command(way, word, pane, colours=colours)]
    return command


def _screen_command(way: QueryMode, word: str, pane: str, *, colours: bool) -> list[str]:
    how = "-e" if colours else "-"
    if not way.buffered:
        return ["capturep", f"{how}pt{pane}"]
    return ["capturep", f"{how}b{word}", f"-t{pane}", ";", "showb", f"-b{word}"]


# In -----------------------------------------------------------------------------------------------------------


def find_next_answer(lines: list[bytes], at: int) -> int:
    """Where begins what the next command of ours printed; those of hooks have another number at the end."""
    while at < len(lines) and not (lines[at].startswith(BEGIN) and lines[at].endswith(b" 1")):
        at += 1
    return at + 1


def split_screens(
    way: QueryMode, word: bytes, lines: list[bytes], at: int, heights: list[int]
) -> tuple[list[bytes], int]:
    """The next screens of these heights, and where it goes on.

    Each answer must begin and end where it should, with the same numbers, and the one behind them with our word: none
    can have slipped into another's place. Else there is nothing behind them.
    """
    found: list[bytes] = []
    for height in heights:
        # To fill a buffer prints nothing, and to show it one line more.
        for size in (0, height + 1) if way.buffered else (height,):
            begin = find_next_answer(lines, at)
            at = begin + size
            if at >= len(lines) or lines[at] != END + lines[begin - 1].removeprefix(BEGIN):
                return found, len(lines)
        found.append(b"\n".join(lines[begin : begin + height]))
    at = find_next_answer(lines, at)
    return found, at if at < len(lines) and lines[at].startswith(word) else len(lines)


def unescape_buffer(text: bytes) -> bytes:
    """What a paste buffer holds, from how `show-buffer` writes it for a client in control mode."""
    return ESCAPE.sub(_unescape_match, text) if b"\\" in text else text


def _unescape_match(found: re.Match[bytes]) -> bytes:
    code = found[1]
    return bytes([int(code, 8)]) if len(code) > 1 else LETTERS.get(code, code)
