"""Scenes of OpenCode."""

from __future__ import annotations

from tests.lab.scenes import Scene, opencode_dialogs, opencode_turns

SCENES: list[Scene] = [*opencode_dialogs.SCENES, *opencode_turns.SCENES]
