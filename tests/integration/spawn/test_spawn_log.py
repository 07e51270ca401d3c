"""The log of a session in a real tmux: it reads as the screen did, is bounded, and can be followed."""

from __future__ import annotations

import os
import signal

import pytest

from midwatch.core.job_model import PaneRef
from midwatch.sessions import spawn
from midwatch.system import procfs
from midwatch.tmux import pane_log_filter
from midwatch.tmux.sessions import TmuxSessions
from tests.conftest import PATIENCE, until, until_gone
from tests.integration.spawn.office import Office

WORDS = ["This", "command", "requires", "approval"]


class Shown:
    """A session in whose pane a test prints what it likes."""

    def __init__(self, office: Office) -> None:
        self.office = office
        office.spawned()
        office.box.until_file("api.log", lambda text: text != "")
        self.log = office.box.path("api.log")
        self.terminal = office.pane("#{pane_tty}")

    def show(self, data: bytes) -> None:
        with open(self.terminal, "wb", buffering=0) as file:
            while data:
                data = data[file.write(data) :]

    def until_written(self, words: str) -> str:
        return self.office.box.until_file("api.log", lambda text: words in text)

    def capture(self) -> int:
        """The pid of what writes the log."""
        server = int(self.office.pane("#{pid}"))
        found = [pid for pid in procfs.children(server) if str(self.log) in procfs.read_text(f"/proc/{pid}/cmdline")]
        assert len(found) == 1
        return found[0]


@pytest.fixture
def shown(office: Office) -> Shown:
    return Shown(office)


def drawn(row: int) -> bytes:
    """The words as agents draw them: blanks are not written, the cursor goes there."""
    column, found = 3, b""
    for word in WORDS:
        found += b"\x1b[%d;%dH%s" % (row, column, word.encode())
        column += len(word) + 1
    return found


def test_what_was_drawn_a_thousand_times_is_there_once_with_its_blanks(shown: Shown) -> None:
    for number in range(1000):
        shown.show(
            b"\x1b[2J" + drawn(5 + number % 3) + b"\x1b[20;1H\xe2\x9c\xbb Waiting\xe2\x80\xa6 (%ds)" % (number // 10)
        )
    shown.show(b"\x1b[2J" + drawn(5) + b"\x1b[20;1Hthe end")
    text = shown.until_written("the end")
    assert text.count("  This command requires approval\n") == 1
    assert text.count("Waiting") <= 1


def test_the_log_stays_below_its_bound_and_its_readers_go_on(shown: Shown) -> None:
    box, count = shown.office.box, 120_000
    copy = shown.office.home / "followed"
    with (
        copy.open("w") as file,
        box.start("logs", "api", "-f", stdout=file) as following,
        box.start("wait", "api", "--match", f"line {count}$") as waiting,
    ):
        shown.show(b"\x1b[2J\x1b[H" + b"".join(b"line %d\r\n" % number for number in range(1, count + 1)))
        shown.show(b"".join(b"a long line, number %d, %s\r\n" % (n, b"to fill the log " * 5) for n in range(99_000)))
        shown.until_written("number 98999,")
        assert waiting.wait(PATIENCE) == 0
        for pid in box.pids("api"):
            os.kill(pid, signal.SIGKILL)
        assert following.wait(PATIENCE) == 0
    lines = copy.read_text().splitlines()
    assert [line for line in lines if line.startswith("line ")] == [f"line {number}" for number in range(1, count + 1)]
    assert len([line for line in lines if line.startswith("a long line")]) == 99_000
    sizes = [shown.log.stat().st_size, shown.log.with_name("api.log.1").stat().st_size]
    assert min(sizes) > 0
    assert max(sizes) <= pane_log_filter.LIMIT
    both = shown.log.with_name("api.log.1").read_text() + shown.log.read_text()
    assert box("logs", "api").out == both
    assert box("logs", "api", "-n", "60000").out.splitlines() == both.splitlines()[-60000:]


def test_the_next_run_begins_a_log_of_its_own(shown: Shown) -> None:
    office = shown.office
    shown.log.with_name("api.log.1").write_text("put aside\n")
    shown.show(b"\r\nfirst run\r\n")
    shown.until_written("first run")
    assert office.box("stop", "api").code == 0
    office.spawned()
    office.box.until_file("api.log", lambda text: text != "")
    assert "first run" not in office.box("logs", "api").out
    assert "put aside" not in office.box("logs", "api").out
    kept = {path.name for path in office.box.dir.glob("archive/api/*/*")}
    assert {"api.log", "api.log.1"} <= kept


def test_a_capture_that_was_killed_loses_only_what_had_not_settled_and_the_next_goes_on(shown: Shown) -> None:
    shown.show(b"\r\nbefore\r\n")
    shown.until_written("before\n")
    pid = shown.capture()
    os.kill(pid, signal.SIGKILL)
    until_gone(pid)
    record = shown.office.box.record("api")
    seat = PaneRef(
        tuple(record["pane"]["server"]), record["pane"]["id"], record["pane"]["session"], record["pane"]["life"]
    )
    before = shown.log.read_text()
    TmuxSessions(seat.server).capture(seat, spawn.capture_command(str(shown.log), "", ""))
    shown.show(b"\r\nafter\r\n")
    text = shown.until_written("after\n")
    assert text.startswith(before)
    assert before.endswith("\n")


def test_a_resize_of_the_pane_is_followed(shown: Shown) -> None:
    office = shown.office
    office.tmux("resize-window", "-t", "=api:", "-x", "150", "-y", "55")
    until(lambda: office.pane("#{pane_width}x#{pane_height}") == "150x55")
    shown.show(b"\x1b[2J\x1b[55;120Hfar down and far right\x1b[54;1Habove")
    text = shown.until_written("far right")
    assert [line.split() for line in text.splitlines()[-2:]] == [["above"], ["far", "down", "and", "far", "right"]]


def test_what_is_on_the_screen_at_the_end_is_written(shown: Shown) -> None:
    shown.show(b"\x1b[2J\x1b[3;1Hlast words" + b"\x1b[4;1H.\x1b[4;1H " * 50)
    pid = shown.capture()
    shown.office.tmux("kill-session", "-t", "=api")
    until_gone(pid)
    assert "last words\n" in shown.log.read_text()
