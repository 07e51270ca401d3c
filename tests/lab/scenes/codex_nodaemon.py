"""Codex without its daemon: the scenes again, where settings take signs away or where the process itself matters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.lab.pane import AgentPane
from tests.lab.scenes import Scene, Shots, codex_dialogs, codex_ends, codex_errors, codex_turns, codex_words

Play = Callable[[AgentPane, Shots], None]

SETTINGS: dict[str, dict[str, Any]] = {
    "": {},
    "noanim-": {"tui.animations": False},
    "untitled-": {"tui.terminal_title": []},
    "bare-": {"tui.terminal_title": [], "tui.animations": False},
    "inline-": {"tui.alternate_screen": "never"},
    "inline-bare-": {"tui.alternate_screen": "never", "tui.terminal_title": [], "tui.animations": False},
}


def _named(word: str, play: Play) -> Play:
    def named(pane: AgentPane, shots: Shots) -> None:
        inner = Shots(shots.directory, shots.prefix + word, shots.agent)
        inner.taken = shots.taken
        play(pane, inner)

    return named


def _scene(word: str, play: Play, width: int, height: int) -> Scene:
    start = {"agent": "codex-nodaemon", "size": (width, height), "settings": SETTINGS[word]}
    return Scene(word + play.__name__.replace("_", "-"), _named(word, play), start)


SCENES: list[Scene] = [
    _scene("noanim-", codex_turns.think, 46, 14),
    _scene("noanim-", codex_turns.queued, 200, 50),
    _scene("untitled-", codex_turns.stream, 80, 24),
    _scene("untitled-", codex_dialogs.shell, 46, 14),
    _scene("untitled-", codex_dialogs.shell_long, 60, 15),
    _scene("untitled-", codex_dialogs.question, 60, 15),
    _scene("bare-", codex_turns.tools, 60, 15),
    _scene("bare-", codex_words.mid, 60, 15),
    _scene("bare-", codex_words.idle, 120, 40),
    _scene("inline-", codex_turns.short_turn, 120, 80),
    _scene("inline-", codex_words.mid_idle, 80, 24),
    _scene("inline-", codex_dialogs.imitated, 80, 24),
    _scene("inline-bare-", codex_turns.stream_silent, 60, 15),
    _scene("inline-bare-", codex_errors.limit, 80, 24),
    _scene("", codex_turns.user_shell, 100, 30),
    _scene("", codex_ends.killed_idle, 80, 24),
    _scene("", codex_ends.killed_dialog, 100, 30),
    _scene("", codex_ends.suspended, 80, 24),
    _scene("", codex_ends.terminated, 80, 24),
    _scene("inline-", codex_ends.killed_busy, 80, 24),
]
