"""Plays the scenes of an agent and writes what they show as labelled cases."""

from __future__ import annotations

import argparse
import sys
import traceback
from pathlib import Path

from tests.lab.scenes.play import ALL, play, scenes


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.lab.scenes")
    parser.add_argument("agent", choices=ALL)
    parser.add_argument("--out", type=Path, required=True, help="directory for the cases")
    parser.add_argument("--version", default=None, help="`previous`, or any installed version; cases are named by it")
    parser.add_argument("--only", default="", help="only scenes whose name contains this")
    given = parser.parse_args()
    failed = 0
    for scene in scenes(given.agent):
        if given.only not in scene.name:
            continue
        try:
            taken = len(play(given.agent, scene, given.version, given.out).taken)
            print(f"{scene.name}: {taken} cases", file=sys.stderr)
        except Exception:  # noqa: BLE001  # one scene that fails must not cost the others
            traceback.print_exc()
            print(f"{scene.name}: failed", file=sys.stderr)
            failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
