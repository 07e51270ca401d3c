"""What tests of breakers share: a past that a breaker remembers, and runs that end as they are told."""

from __future__ import annotations

import json
import time
from typing import Any

from midwatch.breaker import codec as breaker_codec
from midwatch.breaker.model import AttemptOutcome, Happening, Started, Void
from tests.conftest import Box, Done, kill, until_gone

HOUR = 3600.0
LONG = ("sleep", "300")


def plant(box: Box, key: str, *happened: Happening) -> None:
    """Write down a past."""
    (box.dir / "breakers").mkdir(mode=0o700, parents=True, exist_ok=True)
    box.dir.chmod(0o700)
    with (box.dir / f"breakers/{key}.jsonl").open("a") as file:
        file.writelines(breaker_codec.encode_happening(each) for each in happened)


def failures(number: int, *, ago: float, name: str = "old") -> list[Happening]:
    """Runs that failed, and of which nothing more is to come."""
    at = time.time() - ago
    found: list[Happening] = []
    for n in range(number):
        run = f"{name}{n}"
        found += [Started(at, run, name, trial=False), AttemptOutcome(at, run, name, 1, "failed"), Void(at, run)]
    return found


def plant_open(box: Box, key: str = "key", *, ago: float) -> None:
    plant(box, key, *failures(3, ago=ago))


def run(box: Box, *command: str, key: str = "key", options: tuple[str, ...] = (), name: str = "job") -> Done:
    """Run a command under a breaker to its end, or to its refusal."""
    return box("run", "--breaker", key, "--name", name, *options, "--", *command)


def detached(box: Box, name: str, *command: str, key: str = "key", options: tuple[str, ...] = ()) -> Done:
    return box("run", "-d", "--breaker", key, "--name", name, *options, "--", *command)


def murder(box: Box, name: str) -> None:
    """End shim and work, so that nobody is left to say how it ended."""
    for pid in box.pids(name):
        kill(pid, 9)
        until_gone(pid)


def status(box: Box, key: str = "key") -> dict[str, Any]:
    return box("breaker", "status", key, "--json").json


def lines(box: Box, key: str = "key") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (box.dir / f"breakers/{key}.jsonl").read_text().splitlines()]
