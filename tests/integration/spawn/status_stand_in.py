"""A program that reports of itself by OSC 7501. It asks first, as Claude Code does, and tells what it was answered.

It prints a sign, waits until there is something to read, and asks; then it takes the first answer. Each line that is
written to the pipe `say` in its notes is sent as a report. What is typed afterwards goes to the file `typed`.
"""

from __future__ import annotations

import os
import select
import sys
import tty
from pathlib import Path

NOTES = Path(os.environ["STAND_IN"])
SIGN, QUESTION, YES = b"\x1b[?2031h", b"\x1b[>0q\x1b]7501;?\x07\x1b[c", b"\x1b]7501;?"


def main() -> None:
    tty.setraw(0)
    asks = "--asks" in sys.argv
    if asks:
        os.write(1, SIGN)
        select.select([0], [], [], 20)
        os.write(1, QUESTION)
        heard = os.read(0, 1 << 16)
        while not (heard.endswith(b"c") or heard.startswith(YES)):
            heard += os.read(0, 1 << 16)
        (NOTES / "heard").write_bytes(heard)
    fifo = NOTES / "say"
    if not fifo.exists():
        os.mkfifo(fifo)
    line = os.open(fifo, os.O_RDWR)
    with (NOTES / "started").open("a") as file:
        file.write(f"{os.getpid()}\n")
    while True:
        ready, _, _ = select.select([0, line], [], [])
        if line in ready:
            for said in os.read(line, 1 << 16).decode().splitlines():
                os.write(1, f"\x1b]7501;{said}\x07".encode() if said != "bye" else b"")
                if said == "bye":
                    return
        if 0 in ready:
            with (NOTES / "typed").open("ab") as file:
                file.write(os.read(0, 1 << 16))


main()
