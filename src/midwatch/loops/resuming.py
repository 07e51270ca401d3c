"""Bringing a session back: end what is left of it, make sure that nobody else has its conversation, start it there.

Only ever the conversation that was recorded, or the one that its own files name beyond doubt; never "the latest".
"""

from __future__ import annotations

import os

from midwatch.agents.detector import Detector
from midwatch.hands import spawn
from midwatch.hands import stop as hand
from midwatch.loops import spawning
from midwatch.loops.look import Looker
from midwatch.loops.stop import end
from midwatch.model.errors import RefusedError
from midwatch.model.facts import Record
from midwatch.model.session import Running
from midwatch.model.verdict import Verdict
from midwatch.senses import processes
from midwatch.senses.databases import Databases
from midwatch.senses.holders import holders
from midwatch.senses.transcripts import Transcripts
from midwatch.store import conversations, watches

GO_ON = "Continue where you left off."
STOPPED = "somebody stopped it meanwhile"


class StoppedError(RefusedError):
    """A person does not want it back."""

    def __init__(self) -> None:
        super().__init__(STOPPED)


def bring_back(
    looker: Looker, record: Record, agent: Detector, *, since: float | None, attempt: int = 1,
    stuck: Verdict | None = None,
) -> spawn.Job:  # fmt: skip
    """Start the agent again with its conversation. RefusedError says why not.

    ``since``: the moment (wall clock) from which on a person's `stop` forbids it; None when a person asks.
    ``stuck``: what is said of it, where it is ended because it hangs: then that is how it ended.
    """
    base = f"{looker.directory}/{record.name}"
    _refuse_if_stopped(base, since)
    conversation = conversation_of(base, record, agent)
    spawning.check(record.name, agent, record.cwd)  # nothing is ended that could not be brought back
    if stuck is not None:
        watches.note_ending(base, record.run, stuck)
    end(looker, record.name, run=record.run)
    left = hand.end_tree(lambda: processes.started(processes.of_run(record.run)), spare=record.spare)
    if left:
        raise RefusedError(f"what is left of it cannot be ended: {', '.join(map(str, left))}")
    _refuse_if_open(agent, conversation)
    _refuse_if_stopped(base, since)
    job = spawning.resumed(looker, record, agent, conversation, attempt=attempt)
    if since is not None and watches.asked_to_stop(base, since):
        end(looker, record.name)
        raise StoppedError
    return job


def take_up(looker: Looker, wish: spawning.Wish) -> spawn.Job:
    """Go on with a conversation of which nothing but its id is known: whoever had it, it was none of our sessions."""
    _refuse_if_open(wish.agent, wish.conversation)
    return spawning.new(looker, wish)


def _refuse_if_open(agent: Detector, conversation: str) -> None:
    if others := holders(agent, conversation):
        raise RefusedError(f"its conversation is open in another process ({', '.join(map(str, others))})")


def _refuse_if_stopped(base: str, since: float | None) -> None:
    if since is not None and watches.asked_to_stop(base, since):
        raise StoppedError


def conversation_of(base: str, record: Record, agent: Detector) -> str:
    """Its id: as learned last, as recorded, or as its files tell that were written since it was started."""
    found = conversations.known(base, record.run) or record.conversation or _written(record, agent)
    if not found:
        raise RefusedError("nobody knows the id of its conversation: none was begun, or several could be it")
    return found


def _written(record: Record, agent: Detector) -> str:
    wanted = {name: os.environ[name] for name in ("HOME", *agent.variables) if name in os.environ}
    was = Running(
        agent.agent, record.work.pid, record.work.start, record.started, record.cwd, record.command,
        wanted | {name: value for name, value in record.env.items() if name in agent.variables},
    )  # fmt: skip
    report = Transcripts().read(was) or Databases().read(was)
    return report.words.get("conversation", "") if report else ""
