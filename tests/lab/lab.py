"""A lab: a network namespace with nothing but loopback, a model, a private tmux server, and the sessions in it."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.lab import installs, processes
from tests.lab.homes import AGENTS, Launch, Place, Wish
from tests.lab.pane import PATIENCE, AgentPane, Tmux
from tests.lab.server import journal

REPOSITORY = Path(__file__).parents[2]

# Whatever shell the user has, or has not: what starts the sessions is written for sh.
_TMUX_CONF = """set -g default-shell /bin/sh
set -g default-terminal "tmux-256color"
set -g remain-on-exit on
set -g history-limit 5000
set -g set-titles off
set -g allow-rename on
set -s escape-time 0
set -g focus-events on
"""
# The payload is JSON already; what is not becomes null.
_HOOK = """#!/bin/sh
payload=$(cat)
printf '{"t":%s,"event":"%s","ppid":%s,"pane":"%s","payload":%s}\\n' \\
    "$(date +%s.%N)" "$1" "$PPID" "$TMUX_PANE" "${payload:-null}" >> "$HOME/hooks.jsonl"
exit 0
"""


class LeftBehind(AssertionError):  # noqa: N818
    """Processes outlived the lab: the message names them."""


class LabFailed(Exception):  # noqa: N818
    """The lab could not be set up on this machine."""


class Lab:
    """Use it as a context manager; on leaving, everything that it started is gone, or LeftBehind is raised.

    `rootless` makes the namespace as any user may; None chooses that for those who are not root. `keep` leaves the
    files.
    """

    def __init__(
        self, base: Path | None = None, *, rootless: bool | None = None, bodies: bool = False, keep: bool = False
    ) -> None:
        # Not below /tmp, where Codex refuses to work, and short: sockets have names of at most 107 bytes.
        self._base = base or Path("/var/tmp")
        self._rootless = os.getuid() != 0 if rootless is None else rootless
        self._flags = [flag for flag, wanted in (("--bodies", bodies), ("--keep", keep)) if wanted]
        self._keeper: subprocess.Popen[str] | None = None
        self._network = ""
        self._count = 0
        self._begun: list[subprocess.Popen[str]] = []
        self.mark = f"LAB_MARK={uuid.uuid4().hex}"
        self.root = Path()
        self.tmux = Tmux(Path())

    # Setting up and tearing down

    def __enter__(self) -> Self:
        self.root = Path(tempfile.mkdtemp(prefix="dwlab-", dir=self._base))
        (self.root / "tmux.conf").write_text(_TMUX_CONF)
        hook = self.root / "hook"
        hook.write_text(_HOOK)
        hook.chmod(0o755)
        self.tmux = Tmux(self.root / "tmux")
        user = ["--user", "--map-current-user", "--keep-caps"] if self._rootless else []
        keeper = [sys.executable, "-m", "tests.lab.keeper", str(self.root), *self._flags]
        self._keeper = subprocess.Popen(
            ["unshare", *user, "--net", *keeper], env=self._environment(PYTHONPATH=str(REPOSITORY)), cwd=REPOSITORY,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip
        assert self._keeper.stdout is not None
        word, _, self._network = self._keeper.stdout.readline().strip().partition(" ")
        if word != "ready":
            self._keeper.stdin = None
            _, said = self._keeper.communicate()
            shutil.rmtree(self.root, ignore_errors=True)
            raise LabFailed(f"no network namespace to work in: {said.strip() or 'unshare said nothing'}")
        deadline = time.monotonic() + PATIENCE
        while not (self.root / "tmux").is_socket():
            if time.monotonic() > deadline:
                said = (self.root / "tmux.log").read_text()
                self.close()
                raise LabFailed(f"tmux did not start: {said}")
            time.sleep(0.01)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End everything, and make sure."""
        if self._keeper is None:
            return
        for begun in self._begun:
            with begun:
                begun.kill()
        keeper, self._keeper = self._keeper, None
        try:
            _, said = keeper.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            keeper.kill()
            _, said = keeper.communicate()
            said += "the keeper had to be killed"
        left = self.alive()
        if left or keeper.returncode:
            told = "\n".join(f"{pid} {processes.command(pid)}" for pid in left)
            raise LeftBehind(f"the lab left something behind:\n{told}\n{said}")

    @property
    def keeper(self) -> int:
        """Process that everything else in the lab is below."""
        assert self._keeper is not None, "the lab is closed"
        return self._keeper.pid

    def alive(self) -> list[int]:
        """Living processes that belong to the lab, by its mark in their environment and by their network."""
        return sorted({*processes.marked(self.mark), *(processes.in_network(self._network) if self._network else [])})

    # Sessions

    def start(
        self, agent: str, *, size: tuple[int, int] = (120, 40), version: str | None = None, home: Path | None = None,
        project: str = "proj", ready: bool = True, reader: Callable[[str], Sequence[str]] | None = None, **wish: Any,
    ) -> AgentPane:  # fmt: skip
        """Type the agent's name into a shell in a new pane, as a person does, and wait for its prompt.

        Further arguments are those of `Wish`; `hooks="log"` writes events to where `AgentPane.hooks` reads them. In the
        `home` of an earlier session its settings stay as they are, and the journal goes by the name of that home.
        `ready=False` does not wait. `reader` gives the command that a pane is piped to.
        """
        wanted = Wish(**wish)
        if wanted.hooks == "log":
            wanted = Wish(**wish | {"hooks": f"{self.root / 'hook'} EVENT"})
        self._count += 1
        session = f"{agent}-{self._count}"
        place, launch, environment = self.settle(agent, wanted, home or self.root / session, project, version)
        install = place.install
        pane_id = self.shell(session, environment, place.cwd, size)
        pane = AgentPane(
            tmux=self.tmux, pane_id=pane_id, session=session, agent=agent, version=install.version, home=place.home,
            cwd=place.cwd, lab=self.root, prompt=launch.prompt,
        )  # fmt: skip
        pane.until(r"(?m)[$#]\s*$", what="the shell")
        if reader is not None:
            self.tmux("pipe-pane", "-IO", "-t", pane_id, f"exec {shlex.join(reader(pane_id))} '#{{pane_tty}}'")
        pane.type(shlex.join([*launch.argv, *wanted.options]))
        for question, keys in launch.answers if ready else ():
            pane.until(question)
            pane.answer(*keys.split())
        return pane.ready() if ready else pane

    def shell(self, name: str, environment: dict[str, str], cwd: Path, size: tuple[int, int]) -> str:
        """An interactive bash in a new session of the tmux server; the pane's id."""
        pairs = " ".join(shlex.quote(f"{key}={value}") for key, value in environment.items())
        command = f'exec env -i {pairs} TMUX="$TMUX" TMUX_PANE="$TMUX_PANE" bash --norc --noprofile'
        width, height = map(str, size)
        made = self.tmux(
            "new-session",
            "-d",
            "-P",
            "-F",
            "#{pane_id}",
            "-s",
            name,
            "-x",
            width,
            "-y",
            height,
            "-c",
            str(cwd),
            command,
        )
        return made.strip()

    def say(self, name: str, text: str) -> None:
        """Give the model words for `[[say NAME]]`: what it says does not stand in the prompt."""
        (self.root / "replies" / name).write_text(text, encoding="utf-8")

    def otherwise(self, words: str, script: str) -> None:
        """Script what the model does with prompts that have these words in them and no script; the first holds."""
        number = len(list((self.root / "replies").glob("otherwise-*")))
        (self.root / "replies" / f"otherwise-{number:03}").write_text(f"{words}\n{script}", encoding="utf-8")

    def journal(self) -> list[dict[str, Any]]:
        """All that the model did (see server/journal.py)."""
        return journal.read(self.root / "journal.jsonl")

    def run(self, command: Sequence[str], *, timeout: float = 60.0, **env: str) -> subprocess.CompletedProcess[str]:
        """Run a command inside the namespace to its end."""
        return subprocess.run(
            self._enter(command), env=self._environment(**env), stdin=subprocess.DEVNULL, capture_output=True,
            text=True, check=False, timeout=timeout,
        )  # fmt: skip

    def begin(self, command: Sequence[str], **env: str) -> subprocess.Popen[str]:
        """Start a command inside the namespace; its output can be read as it comes."""
        begun = subprocess.Popen(
            self._enter(command), env=self._environment(**env), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        self._begun.append(begun)
        return begun

    def _enter(self, command: Sequence[str]) -> list[str]:
        user = ["--user", "--preserve-credentials"] if self._rootless else []
        return ["nsenter", "--target", str(self.keeper), *user, "--net", "--", *command]

    def settle(
        self, agent: str, wanted: Wish, home: Path, project: str = "proj", version: str | None = None
    ) -> tuple[Place, Launch, dict[str, str]]:
        """A home for an agent, how it is started there, and the environment for that."""
        place = Place(home, home / "work" / project, install := installs.find(agent.partition("-")[0], version))
        place.cwd.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix="t", dir=self.root))
        launch = AGENTS[agent](place, wanted)
        environment = self._environment(
            HOME=str(place.home), TMPDIR=str(scratch), TERM="tmux-256color", SHELL="/bin/bash",
            PATH=f"{install.program.parent}:{installs.nodejs().path('/usr/local/bin:/usr/bin:/bin')}",
        ) | launch.env | dict(wanted.env)  # fmt: skip
        return place, launch, environment

    def _environment(self, **more: str) -> dict[str, str]:
        mark, _, value = self.mark.partition("=")
        return {mark: value, "LANG": "C.UTF-8", "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"} | more
