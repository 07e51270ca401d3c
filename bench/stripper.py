"""Takes the escape sequences out of what a pane prints and appends the rest to a file: the least a capture can do.

It keeps no screen: blanks that a program makes by moving its cursor are lost, every redraw is written again, and the
file grows without bound.
"""

import os
import re
import sys

MOVES = re.compile(rb"\x1b\[(\d*)C|\x1b\[(?:\d*[BEF]|[\d;]*[Hf])")
SEQUENCE = re.compile(
    rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]+[0-~]|[0-Z\\^-~])"
    rb"|\r(?=\n)|[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]"
)
UNFINISHED = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]*\x1b?|[ -/]*)\Z|\r\Z")
LONGEST = 1 << 16


def stripped(data: bytes) -> bytes:
    moved = MOVES.sub(lambda found: b"\n" if found[1] is None else b" " * int(found[1] or 1), data)
    return SEQUENCE.sub(b"", moved).replace(b"\r", b"\n").replace(b"\x1b", b"")


def main() -> None:
    log, kept = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), b""
    while data := os.read(0, 1 << 16):
        data = kept + data
        found = UNFINISHED.search(data, max(0, len(data) - LONGEST))
        end = found.start() if found else len(data)
        kept, text = data[end:], stripped(data[:end])
        while text:
            text = text[os.write(log, text) :]


if __name__ == "__main__":
    main()
