"""Telling those who want to know what became of work: who sees a change reports it, once, and goes on.

A watcher calls `changed` after each look; a shim starts `midwatch _deliver NAME` when its work has ended or is stuck.
Either way the rest is done by a process of its own (`enqueue.py`, `deliver.py`). So a channel that is
down or hangs can neither delay nor change a verdict, which is written before anyone is told.
"""

from __future__ import annotations

import os
import shlex
import time

from midwatch.core import plain_text
from midwatch.core.errors import RefusedError
from midwatch.core.exit_codes import NEXT
from midwatch.core.job_model import Record
from midwatch.core.verdict import Verdict
from midwatch.integrations.mqtt import broker_settings
from midwatch.jobs import launch, monitor_store, start_sender
from midwatch.jobs.rules.resume_condition import is_resumable
from midwatch.notifications import channels, mqtt_publish_state, outbox, send_pending
from midwatch.notifications.codec import outbox_file as lines
from midwatch.notifications.model import Change, ChangeSubject
from midwatch.notifications.rules import changes
from midwatch.system import procfs
from midwatch.tmux import client as tmux_client

NOBODY = ChangeSubject()


def find_configured_project(project: str) -> str:
    """The project, if its settings or the user's name somebody to be told, else nothing: what `changed` is given."""
    return project if any(channels.load_channels(project)) or broker_settings.is_configured(project) else ""


def report_verdict(
    directory: str, verdict: Verdict, before: Verdict | None, *, project: str, about: ChangeSubject = NOBODY,
    at: float | None = None, since: float | None = None, planned: bool = False,
) -> None:  # fmt: skip
    """Report what a look (at the monotonic moment ``at``) found, with the verdict of the look before, None at first.

    ``since``: when the watch began that now ends, where one gives up: another's giving up was another event.
    ``planned``: whoever watches continues the work after the limit.
    ``project`` is what `configured` gave, or the record's. Returns at once; that nobody could be told is only noted.
    """
    if not project or not _is_reportable(directory, verdict, before, about):
        return
    change = build_change(verdict, project, about, time.monotonic() if at is None else at, since, planned=planned)
    report, said = "", b""
    try:
        outbox.prepare_outbox(directory)
        report = outbox.write_report(directory, change)
    except (OSError, RefusedError):  # whoever delivers stays until it can be written
        said = lines.encode_value(change).encode()
    try:
        start_sender.start(launch.sender_command(directory, report=report), said)
    except OSError as error:
        from midwatch.notifications.deliver import record_event  # noqa: PLC0415  # a watcher pays for it only when something went wrong

        record_event(directory, change.name, about.run, "undelivered", reason=f"nobody could be told: {error.strerror}")


def change_subject(record: Record) -> ChangeSubject:
    """Whom a record is about."""
    seat, where = record.pane, os.path.basename(record.cwd)
    if seat is None:
        return ChangeSubject(record.run, record.agent, "", where, record.name)
    attach = shlex.join(("midwatch", "attach", record.name))
    return ChangeSubject(record.run, record.agent, seat.id, where, record.name, attach, ours=True)


def attach_command(server: tuple[str, ...], session: str) -> str:
    """The command that shows a session to a person."""
    return shlex.join(tmux_client.command_for_person(server, "attach", "-t", f"={session}"))


def is_resumed(directory: str, record: Record, verdict: Verdict) -> bool:
    """Whether a monitor that lives resumes this run, or did: then it is no end, and the monitor tells what is."""
    if record.kind != "session":
        return False
    watch = monitor_store.read_state(f"{directory}/{record.name}")
    if watch is None or watch.verdict is not None or watch.boot != procfs.boot_id():
        return False
    pid, start = watch.monitor
    if not start or procfs.start_time(pid) != start:
        return False
    return watch.run != record.run or bool(watch.acting) or (watch.resumes > 0 and is_resumable(verdict))


def start_delivery(directory: str) -> None:
    """Deliver, beside us, what is due or new; for whoever comes by. Costs a look into a directory or two."""
    send_pending.start_sender_if_due(directory)
    try:
        if not outbox.is_due_time_current(directory) or mqtt_publish_state.is_due(directory):
            start_sender.start(launch.sender_command(directory))
    except (OSError, RefusedError):
        pass  # whoever comes by next finds the same


def start_publishing(directory: str, project: str) -> None:
    """For who has noted a terminal event in the journal: have it published, beside us, if there is a broker."""
    if not broker_settings.is_configured(project):
        return
    try:
        outbox.prepare_outbox(directory)
        mqtt_publish_state.write_mark(directory, project)
        start_sender.start(launch.sender_command(directory))
    except (OSError, RefusedError):
        pass  # whoever publishes next finds it in the journal


def _is_reportable(directory: str, verdict: Verdict, before: Verdict | None, about: ChangeSubject) -> bool:
    if changes.is_relevant_change(before, verdict):
        return True
    # Whoever comes after a watcher that was killed may be the first to see that it is over.
    return before is None and os.path.exists(outbox.state_path(directory, verdict.name, about.run))


def build_change(
    verdict: Verdict, project: str, about: ChangeSubject, at: float, since: float | None = None,
    *, planned: bool = False,
) -> Change:  # fmt: skip
    """What a look found, for those who are told."""
    wall, lasted = time.time(), verdict.silent_s if verdict.state == "stuck" else verdict.turn_s
    if verdict.state == "stuck" and verdict.silent_s is not None:
        since = at - verdict.silent_s
    return Change(
        name=verdict.name, about=about, state=verdict.state, final=verdict.final, cause=verdict.cause,
        reason=plain_text.clean_reason(verdict.reason), until=verdict.until.line(), message=verdict.message.line(),
        following=NEXT[verdict.state], at=at, boot=procfs.boot_id(), wall=wall, project=project, since=since,
        goes_on=changes.is_work_present(verdict), planned=planned,
        began=wall - (0.0 if verdict.final else lasted or 0.0),
    )  # fmt: skip
