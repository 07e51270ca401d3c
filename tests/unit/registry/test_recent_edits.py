"""How long a row is somebody's own."""

from __future__ import annotations

from midwatch.registry.recent_edits import RecentEdits


def test_a_row_is_left_alone_for_five_seconds_from_when_it_was_written() -> None:
    fresh = RecentEdits({"a": "1"})
    assert fresh.observe({"a": "2"}, 100.0, 101.0) == {"a": 4.0}
    assert fresh.observe({"a": "2"}, 100.0, 104.0) == {"a": 1.0}
    assert fresh.observe({"a": "2"}, 100.0, 105.0) == {}
    assert fresh.known == {"a": "2"}


def test_what_is_written_elsewhere_in_the_file_does_not_prolong_it() -> None:
    fresh = RecentEdits({"a": "1", "b": "1"})
    assert fresh.observe({"a": "2", "b": "1"}, 100.0, 101.0) == {"a": 4.0}
    assert fresh.observe({"a": "2", "b": "2"}, 103.0, 104.0) == {"a": 1.0, "b": 4.0}


def test_who_changes_a_row_again_has_it_for_longer() -> None:
    fresh = RecentEdits({"a": "1"})
    assert fresh.observe({"a": "2"}, 100.0, 101.0) == {"a": 4.0}
    assert fresh.observe({"a": "3"}, 103.0, 104.0) == {"a": 4.0}


def test_a_row_that_is_new_or_was_taken_out_is_somebodys_too() -> None:
    fresh = RecentEdits({"a": "1"})
    assert fresh.observe({"b": "1"}, 100.0, 101.0) == {"a": 4.0, "b": 4.0}
    assert fresh.observe({"b": "1"}, 100.0, 106.0) == {}
    assert fresh.known == {"b": "1"}


def test_an_old_file_and_one_from_the_future_hold_nothing_up() -> None:
    assert RecentEdits(None).observe({"a": "1"}, 100.0, 3700.0) == {}
    assert RecentEdits(None).observe({"a": "1"}, 3700.0, 100.0) == {}


def test_what_we_write_is_nobodys_and_another_stays_fresh() -> None:
    fresh = RecentEdits({"a": "1", "b": "1"})
    assert fresh.observe({"a": "2", "b": "1"}, 100.0, 101.0) == {"a": 4.0}
    fresh.record_own_edits({"a": "3", "b": "2"}, {"a", "b"})
    assert fresh.observe({"a": "3", "b": "2"}, 102.0, 102.0) == {"a": 3.0}
