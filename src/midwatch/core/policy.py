"""How patient to be with one subject, and what to do when patience ends."""

from __future__ import annotations

from midwatch.core.value import Value

PROGRESS_SOURCES = ("output", "cpu", "io", "beat", "heartbeat")
CLOCKS = ("life", "final")


class Policy(Value):
    name: str
    stale_s: float
    """Seconds without any progress before the work is suspected."""
    grace_s: float
    """Seconds that a suspicion must last before the word is `stuck`."""
    timeout_s: float | None
    """Seconds after which the work is ended; None: it may take as long as it likes."""
    heartbeat_s: float
    """Seconds between the shim's own signs of life; below half of `stale_s`."""
    on_stuck: str
    """`report` or `stop`."""
    progress: tuple[str, ...]
    """Sources that count as progress, of PROGRESS_SOURCES."""
    clock: str = "life"
    """Of CLOCKS, what a status line that shows the time is worth. `final`: whoever shows a new one is not stuck."""

    def written(self) -> dict[str, object]:
        """For a file; what only watchers of sessions need is there when it was asked for."""
        found = self._asdict()
        return found if self.clock != "life" else {key: value for key, value in found.items() if key != "clock"}


PATIENT = Policy("patient", 600.0, 30.0, None, 20.0, "report", ("output", "cpu", "io", "beat"))
STRICT = Policy("strict", 60.0, 30.0, 1800.0, 10.0, "stop", ("output", "cpu", "io", "beat"))
SESSION = Policy("session", 1e9, PATIENT.grace_s, None, PATIENT.heartbeat_s, "report", ())
"""For whoever keeps the process of a session: an agent may be silent at its prompt for as long as it likes.

Whether its turn makes progress is judged from its pane and its own files, by the policy of whoever watches it.
"""
POLICIES = {policy.name: policy for policy in (PATIENT, STRICT)}
