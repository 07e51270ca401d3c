"""What a shim writes down: the record, its notes for every face to judge from, a line per event, a breaker's outcomes.

A leaf like the shim's others: standard library only. The world may refuse a write (a full disk, a directory that is
gone); the work goes on all the same, so everything here is tried once and quietly, but for the end, which is kept by
the shim until it could be written.
"""

from __future__ import annotations

import os
import time

from dogwatch import proc
from dogwatch.lean import append, dumps, write_atomic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

SCHEMA = 1


def quietly(do: Callable[..., object], *args: object) -> None:
    """The world may refuse (no such process, disk full, nobody listens); the work goes on all the same."""
    try:
        do(*args)
    except OSError:
        pass


def opened(head: dict[str, Any], started: float) -> dict[str, Any]:
    """The record of a run that is about to begin (monotonic)."""
    return {
        **head, "host": os.uname().nodename, "boot": proc.boot_id(), "pidns": proc.pid_namespace(),
        "started": time.time(), "started_mono": started, "attempt_mono": started, "next_mono": None, "attempts": [],
        "shim": {"pid": os.getpid(), "start": proc.start_time(os.getpid())}, "work": None,
        "states": [["starting", time.time()]], "notes": [], "end": None,
    }  # fmt: skip


class Notebook:
    """The files of one run of a job."""

    def __init__(self, directory: str, record: dict[str, Any]) -> None:
        self.record = record
        self.run: str = record["run"]
        self.name: str = record["name"]
        self.base = f"{directory}/{self.name}"
        self.spool_path = f"{directory}/spool/{self.name}.{self.run}.jsonl"
        breaker = record["breaker"]
        self.breaker_path = f"{directory}/breakers/{breaker['key']}.jsonl" if breaker else ""
        self.lines = 0

    def enter(self, state: str, *, save: bool = True) -> None:
        self.record["states"].append([state, time.time()])
        if save:
            quietly(self.write_record)

    def remark(self, note: str) -> bool:
        """Write down what could not be done; false when it was before."""
        if note in self.record["notes"]:
            return False
        self.record["notes"].append(note)
        quietly(self.write_record)
        return True

    def write_record(self) -> None:
        write_atomic(self.base + ".json", dumps(self.record) + "\n")

    def write_seen(self, seen: dict[str, object]) -> None:
        text = dumps({"schema": SCHEMA, "run": self.run, "boot": self.record["boot"], **seen})
        quietly(write_atomic, self.base + ".seen", text + "\n")

    def spool(self, event: str, **more: object) -> None:
        self.lines += 1
        at = time.time()
        line = {"schema": SCHEMA, "run": self.run, "n": self.lines, "at": at, "mono": time.monotonic(),
                "name": self.name, "event": event, **more}  # fmt: skip
        line["at"] = at  # an end that is told has a time of its own
        quietly(append, self.spool_path, dumps(line) + "\n")

    def outcome(self, state: str) -> None:
        """How an attempt ended, for the breaker that it runs under."""
        if self.breaker_path:
            line = {"schema": SCHEMA, "at": time.time(), "what": "outcome", "run": self.run, "name": self.name,
                    "attempt": self.record["attempt"], "state": state}  # fmt: skip
            quietly(append, self.breaker_path, dumps(line) + "\n")

    def forget(self, *suffixes: str) -> None:
        """What an attempt left must not speak for the next one."""
        for suffix in suffixes:
            quietly(os.unlink, self.base + suffix)
