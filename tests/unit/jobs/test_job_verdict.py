"""The judge's rules, each by the case that would show it broken."""

from __future__ import annotations

import pytest

from midwatch.core.foreign_text import ForeignText
from midwatch.core.job_model import (
    Alive,
    End,
    Gone,
    Identity,
    JobFacts,
    Process,
    ProgressSnapshot,
    ProgressSource,
    Record,
    Unseen,
    WorkResult,
)
from midwatch.core.policy import PATIENT, STRICT, Policy
from midwatch.core.states import VerdictState
from midwatch.jobs.rules import stall
from midwatch.jobs.rules import verdict as job_verdict

NOW = 10_000.0
ALIVE = Alive(42, "S")
SUSPENDED = Alive(42, "T")
GONE = Gone("process 42 has ended")
ELSEWHERE = Unseen("it runs on host other; only its files can be read here")
WHO = Identity("host", "boot", "pid:[1]", 42, 7)


def record(*, end: End | None = None, policy: Policy = PATIENT, notes: tuple[str, ...] = ()) -> Record:
    return Record("build", "r1", ("make",), "/", policy, 0.0, NOW - 900, WHO, WHO, tuple(map(ForeignText, notes)), end)


def ended(state: VerdictState, code: int | None = 0, signal: int | None = None, reason: str = "") -> End:
    return End(state, code, signal, reason, 0.0, 12.3, ())


def seen(silent: float, *, stale_since: float | None = None, stuck: bool = False, **others: float) -> ProgressSnapshot:
    """Notes of a keeper: output silent for so long, other sources as given."""
    silences = {"output": silent, **others}
    return ProgressSnapshot(
        "r1", "boot", NOW, stale_since, stuck, {k: ProgressSource(1.0, NOW, NOW - age) for k, age in silences.items()}
    )


def facts(
    shim: Process = ALIVE, work: Process = ALIVE, *, of: Record | None = None, notes: ProgressSnapshot | None = None
) -> JobFacts:
    return JobFacts("build", NOW, record=of or record(), shim=shim, work=work, seen=notes, policy=PATIENT)


def text(status: str | None) -> ForeignText | None:
    return None if status is None else ForeignText(status)


def foreign(shim: Process = ALIVE, *, status: str | None = None, **more: object) -> JobFacts:
    return JobFacts("build", NOW, policy=PATIENT, shim=shim, status=text(status))._replace(**more)  # type: ignore[arg-type]


# Rule 1: a final status written by the work beats everything ---------------------------------------------------


@pytest.mark.parametrize("shim", [ALIVE, GONE, ELSEWHERE, SUSPENDED])
@pytest.mark.parametrize("work", [ALIVE, GONE, ELSEWHERE, SUSPENDED])
def test_a_recorded_end_beats_whatever_the_processes_look_like(shim: Process, work: Process) -> None:
    verdict = job_verdict.judge(facts(shim, work, of=record(end=ended("completed"))))
    assert (verdict.state, verdict.final, verdict.exit_code) == ("completed", True, 0)


def test_a_recorded_end_beats_a_status_file_that_says_otherwise() -> None:
    found = facts(GONE, GONE, of=record(end=ended("timeout", None, 15)))._replace(status=text("SUCCESS\n"))
    assert job_verdict.judge(found).state == "timeout"


@pytest.mark.parametrize(
    ("ago", "shim", "status", "settled"),
    [
        (0.1, ALIVE, None, False),
        (0.1, ALIVE, "SUCCESS\n", True),
        (0.1, GONE, None, True),
        (1.1, ALIVE, None, True),  # its disk may be full; the end is known all the same
    ],
)
def test_whoever_waits_for_an_end_finds_its_status_too(
    ago: float, shim: Process, status: str | None, settled: bool
) -> None:
    of = record(end=ended("completed"))._replace(started_mono=NOW - 12.3 - ago)
    found = facts(shim, GONE, of=of)._replace(watched=True, status=text(status))
    assert (job_verdict.judge(found).state, job_verdict.judge(found).settled) == ("completed", settled)
    assert job_verdict.judge(found._replace(watched=False)).settled, "who looks once is told what is known"


def test_work_dead_and_shim_alive_is_ending_not_crashed() -> None:
    verdict = job_verdict.judge(facts(ALIVE, GONE))
    assert (verdict.state, verdict.final) == ("working", False)
    assert "about to say" in verdict.reason


def test_a_suspended_shim_that_cannot_say_how_the_work_ended_is_named() -> None:
    assert "its shim is suspended" in job_verdict.judge(facts(SUSPENDED, GONE)).reason


# Rule 2: who is meant -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("shim", "work"), [(ELSEWHERE, ELSEWHERE), (ALIVE, ELSEWHERE), (ELSEWHERE, GONE)])
def test_what_cannot_be_seen_is_unknown_never_gone(shim: Process, work: Process) -> None:
    verdict = job_verdict.judge(facts(shim, work))
    assert (verdict.state, verdict.final, verdict.process) == ("unknown", False, "unknown")


def test_shim_and_work_gone_without_a_status_is_crashed() -> None:
    verdict = job_verdict.judge(facts(GONE, GONE))
    assert (verdict.state, verdict.final, verdict.exit_code) == ("crashed", True, None)


def test_processes_that_outlived_a_crash_are_named() -> None:
    verdict = job_verdict.judge(facts(GONE, GONE)._replace(survivors=((ForeignText("sleep"), 77),)))
    assert "still running: sleep (77)" in verdict.reason


def test_shim_gone_and_work_alive_is_working_unsupervised() -> None:
    verdict = job_verdict.judge(facts(GONE, ALIVE))
    assert (verdict.state, verdict.process) == ("working", "unsupervised")


def test_unsupervised_work_says_that_its_timeout_is_no_longer_enforced() -> None:
    assert "timeout is no longer enforced" in job_verdict.judge(facts(GONE, ALIVE, of=record(policy=STRICT))).reason


# Rule 4 and 6: alive is not advancing; the first stale look is not the last word --------------------------------


def test_work_that_moves_is_working_and_advancing() -> None:
    verdict = job_verdict.judge(facts(notes=seen(5.0)))
    assert (verdict.state, verdict.progress) == ("working", "advancing")


def test_silence_below_the_threshold_is_quiet() -> None:
    verdict = job_verdict.judge(facts(notes=seen(599.0)))
    assert (verdict.state, verdict.progress, verdict.look_at) == ("working", "quiet", NOW + 1.0)


def test_one_source_that_moves_is_enough() -> None:
    notes = seen(5_000.0, cpu=1.0, stale_since=NOW - 4_000, stuck=True)
    assert job_verdict.judge(facts(notes=notes)).state == "working"


def test_the_first_stale_look_only_begins_the_grace_period() -> None:
    verdict = job_verdict.judge(facts(notes=seen(600.0)))
    assert (verdict.state, verdict.progress) == ("working", "stalled")


def test_silence_within_the_grace_period_is_not_stuck_yet() -> None:
    verdict = job_verdict.judge(facts(notes=seen(629.0, stale_since=NOW - 29.0)))
    assert (verdict.state, verdict.progress, verdict.look_at) == ("working", "stalled", NOW + 1.0)


def test_silence_through_the_grace_period_is_stuck_and_not_final() -> None:
    verdict = job_verdict.judge(facts(notes=seen(630.0, stale_since=NOW - 30.0, stuck=True)))
    assert (verdict.state, verdict.final, verdict.progress) == ("stuck", False, "stalled")
    assert verdict.reason == "no output, CPU, I/O or beat for 10m 30s (stale after 10m, grace 30s)"


def test_no_face_says_stuck_before_the_keeper_was_told_so() -> None:
    verdict = job_verdict.judge(facts(notes=seen(700.0, stale_since=NOW - 100.0)))
    assert (verdict.state, verdict.progress) == ("working", "stalled")


def test_stuck_work_that_moves_again_is_working_again() -> None:
    assert job_verdict.judge(facts(notes=seen(0.0, stale_since=NOW - 500.0, stuck=True))).state == "working"


def test_without_notes_nothing_is_said_of_progress() -> None:
    verdict = job_verdict.judge(facts())
    assert (verdict.state, verdict.progress) == ("working", "unknown")


# Rule 7 and 8: time asleep does not count; waiting is never stuck ------------------------------------------------


def test_suspended_work_waits_for_a_person_however_silent() -> None:
    verdict = job_verdict.judge(facts(ALIVE, SUSPENDED, notes=seen(9_000.0, stale_since=NOW - 8_000, stuck=True)))
    assert (verdict.state, verdict.final, verdict.process) == ("waiting", False, "suspended")


def test_a_suspended_shim_keeps_no_time_so_nothing_is_stuck() -> None:
    verdict = job_verdict.judge(facts(SUSPENDED, ALIVE, notes=seen(9_000.0, stale_since=NOW - 8_000, stuck=True)))
    assert (verdict.state, verdict.progress) == ("working", "unknown")


def test_lost_time_moves_every_moment_that_silence_is_reckoned_from() -> None:
    before = seen(630.0, stale_since=NOW - 30.0)
    after = stall.shift_times(before, 100.0)
    assert after.stale_since == NOW + 70.0
    assert after.sources["output"].moved == before.sources["output"].moved + 100.0


# How an end is said ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("end", "reason"),
    [
        (ended("completed"), "exit 0 after 12.3s"),
        (ended("failed", 3), "exit 3 after 12.3s"),
        (ended("failed", 127, None, "could not be started: No such file"), "could not be started: No such file"),
        (ended("crashed", None, 9), "killed by SIGKILL after 12.3s"),
        (ended("timeout", None, 15, "its time was up"), "not done after 30m; stopped"),
        (ended("stopped", None, 15, "stop was asked for"), "stop was asked for; stopped after 12.3s"),
        (ended("stuck", None, 15, "no output for 90s"), "no output for 90s; stopped after 12.3s"),
    ],
)
def test_an_end_is_said_in_words(end: End, reason: str) -> None:
    verdict = job_verdict.judge(facts(GONE, GONE, of=record(end=end, policy=STRICT)))
    assert (verdict.reason, verdict.final) == (reason, True)


def test_what_outlived_its_work_is_named() -> None:
    end = ended("completed")._replace(left=tuple((ForeignText("sleep"), pid) for pid in range(4)))
    assert (
        "left running: sleep (0), sleep (1), sleep (2) and 1 more"
        in job_verdict.judge(facts(of=record(end=end))).reason
    )


def test_a_result_that_is_not_json_is_said() -> None:
    found = facts(of=record(end=ended("completed")))._replace(result=WorkResult(valid=False, value=None))
    verdict = job_verdict.judge(found)
    assert (verdict.state, verdict.result) == ("completed", None)
    assert "not valid JSON" in verdict.reason


def test_notes_of_the_record_are_told() -> None:
    verdict = job_verdict.judge(facts(of=record(notes=("the judge could not be run; only the timeout is enforced",))))
    assert any("only the timeout is enforced" in piece.says for piece in verdict.against)


# Foreign directories ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "shim", "state"),
    [
        ("SUCCESS\n", GONE, "completed"),
        ("FAILED\n", GONE, "failed"),
        ("FAILED", ALIVE, "failed"),
        ("", GONE, "crashed"),
        ("DONE\n", GONE, "unknown"),
        (None, GONE, "crashed"),
        (None, ALIVE, "working"),
        (None, Unseen("there is no pid file"), "unknown"),
    ],
)
def test_a_foreign_status_and_pid_are_read_as_the_protocol_says(
    status: str | None, shim: Process, state: VerdictState
) -> None:
    assert job_verdict.judge(foreign(shim, status=status)).state == state


def test_an_empty_status_of_a_living_writer_is_still_being_written() -> None:
    verdict = job_verdict.judge(foreign(ALIVE, status=""))
    assert (verdict.state, verdict.settled) == ("working", False)


def test_success_without_a_result_waits_for_it_while_its_process_lives() -> None:
    verdict = job_verdict.judge(foreign(ALIVE, status="SUCCESS", status_since=NOW - 0.4, watched=True))
    assert (verdict.state, verdict.settled, verdict.look_at) == ("completed", False, NOW + 0.6)


def test_success_without_a_result_waits_a_second_at_most() -> None:
    assert job_verdict.judge(foreign(ALIVE, status="SUCCESS", status_since=NOW - 1.0, watched=True)).settled


def test_success_without_a_result_does_not_wait_once_its_process_has_ended() -> None:
    assert job_verdict.judge(foreign(GONE, status="SUCCESS", status_since=NOW, watched=True)).settled


def test_a_half_written_result_is_waited_for_like_a_missing_one() -> None:
    half = WorkResult(valid=False, value=None)
    assert not job_verdict.judge(foreign(ALIVE, status="SUCCESS", status_since=NOW, watched=True, result=half)).settled


def test_a_single_look_does_not_wait() -> None:
    assert job_verdict.judge(foreign(ALIVE, status="SUCCESS")).settled


def test_without_a_pid_the_heartbeat_is_given_time_to_move() -> None:
    notes = ProgressSnapshot(
        "", "boot", NOW, None, stuck=False, sources={"heartbeat": ProgressSource(1.0, NOW, NOW - 100.0)}
    )
    verdict = job_verdict.judge(foreign(Unseen("there is no pid file"), seen=notes, watched=True))
    assert (verdict.state, verdict.settled) == ("unknown", False)


def test_without_a_pid_a_heartbeat_that_never_moves_ends_the_wait() -> None:
    notes = ProgressSnapshot(
        "", "boot", NOW, None, stuck=False, sources={"heartbeat": ProgressSource(1.0, NOW, NOW - 700.0)}
    )
    assert job_verdict.judge(foreign(Unseen("there is no pid file"), seen=notes, watched=True)).settled


def test_nothing_of_that_name_is_not_found() -> None:
    verdict = job_verdict.judge(JobFacts("build", NOW, exists=False))
    assert (verdict.state, verdict.final) == ("not_found", True)


# What the shim is told --------------------------------------------------------------------------------------------


def told(notes: ProgressSnapshot, policy: Policy = PATIENT) -> tuple[str, float, str]:
    return stall.instruct_shim(facts(of=record(policy=policy), notes=notes), policy)[:3]


def test_the_shim_is_told_to_wait_out_the_grace_period_first() -> None:
    assert told(seen(600.0)) == ("wait", 30.0, "stale")


def test_the_shim_that_asks_early_is_told_how_long_is_left() -> None:
    assert told(seen(620.0, stale_since=NOW - 20.0)) == ("wait", 10.0, "stale")


@pytest.mark.parametrize(("on_stuck", "what"), [("report", "wait"), ("stop", "stop")])
def test_stuck_is_reported_and_stopped_only_when_told_to(on_stuck: str, what: str) -> None:
    answer = told(seen(630.0, stale_since=NOW - 30.0), PATIENT._replace(on_stuck=on_stuck))
    assert (answer[0], answer[2]) == (what, "stuck")


def test_the_shim_is_told_that_work_moved_when_the_look_saw_it() -> None:
    assert told(seen(100.0, stale_since=NOW - 30.0)) == ("wait", 500.0, "moving")


def kept(notes: ProgressSnapshot, now: float = NOW) -> ProgressSnapshot:
    """What a watcher that keeps the time notes after a look."""
    return stall.next_progress(job_verdict.judge(facts(GONE, ALIVE, notes=notes)), notes, PATIENT, now)


def test_a_watcher_that_keeps_the_time_begins_the_grace_period_once() -> None:
    first = kept(seen(600.0))
    assert (first.stale_since, first.stuck) == (NOW, False)
    assert kept(first, NOW + 5).stale_since == NOW


def test_a_watcher_that_keeps_the_time_says_stuck_at_the_end_of_the_grace_period() -> None:
    assert not kept(seen(600.0, stale_since=NOW), NOW + 29.9).stuck
    assert kept(seen(600.0, stale_since=NOW), NOW + 30.0).stuck


def test_a_watcher_that_keeps_the_time_forgets_a_suspicion_when_work_moves() -> None:
    after = kept(seen(1.0, stale_since=NOW - 900, stuck=True))
    assert (after.stale_since, after.stuck) == (None, False)
