"""A tmux server of a test's own, on a socket of its own."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

from midwatch.core.pane_model import Pane
from midwatch.tmux.server import Rows, TmuxObserver
from tests.conftest import PATIENCE, kill, tool, until, until_gone


def everything(_: Pane) -> bool:
    return True


class Private:
    """Told what to do through tmux's own client; what a test expects is seen through that one, too."""

    def __init__(self, socket: Path) -> None:
        self.socket = socket
        self.server = ("-S", str(socket))
        self.program = tool("tmux")

    def __call__(self, *command: str) -> str:
        call = [self.program, "-u", "-f", os.devnull, *self.server, *command]
        done = subprocess.run(call, capture_output=True, text=True, timeout=PATIENCE, check=False)
        # A server that ends with its last session may be gone before it answers.
        ended = command[0].startswith("kill-") and done.stderr.startswith(("server exited", "lost server"))
        assert ended or not done.returncode, f"{command}: {done.stderr}"
        return done.stdout

    @property
    def pid(self) -> int:
        return int(self("display-message", "-p", "#{pid}"))

    def start(self, command: str = "cat", name: str = "", *, size: tuple[int, int] = (60, 5), cwd: str = "") -> str:
        """A pane in a session of its own; its id. Sizes hold because nobody is attached."""
        where = ["-c", cwd] if cwd else []
        named = ["-s", name] if name else []
        width, height = map(str, size)
        made = self("new-session", "-d", "-P", "-F", "#{pane_id}", "-x", width, "-y", height, *named, *where, command)
        return made.strip()

    def screen(self, pane: str, *options: str) -> Rows:
        """A pane's rows as tmux itself prints them."""
        return tuple(self("capture-pane", "-p", *options, "-t", pane).split("\n")[:-1])

    def until_shows(self, pane: str, text: str) -> None:
        until(lambda: any(text in row for row in self.screen(pane)))

    def type(self, pane: str, text: str) -> None:
        """Type a line, and wait until it is shown."""
        self("send-keys", "-t", pane, "-l", text)
        self("send-keys", "-t", pane, "Enter")
        self.until_shows(pane, text)

    def echo(self, pane: str, text: str) -> None:
        """Type a line to a `cat`, and wait until both have shown it: the terminal, and `cat` itself."""
        self.type(pane, text)
        until(lambda: sum(text in row for row in self.screen(pane)) == len(("typed", "printed")))

    def quiet(self, sense: TmuxObserver, *, colours: bool = False) -> dict[str, Rows]:
        """Look until no screen is captured again; what is then kept."""
        kept: list[dict[str, Rows]] = [{}]

        def still() -> bool:
            found = sense.observe(everything, colours=colours).screens
            kept.insert(0, found)
            return found.keys() == kept[1].keys() and all(rows is kept[1][pane] for pane, rows in found.items())

        until(still)
        return kept[0]

    def stop(self) -> None:
        """End the server; gone when this returns."""
        pid = self.pid
        self("kill-server")
        until_gone(pid)

    def end(self) -> None:
        """End the server, if there is one."""
        call = [self.program, *self.server, "display-message", "-p", "#{pid}"]
        try:
            said = subprocess.run(call, capture_output=True, text=True, timeout=PATIENCE, check=False)
        except subprocess.TimeoutExpired:
            return
        if said.stdout:
            pid = int(said.stdout.split("\n", 1)[0])  # hooks of a test may say more
            kill(pid, signal.SIGTERM)
            until_gone(pid)


Make = Callable[[str], Private]
