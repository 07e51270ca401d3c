"""What the feed of changes keeps and tells, as text: its state file, and its events in the journal."""

from __future__ import annotations

import json

from midwatch.core import names
from midwatch.core.event import Event
from midwatch.core.exit_codes import NEXT
from midwatch.core.json_text import dump
from midwatch.core.verdict_json import verdict_fields
from midwatch.journal import codec as journal_codec
from midwatch.subjects.model import KnownState, Subject, SubjectChange
from midwatch.subjects.rules import FeedState

SCHEMA = 1
FIELDS = {"subject": "id", "kind": "kind", "parent": "parent", "state": "state", "final": "final", "cause": "cause",
          "reason": "reason", "was": "was"}  # fmt: skip
"""Of an event: its fields, and those of a change that they hold."""
ANY = "subject"
"""Name of an event whose subject has none that an event may have."""


def encode_state(state: FeedState) -> str:
    return dump({"schema": SCHEMA, "known": {key: list(known) for key, known in state.known.items()}}) + "\n"


def decode_state(text: str) -> FeedState | None:
    """None for what no feed of this version wrote."""
    try:
        found = json.loads(text)
        if found["schema"] != SCHEMA:
            return None
        known = {
            str(key): KnownState(str(state), bool(final), *map(str, texts))
            for key, (state, final, *texts) in found["known"].items()
        }
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return None
    return FeedState(known, {})


def encode_change(change: SubjectChange, at: float) -> Event:
    """The event that the journal keeps of a change. It has the name that `events NAME` asks for."""
    top = change.parent.rpartition("/")[2] if change.parent else change.name
    body: dict[str, object] = {field: getattr(change, of) for field, of in FIELDS.items()}
    name = top if not names.find_problem(top) or names.is_pane(top) else ANY
    body |= {} if change.name == name else {"called": change.name}
    return journal_codec.uncounted_event(change.run, at, name, journal_codec.CHANGED, body)


def decode_change(event: Event) -> SubjectChange:
    body = journal_codec.event_body(event)
    texts = {of: str(body.get(field) or "") for field, of in FIELDS.items() if field != "final"}
    name = str(body.get("called") or event.name)
    return SubjectChange(name=name, final=body.get("final") is True, run=event.run, seq=event.seq, at=event.at, **texts)


def encode_subject(subject: Subject) -> str:
    """A line of `ls --children --json`."""
    found: dict[str, object] = verdict_fields(subject.verdict, NEXT[subject.verdict.state])
    told = {"id": subject.id, "parent": subject.parent or None, "agent": subject.agent or None}
    return dump(found | told | ({"about": subject.about} if subject.about else {}))
