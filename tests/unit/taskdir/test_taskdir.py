"""The judge on tasks of task directories, and what is done about what he says."""

from __future__ import annotations

from typing import Any

import pytest

from midwatch.core.foreign_text import NOTHING, ForeignText
from midwatch.core.job_model import Alive, Gone, ProgressSource, Unseen
from midwatch.taskdir.model import ResumeRecipe, TaskFacts, TaskNotes, TaskNumbers, TaskSession, TaskStep, WrapperPane
from midwatch.taskdir.rules import action
from midwatch.taskdir.rules.verdict import LAST_WORDS, judge

NOW = 10_000.0
NUMBERS = TaskNumbers()
ALIVE, GONE = Alive(42, "S"), Gone("process 42 has ended")
SHELL = WrapperPane("%3", 40, NOTHING)
HERE = TaskSession(True, "", "claude-a", SHELL, 1)
BUSY = HERE._replace(pane=WrapperPane("%3", 40, ForeignText("claude")))
AWAY = TaskSession(False, "there is no session claude-a")
HIDDEN = TaskSession(None, "tmux does not answer")
SEEN = TaskNotes(
    "boot", NOW - 1, NOW - 1000, agent=(42, 7), wrapper=(41, 6), pane=("%3", 40), command="bash w",
    sources={"output": ProgressSource(5.0, NOW - 1, NOW - 1)},
)  # fmt: skip


def facts(**more: object) -> TaskFacts:
    found = TaskFacts("claude-a", "/tmp/task", NOW, SEEN, session=HERE, pid=42, start=7, wrapper=Alive(41, "S"))
    return found._replace(**more)  # type: ignore[arg-type]


def state(**more: object) -> str:
    return judge(facts(**more), NUMBERS).state


def quiet(seconds: float, **more: object) -> TaskNotes:
    source = ProgressSource(5.0, NOW - 1, NOW - seconds)
    return SEEN._replace(sources={"output": source, "cpu": source}, **more)  # type: ignore[arg-type]


def step(before: TaskNotes = SEEN, numbers: TaskNumbers = NUMBERS, /, **more: Any) -> TaskStep:
    found = facts(**more)
    return action.plan_step(found if "notes" in more else found._replace(notes=before), before, numbers)


# Ends


@pytest.mark.parametrize(
    ("code", "word"),
    [(0, "completed"), (1, "failed"), (127, "failed"), (128, "failed"), (255, "failed"),
     (137, "crashed"), (143, "crashed"), (139, "crashed"), (129, "crashed"), (130, "stopped"), (131, "stopped")],
)  # fmt: skip
def test_done_is_what_its_exit_code_says(code: int, word: str) -> None:
    verdict = judge(facts(done=True, code=code, agent=GONE), NUMBERS)
    assert (verdict.state, verdict.final, verdict.settled) == (word, True, True)
    assert (verdict.exit_code is None) == (verdict.signal is not None) == (word in ("crashed", "stopped"))


@pytest.mark.parametrize("agent", [None, ALIVE, GONE, Unseen("a link")])
@pytest.mark.parametrize("session", [HERE, AWAY, HIDDEN])
def test_done_beats_whatever_became_of_session_and_process(agent: object, session: TaskSession) -> None:
    assert state(done=True, code=0, agent=agent, session=session) == "completed"


def test_done_without_a_code_is_waited_for_and_then_unknown_for_good() -> None:
    verdict = judge(facts(done=True), NUMBERS)
    assert (verdict.settled, verdict.look_at) == (False, NOW + LAST_WORDS)
    later = judge(facts(done=True, notes=SEEN._replace(gone_since=NOW - LAST_WORDS)), NUMBERS)
    assert (later.state, later.final, later.settled) == ("unknown", True, True)


def test_an_agent_that_has_just_ended_is_given_a_moment_for_its_last_words() -> None:
    verdict = judge(facts(agent=GONE, wrapper=Gone("x")), NUMBERS)
    assert (verdict.state, verdict.settled, verdict.look_at) == ("working", False, NOW + LAST_WORDS)
    later = SEEN._replace(gone_since=NOW - LAST_WORDS)
    assert state(agent=GONE, wrapper=Gone("x"), notes=later) == "crashed"


def test_a_wrapper_that_lives_is_given_as_long_as_silence_may_last() -> None:
    for wrapper, session in ((Alive(41, "S"), HERE), (Unseen("not seen"), BUSY)):
        ending = facts(agent=GONE, wrapper=wrapper, session=session)
        young = judge(ending._replace(notes=SEEN._replace(gone_since=NOW - 100)), NUMBERS)
        assert (young.state, young.settled) == ("working", False)
        old = judge(ending._replace(notes=SEEN._replace(gone_since=NOW - 120)), NUMBERS)
        assert (old.state, old.settled) == ("crashed", True)
        assert "its wrapper has said nothing since we saw that, 2m ago" in old.reason


@pytest.mark.parametrize(("code", "word"), [(0, "completed"), (4, "failed"), (137, "crashed")])
def test_an_end_that_the_kernel_told_counts_where_the_wrapper_is_gone(code: int, word: str) -> None:
    notes = SEEN._replace(gone_since=NOW - 3, code=code)
    verdict = judge(facts(agent=GONE, wrapper=Gone("x"), notes=notes), NUMBERS)
    assert verdict.state == word
    assert "told by the kernel" in verdict.reason


def test_a_wrapper_that_was_killed_between_its_exit_code_and_done_has_still_said_how() -> None:
    notes = SEEN._replace(gone_since=NOW - 3, code=137)
    assert state(agent=GONE, wrapper=Gone("x"), notes=notes, code=0) == "completed"


def test_a_session_that_is_gone_is_a_reason_and_never_a_success() -> None:
    verdict = judge(
        facts(agent=GONE, wrapper=Gone("x"), session=AWAY, notes=SEEN._replace(gone_since=NOW - 3)), NUMBERS
    )
    assert (verdict.state, verdict.final) == ("crashed", True)
    assert "there is no session claude-a" in verdict.reason


# Life


def test_silence_counts_after_three_times_the_base_and_is_a_suspicion_first() -> None:
    assert judge(facts(agent=ALIVE, notes=quiet(89)), NUMBERS).progress == "quiet"
    verdict = judge(facts(agent=ALIVE, notes=quiet(90)), NUMBERS)
    assert (verdict.state, verdict.progress) == ("working", "stalled")
    assert state(agent=ALIVE, notes=quiet(500, stuck=True)) == "stuck"


def test_the_first_stale_look_begins_the_grace_period_and_only_its_end_is_stuck() -> None:
    first = step(quiet(500), agent=ALIVE)
    assert (first.what, first.notes.stale_since, first.notes.stuck, first.at) == ("wait", NOW, False, NOW + 3.0)
    during = step(quiet(500, stale_since=NOW - 29), agent=ALIVE)
    assert (during.what, during.verdict.state) == ("wait", "working")
    after = step(quiet(500, stale_since=NOW - 30), agent=ALIVE)
    assert (after.what, after.verdict.state) == ("resume", "stuck")


def test_a_grace_period_that_is_over_is_not_said_to_begin() -> None:
    verdict = judge(facts(agent=ALIVE, notes=quiet(500, stale_since=NOW - 40)), NUMBERS)
    assert (verdict.state, verdict.reason) == ("working", "no output or CPU for 8m 20s; its grace period is over")


def test_movement_ends_a_suspicion() -> None:
    found = step(quiet(5, stale_since=NOW - 100, stuck=True), agent=ALIVE)
    assert (found.what, found.notes.stale_since, found.notes.stuck) == ("wait", None, False)


def test_what_computes_in_silence_is_not_stuck() -> None:
    notes = SEEN._replace(
        sources={"output": ProgressSource(5.0, NOW, NOW - 900), "cpu": ProgressSource(5.0, NOW, NOW - 1)}
    )
    assert judge(facts(agent=ALIVE, notes=notes), NUMBERS).progress == "advancing"


def test_a_reason_names_what_runs_below_a_silent_agent() -> None:
    verdict = judge(facts(agent=ALIVE, notes=quiet(200), below=((ForeignText("sleep"), 50),)), NUMBERS)
    assert "with sleep (50) below it" in verdict.reason


@pytest.mark.parametrize("word", ["waiting", "limited"])
def test_who_waits_is_never_stuck(word: str) -> None:
    turn = (word, "dialog", "as its screen says")
    found = step(quiet(5000, stale_since=NOW - 500, stuck=True), agent=ALIVE, turn=turn)
    assert (found.what, found.verdict.state, found.verdict.final) == ("say", word, False)


def test_a_suspended_agent_waits_for_a_person_however_long() -> None:
    found = step(quiet(5000, stale_since=NOW - 500, stuck=True), agent=Alive(42, "T"))
    assert (found.what, found.verdict.state) == ("say", "waiting")


def test_an_agent_whose_session_or_wrapper_is_gone_goes_on_and_that_is_said() -> None:
    lonely = judge(facts(agent=ALIVE, session=AWAY), NUMBERS)
    assert (lonely.state, lonely.process) == ("working", "unsupervised")
    assert "but the agent goes on (pid 42)" in lonely.reason
    orphan = judge(facts(agent=ALIVE, wrapper=Gone("x")), NUMBERS)
    assert (orphan.state, orphan.process) == ("working", "unsupervised")


def test_what_cannot_be_seen_is_unknown_and_told_only_if_it_lasts() -> None:
    first = step(agent=Unseen("a link"))
    assert (first.what, first.verdict.state, first.notes.unknown_since) == ("wait", "unknown", NOW)
    last = step(SEEN._replace(unknown_since=NOW - 120), agent=Unseen("a link"))
    assert (last.what, last.verdict.state) == ("say", "unknown")


# Beginnings


def test_without_a_pid_file_it_is_starting_for_as_long_as_silence_may_last() -> None:
    assert state(notes=SEEN._replace(began=NOW - 119)) == "starting"
    assert state(notes=SEEN._replace(began=NOW - 120)) == "not_found"
    assert state(notes=SEEN._replace(began=NOW - 900), session=BUSY) == "starting"
    assert state(session=AWAY) == "not_found"
    assert state(session=HIDDEN) == "unknown"


def test_a_marker_without_a_process_is_a_resume_that_somebody_did_not_finish() -> None:
    assert state(marker=True, notes=SEEN._replace(began=NOW - 9)) == "starting"
    assert state(marker=True, notes=SEEN._replace(began=NOW - 10)) == "crashed"


@pytest.mark.parametrize(
    ("ago", "session", "word"),
    [(9, HERE, "starting"), (10, HERE, "crashed"), (10, BUSY, "starting"), (120, BUSY, "stuck"), (10, AWAY, "crashed")],
)
def test_a_wrapper_that_was_run_again_must_write_its_pid_file_in_time(
    ago: int, session: TaskSession, word: str
) -> None:
    notes = SEEN._replace(phase="typed", resumed_at=NOW - ago, total=1, cause="hung")
    assert state(notes=notes, session=session) == word


# Coming back

CRASHED: dict[str, Any] = {"agent": GONE, "wrapper": Gone("x")}
LATER = SEEN._replace(gone_since=NOW - 3)


def test_a_crash_is_resumed_at_once_and_counted_before_anything_is_done() -> None:
    found = step(LATER, **CRASHED)
    assert (found.what, found.notes.phase, found.notes.cause) == ("resume", "resuming", "crashed")
    assert (found.notes.total, found.notes.retry, found.notes.resumed_at) == (1, 1, NOW)


def test_a_hang_is_resumed_as_such() -> None:
    assert step(quiet(500, stale_since=NOW - 30), agent=ALIVE).notes.cause == "hung"


@pytest.mark.parametrize(("retry", "wait"), [(0, 30), (1, 60), (2, 120), (5, 300)])
def test_the_next_resume_waits_for_the_interval_of_the_protocol(retry: int, wait: int) -> None:
    notes = LATER._replace(total=retry, retry=retry, resumed_at=NOW - wait + 1)
    early = step(notes, **CRASHED)
    assert (early.what, early.at) == ("wait", NOW + 1)
    assert "resumed in 1s" in early.verdict.reason
    assert step(notes._replace(resumed_at=NOW - wait), **CRASHED).what == "resume"


def test_the_count_of_all_resumes_never_goes_back_and_ends_in_abandoned() -> None:
    found = step(LATER._replace(total=10, retry=0), **CRASHED)
    assert (found.what, found.verdict.state, found.verdict.final) == ("say", "abandoned", True)
    assert found.verdict.detail == "max_retries_exceeded"


def test_fresh_output_takes_back_the_doubling_and_not_the_count() -> None:
    before = quiet(50, total=4, retry=4)
    after = before._replace(sources=before.sources | {"output": ProgressSource(6.0, NOW, NOW - 1)})
    found = step(before, agent=ALIVE, notes=after)
    assert (found.notes.retry, found.notes.total) == (0, 4)


def test_the_first_output_of_a_new_agent_is_not_taken_for_fresh() -> None:
    """Its pane shows the command that was typed."""
    before = quiet(50, total=4, retry=4)
    after = before._replace(agent=(43, 9), sources={"output": ProgressSource(9.0, NOW, NOW)})
    assert step(before, agent=Alive(43, "S"), notes=after).notes.retry == 4


def test_without_retries_what_has_crashed_or_hangs_is_reported() -> None:
    only = NUMBERS._replace(retries=0)
    crash = step(LATER, only, **CRASHED)
    assert (crash.what, crash.verdict.state, crash.verdict.final) == ("say", "crashed", True)
    hang = step(quiet(500, stale_since=NOW - 30), only, agent=ALIVE)
    assert (hang.what, hang.verdict.state, hang.verdict.final) == ("say", "stuck", False)


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"foreign": "others may write to it"}, "others may write"),
        ({"session": AWAY}, "there is no session"),
        ({"session": HERE._replace(pane=None, panes=3)}, "which of the 3 panes"),
        ({"session": HERE._replace(pane=WrapperPane("%3", 41, NOTHING))}, "its pane has no shell"),
    ],
)
@pytest.mark.parametrize("hangs", [True, False])
def test_what_cannot_be_resumed_is_told_and_left_as_it_is(more: dict[str, object], why: str, hangs: bool) -> None:
    case = {"agent": ALIVE} if hangs else CRASHED
    found = step(quiet(500, stale_since=NOW - 30) if hangs else LATER, **{**case, **more})
    assert (found.what, found.verdict.state) == ("say", "stuck" if hangs else "crashed")
    assert why in found.verdict.reason


@pytest.mark.parametrize("command", ["", "sh /tmp/task/midwatch.sh"])
def test_where_no_wrapper_is_known_it_is_asked_how_to_go_on_before_each_resume(command: str) -> None:
    notes = LATER._replace(command=command)
    assert step(notes, **CRASHED).what == "derive"
    found = step(notes, **CRASHED, recipe=ResumeRecipe("echo"))
    assert (found.what, found.notes.command, found.notes.total) == ("resume", "sh /tmp/task/midwatch.sh", 1)
    given_up = step(notes, **CRASHED, recipe=ResumeRecipe(why="nobody tells"))
    assert (given_up.what, given_up.verdict.state, given_up.notes.total) == ("say", "crashed", 0)
    assert given_up.verdict.reason.endswith("; not resumed: nobody tells")


@pytest.mark.parametrize("phase", ["ready", "typed"])
def test_the_end_of_the_agent_that_was_ended_may_be_told_late_and_ends_no_resume(phase: str) -> None:
    notes = SEEN._replace(phase=phase, total=1, cause="hung", resumed_at=NOW - 1)
    assert step(notes, done=True, code=143).notes.phase == phase
    assert step(notes, done=True, code=0).verdict.state == "completed"


def test_a_tmux_that_does_not_answer_is_given_time_before_a_crash_is_final() -> None:
    assert step(LATER, **CRASHED, session=HIDDEN).what == "wait"
    late = step(LATER._replace(gone_since=NOW - 60), **CRASHED, session=HIDDEN)
    assert (late.what, late.verdict.state) == ("say", "crashed")


@pytest.mark.parametrize("code", [0, 1, 130])
def test_an_end_that_was_meant_is_never_resumed(code: int) -> None:
    assert step(LATER, agent=GONE, done=True, code=code).what == "say"


def test_a_resume_that_was_cut_short_goes_on_without_being_counted_again() -> None:
    notes = LATER._replace(phase="resuming", total=3, retry=2, cause="hung", resumed_at=NOW - 1)
    found = step(notes, **CRASHED)
    assert (found.what, found.notes.total, found.notes.cause) == ("resume", 3, "hung")
    assert step(notes, agent=None).what == "resume"


def test_a_resume_is_called_off_when_what_hung_moves_again() -> None:
    notes = quiet(5, phase="resuming", total=1, stale_since=NOW - 50, stuck=True)
    assert step(notes, agent=ALIVE).notes.phase == ""


def test_a_wrapper_is_run_once_its_pane_is_at_a_shell() -> None:
    notes = SEEN._replace(phase="ready", total=1, cause="hung", resumed_at=NOW - 1)
    assert step(notes).what == "type"
    assert (step(notes, session=BUSY).what, step(notes, session=BUSY).at) == ("wait", NOW + action.SOON)
    gone = step(notes, session=AWAY)
    assert (gone.what, gone.verdict.state, gone.verdict.final) == ("say", "crashed", True)


@pytest.mark.parametrize("phase", ["ready", "typed"])
def test_a_new_pid_file_ends_a_resume_whoever_wrote_it(phase: str) -> None:
    notes = SEEN._replace(phase=phase, total=1, resumed_at=NOW - 1)
    assert step(notes, agent=Alive(43, "S")).notes.phase == ""


def test_where_the_owners_own_monitor_runs_nothing_is_done() -> None:
    found = step(LATER, **CRASHED, rival=77)
    assert (found.what, found.notes.total) == ("wait", 0)


# Time


def test_a_deadline_abandons_what_goes_on_and_not_what_has_ended() -> None:
    notes = SEEN._replace(began=NOW - 18000)
    found = step(notes, agent=ALIVE)
    assert (found.what, found.verdict.state, found.verdict.detail) == ("say", "abandoned", "deadline_exceeded")
    assert "it is left as it is" in found.verdict.reason
    assert step(notes, agent=GONE, done=True, code=0).verdict.state == "completed"
    assert step(notes._replace(gone_since=NOW - 3), **CRASHED).verdict.state == "crashed"


def test_time_that_was_lost_moves_every_moment() -> None:
    notes = LATER._replace(resumed_at=1.0, unknown_since=2.0, stale_since=3.0)
    later = action.shift_times(notes, 100.0)
    moments = ("at", "began", "resumed_at", "gone_since", "unknown_since", "stale_since")
    assert all(getattr(later, name) == getattr(notes, name) + 100.0 for name in moments)
    assert later.sources["output"] == ProgressSource(5.0, NOW + 99, NOW + 99)


def test_looks_are_no_further_apart_than_the_protocol_has_them() -> None:
    fresh = SEEN._replace(sources={"output": ProgressSource(5.0, NOW, NOW)})
    assert step(fresh, agent=ALIVE).at == NOW + 30
    assert step(fresh._replace(retry=1), agent=ALIVE).at == NOW + 45  # half of the silence that counts
    assert step(fresh._replace(began=NOW - 17999), agent=ALIVE).at == NOW + 1


# Ages


def test_silence_that_began_before_we_looked_is_said_to_be_since_then() -> None:
    met = quiet(100, met=NOW - 100)
    assert "no output or CPU since we look, 1m 40s ago" in judge(facts(agent=ALIVE, notes=met), NUMBERS).reason
    young = judge(facts(agent=ALIVE, notes=quiet(5, met=NOW - 5)), NUMBERS)
    assert (young.reason, young.evidence[-1].says) == ("first looked at 5s ago", "first looked at")


def test_silence_that_we_saw_begin_has_its_true_age() -> None:
    assert "no output or CPU for 1m 40s" in judge(facts(agent=ALIVE, notes=quiet(100, met=NOW - 500)), NUMBERS).reason
    young = judge(facts(agent=ALIVE, notes=quiet(5, met=NOW - 500)), NUMBERS)
    assert (young.reason, young.evidence[-1].says) == ("last output 5s ago", "last moved")


@pytest.mark.parametrize("source", ["output", "screen"])
def test_what_is_printed_takes_back_the_doubling_however_it_was_seen(source: str) -> None:
    before = quiet(50, total=4, retry=4)
    before = before._replace(sources=before.sources | {source: ProgressSource(5.0, NOW - 1, NOW - 50)})
    after = before._replace(sources=before.sources | {source: ProgressSource(6.0, NOW, NOW)})
    assert step(before, agent=ALIVE, notes=after).notes.retry == 0


# The next monitor

MINE = TaskNotes("boot", NOW, NOW, monitor=(9, 9))
OURS = "sh /tmp/task/midwatch.sh"


@pytest.mark.parametrize(
    ("before", "given", "command"),
    [("bash w", "bash o", "bash w"), ("", "bash o", "bash o"), (OURS, "bash o", "bash o"), (OURS, "", OURS)],
)
@pytest.mark.parametrize("over", [True, False])
def test_a_wrapper_that_was_seen_is_known_to_the_next_one(before: str, given: str, command: str, over: bool) -> None:
    verdict = judge(facts(done=True, code=137), NUMBERS) if over else None
    notes = LATER._replace(command=before, verdict=verdict, total=3)
    found = action.take_over_notes(notes, MINE._replace(command=given), NOW, "/tmp/task")
    assert (found.command, found.total, found.verdict, found.monitor) == (command, 0 if over else 3, None, (9, 9))
