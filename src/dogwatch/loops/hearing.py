"""What is told of a change that was reported, if it is news: decided under a lock, then left in the outbox.

This runs in the process that tells (`dogwatch _tell`), beside the work and beside whoever watches.
"""

from __future__ import annotations

import hashlib

from dogwatch.formats import notices as words
from dogwatch.judge import job, notices
from dogwatch.loops import delivery
from dogwatch.loops.look import Looker
from dogwatch.loops.notify import about, change_of, is_brought_back
from dogwatch.model.errors import RefusedError
from dogwatch.model.notices import LIVE_TOLD, Change, Notice
from dogwatch.store import brokers, channels, outbox, watches


def look(looker: Looker, name: str, run: str) -> str:
    """Look at one run of a job, for its shim, and hear what became of it. Returns the project that it is of."""
    facts = looker.facts(name)
    if facts.record is None or facts.record.run != run:  # the next one has begun meanwhile
        found = looker.archived(name, run)
        if found is None:
            return ""
        facts = found
    record, verdict = facts.record, job.judge(facts)
    if record is None or not record.notify:
        return ""
    closed = verdict.state == "stopped" and _was_closed(looker.directory, name, run)  # a monitor has told the rest
    if not closed and not is_brought_back(looker.directory, record, verdict):
        hear(looker.directory, change_of(verdict, record.notify, about(record), facts.now), noted=True)
    return record.notify


def _was_closed(directory: str, name: str, run: str) -> bool:
    watch = watches.read(f"{directory}/{name}", run)
    return watch is not None and watch.acting == "cleanup"


def hear(directory: str, change: Change, *, noted: bool = False) -> None:
    """Put into the outbox what is to be told of a change. RefusedError where nothing can be written.

    ``noted``: the journal has it from the shim. What only a watcher saw is noted there, if ends are published.
    """
    named, troubles = channels.of(change.project)
    outbox.prepare(directory)
    try:
        with outbox.alone(directory):
            before = outbox.told(directory, change)
            told, tells = notices.hear(before, change)
            if before.open and told != before and change.state != "abandoned":  # a monitor's end is not its subject's
                _withdraw(directory, change)
            if tells:
                if change.final and not noted and brokers.named(change.project):
                    _note(directory, change)
                for channel in named:
                    if notices.wanted(channel.on, change):
                        outbox.file(directory, _notice(change, channels.id_of(channel), told.number))
            outbox.write_told(directory, change, told)
    except OSError as error:
        raise RefusedError(f"cannot write to {directory}/outbox: {error.strerror}") from error
    for trouble in troubles if tells else ():
        delivery.note(directory, change.name, change.about.run, "undelivered", state=change.state, reason=trouble)


def _note(directory: str, change: Change) -> None:
    """Before it counts as told: whoever is killed in between notes it twice rather than never."""
    about = change.about
    who = {"kind": "session", "agent": about.agent, "pane": about.pane} if about.agent else {}
    delivery.note(directory, change.name, about.run, "verdict", state=change.state, reason=change.reason, **who)


def _withdraw(directory: str, change: Change) -> None:
    """Take back what was not delivered while it was true."""
    for notice in outbox.pending(directory):
        ours = (notice.name, notice.run) == (change.name, change.about.run) and notice.fields["state"] in LIVE_TOLD
        if ours and (held := outbox.hold(directory, notice)):
            delivery.give_up(directory, held, "it was over before it could be delivered")
            held.close()


def _notice(change: Change, channel: str, number: int) -> Notice:
    """Its id comes from what it tells: who was killed before he could write down that he told it writes the same."""
    mark = "\0".join((change.name, change.about.run, change.state, str(number), channel))
    return Notice(
        id=hashlib.sha256(mark.encode("utf-8", "surrogateescape")).hexdigest()[:20], name=change.name,
        run=change.about.run, fields=words.fields(change), channel=channel, project=change.project, filed=change.wall,
    )  # fmt: skip
