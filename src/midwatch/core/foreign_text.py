"""Text that others wrote: agents, jobs, other programs, people elsewhere.

Such text may hold line breaks, orders to a terminal, and characters that hide or turn around what follows. It becomes
a `ForeignText` where it is read. A face that prints it must choose a form: ``line``, ``block``, a part of a prompt
(``core.prompt_text``), or JSON (``core.json_text.dump`` takes it as it is).
It is no ``str``, so joining and writing it is an error of types, and
``tests/architecture/test_printed_text.py`` finds where it is formatted or printed without a choice. Should that happen
all the same, ``line`` is what comes out: an ugly line is better than a crash, and than the text itself.
"""

from __future__ import annotations

TYPE_CHECKING = False
QUOTED = "  | "
"""Before each line of a block: no line of ours begins so."""
ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\x1b": "\\e"}
EMOJI = "\ufe0e\ufe0f"
"""After a symbol these say whether it is drawn in colour; anywhere else they are invisible."""
INVISIBLE = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0"
    + "".join(map(chr, [*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)]))
)
"""What Unicode lets nobody see, and Python calls printable all the same."""


class ForeignText:
    """A text of others. ``raw`` is for programs: to compare it, to parse it, to write it to a file."""

    __slots__ = ("raw",)

    def __init__(self, raw: str) -> None:
        self.raw = raw

    def line(self, longest: int = 0) -> str:
        """All of it on one line, or its beginning; what cannot be seen stands there as an escape."""
        return shorten(escape_text(self.raw), longest)

    def block(self) -> str:
        """Its own lines, each marked as quoted, with escapes as in ``line``; tabs stay."""
        lines = self.raw.replace("\r\n", "\n").removesuffix("\n").split("\n")
        return "\n".join([QUOTED + "\t".join(map(escape_text, line.split("\t"))) for line in lines])

    def __str__(self) -> str:
        return self.line()

    def __format__(self, spec: str) -> str:
        return format(self.line(), spec)

    def __repr__(self) -> str:
        return f"ForeignText({self.raw!a})"

    def __bool__(self) -> bool:
        return bool(self.raw)

    def __hash__(self) -> int:
        return hash(self.raw)

    if not TYPE_CHECKING:  # a checker that does not see it refuses a comparison with a text, which is never true

        def __eq__(self, other: object) -> bool:
            return self.raw == other.raw if isinstance(other, ForeignText) else NotImplemented


NOTHING = ForeignText("")


def is_plain(text: str) -> bool:
    """Whether all of it can be seen, on one line."""
    return text.isprintable() and (text.isascii() or INVISIBLE.isdisjoint(text))


def is_visible(character: str) -> bool:
    return character.isprintable() and character not in INVISIBLE


def escape_text(text: str) -> str:
    """The same on one line, with escapes for control characters, odd blanks, invisible and bidirectional marks."""
    if is_plain(text):
        return text
    shown, before = [], ""
    for character in text:
        emoji = character in EMOJI and not before.isascii() and not before.isalnum() and is_visible(before)
        shown.append(character if emoji or is_visible(character) else _escape(character))
        before = character
    return "".join(shown)


def _escape(character: str) -> str:
    return ESCAPES.get(character) or character.encode("unicode_escape").decode("ascii")


def shorten(text: str, longest: int) -> str:
    """A text without what is too much of it; 0 sets no bound."""
    return text if not longest or len(text) <= longest else f"{text[: longest - 1]}…"
