"""OSC 7501, the Program Status Protocol: what a program in a pane reports of itself, found in its output.

Bytes come in, in any pieces; reports come out, each a table of its fields. Anything that can write to the terminal can
forge one, so a report is data: it may inform a verdict and never authorises anything. What is malformed is passed over,
and nothing here raises an error.
"""

from __future__ import annotations

import binascii
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    Fields = dict[str, str | int]

ASKS, RESETS, PROMPTS = "?", "reset", "prompt"
"""Besides reports: the program asks whether its reports are read, resets the terminal, is back at a shell's prompt."""
STATES = ("idle", "working", "done", "blocked", "error", "clear")
KINDS = ("permission", "question", "auth")
LONGEST = 4096
"""Bytes of a sequence; the part of a longer one that has come is thrown away."""
LONGEST_ID, DEEPEST, LONGEST_APP, LONGEST_TITLE, LONGEST_MESSAGE = 128, 8, 32, 192, 2048
MOST_RECORDS = 256
MOST_PROGRESS = 100

BEGIN, RESET, PROMPT = b"\x1b]7501;", b"\x1bc", b"\x1b]133;A"
TOKEN = re.compile(rb"\x1b(?:\]7501;([^\x00-\x1f\x7f]*)(?:\x07|\x1b\\)|(c)|\]133;(A))")
UNFINISHED = re.compile(rb"\x1b(?:\](?:7(?:5(?:0(?:1(?:;[^\x00-\x1f\x7f]*\x1b?)?)?)?)?|1(?:3(?:3;?)?)?)?)?\Z")
PART = re.compile(rb"[A-Za-z0-9_.+-]{1,32}")
APP = re.compile(rb"[ -~]+")


class StatusStream:
    """Finds reports in a stream, however it is split."""

    def __init__(self) -> None:
        self.resets = True
        """Whether resets and prompts are looked for, which costs more: only where there is a record that they end."""
        self._kept = b""

    def feed(self, data: bytes) -> list[Fields | str]:
        """What these bytes complete, in order: reports, and the words above for the rest."""
        if self._kept:
            data, self._kept = self._kept + data, b""
        found: list[Fields | str] = []
        # Each test is much faster than the next one, and the expression the slowest.
        if (b"]" in data and (BEGIN in data or (self.resets and PROMPT in data))) or (self.resets and RESET in data):
            found = [each for token in TOKEN.finditer(data) if (each := _decode_token(token)) is not None]
        since = max(0, len(data) - LONGEST)
        for begun in (data.rfind(BEGIN, since), data.rfind(b"\x1b", since)):
            if begun >= 0 and UNFINISHED.match(data, begun):
                self._kept = data[begun:]
                break
        return found


def _decode_token(token: re.Match[bytes]) -> Fields | str | None:
    if token[2]:
        return RESETS
    if token[3]:
        return PROMPTS
    if token[1].startswith(b"?"):
        return ASKS
    return parse_report(token[1]) if len(token[0]) <= LONGEST else None


def parse_report(payload: bytes) -> Fields | None:
    """The fields of one report; None for what is none. Pairs that are malformed or not known are passed over."""
    pairs = {key: value for key, equals, value in (pair.partition(b"=") for pair in payload.split(b":")) if equals}
    state, name = pairs.get(b"state", b"").decode("ascii", "replace"), pairs.get(b"id", b"")
    if state not in STATES or (name and not _is_path(name)):
        return None
    found: Fields = {"state": state}
    if name:
        found["id"] = name.decode("ascii")
    kind, progress, app = (pairs.get(key, b"") for key in (b"kind", b"progress", b"app"))
    if state == "blocked" and kind.decode("ascii", "replace") in KINDS:
        found["kind"] = kind.decode("ascii")
    if state in ("working", "blocked") and progress.isdigit() and len(progress) <= len("100"):
        found["progress"] = min(int(progress), MOST_PROGRESS)
    if APP.fullmatch(app) and len(app) <= LONGEST_APP:
        found["app"] = app.decode("ascii")
    for key, most in ((b"title", LONGEST_TITLE), (b"msg", LONGEST_MESSAGE)):
        if key in pairs:
            text = _decode_text(pairs[key], most)
            if text is None:
                return None
            found[key.decode("ascii")] = text
    return found


def _is_path(name: bytes) -> bool:
    parts = name.split(b"/")
    return len(name) <= LONGEST_ID and len(parts) <= DEEPEST and all(map(PART.fullmatch, parts))


def _decode_text(encoded: bytes, most: int) -> str | None:
    """One line of text; None for anything else."""
    try:
        data = binascii.a2b_base64(encoded, strict_mode=True) if encoded else b""
        text = data.decode("utf-8")
    except ValueError:
        return None
    plain = not any(ord(letter) < ord(" ") or "\x7f" <= letter <= "\x9f" for letter in text)
    return text if plain and len(data) <= most else None


class StatusRecords:
    """What the reports of one program say together: for the program itself and each of its parts the last one."""

    def __init__(self) -> None:
        self.of: dict[str, Fields] = {}
        """By id; the program itself has none."""
        self.before = ""
        """The state that the program itself had before the one that it has."""

    def take(self, event: Fields | str) -> bool:
        """Take in what a stream has found; false where that changes nothing."""
        if isinstance(event, str):
            over = [] if event == ASKS else [i for i, was in self.of.items() if _is_removal(event, str(was["state"]))]
            for each in over:
                del self.of[each]
            return bool(over)
        name = str(event.get("id", ""))
        if event["state"] == "clear":
            gone = [each for each in self.of if not name or each == name or each.startswith(f"{name}/")]
            for each in gone:
                del self.of[each]
            return bool(gone)
        was = self.of.get(name)
        if was == event or (was is None and len(self.of) >= MOST_RECORDS):
            return False
        if not name and was is not None and was["state"] != event["state"]:
            self.before = str(was["state"])
        self.of[name] = event
        return True

    def take_all(self, events: Iterable[Fields | str]) -> None:
        for each in events:
            self.take(each)


def _is_removal(event: str, state: str) -> bool:
    """Whether a record goes: a reset takes all, a shell's prompt what cannot be true there any more."""
    return event == RESETS or state in ("working", "blocked")
