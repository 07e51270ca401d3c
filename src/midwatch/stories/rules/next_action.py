"""What is next after an attempt at a step of work: go on, try it again, or have a person look.

Three words only, so that a script can branch on them: `proceed`, `retry`, `escalate`. What nobody can tell is never
`proceed`.
"""

from __future__ import annotations

from midwatch.jobs.rules.resume_condition import TOLD_TO_GO
from midwatch.stories.model import CRASH_RETRIES, ESCALATE, PROCEED, RETRY, REVIEW_CYCLES, SUCCESS, Next, StepEnd, Tally

UNDONE = 6
"""Exit code for what ended well, but is not to be gone on with: that of `incomplete`."""


MOST = Tally(CRASH_RETRIES, REVIEW_CYCLES)


def find_review_limit(cycles: int, most: int = REVIEW_CYCLES) -> str:
    """Why there is to be no further review after so many; empty while there may be one."""
    return f"review loop: {_format_count(cycles, 'cycle')}" if cycles >= most else ""


def find_crash_limit(retries: int, most: int = CRASH_RETRIES) -> str:
    """The same after a crash, when it has been tried again so often."""
    return f"crashed after {_format_count(retries, 'retry', 'retries')}" if retries >= most else ""


def find_creation_problem(created: int) -> str:
    """What is wrong with the number of files that one step has created: exactly one is right."""
    if created == 1:
        return ""
    return f"runaway creation: {_format_count(created, 'file')}" if created > 1 else "no file was created"


def is_crash(ended: StepEnd) -> bool:
    """Whether it counts as a crash: it did, or it hung, or nobody can tell that it did not."""
    return ended.unseen or ended.state in ("crashed", "stuck")


def decide_next(ended: StepEnd, tally: Tally, most: Tally = MOST) -> Next:
    """What is next."""
    if ended.created is not None and ended.created > 1:  # another attempt would only create more
        return Next(ESCALATE, find_creation_problem(ended.created))
    match ended.state:
        case "completed":
            return _after_completion(ended, tally, most)
        case _ if is_crash(ended):
            return _after_crash(ended, tally, most)
        case "incomplete" if ended.step == "review":
            return _review_again(ended.reason, tally, most)
        case "limited":
            return Next(RETRY, ended.reason)
        case _:
            return Next(ESCALATE, ended.reason)


def _after_completion(ended: StepEnd, tally: Tally, most: Tally) -> Next:
    if ended.created is not None and (wrong := find_creation_problem(ended.created)):
        return Next(ESCALATE, wrong)
    said = ended.parsed
    if said is None:
        return Next(PROCEED, ended.reason)
    summary = said.summary or f"its output reads as {said.status}"
    if said.next_action == RETRY:
        return _review_again(summary, tally, most) if ended.step == "review" else Next(RETRY, summary)
    if said.next_action != PROCEED:
        return Next(ESCALATE, summary)
    if said.status != SUCCESS:
        return Next(ESCALATE, f"its output reads as {said.status}, and yet as if it could be gone on with: {summary}")
    return Next(PROCEED, summary)


def _after_crash(ended: StepEnd, tally: Tally, most: Tally) -> Next:
    if ended.state == "crashed" and ended.signal in TOLD_TO_GO:
        return Next(ESCALATE, f"{ended.reason}: somebody wanted it to end")
    if why := find_crash_limit(tally.crashes - 1, most.crashes):
        return Next(ESCALATE, f"{why}: {ended.reason}" if most.crashes else ended.reason)
    return Next(RETRY, ended.reason, "crash")


def _review_again(reason: str, tally: Tally, most: Tally) -> Next:
    if why := find_review_limit(tally.cycles, most.cycles):
        return Next(ESCALATE, f"{why}: {reason}")
    return Next(RETRY, reason, "cycle")


def exit_code(ended_with: int, action: str) -> int:
    """That of the final state, unless it ended well and is not to be gone on with."""
    return UNDONE if ended_with == 0 and action != PROCEED else ended_with


def _format_count(number: int, one: str, several: str = "") -> str:
    return f"{number} {one if number == 1 else several or f'{one}s'}"
