"""What did not arrive, for those who look: `send --undelivered` and `--drop`, and a mark in `ls --panes` and `why`."""

from __future__ import annotations

import time

from midwatch.cli.parser import Options
from midwatch.core.errors import UsageError
from midwatch.core.json_text import dump
from midwatch.core.text import format_duration, visible
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
    for note in [undelivered_store.find_note(name) for name in options.each("--drop")]:
        undelivered_store.drop_note(note.id)
    if options.flag("--undelivered"):
        for note in undelivered_store.read_all_notes():
            print(_format_json(note) if options.flag("--json") else _format_note(note))
    return 0


def _format_json(note: UndeliveredPrompt) -> str:
    return dump({"schema": SCHEMA, **note._asdict()})


def _format_note(note: UndeliveredPrompt) -> str:
    left = ", and may still stand there" if note.left else ""
    return visible(f"{note.id}  {note.target}  {_format_age(note)}: {note.reason}{left}: {_shorten(note.text)}")


def _format_age(note: UndeliveredPrompt) -> str:
    return f"{format_duration(max(0.0, float(int(time.time() - note.at))))} ago"


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return repr(line if len(line) <= BRIEF else f"{line[: BRIEF - 1]}…")


def find_undelivered(seen: PaneVerdict) -> list[UndeliveredPrompt]:
    """What did not arrive in a pane."""
    pane = seen.sighting.pane
    return undelivered_store.read_notes(tmux_client.socket_path(pane.server), pane.id, pane.pid)


def format_mark(notes: list[UndeliveredPrompt]) -> str:
    """For a row of a listing."""
    return f" ({len(notes)} undelivered)" if notes else ""


def format_notes(notes: list[UndeliveredPrompt]) -> list[str]:
    return [f"  undelivered:\n    {_format_note(note)}; `midwatch send --again {note.id}`" for note in notes]
