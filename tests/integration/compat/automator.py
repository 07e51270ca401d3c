"""The program `story-automator` and a project of its own."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from tests.conftest import Box, Done

ARTIFACTS = "_bmad-output/implementation-artifacts"


class Automator(Box):
    def __init__(self, home: Path) -> None:
        super().__init__(home)
        self.root = home / "My-Proj_42x"
        self.root.mkdir()
        self.cwd = self.root
        self.bin = home / "bin"
        self.bin.mkdir()
        self.env |= {"PATH": f"{self.bin}:{os.environ['PATH']}", "TMPDIR": str(home)}
        self.program = [sys.executable, "-m", "midwatch.compat.story_automator"]

    def says(self, *arguments: str, code: int = 0, **env: str) -> Any:
        """The one JSON document that a call prints, and nothing on stderr."""
        done = self(*arguments, **env)
        assert (done.code, done.err) == (code, ""), done
        return json.loads(done.out)

    def refuses(self, *arguments: str, **env: str) -> str:
        """What a call that is refused says: on stderr alone, without a traceback, and with the documented code."""
        done: Done = self(*arguments, **env)
        assert (done.code, done.out) == (1, ""), done
        assert "Traceback" not in done.err, done
        return done.err

    def put(self, path: str, text: str = "x\n") -> Path:
        """A file of the project."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def story(self, name: str, text: str = "# A story\n") -> Path:
        return self.put(f"{ARTIFACTS}/{name}.md", text)

    def sprint(self, *rows: str) -> Path:
        return self.put(f"{ARTIFACTS}/sprint-status.yaml", "development_status:\n" + "".join(f"  {r}\n" for r in rows))

    def stand_in(self, name: str, script: str) -> Path:
        """A program of that name, first on the PATH."""
        file = self.bin / name
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)
        return file
