"""What a shim says: to the `midwatch run` that started it, and by way of others to whoever wants to know. A leaf.

Notices are delivered by a process of its own (`midwatch _deliver`), which looks for itself: it is started once the
files say what became of the work, and nobody waits for it. A channel that hangs can neither delay nor change a verdict.
"""

from __future__ import annotations

import os

from midwatch.shim.fork import start_beside
from midwatch.shim.run_files import RunFiles, ignore_os_errors
from midwatch.system.atomic_files import UNSENT
from midwatch.system.due_time import read_due_time

LATE = 30.0
"""Seconds that a monitor, or the sender that stays, has first."""
BETWEEN = 60.0
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def record_pending_end(directory: str, name: str, run: str) -> None:
    """Note that an end will have to be sent, while that can be written: at the end the disk may be full."""
    for part in ("outbox", UNSENT):
        if not os.path.isdir(f"{directory}/{part}"):
            os.mkdir(f"{directory}/{part}", 0o700)
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    os.close(os.open(f"{directory}/{UNSENT}/{name}.{run}", flags, 0o600))


class ParentChannel:
    def __init__(self, notes: RunFiles, control: int, teller: list[str] | None) -> None:
        self.notes = notes
        self.control = control
        self.teller = teller
        """What has somebody told; None where nobody is to be."""
        self.ended = False
        self.soonest = 0.0
        """Monotonic moment before which it starts no other sender for what is due."""
        self.tellers: set[int] = set()
        """Those that it started and that have not ended; what they use is not the work's."""

    def say(self, line: str) -> None:
        """Speak to the `midwatch run` that started us, if it still listens."""
        ignore_os_errors(os.write, self.control, (line + "\n").encode("utf-8", "replace"))

    def say_end(self, end: dict[str, Any]) -> None:
        """How it ended, once."""
        if self.ended:
            return
        self.ended = True
        self.say("\t".join(["ended", *(str(end[key]) for key in ("state", "exit_code", "signal", "cause", "reason"))]))

    def promise(self) -> None:
        """Whoever comes by sends what nobody could send at the end."""
        if self.teller:
            ignore_os_errors(record_pending_end, os.path.dirname(self.notes.base), self.notes.name, self.notes.run)

    def reap(self) -> None:
        """Wait for those that have ended, where nobody else does."""
        for pid in [*self.tellers]:
            if os.waitpid(pid, os.WNOHANG)[0]:
                self.tellers.remove(pid)

    def catch_up(self, now: float) -> None:
        """At each heartbeat: write what could not be written, and have sent what is late."""
        self.notes.catch_up()
        self.send_due(now)

    def send_due(self, now: float) -> None:
        """Start the sender if something in the outbox is due, and whoever should have sent it is late."""
        if not self.teller or now < self.soonest:
            return
        due = read_due_time(f"{os.path.dirname(self.notes.base)}/outbox/.due", self.notes.record["boot"])
        if due is not None and due[0] <= -LATE:
            self.soonest = now + BETWEEN
            self.notify()

    def notify(self) -> None:
        """Have somebody told how it is now."""
        if self.teller:
            try:
                self.tellers.add(start_beside(self.teller))
            except OSError as error:
                self.notes.spool("undelivered", reason=f"nobody could be told: {error.strerror}")
