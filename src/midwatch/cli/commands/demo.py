"""`midwatch demo`: the main job, with real processes, in under twenty seconds."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
import tempfile
import time

from midwatch.cli import output
from midwatch.cli.parser import Options
from midwatch.core.policy import PATIENT
from midwatch.core.value import Value
from midwatch.core.verdict import Verdict
from midwatch.jobs import launch, start
from midwatch.jobs.job_directory import JobDirectory
from midwatch.jobs.stop import stop_job
from midwatch.jobs.wait_model import WaitOptions
from midwatch.subjects.wait import SubjectWait
from midwatch.system import processes

IMPATIENT = PATIENT._replace(name="demo", stale_s=4.0, grace_s=2.0, heartbeat_s=1.0)
SELF = f"{shlex.quote(sys.executable)} -P -m midwatch"


class Part(Value):
    name: str
    says: str
    script: str
    on_stuck: str = "report"


PARTS = (
    Part(
        "report",
        "succeeds and leaves a result",
        f"sleep 1; echo '{{\"pages\": 12}}' | {SELF} beat --note 'all written' --result -",
    ),
    Part("tests", "fails", "sleep 2; echo '1 failed, 41 passed'; exit 1"),
    Part(
        "hung",
        "hangs, with a grandchild that left its group; to be stopped when stuck",
        "echo connecting; (setsid sleep 1000 &); while :; do sleep 1; done",
        on_stuck="stop",
    ),
    Part(
        "crunch",
        "computes for 11 s without a word; to be left alone",
        f"{shlex.quote(sys.executable)} -c 'import time; e = time.monotonic() + 11\nwhile time.monotonic() < e: pass'",
    ),
)


def main(options: Options) -> int:
    del options
    directory = tempfile.mkdtemp(prefix="midwatch-demo-")
    looker = JobDirectory(directory, IMPATIENT)
    try:
        return _print_demo(looker)
    finally:
        for part in PARTS:  # Ctrl-C leaves nothing behind
            stop_job(looker, part.name)
        shutil.rmtree(directory)


def _print_demo(looker: JobDirectory) -> int:
    print("Four jobs, started in the background. A job counts as stuck after 4 s without progress and 2 s of grace.\n")
    began = time.monotonic()
    runs = {}
    for part in PARTS:
        runs[part.name] = _start_job(looker, part)
        print(f"  {part.name:<7} {part.says}")
    print("\nOne `wait` on all four; each line as it comes:\n", flush=True)
    for outcome in SubjectWait(looker, [part.name for part in PARTS], WaitOptions(until="final")).outcomes():
        _print_end(looker, outcome.verdict, time.monotonic() - began)
    left = [pid for run in runs.values() for pid in processes.find_run_processes(run)]
    print(f"\nProcesses left of all four: {len(left)}. Nothing was polled: the kernel woke `wait` each time.")
    return 1 if left else 0


def _start_job(looker: JobDirectory, part: Part) -> str:
    job = launch.JobSpec(
        directory=looker.directory,
        name=part.name,
        run=launch.new_run_id(),
        command=["sh", "-c", part.script],
        cwd=os.getcwd(),
        env={},
        policy=IMPATIENT._replace(on_stuck=part.on_stuck),
        foreground=False,
    )
    start.start_detached(job, looker)
    return job.run


def _print_end(looker: JobDirectory, verdict: Verdict, elapsed: float) -> None:
    seen = time.time()
    record = looker.facts(verdict.name).record
    assert record is not None
    assert record.end is not None
    result = f"  result {json.dumps(verdict.result)}" if verdict.result is not None else ""
    noticed = (seen - record.end.at) * 1000
    print(f"  {elapsed:5.1f}s  {verdict.name:<7} {output.colour_state(verdict.state, 10)} {verdict.reason}{result}")
    print(f"{'':18}noticed {noticed:.1f} ms after it had ended", flush=True)
