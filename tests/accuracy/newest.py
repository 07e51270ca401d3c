"""Today's newest release of every agent, played through all scenes and timelines and judged: `make newest`.

Nothing of it is in the repository: what was recorded lies in the cache directory, or where `--out` says, laid out and
named as the goldens are.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
import traceback
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import ExitStack, redirect_stdout
from pathlib import Path
from typing import NamedTuple

from midwatch.agents import catalog
from midwatch.replay import golden_runner
from tests.accuracy import report
from tests.lab import installs
from tests.lab.scenes.play import ALL, play, scenes
from tests.lab.timelines.record import USUAL, record, stories

HOOKED = ("answer", "permission", "interrupted", "interrupted-before-a-word", "failed")
"""Stories that are played with Midwatch's hook too, by agents that have hooks which we install."""
HOOKS = ("claude", "codex-nodaemon", "opencode", "gemini")
REPORTING = ("answer", "permission", "asked", "interrupted", "unsent", "failed", "limited", "delegated")
"""Stories that are played with a reader of reports (OSC 7501) too, by agents that wait to be asked for them."""
SMALL = {"stream": (80, 24), "permission": (80, 24), "imitation": (60, 15)}
"""Stories that are played in a smaller pane too."""


class Task(NamedTuple):
    """One scene, or one story of a timeline."""

    agent: str
    version: str
    name: str
    story: bool = False
    hooks: bool = False
    reports: bool = False
    size: tuple[int, int] = USUAL

    @property
    def words(self) -> str:
        hooks = " with hooks" if self.hooks else " with reports" if self.reports else ""
        size = f" in {self.size[0]}x{self.size[1]}" if self.size != USUAL else ""
        return f"{self.agent} {'timeline' if self.story else 'scene'} {self.name}{hooks}{size}"


def tasks(agent: str, version: str) -> list[Task]:
    """All that is played with an agent, the Codex without a daemon included where Codex is asked for."""
    found: list[Task] = []
    for name in (name for name in ALL if name.partition("-")[0] == agent):
        found += [Task(name, version, scene.name) for scene in scenes(name)]
        found += [Task(name, version, story, story=True) for story in stories(name)]
        found += [Task(name, version, story, story=True, size=size) for story, size in SMALL.items()]
        found += [Task(name, version, story, story=True, hooks=True) for story in HOOKED if name in HOOKS]
        if catalog.load(agent).asks_after:
            found += [Task(name, version, story, story=True, reports=True) for story in REPORTING]
    return found


def perform(task: Task, out: Path) -> tuple[str, str]:
    """Play it in a lab of its own; what kept it from being played, in a line and in full."""
    try:
        if task.story:
            record(
                task.agent, task.name, task.version, out / "timelines", hooks=task.hooks, reports=task.reports,
                size=task.size,
            )  # fmt: skip
        else:
            scene = next(scene for scene in scenes(task.agent) if scene.name == task.name)
            play(task.agent, scene, task.version, out)
    except Exception as problem:  # noqa: BLE001  # one that fails must not cost the others
        return (str(problem).strip() or repr(problem)).splitlines()[0], traceback.format_exc()
    return "", ""


def install(agents: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Agent → its newest version; and agent → why it could not be installed."""
    got: dict[str, str] = {}
    failed: dict[str, str] = {}
    installs.bring_node()
    for agent in agents:
        try:
            found = installs.newest(agent)
            installs.bring([found])
            got[agent] = found.version
        except SystemExit as problem:
            failed[agent] = str(problem)
            print(problem, file=sys.stderr, flush=True)
    return got, failed


def play_all(wanted: Sequence[Task], out: Path, jobs: int) -> dict[Task, str]:
    """Play everything, several at a time; tasks that could not be played, with a line of why."""
    problems: dict[Task, str] = {}
    with ProcessPoolExecutor(jobs) as pool, ExitStack() as cleanup:
        # On Ctrl-C those that wait are not begun any more.
        cleanup.callback(pool.shutdown, cancel_futures=True)
        begun: dict[Future[tuple[str, str]], Task] = {pool.submit(perform, task, out): task for task in wanted}
        for number, done in enumerate(as_completed(begun), 1):
            task, (problem, trace) = begun[done], done.result()
            if problem:
                problems[task] = problem
            told = f"NOT PLAYED\n{trace}" if problem else "played"
            print(f"[{number}/{len(wanted)}] {task.words}: {told}", file=sys.stderr, flush=True)
    return problems


def guesses(out: Path) -> dict[str, list[str]]:
    """By agent, screens that the pane alone does not decide and that were read as something else than was true."""
    found: dict[str, list[str]] = {}
    for trial in golden_runner.judge_screens(str(out / "undecidable")):
        if trial.read not in ("unknown", trial.truth):
            found.setdefault(trial.agent, []).append(f"{trial.case}: {trial.truth} read as {trial.read}")
    return found


def told(
    result: report.Result, versions: dict[str, str], unplayed: dict[Task, str], failed: dict[str, str],
    guessed: dict[str, list[str]],
) -> str:  # fmt: skip
    """The tables, every difference by agent, and one line that sums it up."""
    parts = report.tables(result) if result.screens or result.looks else ["nothing was played"]
    summary: list[str] = []
    for agent in [*versions, *failed]:
        own = report.of(result, agent)
        wrong = report.wrong(own)
        missing = [f"{task.words}: {why}" for task, why in unplayed.items() if task.agent.partition("-")[0] == agent]
        head = f"{agent} {versions.get(agent, '')}".strip()
        parts += ["", f"{head}: {len(own.screens)} screens, {len(own.looks)} looks in {len(own.replays)} timelines"]
        parts += [f"  not installed: {failed[agent].splitlines()[0]}"] if agent in failed else []
        parts += [f"  wrong: {row}" for row in wrong]
        parts += [f"  not played: {row}" for row in missing]
        parts += [f"  not decided by the pane, not counted: {row}" for row in guessed.get(agent, [])]
        parts += [f"  detail, not counted: {row}" for row in report.details(own)]
        if not own.screens and not own.looks:
            summary.append(f"{head} could not be tried")
        elif wrong or missing:
            summary.append(f"{head} {len(wrong)} wrong, {len(missing)} not played")
        else:
            parts.append("  every verdict is right")
            summary.append(f"{head} right")
    return "\n".join([*parts, "", f"newest: {'; '.join(summary)}"])


def main() -> int:
    known = list(installs.pins())
    parser = argparse.ArgumentParser(prog="python -m tests.accuracy.newest", description=__doc__)
    parser.add_argument("agent", nargs="*", help=f"one of {', '.join(known)}; none means all")
    parser.add_argument("--out", type=Path, help="directory for what is recorded (default: in the cache directory)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many are played at a time")
    parser.add_argument("--only", default="", help="only scenes and timelines whose name contains this")
    given = parser.parse_args()
    if strange := [name for name in given.agent if name not in known]:
        parser.error(f"unknown agent {strange[0]}: choose from {', '.join(known)}")
    out = given.out or installs.root().parent / "newest"
    if given.out is None:
        shutil.rmtree(out, ignore_errors=True)
    began = time.monotonic()
    with redirect_stdout(sys.stderr):
        versions, failed = install(given.agent or known)
    wanted = [task for agent, version in versions.items() for task in tasks(agent, version) if given.only in task.name]
    unplayed = play_all([task for task in wanted if not task.story], out, given.jobs)
    # A timeline is about seconds: an agent that shares its core with another draws too late what is long true.
    unplayed |= play_all([task for task in wanted if task.story], out, max(1, given.jobs // 2))
    result = report.judge_all(out)
    print(told(result, versions, unplayed, failed, guesses(out)))
    print(f"recorded in {out}, {time.monotonic() - began:.0f} s", file=sys.stderr)
    return 1 if failed or unplayed or report.wrong(result) or not wanted else 0


if __name__ == "__main__":
    raise SystemExit(main())
