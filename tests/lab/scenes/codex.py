"""Codex, in its daemon where the version has one."""

from __future__ import annotations

from tests.lab.scenes import Scene, codex_turns

SCENES: list[Scene] = [*codex_turns.SCENES]
