"""A job whose shim and work are gone, and whose end nobody wrote down: what can still be found out about it."""

from __future__ import annotations

import os

from midwatch.core.foreign_text import ForeignText
from midwatch.core.job_model import Alive, ProgressSnapshot, Record, StopRequest
from midwatch.jobs.codec import sentinel
from midwatch.shim.terminate import build_end
from midwatch.system import exit_status, processes, procfs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

BEATS_MISSED = 2
"""Heartbeats after whose time a shim that has not beaten was certainly gone."""


def find_survivors(record: Record) -> tuple[tuple[ForeignText, int], ...]:
    """Processes of a run that are still there: name and pid."""
    left = [pid for pid in processes.find_run_processes(record.run) if not procfs.is_shared(pid, record.spare)]
    return tuple((ForeignText(procfs.command_name(pid)), pid) for pid in left)


class LostJob:
    def __init__(
        self, base: str, record: Record, stop: StopRequest | None, held: exit_status.HeldProcess | None
    ) -> None:
        self.base = base
        self.record = record
        self.stop = stop
        self.held = held
        self.survivors = find_survivors(record)
        self.end: dict[str, Any] | None = None
        """How it ended, as a record holds it, where the kernel tells or a stop has begun."""

    def outlived(self, seen: ProgressSnapshot | None) -> bool:
        """Whether the work ended after its shim: a watcher saw it, or it wrote when its shim beat no more."""
        if seen is not None and seen.outlived:
            return True
        if "heartbeat" in self.record.policy.progress:  # the work's own to touch
            return False
        try:
            beat, output = (os.lstat(f"{self.base}.{suffix}").st_mtime for suffix in ("heartbeat", "log"))
        except OSError:
            return False
        return output - beat > self.record.policy.heartbeat_s * BEATS_MISSED

    def worked_out(self, elapsed: float) -> Record:
        """The record with the end that a stop gives the work, or the exit status that the kernel still tells."""
        if self.stop is not None and isinstance(self.stop.by, Alive):
            return self.record  # whoever stops it will say so
        status = self._status()
        if status is None and self.stop is None:
            return self.record
        asked = None if self.stop is None else (self.stop.state, str(self.stop.cause), self.stop.reason)
        left = [pid for _, pid in self.survivors]
        end = build_end(status, 0, asked, elapsed, left, agent=self.record.pane is not None)
        self.end = {**end, "unsupervised": True}
        return self.record._replace(end=sentinel.decode_end(self.end))

    def _status(self) -> int | None:
        if self.record.pane is not None:
            return None  # with its shim an agent loses its terminal: however it ended then, it was not its own doing
        which = self.record.work.pid, self.record.work.start
        found = self.held.status() if self.held is not None and self.held.process == which else None
        return exit_status.read_zombie_status(*which) if found is None else found
