"""How an agent in a pane ended: on purpose, by itself with an error, by a signal, or in a way that nothing tells.

The word of the kernel comes first, then the shell's, then the agent's own. No process in the pane says only that it
ended, so without any of them the answer is `unknown`, for good. That it was in the middle of a turn is no evidence of a
crash: people leave agents in the middle of turns.
"""

from __future__ import annotations

from midwatch.agents.turn_model import Departure, SessionFacts, SessionMemory
from midwatch.core.causes import Cause
from midwatch.core.states import VerdictState
from midwatch.core.text import SIGNALS, signal_name
from midwatch.core.value import Value
from midwatch.core.verdict import Verdict

MIDST = ("working", "waiting", "limited")
EVENTS = ("hook", "transcript")
BY_PERSON: dict[int, tuple[Cause, str]] = {
    1: ("hangup", "its terminal was closed"),
    2: ("interrupt", "it was ended with Ctrl-C"),
    3: ("quit", "it was ended from the keyboard (SIGQUIT)"),
}
"""Signals by which a person at the terminal ends an agent. Ctrl-C twice often hits its launcher as well."""
OBEYED: dict[int, tuple[Cause, str]] = BY_PERSON | {15: ("stop-asked", "it was asked to end (SIGTERM)")}
"""Signals after which an agent that catches them exits on purpose."""
GOODBYE = "it said goodbye and ended"
SIGNALLED = 128
"""Agents that end themselves because of a signal exit with this and the number; so do launchers of those it killed."""


class AgentExit(Value):
    state: VerdictState
    cause: Cause
    reason: str
    code: int | None = None
    signal: int | None = None

    @property
    def sure(self) -> bool:
        """Whether nothing that is seen a moment later can change it. A goodbye may be drawn after the process ended."""
        return self.state in ("stopped", "crashed")


def merge_departures(facts: SessionFacts, memory: SessionMemory | None) -> Departure:
    """What this look and those before it tell of an agent that is gone."""
    old, new = memory.left if memory else Departure(), facts.left
    return Departure(
        code=new.code if old.code is None else old.code,
        signal=new.signal if old.signal is None else old.signal,
        goodbye=old.goodbye or new.goodbye or any(said.turn == "exited" for said in facts.said),
        shell=new.shell if old.shell is None else old.shell,
        after=_turn_before_end(facts, memory) or old.after,
    )


def _turn_before_end(facts: SessionFacts, memory: SessionMemory | None) -> str:
    """Where its turn was: by what it wrote down, which may be later than the last look at it; else by that look."""
    events = [said for said in facts.said if said.source in EVENTS]
    if any(said.detail == "turn-ended" for said in events):
        return "turn-ended"
    if any(said.turn in MIDST for said in events):
        return "mid-turn"
    return state_before_end(memory.turn, memory.detail) if memory else ""


def state_before_end(turn: str, detail: str) -> str:
    """Where a turn was, of which the last look said this. A menu opens for whoever types the command to exit."""
    if detail == "turn-ended":
        return "turn-ended"
    return "mid-turn" if turn in MIDST and detail != "menu" else ""


def judge_exit(facts: SessionFacts, left: Departure) -> AgentExit:
    """How it ended, by all that was seen of that."""
    if (found := judge_status(left)) is not None:
        return found
    if left.shell is not None:
        found = _judge_signal(left, left.shell)
        return found._replace(reason=f"{found.reason}, as its shell says")
    if left.goodbye:
        return _intended_exit(left, "exited", GOODBYE)
    if any(said.source == "state" for said in facts.said):
        return AgentExit(
            "crashed", "no-status", "it ended and left its state file behind, which it removes when it exits"
        )
    turn = {"turn-ended": "; its turn had ended", "mid-turn": " in the middle of a turn"}.get(left.after, "")
    return AgentExit("unknown", "exit-unseen", f"it ended{turn}, and nothing tells how: {facts.there.why}")


def judge_status(left: Departure) -> AgentExit | None:
    """How it ended, where its exit code or signal is known."""
    if left.signal is not None:
        return _judge_signal(left, left.signal)
    if left.code is None:
        return None
    told = f"exit {left.code}"
    if left.goodbye:
        return _intended_exit(left, "exited", f"{GOODBYE}: {told}" if left.code else GOODBYE)
    if by := OBEYED.get(left.code - SIGNALLED):
        return _intended_exit(left, *by)
    if left.code - SIGNALLED in SIGNALS:
        return _judge_signal(left, left.code - SIGNALLED)
    if left.code:
        return AgentExit("failed", "exit", f"it ended: {told}", left.code)
    return _intended_exit(left, "exited", f"it ended: {told}")


def _judge_signal(left: Departure, number: int) -> AgentExit:
    if by := BY_PERSON.get(number):
        return _intended_exit(left, *by)._replace(signal=number)
    return AgentExit("crashed", "signal", f"it ended: killed by {signal_name(number)}", None, number)


def _intended_exit(left: Departure, cause: Cause, reason: str) -> AgentExit:
    if cause == "exited" and left.after == "mid-turn":
        return AgentExit("stopped", "left-mid-turn", f"{reason}, in the middle of a turn", left.code)
    return AgentExit("stopped", cause, reason, left.code)


def apply_exit(verdict: Verdict, ending: AgentExit, after: str) -> Verdict:
    """A last look, with what is known of the end."""
    return verdict._replace(
        state=ending.state, final=True, cause=ending.cause, reason=ending.reason, process="gone", turn="exited",
        detail="turn-ended" if after == "turn-ended" else "", exit_code=ending.code, signal=ending.signal,
    )  # fmt: skip
