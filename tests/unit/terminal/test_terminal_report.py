"""What is reported to the caller's terminal."""

from __future__ import annotations

import pytest

from midwatch.core.causes import Cause
from midwatch.core.exit_codes import exit_code
from midwatch.core.foreign_text import ForeignText
from midwatch.core.job_model import Beat
from midwatch.core.verdict import FINAL, LIVE, Verdict
from midwatch.terminal.report_model import ProgramReport
from midwatch.terminal.rules import CLEAR, outcome_report, overall_report, progress_report, run_outcome_report


def verdict(state: str, cause: Cause = "", reason: str = "so it is", name: str = "api", **more: object) -> Verdict:
    return Verdict(name, "session", state, state in FINAL, reason, "alive", "yes", cause)._replace(**more)  # type: ignore[arg-type]


@pytest.mark.parametrize("state", [*LIVE, *FINAL])
def test_every_outcome_is_reported_by_its_exit_code(state: str) -> None:
    wanted = "blocked" if state == "waiting" else "error" if exit_code(state) else "done"
    assert outcome_report(verdict(state), exit_code(state)) == ProgramReport(wanted, "api", f"{state}: so it is")


@pytest.mark.parametrize(
    ("cause", "kind"),
    [
        ("permission", "permission"),
        ("trust", "permission"),
        ("question", "question"),
        ("menu", "question"),
        ("login", "auth"),
        ("interrupted", ""),
        ("suspended", ""),
    ],
)
def test_the_cause_tells_what_a_person_is_asked_for(cause: Cause, kind: str) -> None:
    assert outcome_report(verdict("waiting", cause), 8).kind == kind
    assert progress_report([verdict("waiting", cause)], 1) == ProgramReport("blocked", "api", "waiting: so it is", kind)


def test_a_line_that_was_waited_for_is_done_in_whatever_state() -> None:
    assert outcome_report(verdict("waiting"), 0).state == "done"


def test_a_wait_that_ran_out_of_time_is_an_error() -> None:
    assert outcome_report(verdict("working"), 13).state == "error"


def test_a_monitor_that_was_ended_leaves_nothing() -> None:
    assert outcome_report(verdict("abandoned", "monitor-ended"), 11) == CLEAR
    assert outcome_report(verdict("abandoned", "deadline"), 11).state == "error"


def test_work_that_ctrl_c_ended_leaves_nothing() -> None:
    assert run_outcome_report(verdict("stopped", "interrupt")) == CLEAR
    assert run_outcome_report(verdict("stopped", "stop-asked")).state == "error"
    assert run_outcome_report(verdict("failed", "exit")).state == "error"
    assert run_outcome_report(verdict("completed", "exit")).state == "done"


def test_foreign_text_is_shown_as_what_it_is() -> None:
    found = outcome_report(verdict("failed", reason="a\x1b]0;b\nc", name="a\u202eb"), 1)
    assert (found.title, found.msg) == ("a\\u202eb", "failed: a\\e]0;b\\nc")


def test_while_it_works_its_own_note_and_progress_are_reported() -> None:
    assert progress_report([verdict("working")], 1) == ProgramReport("working", "api", "working: so it is")
    assert progress_report([verdict("working", kind="job")], 1) == ProgramReport("working", "api", "working")
    beaten = verdict("working", beat=Beat(ForeignText("epoch\t3"), 0.409))
    assert progress_report([beaten], 1) == ProgramReport("working", "api", "epoch\\t3", progress=40)
    assert progress_report([verdict("working", beat=Beat(ForeignText(""), None), kind="job")], 1).msg == "working"
    assert progress_report([verdict("working", beat=Beat(ForeignText(""), 7.0))], 1).progress == 100


def test_several_are_reported_together() -> None:
    live = [verdict("working", name=name) for name in ("a", "b", "c")]
    assert progress_report(live, 5) == ProgramReport("working", "a, b, c", "5 of 5 go on")
    failed = outcome_report(verdict("failed"), 1)
    assert progress_report(live[:1], 1, [failed]) == ProgramReport("working", "a", "1 of 2 go on")
    blocked = outcome_report(verdict("waiting", "question"), 8)
    assert progress_report(live[:1], 1, [failed, blocked]) == blocked


def test_the_end_of_several_is_what_a_person_has_most_to_do_with() -> None:
    done, failed = outcome_report(verdict("completed"), 0), outcome_report(verdict("failed"), 1)
    blocked = outcome_report(verdict("waiting"), 8)
    assert overall_report([done, failed, blocked]) == blocked
    assert overall_report([done, failed]) == failed
    assert overall_report([done]) == done
    assert overall_report([done, done]) == ProgramReport("done", "api, api", "all 2 are done")
