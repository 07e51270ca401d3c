"""What test runners, builds and agents print at the end of a step, line by line.

Of several lines that tell the same thing the last counts. What is said with the words of a plan, of a wish or of a
denial has not happened; what was mended is no failure.
"""

from __future__ import annotations

import re

from midwatch.core.value import Value
from midwatch.stories.codec.model_answer import SEVERITIES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

Rows = list[str]


class LogSign(Value):
    """What a line says."""

    value: object
    row: str = ""
    at: int = -1
    """Which row; what no row says is before all."""


NOTHING = LogSign(None)


def _any_of(*forms: str) -> re.Pattern[str]:
    return re.compile("|".join(forms), re.IGNORECASE)


UNSURE = _any_of(
    r"\b(?:will|would|should|could|must|shall|may|might|until|ensure|make sure|once|if|when|before|unless|needs?)\b",
    r"\b(?:let me|let's|going to|wants?|expect|todo|not|never|cannot|verify|check|whether|so that)\b|n't\b|\?",
)
MENDED = _any_of(r"\b(?:fix|fixed|fixes|fixing|previously|no longer|resolved|repaired|used to)\b")
NONE_FAILED = _any_of(r"\b(?:0|no) (?:tests? )?(?:failed|failing|failures?|errors?)\b")
TESTS_FAILED = _any_of(
    r"\b[1-9]\d* (?:tests? |suites? |specs? |examples? )?(?:failed|failing|failures?)\b",
    r"\b[1-9]\d* errors? in [\d.]+s|\b(?:failures|errors)[:=] ?[1-9]|test result: FAILED",
    r"^FAIL(?:ED)?(?:[ \t:]|$)|\btests? (?:suite )?(?:failed|fails?|(?:are|is) failing)\b",
)
TESTS_PASSED = _any_of(
    r"\b[1-9]\d* (?:tests? )?(?:passed|passing|pass)\b|test result: ok\. [1-9]",
    r"^ok\s+\S+\s+(?:[\d.]+s|\(cached\))|\btests run: [1-9]\d*, failures: 0, errors: 0\b",
    r"\ball (?:\d+ )?(?:\w+ )?tests (?:now )?(?:pass|passed|passing|are passing|are green)\b",
)
RAN = re.compile(r"Ran [1-9]\d* tests? in ")
BUILD_FAILED = _any_of(
    r"\bbuild failed\b|^BUILD FAILURE|\bfailed to compile\b|\bcould not compile\b|\bcompilation (?:failed|error)",
    r"\berror TS\d+:|^error(?:\[E\d+\])?: |^npm (?:ERR!|error) |^make(?:\[\d+\])?: \*\*\* |\bFound [1-9]\d* errors?\b",
)
BUILD_PASSED = _any_of(
    r"\bbuild (?:succeeded|success|successful|passed|passes|completed|complete)\b|\bcompiled successfully\b",
    r"^Finished [`']?\w+[`']? (?:profile|target)|^built in |\bsuccessfully built\b",
)
PATHS = re.compile(r"[\w./~-]+")
STORY_FILE = re.compile(r"\d+[-.]\d+-.*\.md")
WRITTEN = _any_of(r"\b(?:created|wrote|written|saved|generated)\b|^Write\(|\bready-for-dev\b|\bstory file:")
TESTS_ADDED = _any_of(
    r"\b(?:added|created|generated|wrote|implemented) (?:a total of )?(\d+) (?:new )?(?:[\w-]+ ){0,2}tests?\b",
    r"\b(\d+) (?:new )?(?:[\w-]+ )?tests? (?:were |have been |was )?(?:added|created|generated|written)\b",
    r"\btests (?:added|created|generated)\W{1,6}(\d+)\b",
)
COVERAGE = _any_of(r"\bcoverage\b.{0,40}?(\d+(?:\.\d+)?) ?%\W{0,3}(?:to|→|->|=>)\W{0,3}(\d+(?:\.\d+)?) ?%")
ISSUES = r"(?:issues|findings|problems)"
ALL_ISSUES = rf"all (?:of )?(?:the )?(?:\d+ )?(?:\w+ )?{ISSUES}"
FOUND_NONE = _any_of(rf"\b(?:no|zero|0) (?:new )?{ISSUES}(?: (?:were |was )?found)?\b")
ALL_FIXED = _any_of(
    rf"\b{ALL_ISSUES} (?:\w+ )?(?:were |are |have been |now )?(?:fixed|resolved|addressed)\b",
    rf"\b(?:fixed|resolved) {ALL_ISSUES}\b",
)
OPEN = _any_of(r"\b(?:remain|remains|remaining|left|open|unresolved|unfixed)\b")
COUNTED = {
    level: (
        _any_of(rf"\b(\d{{1,6}}) {level}(?![\w-])"),
        _any_of(rf"\b{level}\b(?: (?:issues|severity|priority|findings))?\W{{0,6}}[:|=(]\W{{0,6}}(\d{{1,6}})\b"),
    )
    for level in SEVERITIES
}
RETRO_DONE = _any_of(r"\bretro(?:spective)?\b.{0,40}\b(?:completed?|done|finished|saved|written)\b")
BROKE_OFF = _any_of(
    r"\b(?:usage|rate|session|weekly|5-hour) limit (?:reached|exceeded|hit)\b|\bhit your (?:\w+ )?limit\b",
    r"^API Error\b|^Traceback \(most recent call last\)|^panic: |^(?:Execution|Fatal) error\b",
    r"\bsegmentation fault\b|\bout of memory\b",
)
FOR_PEOPLE = _any_of(r"\bcredit balance is too low\b|\bplease run /login\b|\binterrupted by user\b")


def strip_ornaments(rows: Rows) -> Rows:
    """Rows without the bullets, bars and stars that they begin with."""
    return [re.sub(r"^[\W_]+|(?<!\*)\*\*(?!\*)", "", row) for row in rows]


def _find_last(rows: Rows, judge_row: Callable[[str], object]) -> LogSign:
    for at in range(len(rows) - 1, -1, -1):
        if (value := judge_row(rows[at])) is not None:
            return LogSign(value, rows[at], at)
    return NOTHING


def find_test_result(rows: Rows) -> LogSign:
    """Whether tests passed when they were last run."""

    def judge_row(row: str) -> object:
        rest = NONE_FAILED.sub("", row)
        if TESTS_FAILED.search(rest) and not MENDED.search(rest):
            return False
        return True if TESTS_PASSED.search(row) and not UNSURE.search(row) else None

    found = _find_last(rows, judge_row)
    for at in range(len(rows) - 1, found.at, -1):  # unittest says only OK, some rows below what it ran
        if re.fullmatch(r"OK(?: \(.*\))?", rows[at]) and any(RAN.match(row) for row in rows[max(0, at - 3) : at]):
            return LogSign(value=True, row=rows[at], at=at)
    return found


def find_build_result(rows: Rows) -> LogSign:
    def judge_row(row: str) -> object:
        if BUILD_FAILED.search(row) and not MENDED.search(row):
            return False
        return True if BUILD_PASSED.search(row) and not UNSURE.search(row) else None

    return _find_last(rows, judge_row)


def find_story_file(rows: Rows) -> LogSign:
    """The file of a story that was written."""

    def judge_row(row: str) -> object:
        paths = [path.rstrip(".") for path in PATHS.findall(row)]
        found = [path for path in paths if STORY_FILE.fullmatch(path.rpartition("/")[2])]
        return found[-1] if found and WRITTEN.search(row) and not UNSURE.search(row) else None

    return _find_last(rows, judge_row)


def find_added_tests(rows: Rows) -> LogSign:
    def judge_row(row: str) -> object:
        found = None if UNSURE.search(row) else TESTS_ADDED.search(row)
        return int(next(filter(None, found.groups()))[:6]) if found else None

    return _find_last(rows, judge_row)


def find_coverage(rows: Rows) -> LogSign:
    """Whether coverage went up, where both numbers stand there."""

    def judge_row(row: str) -> object:
        found = COVERAGE.search(row)
        return float(found[2]) > float(found[1]) if found else None

    return _find_last(rows, judge_row)


def count_issues(rows: Rows) -> LogSign:
    """How many issues a review found, by severity: the largest count, for a later one may be of the rest."""
    most: dict[str, int] = {}
    last = NOTHING
    for at, row in enumerate(rows):
        if FOUND_NONE.search(row) and not UNSURE.search(row) and not OPEN.search(row):
            most, last = dict.fromkeys(SEVERITIES, 0), LogSign(None, row, at)
        for level, count in _parse_counts(row).items():
            most[level], last = max(count, most.get(level, 0)), LogSign(None, row, at)
    return last._replace(value={level: most.get(level, 0) for level in SEVERITIES}) if most else NOTHING


def find_fixed(rows: Rows) -> LogSign:
    """Whether all that a review found is fixed."""

    def judge_row(row: str) -> object:
        if OPEN.search(row) and (counts := _parse_counts(row)):
            return not any(counts.values())
        if UNSURE.search(row):
            return None
        return True if ALL_FIXED.search(row) or FOUND_NONE.search(row) else None

    return _find_last(rows, judge_row)


def _parse_counts(row: str) -> dict[str, int]:
    """Counts by severity in a row: `1 critical, 2 high`, else `Critical: 1`."""
    for form in (0, 1):
        found = {level: forms[form].search(row) for level, forms in COUNTED.items()}
        if any(found.values()):
            return {level: int(match[1]) for level, match in found.items() if match}
    return {}


def find_retrospective(rows: Rows) -> LogSign:
    return _find_last(rows, lambda row: True if RETRO_DONE.search(row) and not UNSURE.search(row) else None)


def find_break_off(rows: Rows) -> LogSign:
    """What ends an agent's work before its end: True where only a person can mend it."""

    def judge_row(row: str) -> object:
        return True if FOR_PEOPLE.search(row) else False if BROKE_OFF.search(row) else None

    return _find_last(rows, judge_row)
