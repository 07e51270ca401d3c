"""Scenes of Claude Code."""

from __future__ import annotations

from tests.lab.scenes import Scene, claude_work

SCENES: list[Scene] = [*claude_work.SCENES]
