"""Plays the scenes of an agent and writes what they show as labelled cases."""

from __future__ import annotations

import argparse
import importlib
import sys
import traceback
from pathlib import Path

from tests.lab.lab import Lab
from tests.lab.scenes import Scene, Shots


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.lab.scenes")
    parser.add_argument("agent", help="claude, codex, opencode, gemini or qwen")
    parser.add_argument("--out", type=Path, required=True, help="directory for the cases")
    parser.add_argument("--version", default=None, help="`previous`: the older pinned version")
    parser.add_argument("--only", default="", help="only scenes whose name contains this")
    given = parser.parse_args()
    scenes: list[Scene] = importlib.import_module(f"tests.lab.scenes.{given.agent}").SCENES
    failed = 0
    for scene in scenes:
        if given.only not in scene.name:
            continue
        shots = Shots(given.out, f"{given.version}-" if given.version else "")
        try:
            with Lab() as lab:
                pane = lab.start(**{"agent": given.agent, "version": given.version, **scene.start})
                scene.play(pane, shots)
        except Exception:  # noqa: BLE001  # one scene that fails must not cost the others
            traceback.print_exc()
            failed += 1
        print(f"{scene.name}: {len(shots.taken)} cases", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
