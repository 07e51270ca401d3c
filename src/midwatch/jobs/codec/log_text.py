"""The output of a job as it may be shown on a terminal: its text, its line breaks, tabs and colours, and no more.

Other escape sequences (cursor movements, titles, the clipboard) are taken out, so that lines stay readable. All else
that cannot be seen is shown as an escape. A carriage return becomes a line break: text that a terminal would have
overwritten stays there to be read.
"""

from __future__ import annotations

import codecs
import re

from midwatch.core.foreign_text import escape_text, is_plain

LONGEST = 4096
"""Characters of a sequence. What goes on for longer is none, and is shown."""
RESET = "\x1b[0m"
CONTROLS = r"(?:\x1b\[|\x9b)[0-?]*[ -/]*"
TEXTS = rf"(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x80-\x9f\r\n]{{0,{LONGEST}}}"
SEQUENCE = re.compile(rf"{CONTROLS}[@-~]|{TEXTS}(?:\x07|\x1b\\|\x9c)|\x1b[ -/]*[0-~]")
UNFINISHED = re.compile(rf"(?:{CONTROLS}|{TEXTS}\x1b?|\x1b[ -/]*|\r)\Z")
"""What may become a sequence, or a line break of two characters, with what comes next."""
COLOUR = re.compile(r"\x1b\[([0-9;:]*)m")
COLOURS_OF = {"2": 4, "5": 2}
"""After 38, 48 and 58: how many numbers name a colour, by the first of them."""
CONCEALED = "8"


class LogText:
    """Takes bytes in any pieces, and gives the text that may be shown of them."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")
        self._held = ""
        self._coloured = False

    def feed(self, data: bytes) -> str:
        text = self._held + self._decoder.decode(data)
        unfinished = UNFINISHED.search(text, max(0, len(text) - LONGEST - 3))
        end = unfinished.start() if unfinished else len(text)
        self._held = text[end:]
        return self._shown(text[:end])

    def end(self) -> str:
        """What is left, and the end of a colour that the job has left on."""
        left = self._shown(self._held + self._decoder.decode(b"", final=True))
        self._held = ""
        reset, self._coloured = RESET if self._coloured else "", False
        return left + reset

    def _shown(self, text: str) -> str:
        if is_plain(text) or is_plain(text.replace("\n", "").replace("\t", "")):
            return text
        shown, at = [], 0
        for found in SEQUENCE.finditer(text):
            shown += [_lines(text[at : found.start()]), self._colour(found[0])]
            at = found.end()
        return "".join([*shown, _lines(text[at:])])

    def _colour(self, sequence: str) -> str:
        found = COLOUR.fullmatch(sequence)
        if found is None or _conceals(found[1]):
            return ""
        self._coloured = found[1].strip("0;") != ""
        return sequence


def _lines(text: str) -> str:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(["\t".join(map(escape_text, line.split("\t"))) for line in lines])


def _conceals(numbers: str) -> bool:
    """Whether it makes text invisible; the same number within a colour means something else."""
    left = iter(numbers.split(";"))
    for number in left:
        if number in ("38", "48", "58"):
            for _ in range(COLOURS_OF.get(next(left, ""), 1) - 1):
                next(left, "")
        elif number.lstrip("0") == CONCEALED:
            return True
    return False
