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
from midwatch.notifications.codec import message_text as words
from midwatch.notifications.model import Change, Notification, NotificationState
from midwatch.notifications.report_change import build_change, change_subject, is_resumed
from midwatch.notifications.rules import changes
from midwatch.system import file_locks


class PendingChange(Value):
    """What one run of a job has to tell now."""

    project: str = ""
    """Whose settings say who is told; empty where nobody is."""
    change: Change | None = None
    over: bool = False
    """Nothing more is to be told of this run once this was."""


def enqueue_run(looker: JobDirectory, name: str, run: str) -> str:
    """Look at one run of a job, and hear what became of it. Returns the project that it is of."""
    news = _read_pending_change(looker, name, run)
    if news.change is not None:
        enqueue_change(looker.directory, news.change, noted=True)
    if news.over:
        pending_runs.drop_run(looker.directory, name, run)
    return news.project


def enqueue_pending(looker: JobDirectory) -> str:
    """Hear of all that is to be told and that nobody could tell yet. Returns a project that something was told of.

    RefusedError where nothing can be written: then all of it is still there for whoever comes next.
    """
    directory, project = looker.directory, ""
    for report, change in outbox.read_reports(directory):
        if change.final or change.boot == looker.place.boot:  # what was so before a restart is over
            enqueue_change(directory, change)
            project = change.project
        pending_runs.drop_report(directory, report)
    for name, run in pending_runs.list_runs(directory):
        project = enqueue_run(looker, name, run) or project
    return project


def list_unwritten(looker: JobDirectory, trouble: str) -> list[Notification]:
    """The notices that would be in the outbox, if it could be written."""
    directory = looker.directory
    all_news = [_read_pending_change(looker, name, run) for name, run in pending_runs.list_runs(directory)]
    reported = [change for _, change in outbox.read_reports(directory)] + [
        each.change for each in all_news if each.change
    ]
    found: list[Notification] = []
    for change in reported:
        before = outbox.read_state(directory, change.name, change.about.run)
        told, tells = changes.record_change(before, change)
        if tells:
            found += [notice._replace(trouble=trouble) for notice in _build_notifications(change, before, told.number)]
    return found


def _read_pending_change(looker: JobDirectory, name: str, run: str) -> PendingChange:
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
    if is_resumed(looker.directory, record, verdict):
        return PendingChange(record.notify)
    change = build_change(verdict, record.notify, change_subject(record), facts.now)
    return PendingChange(record.notify, change, over=verdict.final)


def _was_closed(directory: str, name: str, run: str) -> bool:
    watch = monitor_store.read_state(f"{directory}/{name}", run)
    return watch is not None and watch.acting == "cleanup"


def enqueue_change(directory: str, change: Change, *, noted: bool = False) -> None:
    """Put into the outbox what is to be told of a change. RefusedError where nothing can be written.

    ``noted``: the journal has it from the shim. What only a watcher saw is noted there, if ends are published.
    """
    troubles = channels.load_channels(change.project)[1]
    outbox.prepare_outbox(directory)
    try:
        with outbox.hold_outbox(directory):
            before = outbox.read_state(directory, change.name, change.about.run)
            told, tells = changes.record_change(before, change)
            if tells:
                if (
                    change.final
                    and not noted
                    and broker_settings.is_configured(change.project)
                    and not _is_recorded(directory, change)
                ):
                    _record_in_journal(directory, change)
                for notice in _build_notifications(change, before, told.number):
                    outbox.add_notification(directory, notice)
            outbox.write_state(directory, change, told)
            # Last: who holds one just now finds above that it is over. The end of a monitor is not that of its subject.
            if before.open and told != before and change.state != "abandoned":
                _withdraw(directory, change, before.number)
    except OSError as error:
        raise RefusedError(f"cannot write to {directory}/outbox: {error.strerror}") from error
    for trouble in troubles if tells else ():
        deliver.record_event(
            directory, change.name, change.about.run, "undelivered", state=change.state, reason=trouble
        )


def _is_recorded(directory: str, change: Change) -> bool:
    """Whether the record has this very end: whoever writes it there, shim or watcher, notes it in the journal too."""
    try:
        text = sentinel_files.read(f"{directory}/{change.name}.json")
        record = None if text is None else sentinel.decode_record(text)
    except FormatError:
        return False
    if record is None or record.run != change.about.run:
        return False
    return record.end is not None and record.end.state == change.state


def _record_in_journal(directory: str, change: Change) -> None:
    """Before it counts as told: whoever is killed in between notes it twice rather than never."""
    about = change.about
    who = {"kind": "session", "agent": about.agent, "pane": about.pane} if about.agent else {}
    deliver.record_event(directory, change.name, about.run, "verdict", state=change.state, reason=change.reason, **who)


def _withdraw(directory: str, change: Change, number: int) -> None:
    """Take back what was told up to then and not delivered while it was true."""
    for notice in outbox.list_pending(directory):
        ours = (notice.name, notice.run) == (change.name, change.about.run) and notice.number <= number
        if ours and notice.fields.get("state") in LIVE_TOLD and (held := outbox.hold_notification(directory, notice)):
            deliver.record_given_up(directory, held, outbox.OVER)
            held.close()


def _build_notifications(change: Change, before: NotificationState, number: int) -> list[Notification]:
    """One for each channel that is told of this."""
    named = [channel for channel in channels.load_channels(change.project)[0] if changes.is_wanted(channel.on, change)]
    return [_build_notification(change, before, channels.channel_id(channel), number) for channel in named]


def _build_notification(change: Change, before: NotificationState, channel: str, number: int) -> Notification:
    """Its id comes from what it tells: who was killed before he could write down that he told it writes the same."""
    mark = "\0".join((change.name, change.about.run, change.state, str(number), channel))
    return Notification(
        id=hashlib.sha256(mark.encode("utf-8", "surrogateescape")).hexdigest()[:20], name=change.name,
        run=change.about.run, fields=words.template_fields(change, before), channel=channel, project=change.project,
        filed=change.wall, number=number, began=change.began, server=change.about.server,
    )  # fmt: skip
