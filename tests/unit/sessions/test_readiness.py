"""May we type here now? Each reason not to, alone."""

from __future__ import annotations

from typing import Any

import pytest

from midwatch.core.verdict import Evidence, Verdict
from midwatch.sessions.prompting.model import InputBox, PromptOutcome, PromptRefusal
from midwatch.sessions.prompting.rules import readiness
from midwatch.tmux.codec.guarded_input import AttachedClient, PaneSnapshot

NOW = 1_700_000_000.0
ALL_WELL = PaneSnapshot("guard", dead=False, mode=False, deaf=False, together=False, clients=(), rows=())


def verdict(
    turn: str = "idle", reason: str = "at its prompt", sources: tuple[str, ...] = ("screen",), detail: str = ""
) -> Verdict:
    evidence = tuple(Evidence(source, f"{turn}, by rule x") for source in sources)
    return Verdict(
        "%3", "session", "unknown", False, reason, "alive", "unknown", turn=turn, detail=detail, evidence=evidence
    )  # fmt: skip


def judged(
    said: Verdict | None = None, snapshot: PaneSnapshot = ALL_WELL, box: InputBox | None = None, *, front: bool = True
) -> PromptRefusal | None:
    return readiness.find_refusal(
        said or verdict(), front=front, snapshot=snapshot, box=box or InputBox("empty"), pane="%3", wall=NOW
    )


def refusal(
    said: Verdict | None = None, snapshot: PaneSnapshot = ALL_WELL, box: InputBox | None = None, *, front: bool = True
) -> tuple[str, str]:
    """Outcome and reason; nothing of either when we may."""
    found = judged(said, snapshot, box, front=front)
    return (found.outcome, found.reason) if found else ("", "")


def test_at_its_prompt_with_an_empty_box_and_nobody_there_we_may() -> None:
    assert judged() is None


@pytest.mark.parametrize(
    "reason", ["its turn has ended", "it was interrupted", "its turn failed", "background work runs"]
)
def test_however_the_last_turn_ended_we_may(reason: str) -> None:
    assert judged(verdict(reason=reason)) is None


@pytest.mark.parametrize(
    ("turn", "reason", "says"),
    [
        ("working", "a tool runs", "it is at work (a tool runs), and nothing is queued"),
        ("waiting", "it waits for a permission", "it waits for a permission"),
        ("limited", "it hit a limit, until 5pm", "it hit a limit, until 5pm"),
        ("exited", "it said goodbye and ended", "it said goodbye"),
        ("unknown", "no source says what it does", "no source says"),
    ],
)
def test_in_any_other_turn_we_may_not(turn: str, reason: str, says: str) -> None:
    outcome, words = refusal(verdict(turn, reason))
    assert outcome == ("starting" if turn == "unknown" else turn)
    assert words.startswith(says)


@pytest.mark.parametrize(
    ("turn", "detail"), [("waiting", "trust"), ("waiting", "login"), ("waiting", "menu"), ("exited", "suspended")]
)
def test_for_what_it_waits_is_told(turn: str, detail: str) -> None:
    assert judged(verdict(turn, "why", detail=detail)) == PromptRefusal("waiting", "why", detail)


def test_a_limit_that_is_over_is_in_nobodys_way() -> None:
    limited, box = verdict("limited", "it hit a limit, until 5pm"), InputBox("empty")

    def past(said: Verdict, box: InputBox) -> PromptRefusal | None:
        return readiness.find_refusal(
            said, front=True, snapshot=ALL_WELL, box=box, pane="%3", wall=NOW, past_limit=True
        )  # fmt: skip

    assert past(limited, box) is None
    assert past(limited, InputBox("draft", "mine")) is not None
    assert past(verdict("working"), box) is not None
    assert past(verdict("waiting"), box) is not None


def test_what_a_person_must_see_to_does_not_pass_by_itself() -> None:
    told = {value for name, value in vars(PromptOutcome).items() if isinstance(value, str) and name.isupper()}
    ends = {"delivered", "unproven", "not_taken", "interrupted"}
    assert told - ends - {*PromptOutcome.PASSING} == {"waiting", "limited", "exited", "draft", "refused"}


@pytest.mark.parametrize(
    ("outcome", "lasted", "over", "told"),
    [
        ("working", 100.0, False, False),
        ("working", 0.5, True, False),
        ("working", 1.0, True, True),
        ("person", 100.0, False, False),
        ("person", 0.0, True, True),
        ("starting", 100.0, False, False),
        ("starting", 0.5, True, False),
        ("starting", 1.0, True, True),
        ("waiting", 0.5, False, False),
        ("waiting", 1.0, False, True),
        ("waiting", 0.5, True, False),
        ("exited", 1.0, False, True),
    ],
)
def test_what_may_pass_is_waited_for_and_half_a_screen_is_no_reason(
    outcome: str, lasted: float, over: bool, told: bool
) -> None:
    assert readiness.is_final_refusal(PromptRefusal(outcome, "why"), lasted, over=over) is told


def test_the_screen_itself_must_show_the_prompt() -> None:
    found = refusal(verdict(sources=("state", "transcript")))
    assert found == ("starting", "its screen does not show it at its prompt")


@pytest.mark.parametrize(
    ("change", "outcome", "says"),
    [
        ({"dead": True}, "exited", "process has ended"),
        ({"mode": True}, "person", "mode of tmux"),
        ({"deaf": True}, "refused", "switched off"),
        ({"together": True}, "refused", "goes to others, too"),
    ],
)
def test_keys_must_go_to_the_agent_and_to_nobody_else(change: dict[str, Any], outcome: str, says: str) -> None:
    found, words = refusal(snapshot=ALL_WELL._replace(**change))
    assert found == outcome
    assert says in words


def test_the_agent_must_be_in_the_foreground() -> None:
    assert refusal(front=False) == ("person", "something else is in the foreground of its terminal")


def client(**changed: Any) -> AttachedClient:
    return AttachedClient("%3", int(NOW) - 3, control=False, readonly=False)._replace(**changed)


def test_the_pane_that_a_person_types_in_is_the_persons() -> None:
    assert refusal(snapshot=ALL_WELL._replace(clients=(client(pane="%9"), client()))) == (
        "person",
        "somebody is typing there (the last key 3s ago); try again 30s after the last one",
    )


def test_a_clock_that_was_set_back_makes_nobody_go_away() -> None:
    assert refusal(snapshot=ALL_WELL._replace(clients=(client(active=int(NOW) + 100),)))[0] == "person"


@pytest.mark.parametrize(("changed", "minds"), [({}, True), ({"readonly": True}, True), ({"pane": "%4"}, False),
                                                ({"control": True}, False)], ids=str)  # fmt: skip
def test_who_wants_to_be_alone_minds_a_person_whose_hands_rest(changed: dict[str, Any], minds: bool) -> None:
    there = ALL_WELL._replace(clients=(client(**({"active": int(NOW) - 1000} | changed)),))
    found = readiness.find_refusal(
        verdict(), front=True, snapshot=there, box=InputBox("empty"), pane="%3", wall=NOW, alone=True
    )  # fmt: skip
    assert found == (PromptRefusal("person", "a person is in that pane") if minds else None)


@pytest.mark.parametrize(
    "changed", [{"pane": "%4"}, {"active": int(NOW) - 31}, {"control": True}, {"readonly": True}], ids=str
)
def test_others_are_not_in_the_way(changed: dict[str, Any]) -> None:
    assert judged(snapshot=ALL_WELL._replace(clients=(client(**changed),))) is None


@pytest.mark.parametrize(
    ("box", "outcome", "says"),
    [
        (InputBox("unseen"), "starting", "its input box is not on the screen"),
        (InputBox("draft", "fix the\n  tests \u200b"), "draft", "a draft stands in its box: 'fix the tests'"),
        (InputBox("draft", "x" * 50), "draft", f"a draft stands in its box: '{'x' * 39}…'"),
        (InputBox("draft"), "draft", "something stands in its box"),
    ],
)
def test_the_box_must_be_there_and_empty(box: InputBox, outcome: str, says: str) -> None:
    found, words = refusal(box=box)
    assert found == outcome
    assert words.startswith(says)


def test_what_only_the_screen_shows_must_be_seen_twice() -> None:
    assert not readiness.is_sure(verdict(sources=("title", "screen")))
    for source in ("state", "api", "hook", "transcript"):
        assert readiness.is_sure(verdict(sources=(source, "screen")))


def test_a_persons_last_key_is_known() -> None:
    assert readiness.last_key_time(ALL_WELL, "%3") == 0
    assert readiness.last_key_time(ALL_WELL._replace(clients=(client(), client(active=7))), "%3") == int(NOW) - 3
