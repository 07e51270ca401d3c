"""Qwen Code: ``projects/<key>/chats/<id>.jsonl``, seen with 0.15.10 and 0.24.4.

An answer is one line with all its parts; one that calls no tool and names its tokens ends the turn. Esc during an
answer leaves the words so far, without tokens: such a line says nothing of the present. Esc before the first word is an
error of the API in 0.15.10, and nothing at all in 0.24.4; a tool that was not allowed or interrupted is cancelled. An
error of the API that is worth another try (429, 5xx) may be followed by one, so only others end the turn; ``error`` is
told either way. What the helpers do that Qwen runs beside the conversation (sidechains, telemetry with a
`subagent_name`) is passed over.
"""

from __future__ import annotations

from midwatch.agents.transcripts.transcript_state import TranscriptState, inner, instant, items, number, text

TRY_AGAIN = 429
SERVER_FAULT = 500
ABORTED = "APIUserAbortError"
RESULTS = {"completed": "turn-ended", "cancelled": "interrupted"}


class Qwen(TranscriptState):
    def tell(self, line: dict[str, object]) -> None:
        if line.get("isSidechain") is True:
            return
        self.belongs(text(line, "cwd"))
        self.know(version=text(line, "version"))
        at = instant(line.get("timestamp"))
        kind = text(line, "type")
        if kind == "user":
            if text(line, "subtype") != "mid_turn_user_message":
                self.abandon_calls()
            self.happened("prompt", at)
        elif kind == "assistant":
            self._assistant(line, at)
        elif kind == "tool_result":
            for part in items(line, "message", "parts"):
                self.answered(text(part, "functionResponse", "id"))
            self.answered(text(line, "toolCallResult", "callId"))
            cancelled = text(line, "toolCallResult", "status") == "cancelled"
            self.happened("interrupted" if cancelled else "tool-result", at)
        elif kind == "system":
            self._system(line, at)

    def _assistant(self, line: dict[str, object], at: float | None) -> None:
        self.spend(text(line, "uuid"), inner(line, "usageMetadata", "candidatesTokenCount"))
        parts = list(items(line, "message", "parts"))
        calls = [part["functionCall"] for part in parts if "functionCall" in part]
        for call in calls:
            self.called(text(call, "id"), text(call, "name"))
        spoken = any(part.get("thought") is not True and text(part, "text") for part in parts)
        whole = "usageMetadata" in line
        self.happened("tool-call" if calls else "thinking" if not spoken else "turn-ended" if whole else "text", at)

    def _system(self, line: dict[str, object], at: float | None) -> None:
        kind, load = text(line, "subtype"), line.get("systemPayload")
        if kind == "chat_compression":
            self.happened("compacted", at)
        elif kind == "rewind":
            self.happened("turn-ended", at)
        elif kind == "turn_result":
            if text(load, "state") == "error":
                self.failed(text(load, "error", "code") or "error", text(load, "error", "message"), at)
            elif text(load, "state") in RESULTS:
                self.happened(RESULTS[text(load, "state")], at)
        elif kind == "ui_telemetry" and text(load, "uiEvent", "event.name") == "qwen-code.api_error":
            self._api_error(inner(load, "uiEvent"), at)

    def _api_error(self, event: object, at: float | None) -> None:
        if text(event, "subagent_name"):
            return
        error, message = text(event, "error_type") or "error", text(event, "error_message")
        status = number(inner(event, "status_code"))
        if error == ABORTED:
            self.happened("interrupted", at)
        elif status is not None and (status == TRY_AGAIN or status >= SERVER_FAULT):
            self.know(error=error, message=message, status=str(status))
        else:
            self.failed(error, message, at, status=status)
