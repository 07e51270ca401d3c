"""Our verdicts in the six words of `monitor-session`; its `exit_reason` names the one that we would say."""

from __future__ import annotations

from midwatch.compat.story_automator.screen_fields import to_plain_cell
from midwatch.compat.story_automator.story_verification import StoryVerification
from midwatch.core.json_text import dump
from midwatch.core.text import visible
from midwatch.core.value import Value
from midwatch.core.verdict import Verdict
from midwatch.sessions.rules.managed_verdict import SHELL

BY_SIGNAL = 128
LOOKED_ON = ("limited", "unknown", "waiting", "idle", "starting")
"""Live states that are worth a word when the time is up."""


class StoryResult(Value):
    final_state: str
    exit_reason: str
    output_verified: bool = False
    todos_done: int = 0
    todos_total: int = 0
    output_file: str = ""
    project: str = ""
    caller_project: str = ""
    """Whose files have decided, and whose have not; empty where it is the same project."""

    def as_json(self) -> str:
        told: dict[str, object] = {
            "final_state": self.final_state, "todos_done": self.todos_done, "todos_total": self.todos_total,
            "output_file": self.output_file, "exit_reason": self.exit_reason, "output_verified": self.output_verified,
        }  # fmt: skip
        if self.project != self.caller_project:
            told |= {"project": self.project, "caller_project": self.caller_project}
        return dump(told)

    def as_csv(self) -> str:
        cells = (self.final_state, str(self.todos_done), str(self.todos_total), self.output_file, self.exit_reason)
        return ",".join(map(visible, cells))


def map_result(verdict: Verdict, truth: StoryVerification) -> StoryResult:
    """``truth``: whether the work is there, by the files of the project."""
    verified = truth.done is True
    match verdict.state:
        case "completed" | "incomplete" | "idle":
            return _map_end(verdict, truth)
        case "waiting" if verdict.turn == "idle" and verified:
            return StoryResult(
                "completed", truth.reason, True
            )  # nothing tells how its turn ended, but its work is there
        case "waiting":
            return StoryResult("incomplete", _join_words("waiting", verdict.detail), verified)
        case "failed" | "crashed":
            return StoryResult("crashed", _join_words(verdict.state, _format_code(verdict)), verified)
        case "unknown" if verdict.cause == "exit-unseen":
            return StoryResult("completed", truth.reason, True) if verified else StoryResult("crashed", "exit_unseen")
        case "stuck":
            word = verdict.progress if verdict.progress in ("frozen", "stalled") else ""
            return StoryResult("stuck", _join_words("stuck", word), verified)
        case "timeout":
            return StoryResult("timeout", "timeout", verified)
        case "not_found":
            return StoryResult("not_found", "session_gone", verified)
        case _:
            return StoryResult("not_found", _join_words(verdict.state, ""), verified)


def map_timeout(verdict: Verdict, minutes: float, truth: StoryVerification) -> StoryResult:
    """The time was up, and the session is left as it is."""
    if verdict.detail == SHELL:
        return _map_end(verdict._replace(state="incomplete", cause="never-began"), truth)
    live = verdict.state if verdict.state in LOOKED_ON else ""
    return StoryResult("timeout", _join_words(f"exceeded_{minutes:g}m", live), truth.done is True)


def _map_end(verdict: Verdict, truth: StoryVerification) -> StoryResult:
    if truth.done is not True and verdict.cause == "never-began":
        return StoryResult("incomplete", "idle_no_activity")
    if truth.done is False:
        return StoryResult("incomplete", truth.reason)
    if truth.done:
        return StoryResult("completed", truth.reason, True)
    if verdict.state == "completed":
        return StoryResult("completed", "normal_completion")
    return StoryResult("incomplete", "idle_no_activity")


def exit_code_or_signal(verdict: Verdict) -> int | None:
    """As a shell says it: the exit code, or that of a signal; None where nobody knows either."""
    if verdict.exit_code is not None:
        return verdict.exit_code
    return None if verdict.signal is None else BY_SIGNAL + verdict.signal


def _format_code(verdict: Verdict) -> str:
    if (number := exit_code_or_signal(verdict)) is not None:
        return f"exit_code_{number}"
    return "turn" if verdict.turn else ""


def _join_words(*words: str) -> str:
    return "_".join(to_plain_cell(word).replace(" ", "_").replace("-", "_") for word in words if word)
