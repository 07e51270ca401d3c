"""Stories at work: `story-automator` on a private tmux server, with a stand-in for Claude Code."""

from __future__ import annotations

import json
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

from tests.conftest import PATIENCE, Done, until
from tests.integration.spawn.office import Office

ARTIFACTS = "_bmad-output/implementation-artifacts"
SOON = {"MIDWATCH_STALE": "3s", "MIDWATCH_GRACE": "1s"}
"""Patience for what hangs, so that a test need not wait for ten minutes."""


class Stories:
    def __init__(self, office: Office) -> None:
        self.office = office
        self.root = office.cwd
        self.box = office.box
        self.box.program = [sys.executable, "-m", "midwatch.compat.story_automator"]
        self.box.env |= {"TMUX": f"{office.tmux.socket},0,0", "PROJECT_ROOT": str(self.root)}
        self.temporary = office.temporary

    def __call__(self, *words: str, **env: str) -> Done:
        return self.box(*words, **env)

    def midwatch(self, *words: str) -> Done:
        """What the other program says of the same sessions."""
        call = [sys.executable, "-m", "midwatch", *words]
        return Done(
            subprocess.run(
                call, env=self.box.env, cwd=self.root, capture_output=True, text=True, timeout=PATIENCE, check=False
            )
        )

    def wrapper(self, *words: str, **env: str) -> str:
        done = self("tmux-wrapper", *words, **env)
        assert (done.code, done.err) == (0, ""), done
        return done.out.removesuffix("\n")

    def spawn(self, command: str, step: str = "dev", story: str = "5.3", **env: str) -> str:
        """A session that runs a command."""
        return self.wrapper("spawn", step, "5", story, "--command", command, **env)

    def agent(self, *does: str, step: str = "dev", **env: str) -> str:
        """A session with an agent that does this from its start on."""
        self.office.begin(*(("",) * len(self.office.starts())), *does)
        before = len(self.office.starts())
        session = self.spawn(f"unset CLAUDECODE && claude --session-id {uuid.uuid4()}", step, **env)
        until(lambda: len(self.office.starts()) > before)
        return session

    def begin(self, *words: str, **env: str) -> subprocess.Popen[str]:
        return self.box.start(*words, env=env)

    def finish(self, call: subprocess.Popen[str]) -> tuple[str, str]:
        """What a call has said, once it has ended."""
        try:
            return call.communicate(timeout=2 * PATIENCE)
        finally:
            call.kill()

    def monitor(self, session: str, *words: str, **env: str) -> dict[str, Any]:
        done = self("monitor-session", session, "--json", *words, **env)
        assert done.code == 0, done
        return dict(json.loads(done.out))

    def status(self, session: str, *words: str, **env: str) -> list[str]:
        done = self("tmux-status-check", session, *words, **env)
        assert done.code == 0, done
        cells = done.out.removesuffix("\n").split(",")
        assert len(cells) == len(("status", "done", "total", "task", "wait", "state")), done
        return cells

    def until_status(self, session: str, state: str, **env: str) -> list[str]:
        found: list[list[str]] = []

        def there() -> bool:
            found[:] = [self.status(session, **env)]
            return found[0][-1] == state

        until(there)
        return found[0]

    def put(self, path: str, text: str = "x\n") -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def story(self, name: str = "5-3-login", text: str = "# Story\nStatus: ready-for-dev\n") -> Path:
        return self.put(f"{ARTIFACTS}/{name}.md", text)

    def sprint(self, *rows: str) -> Path:
        return self.put(f"{ARTIFACTS}/sprint-status.yaml", "development_status:\n" + "".join(f"  {r}\n" for r in rows))

    def record(self, session: str) -> dict[str, Any]:
        return self.box.record(session)
