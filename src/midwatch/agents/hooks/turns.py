"""What the hook events of one conversation, in order, say of its turn.

Most say nothing of it: a piece of text shown, a sub-agent that ends, a reminder. The last that does is the answer, but
for two things. Tools run side by side, so one may end while another still waits for permission. And what a sub-agent
does goes on behind the end of a turn and must not look like its middle, yet its question for permission stops
everything. So calls that are open and questions that are open are kept until something shows that they are not.

What no agent tells: that a permission was given (its tool's end is the next event), and, with Claude, that a person
interrupted or refused.
"""

from __future__ import annotations

from collections.abc import Iterable

from midwatch.agents.hooks.events import ANSWER, ASK, CALL, END, PROMPT, REQUEST, RESULT, START, HookEvent
from midwatch.core.value import Value

LASTING = ("permission_mode", "transcript", "cwd")
"""Words that hold until another event says otherwise."""


class HookTurn(Value):
    event: HookEvent | None
    """The last that says something of the turn."""
    latest: HookEvent | None
    """The last of any kind."""
    words: dict[str, str]


def derive_turn(events: Iterable[HookEvent]) -> HookTurn:
    """What the events of one conversation say together; they must be in order."""
    seen = _Fold()
    for each in events:
        seen.take(each)
    return seen.turn()


class _Fold:
    def __init__(self) -> None:
        self.main: HookEvent | None = None
        self.latest: HookEvent | None = None
        self.count = 0
        self.lasting: dict[str, str] = {}
        self.open: dict[tuple[str, str], str] = {}
        """Tools that were begun and have not ended, by sub-agent and id."""
        self.asked: list[tuple[str, str, HookEvent]] = []
        """Questions that are open: sub-agent, id of the tool if known."""
        self.fault: dict[str, str] = {}

    def take(self, new: HookEvent) -> None:
        self.latest = new
        self.count += 1
        self.lasting |= {word: new.words[word] for word in LASTING if word in new.words}
        kind = new.kind
        if new.name == "session.error":
            self.fault = {word: new.words[word] for word in ("error", "message") if word in new.words}
        if new.child and kind not in (ASK, ANSWER, RESULT, CALL):
            if new.name in ("PostToolBatch", "SubagentStop") or kind in (REQUEST, END):
                self._settle(new.child)
            return
        if new.name == "PostToolBatch":
            self._settle("")
        self._follow(kind, new)
        if kind and not new.child and kind != ASK:
            self.main = new

    def _follow(self, kind: str, new: HookEvent) -> None:
        tool = new.words.get("tool_id") or new.words.get("tool", "")
        if kind == CALL:
            self._call(new, tool)
        elif kind in (RESULT, ANSWER):
            self._ended(new, tool)
        elif kind == ASK:
            self._ask(new, tool)
        elif kind == REQUEST:
            self._settle("")
            if new.words.get("status") == "busy":
                self.fault = {}
        elif kind in (START, PROMPT, END):
            self._over(alone=kind == END and new.name != "SessionEnd")

    def _call(self, new: HookEvent, tool: str) -> None:
        name = new.words.get("tool", "")
        self.open[new.child, tool] = name
        # Qwen tells of a call only once it has been allowed; others before they ask, so that question knows its call.
        self.asked = [each for each in self.asked if not name or each[:2] != (new.child, name)]

    def _ask(self, new: HookEvent, tool: str) -> None:
        if new.name == "Notification" and self.asked:
            return  # it reminds of what was asked before
        name = new.words.get("tool", "")
        begun = [key for key, each in self.open.items() if key[0] == new.child and name and each == name]
        self.asked.append((new.child, begun[-1][1] if begun and "tool_id" not in new.words else tool, new))

    def _ended(self, new: HookEvent, tool: str) -> None:
        name = new.words.get("tool", "")
        known = (new.child, tool) in self.open
        if not known:  # its id was cut off, or never told
            tool = next((key[1] for key, each in self.open.items() if key[0] == new.child and each == name), tool)
        self.open.pop((new.child, tool), None)
        self.asked = [each for each in self.asked if each[0] != new.child or each[1] not in (tool, name, "")]

    def _over(self, *, alone: bool) -> None:
        """A turn begins or has ended; what sub-agents do goes on if it is the turn ``alone`` that has."""
        self.open = {key: name for key, name in self.open.items() if alone and key[0]}
        self.asked = [each for each in self.asked if alone and each[0]]
        self.fault = self.fault if alone else {}

    def _settle(self, child: str) -> None:
        """The model is asked again: whatever it wanted has been done or refused."""
        self.open = {key: name for key, name in self.open.items() if key[0] != child}
        self.asked = [each for each in self.asked if each[0] != child]

    def turn(self) -> HookTurn:
        last = self.asked[-1][2] if self.asked else self.main
        if last is None or self.latest is None:
            return HookTurn(None, self.latest, {})
        words = self.lasting | (self.fault if last.kind == END else {}) | last.words
        if self.latest.name == "Notification" and last.name != "Notification":
            words |= {"notification": self.latest.words.get("notification", "")}
        words |= {"event": last.name, "conversation": last.conversation, "latest": self.latest.name}
        words |= {"count": str(self.count), "open": str(len(self.open))}
        return HookTurn(last, self.latest, words)
