"""What is next after an attempt at a step: only what is known to have gone well is gone on with."""

from __future__ import annotations

import pytest

from midwatch.core.exit_codes import EXIT_CODES
from midwatch.core.foreign_text import ForeignText
from midwatch.core.verdict import FINAL, LIVE
from midwatch.stories.model import Next, ParsedLog, ParseTrouble, StepEnd, Tally
from midwatch.stories.rules import log, next_action

WELL = StepEnd("completed", "its turn has ended")
SAID = ParsedLog("dev", "SUCCESS", "All is well.", "proceed", {}, "model")
REVIEWED = WELL._replace(
    step="review", parsed=SAID._replace(status="FAILURE", next_action="retry", summary="One left.")
)


def test_what_went_well_is_gone_on_with() -> None:
    assert next_action.decide_next(WELL, Tally()) == Next("proceed", "its turn has ended")
    assert next_action.decide_next(WELL._replace(parsed=SAID, verified=True, created=1), Tally()).action == "proceed"


@pytest.mark.parametrize("state", sorted({*LIVE, *FINAL} - {"completed"}))
def test_nothing_else_ever_is(state: str) -> None:
    ended = StepEnd(state, "because", parsed=SAID, verified=True, created=1)
    for step in ("", "create", "dev", "auto", "review", "retro"):
        for crashes in range(5):
            found = next_action.decide_next(ended._replace(step=step), Tally(crashes, 9))
            assert found.action in ("retry", "escalate")
            assert "because" in found.why


@pytest.mark.parametrize("state", ["crashed", "stuck"])
def test_a_crash_or_a_hang_is_begun_again_twice(state: str) -> None:
    ended = StepEnd(state, "killed by SIGKILL", signal=9)
    found = [next_action.decide_next(ended, Tally(crashes)) for crashes in (1, 2, 3)]
    assert [each.again for each in found] == ["crash", "crash", ""]
    assert found[2] == Next("escalate", "crashed after 2 retries: killed by SIGKILL")


def test_an_end_that_nobody_saw_counts_as_a_crash() -> None:
    ended = StepEnd("unknown", "it ended after its shim had gone", unseen=True)
    found = [next_action.decide_next(ended, Tally(crashes)) for crashes in (1, 2, 3)]
    assert [each.again for each in found] == ["crash", "crash", ""]
    assert (next_action.is_crash(ended), next_action.is_crash(ended._replace(unseen=False))) == (True, False)
    assert next_action.decide_next(ended._replace(unseen=False), Tally(1)).action == "escalate"


def test_without_retries_a_crash_is_only_a_crash() -> None:
    assert next_action.decide_next(StepEnd("crashed", "exit 139"), Tally(1), Tally(0, 5)) == Next(
        "escalate", "exit 139"
    )


@pytest.mark.parametrize("number", [1, 2, 3, 15])
def test_what_somebody_ended_is_not_begun_again(number: int) -> None:
    found = next_action.decide_next(StepEnd("crashed", "killed", signal=number), Tally(1))
    assert (found.action, found.again) == ("escalate", "")


@pytest.mark.parametrize("ended", [REVIEWED, StepEnd("incomplete", "One left.", "review", verified=False)])
def test_a_review_is_gone_through_five_times(ended: StepEnd) -> None:
    found = [next_action.decide_next(ended, Tally(0, cycles)) for cycles in (1, 2, 3, 4, 5)]
    assert [each.again for each in found] == [*4 * ["cycle"], ""]
    assert found[4] == Next("escalate", "review loop: 5 cycles: One left.")


def test_only_a_review_is_gone_through_again() -> None:
    assert next_action.decide_next(REVIEWED._replace(step="dev"), Tally()) == Next("retry", "One left.")
    assert next_action.decide_next(StepEnd("incomplete", "not there", "dev"), Tally()) == Next("escalate", "not there")


def test_a_limit_is_for_the_caller_to_wait_for() -> None:
    limited = StepEnd("limited", "it hit a limit, until 5pm", until=ForeignText("5pm"))
    assert next_action.decide_next(limited, Tally()) == Next("retry", "it hit a limit, until 5pm")


@pytest.mark.parametrize(
    ("created", "why"), [(0, "no file was created"), (2, "runaway creation: 2 files"), (1, "")]
)  # fmt: skip
def test_exactly_one_file_is_right(created: int, why: str) -> None:
    assert next_action.find_creation_problem(created) == why
    found = next_action.decide_next(WELL._replace(created=created, parsed=SAID), Tally())
    assert found == (Next("escalate", why) if why else Next("proceed", "All is well."))


@pytest.mark.parametrize("state", ["crashed", "stuck", "limited", "incomplete", "failed"])
def test_what_creates_too_much_is_not_let_loose_again(state: str) -> None:
    found = next_action.decide_next(StepEnd(state, "because", "review", created=3), Tally(1))
    assert found == Next("escalate", "runaway creation: 3 files")


@pytest.mark.parametrize("status", ["FAILURE", "AMBIGUOUS"])
def test_who_contradicts_himself_is_not_believed(status: str) -> None:
    assert next_action.decide_next(WELL._replace(parsed=SAID._replace(status=status)), Tally()).action == "escalate"


def test_trouble_with_the_model_is_for_a_person() -> None:
    said = log.unparsed_log("review", ParseTrouble("sub-agent timed out", "120 s"))
    assert next_action.decide_next(WELL._replace(parsed=said, step="review"), Tally()) == Next(
        "escalate", "sub-agent timed out: 120 s"
    )


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (next_action.find_review_limit(4), ""),
        (next_action.find_review_limit(5), "review loop: 5 cycles"),
        (next_action.find_review_limit(1, 1), "review loop: 1 cycle"),
        (next_action.find_crash_limit(1), ""),
        (next_action.find_crash_limit(2), "crashed after 2 retries"),
        (next_action.find_crash_limit(1, 1), "crashed after 1 retry"),
    ],
)
def test_how_often_is_too_often(found: str, why: str) -> None:
    assert found == why


def test_the_exit_code_is_that_of_the_state_unless_it_is_not_to_be_gone_on_with() -> None:
    assert next_action.exit_code(0, "proceed") == 0
    assert next_action.exit_code(0, "retry") == next_action.exit_code(0, "escalate") == EXIT_CODES["incomplete"]
    assert next_action.exit_code(3, "escalate") == EXIT_CODES["crashed"]
