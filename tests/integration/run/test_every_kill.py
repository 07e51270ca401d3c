"""A kill of the shim, of the work, of both, at every step of a run: never a lost or wrong verdict.

The product has no hook for this. A run is traced once unharmed (`strace -p`, attached while the shim stands still
after its imports, so that the tracer is no part of the tree it watches). Every system call that changes the world is a
step; the run is then repeated once per step, and strace kills the shim (SIGKILL, before that call is made) or makes it
stand still (SIGSTOP, once it is made) while the test kills the work.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from midwatch.core.policy import PATIENT, Policy
from midwatch.core.verdict import Verdict
from midwatch.jobs import launch as jobs_launch
from midwatch.jobs import start
from midwatch.jobs.job_directory import JobDirectory
from midwatch.jobs.stop import stop_job
from midwatch.jobs.wait_model import WaitOptions
from midwatch.subjects.wait import SubjectWait
from midwatch.system import procfs
from tests.conftest import PATIENCE, Box, alive, kill, letter, reap, tool, until, until_gone
from tests.integration.wait.watching import finish, waiter

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # a launched shim execs at once

STAND = """
import os, sys, midwatch
midwatch.__path__.pop(0)
del sys.modules["midwatch.shim"]
del sys.modules["midwatch.shim.shim"]
import midwatch.shim.shim
main = midwatch.shim.shim.main
midwatch.shim.shim.main = lambda: (os.kill(os.getpid(), 19), main())
"""
"""A shim that imports the real one and stands still before its first step; its command line is the same."""
ORPHAN = "setsid sh -c 'echo > {ready}; read line < {never}' & read line < {ready}"
"""A child in a session of its own, and the knowledge that it is there."""
WORK = f"echo ran > {{mark}}; {ORPHAN}; echo > {{settled}}; read line < {{fifo}}; exit 0"
"""Leaves a mark as soon as it runs, has a child in a session of its own, and ends with 0 when it is let go."""
CHANGES = ("write", "rename", "close", "clone", "clone3", "fork", "vfork", "wait4", "kill", "poll", "dup2", "unlink")
LOOKED_AT = ("</proc/", ".so", "/lib/")
HELD = re.compile(rb'"started[^"]*".*= \d+\n(?:.*\n)*?poll\(')
"""The shim has told that the work runs, and is about to sleep until something happens."""
SOON = 4.0
"""Seconds in which a stop must be over: less than it takes until KILL."""
MANY = 3
STANDS = re.compile(rb"stopped by SIGSTOP")
STANDS_AGAIN = re.compile(rb"stopped by SIGSTOP[\s\S]*stopped by SIGSTOP")


class Step(NamedTuple):
    """One system call of a run that changes the world."""

    call: str
    nth: int
    """How many calls of that name there were, this one included: what strace's ``when=`` takes."""
    line: str
    held: bool
    """The run had come to rest before this step: the work is running and was let go."""

    def __str__(self) -> str:
        return f"{self.call} #{self.nth} ({self.line[:70]})"


class Scene(NamedTuple):
    """How a run that nobody harms goes."""

    end: str
    policy: Policy = PATIENT
    go_on: Callable[[Run], None] = lambda _: None
    """What brings the run to its end, once the work runs."""
    before: str = ""
    """The call from which on the steps are those of another scene."""


class Run:
    """One run of a job whose shim is traced."""

    def __init__(self, box: Box, name: str, policy: Policy = PATIENT, work: str = WORK) -> None:
        self.name = name
        self.looker = JobDirectory(str(box.dir), policy)
        self.files = box.cwd / name
        self.stand = box.cwd / "stand"
        (self.stand / "midwatch/shim").mkdir(parents=True, exist_ok=True)
        (self.stand / "midwatch/__init__.py").write_text(f"__path__ += [{jobs_launch.ROOT + '/midwatch'!r}]")
        (self.stand / "midwatch/shim/__init__.py").touch()
        (self.stand / "midwatch/shim/shim.py").write_text(STAND)
        paths = {word: box.cwd / f"{name}.{word}" for word in ("mark", "settled", "fifo", "ready", "never")}
        self.mark, self.settled = paths["mark"], paths["settled"]
        for word in ("fifo", "ready", "never"):
            os.mkfifo(paths[word])
        self.fifo = os.open(paths["fifo"], os.O_RDWR | os.O_CLOEXEC)
        self.run = jobs_launch.new_run_id()
        command = ["sh", "-c", work.format_map(paths)]
        self.job = jobs_launch.JobSpec(
            str(box.dir), name, self.run, command, str(box.cwd), {}, policy, foreground=False
        )
        self.trace = b""
        self.released = False
        self.strace: subprocess.Popen[bytes] | None = None

    def launch(self, *, standing: bool = False) -> None:
        lease = start.claim_name(self.job.directory, self.name, self.looker)
        log = start.open_log(self.job)
        null = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        command = [*jobs_launch.shim_command()[:-1], str(self.stand)] if standing else None
        self.shim, self.control = jobs_launch.launch_shim(self.job, lease, (null, log, log), tty=False, command=command)
        for fd in (lease, log, null):
            os.close(fd)

    def launch_traced(self, step: Step | None, number: int) -> None:
        """Launch, with that signal for the shim at that step."""
        self.launch(standing=True)
        os.waitpid(self.shim, os.WUNTRACED)
        inject = ["-e", f"inject={step.call}:signal={number}:when={step.nth}"] if step else []
        command = [tool("strace"), "-y", "-s", "64", *inject, "-p", str(self.shim)]
        self.strace = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.read_trace(STANDS)
        os.kill(self.shim, signal.SIGCONT)

    def untrace(self) -> None:
        """Leave the shim alone, where it stands; nobody reads the trace any more."""
        assert self.strace is not None
        self.strace.terminate()
        self.strace.communicate()
        self.strace = None

    def read_trace(self, until: re.Pattern[bytes] | None = None) -> bool:
        """Read the trace until it shows something; False: it ended before."""
        assert self.strace is not None
        assert self.strace.stderr is not None
        deadline = time.monotonic() + PATIENCE
        while until is None or not until.search(self.trace):
            ready, _, _ = select.select([self.strace.stderr], [], [], deadline - time.monotonic())
            assert ready, f"the shim of {self.name} stands still:\n{self.trace.decode()[-2000:]}"
            more = os.read(self.strace.stderr.fileno(), 65536)
            if not more:
                return False
            self.trace += more
        return True

    @property
    def forked(self) -> list[int]:
        """Pids of what the shim forked: the work, then judges that it asked."""
        calls = re.finditer(rb"^(?:clone|clone3|fork|vfork)\(.*\) += (\d+)$", self.trace, re.MULTILINE)
        return [int(call[1]) for call in calls]

    @property
    def work(self) -> int:
        """Pid of the work, 0 as long as there is none."""
        return next(iter(self.forked), 0)

    @property
    def gate_open(self) -> bool:
        return re.search(rb'^write\(\d+<pipe:\[\d+\]>, "\\n", 1\) += 1$', self.trace, re.MULTILINE) is not None

    @property
    def disturbed(self) -> bool:
        """Something may have ended the work already."""
        return self.released or b"\nkill(" in self.trace

    @property
    def killed(self) -> bool:
        return b"+++ killed by SIGKILL +++" in self.trace

    def witnessed(self) -> str:
        """How the shim saw the work end; empty when it did not."""
        seen = re.search(rb"^wait4\(%d, \[\{(WIFEX.*|WIFSIG.*)\}\]" % self.work, self.trace, re.MULTILINE)
        return seen[1].decode() if seen and self.work else ""

    def let_go(self) -> None:
        """Let the work end, with 0."""
        self.released = True
        os.write(self.fifo, b"\n")

    def until_settled(self) -> None:
        """Wait until the work and its child have come to rest, or were ended before (by a timeout, say)."""
        until(lambda: self.settled.exists() or self.ended(), self.settled.parent)

    def ended(self) -> bool:
        return bool(self.work) and not alive(self.work)

    def reap(self) -> int:
        """Wait for the end of the shim; the signal that ended it, if one did."""
        until_gone(self.shim)
        _, status = os.waitpid(self.shim, 0)
        return os.WTERMSIG(status)

    def verdict(self) -> Verdict:
        return self.looker.verdict(self.name)

    def final(self, within: float = PATIENCE) -> Verdict:
        """The verdict of `midwatch wait --until final`."""
        waited = list(SubjectWait(self.looker, [self.name], WaitOptions(until="final", timeout_s=within)).outcomes())
        assert waited[0].how == "state", f"after {within} s still {waited[0].verdict}"
        return waited[0].verdict

    def record(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(Path(f"{self.job.directory}/{self.name}.json").read_text())
        return found

    def alive(self) -> list[int]:
        """What lives of the work: all that names a file of it in its command line, found without Midwatch."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                if f"{self.files}." in procfs.read_text(f"/proc/{pid}/cmdline") and alive(int(pid)):
                    found.append(int(pid))
        return found

    def close(self) -> None:
        for pid in (self.shim, *self.alive(), *filter(held_at_gate, self.forked)):
            kill(pid, signal.SIGKILL)
        if self.strace is not None:
            self.strace.communicate()
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.shim, 0)
        os.close(self.fifo)
        os.close(self.control)


def held_at_gate(pid: int) -> bool:
    """Whether this is work that has not become its command yet: it bears no mark of its run."""
    try:
        return "midwatch.shim.shim" in procfs.read_text(f"/proc/{pid}/cmdline")
    except OSError:
        return False


# Scenes and their steps ---------------------------------------------------------------------------------------

QUICK_TO_SUSPECT = PATIENT._replace(stale_s=0.1, grace_s=0.0, on_stuck="stop", progress=("output",))
BY_ITSELF = Scene("completed", go_on=Run.let_go)
STOPPED = Scene("stopped", go_on=lambda run: os.kill(run.shim, signal.SIGTERM))
SCENES = {
    "ends by itself": BY_ITSELF,
    "is stopped": STOPPED,
    "times out": Scene("timeout", policy=PATIENT._replace(timeout_s=0.2)),
    "is judged stuck": Scene("stuck", policy=QUICK_TO_SUSPECT, before="kill"),
}


def steps_of(box: Box, scene: Scene) -> list[Step]:
    """Run it unharmed and list its steps: from its beginning, or where that is known, from where it differs.

    A tree that is being stopped is looked at once more or less often from run to run; the shortest is what all have.
    """
    traces = [unharmed(box, scene, f"unharmed-{nth}") for nth in range(1 if scene is BY_ITSELF else 3)]
    trace = min(traces, key=lambda found: found.count(b"\n"))
    held = HELD.search(trace)
    assert held is not None
    steps = list(parsed(trace, held.end()))
    end = [step.call for step in steps].index(scene.before) if scene.before else len(steps)
    return [step for step in steps[:end] if scene is BY_ITSELF or step.held]


def unharmed(box: Box, scene: Scene, name: str) -> bytes:
    """The trace of a run that nobody harms."""
    with contextlib.closing(Run(box, name, scene.policy)) as run:
        run.launch_traced(None, 0)
        assert run.read_trace(HELD), run.trace.decode()
        run.until_settled()
        scene.go_on(run)
        run.read_trace()
        run.reap()
        verdict = run.final()
        assert verdict.state == scene.end, verdict
        return run.trace


def parsed(trace: bytes, held_at: int) -> Iterator[Step]:
    counts: dict[str, int] = {}
    for call in re.finditer(rb"^(\w+)\(.*$", trace, re.MULTILINE):
        name, line = call[1].decode(), call[0].decode()
        counts[name] = counts.get(name, 0) + 1
        changes = name in CHANGES or (name == "openat" and "O_CREAT" in line)
        if changes and not any(path in line for path in LOOKED_AT):
            yield Step(name, counts[name], line, held=call.start() >= held_at)


def walk(steps: list[Step], harm: Callable[[Step], bool]) -> None:
    """Do it at every step and tell what went wrong. ``harm`` says whether the run came to that step.

    Where two processes race (a tree that is being stopped) a call may come one earlier or later than in the run that
    was listed; what must hold must hold there too, but most steps have to be met.
    """
    assert len(steps) > 10, f"a run has more steps than {steps}"
    wrong, met = [], 0
    for step in steps:
        try:
            met += harm(step)
        except AssertionError as error:
            wrong.append(f"killed at {step}: {error}")
        if len(wrong) >= MANY:
            break
    assert not wrong, "\n\n".join(["wrong at these steps, and maybe more:", *wrong])
    assert met >= len(steps) // 2, f"only {met} of {len(steps)} steps were met"


def check_end(run: Run, true_end: str) -> Verdict:
    """What must hold once all that was to end has ended, whoever was killed."""
    for pid in run.forked:
        until_gone(pid)
    verdict = run.final()
    end = None
    if not Path(f"{run.job.directory}/{run.name}.json").exists():
        assert verdict.state == "not_found", verdict
    elif (end := run.record()["end"]) is None:
        assert (verdict.state, verdict.exit_code, verdict.signal) == ("crashed", None, None), verdict
    elif end.get("unsupervised"):  # the kernel told a watcher, whoever has to wait for orphans here
        assert verdict.signal or verdict.exit_code is not None, verdict
        assert (verdict.state == "completed") == (verdict.exit_code == 0), verdict
    else:
        assert verdict.state == true_end, verdict
        assert run.witnessed(), f"{verdict.state} is said of work whose end nobody saw"
    if verdict.state == "completed" and end and end.get("unsupervised"):
        assert run.released, "it waits at its pipe"
    elif verdict.state == "completed":
        assert "WEXITSTATUS(s) == 0" in run.witnessed(), run.witnessed()
    assert run.gate_open or not run.mark.exists(), "the work ran although nothing knew of it"
    unreported = [pid for pid in run.alive() if not any(f"({pid})" in said.says for said in verdict.against)]
    assert not unreported, f"{unreported} live on and the verdict does not say so: {verdict}"
    return verdict


# Walking ------------------------------------------------------------------------------------------------------


def kill_shim(run: Run, scene: Scene, step: Step) -> bool:
    run.launch_traced(step, signal.SIGKILL)
    if step.held and run.read_trace(HELD):
        run.until_settled()
        scene.go_on(run)
    run.read_trace()
    run.reap()
    return run.killed


def stand_still(run: Run, scene: Scene, step: Step) -> bool:
    """Bring the shim to a stand right after a step. False: it has ended instead."""
    run.launch_traced(step, signal.SIGSTOP)
    if step.held and run.read_trace(HELD):
        run.until_settled()
        scene.go_on(run)
    return run.read_trace(STANDS_AGAIN)


@pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES.keys())
def test_a_shim_killed_at_any_step_never_makes_the_verdict_lost_or_wrong(box: Box, scene: Scene) -> None:
    def harm(step: Step) -> bool:
        with contextlib.closing(Run(box, f"{step.call}-{step.nth}", scene.policy)) as run:
            killed = kill_shim(run, scene, step)
            if killed and run.gate_open and not run.disturbed:
                verdict = run.verdict()
                assert verdict.process == "unsupervised", verdict
                assert verdict.state == "working" or scene.end == verdict.state == "stuck", verdict
                assert "unsupervised" in verdict.reason, verdict
            run.let_go()
            check_end(run, scene.end)
            return killed

    walk(steps_of(box, scene), harm)


def test_unsupervised_work_is_stopped_wholly_whenever_its_shim_was_killed(box: Box) -> None:
    def harm(step: Step) -> bool:
        with contextlib.closing(Run(box, f"{step.call}-{step.nth}")) as run:
            kill_shim(run, BY_ITSELF, step)
            if run.gate_open:
                verdict = stop_job(run.looker, run.name)
                assert verdict.state == "stopped", verdict
                assert not run.alive(), f"{run.alive()} were left"
            return True

    walk([step for step in steps_of(box, BY_ITSELF) if not step.held], harm)


def test_a_stop_takes_the_whole_tree_at_once_although_the_shim_is_killed_meanwhile(box: Box) -> None:
    callers: list[subprocess.Popen[str]] = []
    scene = STOPPED._replace(go_on=lambda run: callers.append(box.start("stop", run.name)))

    def caller_ends() -> str:
        with callers.pop() as caller:
            try:
                return "".join(caller.communicate(timeout=SOON))
            except subprocess.TimeoutExpired:
                caller.kill()
                raise AssertionError(f"`midwatch stop` goes on for {SOON} s") from None

    def harm(step: Step) -> bool:
        with contextlib.closing(Run(box, f"{step.call}-{step.nth}")) as run:
            killed = kill_shim(run, scene, step)
            if not callers:  # a call more than in the run that was listed: it was killed before a stop was asked for
                return False
            said = caller_ends()
            assert not run.alive(), f"{run.alive()} were left; it said {said}"
            return killed

    steps = steps_of(box, scene)
    while callers:
        caller_ends()
    walk(steps, harm)


@pytest.mark.parametrize("scene", [BY_ITSELF, STOPPED], ids=["ends by itself", "is stopped"])
def test_work_killed_at_any_step_is_told_of_by_its_shim(box: Box, scene: Scene) -> None:
    def harm(step: Step) -> bool:
        with contextlib.closing(Run(box, f"{step.call}-{step.nth}")) as run:
            stood = stand_still(run, scene, step)
            hit = alive(run.work) and not step.held if run.work else False
            if run.work:
                kill(run.work, signal.SIGKILL)
            kill(run.shim, signal.SIGCONT)
            if not run.work and run.read_trace(HELD):
                run.until_settled()
                scene.go_on(run)
            run.read_trace()
            run.reap()
            verdict = check_end(run, "crashed" if hit else scene.end)
            assert verdict.final, verdict
            assert not hit or verdict.signal == signal.SIGKILL, verdict
            return stood

    walk(steps_of(box, scene), harm)


@pytest.mark.parametrize("scene", [BY_ITSELF, STOPPED], ids=["ends by itself", "is stopped"])
def test_shim_and_work_killed_together_at_any_step_are_never_a_success_that_was_not_seen(
    box: Box, scene: Scene
) -> None:
    def harm(step: Step) -> bool:
        with contextlib.closing(Run(box, f"{step.call}-{step.nth}")) as run:
            stood = stand_still(run, scene, step)
            for pid in (run.work, run.shim):
                if pid:
                    kill(pid, signal.SIGKILL)
            run.read_trace()
            run.reap()
            check_end(run, scene.end)
            return stood

    walk(steps_of(box, scene), harm)


def test_from_its_first_step_on_the_shim_needs_nothing_that_an_upgrade_could_take_away(box: Box) -> None:
    with contextlib.closing(Run(box, "job")) as run:
        run.launch_traced(None, 0)
        run.read_trace(HELD)
        run.let_go()
        run.read_trace()
        run.reap()
        opened = re.findall(r'^openat\(.*"(.*)", O_RDONLY', run.trace.decode(), re.MULTILINE)
        result = "./drop/job/job.result"  # what the work may have left
        assert [path for path in opened if path != result and not path.startswith(("/proc/", "/dev/"))] == []


def test_a_stop_that_comes_before_the_work_has_begun_is_not_lost_on_it(box: Box) -> None:
    steps = steps_of(box, BY_ITSELF)
    gate = next(at for at, step in enumerate(steps) if '"\\n", 1)' in step.line)
    with contextlib.closing(Run(box, "job")) as run:
        assert stand_still(run, BY_ITSELF, steps[gate - 1]), run.trace.decode()
        until(lambda: letter(run.work) == "S")  # it waits at the gate
        os.kill(run.work, signal.SIGSTOP)
        until(lambda: letter(run.work) == "T")
        run.untrace()
        os.kill(run.shim, signal.SIGTERM)
        os.kill(run.shim, signal.SIGCONT)
        verdict = run.final(within=SOON)
        assert (verdict.state, verdict.signal) == ("stopped", signal.SIGTERM), verdict


def test_a_child_that_is_forked_while_the_tree_is_being_stopped_is_asked_to_end_too(box: Box) -> None:
    first = next(step for step in steps_of(box, STOPPED) if step.call == "kill")
    work = (
        f"late() {{{{ {ORPHAN}; echo > {{mark}}; exit; }}}}; trap late TERM; echo > {{settled}}; read line < {{fifo}}"
    )
    with contextlib.closing(Run(box, "job", work=work)) as run:
        assert stand_still(run, STOPPED, first), run.trace.decode()
        until(run.mark.exists, box.cwd)
        run.untrace()
        os.kill(run.shim, signal.SIGCONT)
        verdict = run.final(within=SOON)
        assert verdict.state == "stopped", verdict


def test_work_that_names_our_own_program_is_ours_to_stop_all_the_same(box: Box) -> None:
    with contextlib.closing(Run(box, "job", work=f": midwatch.shim.shim; {WORK}")) as run:
        run.launch()
        run.until_settled()
        os.kill(run.shim, signal.SIGTERM)
        verdict = run.final(within=SOON)
        assert verdict.state == "stopped", verdict


# Any signal ---------------------------------------------------------------------------------------------------

UNUSUAL = {signal.SIGSTOP, signal.SIGCONT, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU}
HARMLESS = {signal.SIGCHLD, signal.SIGWINCH, signal.SIGURG}
ENDING = sorted({*map(signal.Signals, range(1, 32)), signal.Signals(signal.SIGRTMIN)} - UNUSUAL - HARMLESS)
"""Signals whose default is the end of a process."""
STOPS = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT]
CRASHES = [
    signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGSYS,
    signal.SIGTRAP,
]  # fmt: skip


@pytest.fixture
def job(box: Box) -> Iterator[Run]:
    with contextlib.closing(Run(box, "job")) as run:
        run.launch()
        run.until_settled()
        yield run


@pytest.mark.parametrize("number", STOPS, ids=lambda number: number.name)
def test_a_signal_that_asks_the_shim_to_end_stops_the_whole_tree(job: Run, number: signal.Signals) -> None:
    os.kill(job.shim, number)
    verdict = job.final()
    assert verdict.state == "stopped", verdict
    assert not job.alive(), f"{job.alive()} were left"


@pytest.mark.parametrize("number", CRASHES, ids=lambda number: number.name)
@pytest.mark.usefixtures("heir")
def test_a_signal_that_crashes_the_shim_leaves_the_work_unsupervised(
    box: Box, job: Run, number: signal.Signals
) -> None:
    os.kill(job.shim, number)
    assert job.reap() == number
    verdict = job.verdict()
    assert (verdict.state, verdict.process) == ("working", "unsupervised"), verdict
    work = box.pids("job")[1]
    with waiter(box, "job") as process:
        box.until_file("job.seen", lambda text: '"outlived": true' in text)
        job.let_go()
        done = finish(process)
    assert (done.json["state"], done.json["exit_code"]) == ("completed", 0), done
    reap(work)


@pytest.mark.parametrize(
    "number", [*(n for n in ENDING if n not in {*STOPS, *CRASHES}), *HARMLESS], ids=lambda number: number.name
)
def test_any_other_signal_to_the_shim_changes_nothing(job: Run, number: signal.Signals) -> None:
    os.kill(job.shim, number)
    job.let_go()
    verdict = job.final()
    assert (verdict.state, verdict.exit_code) == ("completed", 0), verdict


@pytest.mark.parametrize("number", ENDING, ids=lambda number: number.name)
def test_a_signal_that_ends_the_work_is_a_crash_by_that_signal(box: Box, job: Run, number: signal.Signals) -> None:
    os.kill(box.pids("job")[1], number)
    verdict = job.final()
    assert (verdict.state, verdict.signal, verdict.exit_code) == ("crashed", number, None), verdict
