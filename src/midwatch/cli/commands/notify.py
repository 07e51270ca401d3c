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
from midwatch.notifications import channels, deliver, enqueue, mqtt_publish_state, outbox
from midwatch.notifications.model import Notification

TYPE_CHECKING = False
if TYPE_CHECKING:
    from midwatch.notifications import mqtt_publish

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
    for standing in found:
        channel = standing.channel
        if as_json:
            _print_json(channel=standing.called, on=channel.on, source=channel.source, problem=standing.problem)
        else:
            _print_row(standing.called, standing.problem, f"on {', '.join(channel.on)}  ({channel.source})")
    broker = _read_broker_status(project)
    if broker and as_json:
        _print_json(channel=broker.called, on=[ENDS], source=broker.source, problem=broker.problem)
    elif broker:
        _print_row(broker.called, broker.problem, f"on {ENDS}  ({broker.source})")
    if not found and not broker and not as_json:
        print(NOBODY, file=sys.stderr)
    if (waiting := outbox.list_pending(directory)) and not as_json:
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
    unheard = _enqueue_reports(options, directory)
    deliver.deliver_pending(directory, everything=True)
    unpublished = _publish_pending(directory, project, as_json=as_json)
    waiting = outbox.list_pending(directory)
    waiting += [notice for notice in unheard if notice.id not in {each.id for each in waiting}]
    for notice in waiting:
        if as_json:
            _print_json(
                name=notice.name, run=notice.run, text=notice.fields["text"], channel=notice.channel,
                filed=notice.filed, tries=notice.tries, again=notice.again, problem=notice.trouble,
            )  # fmt: skip
        else:
            print(f"{visible(notice.fields['text'])}\n  {_format_trouble(notice)}")
    if not waiting and not unpublished and not as_json:
        print("everything is delivered", file=sys.stderr)
    return int(bool(waiting or unpublished))


def _enqueue_reports(options: Options, directory: str) -> list[Notification]:
    """Take in all that is to be told. Returns what cannot be written into the outbox, and so cannot be delivered."""
    looker = JobDirectory(directory, context.lazy_policy(options))
    try:
        enqueue.enqueue_pending(looker)
    except RefusedError as error:
        return enqueue.list_unwritten(looker, str(error))
    return []


def _format_trouble(notice: Notification) -> str:
    age = format_duration(float(int(max(0.0, time.time() - notice.filed))))
    return visible(f"{age} ago, tried {notice.tries} times: {notice.trouble or 'not tried yet'}")


def _print_row(called: str, problem: str, good: str) -> None:
    word, colour = ("WRONG", "31") if problem else ("ok", "32")
    shown = f"\033[{colour}m{word:<7}\033[0m" if output.uses_colour(1) else f"{word:<7}"
    print(f"{shown} {visible(called):<24} {visible(problem or good)}")


def _print_json(**what: object) -> None:
    print(dump({"schema": SCHEMA, **what}, spaced=True))
