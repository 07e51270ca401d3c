"""Which one step may be taken about a pane that is not ready: each rule alone."""

from __future__ import annotations

from typing import Any

import pytest

from midwatch.core.verdict import Evidence, Verdict
from midwatch.sessions.prompting.model import InputBox
from midwatch.sessions.prompting.rules import recovery
from midwatch.sessions.prompting.rules.recovery import ExitedAgent, ForegroundProgram, RecoveryCase, RecoveryStep
from midwatch.tmux.codec.guarded_input import AttachedClient, PaneSnapshot

NOW = 1_700_000_000.0
ALL_WELL = PaneSnapshot("guard", dead=False, mode=False, deaf=False, together=False, clients=(), rows=())
SHELL = ForegroundProgram("bash", prompt=True, owned=True)
TALK = ExitedAgent("claude", "8d7f2c1e")


def verdict(turn: str, detail: str = "", reason: str = "so it is") -> Verdict:
    seen = (Evidence("screen", f"{turn}, by rule x"),)
    return Verdict(
        "%3", "session", "unknown", False, reason, "alive", "unknown", turn=turn, detail=detail, evidence=seen
    )  # fmt: skip


READY = RecoveryCase("%3", ALL_WELL, NOW, verdict("idle"), front=True, box=InputBox("empty"))
SUSPENDED = RecoveryCase("%3", ALL_WELL, NOW, verdict("exited", "suspended"), there=SHELL)
ENDED = RecoveryCase("%3", ALL_WELL, NOW, verdict("exited"), there=SHELL, left=TALK)


def step(case: RecoveryCase, **change: Any) -> RecoveryStep:
    return recovery.next_step(case._replace(**change))


def what(case: RecoveryCase, **change: Any) -> tuple[str, str]:
    found = step(case, **change)
    return found.what, found.outcome


def client(pane: str = "%3", *, active: float = 0.0, control: bool = False, readonly: bool = False) -> PaneSnapshot:
    return ALL_WELL._replace(clients=(AttachedClient(pane, int(active), control, readonly),))


def test_only_a_confirmed_prompt_with_an_empty_box_is_ready() -> None:
    assert what(READY) == ("ready", "ready")
    assert what(READY, front=False) == ("report", "person")
    assert what(READY, box=InputBox("unseen")) == ("wait", "starting")
    assert what(READY, verdict=verdict("idle")._replace(evidence=())) == ("wait", "starting")
    assert what(READY, verdict=verdict("unknown")) == ("wait", "starting")
    assert what(READY, unknown="nobody knows its box") == ("report", "refused")


def test_what_passes_by_itself_is_waited_for() -> None:
    assert what(READY, verdict=verdict("working")) == ("wait", "working")


@pytest.mark.parametrize("detail", ["permission", "question", "trust", "login", "menu", "startup-dialog"])
def test_questions_and_menus_are_reported_and_never_answered(detail: str) -> None:
    found = step(READY, verdict=verdict("waiting", detail), ours=True)
    assert (found.what, found.outcome, found.detail) == ("report", "waiting", detail)


def test_a_limit_is_reported() -> None:
    assert what(READY, verdict=verdict("limited"), box=InputBox("draft", "x"), ours=True) == ("report", "limited")


def test_a_draft_is_sent_only_if_it_is_ours() -> None:
    draft = READY._replace(box=InputBox("draft", "go on"))
    assert what(draft, ours=True) == ("press", "draft")
    assert what(draft) == ("report", "draft")
    assert what(draft, ours=True, front=False) == ("report", "person")
    assert what(draft, ours=True, snapshot=ALL_WELL._replace(mode=True)) == ("report", "person")
    assert what(draft, ours=True, verdict=verdict("working")) == ("wait", "working")


@pytest.mark.parametrize("case", [READY, READY._replace(box=InputBox("draft", "x"), ours=True), SUSPENDED, ENDED])
def test_a_pane_that_a_person_is_in_is_never_touched(case: RecoveryCase) -> None:
    assert what(case, snapshot=client()) == ("report", "person")
    assert what(case, snapshot=client(readonly=True)) == ("report", "person")
    assert what(case, snapshot=client("%4")) == what(case)
    assert what(case, snapshot=client(control=True)) == what(case)


@pytest.mark.parametrize("case", [SUSPENDED, ENDED])
@pytest.mark.parametrize(
    ("odd", "outcome"),
    [
        (ALL_WELL._replace(mode=True), "person"),
        (ALL_WELL._replace(deaf=True), "refused"),
        (ALL_WELL._replace(together=True), "refused"),
    ],
    ids=["mode", "deaf", "together"],
)
def test_nothing_is_typed_to_a_shell_that_keys_would_not_reach(
    case: RecoveryCase, odd: PaneSnapshot, outcome: str
) -> None:
    assert what(case, snapshot=odd) == ("report", outcome)


def test_a_suspended_agent_is_woken_by_its_own_shell_at_its_prompt() -> None:
    assert what(SUSPENDED) == ("wake", "waiting")
    for front in (
        ForegroundProgram("vim"),
        ForegroundProgram("bash", prompt=True),
        ForegroundProgram("bash", owned=True),
    ):
        assert what(SUSPENDED, there=front) == ("report", "waiting"), front
    others = SHELL._replace(stopped=("vim (77)",))
    assert what(SUSPENDED, there=others) == ("report", "waiting")
    assert "vim (77)" in step(SUSPENDED, there=others).why


def test_an_agent_that_ended_is_resumed_only_by_the_id_of_its_conversation() -> None:
    assert what(ENDED) == ("resume", "exited")
    assert "8d7f2c1e" in step(ENDED).why
    assert what(ENDED, left=ExitedAgent("claude")) == ("report", "exited")
    assert what(ENDED, left=TALK._replace(obstacle="it is open elsewhere")) == ("report", "exited")
    assert "it is open elsewhere" in step(ENDED, left=TALK._replace(obstacle="it is open elsewhere")).why


def test_an_agent_that_ended_is_resumed_only_in_a_shell_at_its_prompt() -> None:
    assert what(ENDED, there=ForegroundProgram("less")) == ("report", "exited")
    assert "less is in front" in step(ENDED, there=ForegroundProgram("less")).why
    assert what(ENDED, verdict=None) == ("resume", "exited")


def test_a_pane_that_never_had_an_agent_is_told() -> None:
    assert what(ENDED, verdict=None, left=ExitedAgent()) == ("report", "exited")
    assert step(ENDED, verdict=None, left=ExitedAgent()).why == "no agent is in it, but bash"


def test_a_dead_pane_is_brought_back_only_where_somebody_knows_what_it_was() -> None:
    dead = ALL_WELL._replace(dead=True)
    assert what(ENDED, snapshot=dead, verdict=None, there=ForegroundProgram()) == ("resume", "exited")
    assert what(ENDED, snapshot=dead, verdict=None, there=ForegroundProgram(), left=ExitedAgent()) == (
        "report",
        "exited",
    )
