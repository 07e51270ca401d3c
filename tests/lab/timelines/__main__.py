"""Records the stories of an agent as timelines."""

from __future__ import annotations

import argparse
import sys
import traceback
from pathlib import Path

from tests.lab.homes import AGENTS
from tests.lab.timelines.record import record, stories


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.lab.timelines")
    parser.add_argument("agent", choices=list(AGENTS))
    parser.add_argument("--out", type=Path, required=True, help="directory for the timelines")
    parser.add_argument("--version", default=None, help="`previous`, or any installed version; files are named by it")
    parser.add_argument("--hooks", action="store_true", help="with Midwatch's hook installed")
    parser.add_argument("--reports", action="store_true", help="with a reader of what the agent reports (OSC 7501)")
    parser.add_argument("--size", default="120x40")
    parser.add_argument("--only", nargs="*", help="only these stories")
    given = parser.parse_args()
    known = list(stories(given.agent))
    if strange := [name for name in given.only or () if name not in known]:
        parser.error(f"unknown story {strange[0]}: choose from {', '.join(known)}")
    width, height = map(int, given.size.split("x"))
    wrong = 0
    for story in given.only or known:
        try:
            made = record(
                given.agent, story, given.version, given.out, hooks=given.hooks, reports=given.reports,
                size=(width, height),
            )  # fmt: skip
            print(f"{made.name}: recorded", file=sys.stderr)
        except Exception:  # noqa: BLE001  # one story that fails must not cost the others
            traceback.print_exc()
            print(f"{given.agent} {story}: failed", file=sys.stderr)
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
