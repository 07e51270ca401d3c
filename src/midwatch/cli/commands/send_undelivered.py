"""What did not arrive, for those who look: `send --undelivered` and `--drop`, and a mark in `ls --panes` and `why`."""

from __future__ import annotations

import time

from midwatch.cli.parser import Options
from midwatch.core.errors import UsageError
from midwatch.core.json_text import dump
from midwatch.core.text import in_words, visible
from midwatch.sessions.model import PaneVerdict
from midwatch.sessions.prompting import undelivered_store
from midwatch.sessions.prompting.undelivered_store import UndeliveredPrompt
from midwatch.tmux import client as tmux_client

SCHEMA = 1
BRIEF = 50
"""Letters of a text that are shown."""


def main(options: Options) -> int:
    if options.names or options.flag("--again") or options.flag("--file"):
        raise UsageError("send --undelivered and send --drop ID take no target and no text")
    for note in [undelivered_store.get(name) for name in options.each("--drop")]:
        undelivered_store.drop(note.id)
    if options.flag("--undelivered"):
        for note in undelivered_store.all():
            print(_json(note) if options.flag("--json") else _line(note))
    return 0


def _json(note: UndeliveredPrompt) -> str:
    return dump({"schema": SCHEMA, **note._asdict()})


def _line(note: UndeliveredPrompt) -> str:
    left = ", and may still stand there" if note.left else ""
    return visible(f"{note.id}  {note.target}  {_ago(note)}: {note.reason}{left}: {_brief(note.text)}")


def _ago(note: UndeliveredPrompt) -> str:
    return f"{in_words(max(0.0, float(int(time.time() - note.at))))} ago"


def _brief(text: str) -> str:
    line = " ".join(text.split())
    return repr(line if len(line) <= BRIEF else f"{line[: BRIEF - 1]}…")


def of(seen: PaneVerdict) -> list[UndeliveredPrompt]:
    """What did not arrive in a pane."""
    pane = seen.sighting.pane
    return undelivered_store.of(tmux_client.socket_path(pane.server), pane.id, pane.pid)


def mark(notes: list[UndeliveredPrompt]) -> str:
    """For a row of a listing."""
    return f" ({len(notes)} undelivered)" if notes else ""


def told(notes: list[UndeliveredPrompt]) -> list[str]:
    return [f"  undelivered:\n    {_line(note)}; `midwatch send --again {note.id}`" for note in notes]
