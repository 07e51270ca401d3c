"""Real agents in sessions that Midwatch itself starts, in the lab, and all that is done with them."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from tests.lab.homes import Wish
from tests.lab.lab import Lab
from tests.lab.pane import AgentPane

SLOW = 90.0


class Spawned(AgentPane):
    """A session of ours; what a person does with it and sees of it is as in any other pane."""

    def __init__(
        self, lab: Lab, agent: str, name: str = "api", *, options: tuple[str, ...] = (), home: Path | None = None,
        **wish: Any,
    ) -> None:  # fmt: skip
        self.lab = lab
        self.name = name
        self.place, launch, env = lab.settle(agent, Wish(**wish), home or lab.root / f"{agent}-{name}")
        self.env = env | {"XDG_STATE_HOME": str(lab.root / "state"), "MIDWATCH_HOME": str(lab.root / "jobs")}
        self.launch = launch
        self.more = (*launch.argv[1:], *options)
        self.kind = agent.partition("-")[0]
        super().__init__(
            tmux=lab.tmux, pane_id="", session=name, agent=agent, version=self.place.install.version,
            home=self.place.home, cwd=self.place.cwd, lab=lab.root, prompt=launch.prompt,
        )  # fmt: skip

    # Our own verbs

    def spawn(self, prompt: str = "", code: int = 0, **options: str) -> dict[str, Any]:
        """An empty value stands for an option that takes none."""
        given = [word for key, value in options.items() for word in (f"--{key.replace('_', '-')}", value) if word]
        given += ["--prompt-file", str(self.file(prompt))] if prompt else []
        called = self.call(
            "spawn", self.name, "--agent", self.kind, "--cwd", str(self.cwd), "--socket", self.tmux.arguments[1],
            *given, "--json", *(("--", *self.more) if self.more else ()),
        )  # fmt: skip
        assert called.returncode == code, (called.stdout, called.stderr, self._shown())
        self.pane_id = self.record()["pane"]["id"]
        return dict(json.loads(called.stdout))

    def call(self, *words: str) -> subprocess.CompletedProcess[str]:
        return self.lab.run([sys.executable, "-m", "midwatch", *words], timeout=3 * SLOW, **self.env)

    def monitor(self, *words: str, target: str = "") -> Watching:
        return Watching(self, [target or self.name, "--json", *words])

    def file(self, text: str) -> Path:
        path = self.lab.root / f"{self.name}.prompt"
        path.write_text(text)
        return path

    # What is known of it

    def record(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.lab.root / "jobs" / f"{self.name}.json").read_text())
        return found

    def verdict(self) -> dict[str, Any]:
        return dict(json.loads(self.call("why", self.name, "--json").stdout))

    def conversation(self) -> str:
        path = self.lab.root / "jobs" / f"{self.name}.conversation"
        return path.read_text().split()[1] if path.exists() else str(self.record()["conversation"])

    def work(self) -> int:
        return int(self.record()["work"]["pid"])

    def shim(self) -> int:
        return int(self.record()["shim"]["pid"])

    def _shown(self) -> str:
        try:
            return self.tmux("capture-pane", "-p", "-t", f"={self.name}:")
        except subprocess.CalledProcessError as error:
            return str(error.stderr)


class Watching:
    """A monitor at work."""

    def __init__(self, session: Spawned, words: list[str]) -> None:
        self.session = session
        self.process = session.lab.begin([sys.executable, "-m", "midwatch", "monitor", *words], **session.env)
        self.said: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.said.append(line)

    def until_said(self, words: str, timeout: float = SLOW) -> None:
        self.session.until(lambda _: any(words in line for line in self.said), timeout, what=f"the monitor's {words!r}")

    def end(self, timeout: float = SLOW) -> dict[str, Any]:
        """What it said at its end, with its exit code."""
        assert self.process.stdout is not None
        with self.process:
            out = self.process.stdout.read() if self._ended(timeout) else ""
        return {**json.loads(out), "code": self.process.returncode, "said": self.said} if out else {"said": self.said}

    def _ended(self, timeout: float) -> bool:
        try:
            self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return False
        finally:
            self._reader.join(timeout)
        return True
