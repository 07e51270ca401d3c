"""Processes that spool as shims do, processes that take in, and what must be true of a journal afterwards."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from pathlib import Path

from midwatch.config import paths
from midwatch.core.event import Event
from midwatch.jobs.launch import ROOT
from midwatch.journal.journal import Journal
from midwatch.system import atomic_files

BEFORE = "import os, random, sys; sys.path.insert(0, sys.argv.pop(1)); from midwatch.system import atomic_files"
WRITER = f"""
{BEFORE}
directory, name, truth, pace, seed = sys.argv[1:]
chance, told = random.Random(seed), os.open(truth, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
pace = os.open(pace, os.O_RDONLY)
for number in range(1000000):
    run, last = f"{{name}}-{{number:06d}}", chance.randint(1, 60)
    for n in range(1, last + 1):
        os.read(pace, 1)
        line = {{"schema": 1, "run": run, "n": n, "at": 1000.0 + n, "name": name,
                "event": "ended" if n == last else "moved", "reason": "x" * chance.randint(0, 500)}}
        atomic_files.append(f"{{directory}}/spool/{{name}}.{{run}}.jsonl", atomic_files.dumps(line) + "\\n")
        os.write(told, f"{{run}} {{n:04d}}\\n".encode())
"""
"""Runs without end, one after the other, a line for each byte of a pipe; each line that is spooled it writes down."""
TAKER = f"""
{BEFORE}
from midwatch.journal.journal import Journal
while True:
    journal = Journal(sys.argv[1])
    for _ in range(random.randint(1, 5)):
        journal.take_in()
    journal.close()
"""
TAKE_ONCE = f"""
{BEFORE}
from midwatch.journal.journal import Journal
journal = Journal(sys.argv[1])
journal.take_in()
journal.close()
"""


def start(script: str, *arguments: str, before: tuple[str, ...] = ()) -> subprocess.Popen[bytes]:
    return subprocess.Popen([*before, sys.executable, "-I", "-S", "-c", script, ROOT, *arguments])


def line(run: str, n: int, event: str = "moved", name: str = "job", **more: object) -> str:
    return atomic_files.dumps({"schema": 1, "run": run, "n": n, "at": 1000.0 + n, "name": name, "event": event, **more})


def prepared(directory: Path) -> Path:
    """A directory of ours in which nothing has run yet."""
    paths.prepare_directory(str(directory))
    return directory


def taken(directory: Path) -> list[Event]:
    """Everything that is in the journal once all is taken in."""
    with contextlib.closing(Journal(str(directory))) as journal:
        journal.take_in()
        return journal.after(0, most=1 << 30)


def whole_lines(directory: Path) -> list[tuple[str, int]]:
    """Run and number of every whole line that stands in a spool, read without Midwatch's own readers."""
    found = []
    for path in sorted((directory / "spool").glob("*.jsonl")):
        for text in path.read_bytes().split(b"\n")[:-1]:
            row = json.loads(text)
            found.append((row["run"], row["n"]))
    return found
