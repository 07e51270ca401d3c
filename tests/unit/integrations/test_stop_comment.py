"""Which comments on a card ask its monitor to stop."""

from __future__ import annotations

import pytest

from midwatch.integrations.hermes_kanban import asks_to_stop


@pytest.mark.parametrize(
    "comment",
    [
        "stop", "  Stop Monitoring\n", "stop, please", "Stop: the work is done", "stop.", "STOP now",
        "thanks, that is enough\nstop", "ok\r\nstop\r\n", "please stop monitoring now", "can you Stop  Monitoring it?",
    ],
)  # fmt: skip
def test_a_line_that_begins_with_stop_or_contains_stop_monitoring_stops(comment: str) -> None:
    assert asks_to_stop(comment)


@pytest.mark.parametrize(
    "comment",
    [
        "", "api: stopped by hand", "stopped by hand", "stops at night", "please do not stop", "> stop", "stop-gap",
        "stop_api is broken", "nonstop monitoring is on", "BLOCKED: stop", "we stop\nmonitoring the logs is for later",
    ],
)  # fmt: skip
def test_other_comments_do_not(comment: str) -> None:
    assert not asks_to_stop(comment)
