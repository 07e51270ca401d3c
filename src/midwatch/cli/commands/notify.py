"""`midwatch notify`: who is told, whether that works, and what could not be delivered yet."""

from __future__ import annotations

import os
import sys
import time

from midwatch.cli import context, output
from midwatch.cli.parser import Options
from midwatch.config import paths
from midwatch.core.errors import RefusedError, UsageError
from midwatch.core.json_text import dump
from midwatch.core.text import format_duration, visible
from midwatch.integrations.mqtt import broker_settings
from midwatch.jobs.job_directory import JobDirectory
from midwatch.notifications import channels, deliver, enqueue, held_back, mqtt_publish_state, notification_clock
from midwatch.notifications.model import Notification
from midwatch.subjects import reminder_check

TYPE_CHECKING = False
if TYPE_CHECKING:
    from midwatch.config.model import Channel
    from midwatch.notifications import mqtt_publish
    from midwatch.notifications.held_back import PendingNotification

SCHEMA = 1
NOBODY = (
    "nobody is told: no [notify] in midwatch.toml or config.toml names anyone; docs/guides/notifications.md tells how"
)
ENDS = "ends"
"""What a broker is told of."""


def main(options: Options) -> int:
    if options.names:
        raise UsageError("notify takes no names; who is told stands in the settings files")
    project, directory = paths.project_root(os.getcwd()), paths.sentinel_directory(options.text("--dir"))
    as_json = options.flag("--json")
    if (text := options.text("--test")) is not None:
        if options.flag("--pending"):
            raise UsageError("--test and --pending are two things; ask for one")
        return _send_test(project, text, as_json=as_json)
    if options.flag("--pending"):
        return _print_pending(options, directory, project, as_json=as_json)
    return _print_channels(project, directory, as_json=as_json)


def _print_channels(project: str, directory: str, *, as_json: bool) -> int:
    found, (_, troubles) = deliver.channel_statuses(project), channels.load_channels(project)
    for trouble in troubles:
        output.print_warning(trouble)
    pending = held_back.list_pending(directory)
    for standing in found:
        channel = standing.channel
        kept = [each for each in pending if each.is_kept and each.notice.channel == channels.channel_id(channel)]
        if as_json:
            _print_json(
                channel=standing.called, on=channel.on, level=channel.level, remind_s=channel.remind_s,
                quiet=format_quiet(channel), quiet_except=channel.quiet_except, held=len(kept),
                held_until=max((each.until for each in kept), default=None), source=channel.source,
                problem=standing.problem,
            )  # fmt: skip
        else:
            _print_row(standing.called, standing.problem, f"{_format_manner(channel, kept)}  ({channel.source})")
    broker = _read_broker_status(project)
    if broker and as_json:
        _print_json(channel=broker.called, on=[ENDS], source=broker.source, problem=broker.problem)
    elif broker:
        _print_row(broker.called, broker.problem, f"on {ENDS}  ({broker.source})")
    if not found and not broker and not as_json:
        print(NOBODY, file=sys.stderr)
    if (waiting := [each.notice for each in pending if each.is_undelivered]) and not as_json:
        print(f"{deliver.format_waiting(waiting)}; `midwatch notify --pending` tries again", file=sys.stderr)
    return int(bool(troubles) or any(each.problem for each in (*found, *([broker] if broker else ()))))


def _read_broker_status(project: str) -> mqtt_publish.BrokerStatus | None:
    """The broker, if one is named; its library is loaded only then."""
    if not broker_settings.is_configured(project):
        return None
    from midwatch.notifications import mqtt_publish

    return mqtt_publish.broker_status(project)


def _send_test(project: str, text: str, *, as_json: bool) -> int:
    found = deliver.send_test(project, text)
    for standing, done in found:
        if as_json:
            _print_json(channel=standing.called, source=standing.channel.source, ok=done.ok, problem=done.why)
        else:
            _print_row(standing.called, done.why, "delivered")
    broker = _read_broker_status(project)
    why = (broker.problem or _test_broker(project)) if broker else ""
    if broker and as_json:
        _print_json(channel=broker.called, source=broker.source, ok=not why, problem=why)
    elif broker:
        _print_row(broker.called, why, "it lets us in")
    if not found and not broker and not as_json:
        print(NOBODY, file=sys.stderr)
    return int(not (found or broker) or bool(why) or any(not done.ok for _, done in found))


def _test_broker(project: str) -> str:
    from midwatch.notifications import mqtt_publish

    return mqtt_publish.test_connection(project)


def _publish_pending(directory: str, project: str, *, as_json: bool) -> str:
    """Publish what is behind, by the broker that was meant, and say what is in the way."""
    mark = mqtt_publish_state.read_mark(directory)
    project = mark.project if mark else project
    if not broker_settings.is_configured(project):
        return ""
    from midwatch.notifications import mqtt_publish

    why = mqtt_publish.publish_ends(directory, project, patient=False)
    if why and as_json:
        _print_json(channel="mqtt", problem=why)
    elif why:
        print(f"not everything is published\n  {visible(why)}")
    return why


def _print_pending(options: Options, directory: str, project: str, *, as_json: bool) -> int:
    looker = JobDirectory(directory, context.lazy_policy(options))
    unheard = _enqueue_reports(looker)
    deliver.deliver_pending(directory, reminder_check.SessionCheck(looker).find_answer, everything=True)
    unpublished = _publish_pending(directory, project, as_json=as_json)
    pending = held_back.list_pending(directory)
    left = [each for each in pending if each.is_undelivered]
    left += held_back.as_undelivered(unheard, {each.notice.id for each in pending})
    deliver.note_due_time(directory)
    for each in (*left, *(each for each in pending if not each.is_undelivered)):
        notice = each.notice
        if as_json:
            _print_json(
                name=notice.name, run=notice.run, kind=notice.kind, text=notice.fields["text"], channel=notice.channel,
                filed=notice.filed, tries=notice.tries, again=notice.again,
                held=each.why, held_until=each.until or None, problem=notice.trouble,
            )  # fmt: skip
        else:
            print(f"{visible(notice.fields['text'])}\n  {_format_trouble(each)}")
    if not left and not unpublished and not as_json:
        later = f", and {len(pending)} wait for their time" if pending else ""
        print(f"everything is delivered{later}", file=sys.stderr)
    return int(bool(left or unpublished))


def _enqueue_reports(looker: JobDirectory) -> list[Notification]:
    """Take in all that is to be told. Returns what cannot be written into the outbox, and so cannot be delivered."""
    try:
        enqueue.enqueue_pending(looker)
    except RefusedError as error:
        return enqueue.list_unwritten(looker, str(error))
    return []


def _format_trouble(each: PendingNotification) -> str:
    notice, until = each.notice, notification_clock.format_time_of_day(each.until)
    age = format_duration(float(int(max(0.0, time.time() - notice.filed))))
    if each.why == "reminder":
        return f"reminder at {until}, unless it is answered"
    if each.why == "quiet":
        return f"{age} ago, kept until {until} by quiet hours"
    return visible(f"{age} ago, tried {notice.tries} times: {notice.trouble or 'not tried yet'}")


def format_quiet(channel: Channel) -> str:
    """The quiet hours of a channel as a settings file gives them; empty where there are none."""
    if channel.quiet is None:
        return ""
    times = [f"{minute // 60:02d}:{minute % 60:02d}" for minute in (channel.quiet.start, channel.quiet.end)]
    return "-".join(times)


def _format_manner(channel: Channel, kept: list[PendingNotification]) -> str:
    passes = f" except {', '.join(channel.quiet_except)}" if channel.quiet_except else ""
    until = notification_clock.format_time_of_day(max((each.until for each in kept), default=0.0))
    return "  ".join([
        f"level {channel.level}" if channel.level else f"on {', '.join(channel.on)}",
        *([f"quiet {format_quiet(channel)}{passes}"] if channel.quiet else []),
        f"reminder after {format_duration(channel.remind_s)}" if channel.remind_s else "no reminder",
        *([f"{len(kept)} held back until {until}"] if kept else []),
    ])  # fmt: skip


def _print_row(called: str, problem: str, good: str) -> None:
    word, colour = ("WRONG", "31") if problem else ("ok", "32")
    shown = f"\033[{colour}m{word:<7}\033[0m" if output.uses_colour(1) else f"{word:<7}"
    print(f"{shown} {visible(called):<24} {visible(problem or good)}")


def _print_json(**what: object) -> None:
    print(dump({"schema": SCHEMA, **what}, spaced=True))
