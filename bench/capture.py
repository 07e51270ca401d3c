"""Writing down what a pane shows: 100 MB of lines, and what an agent draws, beside a program that only strips."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from bench.stage import HERE, Stage
from bench.table import NO_ANCHOR, Anchor, Figure, Row, at_most, informs, ratio_at_most
from bench.waiting import now, runtime_ns
from midwatch.sessions import spawn
from tests.lab import casts

LINES = 100 << 20
REDRAWS = 4 << 20
RECORDING = Path(HERE).parent / "tests/goldens/terminal/codex-0.166.0.cast"
KINDS = {
    "plain": b"%d some ordinary line of output, as a compiler or a run of tests prints it\r\n",
    "coloured": b"\x1b[32m%d some\x1b[0m ordinary line of \x1b[1moutput\x1b[m, as a compiler prints it\r\n",
}
SETTLE, SPAN = 1.0, 5.0
TURNS = 2
"""Each is measured so often, in turns; the quicker counts, for the machine may be busy with something else."""


def rows(stage: Stage) -> Iterator[Row]:
    directory = stage.dir("capture")
    for kind, line in KINDS.items():
        path = f"{directory}/{kind}"
        with open(path, "wb") as file:
            size = 0
            for block in range(0, 1 << 30, 10_000):
                size += file.write(b"".join(line % number for number in range(block, block + 10_000)))
                if size >= LINES:
                    break
        ours, deaf, theirs = each(stage, path)
        anchor = Anchor("stripping only", Figure(theirs, "s"))
        note = f"CPU, the quicker of {TURNS} in turns; the log is bounded, and theirs is not"
        yield ratio_at_most(f"100 MB of {kind} lines captured", ours, "s", 1.05, anchor, note)
        without = Anchor("without reading reports", Figure(deaf, "s"))
        note = "CPU; what the program reports of itself (OSC 7501) is looked for in all of it"
        yield ratio_at_most(f"100 MB of {kind} lines captured, reports read", ours, "s", 1.05, without, note)
        os.unlink(path)
    yield at_rest(stage, directory)
    recorded = b"".join(piece for _, piece in casts.read(RECORDING).pieces)
    path = f"{directory}/redraws"
    with open(path, "wb") as file:
        file.write(recorded * (REDRAWS // len(recorded) + 1))
    ours, _, theirs = each(stage, path)
    note = "a screen is kept, and only what is new on it is written; 20 s of Codex are 0.07 MB"
    yield informs("4 MB of an agent's redraws captured", ours, "s", Anchor("stripping only", Figure(theirs, "s")), note)


def at_rest(stage: Stage, directory: str) -> Row:
    """What captures a silent pane, its handshake still open, as of an agent that has not drawn anything yet."""
    open(f"{directory}/rest.log", "wb").close()
    command = spawn.capture_command(f"{directory}/rest.log", f"{directory}/rest.status", "never")
    process = stage.start(*command, os.devnull, stdin=subprocess.PIPE)
    time.sleep(SETTLE)
    began, before = now(), runtime_ns(process.pid)
    time.sleep(SPAN)
    share = (runtime_ns(process.pid) - before) / 1e9 / (now() - began) * 100
    assert process.stdin is not None
    process.stdin.close()
    process.wait()
    return at_most("capture of a silent pane: CPU", share, "% of a core", 0.05, NO_ANCHOR, f"for {SPAN:.0f} s")


def each(stage: Stage, path: str) -> tuple[float, float, float]:
    """CPU seconds for a file that comes through a pipe: of our capture, of one that reads no reports, of a stripper."""
    log = f"{path}.log"
    ours: list[float] = []
    deaf: list[float] = []
    theirs: list[float] = []
    for _ in range(TURNS):
        for figures, status in ((ours, f"{path}.status"), (deaf, "")):
            open(log, "wb").close()
            figures.append(spent(stage, path, [*spawn.capture_command(log, status, "")[1:], os.devnull]))
        theirs.append(spent(stage, path, ["-I", "-S", f"{HERE}/stripper.py", f"{log}.stripped"]))
        os.unlink(f"{log}.stripped")
    return min(ours), min(deaf), min(theirs)


def spent(stage: Stage, path: str, program: list[str]) -> float:
    source = stage.start("cat", path)
    process = stage.start(sys.executable, *program, stdin=source.stdout, stdout=subprocess.DEVNULL)
    assert source.stdout is not None
    source.stdout.close()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    source.wait()
    if process.returncode:
        raise RuntimeError(f"{program} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime
