"""Scenes of Claude Code."""

from __future__ import annotations

from tests.lab.scenes import (
    Scene,
    claude_dialogs,
    claude_ends,
    claude_limits,
    claude_rare,
    claude_tricks,
    claude_views,
    claude_work,
)

SCENES: list[Scene] = [
    *claude_work.SCENES, *claude_dialogs.SCENES, *claude_limits.SCENES, *claude_ends.SCENES, *claude_tricks.SCENES,
    *claude_views.SCENES, *claude_rare.SCENES,
]  # fmt: skip
