"""A log read by rules alone, and a model that contradicts itself."""

from __future__ import annotations

import pytest

from midwatch.stories.codec.model_answer import FIELDS, STEPS
from midwatch.stories.model import ParsedLog, ParseTrouble
from midwatch.stories.rules import log

# A model that contradicts itself

NO_ISSUES = {"critical": 0, "high": 0, "medium": 0, "low": 0}


def said(step: str, status: str = "SUCCESS", action: str = "proceed", **fields: object) -> ParsedLog:
    return ParsedLog(step, status, "all is well", action, fields, "model")


@pytest.mark.parametrize(
    ("parsed", "status", "action", "why"),
    [
        (said("retro", "FAILURE"), "FAILURE", "retry", "the status is FAILURE"),
        (said("retro", "AMBIGUOUS"), "AMBIGUOUS", "escalate", "the status is AMBIGUOUS"),
        (said("create", story_created=False, story_file=None), "AMBIGUOUS", "retry", "story_created is false"),
        (said("dev", tests_passed=False, build_passed=True), "AMBIGUOUS", "retry", "tests_passed is false"),
        (said("dev", tests_passed=True, build_passed=False), "AMBIGUOUS", "retry", "build_passed is false"),
        (
            said("review", issues_found=NO_ISSUES | {"critical": 1, "high": 2}, all_fixed=False),
            "AMBIGUOUS", "retry", "not all is fixed of 1 critical and 2 high",
        ),
        (
            said("review", issues_found=NO_ISSUES | {"high": 1}, all_fixed=False),
            "AMBIGUOUS", "retry", "not all is fixed of 1 high",
        ),
    ],
)  # fmt: skip
def test_what_says_proceed_beside_a_failure_is_not_believed(
    parsed: ParsedLog, status: str, action: str, why: str
) -> None:
    found = log.check_consistency(parsed)
    assert (found.status, found.next_action, found.fields) == (status, action, parsed.fields)
    assert found.summary == f"it says proceed, but {why}, so it is not believed: all is well"


@pytest.mark.parametrize(
    "parsed",
    [
        said("retro"),
        said("create", story_created=True, story_file=None),
        said("dev", tests_passed=True, build_passed=True),
        said("auto", tests_added=0, coverage_improved=False),
        said("review", issues_found=NO_ISSUES | {"critical": 3}, all_fixed=True),
        said("review", issues_found=NO_ISSUES | {"medium": 3}, all_fixed=False),
        said("dev", "FAILURE", "retry", tests_passed=False, build_passed=False),
        said("dev", "SUCCESS", "escalate", tests_passed=False, build_passed=False),
    ],
)
def test_what_agrees_with_itself_or_is_careful_stays_as_it_is(parsed: ParsedLog) -> None:
    assert log.check_consistency(parsed) == parsed


@pytest.mark.parametrize("step", STEPS)
def test_a_model_that_cannot_tell_is_for_people(step: str) -> None:
    found = log.unparsed_log(step, ParseTrouble("sub-agent timed out", "it hangs"))
    assert (found.status, found.next_action, found.by) == ("AMBIGUOUS", "escalate", "model")
    assert found.summary == "sub-agent timed out: it hangs"
    assert found.fields == dict.fromkeys(FIELDS[step])


# By rules


def rules(text: str, step: str) -> tuple[str, str, list[object]]:
    found = log.parse_by_rules(text, step)
    assert (found.by, found.trouble, found.step) == ("rules", None, step)
    assert list(found.fields) == list(FIELDS[step])
    return found.status, found.next_action, list(found.fields.values())


GOOD, BAD, OPEN = ("SUCCESS", "proceed"), ("FAILURE", "retry"), ("AMBIGUOUS", "escalate")


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize(
    "text", ["x", "I am done.", "", "\x00\xff", "Let me start with the tests.", "✻ Cooked for 45s\n> "]
)
def test_what_no_rule_knows_is_for_people(text: str, step: str) -> None:
    assert rules(text, step) == (*OPEN, [None] * len(FIELDS[step]))


@pytest.mark.parametrize(
    ("text", "passed"),
    [
        ("===== 40 passed in 2.13s =====", True),
        ("===== 1 failed, 40 passed in 2.13s =====", False),
        ("===== 2 errors in 0.10s =====", False),
        ("===== 10 failed in 2.13s =====", False),
        ("Tests:       12 passed, 12 total", True),
        ("Tests:       1 failed, 11 passed, 12 total", False),
        (" Test Files  1 failed | 3 passed (4)\n      Tests  2 failed | 12 passed (14)", False),
        ("  12 passing (30ms)\n  0 failing", True),
        ("  12 passing (30ms)\n  1 failing", False),
        ("ok  \texample.com/cart\t0.012s", True),
        ("ok  \texample.com/cart\t0.012s\n--- FAIL: TestPay (0.00s)\nFAIL", False),
        ("test result: ok. 12 passed; 0 failed; 0 ignored", True),
        ("test result: FAILED. 11 passed; 1 failed; 0 ignored", False),
        ("Ran 5 tests in 0.001s\n\nOK", True),
        ("Ran 5 tests in 0.001s\n\nFAILED (failures=1)", False),
        ("Tests run: 9, Failures: 0, Errors: 0, Skipped: 0", True),
        ("Tests run: 9, Failures: 2, Errors: 0, Skipped: 0", False),
        ("⏺ All 42 tests pass. The story is ready for review.", True),
        ("  │ **All unit tests are passing** │", True),
        ("3 failed, 4 passed\n7 passed in 1s", True),
        ("7 passed in 1s\n3 failed, 4 passed", False),
        ("7 passed in 1s\n⏺ I fixed the 3 failing tests.", True),
        ("7 passed in 1s with 0 failures and no errors", True),
        ("\x1b[31m== \x1b[1m1 failed\x1b[0m, \x1b[32m2 passed\x1b[0m ==", False),
    ],
)
def test_what_test_runners_print_is_known(text: str, passed: bool) -> None:
    assert rules(f"Bash(make test)\n{text}\n> \n", "dev") == (*(GOOD if passed else BAD), [passed, None])


@pytest.mark.parametrize(
    "text",
    [
        "I will make sure that all tests pass.",
        "Not all tests passed",
        "Next: run until all tests pass",
        "If 3 tests pass, go on.",
        "Do all tests pass?",
        "OK",
        "0 passed",
        "All tests written",
    ],
)
def test_a_plan_a_wish_and_a_denial_are_no_end(text: str) -> None:
    assert rules(text, "dev") == (*OPEN, [None, None])


@pytest.mark.parametrize(
    ("text", "passed"),
    [
        ("Build succeeded.", True), ("webpack 5 compiled successfully", True), ("✓ built in 1.21s", True),
        ("    Finished `dev` profile [unoptimized] target(s) in 0.5s", True),
        ("src/a.ts(3,1): error TS2304: Cannot find name 'x'.", False), ("BUILD FAILED in 2s", False),
        ("error[E0382]: borrow of moved value", False), ("make: *** [Makefile:3: all] Error 2", False),
        ("npm ERR! code ELIFECYCLE", False), ("Found 3 errors in 2 files", False),
    ],
)  # fmt: skip
def test_what_builds_print_is_known_and_no_tests_are_no_success(text: str, passed: bool) -> None:
    assert rules(text, "dev") == (*(OPEN if passed else BAD), [None, passed])
    assert rules(f"5 passed\n{text}", "dev") == (*(GOOD if passed else BAD), [True, passed])


@pytest.mark.parametrize(
    ("row", "action"),
    [
        ("You've hit your session limit · resets 3am", "retry"),
        ("Claude usage limit reached.", "retry"),
        ("  ⎿  API Error: 529 overloaded", "retry"),
        ("Traceback (most recent call last):", "retry"),
        ("Credit balance is too low", "escalate"),
        ("Invalid API key · Please run /login", "escalate"),
        ("  ⎿  Interrupted by user", "escalate"),
    ],
)
@pytest.mark.parametrize("step", STEPS)
def test_what_broke_off_is_no_success_unless_it_went_on(row: str, action: str, step: str) -> None:
    ends = {
        "create": "Created stories/5-3-cart.md", "dev": "40 passed in 1s", "auto": "Added 3 tests",
        "review": "No issues found", "retro": "Retrospective completed",
    }  # fmt: skip
    assert rules(f"{ends[step]}\n{row}\n", step)[:2] == ("FAILURE", action)
    assert rules(f"{row}\n{ends[step]}\n", step)[:2] == GOOD


@pytest.mark.parametrize(
    ("text", "file"),
    [
        (
            "⏺ Write(_bmad-output/implementation-artifacts/5-3-cart.md)",
            "_bmad-output/implementation-artifacts/5-3-cart.md",
        ),
        ("Story file created: `stories/5-3-cart.md`.", "stories/5-3-cart.md"),
        ("I wrote 1-1-a.md first.\nThen I saved 5-3-cart.md.", "5-3-cart.md"),
        ("- Story File: /x/5-3-cart.md", "/x/5-3-cart.md"),
    ],
)
def test_a_story_that_was_written_is_found(text: str, file: str) -> None:
    assert rules(text, "create") == (*GOOD, [True, file])


@pytest.mark.parametrize(
    "text",
    ["Reading stories/5-3-cart.md", "I will create 5-3-cart.md", "Created README.md", "5-3-cart.md was not written"],
)
def test_a_story_that_is_only_spoken_of_was_not_written(text: str) -> None:
    assert rules(text, "create") == (*OPEN, [None, None])


@pytest.mark.parametrize(
    ("text", "end", "fields"),
    [
        ("Added 12 new unit tests. Coverage went from 61% to 74.5%.", GOOD, [12, True]),
        ("7 tests were generated", GOOD, [7, None]),
        ("Tests added: 3\nCoverage: 80% → 80%", GOOD, [3, False]),
        ("Added 12 tests\n== 2 failed, 10 passed ==", BAD, [12, None]),
        ("Added 0 tests", OPEN, [0, None]),
        ("I should have added 5 tests", OPEN, [None, None]),
    ],
)
def test_tests_that_were_added_are_counted(text: str, end: tuple[str, str], fields: list[object]) -> None:
    assert rules(text, "auto") == (*end, fields)


def issues(*counts: int) -> dict[str, int]:
    return dict(zip(("critical", "high", "medium", "low"), counts, strict=True))


@pytest.mark.parametrize(
    ("text", "end", "fields"),
    [
        ("Issues found: 1 Critical, 2 High, 3 Medium, 0 Low", BAD, [issues(1, 2, 3, 0), None]),
        ("Issues found: 1 Critical, 2 High, 3 Medium\nAll issues have been fixed.", GOOD, [issues(1, 2, 3, 0), True]),
        ("**Critical:** 0\n**High:** 0\n**Medium:** 2\n**Low:** 1", GOOD, [issues(0, 0, 2, 1), None]),
        ("| Critical | 2 |\n| High | 0 |", BAD, [issues(2, 0, 0, 0), None]),
        ("2 high\nFixed all 2 issues", GOOD, [issues(0, 2, 0, 0), True]),
        ("2 critical, 1 high\nRemaining: 1 critical, 0 high", BAD, [issues(2, 1, 0, 0), False]),
        ("2 critical, 1 high\nRemaining: 0 critical, 0 high", GOOD, [issues(2, 1, 0, 0), True]),
        ("Found no issues. Status: done", GOOD, [issues(0, 0, 0, 0), True]),
        ("I fixed 2 high issues of a high-level module", BAD, [issues(0, 2, 0, 0), None]),
        ("All issues resolved.", GOOD, [None, True]),
        ("I will see that all issues are fixed.", OPEN, [None, None]),
        ("3 high-level remarks", OPEN, [None, None]),
    ],
)
def test_issues_of_a_review_are_counted(text: str, end: tuple[str, str], fields: list[object]) -> None:
    assert rules(text, "review") == (*end, fields)


def test_a_retrospective_that_was_held_is_known() -> None:
    assert rules("Retrospective for epic 5 saved to epic-5-retro.md", "retro") == (*GOOD, [])
    assert rules("The retrospective will be done", "retro") == (*OPEN, [])


def test_the_summary_quotes_what_it_was_read_from() -> None:
    found = log.parse_by_rules("error TS1: x\n== 1 failed, 2 passed ==\n", "dev")
    assert found.summary == "it says “1 failed, 2 passed ==”, “error TS1: x”"


def test_only_the_last_lines_count() -> None:
    assert rules("5 passed\n" + "x\n" * 150, "dev") == (*OPEN, [None, None])
    assert rules("5 passed\n" + "x\n" * 149, "dev") == (*GOOD, [True, None])
