"""Rows, and the table that they make."""

from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

NOT_INSTALLED = "not installed"
COLUMNS = ("what", "measured", "anchor", "ratio", "goal", "")


class Figure(NamedTuple):
    """One quantity, and where it came from."""

    value: float
    unit: str = ""

    def __str__(self) -> str:
        digits = 0 if self.value >= 1000 or self.value == int(self.value) else 1 if self.value >= 100 else 2
        return f"{self.value:,.{digits}f} {self.unit}".rstrip()


class Anchor(NamedTuple):
    name: str
    figure: Figure | None
    """None: could not be measured, and ``why`` says so."""
    why: str = ""

    def __str__(self) -> str:
        return f"{self.name}: {self.figure or self.why or NOT_INSTALLED}" if self.name else ""


NO_ANCHOR = Anchor("", None)
NOT_MEASURED = "NOT MEASURED"


class Row(NamedTuple):
    what: str
    figure: Figure | None
    anchor: Anchor = NO_ANCHOR
    goal: str = ""
    """In words; empty for a row that only informs."""
    met: bool | None = None
    """None: nothing was promised, or it could not be measured."""
    note: str = ""

    @property
    def ratio(self) -> float | None:
        if self.figure is None or self.anchor.figure is None or not self.anchor.figure.value:
            return None
        return self.figure.value / self.anchor.figure.value

    @property
    def word(self) -> str:
        if self.goal and self.met is None:
            return NOT_MEASURED
        return "" if self.met is None else "met" if self.met else "SHORT"

    def cells(self) -> tuple[str, ...]:
        return self.what, str(self.figure or "-"), str(self.anchor), as_ratio(self.ratio), self.goal, self.word

    def as_json(self) -> dict[str, object]:
        anchor = self.anchor.figure
        return {
            "what": self.what,
            "measured": self.figure and self.figure.value,
            "unit": self.figure and self.figure.unit,
            "anchor": self.anchor.name or None,
            "anchor_measured": anchor and anchor.value,
            "anchor_unit": anchor and anchor.unit,
            "anchor_missing": (self.anchor.why or NOT_INSTALLED) if self.anchor.name and not anchor else None,
            "ratio": self.ratio,
            "goal": self.goal or None,
            "met": self.met,
            "note": self.note or None,
        }


def at_most(what: str, value: float, unit: str, limit: float, anchor: Anchor = NO_ANCHOR, note: str = "") -> Row:
    """A row whose goal bounds the value itself."""
    return Row(what, Figure(value, unit), anchor, f"<= {limit:g} {unit}", value <= limit, note)


def ratio_at_most(what: str, value: float, unit: str, limit: float, anchor: Anchor, note: str = "") -> Row:
    """A row whose goal bounds the ratio to the anchor; without the anchor nothing can be said."""
    row = Row(what, Figure(value, unit), anchor, f"<= {as_ratio(limit)} of it", None, note)
    return row if row.ratio is None else row._replace(met=row.ratio <= limit)


def informs(what: str, value: float, unit: str, anchor: Anchor = NO_ANCHOR, note: str = "") -> Row:
    return Row(what, Figure(value, unit), anchor, note=note)


def in_ms(name: str, seconds: Sequence[float], why: str = "") -> Anchor:
    """An anchor's median, in milliseconds."""
    return Anchor(name, Figure(median(seconds) * 1000, "ms") if seconds else None, why)


def percentile(values: Sequence[float], percent: float) -> float:
    """Nearest rank: a value that was really measured."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


def as_ratio(ratio: float | None) -> str:
    if ratio is None:
        return ""
    return f"{ratio:.2f} x" if ratio >= 0.2 else f"1/{1 / ratio:,.0f}" if ratio else "0"


def render(rows: Sequence[Row]) -> str:
    cells = [COLUMNS, *(row.cells() for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(COLUMNS))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells]
    lines.insert(1, "-" * max(map(len, lines)))
    return "\n".join([*lines, *(f"  {row.what}: {row.note}" for row in rows if row.note)])
