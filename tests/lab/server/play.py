"""Performs a reply on a connection, and notes what happened when it happened."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from tests.lab.server import script
from tests.lab.server.dialect import Call, Dialect, Plan, Refusal
from tests.lab.server.script import Act, Reply
from tests.lab.server.wire import Wire

BEAT = 0.25
"""Seconds between two pieces of text, thought or keep-alive."""
REFUSALS = ("status", "refuse", "retryafter", "ratelimit", "limit")
BROKEN = ("cut", "hangmid", "streamerr")


class Note(Protocol):
    def __call__(self, event: str, **details: object) -> None: ...


class Player:
    """One request's answer. The journal gets exactly one closing entry, unless the agent goes away (ClientGone)."""

    def __init__(self, wire: Wire, dialect: Dialect, note: Note, *, failures: Callable[[], int], replies: Path) -> None:
        self._wire = wire
        self._dialect = dialect
        self._note = note
        self._failures = failures
        self._replies = replies
        self._headers: dict[str, str] = {}
        self._begun = False
        self._spoken = False
        self._called = False
        self._parting = script.GREETING

    def perform(self, reply: Reply) -> None:
        """Play all acts; the reply ends where an act breaks off."""
        for act in reply:
            try:
                goes_on = self._act(act)
            except (ValueError, IndexError):  # a number or an argument that is none
                self._say(f"Cannot follow {act}")
                goes_on = True
            if not goes_on:
                return
        if not self._spoken and not self._called:
            self._say(self._parting)
        self._end()

    def aside(self) -> None:
        self._say(self._dialect.aside())
        self._end()

    def _act(self, act: Act) -> bool:
        """Play one act; whether the reply goes on after it."""
        if act.verb in REFUSALS:
            return self._refuse(act)
        if act.verb in BROKEN:
            self._break(act)
            return False
        if act.verb == "hang":
            self._fall_silent()
        plays = {
            "text": self._text, "say": self._file, "think": self._think, "slow": self._slow, "wait": self._wait,
            "stream": self._stream, "util": self._util, "bash": self._bash, "write": self._write, "ask": self._ask,
            "tool": self._tool,
        }  # fmt: skip
        if act.verb in plays:
            plays[act.verb](act.words)
        else:
            self._say(f"Unknown directive {act.verb}")
        return True

    # Words and time

    def _begin(self) -> None:
        if not self._begun:
            self._begun = True
            if self._dialect.asked.stream:
                self._wire.stream(self._headers)
            self._send(self._dialect.begin())

    def _send(self, data: bytes) -> None:
        if self._dialect.asked.stream:
            self._wire.send(data)

    def _say(self, words: str) -> None:
        self._begin()
        if not self._spoken:
            self._note("text")
        self._spoken = True
        self._send(self._dialect.text(words))

    def _end(self) -> None:
        if self._dialect.asked.stream:
            self._wire.send(self._dialect.end())
            self._wire.finish()
        else:
            self._wire.answer(200, self._dialect.whole(), self._headers)
        self._note("ended")

    def _text(self, words: str) -> None:
        self._say(script.unescape(words))

    def _file(self, words: str) -> None:
        name, _, seconds = words.partition(" ")
        path = self._replies / name
        if path.parent != self._replies or not path.is_file():
            self._say(f"There is no reply called {name}")
            return
        self._dribble(path.read_text(encoding="utf-8").splitlines(keepends=True), float(seconds or 0))

    def _stream(self, words: str) -> None:
        seconds, _, text = words.partition(" ")
        lasting = float(seconds or 5)
        count = max(1, math.ceil(lasting / BEAT))
        pieces = [word + " " for word in script.unescape(text).split(" ")] if text else []
        self._dribble(pieces or [f"word{number} " for number in range(1, count + 1)], lasting)
        if not text:
            self._say("End of stream.")

    def _dribble(self, pieces: list[str], seconds: float) -> None:
        for piece in pieces:
            self._say(piece)
            self._wire.rest(seconds / len(pieces))

    def _think(self, words: str) -> None:
        self._parting = "Thinking done."
        lasting = float(words or 5)
        self._begin()
        self._note("thinking")
        deadline = time.monotonic() + lasting
        number = 0
        while (left := deadline - time.monotonic()) > 0 or not number:
            number += 1
            self._send(self._dialect.think(f"Considering point {number}. "))
            self._wire.rest(min(2 * BEAT, max(left, 0)))

    def _slow(self, words: str) -> None:
        self._parting = "Slow reply done."
        self._begin()
        deadline = time.monotonic() + float(words or 5)
        while (left := deadline - time.monotonic()) > 0:
            self._wire.rest(min(1.0, left))
            self._send(self._dialect.keep_alive)

    def _wait(self, words: str) -> None:
        self._wire.rest(float(words or 5))

    def _util(self, words: str) -> None:
        percent, _, seconds = words.partition(" ")
        self._headers |= self._dialect.plan_headers(Plan(float(percent or 90), int(time.time()) + int(seconds or 7200)))
        self._parting = "Plan usage reported."

    # Tools

    def _bash(self, words: str) -> None:
        self._introduce("I will run a command.")
        self._call(self._dialect.shell(words.removeprefix("!"), escalated=words.startswith("!")))

    def _write(self, words: str) -> None:
        path, _, content = words.partition(" ")
        self._introduce("I will write a file.")
        self._call(self._dialect.write(path, script.unescape(content) or "fake content\n"))

    def _ask(self, words: str) -> None:
        question, *options = [part.strip() for part in words.split("|")]
        self._introduce("I have a question.")
        self._call(self._dialect.ask(question or "Which one?", options or ["Red", "Blue"]))

    def _tool(self, words: str) -> None:
        name, _, arguments = words.partition(" ")
        self._introduce(f"I will call {name}.")
        self._call(Call(name, json.loads(script.nested(arguments or "{}"))))

    def _introduce(self, words: str) -> None:
        if not self._spoken and not self._called:
            self._say(words)

    def _call(self, call: Call) -> None:
        self._begin()
        self._called = True
        self._send(self._dialect.call(call))
        self._note("tool-call", name=call.name, arguments=call.arguments)

    # What goes wrong

    def _refuse(self, act: Act) -> bool:
        words = act.words.split()
        now = time.time()
        if act.verb == "status" and len(words) > 1 and self._failures() >= int(words[1]):
            self._parting = f"Recovered after {words[1]} errors."
            return True
        if act.verb == "limit":
            resets_at = int(now) + int(words[0] if words else 3600)
            refusal = self._dialect.limit(Plan(100.0, resets_at, weekly="weekly" in words), now)
        elif act.verb == "ratelimit":
            refusal = self._dialect.rate_limit(int(words[0] if words else 60), now)
        elif act.verb == "refuse":
            refusal = self._dialect.refusal(int(words[0]))
            refusal.body["error"]["message"] = " ".join(words[1:])
        else:
            retry_after = int(words[1]) if act.verb == "retryafter" else None
            refusal = self._dialect.refusal(int(words[0] if words else 500), retry_after)
        self._send_refusal(refusal)
        return False

    def _send_refusal(self, refusal: Refusal) -> None:
        if self._begun and self._dialect.asked.stream:
            self._fail("overloaded_error")
            return
        self._wire.answer(*refusal)
        self._note("error", status=refusal.status, headers=refusal.headers, body=refusal.body)

    def _break(self, act: Act) -> None:
        """Begin to answer and do not get far. A client that does not stream sees an error: it has nothing to be cut."""
        if not self._dialect.asked.stream:
            self._send_refusal(self._dialect.refusal(529 if act.verb == "streamerr" else 500))
        elif act.verb == "streamerr":
            self._say("Some text before the error.")
            self._fail(act.words or "overloaded_error")
        elif act.verb == "cut":
            self._say("This is cut o")
            self._wire.cut()
            self._note("cut")
        else:
            self._say("I begin to answer and then ")
            self._fall_silent()

    def _fail(self, kind: str) -> None:
        self._wire.send(self._dialect.fail(kind))
        self._wire.finish()
        self._note("stream-error", type=kind)

    def _fall_silent(self) -> None:
        self._note("hang")
        while True:
            self._wire.rest(3600)
