"""Codex, in its daemon where the version has one."""

from __future__ import annotations

from tests.lab.scenes import (
    Scene,
    codex_dialogs,
    codex_ends,
    codex_errors,
    codex_more,
    codex_rare,
    codex_turns,
    codex_views,
    codex_words,
)

SCENES: list[Scene] = [
    *codex_turns.SCENES, *codex_dialogs.SCENES, *codex_errors.SCENES, *codex_words.SCENES, *codex_ends.SCENES,
    *codex_more.SCENES, *codex_views.SCENES, *codex_rare.SCENES,
]  # fmt: skip
