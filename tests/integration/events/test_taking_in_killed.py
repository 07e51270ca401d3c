"""Whoever takes in is killed before each of its steps: the next one finds everything, and nothing twice.

The product has no hook for this: a taking is traced once, and then repeated once per system call that changes the disk,
with a SIGKILL in its place (`strace -e inject`).
"""

from __future__ import annotations

import re
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import PATIENCE, tool
from tests.integration.events.spooling import TAKE_ONCE, line, prepared, start, taken

CHANGES = ("pwrite64", "write", "fsync", "fdatasync", "ftruncate", "link", "unlink")


def first_taking(directory: Path) -> None:
    """Two runs, one of them over, the other cut off in the middle and at its end; there is no journal yet."""
    (directory / "spool/job.r1.jsonl").write_text(
        "".join(f"{line('r1', n)}\n" for n in (1, 2)) + line("r1", 3, "ended") + "\n"
    )
    torn = f"{line('r2', 1)}\n{line('r2', 2)[:30]}{line('r2', 3)}\n{line('r2', 4)[:30]}"
    (directory / "spool/job.r2.jsonl").write_text(torn)


def later_taking(directory: Path) -> None:
    """There is a journal, and it has the beginning."""
    first_taking(directory)
    assert len(taken(directory)) == 6
    (directory / "spool/job.r3.jsonl").write_text(line("r3", 1) + "\n" + line("r3", 2, "ended") + "\n")
    with (directory / "spool/job.r2.jsonl").open("a") as spool:
        spool.write(line("r2", 4)[30:] + "\n")


EXPECTED = {"first_taking": 6, "later_taking": 9}
"""Events; one of them says what cannot be read."""


def trace(directory: Path, log: Path, *inject: str) -> int:
    """Take in, watched. Returns how it ended."""
    watched = (tool("strace"), "-qq", "-y", "-o", str(log), "-e", f"trace={','.join(CHANGES)}", *inject)
    with start(TAKE_ONCE, str(directory), before=watched) as process:
        return process.wait(PATIENCE * 2)


def steps(log: Path, directory: Path) -> list[tuple[str, int, str]]:
    """Call, how many of that name there were until then, and the line, for each step that touches the directory."""
    found, counts = [], dict.fromkeys(CHANGES, 0)
    for row in log.read_text().splitlines():
        call = row.split("(")[0]
        if call in counts:
            counts[call] += 1
            if str(directory) in row:
                found.append((call, counts[call], row))
    return found


@pytest.mark.parametrize("scene", [first_taking, later_taking], ids=lambda scene: scene.__name__)
def test_a_taking_that_is_killed_at_any_step_loses_nothing(tmp_path: Path, scene: Callable[[Path], None]) -> None:
    unharmed = prepared(tmp_path / "unharmed")
    scene(unharmed)
    assert trace(unharmed, tmp_path / "trace") == 0
    found = steps(tmp_path / "trace", unharmed)
    assert len(found) > 10, found
    expected = sorted(((event.run, event.n) for event in taken(unharmed)), key=str)
    assert len(expected) == EXPECTED[scene.__name__]
    killed = 0
    for call, nth, row in found:
        directory = prepared(tmp_path / f"{call}-{nth}")
        scene(directory)
        ended = trace(directory, tmp_path / "log", "-e", f"inject={call}:signal=KILL:when={nth}")
        killed += ended == -signal.SIGKILL
        known = [(event.run, event.n) for event in taken(directory)]
        assert sorted(known, key=str) == expected, f"killed at {row}"
        assert [path.name for path in (directory / "spool").iterdir()] == ["job.r2.jsonl"], f"killed at {row}"
        assert [path.name for path in directory.glob(".journal*")] == [], f"killed at {row}"
        shutil.rmtree(directory)
    assert killed == len(found), f"only {killed} of {len(found)} steps were met"


@pytest.mark.parametrize("scene", [first_taking, later_taking], ids=lambda scene: scene.__name__)
def test_a_spool_goes_only_once_the_journal_is_on_the_disk(tmp_path: Path, scene: Callable[[Path], None]) -> None:
    directory = prepared(tmp_path / "jobs")
    scene(directory)
    assert trace(directory, tmp_path / "trace") == 0
    rows = [row for _, _, row in steps(tmp_path / "trace", directory)]
    gone = next(at for at, row in enumerate(rows) if re.match(r'unlink\(".*/spool/', row))
    log = [row for row in rows[:gone] if "journal.sqlite-wal>" in row and "/." not in row]
    assert log[-1].startswith(("fsync", "fdatasync")), log[-3:]
    assert any(row.startswith("pwrite64") for row in log)
