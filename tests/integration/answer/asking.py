"""A program that shows a permission as Claude Code does, and writes down what is answered.

`asking.py DIRECTORY`. `question` in the directory holds what it asks for; it is drawn anew on SIGUSR1. Keys go to
`typed`. What is selected goes to `taken`, one line each; then it shows its prompt, or, while `again` is there, asks for
the text in `again`, once. While `numb` is there, Enter does nothing. A question with `words` in it takes words.
"""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import sys
import termios
import tty
from pathlib import Path

LINE = "─" * 80
PERMISSION = ("Yes", "Yes, and always allow access to proj/ from this project", "No")
QUESTION = ("Red", "Blue", "Type something.")
TOKEN = re.compile(rb"\x1b\[20[01]~|\x1b\[[AB]|\x1bO[AB]|[^\x00-\x1f\x7f]+|[\s\S]")


class Asking:
    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.open, self.marked, self.words = True, 0, ""

    def run(self) -> None:
        tty.setraw(0, termios.TCSANOW)
        ready, waking = os.pipe()
        os.set_blocking(waking, False)
        signal.signal(signal.SIGUSR1, lambda *_: None)
        signal.set_wakeup_fd(waking)
        os.write(1, b"\x1b]2;Claude Code\x07\x1b[?2004h")
        self.draw()
        while True:
            readable, _, _ = select.select([0, ready], [], [])
            if ready in readable:
                os.read(ready, 99)
                self.open, self.marked, self.words = True, 0, ""
            else:
                self.take(os.read(0, 4096))
            self.draw()

    def take(self, data: bytes) -> None:
        with (self.directory / "typed").open("ab") as log:
            log.write(data)
        for token in TOKEN.findall(data):
            if token in (b"\x1b[A", b"\x1bOA"):
                self.marked = max(0, self.marked - 1)
            elif token in (b"\x1b[B", b"\x1bOB"):
                self.marked = min(len(self.choices) - 1, self.marked + 1)
            elif token == b"\r" and self.open and not (self.directory / "numb").exists():
                self.answered()
            elif token[:1].isalnum() and self.choices[self.marked].startswith("Type"):
                self.words += token.decode()

    def answered(self) -> None:
        with (self.directory / "taken").open("a") as log:
            log.write(f"{self.question}: {self.words or self.choices[self.marked]}\n")
        self.open = False
        again = self.directory / "again"
        if again.exists():
            again.rename(self.directory / "question")
            self.open, self.marked = True, 0

    @property
    def question(self) -> str:
        return (self.directory / "question").read_text()

    @property
    def choices(self) -> tuple[str, ...]:
        return QUESTION if "words" in self.question else PERMISSION

    def draw(self) -> None:
        rows = self.dialog() if self.open else ["● Done.", "", LINE, "❯\xa0", LINE, "  ? for shortcuts"]  # noqa: RUF001
        os.write(1, ("\x1b[2J\x1b[H" + "\r\n".join(rows)).encode())

    def dialog(self) -> list[str]:
        shown = [
            f"{'❯' if number == self.marked else ' '} {number + 1}. "  # noqa: RUF001
            + (self.words if self.words and choice.startswith("Type") else choice)
            for number, choice in enumerate(self.choices)
        ]
        if "words" in self.question:
            keys = "Enter to select · ↑/↓ to navigate · Esc to cancel"
            return [LINE, " ☐ Colour", "", self.question, "", *shown, "", keys]
        return [
            "● I will run a command.", "", LINE, " Bash command", "", f"   {self.question}", "",
            " Do you want to proceed?", *(f" {row}" for row in shown), "", " Esc to cancel · Tab to amend",
        ]  # fmt: skip


if __name__ == "__main__":
    with contextlib.suppress(OSError):
        Asking(Path(sys.argv[1])).run()
