"""`dogwatch notify`: who is told, whether that works, and what could not be delivered yet."""

import json
import os
import sys
import time

from dogwatch.cli import say
from dogwatch.cli.options import Options
from dogwatch.formats.visible import visible
from dogwatch.loops import delivery
from dogwatch.model.errors import UsageError
from dogwatch.model.notices import Notice
from dogwatch.model.words import in_words
from dogwatch.store import channels, outbox, places

SCHEMA = 1
NOBODY = "nobody is told: no [notify] in dogwatch.toml or config.toml names anyone; docs/notices.md tells how"


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
        delivery.deliver(directory, everything=True)
        return _pending(directory, as_json=as_json)
    return _show(project, directory, as_json=as_json)


def _show(project: str, directory: str, *, as_json: bool) -> int:
    found, (_, troubles) = delivery.standings(project), channels.of(project)
    for trouble in troubles:
        print(f"dogwatch: warning: {trouble}", file=sys.stderr)
    for standing in found:
        channel = standing.channel
        if as_json:
            _tell(channel=standing.called, on=channel.on, source=channel.source, problem=standing.problem)
        else:
            _row(standing, standing.problem, f"on {', '.join(channel.on)}  ({channel.source})")
    if not found and not as_json:
        print(NOBODY, file=sys.stderr)
    if (waiting := outbox.pending(directory)) and not as_json:
        print(f"{delivery.in_words(waiting)}; `dogwatch notify --pending` tries again", file=sys.stderr)
    return int(bool(troubles) or any(standing.problem for standing in found))


def _test(project: str, text: str, *, as_json: bool) -> int:
    found = delivery.try_out(project, text)
    for standing, done in found:
        if as_json:
            _tell(channel=standing.called, source=standing.channel.source, ok=done.ok, problem=done.why)
        else:
            _row(standing, done.why, "delivered")
    if not found and not as_json:
        print(NOBODY, file=sys.stderr)
    return int(not found or any(not done.ok for _, done in found))


def _pending(directory: str, *, as_json: bool) -> int:
    waiting = outbox.pending(directory)
    for notice in waiting:
        if as_json:
            _tell(
                name=notice.name, run=notice.run, text=notice.fields["text"], channel=notice.channel,
                filed=notice.filed, tries=notice.tries, again=notice.again, problem=notice.trouble,
            )  # fmt: skip
        else:
            print(f"{visible(notice.fields['text'])}\n  {_why(notice)}")
    if not waiting and not as_json:
        print("everything is delivered", file=sys.stderr)
    return int(bool(waiting))


def _why(notice: Notice) -> str:
    age = in_words(float(int(max(0.0, time.time() - notice.filed))))
    return visible(f"{age} ago, tried {notice.tries} times: {notice.trouble or 'not tried yet'}")


def _row(standing: delivery.Standing, problem: str, good: str) -> None:
    word, colour = ("WRONG", "31") if problem else ("ok", "32")
    shown = f"\033[{colour}m{word:<7}\033[0m" if say.colours_wanted(1) else f"{word:<7}"
    print(f"{shown} {visible(standing.called):<24} {visible(problem or good)}")


def _tell(**what: object) -> None:
    print(json.dumps({"schema": SCHEMA, **what}))
