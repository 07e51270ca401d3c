"""Claude Code's ``sessions/<pid>.json``: what it says of itself. Undocumented; seen with 2.1.197 and 2.1.325.

Words: ``status`` (`idle`, `busy`: also while sub-agents run in the background, `waiting`, `shell`: the turn is over, a
shell of its own still runs), ``waiting_for`` (`permission prompt`, in 2.1.197 also for a question; newer: `input
needed` for a question, `dialog open` for a menu, `sandbox request`, `worker request`), ``conversation``, ``version``,
``kind``, ``cwd``.

The file of a process that was killed stays until another Claude Code starts, and pids are used again; so it counts only
for the very process that wrote it.
"""

from __future__ import annotations

import json

from midwatch.agents.transcripts.transcript_state import parse_instant, shorten_line, text_at, to_number, value_at
from midwatch.core.errors import FormatError
from midwatch.core.pane_model import RunningAgent, SourceReport

SLACK = 2.0
"""Seconds by which wall-clock times of one start may differ."""
WORDS = {
    "status": "status",
    "waiting_for": "waitingFor",
    "conversation": "sessionId",
    "version": "version",
    "kind": "kind",
    "cwd": "cwd",
}


def read(content: bytes, running: RunningAgent) -> SourceReport | None:
    """None where it is another process's file or tells no status (as under an SDK); FormatError for what is no JSON."""
    try:
        found = json.loads(content.decode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        raise FormatError("its session file is cut off or no JSON") from error
    if not _is_own_file(found, running) or not text_at(found, "status"):
        return None
    words = {word: shorten_line(text_at(found, field)) for word, field in WORDS.items() if text_at(found, field)}
    at = parse_instant(to_number(value_at(found, "statusUpdatedAt")) or to_number(value_at(found, "updatedAt")))
    return SourceReport("state", at, words)


def _is_own_file(found: object, running: RunningAgent) -> bool:
    if to_number(value_at(found, "pid")) != running.pid:
        return False
    start = value_at(found, "procStart")
    if isinstance(start, str | int) and not isinstance(start, bool) and start != "":
        return str(start) == str(running.start)
    began = parse_instant(to_number(value_at(found, "startedAt")))
    return began is not None and began >= running.started - SLACK
