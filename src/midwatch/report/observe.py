"""Reads how the jobs and sessions of a directory are now, and until when somebody has seen them."""

from __future__ import annotations

import os

from midwatch.config import paths
from midwatch.core.job_model import Record
from midwatch.core.policy import SESSION
from midwatch.core.verdict import Verdict
from midwatch.jobs import listing, monitor_store
from midwatch.jobs.job_directory import JobDirectory
from midwatch.notifications import report_change
from midwatch.report.model import PresentState
from midwatch.subjects import snapshot
from midwatch.system import procfs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Say = Callable[[str], None]

def present_states(looker: JobDirectory, say: Say) -> dict[str, PresentState]:
    """How everything is that is still there. A directory of others is only read as far as its journal goes."""
    if others := paths.find_sharing(looker.directory):
        say(f"{others}; only its journal is read")
        return {}
    try:
        verdicts = snapshot.add_session_turns(looker, listing.list_verdicts(looker), say)
    except OSError as error:
        say(f"cannot read {looker.directory}: {error.strerror}")
        return {}
    return {verdict.name: _present_state(looker, verdict) for verdict in verdicts}


def _present_state(looker: JobDirectory, verdict: Verdict) -> PresentState:
    record = looker.facts(verdict.name).record
    if record is None:
        return PresentState("", verdict)
    base = f"{looker.directory}/{verdict.name}"
    return PresentState(
        run=record.run, verdict=verdict, agent=record.agent, began=record.started,
        session=record.policy.name == SESSION.name, seen_until=_seen_until(base, record, verdict),
        monitor=_acting_monitor(base, record.run),
        reach=report_change.change_subject(record).attach if record.pane and not verdict.final else "",
    )  # fmt: skip


def _seen_until(base: str, record: Record, verdict: Verdict) -> float | None:
    """Until when its shim has shown that it lives; None while it does."""
    if verdict.process in ("alive", "suspended") and not verdict.final:
        return None
    if record.end is not None:
        return record.end.at
    try:
        return os.stat(f"{base}.heartbeat").st_mtime
    except OSError:
        return record.started


def _acting_monitor(base: str, run: str) -> str:
    """The monitor that watches this run at this moment, as it names itself in the journal; empty where none does."""
    watch = monitor_store.read_state(base, run)
    if watch is None or watch.verdict is not None or watch.boot != procfs.boot_id():
        return ""
    pid, start = watch.monitor
    return f"{pid}-{start}" if start and procfs.start_time(pid) == start else ""
