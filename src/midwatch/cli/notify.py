"""`midwatch notify`: who is told, whether that works, and what could not be delivered yet."""

from __future__ import annotations

import os
import sys
import time

from midwatch.cli import say, settings
from midwatch.cli.options import Options
from midwatch.formats.json_text import dump
from midwatch.formats.visible import visible
from midwatch.loops import delivery, hearing
from midwatch.loops.look import Looker
from midwatch.model.errors import RefusedError, UsageError
from midwatch.model.notices import Notice
from midwatch.model.words import in_words
from midwatch.store import brokers, channels, outbox, places, published

TYPE_CHECKING = False
if TYPE_CHECKING:
    from midwatch.loops import publishing

SCHEMA = 1
NOBODY = "nobody is told: no [notify] in midwatch.toml or config.toml names anyone; docs/notices.md tells how"
ENDS = "ends"
"""What a broker is told of."""


def main(options: Options) -> int:
    if options.names:
        raise UsageError("notify takes no names; who is told stands in the settings files")
    project, directory = places.project(os.getcwd()), places.directory(options.text("--dir"))
    as_json = options.flag("--json")
    if (text := options.text("--test")) is not None:
        if options.flag("--pending"):
            raise UsageError("--test and --pending are two things; ask for one")
        return _test(project, text, as_json=as_json)
    if options.flag("--pending"):
        return _pending(options, directory, project, as_json=as_json)
    return _show(project, directory, as_json=as_json)


def _show(project: str, directory: str, *, as_json: bool) -> int:
    found, (_, troubles) = delivery.standings(project), channels.of(project)
    for trouble in troubles:
        say.warn(trouble)
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
        print(f"{delivery.in_words(waiting)}; `midwatch notify --pending` tries again", file=sys.stderr)
    return int(bool(troubles) or any(each.problem for each in (*found, *([broker] if broker else ()))))


def _broker(project: str) -> publishing.Standing | None:
    """The broker, if one is named; its library is loaded only then."""
    if not brokers.named(project):
        return None
    from midwatch.loops import publishing

    return publishing.standing(project)


def _test(project: str, text: str, *, as_json: bool) -> int:
    found = delivery.try_out(project, text)
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
    from midwatch.loops import publishing

    return publishing.try_out(project)


def _published(directory: str, project: str, *, as_json: bool) -> str:
    """Publish what is behind, by the broker that was meant, and say what is in the way."""
    mark = published.marked(directory)
    project = mark.project if mark else project
    if not brokers.named(project):
        return ""
    from midwatch.loops import publishing

    why = publishing.publish(directory, project, patient=False)
    if why and as_json:
        _tell(channel="mqtt", problem=why)
    elif why:
        print(f"not everything is published\n  {visible(why)}")
    return why


def _pending(options: Options, directory: str, project: str, *, as_json: bool) -> int:
    unheard = _heard(options, directory)
    delivery.deliver(directory, everything=True)
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


def _heard(options: Options, directory: str) -> list[Notice]:
    """Take in all that is to be told. Returns what cannot be written into the outbox, and so cannot be delivered."""
    looker = Looker(directory, settings.lazily(options))
    try:
        hearing.settle(looker)
    except RefusedError as error:
        return hearing.unheard(looker, str(error))
    return []


def _why(notice: Notice) -> str:
    age = in_words(float(int(max(0.0, time.time() - notice.filed))))
    return visible(f"{age} ago, tried {notice.tries} times: {notice.trouble or 'not tried yet'}")


def _row(called: str, problem: str, good: str) -> None:
    word, colour = ("WRONG", "31") if problem else ("ok", "32")
    shown = f"\033[{colour}m{word:<7}\033[0m" if say.colours_wanted(1) else f"{word:<7}"
    print(f"{shown} {visible(called):<24} {visible(problem or good)}")


def _tell(**what: object) -> None:
    print(dump({"schema": SCHEMA, **what}, spaced=True))
