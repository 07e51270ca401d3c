"""A program that uses the lab, to be ended in every way: `python -m tests.agents.driver AGENT`.

It brings an agent to an answer (or, with `--busy`, Codex into the middle of a command), says on a line of JSON what is
there by then, and waits for the end of its standard input.
"""

from __future__ import annotations

import argparse
import json
import os
import sys

from tests.lab.lab import Lab

SLOW = 90.0


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("agent")
    parser.add_argument("--busy", action="store_true")
    asked = parser.parse_args()
    with Lab() as lab:
        lab.say("first", "Pearls before swine.")
        pane = lab.start(asked.agent)
        if asked.busy:
            made = pane.cwd / "made"
            pane.type(f"go [[bash touch {made}; sleep 600]]")
            pane.until(lambda _: made.exists(), SLOW, what="the command")
        else:
            pane.type("speak [[say first]]")
            pane.until("Pearls before swine", SLOW)
        there = {
            "mark": lab.mark, "root": str(lab.root), "keeper": lab.keeper, "uid": os.getuid(), "pids": lab.alive(),
            "network": os.readlink(f"/proc/{lab.keeper}/ns/net"),
        }  # fmt: skip
        print(json.dumps(there), flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
