"""Records the stories of an agent as timelines."""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from pathlib import Path

from tests.lab.lab import Lab
from tests.lab.timelines import Tape, told
from tests.lab.timelines.stories import STORIES


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.lab.timelines")
    parser.add_argument("agent", help="claude, codex, codex-nodaemon, opencode, gemini or qwen")
    parser.add_argument("--out", type=Path, required=True, help="directory for the timelines")
    parser.add_argument("--version", default=None, help="`previous`: the older pinned version")
    parser.add_argument("--hooks", action="store_true", help="with Dogwatch's hook installed")
    parser.add_argument("--size", default="120x40")
    parser.add_argument("--only", nargs="*", default=list(STORIES), choices=list(STORIES))
    given = parser.parse_args()
    width, height = map(int, given.size.split("x"))
    wrong = 0
    for name in given.only:
        marks = [given.version, "hooks" if given.hooks else "", "" if given.size == "120x40" else given.size]
        path = given.out / "-".join([given.agent, name, *filter(None, marks)])
        try:
            with Lab() as lab:
                spool = lab.root / "spool"
                spool.mkdir(mode=0o700)
                tells = told(given.agent, spool) if given.hooks else {}
                pane = lab.start(given.agent, size=(width, height), version=given.version, **tells)
                tape = Tape(pane, spool)
                tape.true(time.time(), "idle", "", "driver: the prompt is there and nothing was sent")
                try:
                    STORIES[name](pane, tape)
                finally:
                    tape.save(path.with_suffix(".jsonl"), name)
        except Exception:  # noqa: BLE001  # one story that fails must not cost the others
            traceback.print_exc()
            path.with_suffix(".jsonl").unlink(missing_ok=True)
            wrong += 1
        print(f"{path.name}: {'failed' if not path.with_suffix('.jsonl').exists() else 'recorded'}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
