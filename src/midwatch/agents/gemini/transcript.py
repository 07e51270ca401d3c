"""Gemini CLI: ``tmp/<project>/chats/session-<start>-<id>.jsonl`` and the older ``.json``.

Read from the program's published source; of 0.61.0 only the name of the file was seen. A message is written again,
under the same id, when its tool calls or tokens become known. **The end of a turn is not written**: a text may be the
last word or the word before a tool call, and tool calls are noted only when they are done. So ``text`` says neither,
and ``turn-ended`` is only told after a rewind.
"""

from __future__ import annotations

from midwatch.agents.transcripts.transcript_state import TranscriptState, objects_at, parse_instant, text_at, value_at

CANCELLED = "Request cancelled."
DONE = frozenset(("success", "error", "cancelled"))
OWN = ("<session_context>", "<hook_context>")
"""What begins like this was put in by Gemini CLI."""


class Gemini(TranscriptState):
    def interpret(self, line: dict[str, object]) -> None:
        if isinstance(line.get("$rewindTo"), str):
            self.happened("turn-ended", self.at)
        elif isinstance(line.get("$set"), dict):
            self._header(line["$set"])
        elif text_at(line, "id") and text_at(line, "type"):
            self._message(line)
        else:
            self._header(line)
            for message in objects_at(line, "messages"):
                self._message(message)

    def _header(self, found: object) -> None:
        self.conversation = text_at(found, "sessionId") or self.conversation
        self.home = self.home or text_at(found, "projectHash")
        self.side = self.side or text_at(found, "kind") == "subagent"

    def _message(self, message: dict[str, object]) -> None:
        at, kind = parse_instant(message.get("timestamp")), text_at(message, "type")
        if kind == "gemini":
            self._gemini(message, at)
        elif kind == "user":
            self._user(message, at)
        elif kind == "error":
            self.failed("error", _message_text(message), at)
        elif kind == "info" and _message_text(message) == CANCELLED:
            self.happened("interrupted", at)

    def _user(self, message: dict[str, object], at: float | None) -> None:
        results = [part["functionResponse"] for part in objects_at(message, "content") if "functionResponse" in part]
        for result in results:
            self.answered(text_at(result, "id") or text_at(result, "name"))
        if results:
            self.happened("tool-result", at)
        elif not _message_text(message).lstrip().startswith(OWN):
            self.happened("prompt", at)

    def _gemini(self, message: dict[str, object], at: float | None) -> None:
        self.spend(text_at(message, "id"), value_at(message, "tokens", "output"))
        asked = [part["functionCall"] for part in objects_at(message, "content") if "functionCall" in part]
        for call in asked:
            self.called(text_at(call, "id") or text_at(call, "name"), text_at(call, "name"))
        calls = list(objects_at(message, "toolCalls"))
        for call in calls:
            if text_at(call, "status") in DONE:
                self.answered(text_at(call, "id"))
            else:
                self.called(text_at(call, "id"), text_at(call, "name"))
        event = "text" if _message_text(message) else "thinking"
        if calls:
            at = parse_instant(calls[-1].get("timestamp")) or at
            event = "tool-result" if all(text_at(call, "status") in DONE for call in calls) else "tool-call"
            event = "interrupted" if all(text_at(call, "status") == "cancelled" for call in calls) else event
        elif asked:
            event = "tool-call"
        self.happened(event, at)


def _message_text(message: dict[str, object]) -> str:
    """The text of a message, whose content is a text, a part or a list of either."""
    content = message.get("content")
    parts = content if isinstance(content, list) else [content]
    return "".join(part if isinstance(part, str) else text_at(part, "text") for part in parts)
