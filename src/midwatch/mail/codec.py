"""A message as a Markdown file: a header between two `---` lines, an empty line, and the text as it was written.

The header's lines are YAML, so that any reader of Markdown understands them: what is not plain stands in quotes as JSON
writes them. It ends at the first `---`, so that the text may hold as many as it likes.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime

from midwatch.core import names
from midwatch.core.errors import FormatError, UsageError
from midwatch.core.foreign_text import ForeignText, is_visible
from midwatch.mail.model import Mail
from midwatch.yamledit.emit import PLAIN, WORDS

FENCE = "---"
FIELDS = {
    "id": "id", "from": "sender", "to": "to", "subject": "subject", "topic": "topic", "thread": "thread",
    "task": "task", "at": "at",
}  # fmt: skip
"""In the order in which they are written."""
RARE = {"claims": "claims"}
"""Written only where they say something."""
NEEDED = ("id", "from", "to", "thread", "at")
ID = 6
"""Letters of an id; should two choose the same, the later one chooses again."""
PLAIN_WORDS = ("id", "thread")
"""Ids: names of files."""
LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
"""Of ids: those that nobody takes for another."""
LONGEST = 300
"""Characters of one field."""


def encode_mail(mail: Mail) -> str:
    return "\n".join([FENCE, *header_lines(mail), FENCE, "", mail.text.raw])


def header_lines(mail: Mail) -> list[str]:
    """The lines of the header."""
    values = mail._asdict() | {"at": datetime.fromtimestamp(mail.at, UTC).isoformat().replace("+00:00", "Z")}
    fields = FIELDS | {key: field for key, field in RARE.items() if values[field]}
    found = {key: values[field] for key, field in fields.items()}
    words = {key: each.raw if isinstance(each, ForeignText) else each for key, each in found.items()}
    return [f"{key}: {_quote_value(word)}".rstrip() for key, word in words.items()]


def decode_mail(text: str) -> Mail:
    """The message in a file. FormatError says what is wrong; fields that nobody knows are passed over."""
    first, _, rest = text.partition("\n")
    head, ended, body = f"\n{rest}".partition(f"\n{FENCE}\n")
    if first != FENCE or not ended:
        raise FormatError("no message: it must begin with a header between two lines of ---")
    found = dict(_parse_field(line) for line in head.split("\n") if line.strip())
    if missing := [key for key in NEEDED if not found.get(key)]:
        raise FormatError(f"its header does not tell {missing[0]!r}")
    try:
        at = datetime.fromisoformat(found["at"]).timestamp()
    except (ValueError, OverflowError) as error:
        raise FormatError(f"{found['at']!r} in its header is no time") from error
    for key in PLAIN_WORDS:
        if wrong := names.find_problem(found[key]):
            raise FormatError(f"{key} in its header: the name {wrong}")
    words = {key: ForeignText(found.get(key, "")) for key in (*FIELDS, *RARE)}
    return Mail(
        found["id"], words["from"], words["to"], words["subject"], words["topic"], found["thread"], words["task"],
        at, ForeignText(body.removeprefix("\n")), words["claims"],
    )  # fmt: skip


def _parse_field(line: str) -> tuple[str, str]:
    key, colon, value = line.partition(":")
    value = value.strip()
    if not colon:
        raise FormatError(f"{line[:40]!r} in its header is no `name: value`")
    if not value.startswith('"'):
        return key.strip(), value
    try:
        return key.strip(), str(json.loads(value))
    except (ValueError, RecursionError) as error:
        raise FormatError(f"the quotes of {key.strip()!r} in its header do not close") from error


def _quote_value(value: str) -> str:
    if not value or (PLAIN.fullmatch(value) and value.lower() not in WORDS):
        return value
    return json.dumps(value, ensure_ascii=False)


# What may be sent


def is_mail_id(text: str) -> bool:
    return len(text) == ID and set(text) <= set(LETTERS)


def new_mail_id(randomness: bytes) -> str:
    return "".join([LETTERS[byte % len(LETTERS)] for byte in randomness])


def clean_field(what: str, value: str) -> ForeignText:
    """A field as it is kept: on one line, without what cannot be seen. UsageError when it is too long."""
    shown = " ".join("".join([c if is_visible(c) else " " for c in value]).split())
    if len(shown) > LONGEST:
        raise UsageError(
            f"the {what} has {len(shown)} characters; {LONGEST} are enough, the rest belongs into the text"
        )
    return ForeignText(shown)


def clean_name(what: str, value: str) -> ForeignText:
    """Who sends or gets it; names are those of jobs: no paths, no blanks."""
    if wrong := names.find_problem(value):
        raise UsageError(f"{what} {value[:LONGEST]!r}: the name {wrong}")
    return ForeignText(value)


def clean_body(text: str) -> ForeignText:
    """A text as it is kept: bytes that are no text become a sign for that; all else stays as it is."""
    return ForeignText(text.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))
