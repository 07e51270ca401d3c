"""The registry of agent sessions, ``agent-sessions.yaml``: rows in, changes out, a person's text kept.

Rows stand under ``sessions:``, as a list or as a table by name, or in the same ways at the top of the file. Whatever
else stands in the file, or in a row, is nobody's business here and stays as it is.
"""

from __future__ import annotations

import yaml

from midwatch.core.errors import FormatError
from midwatch.core.text import visible
from midwatch.core.value import Value
from midwatch.registry.codec import row as registry_row_module
from midwatch.registry.codec.row import RowFields
from midwatch.registry.model import AddRow, Change, Registry, RegistryRow, RemoveRow, SetFields
from midwatch.yamledit.edit import AppendItem, Edit, Path, PutValue, RemoveItem, apply_edits
from midwatch.yamledit.parse import YamlDocument, find_pair, node_line, node_start, parse_document, yaml_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

NEW = """\
# Agent sessions: what runs in which tmux session, and the id that brings it back. Kept by `midwatch session` and
# `midwatch reconcile`. You may edit it: comments, order and fields of your own stay.
sessions: []
"""
SESSIONS = "sessions"
NO_TABLE = "a session must be a table of fields"
NAMES = ("name", "session", "session_name", "tmux_session")
"""Where the name of a row in a list may stand."""
MOST_ROWS = 10_000
"""So many are read in a second or two, in which no signal is heard."""


def parse_registry(text: str, path: str = "") -> Registry:
    """The rows of a file; FormatError names the line of what spoils all of it. The path is for that message."""
    return RegistryText(text, path).registry


def apply_changes(text: str, changes: Sequence[Change]) -> str:
    """The text with the changes made. Rows are meant as they stand in it, also behind one that is removed."""
    return RegistryText(text).apply(changes).text


class RegistryText:
    """A registry's text, its rows, and the text with changes. Taken apart once for all of them."""

    def __init__(self, text: str, path: str = "", document: YamlDocument | None = None) -> None:
        self.document = document or parse_document(text, path, strict=False)
        self.text = self.document.text
        self.shape = _find_shape(self.document)
        if len(self.shape.entries) > MOST_ROWS:
            where = visible(path) or "the list"
            raise FormatError(f"{where} has more than {MOST_ROWS:,} sessions; is it the file meant?")
        self.registry = Registry(tuple(self._rows()))

    def _rows(self) -> Iterator[RegistryRow]:
        """A row that cannot be understood spoils no other."""
        problems = self._problems()
        for at, (key, node, data) in enumerate(self.shape.entries):
            line = node_line(node) if key is None else node_line(self.shape.keys[at])
            try:
                row = self._row(at, key, line, node, data)
                problem = problems.get(at)
            except FormatError as error:
                problem = problems.get(at, error)
            if problem is not None:
                row = registry_row_module.invalid_row(at, _guess_name(key, data), line, data, str(problem))
            yield row

    def _row(self, at: int, key: object, line: int, node: yaml.Node, data: object) -> RegistryRow:
        path = self.document.path
        if not isinstance(data, dict):
            raise yaml_error(path, node_line(node), NO_TABLE)
        fields = RowFields(data, node, path)
        name = _name(fields) if key is None else key
        if not isinstance(name, str) or not name:
            raise yaml_error(path, line, "the name of a session must be a text; put it in quotes")
        return registry_row_module.parse_row(at, name, line, fields)

    def _problems(self) -> dict[int, FormatError]:
        """What cannot be read, by row. Outside of all rows it spoils the file: nobody can tell what it means."""
        found: dict[int, FormatError] = {}
        for place, error in self.document.problems:
            nodes = enumerate(node for _, node, _ in self.shape.entries)
            rows = [at for at, node in nodes if node_start(node) <= place < int(node.end_mark.index)]
            if not rows:
                raise error
            found |= {at: error for at in rows if at not in found}
        return found

    def apply(self, changes: Sequence[Change]) -> RegistryText:
        """With the changes made; itself where nothing changes."""
        removed = {change.at for change in changes if isinstance(change, RemoveRow)}
        meant = [change for change in changes if not isinstance(change, SetFields) or change.at not in removed]
        new = apply_edits(self.document, [each for change in meant for each in self._edits(change)])
        return self if new is self.document else RegistryText(new.text, new.path, new)

    def possible(self, changes: Sequence[Change]) -> tuple[list[Change], list[tuple[Change, FormatError]]]:
        """The changes that can be made, and the others with the reason: one row spoils no other."""
        try:
            self.apply(changes)
        except FormatError as error:
            if len(changes) == 1:
                return [], [(changes[0], error)]
        else:
            return list(changes), []
        each = [self.possible([change]) for change in changes]
        return [change for fine, _ in each for change in fine], [refused for _, bad in each for refused in bad]

    def _edits(self, change: Change) -> Iterator[Edit]:
        if isinstance(change, AddRow):
            yield self._added(change)
            return
        row = self.registry.rows[change.at]
        where = (*self.shape.path, self.shape.steps[change.at])
        if isinstance(change, RemoveRow):
            yield RemoveItem(where)
            return
        assert isinstance(change, SetFields)
        if not isinstance(self.shape.entries[change.at][2], dict | None):
            raise yaml_error(self.document.path, row.line, NO_TABLE)
        for field, value in change.values.items():
            place = registry_row_module.field_path(row.data, field) if field.startswith("pane.") else field
            yield PutValue((*where, *place.split(".")), value)

    def _added(self, change: AddRow) -> AppendItem:
        rows, shape = self.registry.rows, self.shape
        values = dict(change.values)
        pane = values.get("pane")
        if isinstance(pane, dict) and rows and "pane" not in rows[-1].data and "pid" in rows[-1].data:
            flat = {key: pane[key] for key in registry_row_module.FLAT if key in pane}
            rest = {key: value for key, value in pane.items() if key not in flat}
            del values["pane"]
            values |= flat | ({"pane": rest} if rest else {})
        if not shape.table:
            return AppendItem(shape.path, {_name_key(rows): change.name} | values)
        if any(row.name == change.name for row in rows):
            raise FormatError(f"{visible(change.name)} stands in {visible(self.document.path) or 'the list'} already")
        return AppendItem(shape.path, values, change.name)


# Shapes -------------------------------------------------------------------------------------------------------------


class RegistryShape(Value):
    """Where the rows are."""

    path: Path
    table: bool
    """By name; else a list."""
    steps: list[str | int]
    """Of each row, from there."""
    keys: list[yaml.Node]
    """Of each row in a table."""
    entries: list[tuple[object, yaml.Node, object]]
    """Of each row its name (None in a list), where it stands, and what."""


def _find_shape(document: YamlDocument) -> RegistryShape:
    root, data = document.root, document.data
    if isinstance(data, list):
        return _list_shape((), root, data)
    if not isinstance(data, dict):
        raise yaml_error(
            document.path, node_line(root), f"neither a list nor a table of sessions; begin with `{SESSIONS}:`"
        )
    found = find_pair(root, SESSIONS)
    if found is not None or SESSIONS in data:
        below, node = data[SESSIONS], found[1] if found else root
        if below is None or isinstance(below, list):
            return _list_shape((SESSIONS,), node, below or [])
        if not isinstance(below, dict):
            raise yaml_error(document.path, node_line(node), f"{SESSIONS} must be a list or a table of sessions")
        return _table_shape((SESSIONS,), node, below)
    if not any(_is_row(value) for value in data.values()):
        return RegistryShape((SESSIONS,), False, [], [], [])
    for key, value in data.items():
        if not isinstance(value, dict):
            at = find_pair(root, key)
            words = f"{visible(str(key))} is no session (a table with status); put the sessions under `{SESSIONS}:`"
            raise yaml_error(document.path, node_line(at[0] if at else root), words)
    return _table_shape((), root, data)


def _is_row(value: object) -> bool:
    return isinstance(value, dict) and "status" in value


def _list_shape(path: Path, node: yaml.Node, data: list[object]) -> RegistryShape:
    own = node.value if isinstance(node, yaml.SequenceNode) and data else []
    nodes = own or [node] * len(data)  # a list that was merged into a table stands elsewhere
    entries = [(None, each, value) for each, value in zip(nodes, data, strict=True)]
    return RegistryShape(path, False, list(range(len(data))), [], list(entries))


def _table_shape(path: Path, node: yaml.Node, data: dict[object, object]) -> RegistryShape:
    pairs = node.value if isinstance(node, yaml.MappingNode) else []
    own = {key.value: (key, value) for key, value in pairs if isinstance(key, yaml.ScalarNode)}
    places = [own.get(str(key), (node, node)) for key in data]
    entries = [(key, value, data[key]) for key, (_, value) in zip(data, places, strict=True)]
    return RegistryShape(path, True, [str(key) for key in data], [key for key, _ in places], entries)


def _name(fields: RowFields) -> str:
    for key in NAMES:
        if fields.data.get(key) is not None:
            return fields.text(key)
    raise fields.wrong(NAMES[0], f"a session without a name; give it a `{NAMES[0]}:`")


def _guess_name(key: object, data: object) -> str:
    """The name of a row that cannot be understood; empty where nothing tells it."""
    table = data if isinstance(data, dict) else {}
    return next((name for name in (key, data, *(table.get(each) for each in NAMES)) if isinstance(name, str)), "")


def _name_key(rows: tuple[RegistryRow, ...]) -> str:
    return next((key for row in rows[-1:] for key in NAMES if row.data.get(key) is not None), NAMES[0])
