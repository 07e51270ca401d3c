"""`story-automator` beside the published programs of that name: one look at a session, and its end noticed."""

import contextlib
import json
import os
import random
import shutil
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from statistics import median
from typing import NamedTuple

from bench import rivals
from bench.stage import BIN, HERE, Stage
from bench.table import Row, at_most, in_ms, informs, ratio_at_most
from bench.waiting import PATIENCE, end_of, lines_of, now, until_waiting

ROUNDS = 30
LOOKED_AT = 900
"""Number of the story that is only looked at."""
ENDS, AT_ONCE = 60, 20
PHASES = 8
"""Ends that each of the published programs is shown, spread evenly over the time between two of its looks."""
FIRST, BETWEEN = 6.0, 30.0
"""Seconds until they have had their first look, and between two at what is loading; at most others it is a minute."""
CLAUDE, PLAIN = "claude", "plain"
"""Stand-ins: Claude Code in the middle of a turn, and a command without a face, which may end at any time."""
SCREEN = f"{HERE}/../tests/goldens/agents/screens/claude/nostatus-busy/screen.txt"
LINE = "✻ Loading… (ctrl+c to interrupt)\n"
"""What the published programs take for work, and look at soonest."""
WORK = """\
cat "$0.$1"
: >"$2.begun"
read -r _ <"$2"
printf '\\033[H\\033[2J\\033[3J'
"""
"""It wipes all that it has shown before it ends: the Go program knows an end by that alone."""
COMPLETED = "completed"


class Program(NamedTuple):
    name: str
    path: str
    """Empty: not to be had."""
    epic: int
    """Its own, so that names of sessions differ."""


def rows(stage: Stage) -> Iterator[Row]:
    if shutil.which("tmux") is None:
        yield Row("story-automator: tmux is not installed", None, goal="measured")
        return
    place = Project(stage)
    try:
        slow = Slow(place)
        yield from looks(place)
        yield from ends(place, slow)
    finally:
        place.end()


class Project:
    """One project, one tmux server, and the three programs."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.place = stage.dir("story")
        self.root = f"{self.place}/project"
        os.mkdir(self.root)
        self.env = {
            "PATH": f"{BIN}:{stage.env['PATH']}", "PROJECT_ROOT": self.root, "TMUX_TMPDIR": self.place,
            "XDG_STATE_HOME": f"{self.place}/state", "MIDWATCH_HOME": f"{self.place}/jobs",
        }  # fmt: skip
        self.ours = Program("ours", f"{BIN}/story-automator", 1)
        self.python = Program("the published Python program", rivals.python_in(self.root, stage.env | self.env), 2)
        self.go = Program("the published Go program", rivals.go(), 3)
        for kind in (CLAUDE, PLAIN):
            os.symlink(shutil.which("bash") or "/bin/bash", f"{self.place}/{kind}")
        shutil.copy(SCREEN, f"{self.place}/work.{CLAUDE}")
        for name, text in (("work", WORK), (f"work.{PLAIN}", LINE)):
            with open(f"{self.place}/{name}", "w", encoding="utf-8") as file:
                file.write(text)
        self.spawned: list[str] = []
        self.call("tmux", "-f", os.devnull, "new-session", "-d", "-s", "keep", "sleep 3600")

    def call(self, *command: str) -> str:
        """What a command says; one that fails raises with what it complained of."""
        env = self.stage.env | self.env
        done = subprocess.run(command, env=env, cwd=self.root, capture_output=True, text=True, timeout=60, check=False)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command[:3])} ended with {done.returncode}: {done.stderr.strip()}")
        return done.stdout.strip()

    def spawn(self, program: Program, number: int, kind: str = PLAIN) -> "Work":
        """A session of the step that has nothing to verify; its work has begun."""
        story = f"{program.epic}.{number}"
        work = Work(f"{self.place}/{story}")
        command = f"{self.place}/{kind} {self.place}/work {kind} {work.path}"
        words = ("tmux-wrapper", "spawn", "auto", str(program.epic), story, "--command", command)
        work.session = self.call(program.path, *words)
        self.spawned.append(work.session)
        work.until_begun()
        return work

    def monitor(self, program: Program, work: "Work") -> "Monitor":
        words = ("monitor-session", work.session, "--json")
        return Monitor(self.stage.start(program.path, *words, more=self.env, cwd=self.root))

    def end(self) -> None:
        """The Go program has files of each session that it saw where no directory of ours is; it can remove them."""
        removed = [(self.go.path, "tmux-wrapper", "kill", name) for name in self.spawned if self.go.path]
        for command in [*removed, ("tmux", "kill-server")]:
            with contextlib.suppress(RuntimeError, subprocess.TimeoutExpired):
                self.call(*command)


class Work:
    def __init__(self, path: str) -> None:
        self.session = ""
        self.path = path
        os.mkfifo(path)
        self.fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)

    def until_begun(self) -> None:
        deadline = now() + PATIENCE
        while not os.path.exists(f"{self.path}.begun"):
            if now() > deadline:
                raise RuntimeError(f"{self.session} does not begin")
            time.sleep(0.01)

    def finish(self) -> float:
        """Let it end. The moment before that: what it still does is counted."""
        began = now()
        os.write(self.fd, b"\n")
        os.close(self.fd)
        return began


class Monitor:
    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.lines = lines_of(process)

    def told(self, limit: float = PATIENCE) -> tuple[float, str]:
        """When it told of the end, and its word for it."""
        moment, line = self.lines.next("final_state", limit)
        end_of(self.process)
        return moment, json.loads(line)["final_state"]


class Slow:
    """The published programs, each with its sessions, in the background: all they do for most of the time is sleep."""

    def __init__(self, place: Project) -> None:
        self.place = place
        self.delays: dict[str, list[float]] = {place.python.name: [], place.go.name: []}
        self.words: dict[str, Counter[str]] = {name: Counter() for name in self.delays}
        self.trouble = ""
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        try:
            self._measure([program for program in (self.place.python, self.place.go) if program.path])
        except Exception as error:  # noqa: BLE001  # said in the table
            self.trouble = f"failed: {type(error).__name__}: {error}"

    def _measure(self, programs: list[Program]) -> None:
        works = [(program, self.place.spawn(program, phase)) for phase in range(PHASES) for program in programs]
        watched = [(program, work, self.place.monitor(program, work)) for program, work in works]
        began = now()
        ended = []
        for at, (_, work, _) in enumerate(watched):
            time.sleep(max(0.0, began + FIRST + BETWEEN * (at // len(programs) + 0.5) / PHASES - now()))
            ended.append(work.finish())
        for (program, _, monitor), moment in zip(watched, ended, strict=True):
            came, word = monitor.told(4 * BETWEEN)
            self.delays[program.name].append(came - moment)
            self.words[program.name][word] += 1

    def collect(self) -> None:
        self.thread.join(6 * BETWEEN)
        if self.thread.is_alive():
            self.trouble = f"not done within {6 * BETWEEN:g} s"


def looks(place: Project) -> Iterator[Row]:
    """`tmux-status-check` of either program on the same session, whoever has spawned it."""
    programs = [program for program in (place.ours, place.python, place.go) if program.path]
    spawners = [program for program in (place.ours, place.python) if program.path]
    sessions = {program.name: place.spawn(program, LOOKED_AT, CLAUDE).session for program in spawners}
    calls = [(program, whose) for program in programs for whose in sessions]
    taken: dict[tuple[str, str], list[float]] = {(program.name, whose): [] for program, whose in calls}
    said = {  # and the first call of a program compiles it
        (program.name, whose): place.call(program.path, "tmux-status-check", sessions[whose])
        for program, whose in calls
    }
    chance = random.Random(1)
    for _ in range(ROUNDS):
        chance.shuffle(calls)
        for program, whose in calls:
            words = (program.path, "tmux-status-check", sessions[whose])
            taken[program.name, whose].append(place.stage.time(*words, more=place.env, cwd=place.root))
    for whose in (place.ours.name, place.python.name):
        what = f"`tmux-status-check`, a session of {whose}"
        theirs = in_ms(place.python.name, taken.get((place.python.name, whose), []))
        if not (own := taken.get((place.ours.name, whose))):
            yield Row(what, None, theirs, "<= 1 x")
            continue
        told = " and ".join(" ".join(said[program.name, whose].split()) for program in programs)
        note = f"{ROUNDS} rounds, all calls in each; they say {told}"
        yield ratio_at_most(what, median(own) * 1000, "ms", 1, theirs, note)._replace(goal="<= 1 x")
        if other := taken.get((place.go.name, whose)):
            yield informs(f"{what} (for comparison)", median(own) * 1000, "ms", in_ms(place.go.name, other))


def ends(place: Project, slow: Slow) -> Iterator[Row]:
    delays: list[float] = []
    words: Counter[str] = Counter()
    for at in range(0, ENDS, AT_ONCE):
        works = [place.spawn(place.ours, number) for number in range(at, at + AT_ONCE)]
        watched = [(work, place.monitor(place.ours, work)) for work in works]
        for _, monitor in watched:
            until_waiting(monitor.process.pid)
        for work, monitor in watched:
            began = work.finish()
            came, word = monitor.told()
            delays.append(came - began)
            words[word] += 1
    slow.collect()
    what = "end of the command -> line of `monitor-session`"
    for program in (place.python, place.go):
        theirs = [] if slow.trouble else slow.delays[program.name]
        anchor = in_ms(program.name, theirs, slow.trouble)
        note = f"median of {ENDS}; beside {len(theirs)} spread over the {BETWEEN:g} s between two of its looks"
        note += f", told as {dict(slow.words[program.name])}"
        beside = f"{what}, beside {program.name}"
        yield ratio_at_most(beside, median(delays) * 1000, "ms", 1 / 100, anchor, note if theirs else "")
    yield informs(f"{what}, the slowest", max(delays) * 1000, "ms")
    yield at_most(f"{what}: not told as {COMPLETED}", ENDS - words[COMPLETED], "", 0, note=f"{dict(words)}")
