"""A session of ours: its process comes first, its turn tells the rest."""

from __future__ import annotations

import pytest

from midwatch.core.pane_model import ProcessInfo
from midwatch.core.process_state import Exited
from midwatch.core.states import VerdictState
from midwatch.core.verdict import Evidence, Verdict
from midwatch.sessions.rules.managed_verdict import PaneState, apply_verification, find_idle_shell, judge

JOB = Verdict(
    "api", "session", "working", False, "alive", "alive", "unknown", elapsed_s=100.0, log="/x/api.log",
    evidence=(Evidence("shim", "pid 1 is alive"), Evidence("work", "pid 2 is alive")),
    against=(Evidence("note", "it was taken over"), Evidence("output", "silent")),
)  # fmt: skip
SEEN = Verdict(
    "%3", "session", "idle", False, "its turn has ended", "alive", "unknown", turn="idle", detail="turn-ended"
)
ENDED = JOB._replace(state="completed", final=True, reason="exit 0 after 9s", process=Exited(0), exit_code=0)


def test_of_what_lives_its_sources_tell() -> None:
    found = judge(JOB, PaneState(SEEN), "working", 5.0)
    assert (found.state, found.turn, found.detail, found.name) == ("idle", "idle", "turn-ended", "api")
    assert (found.log, found.elapsed_s) == ("/x/api.log", 100.0)
    assert [each.source for each in found.evidence] == ["shim"]
    assert [each.source for each in found.against] == ["note"]


def test_that_its_shim_is_gone_is_not_lost() -> None:
    assert judge(JOB._replace(process="unsupervised"), PaneState(SEEN), "", 5.0).process == "unsupervised"


@pytest.mark.parametrize("last", ["working", "waiting", "limited"])
def test_who_leaves_in_the_middle_of_a_turn_has_not_completed(last: str) -> None:
    found = judge(ENDED, PaneState(), last, 5.0)
    assert (found.state, found.final) == ("stopped", True)
    assert found.reason == f"exit 0 after 9s, in the middle of a turn ({last})"


@pytest.mark.parametrize("last", ["", "idle", "unknown", "exited"])
def test_who_leaves_at_his_prompt_has(last: str) -> None:
    found = judge(ENDED, PaneState(), last, 5.0)
    assert (found.state, found.reason) == ("completed", "exit 0 after 9s")


@pytest.mark.parametrize("state", ["failed", "crashed", "stopped"])
def test_another_end_is_as_its_shim_says(state: VerdictState) -> None:
    job = ENDED._replace(state=state)
    assert judge(job, PaneState(SEEN), "working", 5.0) == job


@pytest.mark.parametrize(("last", "detail"), [("idle", "turn-ended"), ("working", ""), ("", "")])
def test_of_an_end_that_nobody_saw_it_is_told_whether_its_turn_had_ended(last: str, detail: str) -> None:
    job = ENDED._replace(state="unknown", cause="exit-unseen", exit_code=None)
    found = judge(job, PaneState(), last, 5.0)
    assert (found.state, found.cause, found.detail) == ("unknown", "exit-unseen", detail)


def test_what_was_done_before_its_session_was_closed_stays_done() -> None:
    closed = SEEN._replace(state="completed", final=True, reason="its turn has ended")
    found = judge(ENDED._replace(state="stopped"), PaneState(), "idle", 5.0, closed)
    assert (found.state, found.turn, found.exit_code) == ("completed", "idle", 0)
    assert found.reason == "its turn has ended; its session was closed then"


def test_what_crashed_before_it_could_be_closed_has_crashed() -> None:
    closed = SEEN._replace(state="completed", final=True)
    job = ENDED._replace(state="crashed", reason="killed by SIGKILL")
    assert judge(job, PaneState(), "working", 5.0, closed) == job


@pytest.mark.parametrize("job", [JOB._replace(process="suspended", state="waiting"), JOB._replace(state="unknown")])
def test_what_the_process_says_beats_the_screen(job: Verdict) -> None:
    assert judge(job, PaneState(SEEN), "", 5.0) == job


def test_a_probe_that_fails_is_unknown() -> None:
    found = judge(JOB, PaneState(None, "tmux does not answer"), "working", 5.0)
    assert (found.state, found.final, found.reason, found.look_at) == ("unknown", False, "tmux does not answer", 6.0)


@pytest.mark.parametrize(
    ("elapsed", "glance", "last", "state"),
    [
        (1.0, PaneState(), "", "starting"),
        (1.0, PaneState(SEEN._replace(state="unknown", turn="unknown")), "", "starting"),
        (1.0, PaneState(SEEN._replace(state="unknown", turn="unknown")), "working", "unknown"),
        (100.0, PaneState(), "", "unknown"),
        (100.0, PaneState(SEEN._replace(state="unknown", turn="unknown")), "", "unknown"),
    ],
)
def test_what_is_not_to_be_seen_starts_or_is_unknown(
    elapsed: float, glance: PaneState, last: str, state: VerdictState
) -> None:
    assert judge(JOB._replace(elapsed_s=elapsed), glance, last, 5.0).state == state


def test_an_agent_that_is_gone_is_not_told_before_its_shim_has_told_how() -> None:
    seen = SEEN._replace(state="crashed", final=True, turn="exited", detail="")
    found = judge(JOB, PaneState(seen), "working", 5.0)
    assert (found.state, found.final, found.settled, found.turn, found.look_at) == (
        "working", False, False, "working", 5.2,
    )  # fmt: skip


def test_a_suspended_agent_is_told_by_its_pane_too() -> None:
    seen = SEEN._replace(state="waiting", turn="exited", detail="suspended", process="suspended")
    assert judge(JOB, PaneState(seen), "working", 5.0).state == "waiting"


def test_what_shows_nothing_of_its_turn_is_judged_as_any_job() -> None:
    silent = JOB._replace(state="stuck", progress="stalled", reason="no output for 10min")
    found = judge(silent, PaneState(), "", 5.0)
    assert found._replace(against=found.against[:-1]) == silent
    assert "judged as a job" in found.against[-1].says
    assert judge(silent, PaneState(SEEN), "", 5.0).state == "idle", "what an agent shows of it counts for more"
    assert judge(silent, PaneState(trouble="tmux does not answer"), "", 5.0).state == "unknown"


# A shell and no agent ----------------------------------------------------------------------------------------------


BASH = ProcessInfo(2, 1, "S", "bash", ("-bash",), 7, foreground=True)


@pytest.mark.parametrize("age", [1.0, 100.0])
def test_a_shell_that_runs_nothing_is_idle_from_its_start_on(age: float) -> None:
    found = judge(JOB._replace(elapsed_s=age), PaneState(shell="bash"), "", 5.0)
    assert (found.state, found.turn, found.cause, found.final) == ("idle", "idle", "at-prompt", False)


def test_an_agent_that_left_its_shell_has_ended_though_the_shell_lives() -> None:
    gone = SEEN._replace(state="crashed", final=True, turn="exited", detail="", reason="killed by SIGKILL")
    assert judge(JOB, PaneState(gone, shell="bash"), "working", 5.0).state == "crashed"
    assert not judge(JOB, PaneState(gone), "working", 5.0).settled, "else its shim is about to say how"


@pytest.mark.parametrize(
    ("tasks", "expected"),
    [
        ((BASH,), "bash"),
        ((BASH._replace(name="zsh", args=("/bin/zsh", "-i", "-l")),), "zsh"),
        ((), ""),
        ((BASH, BASH._replace(pid=3, parent=2, name="sleep")), ""),
        ((BASH._replace(letter="R"),), ""),
        ((BASH._replace(foreground=False),), ""),
        ((BASH._replace(name="claude"),), ""),
        ((BASH._replace(args=("bash", "-c", "read x")),), ""),
        ((BASH._replace(args=("bash", "-lc", "read x")),), ""),
        ((BASH._replace(args=("bash", "work.sh")),), ""),
    ],
)
def test_a_shell_at_its_prompt_runs_nothing_and_was_given_nothing(
    tasks: tuple[ProcessInfo, ...], expected: str
) -> None:
    assert find_idle_shell(tasks) == expected


# What a monitor said of the work -----------------------------------------------------------------------------------


MISSING = ENDED._replace(state="incomplete", cause="not-verified", reason="the work is not there")


def test_what_a_monitor_did_not_find_is_not_completed() -> None:
    assert apply_verification(ENDED, MISSING) == ENDED._replace(
        state="incomplete", cause="not-verified", reason="the work is not there"
    )


@pytest.mark.parametrize("said", [None, ENDED, ENDED._replace(cause="verified"), MISSING._replace(cause="deadline")])
def test_nothing_else_that_it_said_changes_an_end(said: Verdict | None) -> None:
    assert apply_verification(ENDED, said) == ENDED


def test_another_end_stays_what_it_is() -> None:
    failed = ENDED._replace(state="failed")
    assert apply_verification(failed, MISSING) == failed
