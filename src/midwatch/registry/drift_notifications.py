"""New drifts of the session registry are noted and sent to the channels that want them."""

from __future__ import annotations

from midwatch.notifications import drift as notifications_drift
from midwatch.notifications.drift import NotedDrift
from midwatch.registry.model import DriftReport


def format_report(report: DriftReport) -> str:
    """A drift in one line: what was found, and what was done about it, will be, or would be."""
    drift = report.drift
    if not drift.deed or report.applied:
        return f"{drift.message} {drift.deed}".rstrip()
    if not drift.wait_s:
        return f"{drift.message} Would be {drift.deed.lower()}"
    deed = drift.deed.lower().rstrip(".")
    return f"{drift.message} Will be {deed} unless its row changes within {drift.wait_s:.0f} s."


def record_drifts(path: str, project: str, new: tuple[DriftReport, ...]) -> str:
    """Note new drifts and send them. Returns what could not be done: they are true all the same."""
    noted = [
        NotedDrift(
            each.drift.kind, each.drift.session, format_report(each), each.drift.before, each.drift.after, each.applied,
            each.repeated, has_change=each.drift.change is not None,
        )
        for each in new
    ]  # fmt: skip
    return notifications_drift.record_drifts(project, noted, {"registry": path})
