"""What other machines report of their sessions over MQTT.

Nothing proves who has sent a message. So it is written into a row only if the user accepts that from the row's machine
(`accept_unsigned` of `[mqtt]`). Of any other the end is a drift that is told and not written. What a message says of a
session on this machine is never written: it causes a look, and the look tells.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from midwatch.core.errors import FormatError
from midwatch.core.value import Value
from midwatch.core.verdict import FINAL
from midwatch.integrations.mqtt.codec.messages import SubjectEvent
from midwatch.registry.model import RUNNING, Change, Drift, DriftReport, Registry, RegistryRow, SetFields, iso
from midwatch.registry.rules import row as single
from midwatch.registry.store import RegistryFile

ENDED, VERDICT = "ended", "verdict"
GONE = ("crashed", "stopped")
"""States in which a session is over, whoever says so. After any other verdict it may go on."""


class ReportedDrifts(Value):
    """What the reports of some events came to."""

    written: bool
    """The list was changed."""
    ends: tuple[DriftReport, ...]
    """Ends that were written, or that could not be."""
    claims: dict[tuple[str, str], Drift]
    """Ends that may not be written, by session and host."""


class ReportedEnds:
    """The reports that concern one list."""

    def __init__(self, file: RegistryFile, host: str, accepted: tuple[str, ...]) -> None:
        """``host``: this machine. ``accepted``: others that are believed."""
        self._file, self._host, self._accepted = file, host, accepted

    def write(self, events: Sequence[SubjectEvent]) -> ReportedDrifts:
        ends: list[DriftReport] = []
        claims: dict[tuple[str, str], Drift] = {}
        now = iso(time.time())

        def decide(listed: Registry) -> list[Change]:
            ends.clear()
            claims.clear()
            running = [row for row in listed.rows if row.status == RUNNING]
            ends_last = sorted(
                events, key=is_session_end
            )  # what else is told of a session takes its end back from nobody
            about = {row.at: (row, told) for told in ends_last for row in running if self._is_about(told, row)}
            changes = list[Change]()
            for row, told in about.values():
                if told.host not in self._accepted:
                    if is_session_end(told):
                        claims[row.name, told.host] = single.claimed_end_drift(row, told.host, told.state)
                elif is_session_end(told):
                    drift = single.reported_end_drift(row, told.host, told.state, now)
                    ends.append(DriftReport(drift, applied=True))
                    changes.append(SetFields(row.at, drift.after))
                else:
                    changes.append(SetFields(row.at, {"last_visible_status": told.state}))
            return changes

        refused: list[tuple[Change, FormatError]] = []
        written = self._file.update(decide, refused=refused)
        not_made = {change.at for change, _ in refused if isinstance(change, SetFields)}
        found = [end._replace(applied=_row_position(end) not in not_made) for end in ends]
        return ReportedDrifts(bool(written), tuple(found), claims)

    def _is_about(self, told: SubjectEvent, row: RegistryRow) -> bool:
        return told.host != self._host and (row.name, row.data.get("host")) == (told.name, told.host)


def is_session_end(told: SubjectEvent) -> bool:
    """Whether a report says that a session is over. That a turn or a task is done says nothing of its session."""
    if told.kind != "session" or told.state not in FINAL:
        return False
    return told.event == ENDED or (told.event == VERDICT and told.state in GONE)


def _row_position(report: DriftReport) -> int:
    assert isinstance(report.drift.change, SetFields)
    return report.drift.change.at
