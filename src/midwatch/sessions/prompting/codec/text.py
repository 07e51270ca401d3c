"""Text that is pasted into an agent's box: made harmless, and found again on the screen.

Whatever is pasted must arrive as words. An end-of-paste within it would turn the rest into keys; a tab completes; a
backslash at the end makes Enter a line break, and a mention there opens a list from which Enter chooses. Agents show
long texts folded, wrap others, and draw some letters in their own way: so what stands in the box is compared without
blanks, and where need be by its letters alone.
"""

from __future__ import annotations

import re
import unicodedata

from midwatch.core.errors import UsageError

LARGEST = 500_000
"""Characters: agents take seconds for as many."""
TAB = "    "
"""What agents themselves make of a tab."""
SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b\]|\x9d)[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[()][0-9A-Z]"
)
SURROGATES = ("\ud800", "\udfff")
PART = 40
"""Signs by which a text is recognised of which only the end is on the screen."""


def clean_prompt(text: str) -> str:
    """The text as it is pasted. Raises UsageError for one that cannot be sent."""
    text = SEQUENCE.sub("", text).replace("\r\n", "\n").replace("\r", "\n").replace("\t", TAB).removeprefix("\ufeff")
    text = "".join([_replace_control(letter) for letter in text]).lstrip("\n").rstrip()
    if not text.strip():
        raise UsageError("there is nothing to send; give a text, or --file")
    if len(text) > LARGEST:
        raise UsageError(f"{len(text)} characters are too many to type ({LARGEST}); let the agent read a file instead")
    if text.lstrip().startswith("!"):
        raise UsageError("what begins with ! agents run as a command of the shell; begin with another word")
    last = text.rsplit(None, 1)[-1]
    return f"{text} " if last.endswith("\\") or "@" in last or last.startswith("$") else text


def _replace_control(letter: str) -> str:
    if SURROGATES[0] <= letter <= SURROGATES[1]:
        return "\ufffd"  # half a letter, or a byte that was none
    return "" if letter != "\n" and unicodedata.category(letter) == "Cc" else letter


def visible_characters(text: str) -> str:
    """All that can be seen of a text."""
    return "".join([c for c in unicodedata.normalize("NFC", text) if c.isprintable() and not c.isspace()])


def letters_and_digits(text: str) -> str:
    """Letters and digits; all signs where there are none."""
    return "".join([c for c in unicodedata.normalize("NFC", text) if c.isalnum()]) or visible_characters(text)


def is_in_box(box: str, text: str, folded: re.Pattern[str] | None) -> bool:
    """Whether that stands in a box, whole or with its end, as far as an agent shows it as it is."""
    return is_folded(box, text, folded) or _is_ending(letters_and_digits(box), letters_and_digits(text))


def is_only_in_box(box: str, text: str, folded: re.Pattern[str] | None) -> bool:
    """Whether nothing but that, or a part of it, stands in a box."""
    seen = visible_characters(box)
    return is_folded(box, text, folded) or (bool(seen) and seen in visible_characters(text))


def is_folded(box: str, text: str, folded: re.Pattern[str] | None) -> bool:
    """Whether a box shows a sign for just that text."""
    found = folded.fullmatch(" ".join(visible_with_blanks(box).split())) if folded else None
    if found is None:
        return False
    breaks = text.count("\n")
    true = {"more": (breaks,), "lines": (breaks + 1,), "chars": (len(text), len(text.encode("utf-16-le")) // 2)}
    return all(number is None or int(number) in true[name] for name, number in found.groupdict().items())


def visible_with_blanks(text: str) -> str:
    return "".join([c for c in text if c.isprintable() or c.isspace()])


def _is_ending(seen: str, whole: str) -> bool:
    return seen == whole or (len(seen) >= PART and whole.endswith(seen))


def is_same_prompt(written: str, text: str) -> bool:
    """Whether what an agent has written down is that text."""
    return visible_characters(written) == visible_characters(text)
