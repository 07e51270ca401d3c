"""Any registry that a person may write, any changes: the data is as it should be, and all other lines are untouched."""

from __future__ import annotations

import re

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from midwatch.core.errors import FormatError
from midwatch.registry.codec import registry_file
from midwatch.registry.model import STATUSES, AddRow, Change, RemoveRow, SetFields
from midwatch.yamledit.emit import emit_inline

PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""On a machine that does other things too no time means anything."""
LIST, TABLE, BARE_LIST, BARE_TABLE = "list", "table", "bare list", "bare table"
TEXTS = st.one_of(
    st.sampled_from(
        ["null", "yes", "2026-01-01", "1e3", "# no", "a: b", "", "x\ny", "%3", "plain", "세션", "- a", "*a"]
    ),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
)
SCALARS = st.one_of(TEXTS, st.integers(), st.booleans(), st.none())
OWN = st.one_of(
    SCALARS, st.lists(SCALARS, max_size=2), st.dictionaries(st.sampled_from(["k", "on", "l m"]), SCALARS, max_size=2)
)
"""Values of fields that mean nothing to us."""
FIELDS = {
    "status": st.sampled_from(STATUSES),
    "resumable": st.one_of(st.booleans(), st.none()),
    "terminated_at": st.sampled_from(["2026-06-20T15:48:27Z", None]),
    "last_visible_status": TEXTS,
    "claude_session_id_own": st.one_of(TEXTS, st.none()),
    "note": OWN,
    "mine": OWN,
}
PANE = {"pid": st.integers(0, 1 << 22), "cmd": TEXTS, "id": TEXTS}

SETTABLE = FIELDS | {"pane.pid": PANE["pid"], "pane.cmd": TEXTS, "new.deep": OWN}


class Written:
    """The text of a registry as it grows, and the lines that no change of certain fields may touch."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, int, str]] = []
        """Text, the row that it is of (-1 for none), and the field (empty for none)."""
        self.rows: list[tuple[str, dict[str, object]]] = []

    def add(self, text: str, row: int = -1, field: str = "") -> None:
        self.lines += [(line, row, field) for line in text.split("\n")]


def extra(draw: st.DrawFn, written: Written, row: int, indent: int, *, inside: bool) -> None:
    """A comment or a blank line, or neither."""
    choice = draw(st.integers(0, 5))
    if choice == 0:
        written.add(f"{' ' * indent}# c{len(written.lines)}: {{[", row if inside else -1, "#")
    elif choice == 1:
        written.add("", row if inside else -1, "#")


def tail(draw: st.DrawFn, written: Written) -> str:
    return draw(st.sampled_from(["", "", f"  # t{len(written.lines)} 'x"]))


def value_text(draw: st.DrawFn, value: object, indent: int) -> str:
    """One of the ways in which people write a value behind a key."""
    if isinstance(value, str) and value.isascii() and value.isalnum() and value.isalpha() and draw(st.booleans()):
        ways = [f" '{value}'", f' "{value}"', f"\n{' ' * (indent + 3)}'{value}'"]
        return draw(st.sampled_from([*ways, f" !!str {value}"]))
    return " " + emit_inline(value)


def write_row(draw: st.DrawFn, written: Written, at: int, head: str, indent: int, values: dict[str, object]) -> None:
    """A row whose first line begins with a head, and the others with an indentation."""
    for key, value in values.items():
        begin, head = (head, "") if head else (" " * indent, "")
        if key == "pane" and isinstance(value, dict):
            written.add(f"{begin}pane:{tail(draw, written)}", at, "pane")
            step = draw(st.integers(1, 4))
            for inner, item in value.items():
                extra(draw, written, at, indent + step, inside=True)
                line = f"{' ' * (indent + step)}{inner}:{value_text(draw, item, indent + step)}{tail(draw, written)}"
                written.add(line, at, f"pane.{inner}")
        elif key == "note" and isinstance(value, str) and value.endswith("block"):
            written.add(f"{begin}note: {draw(st.sampled_from(['|', '|-', '>', '|+']))}", at, key)
            written.add(f"{' ' * (indent + 2)}some\n{' ' * (indent + 2)}# text\n", at, key)
        else:
            written.add(f"{begin}{emit_inline(key)}:{value_text(draw, value, indent)}{tail(draw, written)}", at, key)
        extra(draw, written, at, indent, inside=True)


@st.composite
def row_values(draw: st.DrawFn) -> dict[str, object]:
    some = draw(st.lists(st.sampled_from([*FIELDS, "pane", "block", "pid"]), unique=True, max_size=6))
    values: dict[str, object] = {"status": draw(FIELDS["status"])}
    for key in some:
        if key == "pane":
            keys = draw(st.lists(st.sampled_from([*PANE]), unique=True, min_size=1))
            values["pane"] = {inner: draw(PANE[inner]) for inner in keys}
        elif key == "block":
            values["note"] = "block"
        else:
            values[key] = draw(PANE["pid"] if key == "pid" else FIELDS[key])
    return values


@st.composite
def registries(draw: st.DrawFn) -> tuple[Written, str]:
    written, shape = Written(), draw(st.sampled_from([LIST, TABLE, BARE_LIST, BARE_TABLE]))
    names = draw(
        st.lists(st.sampled_from(["a-creator-claude", "b", "yes", "1", "c d", "x: y"]), unique=True, max_size=4)
    )
    if shape in (BARE_LIST, BARE_TABLE):
        names = names or ["b"]
    if draw(st.booleans()):
        written.add("---")
    extra(draw, written, -1, 0, inside=False)
    indent = 0
    if shape in (LIST, TABLE):
        written.add("version: 1  # before" if draw(st.booleans()) else "other: {a: [1, 2]}")
        written.add("sessions:" if names else f"sessions: {'[]' if shape == LIST else '{}'}", -1, "sessions")
        indent = draw(st.integers(0 if shape == LIST else 1, 3))
    for at, name in enumerate(names):
        extra(draw, written, -1, indent, inside=False)
        values = draw(row_values())
        if shape in (LIST, BARE_LIST):
            values = {draw(st.sampled_from(registry_file.NAMES)): name} | values
            dash = f"{' ' * indent}-{' ' * draw(st.integers(1, 3))}"
            if draw(st.booleans()):
                written.add(f"{dash}{emit_inline(values)}{tail(draw, written)}", at, "*")
            else:
                write_row(draw, written, at, dash, len(dash), values)
        elif draw(st.booleans()):
            written.add(f"{' ' * indent}{emit_inline(name)}: {emit_inline(values)}{tail(draw, written)}", at, "*")
        else:
            written.add(f"{' ' * indent}{emit_inline(name)}:{tail(draw, written)}", at, "#")
            write_row(draw, written, at, "", indent + draw(st.integers(1, 4)), values)
        written.rows.append((name, values))
    if shape in (LIST, TABLE) and draw(st.booleans()):
        written.add("after: |\n  sessions:\n  - x\nlast: 1")
    extra(draw, written, -1, 0, inside=False)
    text = draw(st.sampled_from(["\n", "\r\n"])).join([line for line, _, _ in written.lines])
    end = draw(st.sampled_from(["", "\n"]))
    return written, text + (end if not text.endswith("\n") else "")


@st.composite
def changed(draw: st.DrawFn) -> tuple[Written, str, list[Change]]:
    written, text = draw(registries())
    changes: list[Change] = []
    for at in range(len(written.rows)):
        fields = draw(st.lists(st.sampled_from([*SETTABLE]), unique=True, max_size=3))
        if draw(st.integers(0, 4)) == 0:
            changes.append(RemoveRow(at))
        elif fields:
            values = {key: draw(SETTABLE[key]) for key in fields}
            changes.append(SetFields(at, values))
    new = draw(st.lists(st.sampled_from(["new", "null", "n: 1"]), unique=True, max_size=2))
    changes += [AddRow(name, {"status": "running", "pane": {"pid": 1}, "note": draw(OWN)}) for name in new]
    return written, text, draw(st.permutations(changes))


def rows_of(text: str) -> list[tuple[str, dict[str, object]]]:
    """Names and fields by another reader, fields of flat panes where they stand."""
    data = yaml.safe_load(text)
    data = data.get("sessions", data) if isinstance(data, dict) else data
    if isinstance(data, dict):
        return list(data.items())
    return [(next(row[key] for key in registry_file.NAMES if row.get(key) is not None), row) for row in data or []]


def with_fields(row: dict[str, object], values: dict[str, object]) -> dict[str, object]:
    new = row
    for field, value in values.items():
        table = new.get("pane")
        flat = field == "pane.pid" and "pid" in row and not (isinstance(table, dict) and "pid" in table)
        top, _, below = field.partition(".")
        old = new.get(top)
        if flat:
            new = new | {"pid": value}
        elif below:
            new = new | {top: (old if isinstance(old, dict) else {}) | {below: value}}
        else:
            new = new | {field: value}
    return new


@PATIENT
@given(changed())
def test_the_data_is_as_it_should_be_and_other_lines_are_untouched(case: tuple[Written, str, list[Change]]) -> None:
    written, text, changes = case
    before = rows_of(text)
    assert [(row.name, row.data) for row in registry_file.parse_registry(text).rows] == before
    if not text.endswith("\n") and text.rstrip().endswith("# text"):
        text += "\n"  # a text in lines that the file's end cuts off: nothing can be added behind it
    new = registry_file.apply_changes(text, changes)
    after = rows_of(new)
    removed = {change.at for change in changes if isinstance(change, RemoveRow)}
    sets = {change.at: change.values for change in changes if isinstance(change, SetFields)}
    kept = [at for at in range(len(before)) if at not in removed]
    added = [change for change in changes if isinstance(change, AddRow)]
    assert [name for name, _ in after] == [before[at][0] for at in kept] + [change.name for change in added]
    for place, at in enumerate(kept):
        assert after[place][1] == with_fields(before[at][1], sets.get(at, {}))
    for change, (_, now) in zip(added, after[len(kept) :], strict=True):
        assert now["note"] == change.values["note"]
    assert in_order([line for line, row, field in written.lines if stays(line, row, field, removed, sets)], new)
    again = [SetFields(kept.index(at), values) for at, values in sets.items() if at not in removed]
    assert registry_file.apply_changes(new, again) == new


def stays(line: str, row: int, field: str, removed: set[int], sets: dict[int, dict[str, object]]) -> bool:
    """Whether a line may not be touched."""
    if not line and removed:  # blank lines go with what is removed
        return False
    if row == -1:
        return field != "sessions"
    if row in removed or (field == "*" and row in sets):
        return False
    touched = set(sets.get(row, {}))
    return field not in touched and not (field == "pid" and "pane.pid" in touched)


def in_order(lines: list[str], text: str) -> bool:
    """Whether all lines stand in a text, one after the other."""
    rest = iter(text.replace("\r\n", "\n").split("\n"))
    return all(line in rest for line in lines)


@PATIENT
@given(registries())
def test_changes_that_change_nothing_leave_every_byte(case: tuple[Written, str]) -> None:
    _, text = case
    rows = registry_file.parse_registry(text).rows
    same: list[Change] = [SetFields(row.at, dict(row.data)) for row in rows]
    same += [SetFields(row.at, {"pane.pid": row.pane.pid}) for row in rows if row.pane.pid]
    assert registry_file.apply_changes(text, same) == text
    assert registry_file.apply_changes(text, []) == text


JUNK = st.text(st.sampled_from("ab:-? \n\t#[]{},&*|>'\"<!%10\r\x00\ufeff"), min_size=1, max_size=4)


@PATIENT
@given(registries(), st.floats(0, 1), JUNK, SCALARS)
def test_a_text_with_a_slip_is_read_or_told_with_its_line_and_never_half_changed(
    case: tuple[Written, str], where: float, junk: str, value: object
) -> None:
    text = case[1]
    at = int(where * len(text))
    text = text[:at] + junk + text[at:]
    before: list[dict[str, object]] = []
    after, trouble = before, "r.yaml:1: none"
    try:
        before = after = [row.data for row in registry_file.parse_registry(text, "r.yaml").rows]
        new = registry_file.apply_changes(text, [SetFields(at, {"mine": value}) for at in range(len(before))])
        after = [row.data for row in registry_file.parse_registry(new).rows]
        before = [row | {"mine": value} for row in before]
    except FormatError as error:
        trouble = str(error)
    assert after == before
    assert re.match(r"(?:r\.yaml:|line )[1-9]\d*: .", trouble), trouble
