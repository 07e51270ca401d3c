"""Many write the registry at once and are killed in the middle of it: nothing is lost, and the file is always whole."""

from __future__ import annotations

import random
import selectors
import signal
import subprocess
import sys
import time
from pathlib import Path

from midwatch.registry.codec import registry_file as text_of
from midwatch.registry.model import Registry
from midwatch.registry.store import RegistryFile

PATIENCE = 120.0
WRITERS, LIVES = 10, 4
"""Each is killed in all of its lives but the last."""
COMMENTS = ["# Sessions of the lab: do not remove.", "# the first", "# in the row", "# at the end"]
TEXT = f"""\
{COMMENTS[0]}
sessions:
  - name: person  {COMMENTS[1]}
    status: stopped
    {COMMENTS[2]}
    resumable: true
{COMMENTS[3]}
"""
WRITER = """\
import fcntl, os, random, signal, sys
from midwatch.registry.model import AddRow, SetFields
from midwatch.registry.store import RegistryFile

path, me, seed, mortal = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4] == "mortal"
chance = random.Random(seed)

def risky(call):
    def either(*arguments, **named):
        for moment in ("before", "after"):
            if mortal and chance.random() < 0.02:
                os.kill(os.getpid(), signal.SIGKILL)
            if moment == "before":
                found = call(*arguments, **named)
        return found
    return either

for name in ("open", "unlink", "rename", "fsync", "fchmod", "stat", "close"):
    setattr(os, name, risky(getattr(os, name)))
fcntl.flock = risky(fcntl.flock)

def decide(rows):
    own = [row for row in rows.rows if row.name.startswith(me + "-")]
    count = [SetFields(own[0].at, {"count": len(own) + 1})] if own else []
    return [*count, AddRow(f"{me}-{len(own) + 1}", {"status": "running", "pane": {"pid": os.getpid()}})]

file, writes = RegistryFile(path), 0
while mortal or writes < 3:
    print(file.update(decide)[-1].name, flush=True)
    writes += 1
"""


class Writers:
    """Ten processes, their lives, and what each of them was told to be written."""

    def __init__(self, path: Path, seed: int) -> None:
        self.path = path
        self.chance = random.Random(seed)
        self.ready = selectors.DefaultSelector()
        self.lives = [0] * WRITERS
        self.acknowledged: list[str] = []
        self.ends: list[int] = []

    def start(self, number: int) -> None:
        self.lives[number] += 1
        how = "mortal" if self.lives[number] < LIVES else "to the end"
        seed = str(self.chance.random())
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(self.path), f"w{number}", seed, how], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        self.ready.register(process.stdout, selectors.EVENT_READ, (number, process))

    def next(self, deadline: float) -> None:
        """One line or one end; now and then the writer of a line is killed, wherever it is by now."""
        events = self.ready.select(deadline - time.monotonic())
        assert events, "the writers stand still"
        for key, _ in events:
            number, process = key.data
            if line := process.stdout.readline():
                self.acknowledged.append(line.strip())
                if self.lives[number] < LIVES and self.chance.random() < 0.1:
                    process.kill()
                continue
            self.ready.unregister(process.stdout)
            process.stdout.close()
            self.ends.append(process.wait())
            if self.lives[number] < LIVES:
                self.start(number)

    @property
    def working(self) -> bool:
        return bool(self.ready.get_map())


def whole(path: Path) -> Registry:
    text = path.read_text()
    assert [line.strip() for line in text.splitlines() if line.strip().startswith("#")] == [
        COMMENTS[0], *COMMENTS[2:]
    ]  # fmt: skip
    assert f"  - name: person  {COMMENTS[1]}\n    status: stopped\n" in text
    return text_of.parse_registry(text)


def test_ten_writers_that_are_killed_lose_no_row_no_comment_and_no_file(tmp_path: Path) -> None:
    path, backup = tmp_path / "agent-sessions.yaml", tmp_path / "agent-sessions.yaml.bak"
    path.write_text(TEXT)
    path.chmod(0o640)
    writers = Writers(path, seed=7)
    for number in range(WRITERS):
        writers.start(number)
    deadline = time.monotonic() + PATIENCE
    while writers.working:
        writers.next(deadline)
        whole(path)
        if backup.exists():
            whole(backup)
    names = [row.name for row in whole(path).rows]
    assert set(writers.acknowledged) <= set(names)
    assert len(names) == len(set(names))
    counts = {
        name: len([each for each in names if each.startswith(f"{name}-")]) for name in {f"w{n}" for n in range(10)}
    }
    for row in RegistryFile(str(path)).read().rows:
        if row.name.endswith("-1"):
            assert row.data.get("count", 1) == counts[row.name.removesuffix("-1")]
    assert sum(counts.values()) == len(names) - 1
    assert writers.ends.count(-signal.SIGKILL) == WRITERS * (LIVES - 1)
    assert writers.ends.count(0) == WRITERS
    assert path.stat().st_mode & 0o777 == 0o640
    left = {each.name for each in tmp_path.iterdir()}
    assert left == {"agent-sessions.yaml", "agent-sessions.yaml.bak", "agent-sessions.yaml.lock"}
