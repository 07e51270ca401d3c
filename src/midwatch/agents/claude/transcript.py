"""Claude Code: ``projects/<key>/<id>.jsonl``, seen with 2.1.197 and 2.1.325.

The order of the file counts, not that of the timestamps, which may go back by some tenths of a second; in the first
lines of a new file even the end of a turn may stand before its prompt. A message is written as one line per block,
each with the stop reason of the whole. A turn is over when its duration is noted, or already with a text whose stop
reason is `end_turn`; that a Stop hook sends it on shows as a new prompt. Esc before anything was answered leaves no
line at all: then the last word stays ``prompt`` although the turn is over. From 2.1.234 on it may continue by itself
when a limit has ended: notices say that it means to, or does not any more, and its own words are the next prompt.
"""

from __future__ import annotations

import re

from midwatch.agents.transcripts.transcript_state import (
    ENDS,
    TranscriptState,
    find_limit_end,
    objects_at,
    parse_instant,
    text_at,
    to_number,
    value_at,
)

INTERRUPTED = ("[Request interrupted by user]", "[Request interrupted by user for tool use]")
LOCAL = ("<command-name>", "<local-command-", "<bash-", "<user-memory-input>")
"""What begins like this was done by Claude Code itself and never sent; `<command-message>` begins one that was."""
NOTHING_TO_DO = "No response requested."
"""Put behind a turn that was cut off, when it is resumed."""
SYNTHETIC = "<synthetic>"
OVER = frozenset(("end_turn", "refusal"))
CONTINUES = re.compile(r"Usage limit reached(?: again)? · continuing automatically ([^·]*?) *(?:·|$)")
STALE = "Usage limit has reset · Press enter"
NOT_CONTINUED = "Automatic continue did not run"
GIVEN_UP = "Automatic continue "
TASK = re.compile(r"<task-notification>.{0,2000}?<task-id>([^<]{1,100})</task-id>", re.DOTALL)
WATCHED = 4000
"""Characters of a text that may announce the end of a task in the background."""


class Claude(TranscriptState):
    _prompted = False
    """A prompt was read."""

    def interpret(self, line: dict[str, object]) -> None:
        if line.get("isSidechain") is True and not self.of_sub_agent:
            return
        self.belongs(text_at(line, "cwd"))
        self.know(version=text_at(line, "version"))
        at = parse_instant(line.get("timestamp"))
        kind = text_at(line, "type")
        if kind == "user":
            self._user(line, at)
        elif kind == "assistant":
            self._assistant(line, at)
        elif kind == "system":
            self._system(line, at)
        elif kind == "attachment":
            self._ended(text_at(line, "attachment", "prompt"))
        elif kind == "queue-operation":
            self._ended(text_at(line, "content"))

    def _user(self, line: dict[str, object], at: float | None) -> None:
        if line.get("isCompactSummary") is True:
            self.happened("compacted", at)
            return
        whole = text_at(line, "message", "content")
        blocks = list(objects_at(line, "message", "content"))
        said = [whole] if whole else [text_at(block, "text") for block in blocks if text_at(block, "type") == "text"]
        results = [text_at(block, "tool_use_id") for block in blocks if text_at(block, "type") == "tool_result"]
        for each in said:
            self._ended(each)
        for call in results:
            self.answered(call)
        if task := text_at(line, "toolUseResult", "backgroundTaskId"):
            self.goes_on(task)
        if not line.get("promptSource") and any(each in INTERRUPTED for each in said):
            self.happened("interrupted", at)
        elif results:
            self.happened("tool-result", at)
        elif (said or blocks) and not any(each.startswith(LOCAL) for each in said):
            if line.get("isMeta") is not True:
                self.abandon_calls()
            self._prompt(at)

    def _prompt(self, at: float | None) -> None:
        """A turn begins; unless this is the first prompt of the file, and its answer stands above it."""
        answered = self.event in ENDS and at is not None and self.at is not None and at < self.at
        if self._prompted or not answered:
            self.happened("prompt", at)
        self._prompted = True

    def _assistant(self, line: dict[str, object], at: float | None) -> None:
        blocks = list(objects_at(line, "message", "content"))
        said = " ".join(text_at(block, "text") for block in blocks if text_at(block, "type") == "text")
        self.spend(text_at(line, "message", "id"), _output_tokens(line))
        if line.get("isApiErrorMessage") is True:
            resets = to_number(value_at(line, "quotaLimits", "resetsAt"))
            until = find_limit_end(said) or str(resets or "")
            self.failed(text_at(line, "error") or "error", said, at, status=line.get("apiErrorStatus"), until=until)
            return
        event = ""
        for block in blocks:
            kind = text_at(block, "type")
            if kind == "tool_use":
                self.called(text_at(block, "id"), text_at(block, "name"))
                event = "tool-call"
            elif kind in ("thinking", "redacted_thinking"):
                event = "thinking"
            elif kind == "text":
                event = "text"
        real = text_at(line, "message", "model") != SYNTHETIC
        over = text_at(line, "message", "stop_reason") in OVER if real else said == NOTHING_TO_DO
        if event:
            self.happened("turn-ended" if event == "text" and over else event, at)

    def _system(self, line: dict[str, object], at: float | None) -> None:
        kind = text_at(line, "subtype")
        if kind == "compact_boundary":
            self.happened("compacted", at)
        elif kind == "turn_duration":
            self.pending(
                sum(to_number(line.get(f"pending{what}Count")) or 0 for what in ("BackgroundAgent", "Workflow"))
            )
            late = self.event == "prompt" and at is not None and self.at is not None and at < self.at
            if self.event not in ENDS and not late:
                self.happened("turn-ended", at)
        elif kind == "informational":
            self._notice(text_at(line, "content"), at)

    def _notice(self, said: str, at: float | None) -> None:
        """What Claude Code itself says of a limit."""
        if found := CONTINUES.match(said):
            self.know(continues=found[1])
        elif said.startswith(STALE):
            self.happened("limit-over", at)
        elif said.startswith(NOT_CONTINUED):
            self.happened("interrupted", at)
        elif said.startswith(GIVEN_UP):
            self.forget("continues")

    def _ended(self, said: str) -> None:
        """A task in the background has come back; several may be told of at once."""
        for task in TASK.findall(said[:WATCHED]):
            self.came_back(task)


def _output_tokens(line: dict[str, object]) -> object:
    message = line.get("message")
    usage = message.get("usage") if isinstance(message, dict) else None
    return usage.get("output_tokens") if isinstance(usage, dict) else None
