"""Gemini CLI: ``tmp/<project>/chats/session-<start>-<id>.jsonl`` and the older ``.json``.

Read from the program's published source; of 0.61.0 only the name of the file was seen. A message is written again,
under the same id, when its tool calls or tokens become known. **The end of a turn is not written**: a text may be the
last word or the word before a tool call, and tool calls are noted only when they are done. So ``text`` says neither,
and ``turn-ended`` is only told after a rewind.
"""

from __future__ import annotations

from midwatch.agents.transcripts.transcript_state import TranscriptState, inner, instant, items, text

CANCELLED = "Request cancelled."
DONE = frozenset(("success", "error", "cancelled"))
OWN = ("<session_context>", "<hook_context>")
"""What begins like this was put in by Gemini CLI."""


class Gemini(TranscriptState):
    def tell(self, line: dict[str, object]) -> None:
        if isinstance(line.get("$rewindTo"), str):
            self.happened("turn-ended", self.at)
        elif isinstance(line.get("$set"), dict):
            self._header(line["$set"])
        elif text(line, "id") and text(line, "type"):
            self._message(line)
        else:
            self._header(line)
            for message in items(line, "messages"):
                self._message(message)

    def _header(self, found: object) -> None:
        self.conversation = text(found, "sessionId") or self.conversation
        self.home = self.home or text(found, "projectHash")
        self.side = self.side or text(found, "kind") == "subagent"

    def _message(self, message: dict[str, object]) -> None:
        at, kind = instant(message.get("timestamp")), text(message, "type")
        if kind == "gemini":
            self._gemini(message, at)
        elif kind == "user":
            self._user(message, at)
        elif kind == "error":
            self.failed("error", _said(message), at)
        elif kind == "info" and _said(message) == CANCELLED:
            self.happened("interrupted", at)

    def _user(self, message: dict[str, object], at: float | None) -> None:
        results = [part["functionResponse"] for part in items(message, "content") if "functionResponse" in part]
        for result in results:
            self.answered(text(result, "id") or text(result, "name"))
        if results:
            self.happened("tool-result", at)
        elif not _said(message).lstrip().startswith(OWN):
            self.happened("prompt", at)

    def _gemini(self, message: dict[str, object], at: float | None) -> None:
        self.spend(text(message, "id"), inner(message, "tokens", "output"))
        asked = [part["functionCall"] for part in items(message, "content") if "functionCall" in part]
        for call in asked:
            self.called(text(call, "id") or text(call, "name"), text(call, "name"))
        calls = list(items(message, "toolCalls"))
        for call in calls:
            if text(call, "status") in DONE:
                self.answered(text(call, "id"))
            else:
                self.called(text(call, "id"), text(call, "name"))
        event = "text" if _said(message) else "thinking"
        if calls:
            at = instant(calls[-1].get("timestamp")) or at
            event = "tool-result" if all(text(call, "status") in DONE for call in calls) else "tool-call"
            event = "interrupted" if all(text(call, "status") == "cancelled" for call in calls) else event
        elif asked:
            event = "tool-call"
        self.happened(event, at)


def _said(message: dict[str, object]) -> str:
    """The text of a message, whose content is a text, a part or a list of either."""
    content = message.get("content")
    parts = content if isinstance(content, list) else [content]
    return "".join(part if isinstance(part, str) else text(part, "text") for part in parts)
