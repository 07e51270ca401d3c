"""The verdict on a session over time: rules 4 to 8."""

from __future__ import annotations

import pytest

from midwatch.agents.turn_model import Presence, SessionFacts, SessionMemory, SourceReading
from midwatch.core.policy import PATIENT, Policy
from midwatch.core.verdict import Verdict
from midwatch.sessions.rules import verdict as session_verdict

ALIVE = Presence("alive", "claude (7) runs", 7)


class Watch:
    """Looks at one made-up session, one after the other."""

    def __init__(self) -> None:
        self.memory: SessionMemory | None = None
        self.now = 0.0

    def observe(
        self, turn: str, *, after: float = 1.0, source: str = "state", text: str = "", spinner: str = "",
        cpu: float = 0.0, there: Presence = ALIVE, detail: str = "", notes: tuple[str, ...] = (),
        clock: str = "", policy: Policy = PATIENT,
    ) -> Verdict:  # fmt: skip
        self.now += after
        heard = (SourceReading(source, turn, detail, "rule"),) if turn else ()
        facts = SessionFacts(
            "%1", "Claude Code", self.now, self.now, heard, there, {"text": text},
            {"screen": spinner} | ({"clock": clock} if clock else {}), cpu, 0.0, notes=notes,
        )  # fmt: skip
        verdict, self.memory = session_verdict.judge(facts, self.memory, policy)
        return verdict

    def silence(self, seconds: float, *, spinning: bool = False, cpu: float = 0.0) -> Verdict:
        """Look every 2 s at a turn in which no text comes."""
        end, step, used = self.now + seconds, 0, 0.0
        verdict = None
        while verdict is None or self.now < end:
            step += 1
            used += 2 * cpu
            verdict = self.observe("working", after=2.0, spinner=str(step) if spinning else "", cpu=used)
        return verdict


def test_a_thinking_model_with_a_spinner_is_not_stuck_before_ten_minutes() -> None:
    watch = Watch()
    watch.observe("working")
    assert watch.silence(590, spinning=True).state == "working"
    assert watch.silence(20, spinning=True).progress == "stalled"
    assert watch.silence(30, spinning=True).state == "stuck"


def test_the_first_stale_look_is_a_suspicion_only() -> None:
    watch = Watch()
    watch.observe("working")
    verdict = watch.silence(600, spinning=True)
    assert (verdict.state, verdict.progress) == ("working", "stalled")
    assert verdict.deadline == ("stuck unless it moves", PATIENT.grace_s)


def test_the_first_stale_look_is_a_suspicion_without_a_grace_period_too() -> None:
    """Rule 6, as for jobs."""
    watch, policy = Watch(), PATIENT._replace(stale_s=5.0, grace_s=0.0)
    watch.observe("working", policy=policy)
    first = watch.observe("working", after=6.0, policy=policy)
    assert (first.state, first.progress, first.look_at) == ("working", "stalled", watch.now)
    assert watch.observe("working", after=0.1, policy=policy).state == "stuck"


def test_a_look_at_the_very_moment_that_was_announced_finds_it_stuck() -> None:
    """6.1 + 0.3 - 6.1 is less than 0.3: the sum that is announced must be the one that is compared."""
    watch, policy = Watch(), PATIENT._replace(stale_s=5.0, grace_s=0.3)
    watch.observe("working", policy=policy)
    announced = watch.observe("working", after=5.1, policy=policy).look_at
    assert announced is not None
    watch.now = announced
    assert watch.observe("working", after=0.0, policy=policy).state == "stuck"


def test_time_in_which_nobody_looked_does_not_count() -> None:
    """Rule 7: a watcher that slept for an hour has not seen an hour of silence."""
    watch = Watch()
    watch.observe("working")
    watch.observe("working", after=3600, spinner="moved")
    assert watch.silence(500, spinning=True).progress == "quiet"


def test_a_frozen_screen_counts_sooner() -> None:
    watch = Watch()
    watch.observe("working")
    watch.observe("working", spinner="a")
    assert watch.silence(80).progress != "frozen"
    assert watch.silence(14).progress == "frozen"
    assert watch.silence(30).state == "stuck"


def test_a_screen_that_never_moved_in_this_turn_is_not_frozen() -> None:
    """Codex without animations: its timer stands at 0s from the start."""
    watch = Watch()
    watch.observe("working")
    assert watch.silence(500).state == "working"


def test_text_that_comes_again_takes_the_suspicion_back() -> None:
    watch = Watch()
    watch.observe("working")
    watch.silence(650, spinning=True)
    verdict = watch.observe("working", text="more")
    assert (verdict.state, verdict.progress) == ("working", "advancing")


def test_a_silent_tool_that_computes_is_working() -> None:
    """Rule 5."""
    watch = Watch()
    watch.observe("working")
    assert watch.silence(900, spinning=True, cpu=0.5).progress == "advancing"


def test_a_tool_that_uses_next_to_nothing_is_no_progress() -> None:
    watch = Watch()
    watch.observe("working")
    assert watch.silence(660, spinning=True, cpu=0.001).state == "stuck"


@pytest.mark.parametrize("turn", ["waiting", "limited", "idle"])
def test_whoever_waits_is_never_stuck(turn: str) -> None:
    """Rule 8."""
    watch = Watch()
    for _ in range(200):
        verdict = watch.observe(turn, after=9.0)
    assert verdict.state == turn


def test_a_new_turn_starts_its_clocks_anew() -> None:
    watch = Watch()
    watch.observe("working")
    watch.silence(595, spinning=True)
    watch.observe("idle")
    watch.observe("working")
    assert watch.silence(590, spinning=True).state == "working"


def test_a_change_that_only_the_screen_shows_must_last() -> None:
    watch = Watch()
    watch.observe("working", source="screen")
    assert watch.observe("idle", source="screen", after=0.25).turn == "working"
    assert watch.observe("working", source="screen", after=0.25).turn == "working"
    assert watch.observe("idle", source="screen", after=0.25).turn == "working"
    assert watch.observe("idle", source="screen", after=1.0).turn == "idle"


def test_a_change_that_the_agent_itself_tells_is_said_at_once() -> None:
    watch = Watch()
    watch.observe("working")
    assert watch.observe("idle", after=0.25).turn == "idle"


def test_a_look_at_which_nobody_spoke_does_not_make_it_unknown() -> None:
    watch = Watch()
    watch.observe("working")
    assert watch.observe("", after=0.25).turn == "working"
    assert watch.observe("", after=2.0).turn == "working"
    assert watch.observe("", after=2.0).turn == "unknown"


@pytest.mark.parametrize("turn", ["working", "waiting", "limited"])
def test_what_is_there_to_be_seen_is_said_at_once(turn: str) -> None:
    watch = Watch()
    watch.observe("idle", source="screen")
    assert watch.observe(turn, source="screen", after=0.25).turn == turn


def test_death_is_said_at_once_and_where_nothing_tells_how_it_is_unknown_for_good() -> None:
    watch = Watch()
    watch.observe("working")
    verdict = watch.observe("working", after=0.25, source="title", there=Presence("gone", "bash is in front"))
    assert (verdict.turn, verdict.state, verdict.final, verdict.cause) == ("exited", "unknown", True, "exit-unseen")


def test_an_agent_that_said_goodbye_was_stopped() -> None:
    watch = Watch()
    watch.observe("idle")
    verdict = watch.observe("exited", source="screen", there=Presence("gone", "bash is in front"))
    assert verdict.state == "stopped"


def test_suspended_waits_for_a_person() -> None:
    verdict = Watch().observe("working", there=Presence("suspended", "claude (7) is suspended", 7))
    assert (verdict.state, verdict.final, verdict.process) == ("waiting", False, "suspended")


def test_drift_is_in_the_evidence() -> None:
    verdict = Watch().observe("idle", notes=("drift: 9.9 is newer than any tested",))
    assert [piece.says for piece in verdict.against] == ["drift: 9.9 is newer than any tested"]


def test_what_moved_in_an_earlier_turn_is_not_frozen_in_this_one() -> None:
    watch = Watch()
    watch.observe("working")
    watch.observe("working", spinner="a")
    watch.observe("idle")
    watch.observe("working")
    assert watch.silence(200).progress == "quiet"


FINAL_CLOCK = PATIENT._replace(clock="final")
AFTER = 640.0
"""Seconds of silence after which all else says `stuck`."""


def shown_through_silence(*shown: tuple[float, str], policy: Policy = FINAL_CLOCK) -> Verdict:
    """A turn without progress whose status line shows these times from these seconds on."""
    watch, verdict = Watch(), None
    watch.observe("working", clock=dict(shown).get(0.0, ""), policy=policy)
    while watch.now < AFTER:
        clock = next((time for since, time in reversed(shown) if watch.now >= since), "")
        verdict = watch.observe("working", after=2.0, spinner=str(watch.now), clock=clock, policy=policy)
    assert verdict is not None
    return verdict


@pytest.mark.parametrize(
    ("shown", "state"),
    [
        (((0.0, "10:00:00"), (630.0, "10:01:00")), "working"),
        (((0.0, "10:00:00"),), "stuck"),
        (((630.0, "10:00:00"),), "working"),
        ((), "stuck"),
    ],
    ids=["advanced", "unchanged", "first seen", "none"],
)
def test_the_statusline_time_gate_has_the_last_word_where_it_is_asked_for(
    shown: tuple[tuple[float, str], ...], state: str
) -> None:
    """Rule 11, story-automator's whole decision matrix: all else says stuck."""
    verdict = shown_through_silence(*shown)
    assert verdict.state == state, verdict.reason
    assert ("its clock goes on" in verdict.reason) == (state == "working")
    assert shown_through_silence(*shown, policy=PATIENT).state == "stuck", "elsewhere a clock is a sign of life only"


@pytest.mark.parametrize(
    ("before", "after", "state"),
    [
        ("23:59:58", "00:00:01", "working"),
        ("10:00:10", "10:00:05", "stuck"),
        ("10:00", "10:01", "working"),
        ("10:00:00", "10:00", "stuck"),
    ],
    ids=["midnight", "redrawn", "minutes", "less of it"],
)
def test_midnight_is_an_advance_and_a_redrawn_older_time_is_none(before: str, after: str, state: str) -> None:
    assert shown_through_silence((0.0, before), (630.0, after)).state == state


def test_a_clock_that_stands_again_saves_nobody() -> None:
    """Once it has advanced it must advance again; two looks within one second are no reason to call it stuck."""
    watch = Watch()
    for _ in range(400):
        watch.observe("working", after=2.0, spinner=str(watch.now), clock="10:00:00", policy=FINAL_CLOCK)
    assert watch.observe("working", clock="10:00:00", spinner="x", policy=FINAL_CLOCK).state == "stuck"
    assert watch.observe("working", clock="10:00:01", spinner="y", policy=FINAL_CLOCK).state == "working"
    assert watch.observe("working", after=0.3, clock="10:00:01", spinner="z", policy=FINAL_CLOCK).state == "working"
    for _ in range(20):
        watch.observe("working", after=2.0, spinner=str(watch.now), clock="10:00:01", policy=FINAL_CLOCK)
    assert watch.observe("working", clock="10:00:01", spinner="u", policy=FINAL_CLOCK).state == "stuck"
