"""A program that does what controller-proxy-watchdog prints of `ntm --robot-send`, and really types into the pane.

`ntm --robot-send=SESSION --panes=PANE --msg=TEXT --json`. Files in $NTM_STAND_IN say how it behaves:

    asked     (written by it) the arguments of each call, a line of JSON each
    key       what it calls the pane in its answer, instead of what it was asked for
    answer    what it prints instead of its answer
    code      its exit code
    typeless  it types nothing
    enterless it does not press Enter
    hung      it never answers, and neither does its child
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path


def main() -> int:
    moods = Path(os.environ["NTM_STAND_IN"])
    with (moods / "asked").open("a") as file:
        file.write(json.dumps(sys.argv[1:]) + "\n")
    given = dict(word.removeprefix("--").split("=", 1) for word in sys.argv[1:] if "=" in word)
    pane = given["panes"]
    if not (moods / "typeless").exists():
        subprocess.run(["tmux", "send-keys", "-t", pane, "-l", "--", given["msg"]], check=True)
    if not any((moods / name).exists() for name in ("typeless", "enterless")):
        subprocess.run(["tmux", "send-keys", "-t", pane, "Enter"], check=True)
    if (moods / "hung").exists():
        subprocess.run(["sleep", "1000"], check=False)
    key = (moods / "key").read_text() if (moods / "key").exists() else pane
    answer = {"success": True, "session": given["robot-send"], "targets": [key], "successful": [key], "failed": []}
    sys.stdout.write((moods / "answer").read_text() if (moods / "answer").exists() else json.dumps(answer))
    return int((moods / "code").read_text()) if (moods / "code").exists() else 0


if __name__ == "__main__":
    sys.exit(main())
