"""Text of others within a message that we type to an agent: it stays on its line, and it cannot pass for our words.

Agents read a message without knowing who wrote which part of it. So an id is shown only if it can be one, a title
stands in quotes, and no text of others shows the signs of our marks (`<<<`, `>>>`), whatever letters it is made of.
"""

from __future__ import annotations

import re
import unicodedata

from midwatch.core.task_ids import is_id

LONGEST, LONGEST_TITLE, LONGEST_LINE = 200, 80, 500
"""Characters of a text of others, of a title, and of a line of a log."""
INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
    "\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""What no reader sees and agents read: marks of direction, tags, letters without width. ZWNJ and ZWJ shape words."""
HIDDEN = re.compile(f"[{INVISIBLE}]|(?<=[\ufe00-\ufe0f])[\ufe00-\ufe0f]+")
"""The same, and all but the first of several variation selectors: only that one changes how a letter looks."""
SHAPING = re.compile("[\u200c\u200d\ufe00-\ufe0f]")
ANGLES = frozenset(
    "<\u2039\u27e8\u3008\u276e\u276c\u2770\u02c2\u1438\u16b2\u29fc\U0001d236\u00ab\u226a\u300a\u27ea\u2aa1"
    ">\u203a\u27e9\u3009\u276f\u276d\u2771\u02c3\u1433\u29fd\U0001d237\u00bb\u226b\u300b\u27eb\u2aa2"
)
"""Signs that look like angles, single or double. Others are found by what Unicode calls their plain form."""
TRIPLE = str.maketrans(dict.fromkeys("\u22d8\u2af7", "< < <") | dict.fromkeys("\u22d9\u2af8", "> > >"))


def remove_hidden(text: str) -> tuple[str, int]:
    """A text without what no reader sees, and how many characters that were. ZWJ and ZWNJ stay."""
    found = HIDDEN.sub("", text)
    return found, len(text) - len(found)


def make_prompt_safe(text: str, limit: int = LONGEST) -> str:
    """Any text on one line, without what cannot be seen, and without anything that looks like a mark of ours."""
    seen = SHAPING.sub("", HIDDEN.sub("", text))
    words = "".join([c if c.isprintable() else " " for c in seen]).split()
    line = _separate_angles(" ".join(words).translate(TRIPLE))
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def quote_title(title: str, limit: int = LONGEST_TITLE) -> str:
    """A title, or what else somebody has written freely: in quotes, which end where it ends."""
    shown = make_prompt_safe(title, limit).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{shown}"'


def format_id(given: str) -> str:
    """An id; of what cannot be one, only that."""
    return given if is_id(given) else f"(invalid id, {len(given)} characters)"


def is_plain(text: str) -> bool:
    """Whether a text can stand in a message as it is, blanks and all."""
    return text.isprintable() and _separate_angles(text.translate(TRIPLE)) == text


def _separate_angles(line: str) -> str:
    """Angles apart from each other, also where strokes and accents stand between them."""
    found, after = [], False
    for letter in line:
        is_angle = _is_angle(letter)
        found.append(f" {letter}" if is_angle and after else letter)
        after = is_angle or (after and bool(unicodedata.combining(letter)))
    return "".join(found)


def _is_angle(letter: str) -> bool:
    return letter in ANGLES or (letter > "\x7f" and unicodedata.normalize("NFKC", letter) in ANGLES)
