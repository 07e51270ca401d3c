"""The model of a terminal against tmux itself: both are given the same bytes, and show the same."""

from __future__ import annotations

import random
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from midwatch.terminal.transcript import ScreenTranscript
from tests.integration.panes.private import Private
from tests.lab import casts

RECORDINGS = sorted((Path(__file__).parents[2] / "goldens" / "terminal").glob("*.cast"))
SIZE = (40, 12)
WORDS = (
    "hello", "x", "日本語", "wide 🙂 emoji", "a long run of words that is certainly longer than forty columns",
    "é", "e\u0301", "│ box │", "─" * 10, "tab\there", "\r\n", "\n", "\r", "\b", "\t", "\r\n\r\n", "\x1b7", "\x1b8",
    "\x1bM", "\x1bD", "\x1bE", "\x1b[4h", "\x1b[4l", "\x1b]0;title\x07", "\x1b[1;31m", "\x1b[?1049h", "\x1b[2J",
    "\x1b[J", "\x1b[1J", "\x1b[K", "\x1b[1K", "\x1b[2K", "\x1b[2;9r", "\x1b[4;12r", "\x1b[r",
)  # fmt: skip
SEEDS = range(60)


@pytest.fixture
def private(tmp_path: Path) -> Iterator[Private]:
    found = Private(tmp_path / "socket")
    found.start("sleep 3600", "keep")
    yield found
    found.stop()


def shown(private: Private, data: bytes, size: tuple[int, int], path: Path) -> tuple[list[str], tuple[int, int]]:
    """Rows and cursor after a program has printed this into a pane of tmux."""
    path.write_bytes(data)
    client = shlex.join([private.program, *private.server])
    pane = private.start(
        f"stty raw -echo; cat {shlex.quote(str(path))}; {client} wait-for -S {path.name}; exec sleep 3600", size=size
    )
    private("wait-for", path.name)
    rows = [row.rstrip() for row in private.screen(pane)]
    x, y = map(int, private("display-message", "-p", "-t", pane, "#{cursor_x} #{cursor_y}").split())
    return rows, (x, y)


def modelled(data: bytes, size: tuple[int, int]) -> tuple[list[str], tuple[int, int]]:
    transcript = ScreenTranscript(*size, lambda _: None)
    transcript.feed(data, 0.0)
    screen = transcript._stream.screen
    return ["".join(row).rstrip() for row in screen.rows], (screen.x, screen.y)


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_recordings_look_the_same(private: Private, path: Path, tmp_path: Path) -> None:
    cast = casts.read(path)
    data, size = b"".join(piece for _, piece in cast.pieces), (cast.columns, cast.rows)
    assert modelled(data, size) == shown(private, data, size, tmp_path / "recording")


def test_whatever_is_printed_looks_the_same(private: Private, tmp_path: Path) -> None:
    for seed in SEEDS:
        chosen = random.Random(seed)
        data = "".join(_next(chosen) for _ in range(chosen.randint(1, 25))).encode()
        assert modelled(data, SIZE) == shown(private, data, SIZE, tmp_path / f"printed{seed}"), (seed, data)


def _next(chosen: random.Random) -> str:
    if chosen.random() < 0.5:
        return chosen.choice(WORDS)
    if chosen.random() < 0.3:
        return f"\x1b[{chosen.randint(1, 14)};{chosen.randint(1, 45)}H"
    return f"\x1b[{chosen.choice(('', chosen.randint(1, 9)))}{chosen.choice('@ABCDEFGLMPSTXZ`dsu')}"
