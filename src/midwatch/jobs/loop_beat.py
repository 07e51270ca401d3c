"""A long-running verb beats for the job that it runs in, after each pass of its loop.

So `midwatch run -d -- midwatch monitor api` is working as long as its loop goes round, however silent the session is,
and stuck when a pass does not come to its end. Nothing else beats for it: no timer, no thread. Outside a job, and in
one for which beats are no progress (a session is such a job: its agent is judged by its pane), nothing is written and
nobody is woken.
"""

from __future__ import annotations

import _thread
import os
import time

from midwatch.config import sentinel_files
from midwatch.core import names
from midwatch.core.errors import FormatError
from midwatch.jobs.codec import sentinel
from midwatch.shim import beat_file, drop_box

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection

NEVER = float("inf")
LEAST, MOST = 3, 30
"""How many beats fit into the time after which the job is suspected: no fewer, and no more however often it passes."""


class LoopBeat:
    """The job is looked up once. ``watched``: names of a directory; who waits for its own job makes no progress.

    Only the first thread of a program beats: that another one waits does not tell that the program makes progress.
    """

    def __init__(self, directory: str = "", watched: Collection[str] = ()) -> None:
        self._dir, self._name, self._run = (os.environ.get(f"MIDWATCH_{key}", "") for key in ("DIR", "NAME", "RUN"))
        state = drop_box.find_state_directory(self._dir, self._name)
        itself = self._name in watched and os.path.realpath(state) == os.path.realpath(directory)
        self._stale = NEVER if itself or _thread.get_native_id() != os.getpid() else self._threshold()
        self._last = -NEVER

    def after_pass(self, until: float = NEVER) -> float:
        """A pass is over: beat. Returns when the next must begin: at ``until``, or sooner to beat in time."""
        if self._stale == NEVER:
            return until
        now = time.monotonic()
        if now >= self._last + self._stale / MOST:
            self._last = now
            beat_file.renew_beat(self._dir, self._name, self._run)
        return min(until, self._last + self._stale / LEAST)

    def after_each(self, asked: Callable[[], bool]) -> Callable[[], bool]:
        """The same question, for a loop that asks it once in each pass."""

        def answer() -> bool:
            self.after_pass()
            return asked()

        return answer

    def _threshold(self) -> float:
        """Seconds without progress after which our job is suspected; NEVER where a beat is of no use."""
        if not (self._dir and self._run) or names.find_problem(self._name):
            return NEVER
        if (owner := drop_box.read_owner(self._dir)) is not None:
            try:
                return float(owner[1]) if owner[0] == self._run else NEVER
            except ValueError:  # its beats do not count
                return NEVER
        try:  # a job of an earlier release
            record = sentinel.decode_record(sentinel_files.read(f"{self._dir}/{self._name}.json") or "")
        except FormatError:
            return NEVER
        counts = record.run == self._run and "beat" in record.policy.progress
        return record.policy.stale_s if counts else NEVER
