"""How an agent in a pane ended, by what is known of it."""

from __future__ import annotations

import pytest

from midwatch.agents.turn_model import Departure, Presence, SessionFacts, SessionMemory, SourceReading
from midwatch.core.policy import PATIENT
from midwatch.core.verdict import Verdict
from midwatch.sessions.rules import verdict as session_verdict

ALIVE, GONE = Presence("alive", "claude (7) runs", 7), Presence("gone", "bash is in front")
WORKING, DONE = (
    SourceReading("transcript", "working", "", "rule"),
    SourceReading("transcript", "idle", "turn-ended", "rule"),
)
STATE, HOOK = SourceReading("state", "idle", "", "rule"), SourceReading("hook", "exited", "", "rule")


def looked(
    now: float, there: Presence, left: Departure, *said: SourceReading, memory: SessionMemory | None
) -> tuple[Verdict, SessionMemory]:
    facts = SessionFacts("%1", "Claude Code", now, now, said, there, {}, {}, left=left)
    return session_verdict.judge(facts, memory, PATIENT)


def ended(left: Departure, *said: SourceReading, before: SourceReading = DONE, after: float = 0.1) -> Verdict:
    """The verdict on an agent that was seen alive once, and is gone."""
    _, memory = looked(0.0, ALIVE, Departure(), before, memory=None)
    verdict, memory = looked(1.0, GONE, left, *(said or (before,)), memory=memory)
    return verdict if after < 1 else looked(1.0 + after, GONE, left, *(said or (before,)), memory=memory)[0]


@pytest.mark.parametrize(
    ("left", "state", "cause"),
    [
        (Departure(code=0), "stopped", "exited"),
        (Departure(code=0, goodbye=True), "stopped", "exited"),
        (Departure(code=1, goodbye=True), "stopped", "exited"),
        (Departure(code=143, goodbye=True), "stopped", "exited"),
        (Departure(goodbye=True), "stopped", "exited"),
        (Departure(signal=2), "stopped", "interrupt"),
        (Departure(signal=2, goodbye=True), "stopped", "interrupt"),
        (Departure(signal=3), "stopped", "quit"),
        (Departure(signal=1), "stopped", "hangup"),
        (Departure(code=129), "stopped", "hangup"),
        (Departure(code=130), "stopped", "interrupt"),
        (Departure(code=143), "stopped", "stop-asked"),
        (Departure(signal=9), "crashed", "signal"),
        (Departure(signal=9, goodbye=True), "crashed", "signal"),
        (Departure(signal=11), "crashed", "signal"),
        (Departure(signal=15), "crashed", "signal"),
        (Departure(code=137), "crashed", "signal"),
        (Departure(shell=9), "crashed", "signal"),
        (Departure(shell=9, goodbye=True), "crashed", "signal"),
        (Departure(shell=1), "stopped", "hangup"),
        (Departure(code=0, shell=9), "stopped", "exited"),
        (Departure(code=1), "failed", "exit"),
        (Departure(code=255), "failed", "exit"),
        (Departure(), "unknown", "exit-unseen"),
    ],
)
def test_the_kernel_tells_then_the_shell_then_the_agent_itself(left: Departure, state: str, cause: str) -> None:
    verdict = ended(left)
    assert (verdict.state, verdict.cause, verdict.final, verdict.turn) == (state, cause, True, "exited")
    assert verdict.process == "gone"
    shell = left.shell if left.code is None and left.signal is None else None
    signal = left.code - 128 if left.code == 137 and left.code else left.signal or shell
    assert verdict.signal == signal
    assert verdict.exit_code == (None if left.code == 137 else left.code)


def test_the_hook_that_an_agent_calls_at_its_end_is_a_goodbye() -> None:
    assert (ended(Departure(), HOOK).state, ended(Departure(), HOOK).cause) == ("stopped", "exited")


def test_a_state_file_that_is_left_behind_tells_of_a_crash_where_nothing_else_tells() -> None:
    assert ended(Departure(), STATE, DONE).state == "crashed"
    assert ended(Departure(goodbye=True), STATE, DONE).state == "stopped"
    assert ended(Departure(code=0), STATE, DONE).state == "stopped"


def test_whoever_leaves_in_the_middle_of_a_turn_is_said_to_have() -> None:
    assert ended(Departure(code=0), before=WORKING).cause == "left-mid-turn"
    assert ended(Departure(goodbye=True), before=WORKING).cause == "left-mid-turn"
    assert ended(Departure(code=0), DONE, before=WORKING).cause == "exited", "it wrote down the end of its turn"
    menu = SourceReading("screen", "waiting", "menu", "rule")
    assert ended(Departure(code=0), menu, before=menu).cause == "exited", "the list of commands is open for /exit"


def test_to_be_in_the_middle_of_a_turn_is_no_evidence_of_a_crash() -> None:
    verdict = ended(Departure(), before=WORKING)
    assert (verdict.state, verdict.cause, verdict.detail) == ("unknown", "exit-unseen", "")
    assert verdict.reason == "it ended in the middle of a turn, and nothing tells how: bash is in front"


def test_that_its_turn_had_ended_is_known_of_an_end_that_nobody_saw() -> None:
    verdict = ended(Departure())
    assert verdict.detail == "turn-ended"
    assert verdict.reason == "it ended; its turn had ended, and nothing tells how: bash is in front"


@pytest.mark.parametrize(
    ("left", "settled"),
    [(Departure(), False), (Departure(code=1), False), (Departure(code=0), True), (Departure(signal=9), True)],
)
def test_its_last_words_have_a_moment_to_come(left: Departure, settled: bool) -> None:
    first = ended(left)
    assert (first.settled, first.look_at) == (settled, None if settled else 2.0)
    assert ended(left, after=1.0).settled


def test_what_was_seen_once_counts_though_the_screen_is_cleared() -> None:
    _, memory = looked(0.0, ALIVE, Departure(), DONE, memory=None)
    _, memory = looked(1.0, GONE, Departure(goodbye=True), DONE, memory=memory)
    verdict, memory = looked(9.0, GONE, Departure(), DONE, memory=memory)
    assert verdict.state == "stopped"
    again, _ = looked(10.0, ALIVE, Departure(), DONE, memory=memory)
    assert (again.state, again.final) == ("idle", False)


def test_what_comes_later_is_heard() -> None:
    _, memory = looked(0.0, ALIVE, Departure(), DONE, memory=None)
    first, memory = looked(1.0, GONE, Departure(), DONE, memory=memory)
    then, _ = looked(1.2, GONE, Departure(goodbye=True), DONE, memory=memory)
    assert (first.state, then.state) == ("unknown", "stopped")
