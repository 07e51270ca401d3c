"""Plays one scene of an agent in a lab of its own, and writes what it shows as labelled cases."""

from __future__ import annotations

import importlib
from pathlib import Path

from tests.lab.lab import Lab
from tests.lab.scenes import Scene, Shots

ALL = ("claude", "codex", "codex-nodaemon", "opencode", "gemini", "qwen")


def scenes(agent: str) -> list[Scene]:
    found: list[Scene] = importlib.import_module(f"tests.lab.scenes.{agent.replace('-', '_')}").SCENES
    return found


def play(agent: str, scene: Scene, version: str | None, out: Path) -> Shots:
    """What was taken goes to `out`, laid out as the goldens and named by the version unless that is the default."""
    shots = Shots(out, f"{version}-" if version else "", agent)
    with Lab() as lab:
        pane = lab.start(**{"agent": agent, "version": version, **scene.start})
        scene.play(pane, shots)
    return shots
