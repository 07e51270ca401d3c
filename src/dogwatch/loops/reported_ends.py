"""What machines report of their sessions over MQTT, written into the rows that are about them."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

from dogwatch.formats.mqtt import Told
from dogwatch.judge import rows as single
from dogwatch.judge.drift import iso
from dogwatch.model.errors import FormatError
from dogwatch.model.registry import RUNNING, Change, DriftReport, Registry, Row, Set
from dogwatch.model.verdict import FINAL
from dogwatch.store.registry import RegistryFile

ENDED, VERDICT = "ended", "verdict"
GONE = ("crashed", "stopped")
"""States in which a session is over, whoever says so. After any other verdict it may go on."""


class ReportedEnds:
    """The reports that concern one list."""

    def __init__(self, file: RegistryFile, workspace: str, host: str) -> None:
        self._file, self._workspace, self._host = file, workspace, host

    def write(self, events: Sequence[Told]) -> tuple[bool, tuple[DriftReport, ...]]:
        """Whether the list was changed, and the ends among the changes."""
        ends: list[DriftReport] = []
        now = iso(time.time())

        def decide(listed: Registry) -> list[Change]:
            ends.clear()
            running = [row for row in listed.rows if row.status == RUNNING]
            about = {row.at: (row, told) for told in events for row in running if self._is_about(told, row)}
            changes = list[Change]()
            for row, told in about.values():
                if told.host != self._host and is_end(told):
                    drift = single.reported_end(row, told.host, told.state, now)
                    ends.append(DriftReport(drift, applied=True))
                    changes.append(Set(row.at, drift.after))
                else:
                    changes.append(Set(row.at, {"last_visible_status": told.state}))
            return changes

        refused: list[tuple[Change, FormatError]] = []
        written = self._file.update(decide, refused=refused)
        not_made = {change.at for change, _ in refused if isinstance(change, Set)}
        found = [end._replace(applied=_at(end) not in not_made) for end in ends]
        return bool(written), tuple(found)

    def _is_about(self, told: Told, row: Row) -> bool:
        if row.name != told.name:
            return False
        if told.host != self._host:
            return row.data.get("host") == told.host
        return row.is_on(self._host) and _related(told.project, self._workspace)


def is_end(told: Told) -> bool:
    """Whether a report says that a session is over. That a turn or a task is done says nothing of its session."""
    if told.kind != "session" or told.state not in FINAL:
        return False
    return told.event == ENDED or (told.event == VERDICT and told.state in GONE)


def _at(report: DriftReport) -> int:
    assert isinstance(report.drift.change, Set)
    return report.drift.change.at


def _related(one: str, other: str) -> bool:
    """Whether one of two directories lies in the other."""
    one, other = os.path.realpath(one), os.path.realpath(other)
    return os.path.commonpath((one, other)) in (one, other)
