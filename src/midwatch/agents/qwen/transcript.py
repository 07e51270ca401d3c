"""Qwen Code: ``projects/<key>/chats/<id>.jsonl``, seen with 0.15.10 and 0.24.4.

An answer is one line with all its parts; one that calls no tool and names its tokens ends the turn. Esc during an
answer leaves the words so far, without tokens: such a line says nothing of the present. Esc before the first word is an
error of the API in 0.15.10, and nothing at all in 0.24.4; a tool that was not allowed or interrupted is cancelled. An
error of the API that is worth another try (429, 5xx) may be followed by one, so only others end the turn; ``error`` is
told either way. What the helpers do that Qwen runs beside the conversation (sidechains, telemetry with a
`subagent_name`) is passed over.
"""

from __future__ import annotations

from midwatch.agents.transcripts.transcript_state import (
    TranscriptState,
    objects_at,
    parse_instant,
    text_at,
    to_number,
    value_at,
)

TRY_AGAIN = 429
SERVER_FAULT = 500
ABORTED = "APIUserAbortError"
RESULTS = {"completed": "turn-ended", "cancelled": "interrupted"}


class Qwen(TranscriptState):
    def interpret(self, line: dict[str, object]) -> None:
        if line.get("isSidechain") is True:
            return
        self.belongs(text_at(line, "cwd"))
        self.know(version=text_at(line, "version"))
        at = parse_instant(line.get("timestamp"))
        kind = text_at(line, "type")
        if kind == "user":
            if text_at(line, "subtype") != "mid_turn_user_message":
                self.abandon_calls()
            self.happened("prompt", at)
        elif kind == "assistant":
            self._assistant(line, at)
        elif kind == "tool_result":
            for part in objects_at(line, "message", "parts"):
                self.answered(text_at(part, "functionResponse", "id"))
            self.answered(text_at(line, "toolCallResult", "callId"))
            cancelled = text_at(line, "toolCallResult", "status") == "cancelled"
            self.happened("interrupted" if cancelled else "tool-result", at)
        elif kind == "system":
            self._system(line, at)

    def _assistant(self, line: dict[str, object], at: float | None) -> None:
        self.spend(text_at(line, "uuid"), value_at(line, "usageMetadata", "candidatesTokenCount"))
        parts = list(objects_at(line, "message", "parts"))
        calls = [part["functionCall"] for part in parts if "functionCall" in part]
        for call in calls:
            self.called(text_at(call, "id"), text_at(call, "name"))
        spoken = any(part.get("thought") is not True and text_at(part, "text") for part in parts)
        whole = "usageMetadata" in line
        self.happened("tool-call" if calls else "thinking" if not spoken else "turn-ended" if whole else "text", at)

    def _system(self, line: dict[str, object], at: float | None) -> None:
        kind, load = text_at(line, "subtype"), line.get("systemPayload")
        if kind == "chat_compression":
            self.happened("compacted", at)
        elif kind == "rewind":
            self.happened("turn-ended", at)
        elif kind == "turn_result":
            if text_at(load, "state") == "error":
                self.failed(text_at(load, "error", "code") or "error", text_at(load, "error", "message"), at)
            elif text_at(load, "state") in RESULTS:
                self.happened(RESULTS[text_at(load, "state")], at)
        elif kind == "ui_telemetry" and text_at(load, "uiEvent", "event.name") == "qwen-code.api_error":
            self._api_error(value_at(load, "uiEvent"), at)

    def _api_error(self, event: object, at: float | None) -> None:
        if text_at(event, "subagent_name"):
            return
        error, message = text_at(event, "error_type") or "error", text_at(event, "error_message")
        status = to_number(value_at(event, "status_code"))
        if error == ABORTED:
            self.happened("interrupted", at)
        elif status is not None and (status == TRY_AGAIN or status >= SERVER_FAULT):
            self.know(error=error, message=message, status=str(status))
        else:
            self.failed(error, message, at, status=status)
