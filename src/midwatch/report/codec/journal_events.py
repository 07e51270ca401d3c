"""Events of the journal as a report reads them. What somebody else has written there may be anything."""

from __future__ import annotations

from midwatch.core.event import Event
from midwatch.core.foreign_text import ForeignText
from midwatch.core.policy import SESSION
from midwatch.core.text import signal_name
from midwatch.report.model import Occurrence

READ = (
    "started", "stuck", "moved", "lost", "suspended", "continued", "attempt", "retrying", "ended", "observed",
    "resumed", "watched",
)  # fmt: skip
"""Events that tell what a subject did."""


def decode_event(event: Event) -> Occurrence:
    said = event.fields
    policy = said.get("policy")
    session = isinstance(policy, dict) and policy.get("name") == SESSION.name
    seconds, attempt = said.get("seconds"), said.get("attempt")
    return Occurrence(
        name=event.name, run=event.run, at=event.at, event=event.event, state=_text(said.get("state")),
        cause=_text(said.get("cause")), reason=ForeignText(_text(said.get("reason")) or _exit_words(said)),
        monitor=_text(said.get("monitor")), session=session,
        seconds=float(seconds) if isinstance(seconds, int | float) else 0.0,
        attempt=attempt if isinstance(attempt, int) else 1,
    )  # fmt: skip


def _exit_words(said: dict[str, object]) -> str:
    code, number = said.get("exit_code"), said.get("signal")
    if isinstance(number, int):
        return f"killed by {signal_name(number)}"
    return f"exit {code}" if isinstance(code, int) else ""


def _text(found: object) -> str:
    return found if isinstance(found, str) else ""
