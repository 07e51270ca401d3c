"""A run judged again from its events: by the policy it had, and by another."""

from __future__ import annotations

from typing import Any

import pytest

from midwatch.breaker.rules import backoff
from midwatch.core.errors import FormatError
from midwatch.core.job_model import End
from midwatch.core.policy import PATIENT, STRICT, Policy
from midwatch.core.states import VerdictState
from midwatch.jobs.rules import verdict as job_verdict
from midwatch.replay.codec import event_evidence
from midwatch.replay.model import OtherPolicy, ReplayRow, RunHappening
from midwatch.replay.rules import policy_comparison, replay_job

BEGAN = 1000.0
SLOW = PATIENT._replace(progress=("output", "beat"))
STALE = "no output or beat for 10m; stuck in 30s unless it moves"
STUCK = "no output or beat for 10m 30s (stale after 10m, grace 30s)"


def event(word: str, after: float, **more: Any) -> RunHappening:
    """What was noted so many seconds after the start."""
    return RunHappening("build", "r1", word, 5000.0 + after, mono=BEGAN + after, **more)


def started(policy: Policy = SLOW, **more: Any) -> RunHappening:
    return event("started", 0.0, policy=policy, began=BEGAN, **more)


def asked(word: str, after: float, reason: str, last: float = 0.0, stale_since: float | None = None) -> RunHappening:
    since = None if stale_since is None else BEGAN + stale_since
    moved = {"output": BEGAN + last, "beat": BEGAN}
    return event(word, after + 0.1, reason=reason, judged=BEGAN + after, moved=moved, stale_since=since)


def silence(word: str, since: float, until: float) -> RunHappening:
    return event(word, until, since=BEGAN + since, until=BEGAN + until)


def ended(
    after: float, state: VerdictState = "completed", code: int | None = 0, moved: float | None = None
) -> RunHappening:
    end = End(state, code, None if code is not None else 15, "", 0.0, after, ())
    moments = None if moved is None else {"output": BEGAN + moved}
    return event("ended", after, end=end, state=state, moved=moments)


def again(*events: RunHappening) -> list[ReplayRow]:
    story, rows = replay_job.begin_run(events[0]), []
    for it in events:
        story, row = replay_job.replay_event(story, it)
        rows += [row] if row else []
    return rows


def under(otherwise: OtherPolicy, *events: RunHappening) -> list[ReplayRow]:
    return policy_comparison.compare_attempt(replay_job.begin_run(events[0]), list(events), otherwise)[0]


def told(rows: list[ReplayRow]) -> list[tuple[float, str, str]]:
    """When, the mark, and the word said now."""
    return [(round(row.at), row.mark, word(row.now)) for row in rows]


def word(said: dict[str, object] | None) -> str:
    assert said is not None
    stop = "!" if said.get("stop") else ""
    return f"{'suspected' if said.get('progress') == 'stalled' else said['state']}{stop}"


def marks(rows: list[ReplayRow]) -> str:
    return "".join(row.mark for row in rows)


NIGHT = (
    started(),
    asked("stale", 600.0, STALE),
    asked("stuck", 630.1, STUCK, stale_since=600.1),
    silence("moved", 0.0, 900.0),
    ended(2460.0, moved=2450.0),
)
"""Work that was silent for a quarter of an hour, went on, and completed after 41 minutes."""


# As it was ----------------------------------------------------------------------------------------------------------


def test_a_run_is_judged_as_it_was() -> None:
    rows = again(*NIGHT)
    assert told(rows) == [
        (0, "=", "working"), (600, "=", "suspected"), (630, "=", "stuck"), (900, "=", "working"),
        (2460, "=", "completed"),
    ]  # fmt: skip
    assert rows[-1].now is not None
    assert rows[-1].now["reason"] == "exit 0 after 41m"


@pytest.mark.parametrize(
    "wrong",
    [
        asked("stale", 600.0, "no output or beat for 9m; stuck in 30s unless it moves"),
        asked("stale", 599.9, STALE),
        asked("stale", 600.0, STALE, last=1.0),
    ],
)
def test_a_verdict_that_its_evidence_does_not_give_is_another(wrong: RunHappening) -> None:
    assert marks(again(started(), wrong)) == "=≠"


def test_stuck_before_the_grace_period_was_over_is_another() -> None:
    assert marks(again(*NIGHT[:2], asked("stuck", 629.0, STUCK, stale_since=600.1))) == "==≠"


def test_a_stop_is_judged_by_what_the_judge_told_the_shim() -> None:
    stopping = event("stopping", 630.2, state="stuck", reason=STUCK)
    stop = started(SLOW._replace(on_stuck="stop"))
    assert marks(again(stop, *NIGHT[1:3], stopping, ended(631.0, "stuck", None))) == "====="
    assert marks(again(*NIGHT[:3], stopping)) == "===≠"  # the policy says: report


def test_a_timeout_counts_only_the_time_that_counts() -> None:
    timed = started(SLOW._replace(timeout_s=100.0))
    pause = (event("suspended", 10.0), event("continued", 60.0))
    late, early = event("stopping", 150.0, state="timeout"), event("stopping", 100.0, state="timeout")
    assert marks(again(timed, *pause, late)) == "===="
    assert marks(again(timed, *pause, early)) == "===≠"
    assert marks(again(timed, event("lost", 50.0, seconds=40.0), early)) == "=≠"
    assert marks(again(started(), late)) == "=≠"  # it had none


def test_a_suspicion_that_the_judge_dropped_unseen_does_not_count_for_the_next() -> None:
    """The judge may see movement before the shim does; then the shim notes nothing, and suspects anew later."""
    assert marks(again(started(), NIGHT[1], asked("stale", 1210.0, STALE, last=610.0))) == "==="


def test_what_is_ended_twice_was_ended_for_the_first_reason() -> None:
    timed = started(SLOW._replace(timeout_s=100.0))
    first, second = event("stopping", 100.1, state="timeout"), event("stopping", 126.0, state="stuck", reason="x")
    assert told(again(timed, first, second)) == [(0, "=", "working"), (100, "=", "timeout!")]


def test_what_a_person_stopped_or_was_cleared_away_is_no_verdict_of_a_policy() -> None:
    assert told(again(started(), event("stopping", 5.0, state="stopped"), ended(6.0, "stopped", None))) == [
        (0, "=", "working"), (6, "=", "stopped"),
    ]  # fmt: skip


def test_suspended_work_waits_for_a_person_and_is_stuck_again_if_it_was() -> None:
    rows = again(*NIGHT[:3], event("suspended", 700.0), event("continued", 5000.0), *NIGHT[3:])
    assert told(rows)[3:5] == [(700, "=", "waiting"), (5000, "=", "stuck")]


def test_an_attempt_is_followed_as_the_judge_said() -> None:
    end = End("failed", 1, None, "", 0.0, 3.0, ())
    first = started(attempt=1, retries=2, backoff_s=30.0)
    failed = event("attempt", 3.0, attempt=1, end=end, state="failed")
    wait = backoff.retry_delay(1, 30.0, "r1")
    reason = f"attempt 1 failed: exit 1 after 3s; attempt 2 of 3 in {round(wait)}s"
    retrying = event("retrying", 3.2, attempt=2, in_s=wait, reason=reason, judged=BEGAN + 3.1)
    second = event("started", 30.0, attempt=2, policy=SLOW, retries=2, backoff_s=30.0)
    rows = again(first, failed, retrying, second, ended(40.0))
    assert told(rows) == [
        (0, "=", "working"), (3, "=", "failed"), (3, "=", "starting"), (30, "=", "working"), (40, "=", "completed"),
    ]  # fmt: skip
    assert [row.attempt for row in rows] == [1, 1, 1, 2, 2]
    assert marks(again(first, failed, retrying._replace(in_s=30.0))) == "==≠"
    assert marks(again(first._replace(retries=0), failed, retrying)) == "==≠"
    assert marks(again(first._replace(retries=None), failed, retrying)) == "==?"


def test_a_silence_that_nobody_suspected_is_shown_only_if_the_judge_does_now(monkeypatch: pytest.MonkeyPatch) -> None:
    quiet = silence("quiet", 10.0, 500.0)
    assert marks(again(started(), quiet)) == "="
    policy = SLOW._replace(stale_s=60.0)

    def hasty(facts: Any) -> Any:
        return job_verdict.judge(facts._replace(record=facts.record._replace(policy=policy)))

    monkeypatch.setattr("midwatch.replay.rules.replay_job.judge", hasty)
    assert marks(again(started(), quiet)) == "=≠"


# What the evidence does not say -------------------------------------------------------------------------------------


def test_without_its_start_nothing_is_claimed() -> None:
    rows = again(*NIGHT[1:])
    assert marks(rows) == "????"
    assert {row.uncertain for row in rows} == {replay_job.NO_POLICY}


@pytest.mark.parametrize("less", [NIGHT[1]._replace(judged=None), NIGHT[1]._replace(moved=None)])
def test_without_what_the_judge_saw_nothing_is_claimed(less: RunHappening) -> None:
    assert again(started(), less)[1].uncertain == replay_job.NOT_SEEN


def test_what_moved_while_the_judge_answered_leaves_it_open_what_he_saw() -> None:
    assert again(started(), asked("stale", 600.0, STALE, last=600.05))[1].uncertain == replay_job.OVERTAKEN
    late = asked("stuck", 630.1, STUCK, stale_since=630.2)
    assert again(started(), NIGHT[1], late)[2].uncertain == replay_job.OVERTAKEN
    lost = event("lost", 600.05, seconds=3.0)
    assert again(started(), lost, asked("stale", 600.0, STALE, last=3.0))[1].uncertain == replay_job.OVERTAKEN


def test_events_of_others_are_shown_and_not_judged() -> None:
    rows = again(started(), RunHappening("build", "r1", "told-mother", 5003.0))
    assert [(row.event, row.mark, row.at) for row in rows] == [("started", "=", 0.0), ("told-mother", " ", 3.0)]


# Another policy -----------------------------------------------------------------------------------------------------


def strict(**changes: object) -> OtherPolicy:
    return OtherPolicy(STRICT._replace(progress=SLOW.progress), changes)


def test_a_stricter_policy_ends_it_sooner_and_says_what_that_would_have_cost() -> None:
    rows = under(strict(), *NIGHT)
    assert told(rows) == [(0, "=", "working"), (60, "≠", "suspected"), (90, "≠", "stuck!")]
    assert rows[-1].note == "would have been stopped as stuck at 1m 30s; in truth it completed at 41m"
    assert rows[-1].given == {"state": "working"}


def test_a_stricter_policy_that_only_reports_is_shown_beside_what_was() -> None:
    assert told(under(strict(on_stuck="report", timeout_s=None), *NIGHT)) == [
        (0, "=", "working"), (60, "≠", "suspected"), (90, "≠", "stuck"), (600, "≠", "stuck"), (630, "=", "stuck"),
        (900, "=", "working"), (2460, "=", "completed"),
    ]  # fmt: skip


def test_a_more_patient_policy_suspects_nothing() -> None:
    assert told(under(OtherPolicy(None, {"stale_s": 1000.0}), *NIGHT)) == [
        (0, "=", "working"), (600, "≠", "working"), (630, "≠", "working"), (900, "=", "working"),
        (2460, "=", "completed"),
    ]  # fmt: skip


def test_with_the_same_thresholds_all_is_as_it_was_but_what_is_done() -> None:
    assert marks(under(OtherPolicy(None, {"timeout_s": 3000.0}), *NIGHT)) == "====="
    rows = under(OtherPolicy(None, {"on_stuck": "stop"}), *NIGHT)
    assert told(rows) == [(0, "=", "working"), (600, "=", "suspected"), (630, "≠", "stuck!")]


def test_a_timeout_would_have_ended_it_without_the_time_that_does_not_count() -> None:
    pause = (event("suspended", 1000.0), event("continued", 1100.0), event("lost", 1300.0, seconds=50.0))
    rows = under(OtherPolicy(None, {"timeout_s": 1200.0}), *NIGHT[:4], *pause, NIGHT[4])
    assert told(rows)[-1] == (1350, "≠", "timeout!")
    assert rows[-1].note.startswith("would have been stopped because its time was up at 22m 30s; in truth it completed")


def test_silence_is_reckoned_across_a_pause_and_shown_at_its_moment() -> None:
    """Silent from 10 on, suspended from 40 to 140, moved at 199: it is silent for 60 s at 170, not at 70."""
    events = (
        started(), event("suspended", 40.0), event("continued", 140.0),
        event("quiet", 199.0, since=BEGAN + 110.0, until=BEGAN + 199.0), ended(300.0, moved=299.0),
    )  # fmt: skip
    assert told(under(strict(on_stuck="report"), *events)) == [
        (0, "=", "working"), (40, "=", "waiting"), (140, "=", "working"), (170, "≠", "suspected"),
        (199, "=", "working"), (300, "=", "completed"),
    ]  # fmt: skip


def test_what_its_own_policy_ended_might_have_gone_on() -> None:
    stop = started(SLOW._replace(on_stuck="stop"))
    stopping = event("stopping", 630.2, state="stuck", reason=STUCK)
    rows = under(OtherPolicy(None, {"stale_s": 900.0}), stop, *NIGHT[1:3], stopping, ended(631.0, "stuck", None))
    assert told(rows)[-1] == (631, "≠", "working")
    assert "nobody knows" in rows[-1].note


def test_a_stop_that_both_policies_make_is_the_same() -> None:
    stop = started(SLOW._replace(on_stuck="stop"))
    events = (stop, *NIGHT[1:3], event("stopping", 630.2, state="stuck", reason=STUCK), ended(631.0, "stuck", None))
    assert marks(under(OtherPolicy(None, {"timeout_s": 5000.0}), *events)) == "===="
    timed = (
        started(SLOW._replace(timeout_s=50.0)),
        event("stopping", 51.0, state="timeout"),
        ended(51.5, "timeout", None),
    )
    assert marks(under(OtherPolicy(None, {"stale_s": 700.0}), *timed)) == "=="


def test_the_silence_before_the_end_counts() -> None:
    assert told(under(strict(), started(), ended(500.0, moved=100.0)))[-1] == (190, "≠", "stuck!")
    unknown = under(strict(), started(), ended(500.0))
    assert (unknown[-1].mark, unknown[-1].uncertain) == ("?", policy_comparison.TAIL)


def test_work_that_still_runs_is_judged_as_far_as_is_known() -> None:
    rows = under(strict(), *NIGHT[:2])
    assert (
        rows[-1].note
        == "would have been stopped as stuck at 1m 30s; in truth it was still at work at 10m, where the evidence ends"
    )


# What cannot be known of another policy -----------------------------------------------------------------------------


def test_cpu_that_nobody_looked_at_may_have_broken_a_short_silence() -> None:
    busy = (started(PATIENT), silence("quiet", 0.0, 301.0), ended(400.0, moved=399.0))
    rows = under(OtherPolicy(STRICT, {}), *busy)
    assert told(rows)[1:] == [
        (60, "?", "suspected"),
        (90, "?", "stuck!"),
        (301, "?", "working"),
        (400, "?", "completed"),
    ]
    assert rows[1].uncertain == "CPU and I/O were looked at only after 5m of silence"
    assert rows[2].note == policy_comparison.PERHAPS


def test_where_cpu_was_looked_at_the_silence_is_certain() -> None:
    idle = (started(PATIENT), silence("quiet", 0.0, 500.0), ended(600.0, moved=599.0))
    assert told(under(OtherPolicy(STRICT, {}), *idle))[1:] == [(60, "≠", "suspected"), (90, "≠", "stuck!")]


def test_what_moved_within_a_heartbeat_of_the_threshold_may_have_moved_before() -> None:
    near = (started(), silence("quiet", 100.0, 170.0), ended(400.0, moved=399.0))
    assert told(under(strict(), *near))[1:] == [(160, "?", "suspected"), (170, "?", "working"), (400, "=", "completed")]


def test_thresholds_below_what_was_noted_are_uncertain() -> None:
    rows = under(strict(stale_s=30.0, timeout_s=None), *NIGHT)
    assert told(rows)[1:3] == [(30, "?", "suspected"), (60, "?", "stuck!")]
    assert "not noted" in rows[1].uncertain


@pytest.mark.parametrize(
    ("progress", "says"), [(("output",), "which source"), (("output", "beat", "cpu"), "cpu was not watched")]
)
def test_other_sources_of_progress_are_uncertain(progress: tuple[str, ...], says: str) -> None:
    rows = under(strict(progress=progress, on_stuck="report"), *NIGHT)
    assert says in rows[1].uncertain


def test_a_policy_of_which_nothing_is_known_cannot_be_left() -> None:
    assert marks(under(strict(), *NIGHT[1:])) == "????"


# Lines --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b"nonsense", "not JSON"),
        (b"[1]", "no event"),
        (b'{"schema": 1}', "no event"),
        (b'{"schema": 2, "event": "started"}', "newer Midwatch"),
        (b'{"schema": "x", "event": "started"}', "of schema 'x', not 1"),
        (b'{"schema": 1, "event": "started"}', "it has no name"),
        (b'{"schema": 1, "event": 7, "name": "a", "run": "r", "at": 1}', "7 is no text"),
        (b'{"schema": 1, "event": "lost", "name": "a", "run": "r", "at": 1, "seconds": "x"}', "'x' is no number"),
        (b'{"schema": 1, "event": "lost", "name": "a", "run": "r", "at": NaN}', "nan is no number"),
        (b'{"schema": 1, "event": "stale", "name": "a", "run": "r", "at": 1, "moved": 3}', "3 is no table"),
        (b'{"schema": 1, "event": "ended", "name": "a", "run": "r", "at": 1, "state": "fine"}', "it ended as 'fine'"),
        (b'{"schema": 1, "event": "started", "name": "a", "run": "r", "at": 1, "policy": {}}', "name is missing"),
        (b'{"schema": 1, "events": [3]}', "no list of events"),
        (b"[" * 100_000, "not JSON"),
    ],
)
def test_what_is_no_event_is_refused_in_words(line: bytes, says: str) -> None:
    with pytest.raises(FormatError, match=says):
        event_evidence.decode_line(line)


def test_of_an_event_of_others_only_that_it_was_is_taken() -> None:
    odd = b'{"schema": 1, "event": "new", "name": "a", "run": "r", "at": 1, "policy": 3, "reason": [], "n": "x"}'
    assert event_evidence.decode_line(odd).happened == (RunHappening("a", "r", "new", 1.0),)


def test_an_event_behind_one_that_was_cut_off_is_not_lost() -> None:
    whole = b'{"schema": 1, "run": "r", "n": 2, "at": 1.5, "name": "a", "event": "continued"}'
    found = event_evidence.decode_line(whole[:30] + whole)
    assert ([it.event for it in found.happened], found.torn) == (["continued"], 30)
