"""How far a conversation has come, told line by line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime

EVENTS = (
    "prompt",
    "text",
    "thinking",
    "tool-call",
    "tool-result",
    "turn-ended",
    "turn-failed",
    "interrupted",
    "limit",
    "limit-over",
    "compacted",
)
ENDS = frozenset(("turn-ended", "turn-failed", "interrupted", "limit", "limit-over"))
"""After these nothing is under way: no tool call is left open."""

LONGEST_WORD = 200
RECENT = 256
"""Messages whose tokens may still be corrected; a message is written several times, but soon after one another."""
MOST_OPEN = 1000
"""Tool calls that are remembered as open; no agent has that many at once."""

UNTIL = re.compile(
    r"\bresets?\s+(?:at\s+)?(?P<at>(?!after\b|in\b)\S[^·∙\n]{0,60}?)(?:\s*[·∙\n]|\.?\s*$)"
    r"|\b(?:resets?\s+(?:after|in)|try\s+again\s+in)\s+(?P<wait>\d[\dhms\w ]{0,40}?)(?:\.\s|\.?\s*$)"
    r"|\btry\s+again\s+at\s+(?P<again>\S[^·∙\n]{0,40}?)(?:\.\s|\.?\s*$)"
    r"|\blimit reached\|(?P<epoch>\d{9,11})\b",
    re.IGNORECASE,
)


class TranscriptState:
    """What the lines taken so far add up to. A codec overrides ``tell``."""

    def __init__(self) -> None:
        self.event = ""
        self.at: float | None = None
        self.conversation = ""
        self.began: float | None = None
        """The first moment that it names."""
        self.home = ""
        """The first directory that it named (or a digest of it): the one that the conversation belongs to."""
        self.side = False
        """It is a sub-agent's, or another one beside the main conversation."""
        self.of_sub_agent = False
        """Whoever reads it means a sub-agent's own conversation, whose lines a main conversation passes over."""
        self.whole = True
        """It was followed from the first line; sums can only be told then."""
        self.understood = 0
        """Lines that were what they should be."""
        self.passed_over = 0
        self._told: dict[str, str] = {}
        self._open: dict[str, str] = {}
        self._tokens = -1
        self._spent: dict[str, int] = {}
        self._background: set[str] = set()
        self._pending = 0

    def take(self, line: bytes) -> None:
        """Read one line, whatever it is."""
        text = line.decode("utf-8", "replace").strip()
        if not text:
            return
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            self.passed_over += 1
            return
        if isinstance(found, dict):
            self.understood += 1
            if self.began is None:
                self.began = parse_instant(found.get("timestamp", found.get("startTime")))
            self.interpret(found)
        else:
            self.passed_over += 1

    def interpret(self, line: dict[str, object]) -> None:
        raise NotImplementedError

    def words(self) -> dict[str, str]:
        words = {
            "event": self.event,
            "open": ",".join(self._open.values()),
            "conversation": shorten_line(self.conversation),
        }
        if self._tokens >= 0 and self.whole:
            words["tokens"] = str(self._tokens)
        if self._background or self._pending:
            words["background"] = str(len(self._background) + self._pending)
        return words | self._told

    # For codecs ---------------------------------------------------------------------------------------------------

    def happened(self, event: str, at: float | None) -> None:
        if event in ("prompt", "limit-over"):
            self.forget("error", "status", "message", "until", "continues")
        if event in ENDS:
            self._open.clear()
        self.event, self.at = event, at

    def failed(self, error: str, message: str, at: float | None, status: object = None, until: str = "") -> None:
        """The turn failed; it is a limit where its end is told."""
        self.forget("error", "status", "message", "until", "continues")
        until = until or find_limit_end(message)
        self.know(error=error, message=message, until=until, status=str(status) if to_number(status) else "")
        self.happened("limit" if until else "turn-failed", at)

    def know(self, **told: str) -> None:
        """Keep what is told; what is empty is not told."""
        self._told |= {word: shorten_line(text) for word, text in told.items() if text}

    def belongs(self, directory: str) -> None:
        self.know(cwd=directory)
        self.home = self.home or directory

    def forget(self, *told: str) -> None:
        for word in told:
            self._told.pop(word, None)

    def called(self, call: str, name: str) -> None:
        if len(self._open) < MOST_OPEN:
            self._open[call] = shorten_line(name).replace(",", " ") or "?"

    def answered(self, call: str) -> None:
        self._open.pop(call, None)

    def abandon_calls(self) -> None:
        self._open.clear()

    def spend(self, message: str, tokens: object) -> None:
        """Add what a message cost, once, however often it is written."""
        if (count := to_number(tokens)) is None:
            return
        self._tokens = max(self._tokens, 0) + count - self._spent.pop(message, 0)
        self._spent[message] = count
        if len(self._spent) > RECENT:
            del self._spent[next(iter(self._spent))]

    def spent(self, tokens: object) -> None:
        """Take the total that the source itself counts."""
        if (count := to_number(tokens)) is not None:
            self._tokens = count

    def goes_on(self, task: str) -> None:
        if len(self._background) < MOST_OPEN:
            self._background.add(task)

    def came_back(self, task: str) -> None:
        self._background.discard(task)

    def pending(self, count: int) -> None:
        """How many tasks go on besides, as the source counts them."""
        self._pending = max(count, 0)


def text_at(found: object, *path: str) -> str:
    """The text at the end of a path of keys; empty where there is none."""
    value = value_at(found, *path)
    return value if isinstance(value, str) else ""


def value_at(found: object, *path: str) -> object:
    for key in path:
        if not isinstance(found, dict):
            return None
        found = found.get(key)
    return found


def objects_at(found: object, *path: str) -> Iterator[dict[str, object]]:
    """The objects in the list at the end of a path of keys."""
    value = value_at(found, *path)
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))


def to_number(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 0 <= value < 1 << 53 else None


def parse_instant(value: object) -> float | None:
    """Wall-clock seconds of an ISO 8601 text (without a zone: UTC) or of milliseconds since the epoch."""
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            return None
    count = to_number(value)
    return None if count is None else count / 1000


def find_limit_end(message: str) -> str:
    """When a limit ends, as a message words it; empty where it does not say."""
    if (found := UNTIL.search(message)) is None:
        return ""
    wait = found["wait"]
    return f"in {wait}" if wait else next(filter(None, (found["at"], found["again"], found["epoch"])), "")


def shorten_line(words: str) -> str:
    """One line that can be shown: no control characters, no halves of characters, not too long."""
    flat = " ".join(words[: 4 * LONGEST_WORD].encode("utf-8", "replace").decode().split())
    return "".join([c for c in flat if c.isprintable()])[:LONGEST_WORD]
