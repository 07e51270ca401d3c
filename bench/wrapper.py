"""What wrapping a command costs: the shim, agentic-process-monitor's bash wrapper, task-spooler."""

import os
import random
import subprocess
from collections.abc import Callable, Iterator
from statistics import median

from bench.anchors import TaskSpooler, wrap
from bench.stage import Stage, kill
from bench.table import Row, at_most, in_ms, informs, ratio_at_most
from bench.waiting import PATIENCE, end_of, now
from midwatch.core.policy import PATIENT
from midwatch.jobs import launch, start
from midwatch.jobs.job_directory import JobDirectory

ROUNDS = 40
CAPTURES = 8
WRAPPER_CAPTURES = 5
WRAPPER = "agentic-process-monitor's wrapper"
WORKING = "sleep 0.2"
"""Work that is captured lasts a little: else it ends before the wrapper's heartbeat loop is at its first `sleep 10`."""


def rows(stage: Stage) -> Iterator[Row]:
    slow = WrapperCaptures(stage)
    captured = [captured_by_bash(stage) for _ in range(CAPTURES)]
    wrapper_captured = slow.collect()
    spooler = TaskSpooler(stage)
    directory, theirs, whole = stage.dir("shim"), stage.dir("wrapper"), stage.dir("run")
    looker = JobDirectory(directory, PATIENT)
    run = [stage.program, "run", "--dir", whole, "--name"]
    kinds: dict[str, Callable[[str], list[float]]] = {
        "shim": lambda name: [shim_alone(looker, name)],
        "wrapper": lambda name: [wrapper_alone(stage, theirs, name)],
        "tsp": lambda _: spooler.sample(),
        "run": lambda name: [stage.time(*run, name, "--", "/bin/true")],
        "plain": lambda _: [stage.time("/bin/true")],
    }
    taken: dict[str, list[float]] = {kind: [] for kind in kinds}
    order, chance = list(kinds), random.Random(1)
    for number in range(ROUNDS):
        chance.shuffle(order)
        for kind in order:
            taken[kind] += kinds[kind](f"job{number}")
    spooler.end()
    anchor = in_ms(WRAPPER, taken["wrapper"])
    note = f"{ROUNDS} rounds of /bin/true; alone it takes {median(taken['plain']) * 1000:.1f} ms"
    yield ratio_at_most("shim, /bin/true", median(taken["shim"]) * 1000, "ms", 5, anchor, note)._replace(goal="<= 5 x")
    yield informs("shim, beside task-spooler", median(taken["shim"]) * 1000, "ms", in_ms("tsp -nf", taken["tsp"]))
    yield informs("`midwatch run -- /bin/true`, whole", median(taken["run"]) * 1000, "ms", anchor)
    held = in_ms(WRAPPER, wrapper_captured)
    note = "x=$(…), 0.2 s of work that leaves a child holding stdout; the wrapper is held by its own `sleep 10`"
    yield at_most("work's end -> captured output returns", median(captured) * 1000, "ms", 50, held, note)


def shim_alone(looker: JobDirectory, name: str) -> float:
    """From launch, as `midwatch run` does it, to the end of the shim."""
    directory = looker.directory
    job = launch.JobSpec(
        directory=directory, name=name, run=launch.new_run_id(), command=["/bin/true"], cwd=directory, env={},
        policy=looker.policy, foreground=False,
    )  # fmt: skip
    lease, null = start.claim_name(directory, name, looker), os.open(os.devnull, os.O_RDONLY)
    log = start.open_log(job)
    began = now()
    shim = launch.launch_shim(job, lease, (null, log, log), tty=False)
    _, status = os.waitpid(shim.pid, 0)
    took = now() - began
    for fd in (shim.control, lease, log, null):
        os.close(fd)
    if status or not os.path.exists(f"{directory}/{name}.status"):
        raise RuntimeError("the shim did not do its work")
    return took


def wrapper_alone(stage: Stage, directory: str, step: str) -> float:
    began = now()
    wrapper = stage.start(*wrap(directory, step, "/bin/true"), stdout=subprocess.DEVNULL, start_new_session=True)
    ended, _ = end_of(wrapper)
    end_group(wrapper.pid)
    return ended - began


def end_group(leader: int) -> None:
    """agentic-process-monitor's wrapper leaves its `sleep 10` behind, in the group that it was started in."""
    try:
        os.killpg(leader, 9)
    except ProcessLookupError:
        pass


def captured_by_bash(stage: Stage) -> float:
    """Seconds between the work's last word and the return of x=$(midwatch run …) to the shell that captures it."""
    work = f"sleep 20 & child=$!; {WORKING}; echo $child $EPOCHREALTIME"
    command = f"x=$('{stage.program}' run --dir '{stage.dir('captured')}' -- bash -c '{work}'); echo $x $EPOCHREALTIME"
    out, _ = stage.start("bash", "-c", command).communicate(timeout=PATIENCE)
    child, ended, returned = out.split()
    kill(int(child))
    return float(returned) - float(ended)


class WrapperCaptures:
    """The same of agentic-process-monitor's wrapper, a few at once: each takes the ten seconds of its `sleep 10`."""

    def __init__(self, stage: Stage) -> None:
        self.running = [stage.start("bash", "-c", self.capture(stage)) for _ in range(WRAPPER_CAPTURES)]

    def capture(self, stage: Stage) -> str:
        wrapper = " ".join(wrap(stage.dir("captured"), "job", "bash", "-c"))
        return f"x=$({wrapper} '{WORKING}; echo $EPOCHREALTIME'); echo $x $EPOCHREALTIME"

    def collect(self) -> list[float]:
        taken = []
        for one in self.running:
            ended, returned = one.communicate(timeout=PATIENCE)[0].split()
            taken.append(float(returned) - float(ended))
        return taken
