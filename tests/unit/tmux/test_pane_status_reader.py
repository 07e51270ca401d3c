"""The reader of reports: when it answers, when it stops, and what it leaves in its file."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from midwatch.agents.program_status import codec as program_status_codec
from midwatch.tmux import pane_status_reader
from midwatch.tmux.pane_status_reader import ANSWER, StatusFile, StatusHandshake, StatusReader

SIGN = b"\x1b[?2031h"
QUESTION = b"\x1b[>0q\x1b[?u\x1b]7501;?\x07\x1b[c"


class Typed:
    """What is typed into the pane, and a clock that a test sets."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        self.end, self.pane = os.pipe()
        for fd in (self.end, self.pane):
            os.set_blocking(fd, False)
        monkeypatch.setattr("midwatch.tmux.pane_status_reader.time.monotonic", lambda: self.now)

    def read(self) -> bytes:
        try:
            return os.read(self.end, 1 << 16)
        except BlockingIOError:
            return b""

    def fill(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(self.pane, b"x" * 4096)

    def close(self) -> None:
        os.close(self.pane)
        os.close(self.end)


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Typed]:
    with contextlib.closing(Typed(monkeypatch)) as found:
        yield found


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_it_answers_from_the_sign_on_until_it_was_asked_and_never_again(typed: Typed, tmp_path: Path) -> None:
    reader = StatusReader(str(tmp_path / "s"), SIGN, typed.pane)
    reader.answer()
    reader.take(b"\x1b[?25h")
    reader.answer()
    assert typed.read() == b""
    reader.take(SIGN)
    for _ in range(3):
        reader.answer()
    assert typed.read() == 3 * ANSWER
    reader.take(QUESTION)
    reader.answer()
    assert not reader.answering
    os.write(typed.pane, b"typed?")
    reader.take(SIGN + QUESTION)
    reader.answer()
    assert typed.read() == b""
    assert lines(tmp_path / "s")[1] | {"at": 0, "up": 0} == {"at": 0, "up": 0, "answers": 3, "asked": True}


@pytest.mark.parametrize("ends", ["another question", "time"])
def test_it_gives_up_on_a_program_that_does_not_ask(typed: Typed, tmp_path: Path, ends: str) -> None:
    reader = StatusReader(str(tmp_path / "s"), SIGN, typed.pane)
    reader.take(SIGN)
    reader.answer()
    if ends == "time":
        typed.now += pane_status_reader.ANSWERS_FOR + 1
    else:
        reader.take(b"\x1b[>0q\x1b[c")
    reader.answer()
    assert not reader.answering
    os.write(typed.pane, b"typed?")
    assert typed.read() == ANSWER
    assert lines(tmp_path / "s")[1]["asked"] is False


def test_it_is_not_woken_while_there_is_nothing_to_answer(typed: Typed, tmp_path: Path) -> None:
    reader = StatusReader(str(tmp_path / "s"), SIGN, typed.pane)
    assert reader.patience() == pane_status_reader.WAITS_FOR
    reader.take(SIGN)
    assert reader.patience() == pane_status_reader.ANSWERS_EVERY
    reader.take(QUESTION)
    reader.answer()
    assert reader.patience() == pane_status_reader.LONGEST_WAIT


def test_it_does_not_wait_for_a_pane_that_takes_nothing(typed: Typed) -> None:
    typed.fill()
    handshake = StatusHandshake(SIGN, typed.pane)
    handshake.read_output(SIGN, asked=False)
    handshake.answer()
    assert handshake.answers == 0
    assert handshake.open


@pytest.mark.parametrize(("path", "sign"), [("", SIGN), ("s", b"")])
def test_without_a_file_or_a_sign_nothing_can_be_typed_from_the_beginning(
    typed: Typed, tmp_path: Path, path: str, sign: bytes
) -> None:
    reader = StatusReader(str(tmp_path / path) if path else "", sign, typed.pane)
    os.write(typed.pane, b"typed?")
    reader.take(SIGN + QUESTION)
    reader.answer()
    assert typed.read() == b""


def test_where_no_file_can_be_made_the_rest_goes_on(typed: Typed, tmp_path: Path) -> None:
    reader = StatusReader(str(tmp_path / "missing" / "s"), SIGN, typed.pane)
    reader.take(b"\x1b]7501;state=done\x07")
    reader.close()
    assert not reader.answering


def test_each_report_is_written_once_with_its_time(tmp_path: Path) -> None:
    file = StatusFile(str(tmp_path / "s"))
    assert not file.take(b"\x1b]7501;state=wor")
    file.take(b"king\x07\x1b]7501;state=working\x07")
    assert file.take(b"\x1b]7501;?\x07")
    head, *rest = lines(tmp_path / "s")
    assert head["reader"][0] == os.getpid()
    assert [each["state"] for each in rest] == ["working"]
    assert rest[0]["up"] >= head["up"] > 0


def test_a_file_stays_below_its_bound_and_keeps_what_holds(tmp_path: Path) -> None:
    path = tmp_path / "s"
    file = StatusFile(str(path))
    file.take(b"\x1b]7501;state=working:id=part\x07")
    for number in range(20_000):
        file.take(f"\x1b]7501;state=working:progress={number % 100}\x07".encode())
    file.take(b"\x1b]7501;state=idle\x07")
    file._begin([])  # as a full file begins
    file._size = pane_status_reader.STATUS_LIMIT
    file.take(b"\x1b]7501;state=working:id=another\x07")
    assert path.stat().st_size < pane_status_reader.STATUS_LIMIT
    status = program_status_codec.combine_reports(program_status_codec.read(path.read_text()), 0.0)
    assert status is not None
    assert (status.words["state"], status.words["before"], status.words["children"]) == ("idle", "working", "2")


def test_of_a_flood_the_last_reports_are_kept(tmp_path: Path) -> None:
    file = StatusFile(str(tmp_path / "s"))
    file.take(b"".join(f"\x1b]7501;state=working:progress={n % 100}\x07".encode() for n in range(5000)))
    file.take(b"\x1b]7501;state=done\x07")
    assert len(lines(tmp_path / "s")) == 1 + pane_status_reader.FLOOD + 1


def test_a_reader_that_ends_takes_its_file_with_it_but_not_that_of_the_next(tmp_path: Path) -> None:
    path = tmp_path / "s"
    first = StatusFile(str(path))
    second = StatusFile(str(path))
    first.remove()
    assert path.exists()
    second.remove()
    assert not path.exists()
    second.remove()
