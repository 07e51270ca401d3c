"""A program that looks like Claude Code at its prompt, and writes down every byte that is typed to it.

`stand_in.py DIRECTORY`. Files in the directory say how it behaves, each time anew:

    held      it reads nothing
    unmarked  it does not ask for pastes to be marked
    numb      Enter does nothing; with a number in it, so many times
    nosy      Enter adds a word to the box, as a person might
    silent    what is sent goes to no transcript
    stateful  its state file, if it has one, says that it works once something was sent
    hooked    a hook is called with what is sent; the script and its spool stand in it
    conversation  the id of the conversation that goes to the transcript
    undone    what was sent comes back into the box once somebody has seen that it was empty
"""

from __future__ import annotations

import json
import os
import re
import select
import subprocess
import sys
import termios
import time
import tty
from datetime import UTC, datetime
from pathlib import Path

BEGIN, END = b"\x1b[200~", b"\x1b[201~"
USUAL = "8d7f2c1e-1111-4222-8333-444455556666"
TOKEN = re.compile(rb"\x1b\[20[01]~|[^\x00-\x1f\x7f]+|[\s\S]")


class StandIn:
    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.box = ""
        self.said: list[str] = []
        self.pasting = False
        self.numb = 0

    def run(self) -> None:
        tty.setraw(0, termios.TCSANOW)
        os.write(1, b"\x1b]2;\xe2\x9c\xb3 Claude Code\x07" + (b"" if self.has("unmarked") else b"\x1b[?2004h"))
        self.draw()
        with (self.directory / "typed").open("ab", buffering=0) as log:
            while True:
                data = self.read()
                while data and (data.endswith(b"\x1b") or re.search(rb"\x1b\[[0-9]*\Z", data)):
                    data += os.read(0, 1)
                while not is_whole(data):
                    data += os.read(0, 1)
                log.write(data)
                for token in TOKEN.findall(data):
                    self.take(token)
                self.draw()

    def read(self) -> bytes:
        """What is typed. What was undone comes back when nothing was typed for a moment."""
        while self.said and self.has("undone") and not select.select([0], [], [], 0.5)[0]:
            self.box = self.said.pop()
            self.draw()
        select.select([0], [], [])
        while self.has("held"):
            time.sleep(0.01)
        return os.read(0, 1 << 16)

    def has(self, name: str) -> bool:
        return (self.directory / name).exists()

    def take(self, token: bytes) -> None:
        if token in (BEGIN, END):
            self.pasting = token == BEGIN
        elif token == b"\r" and not self.pasting:
            self.enter()
        elif token == b"\x15":
            self.box = "" if self.is_folded() else self.box[: self.box.rfind("\n") + 1]
        elif token == b"\x7f":
            self.box = self.box[:-1]
        else:
            self.box += token.decode()

    def enter(self) -> None:
        if self.has("nosy"):
            self.box += " mine"
            return
        if self.has("numb"):
            self.numb += 1
            times = (self.directory / "numb").read_text()
            if not times or self.numb <= int(times):
                return
        if self.box and not self.has("silent"):
            self.write_down()
        if self.box and self.has("stateful"):
            path = self.directory / "home" / "sessions" / f"{os.getpid()}.json"
            path.write_text(path.read_text().replace('"idle"', '"busy"'))
        if self.box and self.has("hooked"):
            told = {"hook_event_name": "UserPromptSubmit", "session_id": "8d7f2c1e", "cwd": os.getcwd()}
            call = ["sh", *(self.directory / "hooked").read_text().split("\n"), "claude", json.dumps(told)]
            subprocess.run(call, check=True)
        if self.box:
            self.said.append(self.box)
        self.box = ""

    def write_down(self) -> None:
        cwd = os.getcwd()
        place = self.directory / "home" / "projects" / re.sub(r"[^0-9A-Za-z]", "-", cwd)
        place.mkdir(parents=True, exist_ok=True)
        about = {"cwd": cwd, "version": "2.1.197", "timestamp": datetime.now(UTC).isoformat()}
        answer = {"id": "1", "content": [{"type": "text", "text": "Fine."}], "stop_reason": "end_turn"}
        lines = (
            {"type": "user", "message": {"role": "user", "content": self.box}},
            {"type": "assistant", "message": answer},
        )
        name = (self.directory / "conversation").read_text() if self.has("conversation") else USUAL
        with (place / f"{name}.jsonl").open("a") as file:
            file.writelines(json.dumps(line | about) + "\n" for line in lines)

    def is_folded(self) -> bool:
        return self.box.count("\n") > 2 or len(self.box) > 800

    def draw(self) -> None:
        width = os.get_terminal_size(0).columns
        shown = f"[Pasted text #1 +{self.box.count(chr(10))} lines]" if self.is_folded() else self.box
        rows = [" ▐▛███▜▌   Claude Code v2.1.197", ""]
        rows += [f"❯ {said[:40].splitlines()[0]}" for said in self.said[-2:]]  # noqa: RUF001
        rows += ["● Fine.", "─" * width, *f"❯\xa0{shown}".replace("\n", "\n  ").split("\n"), "─" * width]  # noqa: RUF001
        where = len(rows) - 1, len(rows[-2]) + 1
        rows += ["  ? for shortcuts"]
        text = "\r\n".join(f"\x1b[38;5;244m{row}\x1b[39m" for row in rows)
        os.write(1, f"\x1b[H\x1b[2J{text}\x1b[{where[0]};{where[1]}H".encode())


def is_whole(data: bytes) -> bool:
    """Whether no letter is cut in its middle."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return error.end < len(data)
    return True


if __name__ == "__main__":
    StandIn(Path(sys.argv[1])).run()
