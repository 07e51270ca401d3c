"""Is an agent's pane ready for a message? Looks only, and tells what stands in the way.

A reason that only a screen shows must last before it is believed, for good and for bad.
"""

from __future__ import annotations

import time
from collections.abc import Collection

from midwatch.agents.definition import Detector, is_agent
from midwatch.config import paths
from midwatch.core.errors import RefusedError
from midwatch.core.pane_model import Pane
from midwatch.core.value import Value
from midwatch.sessions.model import PanesObservation
from midwatch.sessions.pane_observer import PaneObserver
from midwatch.sessions.prompting import exited_agent, undelivered_store
from midwatch.sessions.prompting import input_box as boxes
from midwatch.sessions.prompting.codec import text
from midwatch.sessions.prompting.model import DRAFT, UNSEEN, InputBox, PromptOutcome
from midwatch.sessions.prompting.rules import readiness, recovery
from midwatch.sessions.prompting.rules.recovery import (
    PRESS,
    READY,
    REPORT,
    RESUME,
    WAIT,
    WAKE,
    RecoveryCase,
    RecoveryStep,
)
from midwatch.sessions.rules.verdict import CONFIRM
from midwatch.tmux import client as tmux_client
from midwatch.tmux.codec.commands import ABSENT, is_in_session
from midwatch.tmux.pane_snapshot import take_snapshot

PAUSE = 0.2
RESTLESS = 5.0
"""Seconds in which a pane may seem another each time it is looked at."""


class Readiness(Value):
    """Whether a message may be typed to an agent now."""

    pane: str
    ready: bool
    outcome: str
    """`ready`, or what would become of a message: as of one that is sent (`prompting.model.PromptOutcome`)."""
    reason: str
    agent: str = ""
    detail: str = ""
    step: str = ""
    """What `recover` would do about it: press, wake, resume; empty for nothing."""
    person: bool = False
    """A person is in that pane."""
    tried: tuple[str, ...] = ()
    """What `recover` has done about it, or begun to."""


class PaneReadiness(Value):
    """A pane as one look found it."""

    step: RecoveryStep
    agent: str = ""
    case: RecoveryCase | None = None
    pane: Pane | None = None
    draft: str = ""
    """The message of ours that stands in its box."""
    submit: str = "Enter"
    sure: bool = False
    """It need not be looked at twice."""


def check_readiness(panes: PaneObserver, pane: str, *, directory: str = "") -> Readiness:
    """Whether it is ready, and if not, why; nothing is typed. ``directory``: of our records, if not the project's."""
    return build_readiness(pane, observe_settled(panes, [pane], directory)[pane])


def check_session(panes: PaneObserver, session: str, *, directory: str = "") -> list[tuple[Pane, Readiness]]:
    """All panes of all windows of exactly that session; none where there is no such session."""
    looked = panes.observe()
    if looked.trouble:
        raise RefusedError(looked.trouble)
    inside = [pane for pane in looked.panes if is_in_session(pane, session)]
    found = observe_settled(panes, [pane.id for pane in inside], directory)
    return [(pane, build_readiness(pane.id, found[pane.id])) for pane in inside]


def build_readiness(pane: str, found: PaneReadiness) -> Readiness:
    step, case = found.step, found.case
    person = case is not None and readiness.has_person(case.snapshot, pane)
    helps = step.what if step.what in (PRESS, WAKE, RESUME) else ""
    return Readiness(pane, step.what == READY, step.outcome, step.why, found.agent, step.detail, helps, person)


# Looking ------------------------------------------------------------------------------------------------------------


def observe_settled(panes: PaneObserver, wanted: Collection[str], directory: str) -> dict[str, PaneReadiness]:
    """What is found of panes once it has lasted; of one that never rests, that it does not."""
    directory = directory or paths.sentinel_directory()
    over = time.monotonic() + RESTLESS
    since: dict[str, tuple[object, float]] = {}
    done: dict[str, PaneReadiness] = {}
    while rest := [pane for pane in wanted if pane not in done]:
        looked = panes.observe(rest[0] if len(wanted) == 1 else None)
        for pane in rest:
            found, now = assess_pane(panes, looked, pane, directory), time.monotonic()
            sign = found.step.what, found.step.outcome, found.step.detail
            if pane not in since or since[pane][0] != sign:
                since[pane] = sign, now
            if found.sure or now - since[pane][1] >= CONFIRM["idle"]:
                done[pane] = found
            elif now >= over:
                done[pane] = found._replace(
                    step=RecoveryStep(
                        WAIT, "it changes whenever it is looked at; try again when it rests", PromptOutcome.STARTING
                    )
                )
        if len(done) < len(wanted):
            time.sleep(PAUSE)
    return done


def assess_pane(panes: PaneObserver, looked: PanesObservation, pane: str, directory: str) -> PaneReadiness:
    if looked.trouble:
        absent = looked.cause == ABSENT
        step = RecoveryStep(
            REPORT if absent else WAIT, looked.trouble, PromptOutcome.EXITED if absent else PromptOutcome.UNKNOWN
        )
        return PaneReadiness(step, sure=True)
    place = next((each for each in looked.panes if each.id == pane), None)
    try:
        shown = take_snapshot(panes.tmux.server, pane) if place else None
    except RefusedError as error:
        return PaneReadiness(RecoveryStep(WAIT, str(error), PromptOutcome.UNKNOWN), sure=True)
    if place is None or shown is None:
        return PaneReadiness(RecoveryStep(REPORT, "there is no such pane", PromptOutcome.EXITED), sure=place is None)
    one = next((each for each in looked.seen if each.sighting.pane.id == pane), None)
    agent = panes.known[pane].detector if one else None
    there = exited_agent.find_front(panes.tasks.get(pane, ()), place.command, agent)
    case, draft = RecoveryCase(pane, shown, time.time(), there=there), ""
    if agent and one:
        box = boxes.read_input_box(agent, shown.rows) if agent.typing else InputBox(UNSEEN)
        draft = _find_own_text(panes, place, agent, box)
        case = case._replace(
            verdict=one.verdict, box=box, ours=bool(draft),
            front=any(task.foreground and is_agent(agent, task) for task in one.sighting.tasks),
            unknown="" if agent.typing else f"nobody has told us what the input box of {agent.title} looks like",
        )  # fmt: skip
    if case.gone:
        case = case._replace(left=exited_agent.find_exited_agent(panes, place, shown.rows, directory))
    step = recovery.next_step(case)
    first_hand = case.verdict is not None and readiness.is_sure(case.verdict)
    sure = first_hand and (step.what == READY or step.outcome == PromptOutcome.WORKING)
    submit = agent.typing.submit if agent and agent.typing else "Enter"
    return PaneReadiness(step, case.left.agent or (agent.agent if agent else ""), case, place, draft, submit, sure)


def _find_own_text(panes: PaneObserver, pane: Pane, agent: Detector, box: InputBox) -> str:
    """The message of ours that stands in a box, whole and alone; empty for anything else."""
    if box.state != DRAFT or agent.typing is None:
        return ""
    folded = agent.typing.folded
    for note in undelivered_store.read_notes(tmux_client.socket_path(panes.tmux.server), pane.id, pane.pid):
        shown = text.is_in_box(box.text, note.text, folded) and text.is_only_in_box(box.text, note.text, folded)
        if note.left and shown:
            return note.text
    return ""
