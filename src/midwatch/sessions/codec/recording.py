"""A recorded session: one JSON line per look, with only what changed since the look before.

The first line is a header. A line with `truth` is no observation: whoever drove the agent wrote down what was really
going on, from what the model's server did, so that verdicts can be compared with it. A look whose verdict was another
than the one before has it as `given`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from midwatch.core.errors import FormatError
from midwatch.core.json_text import dump
from midwatch.core.pane_model import Observation, Pane, ProcessInfo, SourceReport
from midwatch.core.policy import Policy
from midwatch.core.value import Value
from midwatch.jobs.codec import sentinel

VERSION = 1
PLAIN = "|"
TALLEST = 10_000
"""Rows of a pane."""
LARGEST = 1e18


class RecordedTruth(Value):
    """What was really going on from a moment on."""

    at: float
    """Seconds since the recording began."""
    turn: str
    detail: str
    by: str
    """Who knows: what the model's server or the driver did."""


class GivenVerdict(Value):
    """The verdict that was given at a look, where it was not the same as before."""

    at: float
    """Seconds since the recording began."""
    state: str
    turn: str
    detail: str
    reason: str


class RecordingHeader(Value):
    agent: str
    version: str
    scenario: str
    """What was being done, in a word."""
    policy: Policy | None = None
    """Under which the verdicts were given; None where none were."""
    doubted: dict[str, str] | None = None
    """Of evidence against a source: its `source`, `turn` and `rule`, and `by` which strong source."""


class RecordingWriter:
    """Observations to lines."""

    def __init__(self) -> None:
        self.began: float | None = None
        self.pane: dict[str, object] = {}
        self.rows: tuple[str, ...] = ()
        self.styles: tuple[str, ...] = ()
        self.tasks: list[list[object]] = []
        self.reports: dict[str, object] = {}

    def header(self, header: RecordingHeader) -> str:
        found = {"midwatch": "timeline", "v": VERSION, **header._asdict()}
        found["policy"] = header.policy.written() if header.policy else None
        return _encode({key: value for key, value in found.items() if value is not None})

    def line(self, seen: Observation, give: Callable[[Observation], GivenVerdict | None] = lambda _: None) -> str:
        """One look. ``give`` is asked for the verdict on it as it will be read again: with its times rounded."""
        if self.began is None:
            self.began = seen.now
            self.reader = _RecordingReader(seen.agent)
        found: dict[str, Any] = {"at": round(seen.now - self.began, 3), "wall": round(seen.wall, 3)}
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
            each.source: {"at": each.at, "words": each.words, "trouble": each.trouble}
            | ({"unclear": True} if each.unclear else {})
            for each in seen.reports
        }
        if reports != self.reports:
            found["reports"] = reports
        if given := give(self.reader.sighting(found)):
            found["given"] = {key: value for key, value in given._asdict().items() if key != "at"}
        self.pane, self.rows, self.tasks, self.reports = pane, seen.rows, tasks, reports
        return _encode(found)


def encode_truth(truth: RecordedTruth) -> str:
    return _encode({"at": round(truth.at, 3), "truth": truth.turn, "detail": truth.detail, "by": truth.by})


def _encode(found: dict[str, object]) -> str:
    return dump(found)


def read_recording(
    lines: Iterable[str], path: str
) -> Iterator[RecordingHeader | Observation | GivenVerdict | RecordedTruth]:
    """The header, then observations, what was given at each, and truths, in the order of their times."""
    reader: _RecordingReader | None = None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            found = json.loads(line)
            if reader is None:
                if found.get("midwatch") != "timeline" or found.get("v") != VERSION:
                    raise FormatError(f"{path}:{number}: not a timeline of version {VERSION}")
                reader = _RecordingReader(str(found["agent"]))
                yield _decode_header(found)
            elif "truth" in found:
                yield RecordedTruth(float(found["at"]), found["truth"], found.get("detail", ""), found.get("by", ""))
            else:
                yield reader.sighting(found)
                if "given" in found:
                    yield _decode_given(float(found["at"]), found["given"])
        except (ValueError, OverflowError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
            raise FormatError(f"{path}:{number}: not a line of a timeline: {error!r}") from None


def _decode_header(found: dict[str, Any]) -> RecordingHeader:
    policy = sentinel.decode_policy(found["policy"]) if "policy" in found else None
    doubted = {str(key): _to_text(value) for key, value in found["doubted"].items()} if "doubted" in found else None
    return RecordingHeader(
        str(found["agent"]), str(found.get("version", "")), str(found.get("scenario", "")), policy, doubted
    )


def _decode_given(at: float, found: dict[str, Any]) -> GivenVerdict:
    state, turn, detail, reason = (found[key] for key in ("state", "turn", "detail", "reason"))
    return GivenVerdict(at, str(state), str(turn), str(detail), str(reason))


class _RecordingReader:
    def __init__(self, agent: str) -> None:
        self.agent = agent
        self.pane: dict[str, Any] = {}
        self.rows: list[str] = []
        self.styles: tuple[str, ...] = ()
        self.tasks: tuple[ProcessInfo, ...] = ()
        self.reports: tuple[SourceReport, ...] = ()

    def sighting(self, found: dict[str, Any]) -> Observation:
        self.pane |= found.get("pane", {})
        if "height" in found:
            if not 0 <= int(found["height"]) <= TALLEST:
                raise ValueError(f"a pane of {found['height']} rows")
            self.rows = [""] * int(found["height"])
        for number, row in found.get("rows", {}).items():
            self.rows[int(number)] = _to_text(row)
        if "styles" in found:
            self.styles = tuple(_to_text(found["styles"].get(str(n), PLAIN)) for n in range(len(self.rows)))
        if "tasks" in found:
            self.tasks = tuple(
                ProcessInfo(**_check_types(ProcessInfo, dict(zip(ProcessInfo._fields, each, strict=True))))
                for each in found["tasks"]
            )
        if "reports" in found:
            self.reports = tuple(_decode_report(source, each) for source, each in found["reports"].items())
        at, wall = _to_number(found["at"]), _to_number(found["wall"])
        pane = Pane(**_check_types(Pane, self.pane))
        return Observation(self.agent, pane, tuple(self.rows), self.tasks, self.reports, at, wall, self.styles)


def _decode_report(source: str, found: dict[str, Any]) -> SourceReport:
    words = {_to_text(word): _to_text(value) for word, value in found["words"].items()}
    at = None if found["at"] is None else _to_number(found["at"])
    return SourceReport(source, at, words, _to_text(found["trouble"]), found.get("unclear") is True)


def _check_types(kind: type[Pane | ProcessInfo], values: dict[str, Any]) -> dict[str, Any]:
    """Fields of a value, each being what it should be: a recording may be another's."""
    for field, annotation in kind.__annotations__.items():
        if field in values:
            values = values | {field: CHECKS[annotation](values[field])}
    return values


def _to_text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r:.20} is no text")  # noqa: TRY004  # one error for all that is wrong
    return value


def _to_number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < LARGEST:
        raise ValueError(f"{value!r:.20} is no number that can be")
    return float(value)


def _to_whole_number(value: object) -> int:
    if not isinstance(value, int) or abs(value) > LARGEST:
        raise ValueError(f"{value!r:.20} is no whole number")
    return int(value)


CHECKS: dict[str, Callable[[Any], Any]] = {
    "str": _to_text, "int": _to_whole_number, "float": _to_number, "bool": bool,
    "tuple[str, ...]": lambda values: tuple(map(_to_text, values)),
}  # fmt: skip
