"""OpenCode: rows of ``opencode.db`` (session, message, part), seen as events of 1.18.33 and in its published schema.

A step of the model is one message; it is complete when ``time.completed`` is set, and the turn is over with a complete
one whose finish is not `tool-calls`. A message that never becomes complete may be at work or may have been killed: that
cannot be told here. Esc while it waits for another attempt completes the step without a finish and without an error. A
refused permission or a dismissed question ends the turn too: its step finishes with `tool-calls`, and no other follows.
"""

from __future__ import annotations

import re

from midwatch.agents.transcripts.transcript_state import TranscriptState, inner, instant, items, number, text

GOES_ON = frozenset(("tool-calls", "unknown"))
"""Why a step finished that another one follows."""
ABORTED = "MessageAbortedError"
REFUSED = re.compile(r"The user (?:rejected permission to use this specific tool call\.?|dismissed this question\.?)")
"""The whole error of a tool that a person refused; with a reason behind it, the model goes on."""
UNDER_WAY = frozenset(("pending", "running"))
PARTS = {"text": "text", "reasoning": "thinking", "step-start": "thinking", "compaction": "compacted"}


class OpenCode(TranscriptState):
    """Made anew for each reading, from the last message of a session and its parts."""

    def tell(self, line: dict[str, object]) -> None:
        """``line`` is a message's data, with its parts in order under `parts`."""
        made = instant(inner(line, "time", "created"))
        if text(line, "role") == "user":
            parts = inner(line, "parts")
            compacts = any(text(part, "type") == "compaction" for part in (parts if isinstance(parts, list) else []))
            self.happened("compacted" if compacts else "prompt", made)
        elif text(line, "role") == "assistant":
            self.know(cwd=text(line, "path", "cwd"))
            self._assistant(line, made)

    def session(self, row: dict[str, object]) -> None:
        self.conversation = text(row, "id")
        self.belongs(text(row, "directory"))
        self.know(version=text(row, "version"))
        self.spent(row.get("tokens_output"))

    def _assistant(self, line: dict[str, object], made: float | None) -> None:
        self.happened("prompt", made)
        parts = inner(line, "parts")
        for part in parts if isinstance(parts, list) else []:
            self._part(part)
        done = instant(inner(line, "time", "completed"))
        error = inner(line, "error")
        if isinstance(error, dict):
            at = done or self.at
            if text(error, "name") == ABORTED:
                self.happened("interrupted", at)
            else:
                status = inner(error, "data", "statusCode")
                self.failed(text(error, "name") or "error", text(error, "data", "message"), at, status=status)
        elif done is not None and (not text(line, "finish") or _refused(line)):
            self.happened("interrupted", done)
        elif done is not None and text(line, "finish") not in GOES_ON:
            self.happened("compacted" if line.get("summary") is True else "turn-ended", done)

    def _part(self, part: object) -> None:
        kind = text(part, "type")
        if kind == "tool":
            call, state = text(part, "callID"), text(part, "state", "status")
            if state in UNDER_WAY:
                self.called(call, text(part, "tool"))
                self.happened("tool-call", instant(inner(part, "state", "time", "start")) or self.at)
            else:
                self.answered(call)
                self.happened("tool-result", instant(inner(part, "state", "time", "end")) or self.at)
        elif kind == "retry":
            error = inner(part, "error")
            status = number(inner(error, "data", "statusCode"))
            self.know(
                error=text(error, "name"),
                message=text(error, "data", "message"),
                status="" if status is None else str(status),
            )
        elif kind in PARTS:
            moment = inner(part, "time", "end") or inner(part, "time", "start")
            self.happened(PARTS[kind], instant(moment) or self.at)


def _refused(line: dict[str, object]) -> bool:
    return any(REFUSED.fullmatch(text(part, "state", "error")) for part in items(line, "parts"))
