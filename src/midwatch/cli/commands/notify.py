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
from midwatch.core.text import in_words, visible
from midwatch.integrations.mqtt import broker_settings
from midwatch.jobs.job_directory import JobDirectory
from midwatch.notifications import channels, deliver, enqueue, mqtt_publish_state, outbox
from midwatch.notifications.model import Notification

TYPE_CHECKING = False
if TYPE_CHECKING:
    from midwatch.notifications import mqtt_publish

SCHEMA = 1
NOBODY = "nobody is told: no [notify] in midwatch.toml or config.toml names anyone; docs/notices.md tells how"
ENDS = "ends"
"""What a broker is told of."""


def main(options: Options) -> int:
    if options.names:
        raise UsageError("notify takes no names; who is told stands in the settings files")
    project, directory = paths.project(os.getcwd()), paths.directory(options.text("--dir"))
    as_json = options.flag("--json")
    if (text := options.text("--test")) is not None:
        if options.flag("--pending"):
            raise UsageError("--test and --pending are two things; ask for one")
        return _test(project, text, as_json=as_json)
    if options.flag("--pending"):
        return _pending(options, directory, project, as_json=as_json)
    return _show(project, directory, as_json=as_json)


def _show(project: str, directory: str, *, as_json: bool) -> int:
    found, (_, troubles) = deliver.standings(project), channels.of(project)
    for trouble in troubles:
        output.warn(trouble)
    for standing in found:
        channel = standing.channel
        if as_json:
            _tell(channel=standing.called, on=channel.on, source=channel.source, problem=standing.problem)
        else:
            _row(standing.called, standing.problem, f"on {', '.join(channel.on)}  ({channel.source})")
    broker = _broker(project)
    if broker and as_json:
        _tell(channel=broker.called, on=[ENDS], source=broker.source, problem=broker.problem)
    elif broker:
        _row(broker.called, broker.problem, f"on {ENDS}  ({broker.source})")
    if not found and not broker and not as_json:
        print(NOBODY, file=sys.stderr)
    if (waiting := outbox.pending(directory)) and not as_json:
        print(f"{deliver.in_words(waiting)}; `midwatch notify --pending` tries again", file=sys.stderr)
    return int(bool(troubles) or any(each.problem for each in (*found, *([broker] if broker else ()))))


def _broker(project: str) -> mqtt_publish.BrokerStatus | None:
    """The broker, if one is named; its library is loaded only then."""
    if not broker_settings.named(project):
        return None
    from midwatch.notifications import mqtt_publish

    return mqtt_publish.standing(project)


def _test(project: str, text: str, *, as_json: bool) -> int:
    found = deliver.try_out(project, text)
    for standing, done in found:
        if as_json:
            _tell(channel=standing.called, source=standing.channel.source, ok=done.ok, problem=done.why)
        else:
            _row(standing.called, done.why, "delivered")
    broker = _broker(project)
    why = (broker.problem or _reached(project)) if broker else ""
    if broker and as_json:
        _tell(channel=broker.called, source=broker.source, ok=not why, problem=why)
    elif broker:
        _row(broker.called, why, "it lets us in")
    if not found and not broker and not as_json:
        print(NOBODY, file=sys.stderr)
    return int(not (found or broker) or bool(why) or any(not done.ok for _, done in found))


def _reached(project: str) -> str:
    from midwatch.notifications import mqtt_publish

    return mqtt_publish.try_out(project)


def _published(directory: str, project: str, *, as_json: bool) -> str:
    """Publish what is behind, by the broker that was meant, and say what is in the way."""
    mark = mqtt_publish_state.marked(directory)
    project = mark.project if mark else project
    if not broker_settings.named(project):
        return ""
    from midwatch.notifications import mqtt_publish

    why = mqtt_publish.publish(directory, project, patient=False)
    if why and as_json:
        _tell(channel="mqtt", problem=why)
    elif why:
        print(f"not everything is published\n  {visible(why)}")
    return why


def _pending(options: Options, directory: str, project: str, *, as_json: bool) -> int:
    unheard = _heard(options, directory)
    deliver.deliver(directory, everything=True)
    unpublished = _published(directory, project, as_json=as_json)
    waiting = outbox.pending(directory)
    waiting += [notice for notice in unheard if notice.id not in {each.id for each in waiting}]
    for notice in waiting:
        if as_json:
            _tell(
                name=notice.name, run=notice.run, text=notice.fields["text"], channel=notice.channel,
                filed=notice.filed, tries=notice.tries, again=notice.again, problem=notice.trouble,
            )  # fmt: skip
        else:
            print(f"{visible(notice.fields['text'])}\n  {_why(notice)}")
    if not waiting and not unpublished and not as_json:
        print("everything is delivered", file=sys.stderr)
    return int(bool(waiting or unpublished))


def _heard(options: Options, directory: str) -> list[Notification]:
    """Take in all that is to be told. Returns what cannot be written into the outbox, and so cannot be delivered."""
    looker = JobDirectory(directory, context.lazily(options))
    try:
        enqueue.settle(looker)
    except RefusedError as error:
        return enqueue.unheard(looker, str(error))
    return []


def _why(notice: Notification) -> str:
    age = in_words(float(int(max(0.0, time.time() - notice.filed))))
    return visible(f"{age} ago, tried {notice.tries} times: {notice.trouble or 'not tried yet'}")


def _row(called: str, problem: str, good: str) -> None:
    word, colour = ("WRONG", "31") if problem else ("ok", "32")
    shown = f"\033[{colour}m{word:<7}\033[0m" if output.colours_wanted(1) else f"{word:<7}"
    print(f"{shown} {visible(called):<24} {visible(problem or good)}")


def _tell(**what: object) -> None:
    print(dump({"schema": SCHEMA, **what}, spaced=True))
