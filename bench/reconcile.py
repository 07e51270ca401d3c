"""A pass over a list of sessions that is true already, beside the one question to tmux that it cannot do without."""

import json
import os
import shutil
import subprocess
import uuid
from collections.abc import Iterator
from statistics import median

from bench.panes import Server, until
from bench.stage import Stage
from bench.table import Row, at_most, in_ms, informs
from bench.waiting import now
from midwatch.registry.model import TmuxPane
from midwatch.registry.reconcile import Reconciler
from midwatch.system import procfs

GOALS = {10: 5, 100: 15, 1000: 120}
"""Rows, and milliseconds."""
PASSES = 15
IDLE = 100
LISTED = "#{session_name} #{pane_id} #{pane_pid} #{pane_current_command} #{pane_current_path} #{window_activity}"
ROW = """\
  - name: {found.session}
    status: running
    agent: claude
    pane: {{pid: {found.pid}, cmd: claude, cwd: "{found.cwd}", id: "{found.id}", start: {found.start}, boot: {boot}}}
    claude_session_id_own: {talk}
    resumable: true
    last_visible_status: idle
"""


def rows(stage: Stage) -> Iterator[Row]:
    if shutil.which("tmux") is None:
        yield Row("passes over a list: tmux is not installed", None, goal="measured")
        return
    for count in GOALS:
        yield from _passes(stage, count)


def _passes(stage: Stage, count: int) -> Iterator[Row]:
    place = stage.dir("reconcile")
    shutil.copy(shutil.which("sleep") or "sleep", f"{place}/claude")
    server = Server(stage, count, f"exec {place}/claude 600")
    path = f"{place}/midwatch-sessions.yaml"
    _write(path, "sessions: []\n")
    reconciler = Reconciler(path, usual=server.arguments)
    try:
        until(lambda: len(_agents(reconciler)) == count, "the agents do not start")
        text = "".join(
            [ROW.format(found=found, boot=procfs.boot_id(), talk=_talk(stage)) for found in _agents(reconciler)]
        )
        _write(path, f"sessions:\n{text}")
        began = now()
        reconciler.act(reconciler.observe())
        first = now() - began
        until(lambda: _is_quiet(reconciler), "the panes do not come to rest")
        ours: list[float] = []
        theirs: list[float] = []
        for _ in range(PASSES):
            theirs.append(stage.time("tmux", *server.arguments, "list-panes", "-a", "-F", LISTED))
            began = now()
            passed = reconciler.act(reconciler.observe())
            ours.append(now() - began)
            if passed.standing or passed.troubles or passed.checked != count:
                raise RuntimeError(f"the list is true, and yet: {passed}")
    finally:
        reconciler.close()
        server.end()
    note = f"median of {PASSES}: list, tmux, processes, conversations, plan; all {count} agents live and do nothing"
    anchor = in_ms("tmux list-panes alone", theirs)
    yield at_most(f"{count} rows: a pass without drift", median(ours) * 1000, "ms", GOALS[count], anchor, note)
    yield informs(f"{count} rows: the first pass", first * 1000, "ms")


class Watch:
    """A `reconcile --watch` that has nothing to do, for as long as something else is measured."""

    def __init__(self, stage: Stage) -> None:
        place = stage.dir("reconcile-idle")
        shutil.copy(shutil.which("sleep") or "sleep", f"{place}/claude")
        self.server = Server(stage, IDLE, f"exec {place}/claude 600")
        path = f"{place}/midwatch-sessions.yaml"
        _write(path, "sessions: []\n")
        reconciler = Reconciler(path, usual=self.server.arguments)
        until(lambda: len(_agents(reconciler)) == IDLE, "the agents do not start")
        found = [ROW.format(found=found, boot=procfs.boot_id(), talk=_talk(stage)) for found in _agents(reconciler)]
        reconciler.close()
        _write(path, f"sessions:\n{''.join(found)}")
        os.utime(path, (1, 1))
        self.process = stage.start(
            *(stage.program, "reconcile", "--watch", "--emit-diff", "--registry", path),
            *("--socket", self.server.socket), stdout=subprocess.PIPE,
        )  # fmt: skip
        assert self.process.stdout is not None
        said = json.loads(self.process.stdout.readline())
        if said["checked"] != IDLE or said["standing"]:
            raise RuntimeError(f"the list is true, and yet: {said}")
        self.began, self.before = now(), self._spent()

    def rows(self) -> Iterator[Row]:
        """To be asked when at least one interval has passed."""
        elapsed, spent = now() - self.began, self._spent() - self.before
        self.process.kill()
        self.process.communicate()
        self.server.end()
        note = f"{elapsed:.0f} s of --watch with nothing to do, its clients of tmux included"
        yield at_most(f"{IDLE} sessions: reconcile at rest, CPU", spent / elapsed * 100, "%", 0.5, note=note)

    def _spent(self) -> float:
        """Processor seconds of it, and of those that it has waited for."""
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as file:
            fields = file.read().rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) / procfs.TICKS


def _agents(reconciler: Reconciler) -> list[TmuxPane]:
    return [found for found in reconciler.observe().sight.panes if found.agent]


def _is_quiet(reconciler: Reconciler) -> bool:
    """Whether no pane is looked at closely any more."""
    before, after = reconciler.observe().sight.panes, reconciler.observe().sight.panes
    return all(one is other for one, other in zip(before, after, strict=True))


def _talk(stage: Stage) -> str:
    """A conversation that there is."""
    talk, folder = str(uuid.uuid4()), f"{stage.root}/.claude/projects/-bench"
    os.makedirs(folder, exist_ok=True)
    _write(f"{folder}/{talk}.jsonl", "{}\n")
    return talk


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
