"""How often a list is passed over when nothing stirs."""

from __future__ import annotations

from midwatch.registry.reconcile_loop import default_interval


def test_every_half_minute_and_every_minute_from_five_sessions_on() -> None:
    assert [default_interval(sessions) for sessions in (0, 4, 5, 100)] == [30.0, 30.0, 60.0, 60.0]
