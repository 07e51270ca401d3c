"""Trying again: what the shim is told, and what is said meanwhile."""

from __future__ import annotations

import pytest

from midwatch.breaker.rules import backoff
from midwatch.core.job_model import (
    Alive,
    Attempt,
    End,
    Gone,
    Identity,
    JobFacts,
    Process,
    ProgressSnapshot,
    ProgressSource,
    Record,
    Unseen,
)
from midwatch.core.policy import PATIENT, STRICT, Policy
from midwatch.core.states import VerdictState
from midwatch.jobs.rules import stall
from midwatch.jobs.rules import verdict as job_verdict

NOW = 10_000.0
WHO = Identity("host", "boot", "pid:[1]", 42, 7)
ALIVE, GONE = Alive(42, "S"), Gone("process 42 has ended")


def end(state: VerdictState, code: int | None = 1, signal: int | None = None, reason: str = "") -> End:
    return End(state, code, signal, reason, 0.0, 12.0, ())


def record(
    *ends: End, retries: int = 2, attempt: int = 0, policy: Policy = PATIENT, next_mono: float | None = None
) -> Record:
    """A record whose attempts ended so; the last of them is the current one unless ``attempt`` says otherwise."""
    made = Record("build", "r1", ("make",), "/", policy, 0.0, NOW - 900, WHO, WHO, (), None)
    attempts = tuple(Attempt(number, each) for number, each in enumerate(ends, 1))
    made = made._replace(attempts=attempts, attempt=attempt or len(ends), retries=retries)
    return made._replace(attempt_mono=NOW - 100, next_mono=next_mono)


def facts(of: Record, shim: Process = ALIVE, work: Process = GONE) -> JobFacts:
    return JobFacts("build", NOW, record=of, shim=shim, work=work)


@pytest.mark.parametrize("state", ["failed", "crashed", "timeout", "stuck"])
def test_these_ends_are_tried_again_after_the_back_off(state: VerdictState) -> None:
    what, seconds, word, reason = stall.instruct_shim(facts(record(end(state))), PATIENT)
    assert (what, word, seconds) == ("retry", "ended", backoff.retry_delay(1, 30.0, "r1"))
    assert reason.startswith(f"attempt 1 {state}: ")
    assert "; attempt 2 of 3 in " in reason


def test_an_end_that_nobody_saw_is_tried_again_as_a_crash_is() -> None:
    unseen = end("unknown", None, None, "it ended after its shim had gone")._replace(cause="exit-unseen")
    answer = stall.instruct_shim(facts(record(unseen)), PATIENT)
    assert (answer.what, answer.seconds) == ("retry", backoff.retry_delay(1, 30.0, "r1"))
    assert stall.instruct_shim(facts(record(unseen._replace(cause="not-seen"))), PATIENT).what == "end"


def test_the_second_pause_is_longer_than_the_first() -> None:
    first = stall.instruct_shim(facts(record(end("failed"))), PATIENT).seconds
    second = stall.instruct_shim(facts(record(end("failed"), end("failed"))), PATIENT).seconds
    assert first < second


def test_after_the_last_attempt_there_is_no_other() -> None:
    answer = stall.instruct_shim(facts(record(*[end("failed")] * 3)), PATIENT)
    assert (answer.what, answer.reason) == ("end", "not tried again: 3 of 3 attempts were made")


def test_what_could_not_be_started_will_not_start_the_next_time() -> None:
    never = end("failed", 127, None, "could not be started: No such file")._replace(cause="not-started")
    answer = stall.instruct_shim(facts(record(never)), PATIENT)
    assert answer.what == "end"
    assert "could not be started" in answer.reason


def test_a_program_that_ends_with_127_of_its_own_is_tried_again() -> None:
    assert stall.instruct_shim(facts(record(end("failed", 127))), PATIENT).what == "retry"


def test_an_open_breaker_ends_it() -> None:
    answer = stall.instruct_shim(facts(record(end("failed"))), PATIENT, breaker="breaker night is open")
    assert (answer.what, answer.reason) == ("end", "not tried again: breaker night is open")


def test_while_an_attempt_runs_the_shim_asks_about_its_silence() -> None:
    running = record(end("failed"), attempt=2)
    assert stall.instruct_shim(facts(running, work=ALIVE), PATIENT).word == "moving"


def test_between_attempts_it_is_starting_and_says_when() -> None:
    verdict = job_verdict.judge(facts(record(end("failed"), next_mono=NOW + 29.6)))
    assert (verdict.state, verdict.final, verdict.process) == ("starting", False, "starting")
    assert verdict.reason == "attempt 1 failed: exit 1 after 12s; attempt 2 of 3 in 30s"


def test_before_the_judge_has_answered_that_is_said() -> None:
    verdict = job_verdict.judge(facts(record(end("crashed", None, 11))))
    assert verdict.reason == "attempt 1 crashed: killed by SIGSEGV after 12s; attempt 2 of 3 is being decided"


def test_without_its_shim_the_last_attempt_is_the_end() -> None:
    verdict = job_verdict.judge(facts(record(end("failed", 7), next_mono=NOW + 30), shim=GONE))
    assert (verdict.state, verdict.final, verdict.exit_code) == ("failed", True, 7)
    assert verdict.reason.endswith("its shim is gone, so it is not tried again")


def test_a_stuck_attempt_whose_shim_is_gone_is_final() -> None:
    verdict = job_verdict.judge(facts(record(end("stuck", None, 15, "no output for 2m")), shim=GONE))
    assert (verdict.state, verdict.final) == ("stuck", True)


def test_a_shim_that_cannot_be_seen_from_here_is_not_called_gone_between_attempts() -> None:
    elsewhere = Unseen("it runs on host other")
    assert job_verdict.judge(facts(record(end("failed")), shim=elsewhere, work=elsewhere)).state == "unknown"


def test_the_timeout_is_reckoned_from_the_attempt_not_from_the_first_start() -> None:
    policy = STRICT._replace(timeout_s=120.0)
    running = record(end("failed"), attempt=2, policy=policy)
    seen = ProgressSnapshot("r1", "boot", NOW, None, False, {"output": ProgressSource(1.0, NOW, NOW)})
    verdict = job_verdict.judge(facts(running, work=ALIVE)._replace(seen=seen))
    assert verdict.deadline == ("timeout", 20.0)


def test_an_end_says_which_attempt_it_was_and_why_tells_the_others() -> None:
    done = record(end("failed"), attempt=2)._replace(end=end("completed", 0))
    verdict = job_verdict.judge(facts(done))
    assert verdict.reason == "exit 0 after 12s; attempt 2 of 3"
    assert ("attempt 1", "failed: exit 1 after 12s") in [(piece.source, piece.says) for piece in verdict.evidence]


def test_without_retries_nothing_is_said_of_attempts() -> None:
    verdict = job_verdict.judge(facts(record(retries=0, attempt=1)._replace(end=end("failed"))))
    assert verdict.reason == "exit 1 after 12s"
