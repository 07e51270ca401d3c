"""OpenCode: rows of ``opencode.db`` (session, message, part), seen as events of 1.18.33 and in its published schema.

A step of the model is one message; it is complete when ``time.completed`` is set, and the turn is over with a complete
one whose finish is not `tool-calls`. A message that never becomes complete may be at work or may have been killed: that
cannot be told here. Esc while it waits for another attempt completes the step without a finish and without an error. A
refused permission or a dismissed question ends the turn too: its step finishes with `tool-calls`, and no other follows.
"""

from __future__ import annotations

import re

from midwatch.agents.transcripts.transcript_state import (
    TranscriptState,
    objects_at,
    parse_instant,
    text_at,
    to_number,
    value_at,
)

GOES_ON = frozenset(("tool-calls", "unknown"))
"""Why a step finished that another one follows."""
ABORTED = "MessageAbortedError"
REFUSED = re.compile(r"The user (?:rejected permission to use this specific tool call\.?|dismissed this question\.?)")
"""The whole error of a tool that a person refused; with a reason behind it, the model goes on."""
UNDER_WAY = frozenset(("pending", "running"))
PARTS = {"text": "text", "reasoning": "thinking", "step-start": "thinking", "compaction": "compacted"}


class OpenCode(TranscriptState):
    """Made anew for each reading, from the last message of a session and its parts."""

    def interpret(self, line: dict[str, object]) -> None:
        """``line`` is a message's data, with its parts in order under `parts`."""
        made = parse_instant(value_at(line, "time", "created"))
        if text_at(line, "role") == "user":
            parts = value_at(line, "parts")
            compacts = any(text_at(part, "type") == "compaction" for part in (parts if isinstance(parts, list) else []))
            self.happened("compacted" if compacts else "prompt", made)
        elif text_at(line, "role") == "assistant":
            self.know(cwd=text_at(line, "path", "cwd"))
            self._assistant(line, made)

    def session(self, row: dict[str, object]) -> None:
        self.conversation = text_at(row, "id")
        self.belongs(text_at(row, "directory"))
        self.know(version=text_at(row, "version"))
        self.spent(row.get("tokens_output"))

    def _assistant(self, line: dict[str, object], made: float | None) -> None:
        self.happened("prompt", made)
        parts = value_at(line, "parts")
        for part in parts if isinstance(parts, list) else []:
            self._part(part)
        done = parse_instant(value_at(line, "time", "completed"))
        error = value_at(line, "error")
        if isinstance(error, dict):
            at = done or self.at
            if text_at(error, "name") == ABORTED:
                self.happened("interrupted", at)
            else:
                status = value_at(error, "data", "statusCode")
                self.failed(text_at(error, "name") or "error", text_at(error, "data", "message"), at, status=status)
        elif done is not None and (not text_at(line, "finish") or _refused(line)):
            self.happened("interrupted", done)
        elif done is not None and text_at(line, "finish") not in GOES_ON:
            self.happened("compacted" if line.get("summary") is True else "turn-ended", done)

    def _part(self, part: object) -> None:
        kind = text_at(part, "type")
        if kind == "tool":
            call, state = text_at(part, "callID"), text_at(part, "state", "status")
            if state in UNDER_WAY:
                self.called(call, text_at(part, "tool"))
                self.happened("tool-call", parse_instant(value_at(part, "state", "time", "start")) or self.at)
            else:
                self.answered(call)
                self.happened("tool-result", parse_instant(value_at(part, "state", "time", "end")) or self.at)
        elif kind == "retry":
            error = value_at(part, "error")
            status = to_number(value_at(error, "data", "statusCode"))
            self.know(
                error=text_at(error, "name"),
                message=text_at(error, "data", "message"),
                status="" if status is None else str(status),
            )
        elif kind in PARTS:
            moment = value_at(part, "time", "end") or value_at(part, "time", "start")
            self.happened(PARTS[kind], parse_instant(moment) or self.at)


def _refused(line: dict[str, object]) -> bool:
    return any(REFUSED.fullmatch(text_at(part, "state", "error")) for part in objects_at(line, "parts"))
