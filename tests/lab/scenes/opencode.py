"""Scenes of OpenCode."""

from __future__ import annotations

from tests.lab.scenes import (
    Scene,
    opencode_dialogs,
    opencode_ends,
    opencode_sizes,
    opencode_talk,
    opencode_turns,
    opencode_views,
)

SCENES: list[Scene] = [
    *opencode_dialogs.SCENES,
    *opencode_sizes.SCENES,
    *opencode_turns.SCENES,
    *opencode_talk.SCENES,
    *opencode_ends.SCENES,
    *opencode_views.SCENES,
]
