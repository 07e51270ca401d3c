"""What a log says of a step, by rules alone; and whether a model's reading of one agrees with itself.

Rules know what test runners, builds and agents print. What broke off after that outweighs it, and what no rule knows
is AMBIGUOUS: a person looks. A model that says "proceed" beside a failure is not believed, because nobody looks again
at a step that was gone on from.
"""

from __future__ import annotations

from midwatch.core.plain_text import clean_reason
from midwatch.stories.codec import log_patterns
from midwatch.stories.codec.log_patterns import LogSign, Rows
from midwatch.stories.codec.model_answer import FIELDS, SEVERITIES, last_log_lines
from midwatch.stories.model import (
    AMBIGUOUS,
    BY_MODEL,
    BY_RULES,
    ESCALATE,
    FAILURE,
    PROCEED,
    RETRY,
    SUCCESS,
    ParsedLog,
    ParseTrouble,
)

SHOWN = 120
"""Characters of a line that a summary quotes."""

# Of a model's reading


def unparsed_log(step: str, trouble: ParseTrouble) -> ParsedLog:
    """A model could not tell, and why."""
    return ParsedLog(step, AMBIGUOUS, trouble.words, ESCALATE, dict.fromkeys(FIELDS[step]), BY_MODEL, trouble)


def check_consistency(said: ParsedLog) -> ParsedLog:
    """A reading as it may be acted on: what says "proceed" in spite of what it says beside it does not proceed."""
    if said.next_action != PROCEED or not (why := _find_contradiction(said)):
        return said
    action = ESCALATE if said.status == AMBIGUOUS else RETRY
    status = AMBIGUOUS if said.status == SUCCESS else said.status
    summary = clean_reason(f"it says proceed, but {why}, so it is not believed: {said.summary}")
    return said._replace(status=status, next_action=action, summary=summary)


def _find_contradiction(said: ParsedLog) -> str:
    """What speaks against going on; empty when nothing does."""
    if said.status != SUCCESS:
        return f"the status is {said.status}"
    for key in ("story_created", "tests_passed", "build_passed"):
        if said.fields.get(key) is False:
            return f"{key} is false"
    if severe := _format_severe(said.fields):
        return f"not all is fixed of {severe}"
    return ""


def _format_severe(fields: dict[str, object]) -> str:
    """The critical and high issues of a review, in words, unless all are fixed."""
    found = fields.get("issues_found")
    if not isinstance(found, dict) or fields.get("all_fixed"):
        return ""
    return " and ".join([f"{found[level]} {level}" for level in SEVERITIES[:2] if found[level]])


# By rules


def parse_by_rules(text: str, step: str) -> ParsedLog:
    """What a log says, without a model: the same log, the same reading."""
    rows = log_patterns.strip_ornaments(last_log_lines(text))
    fields, good, signs = READERS[step](rows)
    last, broke = max(signs, key=lambda sign: sign.at), log_patterns.find_break_off(rows)
    if broke.at > last.at:
        action = ESCALATE if broke.value else RETRY
        return _build_parsed(step, FAILURE, action, fields, [broke])
    if good is None:
        return ParsedLog(step, AMBIGUOUS, "no rule knows what this log says of it", ESCALATE, fields, BY_RULES)
    return _build_parsed(step, SUCCESS if good else FAILURE, PROCEED if good else RETRY, fields, signs)


def _build_parsed(step: str, status: str, action: str, fields: dict[str, object], signs: list[LogSign]) -> ParsedLog:
    quoted = dict.fromkeys([f"\u201c{sign.row.strip()[:SHOWN]}\u201d" for sign in signs if sign.at >= 0])
    return ParsedLog(step, status, clean_reason(f"it says {', '.join(quoted)}"), action, fields, BY_RULES)


Read = tuple[dict[str, object], bool | None, list[LogSign]]
"""The fields; whether it went well, None if nothing tells; the rows that say so."""


def _parse_create(rows: Rows) -> Read:
    story = log_patterns.find_story_file(rows)
    made = True if story.value else None
    return {"story_created": made, "story_file": story.value}, made, [story]


def _parse_dev(rows: Rows) -> Read:
    tests, build = log_patterns.find_test_result(rows), log_patterns.find_build_result(rows)
    good = False if False in (tests.value, build.value) else tests.value is True or None
    return {"tests_passed": tests.value, "build_passed": build.value}, good, [tests, build]


def _parse_auto(rows: Rows) -> Read:
    added, coverage, tests = (
        log_patterns.find_added_tests(rows),
        log_patterns.find_coverage(rows),
        log_patterns.find_test_result(rows),
    )
    good = False if tests.value is False else bool(added.value) or None
    return {"tests_added": added.value, "coverage_improved": coverage.value}, good, [added, coverage, tests]


def _parse_review(rows: Rows) -> Read:
    issues, fixed = log_patterns.count_issues(rows), log_patterns.find_fixed(rows)
    none = isinstance(issues.value, dict) and not any(issues.value.values())
    fields = {"issues_found": issues.value, "all_fixed": True if none and fixed.value is None else fixed.value}
    told = issues.value is not None or fixed.value is True
    return fields, (not _format_severe(fields)) if told else None, [issues, fixed]


def _parse_retro(rows: Rows) -> Read:
    done = log_patterns.find_retrospective(rows)
    return {}, True if done.value else None, [done]


READERS = {
    "create": _parse_create,
    "dev": _parse_dev,
    "auto": _parse_auto,
    "review": _parse_review,
    "retro": _parse_retro,
}
