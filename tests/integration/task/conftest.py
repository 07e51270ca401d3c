"""A project with tasks, and a program that stands in for beads' own where only what it prints matters."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Box

PROGRAM = """#!{python}
import json, os, sys, pathlib
home = pathlib.Path({home!r})
with open(home / "calls", "a") as file:
    file.write(json.dumps([os.environ.get("BEADS_DIR"), os.getcwd(), *sys.argv[1:]]) + "\\n")
answer = home / sys.argv[1]
if not answer.exists():
    sys.exit("error: unrecognized subcommand")
told = json.loads(answer.read_text())
sys.stderr.write(told["err"])
sys.stdout.write(told["out"])
sys.stdout.flush()
if told["hangs"]:
    os.execvp("sh", ["sh", "-c", "sleep 1000 & wait"])
sys.exit(told["code"])
"""


class StandIn:
    """A `br` that says what a test gives it, and notes how it was called."""

    def __init__(self, home: Path) -> None:
        self.home = home
        home.mkdir()
        self.program = str(home / "br")
        Path(self.program).write_text(PROGRAM.format(python=sys.executable, home=str(home)))
        Path(self.program).chmod(0o755)

    def says(self, verb: str, out: object = "", err: str = "", code: int = 0, *, hangs: bool = False) -> None:
        text = out if isinstance(out, str) else json.dumps(out)
        (self.home / verb).write_text(json.dumps({"out": text, "err": err, "code": code, "hangs": hangs}))

    def calls(self) -> list[list[str]]:
        return [json.loads(line)[2:] for line in self._lines()]

    def places(self) -> list[list[str]]:
        """Of each call $BEADS_DIR and the directory."""
        return [json.loads(line)[:2] for line in self._lines()]

    def _lines(self) -> list[str]:
        path = self.home / "calls"
        return path.read_text().splitlines() if path.exists() else []


@pytest.fixture
def stand_in(tmp_path: Path) -> StandIn:
    return StandIn(tmp_path / "stand-in")


def issue(own: str, **more: Any) -> dict[str, Any]:
    return {"id": own, "title": f"do {own}", "status": "open", "priority": 2, "issue_type": "task"} | more


def in_beads(project: Path, *issues: dict[str, Any]) -> Path:
    """A project whose tasks beads keeps."""
    path = project / ".beads" / "issues.jsonl"
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join([json.dumps(each) + "\n" for each in issues]))
    return path


def told(box: Box, *words: str, **env: str) -> list[dict[str, Any]]:
    """What `midwatch task … --json` says."""
    done = box("task", *words, "--json", **env)
    assert done.code == 0, done
    return [json.loads(line) for line in done.out.splitlines()]
