"""Signals that end a program, where programs that it has started are ended first."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from midwatch.system.end_signals import ExitSignals


@pytest.fixture(autouse=True)
def _as_a_new_program_has_them() -> Iterator[None]:
    before = {number: signal.signal(number, signal.SIG_DFL) for number in ExitSignals.NUMBERS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_would_end_us_raises_its_exit_code(number: signal.Signals) -> None:
    with pytest.raises(SystemExit) as left, ExitSignals():
        os.kill(os.getpid(), number)
    assert left.value.code == 128 + number
    assert signal.getsignal(number) is signal.SIG_DFL


def test_what_the_caller_ignores_or_handles_is_left() -> None:
    heard: list[int] = []
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda number, _: heard.append(number))
    with ExitSignals():
        os.kill(os.getpid(), signal.SIGHUP)
        os.kill(os.getpid(), signal.SIGTERM)
    assert heard == [signal.SIGTERM]
