"""A recorded session: one JSON line per look, with only what changed since the look before.

The first line is a header. A line with `truth` is no observation: whoever drove the agent wrote down what was really
going on, from what the model's server did, so that verdicts can be compared with it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from dogwatch.model.errors import FormatError
from dogwatch.model.session import Pane, Report, Sighting, Task
from dogwatch.model.value import Value

VERSION = 1
PLAIN = "|"


class Truth(Value):
    """What was really going on from a moment on."""

    at: float
    """Seconds since the recording began."""
    turn: str
    detail: str
    by: str
    """Who knows: what the model's server or the driver did."""


class Header(Value):
    agent: str
    version: str
    scenario: str
    """What was being done, in a word."""


class Writer:
    """Sightings to lines."""

    def __init__(self) -> None:
        self.began: float | None = None
        self.pane: dict[str, object] = {}
        self.rows: tuple[str, ...] = ()
        self.styles: tuple[str, ...] = ()
        self.tasks: list[list[object]] = []
        self.reports: dict[str, object] = {}

    def header(self, header: Header) -> str:
        return _dump({"dogwatch": "timeline", "v": VERSION, **header._asdict()})

    def line(self, seen: Sighting) -> str:
        if self.began is None:
            self.began = seen.now
        found: dict[str, object] = {"at": round(seen.now - self.began, 3), "wall": round(seen.wall, 3)}
        pane = seen.pane._asdict()
        if changed := {key: value for key, value in pane.items() if key not in self.pane or self.pane[key] != value}:
            found["pane"] = changed
        if len(seen.rows) != len(self.rows):
            found["height"], self.rows = len(seen.rows), ("",) * len(seen.rows)
        if rows := {str(n): row for n, row in enumerate(seen.rows) if row != self.rows[n]}:
            found["rows"] = rows
        if seen.styles != self.styles:
            found["styles"] = {str(n): style for n, style in enumerate(seen.styles) if style != PLAIN}
            self.styles = seen.styles
        tasks = [list(task) for task in seen.tasks]
        if tasks != self.tasks:
            found["tasks"] = tasks
        reports: dict[str, object] = {
            each.source: {"at": each.at, "words": each.words, "trouble": each.trouble} for each in seen.reports
        }
        if reports != self.reports:
            found["reports"] = reports
        self.pane, self.rows, self.tasks, self.reports = pane, seen.rows, tasks, reports
        return _dump(found)


def truth_line(truth: Truth) -> str:
    return _dump({"at": round(truth.at, 3), "truth": truth.turn, "detail": truth.detail, "by": truth.by})


def _dump(found: dict[str, object]) -> str:
    return json.dumps(found, ensure_ascii=False, separators=(",", ":"))


def read(lines: Iterable[str], path: str) -> Iterator[Header | Sighting | Truth]:
    """The header, then sightings and truths in the order of their times."""
    reader: _Reader | None = None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            found = json.loads(line)
            if reader is None:
                if found.get("dogwatch") != "timeline" or found.get("v") != VERSION:
                    raise FormatError(f"{path}:{number}: not a timeline of version {VERSION}")
                reader = _Reader(str(found["agent"]))
                yield Header(str(found["agent"]), str(found.get("version", "")), str(found.get("scenario", "")))
            elif "truth" in found:
                yield Truth(float(found["at"]), found["truth"], found.get("detail", ""), found.get("by", ""))
            else:
                yield reader.sighting(found)
        except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
            raise FormatError(f"{path}:{number}: not a line of a timeline: {error!r}") from None


class _Reader:
    def __init__(self, agent: str) -> None:
        self.agent = agent
        self.pane: dict[str, Any] = {}
        self.rows: list[str] = []
        self.styles: tuple[str, ...] = ()
        self.tasks: tuple[Task, ...] = ()
        self.reports: tuple[Report, ...] = ()

    def sighting(self, found: dict[str, Any]) -> Sighting:
        self.pane |= found.get("pane", {})
        if "height" in found:
            self.rows = [""] * int(found["height"])
        for number, row in found.get("rows", {}).items():
            self.rows[int(number)] = row
        if "styles" in found:
            self.styles = tuple(found["styles"].get(str(n), PLAIN) for n in range(len(self.rows)))
        if "tasks" in found:
            self.tasks = tuple(_task(each) for each in found["tasks"])
        if "reports" in found:
            told: dict[str, dict[str, Any]] = found["reports"]
            self.reports = tuple(
                Report(source, each["at"], each["words"], each["trouble"]) for source, each in told.items()
            )
        pane = Pane(**{**self.pane, "server": tuple(self.pane["server"]), "also": tuple(self.pane["also"])})
        at = float(found["at"])
        wall = float(found["wall"])
        return Sighting(self.agent, pane, tuple(self.rows), self.tasks, self.reports, at, wall, self.styles)


def _task(values: list[Any]) -> Task:
    fields = dict(zip(Task._fields, values, strict=True))
    return Task(**{**fields, "args": tuple(fields["args"])})
