"""A place for a program in which home and the directories for temporary files are its alone.

Nobody else writes there, so whatever is in them afterwards the program has left, or something it started. The place is
a mount namespace: what the program needs from the covered directories is carried in.
"""

from __future__ import annotations

import os
import shlex
import stat
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.lab import installs
from tests.lab.lab import REPOSITORY

HOME = Path(os.path.expanduser("~"))
COVERED = (HOME, Path("/var/tmp"), Path("/tmp"))
USUAL = {
    ".claude.json": '{"projects": {}}', ".claude/settings.json": "{}", ".codex/config.toml": "",
    ".codex/auth.json": "{}", ".config/opencode/opencode.json": "{}", ".local/share/opencode/auth.json": "{}",
    ".gemini/settings.json": "{}", ".qwen/settings.json": "{}", ".bash_history": "ls\n", ".npmrc": "", ".gitconfig": "",
}  # fmt: skip
"""What a user of these agents has at home."""


class Guest:
    def __init__(self, directory: Path) -> None:
        self._directory = directory
        for place in COVERED:
            self._mine(place).mkdir()
            self._mine(place).chmod(0o755 if place == HOME else 0o1777)
        for name, content in USUAL.items():
            path = self._mine(HOME) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        self._mounts = [line for place in COVERED for line in self._cover(place)]
        self._before = self.listing()

    def start(self, command: Sequence[str], *, uid: int | None = None, **popen: Any) -> subprocess.Popen[str]:
        """Start a program there, as another user if one is named; the process is the program itself."""
        user = [] if os.getuid() == 0 else ["--user", "--map-root-user"]
        become = [] if uid is None else ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--"]
        script = "\n".join(["set -e", *self._mounts, "exec " + shlex.join([*become, *command])])
        env = {
            "PATH": os.environ["PATH"], "HOME": str(HOME), "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1",
            "MIDWATCH_AGENTS": str(installs.root()),
        }  # fmt: skip
        return subprocess.Popen(
            ["unshare", *user, "--mount", "sh", "-c", script], env=env, cwd=REPOSITORY, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, **popen,
        )  # fmt: skip

    def sockets(self) -> set[str]:
        return {path for path, (mode, _, _) in self.listing().items() if stat.S_ISSOCK(mode)}

    def changes(self) -> set[str]:
        """What has come, gone or changed."""
        now = self.listing()
        return {path for path in now.keys() | self._before.keys() if now.get(path) != self._before.get(path)}

    def listing(self) -> dict[str, tuple[int, int, int]]:
        """All that is there, by the names that the program knows: kind, size and time of the last change."""
        found = {}
        for place in COVERED:
            for directory, _, files in os.walk(self._mine(place)):
                for path in (directory, *(os.path.join(directory, name) for name in files)):
                    seen = os.lstat(path)
                    named = str(place / os.path.relpath(path, self._mine(place)))
                    # Temporary files come and go, and that changes the time of their directory.
                    changed = 0 if directory == path and place != HOME else seen.st_mtime_ns
                    found[named] = (seen.st_mode, 0 if directory == path else seen.st_size, changed)
        return found

    def _mine(self, place: Path) -> Path:
        return self._directory / str(place).strip("/").replace("/", "-")

    def _cover(self, place: Path) -> list[str]:
        """Commands that put a directory of ours over one, with what is needed from it in its place."""
        lines = []
        needed = {path.resolve() for path in (REPOSITORY, installs.root(), Path(sys.prefix), Path(sys.base_prefix))}
        for path in sorted(needed):
            if path.is_relative_to(place) and not needed & set(path.parents):
                carried = self._mine(place) / path.relative_to(place)
                carried.mkdir(parents=True)
                lines.append(f"mount --bind {shlex.quote(str(path))} {shlex.quote(str(carried))}")
        return [*lines, f"mount --rbind {shlex.quote(str(self._mine(place)))} {shlex.quote(str(place))}"]
