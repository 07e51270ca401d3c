"""A program that behaves like Claude Code, as far as a watcher can tell; `office.py` puts it into PATH as `claude`.

It tells of itself in a state file and a transcript, has a title, a prompt and a status row, and takes `--session-id`,
`--resume` and `-p`. What it does is told by its prompts:

    say           a turn that ends
    work          a turn that goes on until the file `go` is there, its status row turning; then what that says
    ask           asks for a permission; y ends the turn
    question      asks a question; y ends the turn
    fail          a turn that fails
    stop          as if Esc had been pressed in the middle of a turn
    shell         a turn that ends and leaves a shell in the background
    limit WORDS   hits a limit, which ends as the words say
    exit N        ends with this code in the middle of a turn
    bye N         ends with this code at its prompt, when its turn has ended
    die N         is ended by this signal in the middle of a turn
    child         as `work`, with a child in a session of its own, which outlives it
    command       as `work`, with a shell that runs a command
    ghost         the same as `child`, and its child has no environment by which it could be known
    anew          begins another conversation, as `/clear` does, with a turn that ends
    focus         as `work`, having asked to be told of the focus
    still         as `work`, and nothing on the screen moves but what the file `clock` says, if it is there

Anything else is `say`. A line of the file `begin` is for one start each: `trust` (a dialog), `deaf` (it ignores
SIGTERM), or what to do as with a prompt; a line of `resumed` is what it does with a prompt when it was resumed.
"""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
import termios
import time
import tty
import uuid
from datetime import UTC, datetime
from pathlib import Path

HOME, NOTES = Path(os.environ["CLAUDE_CONFIG_DIR"]), Path(os.environ["STAND_IN"])
MARKS = re.compile(rb"\x1b\[20[01]~|\x1b\[[IO]")
SPINNER = "✻✽✶✢"
DIALOG = (
    " Bash command",
    "   rm -r build",
    " Do you want to proceed?",
    " ❯ 1. Yes",  # noqa: RUF001
    "   2. No, and tell Claude what to do differently (esc)",
)
QUESTION = (
    " ☐ Colour",
    " Which colour?",
    " ❯ 1. Red",  # noqa: RUF001
    "   2. Blue",
    " Enter to select · Tab/Arrow keys to navigate",
)
TRUST = (" Accessing workspace:", " Do you trust the files in this folder?", " ❯ 1. Yes, I trust this folder")  # noqa: RUF001


class StandIn:
    def __init__(self, conversation: str, *, resumed: bool) -> None:
        self.conversation = conversation
        self.resumed = resumed
        self.box = b""
        self.turns = 0
        self.shown: list[str] = []
        self.status = ""

    def run(self) -> None:
        tty.setraw(0, termios.TCSANOW)
        os.write(1, b"\x1b[?2004h")
        begin = line_of("begin", len((NOTES / "starts").read_text().splitlines()))
        if begin == "deaf":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        elif begin == "trust":
            self.dialog(TRUST)
        elif begin:
            self.shown = [f"❯ {begin[:60]}"]  # noqa: RUF001  # as for a prompt in its arguments
            self.act(begin)
        self.rest()
        while True:
            self.box += MARKS.sub(b"", typed())
            if b"\r" in self.box:
                text, self.box = self.box.split(b"\r")[0].decode(), b""
                again = line_of("resumed", self.turns + 1) if self.resumed else ""
                self.turns += 1
                self.shown = [f"❯ {text[:60]}"]  # noqa: RUF001
                self.act(again or text)
            self.draw()

    def act(self, prompt: str, *, begun: bool = False) -> None:  # noqa: C901  # a table of what it can do
        """One turn."""
        word, _, rest = prompt.partition(" ")
        if not begun:
            self.say("user", {"role": "user", "content": prompt})
            self.busy()
        match word:
            case "exit":
                os._exit(int(rest))
            case "anew":
                self.conversation = str(uuid.uuid4())
            case "die":
                signal.signal(int(rest), signal.SIG_DFL) if int(rest) not in (9, 19) else None
                os.kill(os.getpid(), int(rest))
            case "work" | "child" | "ghost" | "focus" | "still" | "command":
                if word == "command":
                    subprocess.Popen(["/bin/bash", "-c", "/bin/sleep 600; :"])
                if word in ("child", "ghost"):
                    env: dict[str, str] | None = {} if word == "ghost" else None
                    child = subprocess.Popen(["/bin/sleep", "600"], close_fds=False, start_new_session=True, env=env)
                    (NOTES / word).write_text(str(child.pid))
                if word == "focus":
                    os.write(1, b"\x1b[?1004h")
                self.act(self.work(still=word == "still") or "say", begun=True)
                return
            case "ask":
                self.shown.append("● Bash(rm -r build)")
                self.dialog(DIALOG)
            case "question":
                self.dialog(QUESTION)
            case "fail":
                self.fail("API Error: 500 the server said no")
                return
            case "stop":
                self.shown.append("  ⎿  Interrupted · What should Claude do instead?")
                self.say("user", {"role": "user", "content": "[Request interrupted by user]"})
                self.rest()
                return
            case "limit":
                self.shown.append(f"  ⎿  You've hit your session limit · resets {rest}")
                self.say_error(f"You've hit your session limit · resets {rest}", "rate_limit")
                self.rest()
                return
        self.shown.append("● Fine.")
        self.say("assistant", {"id": f"m{self.turns}", "stop_reason": "end_turn", "content": [text_of("Fine.")]})
        self.rest("shell" if word == "shell" else "idle")
        if word == "bye":
            os._exit(int(rest))

    def fail(self, why: str) -> None:
        self.shown.append(f"● {why}")
        self.say_error(why, "server_error")
        self.rest()

    def work(self, *, still: bool = False) -> str:
        while not (NOTES / "go").exists():
            self.turns += 0 if still else 1
            self.draw(f"{SPINNER[self.turns % 4]} Pondering… ({self.turns // 10}s · esc to interrupt)")
            typed(0.1)
        return (NOTES / "go").read_text()

    def dialog(self, rows: tuple[str, ...]) -> None:
        title("✳ Claude Code")
        width = os.get_terminal_size(0).columns
        shown = (*self.shown, "─" * width, *rows, "", " Esc to cancel")
        os.write(1, ("\x1b[H\x1b[2J" + "\r\n".join(shown)).encode())
        if rows is not TRUST:  # it tells nothing of itself before it has begun
            self.tell("waiting")
        while b"y" not in typed():
            pass

    def busy(self) -> None:
        self.tell("busy")
        title("⠐ Claude Code")
        self.draw(f"{SPINNER[0]} Pondering… (0s · esc to interrupt)")

    def rest(self, status: str = "idle") -> None:
        title("✳ Claude Code")
        self.draw()
        self.tell(status)

    # Telling

    def tell(self, status: str) -> None:
        self.status = status
        with open("/proc/self/stat") as file:
            start = file.read().rpartition(")")[2].split()[19]
        found = {
            "pid": os.getpid(), "procStart": start, "sessionId": self.conversation, "status": status,
            "cwd": os.getcwd(), "statusUpdatedAt": time.time() * 1000,
        }  # fmt: skip
        path = HOME / "sessions" / f"{os.getpid()}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_suffix(".new").write_text(json.dumps(found))
        path.with_suffix(".new").rename(path)

    def say(self, kind: str, message: dict[str, object], **more: object) -> None:
        cwd = os.getcwd()
        place = HOME / "projects" / re.sub(r"[^0-9A-Za-z]", "-", cwd)
        place.mkdir(parents=True, exist_ok=True)
        about = {"cwd": cwd, "version": "2.1.197", "timestamp": datetime.now(UTC).isoformat(), "type": kind}
        with (place / f"{self.conversation}.jsonl").open("a") as file:
            file.write(json.dumps(about | {"message": message} | more) + "\n")

    def say_error(self, text: str, error: str) -> None:
        self.say("assistant", {"id": "e", "content": [text_of(text)]}, isApiErrorMessage=True, error=error)

    def draw(self, row: str = "") -> None:
        width = os.get_terminal_size(0).columns
        rows = [" ▐▛███▜▌   Claude Code v2.1.197", "", *self.shown, *((row, "") if row else ())]
        box = self.box.decode(errors="replace").replace("\n", "\r\n  ")
        rows += ["─" * width, f"❯\xa0{box}", "─" * width]  # noqa: RUF001
        rows += [f"  {'esc to interrupt' if row else '? for shortcuts'}"]
        if (NOTES / "clock").exists():
            rows += [f"  proj | ctx(12%) | {(NOTES / 'clock').read_text()}"]
        text = "\r\n".join(f"\x1b[38;5;244m{each}\x1b[39m" for each in rows)
        os.write(1, f"\x1b[H\x1b[2J{text}".encode())


def typed(patience: float | None = None) -> bytes:
    """What comes from the keyboard, also written down."""
    if not select.select([0], [], [], patience)[0]:
        return b""
    data = os.read(0, 1 << 16)
    while re.search(rb"\x1b(?:\[[0-9]*)?\Z", data) and select.select([0], [], [], 1)[0]:
        data += os.read(0, 1)
    with (NOTES / "typed").open("ab") as file:
        file.write(data)
    return data


def title(text: str) -> None:
    os.write(1, f"\x1b]2;{text}\x07".encode())


def text_of(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def line_of(name: str, number: int) -> str:
    """The nth line of a file, if it has so many."""
    path = NOTES / name
    lines = path.read_text().splitlines() if path.exists() else []
    return lines[number - 1] if len(lines) >= number else ""


def note_start() -> None:
    note = {
        "argv": sys.argv[1:], "pid": os.getpid(), "cwd": os.getcwd(), "variables": dict(os.environ),
        "group": os.getpgrp() == os.getpid(),
    }  # fmt: skip
    with (NOTES / "starts").open("a") as file:
        file.write(json.dumps(note) + "\n")


def headless() -> None:
    """Takes its prompt from standard input and tells of its work line by line."""
    prompt = sys.stdin.read()
    print(json.dumps({"type": "system", "prompt": prompt}), flush=True)
    while prompt == "work" and not (NOTES / "go").exists():
        time.sleep(0.02)
    print(json.dumps({"type": "result", "result": "Fine."}), flush=True)


def main() -> None:
    note_start()
    words = sys.argv[1:]
    if "-p" in words:
        headless()
        return
    ids = [words[at + 1] for at, word in enumerate(words) if word in ("--session-id", "--resume")]
    StandIn(ids[0], resumed="--resume" in words).run()


if __name__ == "__main__":
    main()
