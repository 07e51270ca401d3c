"""Which run of a foreign step wrote its status: exact clocks, coarse clocks, equal times."""

from typing import Any

import pytest

from midwatch.core.job_model import StatusTimes
from midwatch.jobs.rules import foreign_run

S = 10**9
MS = 10**6
T = 1_700_000_000 * S
"""A whole second."""
ODD = T + 123_456_789


def times(status: int, pid: int | None, start: int | None = None, now: int = T + 60 * S, **more: Any) -> StatusTimes:
    return StatusTimes(now, status, pid, start=start, **more)


def test_a_status_older_than_the_pid_file_is_of_an_earlier_run() -> None:
    assert foreign_run.status_owner(times(ODD - MS, ODD, ODD - 3 * MS)) == "earlier"


def test_a_run_that_ended_without_a_status_does_not_take_that_of_an_earlier_one() -> None:
    assert foreign_run.status_owner(times(ODD - 2 * S, ODD)) == "earlier"
    assert foreign_run.status_owner(times(ODD - MS, ODD, moved=(ODD - 2 * MS, ODD + MS))) == "earlier"


def test_a_script_that_writes_its_pid_file_last_is_believed_once_it_has_ended() -> None:
    assert foreign_run.status_owner(times(ODD - MS, ODD, moved=(ODD - 2 * MS,))) == "this"


@pytest.mark.parametrize("start", [None, ODD - 3 * MS], ids=["gone", "alive"])
def test_a_status_newer_than_the_pid_file_is_of_this_run_at_once(start: int | None) -> None:
    assert foreign_run.status_owner(times(ODD + 1, ODD, start, now=ODD + 2)) == "this"


def test_a_status_older_than_the_process_is_of_an_earlier_run_whatever_the_pid_file_says() -> None:
    assert foreign_run.status_owner(times(ODD + 2 * S, ODD, ODD + 3 * S)) == "earlier"


def test_a_start_time_is_no_more_exact_than_the_clock_tick_that_counts_it() -> None:
    assert foreign_run.status_owner(times(ODD + MS, ODD, ODD + 10 * MS)) == "this"


def test_without_a_pid_file_the_status_is_all_there_is() -> None:
    assert foreign_run.status_owner(times(ODD, None)) == "this"


def test_the_process_that_ended_in_the_same_tick_wrote_the_status() -> None:
    assert foreign_run.status_owner(times(T, T)) == foreign_run.status_owner(times(ODD, ODD)) == "this"


IN_ONE_TICK = pytest.mark.parametrize(
    ("at", "start", "tick"), [(ODD, ODD - 2 * MS, 0), (T, T + 900 * MS, 2 * S), (T + S, T + 1900 * MS, S)],
    ids=["fine", "two seconds", "one second"],
)  # fmt: skip


@IN_ONE_TICK
def test_in_one_tick_a_process_that_works_on_is_another_run(at: int, start: int, tick: int) -> None:
    below = (start + 20 * MS,)
    assert foreign_run.status_owner(times(at, at, start, now=at + S // 2, children=below)) == "open"
    decided = foreign_run.decision_time(times(at, at))
    assert at + tick + S <= decided <= at + tick + S + S // 10
    assert foreign_run.status_owner(times(at, at, start, now=decided, children=below)) == "earlier"
    assert foreign_run.status_owner(times(at, at, start, now=decided + 10 * S, moved=(at + tick + 9 * S,))) == "earlier"


@IN_ONE_TICK
def test_in_one_tick_a_process_that_rests_has_written_its_own_status(at: int, start: int, tick: int) -> None:
    decided = foreign_run.decision_time(times(at, at))
    assert foreign_run.status_owner(times(at, at, start, now=decided, moved=(at,))) == "this"
    assert decided <= at + tick + S + S // 10


def test_on_a_coarse_clock_a_status_may_seem_older_than_the_process_that_wrote_it() -> None:
    """Started at 0.9 of a second that all files are dated to; it wrote its result in the next."""
    assert foreign_run.status_owner(times(T, T, T + 1900 * MS, now=T + 2 * S)) == "open"
    assert foreign_run.status_owner(times(T, T, T + 900 * MS, now=T + 2 * S, result=T + S)) == "this"
    assert foreign_run.status_owner(times(T + S, T, T + 900 * MS, now=T + 2 * S)) == "this"


def test_a_coarse_status_two_ticks_older_than_the_process_is_of_an_earlier_run_at_once() -> None:
    assert foreign_run.status_owner(times(T, T, T + 3 * S, now=T + 3 * S)) == "earlier"


OLD = ODD - 100 * S


def test_in_one_tick_an_older_process_that_rests_has_written_its_status() -> None:
    assert foreign_run.status_owner(times(ODD, ODD, OLD)) == "this"
    assert foreign_run.status_owner(times(ODD, ODD, OLD, moved=(ODD,), children=(ODD - 50 * S, ODD + 50 * S))) == "this"


@pytest.mark.parametrize("sign", [{"moved": (ODD + 10 * S,)}, {"children": (ODD + 3 * MS,)}], ids=["beats", "runs"])
def test_in_one_tick_an_older_process_that_works_has_begun_the_step_again(sign: dict[str, Any]) -> None:
    assert foreign_run.status_owner(times(ODD, ODD, OLD, **sign)) == "earlier"


def test_a_pid_file_from_the_future_makes_no_status_old() -> None:
    """The clock was set back between the two: the process itself tells."""
    assert foreign_run.status_owner(times(ODD, ODD + 3600 * S, OLD)) == "this"


AHEAD = ODD + 3600 * S
"""What a clock said that was set back since."""


def test_a_status_from_the_future_is_of_an_earlier_run_if_the_process_works_on() -> None:
    """The clock was set back between the two runs. It is not known in the first moment of the second."""
    young = times(AHEAD, ODD, ODD - 3 * MS, now=ODD + S // 2, moved=(AHEAD,))
    assert foreign_run.status_owner(young) == "open"
    assert foreign_run.decision_time(young) == ODD - 3 * MS + S
    assert foreign_run.status_owner(young._replace(moved=(ODD + MS,))) == "earlier"
    assert foreign_run.status_owner(young._replace(now=ODD + 20 * S, moved=(ODD + 10 * S, ODD + MS))) == "earlier"
    assert foreign_run.status_owner(young._replace(result=AHEAD + MS, moved=(ODD + MS,))) == "earlier"


@pytest.mark.parametrize("moved", [(), (ODD + 5 * S, AHEAD - S)], ids=["nothing else", "before the clock was set back"])
def test_a_status_from_the_future_is_believed_if_nothing_came_after_it(moved: tuple[int, ...]) -> None:
    assert foreign_run.status_owner(times(AHEAD, ODD, ODD - 3 * MS, now=ODD + 60 * S, moved=moved)) == "this"
    assert foreign_run.status_owner(times(AHEAD, ODD, moved=moved)) == "this", "and its process has ended"


def test_a_result_from_the_future_is_not_that_of_a_status_before_it() -> None:
    assert foreign_run.is_earlier_result(times(ODD + S, ODD, ODD - MS, result=AHEAD))
    assert not foreign_run.is_earlier_result(times(AHEAD, ODD, ODD - MS, result=AHEAD + MS))


@pytest.mark.parametrize(
    ("result", "earlier"), [(None, False), (ODD - MS, True), (ODD, False), (ODD + S, False)], ids=str
)
def test_a_result_older_than_the_pid_file_is_of_an_earlier_run(result: int | None, earlier: bool) -> None:
    assert foreign_run.is_earlier_result(times(ODD + S, ODD, result=result)) is earlier
