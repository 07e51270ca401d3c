"""A task as the three-layer monitor's skill starts one: a line typed into the pane's shell, a capture through perl."""

from __future__ import annotations

import json
import os
import shutil
import time
from datetime import UTC, datetime
from pathlib import Path

from midwatch.system import procfs
from tests.conftest import tool, until
from tests.integration.panes.private import Private
from tests.integration.three_layer_monitor.tasks import HERE, Task

MODEL = "claude-sonnet-4-6"
PERL = r"s/\x1b\[[0-9;]*[mGKHfABCDJsu]//g; s/\x1b\][^\x07]*\x07//g; s/\x1b\(B//g; s/\r//g"
MERGED = (
    ' "$TASK_TMPDIR/manifest.json" > "$TASK_TMPDIR/manifest.json.tmp"'
    ' && mv "$TASK_TMPDIR/manifest.json.tmp" "$TASK_TMPDIR/manifest.json"'
)
LINE = "; ".join(
    (
        'cd {project} && claude -p --model {model} "$(cat $TASK_TMPDIR/prompt)" & AGENT=$!',
        'echo "$AGENT" > "$TASK_TMPDIR/pid"',
        'jq --argjson pid "$AGENT" ".pid = \\$pid"' + MERGED,
        "wait $AGENT",
        "CODE=$?",
        'echo "$CODE" > "$TASK_TMPDIR/exit_code.tmp" && mv "$TASK_TMPDIR/exit_code.tmp" "$TASK_TMPDIR/exit_code"',
        'if [ "$CODE" -eq 0 ]; then STATUS=completed; else STATUS=failed; fi',
        'jq --argjson code "$CODE" --arg status "$STATUS" ". + {{exit_code: \\$code, status: \\$status}}"' + MERGED,
        'touch "$TASK_TMPDIR/done"',
    )
)


class SkillTask(Task):
    """No wrapper: the pane's own shell waits for the agent."""

    folder = "tmp.{}"

    def __init__(self, private: Private, home: Path, name: str = "claude-fix-auth") -> None:
        for program in ("jq", "perl"):
            tool(program)
        super().__init__(private, home, name)
        self.project = home / "project"
        self.project.mkdir(exist_ok=True)
        programs = home / "bin"
        programs.mkdir(exist_ok=True)
        shutil.copy(HERE / "claude.sh", programs / "claude")
        (programs / "claude").chmod(0o755)
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        self.write_manifest(project_dir=str(self.project), model=MODEL, started_at=now)
        self.path = f"{programs}:{os.environ['PATH']}"
        self.env["PATH"] = self.path

    def write_manifest(self, **fields: object) -> None:
        (self.dir / "manifest.json").write_text(json.dumps(self.manifest() | fields))

    def begin(self, *, capture: bool = True, shell: str = "", line: str = "", after: str = "") -> int:
        """As the skill does: the pid that it has written, once its agent runs."""
        given = {
            "TASK_TMPDIR": self.dir, "HOME": self.home, "STAND_IN_RUNS": self.runs, "STAND_IN_GATE": self.gate_path,
        }  # fmt: skip
        pairs = [part for key, value in given.items() for part in ("-e", f"{key}={value}")]
        shell = f"exec env PATH={self.path} {shell or 'bash --norc --noprofile'}"  # tmux takes that of its client
        made = self.private(
            "new-session", "-d", "-P", "-F", "#{pane_id}", "-s", self.name, "-x", "100", "-y", "20", *pairs, shell
        )  # fmt: skip
        self.pane = made.strip()
        if capture:
            self.private("pipe-pane", "-t", self.pane, "-O", f"perl -pe '{PERL}' >> {self.log}")
        line = (line or LINE.format(project=self.project, model=MODEL)) + after
        self.private("send-keys", "-t", self.pane, "-l", line)
        self.private("send-keys", "-t", self.pane, "Enter")
        return self.until_called(1)

    def until_called(self, number: int) -> int:
        """Wait until so many agents were started, and the last has a pid file; the pid in that."""
        until(lambda: self.runs.exists() and len(self.runs.read_text().splitlines()) >= number, self.dir)
        agent = int(self.runs.read_text().splitlines()[number - 1].split()[1])
        self.remember(agent)
        until(lambda: bool(self.text("pid")), self.dir)
        pid = int(self.text("pid") or 0)
        self.remember(pid)
        return pid

    def call(self, number: int) -> tuple[str, list[str]]:
        """The directory in which an agent was started, and its arguments."""
        cwd, *words = (self.dir / f"call.{number}").read_text().rstrip("\0").split("\0")
        return cwd, words

    def calls(self) -> int:
        return len(self.runs.read_text().splitlines())

    def tell_state(self, conversation: str) -> None:
        """What Claude Code writes of itself, by its pid."""
        agent = int(self.runs.read_text().split()[-1])
        place = self.home / ".claude" / "sessions" / f"{agent}.json"
        place.parent.mkdir(parents=True, exist_ok=True)
        found = {
            "pid": agent, "sessionId": conversation, "cwd": str(self.project),
            "procStart": str(procfs.start_time(agent)),
            "version": "2.1.326", "kind": "interactive", "status": "busy", "updatedAt": int(time.time() * 1000),
        }  # fmt: skip
        place.write_text(json.dumps(found))

    def converse(self, conversation: str, at: str = "2099-01-01T00:00:00.000Z") -> None:
        """A conversation that somebody else has begun in the directory of the task."""
        shelf = self.home / ".claude" / "projects" / "".join(c if c.isalnum() else "-" for c in str(self.project))
        shelf.mkdir(parents=True, exist_ok=True)
        line = {"type": "user", "sessionId": conversation, "cwd": str(self.project), "timestamp": at}
        (shelf / f"{conversation}.jsonl").write_text(json.dumps(line | {"message": {"content": "Hi."}}) + "\n")
