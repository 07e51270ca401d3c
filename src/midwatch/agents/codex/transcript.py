"""Codex: ``sessions/YYYY/MM/DD/rollout-<start>-<id>.jsonl``, seen with 0.166.0.

A turn begins with `task_started` and ends with `task_complete`, which carries the error if there was one, or with
`turn_aborted`. Waiting for an approval shows only as a call without an output. What is said to the model in the user's
name (`response_item` of role `user`) also holds what Codex itself puts in; so the user is heard in `item_completed`
(rollouts by pages) or `user_message` (older ones).
"""

from __future__ import annotations

from midwatch.agents.transcripts.transcript_state import (
    TranscriptState,
    find_limit_end,
    objects_at,
    parse_instant,
    text_at,
    to_number,
    value_at,
)

CALLS = frozenset(("function_call", "custom_tool_call", "local_shell_call", "tool_search_call"))
OUTPUTS = frozenset(("function_call_output", "custom_tool_call_output", "tool_search_output"))
FULL = 100
"""Per cent of a window: then its limit is reached."""
SUMMED = frozenset(("context_compacted", "compaction", "context_compaction"))


class Codex(TranscriptState):
    def __init__(self) -> None:
        super().__init__()
        self._resets = ""

    def interpret(self, line: dict[str, object]) -> None:
        at = parse_instant(line.get("timestamp"))
        kind, load = text_at(line, "type"), line.get("payload")
        if kind == "session_meta":
            self._meta(load)
        elif kind == "turn_context":
            self.belongs(text_at(load, "cwd"))
        elif kind == "compacted":
            self.happened("compacted", at)
        elif kind == "event_msg":
            self._event(load, at)
        elif kind == "response_item":
            self._item(load, at)

    def _meta(self, load: object) -> None:
        """The first such line is this rollout's own; a fork carries those of its ancestors behind it."""
        if not self.conversation:
            self.conversation = text_at(load, "id") or text_at(load, "session_id")
            self.belongs(text_at(load, "cwd"))
            self.know(version=text_at(load, "cli_version"))
            self.side = text_at(load, "thread_source") not in ("", "user") or isinstance(value_at(load, "source"), dict)

    def _event(self, load: object, at: float | None) -> None:
        kind = text_at(load, "type")
        if kind in ("task_started", "turn_started", "user_message"):
            self.happened("prompt", at)
        elif kind in ("task_complete", "turn_complete"):
            self._over(value_at(load, "error"), at)
        elif kind == "turn_aborted":
            self.happened("interrupted", at)
        elif kind == "agent_message":
            self.happened("text", at)
        elif kind == "agent_reasoning":
            self.happened("thinking", at)
        elif kind == "token_count":
            self.spent(value_at(load, "info", "total_token_usage", "output_tokens"))
            self._resets = _limit_reset_time(load)
        elif kind == "item_completed" and text_at(load, "item", "type") == "UserMessage":
            self.happened("prompt", at)
        elif kind in SUMMED or (kind == "item_completed" and text_at(load, "item", "type") == "ContextCompaction"):
            self.happened("compacted", at)

    def _over(self, error: object, at: float | None) -> None:
        if not isinstance(error, dict):
            self.happened("turn-ended", at)
            return
        info = error.get("codex_error_info")
        word = info if isinstance(info, str) else next(iter(info), "") if isinstance(info, dict) else ""
        message = text_at(error, "message")
        until = find_limit_end(message) or (self._resets if word == "usage_limit_exceeded" else "")
        self.failed(word or "error", message, at, status=value_at(info, word, "http_status_code"), until=until)

    def _item(self, load: object, at: float | None) -> None:
        kind, call = text_at(load, "type"), text_at(load, "call_id")
        if kind in CALLS:
            if call:
                self.called(call, text_at(load, "name") or kind.removesuffix("_call"))
            self.happened("tool-call", at)
        elif kind in OUTPUTS:
            self.answered(call)
            self.happened("tool-result", at)
        elif kind == "reasoning":
            self.happened("thinking", at)
        elif kind in SUMMED:
            self.happened("compacted", at)
        elif kind == "message" and text_at(load, "role") == "assistant" and any(objects_at(load, "content")):
            self.happened("text", at)


def _limit_reset_time(load: object) -> str:
    """When the last of the windows that are used up begins anew, in seconds since the epoch."""
    windows = [value_at(load, "rate_limits", name) for name in ("primary", "secondary")]
    ends = [
        moment
        for window in windows
        if (to_number(value_at(window, "used_percent")) or 0) >= FULL
        and (moment := to_number(value_at(window, "resets_at"))) is not None
    ]
    return str(max(ends)) if ends else ""
