"""What a shim writes down: the record, its notes for every face to judge from, a line per event, a breaker's outcomes.

A leaf like the shim's others: standard library only. The world may refuse a write (a full disk, one that is
read-only); the work goes on all the same, and what could not be written is kept until it can be.
"""

from __future__ import annotations

import os
import time

from midwatch.shim import drop_box
from midwatch.system import procfs
from midwatch.system.atomic_files import StateDirectory, append, dumps, make_durable, write_atomic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

SCHEMA = 1
AGAIN = 1.0
"""Seconds until what could not be written is tried again."""
PATIENCE = 60.0
"""Seconds that a job which has ended waits for readers to find it."""
MOST_KEPT = 10_000
"""Lines that are kept while they cannot be written; of more, the oldest are given up."""


def ignore_os_errors(do: Callable[..., object], *args: object) -> None:
    """The world may refuse (no such process, disk full, nobody listens); the work goes on all the same."""
    try:
        do(*args)
    except OSError:
        pass


def new_record(head: dict[str, Any], started: float) -> dict[str, Any]:
    """The record of a run that is about to begin (monotonic)."""
    return {
        **head, "host": os.uname().nodename, "boot": procfs.boot_id(), "pidns": procfs.pid_namespace(),
        "timens": procfs.time_namespace(),
        "started": time.time(), "started_mono": started, "attempt_mono": started, "next_mono": None, "attempts": [],
        "shim": {"pid": os.getpid(), "start": procfs.start_time(os.getpid())}, "work": None,
        "states": [["starting", time.time()]], "notes": [], "end": None,
    }  # fmt: skip


class RunFiles:
    """The files of one run of a job."""

    def __init__(self, directory: str, record: dict[str, Any]) -> None:
        self.record = record
        self.run: str = record["run"]
        self.name: str = record["name"]
        self.directory = directory
        self.base = f"{directory}/{self.name}"
        self.spool_path = f"{directory}/spool/{self.name}.{self.run}.jsonl"
        breaker = record["breaker"]
        self.breaker_path = f"{directory}/breakers/{breaker['key']}.jsonl" if breaker else ""
        self.lines = 0
        self.unwritten: list[tuple[str, str]] = []
        """Lines, each with the file that it belongs to."""
        self.unsaved: set[str] = set()
        """Files that do not hold what they should: `record`, `seen`."""
        self.seen = ""

    def enter(self, state: str, *, save: bool = True) -> None:
        self.record["states"].append([state, time.time()])
        if save:
            self.save_record()

    def remark(self, note: str) -> bool:
        """Write down what could not be done; false when it was before."""
        if note in self.record["notes"]:
            return False
        self.record["notes"].append(note)
        self.save_record()
        return True

    def save_record(self) -> None:
        """Write the record now, or as soon as that can be done."""
        self.unsaved.add("record")
        self.catch_up()

    def catch_up(self) -> bool:
        """Write what could not be written before. False: some of it still cannot."""
        ignore_os_errors(self._append_lines)
        if "record" in self.unsaved:
            ignore_os_errors(self.write_record)
        if "seen" in self.unsaved:
            ignore_os_errors(self._save_seen)
        return not self.unwritten and not self.unsaved

    def _append_lines(self) -> None:
        while self.unwritten:
            try:
                append(*self.unwritten[0])
            except FileNotFoundError:
                pass  # its directory was removed: nobody will read it
            del self.unwritten[0]

    def _save_seen(self) -> None:
        write_atomic(self.base + ".seen", self.seen)
        self.unsaved.discard("seen")

    def write_record(self) -> None:
        write_atomic(self.base + ".json", dumps(self.record) + "\n")
        self.unsaved.discard("record")

    def make_drop_box(self) -> None:
        """Where the work may write. Raises OSError."""
        policy = self.record["policy"]
        patience = policy["stale_s"] if "beat" in policy["progress"] else None
        drop_box.prepare_box(self.directory, self.name, self.run, patience)

    def write_end(self, home: StateDirectory) -> Iterator[None]:
        """Write result, record and status for good; yields each second in which that cannot be done."""
        assert self.record["end"] is not None
        result, trouble = drop_box.read_result(self.directory, self.name) if "drop" in self.record else (None, "")
        self.record["notes"] += [trouble] if trouble else []
        status = "SUCCESS\n" if self.record["end"]["state"] == "completed" else "FAILED\n"
        for suffix, text in ((".result", result), (".json", dumps(self.record) + "\n"), (".status", status)):
            while text is not None and not home.write(self.base + suffix, text):
                yield
                time.sleep(AGAIN)
        self.unsaved.clear()

    def wait_for_readers(self, home: StateDirectory, *, told_of: bool) -> None:
        """Until all is written, and if it is to be told of, until those who look by its path find it."""
        until = time.monotonic() + PATIENCE
        while not (self.catch_up() and (not told_of or home.is_in_place())):
            if home.is_removed() or time.monotonic() >= until:
                return
            time.sleep(AGAIN)

    def make_durable(self) -> None:
        for suffix in (".json", ".status"):
            ignore_os_errors(make_durable, self.base + suffix)

    def write_seen(self, seen: dict[str, object]) -> None:
        self.seen = dumps({"schema": SCHEMA, "run": self.run, "boot": self.record["boot"], **seen}) + "\n"
        self.unsaved.add("seen")
        self.catch_up()

    def spool(self, event: str, **more: object) -> None:
        self.lines += 1
        at = time.time()
        line = {"schema": SCHEMA, "run": self.run, "n": self.lines, "at": at, "mono": time.monotonic(),
                "name": self.name, "event": event, **more}  # fmt: skip
        line["at"] = at  # an end that is told has a time of its own
        self.keep(self.spool_path, dumps(line) + "\n")

    def keep(self, path: str, line: str) -> None:
        """Add a line to a file now, or as soon as that can be done."""
        self.unwritten.append((path, line))
        del self.unwritten[:-MOST_KEPT]
        self.catch_up()

    def outcome(self, state: str) -> None:
        """How an attempt ended, for the breaker that it runs under."""
        if self.breaker_path:
            line = {"schema": SCHEMA, "at": time.time(), "what": "outcome", "run": self.run, "name": self.name,
                    "attempt": self.record["attempt"], "state": state}  # fmt: skip
            self.keep(self.breaker_path, dumps(line) + "\n")

    def forget(self, *suffixes: str) -> None:
        """What an attempt left must not speak for the next one."""
        for suffix in suffixes:
            ignore_os_errors(os.unlink, self.base + suffix)
