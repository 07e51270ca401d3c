"""`dogwatch send`: a prompt for an agent in a pane, typed only where nobody minds, and proven to have arrived."""

from __future__ import annotations

import json
import signal
import sys
import time

from dogwatch.cli import panes as watched
from dogwatch.cli.options import Options
from dogwatch.formats import names, sentinel, typing_text
from dogwatch.judge.consequences import EXIT_CODES
from dogwatch.loops.panes import Panes
from dogwatch.loops.send import deliver
from dogwatch.loops.sessions import is_its
from dogwatch.model.errors import FormatError, RefusedError, UsageError
from dogwatch.model.facts import Record
from dogwatch.model.sending import Outcome, Sent
from dogwatch.senses.tmux import is_pane
from dogwatch.store import detectors, places, sentinels

SCHEMA = 1
NOT_TAKEN = 1
CODES = {
    Outcome.DELIVERED: 0, Outcome.INTERRUPTED: 130, Outcome.UNPROVEN: EXIT_CODES["incomplete"],
    Outcome.EXITED: EXIT_CODES["not_found"], Outcome.WAITING: EXIT_CODES["waiting"],
    Outcome.LIMITED: EXIT_CODES["limited"],
}  # fmt: skip
"""Of outcomes; of all others NOT_TAKEN if something was typed, else that of `unknown`."""


def main(options: Options) -> int:
    target, text = _asked(options)
    began = time.monotonic()
    asked = Signals()
    pane = None
    try:
        panes, pane = _found(options, target)
        with asked:
            sent = deliver(panes, pane, text, stopped=asked.heard)
        panes.close()
    except RefusedError as error:
        sent = Sent(Outcome.EXITED if isinstance(error, watched.NobodyError) else Outcome.REFUSED, str(error))
    if options.flag("--json"):
        print(_json(target, pane, sent, time.monotonic() - began), flush=True)
    else:
        _say(target, sent)
    return CODES.get(sent.outcome, NOT_TAKEN if sent.typed else EXIT_CODES["unknown"])


def _asked(options: Options) -> tuple[str, str]:
    path = options.text("--file")
    if not options.names or len(options.names) != (1 if path is not None else 2):
        raise UsageError("send needs a target and one text in quotes (or --file): dogwatch send %3 'go on'")
    return options.names[0], typing_text.clean(options.names[1] if path is None else read_text("--file", path))


def read_text(flag: str, path: str) -> str:
    """What a flag's file holds (- is standard input), as far as anybody would type it."""
    try:
        with open(0 if path == "-" else path, "rb", closefd=path != "-") as file:
            return file.read(8 * typing_text.LARGEST).decode("utf-8", "replace")
    except OSError as error:
        raise UsageError(f"{flag} {path}: {error.strerror}") from error


# Which pane ---------------------------------------------------------------------------------------------------------


def _found(options: Options, target: str) -> tuple[Panes, str]:
    if is_pane(target) or target.startswith("="):
        panes = watched.watchers(options)[0]
        return panes, watched.agent_of(panes, target).sighting.pane.id
    record = _recorded(places.directory(options.text("--dir")), names.check(target))
    if record.pane is None:
        raise RefusedError(f"{target} is a job without a pane; nothing can be typed there")
    panes = Panes(detectors.load_all(), places.hook_spool(), record.pane.server)
    looked = panes.look(record.pane.id)
    if looked.trouble:
        raise RefusedError(looked.trouble)
    if not any(is_its(record, seen) for seen in looked.seen):
        raise watched.NobodyError(
            f"the agent of {target} is not in its pane any more; `dogwatch why {target}` tells more"
        )
    return panes, record.pane.id


def _recorded(directory: str, name: str) -> Record:
    if others := places.shared_with_others(directory):
        raise RefusedError(f"{others}; nothing is typed where such a directory says")
    try:
        text = sentinels.read(f"{directory}/{name}.json")
        if text is None:
            raise watched.NobodyError(f"no session is called {name!r} here; `dogwatch ls` lists them")
        return sentinel.record(text)
    except FormatError as error:
        raise RefusedError(f"{name}: {error}") from error


# What became of it --------------------------------------------------------------------------------------------------


class Signals:
    """Asked to end, we finish what would be left half done. The second time, we end."""

    NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def __init__(self) -> None:
        self.count = 0

    def heard(self) -> bool:
        return self.count > 0

    def __enter__(self) -> None:
        self._before = {number: signal.signal(number, self._hear) for number in self.NUMBERS}

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _hear(self, *_: object) -> None:
        self.count += 1
        if self.count > 1:
            raise KeyboardInterrupt


def _json(target: str, pane: str | None, sent: Sent, elapsed: float) -> str:
    found = {
        "schema": SCHEMA, "target": target, "pane": pane, "agent": sent.agent or None, "outcome": sent.outcome,
        "detail": sent.detail or None, "delivered": sent.delivered, "submitted": sent.submitted,
        "proof": sent.proof or None, "typed": sent.typed, "left": sent.left, "reason": sent.reason,
        "elapsed_s": round(elapsed, 3),
    }  # fmt: skip
    return json.dumps(found, ensure_ascii=False, separators=(",", ":"))


def _say(target: str, sent: Sent) -> None:
    if sent.delivered:
        print(f"{target}: delivered: {sent.reason}")
        return
    what = "sent, perhaps" if sent.submitted else "not delivered" if sent.typed else "nothing was typed"
    print(f"dogwatch: {target}: {what}: {sent.reason}", file=sys.stderr)
