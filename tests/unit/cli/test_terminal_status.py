"""When a report is sent again."""

from __future__ import annotations

import pytest

from midwatch.cli import terminal_status
from midwatch.cli.terminal_status import REFRESH, TerminalStatus
from midwatch.terminal.report_model import ProgramReport
from midwatch.terminal.rules import CLEAR

WORKING = ProgramReport("working", "job")


class Wire:
    """What reaches the terminal, at which time, and whether it can."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.sent: list[bytes] = []
        self.now = 1000.0
        self.open = True
        self.interrupted = False
        monkeypatch.setattr(terminal_status, "_write", self.write)
        monkeypatch.setattr("time.monotonic", lambda: self.now)

    def write(self, data: bytes) -> bool:
        if self.open:
            self.sent.append(data)
        if self.interrupted:
            self.interrupted = False
            raise KeyboardInterrupt
        return self.open


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch) -> Wire:
    return Wire(monkeypatch)


def test_the_same_is_sent_once(wire: Wire) -> None:
    status = TerminalStatus(status=True, bar=False)
    status.report(WORKING)
    wire.now += 10 * REFRESH
    status.report(WORKING)
    assert len(wire.sent) == 1
    status.report(WORKING._replace(progress=1))
    assert len(wire.sent) == 2


def test_a_bar_is_sent_again_before_it_goes_away(wire: Wire) -> None:
    status = TerminalStatus(status=False, bar=True)
    status.report(WORKING)
    wire.now += REFRESH - 1
    status.report(WORKING)
    assert len(wire.sent) == 1
    wire.now += 1
    status.report(WORKING)
    assert len(wire.sent) == 2


def test_what_did_not_get_through_is_sent_with_the_next(wire: Wire) -> None:
    status = TerminalStatus(status=True, bar=True)
    wire.open = False
    status.report(WORKING)
    wire.open = True
    status.report(WORKING)
    assert len(wire.sent) == 1


def test_a_call_that_reported_nothing_clears_nothing(wire: Wire) -> None:
    TerminalStatus(status=True, bar=True).close()
    silent = TerminalStatus(status=False, bar=False)
    silent.report(WORKING)
    silent.report(CLEAR)
    silent.close()
    assert wire.sent == []


def test_a_ctrl_c_right_after_a_report_clears_it(wire: Wire) -> None:
    status = TerminalStatus(status=True, bar=False)
    wire.interrupted = True
    with pytest.raises(KeyboardInterrupt):
        status.report(WORKING)
    status.close()
    assert wire.sent[-1] == b"\x1b]7501;state=clear:id=midwatch\x1b\\"
