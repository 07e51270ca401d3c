"""Ends of jobs and sessions as MQTT messages: ``<prefix>/v1/<host>/<project>/<name>/event``, with JSON as payload.

The topic says of whom it is, the payload says it again and all else; where the two differ, nobody is believed: brokers
can only be told who may write to which topic.
"""

from __future__ import annotations

import hashlib
import json

from midwatch.config.codec.mqtt_table import HOST, SCHEMA, VERSION
from midwatch.core import plain_text
from midwatch.core.event import Event
from midwatch.core.job_model import Record
from midwatch.core.value import Value
from midwatch.core.verdict import FINAL, LIVE

LAST = "event"
TERMINAL = ("ended", "verdict", "delegated")
"""Events of the journal that are published."""
LARGEST = 1 << 16
"""Bytes of a payload that is read at all."""
PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._=@-")
"""Characters of a topic's part that stand as they are; `+`, `#` and `/` mean something to brokers."""
LATEST = 1e11
TEXTS = ("host", "project", "dir", "name", "run", "kind", "event", "state", "reason")
MORE = ("agent", "session", "pane", "conversation", "cwd")
"""Texts that are there only where they are known."""
KINDS = ("job", "session")
PATHS = ("project", "dir", "cwd")
LONGEST_PATH, LONGEST_WORD = 4096, 255


class SubjectEvent(Value):
    """One terminal event. Whoever hears it knows which subject to look at; what is true is what a look finds."""

    host: str
    project: str
    """The project's directory on that host; its topic has only the last part of it."""
    dir: str
    """The sentinel directory on that host; with ``seq`` it tells one event from all others."""
    name: str
    run: str
    kind: str
    """`job` or `session`."""
    event: str
    """Of TERMINAL: its process has ended; what somebody who watched came to; a task that was handed over."""
    state: str
    reason: str
    exit_code: int | None
    at: float
    """Wall clock of that host."""
    seq: int
    """Its place in that directory's journal; they grow, with gaps."""
    agent: str = ""
    session: str = ""
    """Of tmux."""
    pane: str = ""
    conversation: str = ""
    cwd: str = ""
    elapsed_s: float | None = None


def client_id(given: str, host: str, path: str) -> str:
    """Our name at a broker: the same whenever this host means this path, and nobody else's."""
    digest = hashlib.sha256(path.encode("utf-8", "surrogateescape")).hexdigest()[:12]
    return f"{given or 'midwatch'}-{_encode_part(host)}-{digest}"


# Topics


def event_topic(prefix: str, host: str, project: str, name: str) -> str:
    return "/".join(
        (
            prefix,
            VERSION,
            _encode_part(host),
            _encode_part(project.rstrip("/").rpartition("/")[2]),
            _encode_part(name),
            LAST,
        )
    )


def subscription_topic(prefix: str) -> str:
    """What to subscribe to for the events of all hosts."""
    return f"{prefix}/{VERSION}/+/+/+/{LAST}"


def _encode_part(word: str) -> str:
    """A part of a topic; what is not plain is written as in a URL."""
    if PLAIN.issuperset(word) and word:
        return word
    data = word.encode("utf-8", "surrogateescape")
    return "".join([chr(byte) if chr(byte) in PLAIN else f"%{byte:02X}" for byte in data]) or "%"


# Payloads


def build_event(
    event: Event,
    said: dict[str, object],
    record: Record | None,
    *,
    host: str,
    project: str,
    dir: str,  # noqa: A002  # as it is called in the payload
) -> SubjectEvent:
    """An event of the journal, for others; ``said`` is its body, ``record`` that of its run if it is still kept."""
    kind = record.kind if record else "session" if _text_field(said, "agent") else "job"
    pane = record.pane if record is not None else None
    code, seconds = said.get("exit_code"), said.get("elapsed_s")
    return SubjectEvent(
        host=host, project=project, dir=dir, name=event.name, run=event.run, kind=_text_field(said, "kind") or kind,
        event=event.event, state=_text_field(said, "state"),
        reason=plain_text.clean_reason(_text_field(said, "reason")),
        exit_code=code if type(code) is int else None, at=event.at, seq=event.seq,
        agent=_text_field(said, "agent") or (record.agent if record else ""),
        session=_text_field(said, "session") or (pane.session if pane else ""),
        pane=_text_field(said, "pane") or (pane.id if pane else ""),
        conversation=_text_field(said, "conversation") or (record.conversation if record else ""),
        cwd=_text_field(said, "cwd") or (record.cwd if record else ""),
        elapsed_s=float(seconds) if type(seconds) in (int, float) else None,  # type: ignore[arg-type]
    )  # fmt: skip


def encode_event(what: SubjectEvent) -> bytes:
    found = {"schema": SCHEMA, **what._asdict()}
    for key in (*MORE, "elapsed_s"):
        if found[key] in ("", None):
            del found[key]
    return json.dumps(found, separators=(",", ":")).encode()


def decode_event(where: str, payload: bytes, prefix: str) -> SubjectEvent | None:
    """A message that came in at a topic; None for whatever is not one of ours, of this version, and in order."""
    if len(payload) > LARGEST:
        return None
    try:
        found = json.loads(payload.decode())
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or type(found.get("schema")) is not int or found["schema"] != SCHEMA:
        return None
    what = _check_event(found)
    return what if what and where == event_topic(prefix, what.host, what.project, what.name) else None


def _check_event(found: dict[str, object]) -> SubjectEvent | None:
    values: dict[str, object] = {key: found.get(key) for key in TEXTS}
    values |= {key: found.get(key, "") for key in MORE}
    if not all(isinstance(value, str) for value in values.values()):
        return None
    at, seq, code, seconds = (found.get(key) for key in ("at", "seq", "exit_code", "elapsed_s"))
    if not _is_number(at) or type(seq) is not int or seq <= 0:
        return None
    if not (code is None or type(code) is int) or not (seconds is None or _is_number(seconds)):
        return None
    told = SubjectEvent(**values, at=at, seq=seq, exit_code=code, elapsed_s=seconds)  # type: ignore[arg-type]
    return told if _is_possible(told) else None


def _is_possible(told: SubjectEvent) -> bool:
    """Whether its texts can be what they should: they are written into lists and shown to people and agents."""
    if told.event not in TERMINAL or told.kind not in KINDS or told.state not in (*LIVE, *FINAL):
        return False
    paths = [getattr(told, key) for key in PATHS]
    words = [getattr(told, key) for key in (*TEXTS, *MORE) if key not in (*PATHS, "reason")]
    return (
        bool(HOST.fullmatch(told.host) and told.name and told.project)
        and all(word.isprintable() and len(word) <= LONGEST_WORD for word in words)
        and told.reason.isprintable() and len(told.reason) <= plain_text.LONGEST_REASON
        and all(_is_path(path) for path in paths)
    )  # fmt: skip


def _is_path(path: str) -> bool:
    """A path need not be printable, but no control character stands in it."""
    return not path or (path[0] == "/" and len(path) <= LONGEST_PATH and not any(c < " " or c == "\x7f" for c in path))


def _is_number(value: object) -> bool:
    return type(value) in (int, float) and 0 <= value < LATEST  # type: ignore[operator]


def _text_field(said: dict[str, object], key: str) -> str:
    value = said.get(key)
    return value if isinstance(value, str) else ""
