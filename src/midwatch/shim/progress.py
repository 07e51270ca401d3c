"""What of the work has moved, and when: what a shim notes for every face to judge from. A leaf of the shim."""

from __future__ import annotations

import os
import time

from midwatch.shim import drop_box
from midwatch.system import procfs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class ProgressTracker:
    """The sources of progress of one job, and what has come of their silence."""

    def __init__(self, base: str, policy: dict[str, Any]) -> None:
        self.base = base
        self.drop = drop_box.base_path(*os.path.split(base))
        """The same for what the work writes itself."""
        self.wanted = set(policy["progress"])
        self.stale: float = policy["stale_s"]
        self.look_every = max(policy["heartbeat_s"], self.stale / 10, procfs.RATE_SPAN)
        self.sources: procfs.Sources = {}
        self.began = self.looked_at = 0.0
        self.stale_since: float | None = None
        self.stuck = False
        self.helper = 0
        """Pid of the judge that runs beside us; what it uses is not the work's."""
        self.own_cpu = self.own_io = 0.0

    def begin(self, now: float) -> None:
        """A new attempt: silence is reckoned from now."""
        self.began = self.looked_at = now
        self.stale_since, self.stuck = None, False
        self.sources = dict.fromkeys(self.wanted - procfs.RATES.keys(), (0.0, now, now))
        procfs.update_sources(self.sources, {**self.cheap_sample(), **self.deep_sample()}, now)

    def cheap_sample(self) -> dict[str, float]:
        output = procfs.sample_files(self.base, self.wanted & {"output"})
        return output | procfs.sample_files(self.drop, self.wanted - {"output"})

    def forget_words(self) -> None:
        """What an attempt has said must not speak for the next one."""
        for suffix in (".result", ".beat"):
            try:
                os.unlink(self.drop + suffix)
            except OSError:
                pass

    def deep_sample(self) -> dict[str, float]:
        if not self.wanted & procfs.RATES.keys():
            return {}
        cpu, io = procfs.measure_consumption(
            os.getpid(), own=False, helper=self.helper, own_cpu=self.own_cpu, own_io=self.own_io
        )
        return {name: value for name, value in (("cpu", cpu), ("io", io)) if name in self.wanted}

    def moments(self) -> dict[str, float]:
        return {name: moved for name, (_, _, moved) in self.sources.items()}

    def last(self) -> float:
        return max(self.moments().values(), default=self.began)

    def observe(self, now: float, *, deep: bool) -> bool:
        """See what moved; true when there is something new to note.

        The process tree is looked at only once all is silent for half the threshold.
        """
        known = dict(self.sources)
        procfs.update_sources(self.sources, self.cheap_sample(), now)
        half_silent = now - self.last() >= self.stale / 2
        if deep or (half_silent and now - self.looked_at >= self.look_every):
            self.looked_at = now
            procfs.update_sources(self.sources, self.deep_sample(), now)
        return self.sources != known

    def shift(self, gap: float) -> None:
        """Lost time does not count: every moment that silence is reckoned from moves along."""
        self.sources = {k: (value, at + gap, moved + gap) for k, (value, at, moved) in self.sources.items()}
        if self.stale_since is not None:
            self.stale_since += gap

    def account(self) -> tuple[float, float]:
        """CPU seconds and bytes of all that was reaped so far, as everyone else sees them too."""
        return procfs.cpu_seconds(procfs.stat_fields(os.getpid()), own=False), procfs.io_bytes(os.getpid())

    def take_out(self, before: tuple[float, float]) -> None:
        """What was reaped since was one of ours, not the work."""
        after = self.account()
        self.own_cpu += after[0] - before[0]
        self.own_io += after[1] - before[1]

    def snapshot_fields(self) -> dict[str, object]:
        return {
            "at": time.monotonic(), "stale_since": self.stale_since, "stuck": self.stuck,
            "sources": {k: {"value": v, "at": at, "moved": moved} for k, (v, at, moved) in self.sources.items()},
            "helper": self.helper, "own_cpu_s": self.own_cpu, "own_io": self.own_io,
        }  # fmt: skip
