"""What is told of a change that was reported, if it is news: decided under a lock, then left in the outbox.

This runs in the process that tells (`midwatch _deliver`), beside the work and beside whoever watches.
"""

from __future__ import annotations

import hashlib

from midwatch.config import sentinel_files
from midwatch.core.errors import FormatError, RefusedError
from midwatch.core.notification_kinds import LIVE_TOLD
from midwatch.core.value import Value
from midwatch.integrations.mqtt import broker_settings
from midwatch.jobs import monitor_store
from midwatch.jobs.codec import sentinel
from midwatch.jobs.job_directory import JobDirectory
from midwatch.jobs.rules import verdict as job_verdict
from midwatch.notifications import channels, deliver, outbox, pending_runs
from midwatch.notifications import rules as notifications_rules
from midwatch.notifications.codec import message_text as words
from midwatch.notifications.model import Change, Notification
from midwatch.notifications.report_change import about, change_of, is_brought_back
from midwatch.system import file_locks


class PendingChange(Value):
    """What one run of a job has to tell now."""

    project: str = ""
    """Whose settings say who is told; empty where nobody is."""
    change: Change | None = None
    over: bool = False
    """Nothing more is to be told of this run once this was."""


def look(looker: JobDirectory, name: str, run: str) -> str:
    """Look at one run of a job, and hear what became of it. Returns the project that it is of."""
    news = _news(looker, name, run)
    if news.change is not None:
        hear(looker.directory, news.change, noted=True)
    if news.over:
        pending_runs.drop(looker.directory, name, run)
    return news.project


def settle(looker: JobDirectory) -> str:
    """Hear of all that is to be told and that nobody could tell yet. Returns a project that something was told of.

    RefusedError where nothing can be written: then all of it is still there for whoever comes next.
    """
    directory, project = looker.directory, ""
    for report, change in outbox.reported(directory):
        if change.final or change.boot == looker.place.boot:  # what was so before a restart is over
            hear(directory, change)
            project = change.project
        pending_runs.drop_report(directory, report)
    for name, run in pending_runs.runs(directory):
        project = look(looker, name, run) or project
    return project


def unheard(looker: JobDirectory, trouble: str) -> list[Notification]:
    """The notices that would be in the outbox, if it could be written."""
    directory = looker.directory
    all_news = [_news(looker, name, run) for name, run in pending_runs.runs(directory)]
    changes = [change for _, change in outbox.reported(directory)] + [each.change for each in all_news if each.change]
    found: list[Notification] = []
    for change in changes:
        told, tells = notifications_rules.hear(outbox.told(directory, change.name, change.about.run), change)
        if tells:
            found += [notice._replace(trouble=trouble) for notice in _notices(change, told.number)]
    return found


def _news(looker: JobDirectory, name: str, run: str) -> PendingChange:
    facts = looker.facts(name)
    if facts.record is None or facts.record.run != run:  # the next one has begun meanwhile
        found = looker.archived(name, run)
        if found is None:  # a shim holds the lease of its name from before it makes a promise
            return PendingChange(over=file_locks.is_free(f"{looker.directory}/{name}.lock"))
        facts = found
    record, verdict = facts.record, job_verdict.judge(facts)
    if record is None or not record.notify:
        return PendingChange(over=True)
    reported = verdict.state == "stuck" and record.policy.on_stuck != "stop"  # else its end is told, and soon
    if not verdict.final and not reported:
        return PendingChange(record.notify)
    if verdict.state == "stopped" and _was_closed(looker.directory, name, run):  # a monitor has told the rest
        return PendingChange(record.notify, over=True)
    if is_brought_back(looker.directory, record, verdict):
        return PendingChange(record.notify)
    change = change_of(verdict, record.notify, about(record), facts.now)
    return PendingChange(record.notify, change, over=verdict.final)


def _was_closed(directory: str, name: str, run: str) -> bool:
    watch = monitor_store.read(f"{directory}/{name}", run)
    return watch is not None and watch.acting == "cleanup"


def hear(directory: str, change: Change, *, noted: bool = False) -> None:
    """Put into the outbox what is to be told of a change. RefusedError where nothing can be written.

    ``noted``: the journal has it from the shim. What only a watcher saw is noted there, if ends are published.
    """
    troubles = channels.of(change.project)[1]
    outbox.prepare(directory)
    try:
        with outbox.alone(directory):
            before = outbox.told(directory, change.name, change.about.run)
            told, tells = notifications_rules.hear(before, change)
            if tells:
                if (
                    change.final
                    and not noted
                    and broker_settings.named(change.project)
                    and not _is_recorded(directory, change)
                ):
                    _note(directory, change)
                for notice in _notices(change, told.number):
                    outbox.file(directory, notice)
            outbox.write_told(directory, change, told)
            # Last: who holds one just now finds above that it is over. The end of a monitor is not that of its subject.
            if before.open and told != before and change.state != "abandoned":
                _withdraw(directory, change, before.number)
    except OSError as error:
        raise RefusedError(f"cannot write to {directory}/outbox: {error.strerror}") from error
    for trouble in troubles if tells else ():
        deliver.note(directory, change.name, change.about.run, "undelivered", state=change.state, reason=trouble)


def _is_recorded(directory: str, change: Change) -> bool:
    """Whether the record has this very end: whoever writes it there, shim or watcher, notes it in the journal too."""
    try:
        text = sentinel_files.read(f"{directory}/{change.name}.json")
        record = None if text is None else sentinel.record(text)
    except FormatError:
        return False
    if record is None or record.run != change.about.run:
        return False
    return record.end is not None and record.end.state == change.state


def _note(directory: str, change: Change) -> None:
    """Before it counts as told: whoever is killed in between notes it twice rather than never."""
    about = change.about
    who = {"kind": "session", "agent": about.agent, "pane": about.pane} if about.agent else {}
    deliver.note(directory, change.name, about.run, "verdict", state=change.state, reason=change.reason, **who)


def _withdraw(directory: str, change: Change, number: int) -> None:
    """Take back what was told up to then and not delivered while it was true."""
    for notice in outbox.pending(directory):
        ours = (notice.name, notice.run) == (change.name, change.about.run) and notice.number <= number
        if ours and notice.fields.get("state") in LIVE_TOLD and (held := outbox.hold(directory, notice)):
            deliver.give_up(directory, held, deliver.OVER)
            held.close()


def _notices(change: Change, number: int) -> list[Notification]:
    """One for each channel that is told of this."""
    named = [channel for channel in channels.of(change.project)[0] if notifications_rules.wanted(channel.on, change)]
    return [_notice(change, channels.id_of(channel), number) for channel in named]


def _notice(change: Change, channel: str, number: int) -> Notification:
    """Its id comes from what it tells: who was killed before he could write down that he told it writes the same."""
    mark = "\0".join((change.name, change.about.run, change.state, str(number), channel))
    return Notification(
        id=hashlib.sha256(mark.encode("utf-8", "surrogateescape")).hexdigest()[:20], name=change.name,
        run=change.about.run, fields=words.fields(change), channel=channel, project=change.project, filed=change.wall,
        number=number,
    )  # fmt: skip
