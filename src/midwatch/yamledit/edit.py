"""Changes of YAML text that leave every other byte as it stands: comments, order, quotes, blank lines, line ends.

A text is taken apart only to know where things are. What is to be changed is cut out and pasted in there, all at once;
then the new text is read, and must hold the old data with the changes and nothing else. What cannot be changed in this
way is refused.
"""

from __future__ import annotations

import re

import yaml

from midwatch.core.errors import FormatError
from midwatch.core.text import visible
from midwatch.core.value import Value
from midwatch.yamledit.emit import STEP, inline, items, lines, text
from midwatch.yamledit.parse import MERGE, TEXT, Document, column, line_of, load, start, wrong
from midwatch.yamledit.spans import Spans

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Path = tuple[str | int, ...]
"""Keys of tables and numbers of items, from the outside in."""


class Put(Value):
    """Give a key of a table this value; tables that are missing on the way there are made."""

    path: Path
    value: object


class Append(Value):
    """A new item at the end of a list, or with a key at the end of a table."""

    path: Path
    value: object
    key: str = ""


class Cut(Value):
    """Take an item, or a key with its value, out."""

    path: Path


Edit = Put | Append | Cut


def edit(document: Document, edits: Sequence[Edit]) -> Document:
    """The document with all changes made. Paths are those of the document as it is, also behind what is cut."""
    plan = EditPlan()
    for each in edits:
        plan.add(each)
    editor = Editor(document)
    expected = editor.change(Slot(document.root, 0), document.data, plan)
    if not editor.spans.made:
        return document
    try:
        new = load(editor.spans.result(), document.path, strict=not document.problems)
    except FormatError as error:
        raise editor.refusal() from error
    if not same(new.data, expected) or len(new.problems) != len(document.problems):
        raise editor.refusal()
    return new


def same(one: object, other: object) -> bool:
    """Whether two values are alike in kind and order too, where == finds 1, 1.0 and true equal, and NaN nothing."""
    return repr(one) == repr(other)


class EditPlan:
    """What is to become of one value."""

    def __init__(self) -> None:
        self.below: dict[str | int, EditPlan] = {}
        self.appended: list[Append] = []
        self.values: list[object] = []
        """The value that it is to have, if any; changes below it come after."""
        self.cut = False

    def add(self, change: Edit) -> None:
        plan = self
        for step in change.path:
            plan = plan.below.setdefault(step, EditPlan())
        match change:
            case Put(value=value):
                plan.values, plan.below, plan.appended = [value], {}, []
            case Append():
                plan.appended.append(change)
            case Cut():
                plan.cut = True

    def made(self, value: object) -> object:
        """A value with this plan carried out; None is a list or table that is not there yet."""
        if self.values:
            value = self.values[0]
        if isinstance(value, list):
            kept = [self._child(at, item) for at, item in enumerate(value) if not self._cuts(at)]
            return kept + [each.value for each in self.appended]
        if not self.below and not self.appended:
            return value
        if self.appended and value is None and not self.appended[0].key:
            return [each.value for each in self.appended]
        if value is not None and not isinstance(value, dict):
            raise FormatError(f"{visible(repr(value))} stands where a table is needed")
        old: dict[object, object] = value or {}
        kept_keys = {key: self._child(key, item) for key, item in old.items() if not self._cuts(key)}
        new = {key: plan.made(None) for key, plan in self.below.items() if key not in old and not plan.cut}
        return kept_keys | new | {each.key: each.value for each in self.appended}

    def _cuts(self, step: object) -> bool:
        plan = self.below.get(step) if isinstance(step, str | int) else None
        return plan is not None and plan.cut

    def _child(self, step: object, value: object) -> object:
        plan = self.below.get(step) if isinstance(step, str | int) else None
        return value if plan is None else plan.made(value)


class Slot(Value):
    """A value, and where its place begins: behind its key or dash."""

    node: yaml.Node
    after: int
    key: yaml.Node | None = None
    flow: bool = False
    """It stands in braces or brackets."""


class Editor:
    """Finds the places in the text where a plan changes it."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.spans = Spans(document.text)
        self.line = 1

    def refusal(self) -> FormatError:
        words = "the change cannot be made here and leave all else as it is; write this part as plain lines"
        return wrong(self.document.path, self.line, words)

    def change(self, slot: Slot, data: object, plan: EditPlan) -> object:
        """Note what is to be cut and pasted for a value; gives what it will be."""
        expected = plan.made(data)
        if same(expected, data):
            return data
        node, self.line = slot.node, line_of(slot.key or slot.node)
        self._check_own(slot)
        if plan.values:
            plan = _steps(data, expected)
        if plan.below or plan.appended:
            if isinstance(node, yaml.MappingNode) and data:
                self._table(slot, node, data, plan)
                return expected
            if isinstance(node, yaml.SequenceNode) and data:
                self._list(slot, node, data, plan)
                return expected
        self._replace(slot, expected)
        return expected

    def _check_own(self, slot: Slot) -> None:
        node, begin = slot.node, self.document.text[start(slot.node) : start(slot.node) + 200]
        merges = isinstance(node, yaml.MappingNode) and any(key.tag == MERGE for key, _ in node.value)
        if start(node) < slot.after or re.match(r"(?:!\S*\s+)?&", begin) or merges:
            words = "an anchor, alias or merge key (&, *, <<) stands in what is to be changed; write it out"
            raise wrong(self.document.path, self.line, words)

    # Within a table or list

    def _table(self, slot: Slot, node: yaml.MappingNode, data: object, plan: EditPlan) -> None:
        assert isinstance(data, dict)
        flow, found = bool(node.flow_style), set()
        cut = []
        for at, (key_node, value_node) in enumerate(node.value):
            key = key_node.value if key_node.tag == TEXT else None
            below = plan.below.get(key) if key is not None else None
            if below is None:
                continue
            found.add(key)
            if below.cut:
                cut.append(at)
            else:
                self.change(Slot(value_node, int(key_node.end_mark.index), key_node, flow), data[key], below)
        new = [(str(key), below.made(None)) for key, below in plan.below.items() if key not in found and not below.cut]
        new += [(each.key, each.value) for each in plan.appended]
        self.line = line_of(node)
        if flow:
            self._change_flow(node, cut, [f"{text(key)}: {inline(value)}" for key, value in new])
        else:
            last = node.value[-1]
            braced = isinstance(last[1], yaml.MappingNode) and bool(last[1].flow_style) and bool(last[1].value)

            def written(key: str, value: object) -> list[str]:
                if braced and isinstance(value, dict):
                    return [f"{' ' * column(node)}{text(key)}: {inline(value)}"]
                return list(lines(key, value, column(node)))

            self._change_block(slot, cut, "{}", [written(key, value) for key, value in new])

    def _list(self, slot: Slot, node: yaml.SequenceNode, data: object, plan: EditPlan) -> None:
        assert isinstance(data, list)
        flow, cut = bool(node.flow_style), []
        for at, below in plan.below.items():
            assert isinstance(at, int)
            if below.cut:
                cut.append(at)
            else:
                self.change(Slot(node.value[at], self.spans.before_item(node, at), None, flow), data[at], below)
        self.line = line_of(node)
        if flow:
            self._change_flow(node, sorted(cut), [inline(each.value) for each in plan.appended])
            return
        last = node.value[-1]
        braced = not isinstance(last, yaml.MappingNode) or last.flow_style
        step = STEP if braced or start(last) < start(node) else max(column(last) - column(node), STEP)
        write: Callable[[object], list[str]] = lambda value: (  # noqa: E731
            [f"{' ' * column(node)}- {inline(value)}"] if braced else list(items(value, column(node), step))
        )
        self._change_block(slot, sorted(cut), "[]", [write(each.value) for each in plan.appended])

    def _change_block(self, slot: Slot, cut: list[int], empty: str, new: list[list[str]]) -> None:
        node = slot.node
        for at in cut:
            self.spans.cut_lines(node, at)
        if new:
            self.spans.add_lines(node, new, cut)
        elif len(cut) == len(node.value):
            self.spans.empty(node, slot.key, empty)

    def _change_flow(self, node: yaml.Node, cut: list[int], new: list[str]) -> None:
        self.spans.cut_inline(node, cut)
        if new:
            self.spans.add_inline(node, new, alone=len(cut) == len(node.value))

    # A value as a whole

    def _replace(self, slot: Slot, value: object) -> None:
        apart = isinstance(value, dict | list) and bool(value) and not slot.flow and self.spans.is_one_line(slot.node)
        if apart and slot.key is not None:
            self.spans.replace_by_lines(slot.node, slot.key, _block(value, column(slot.key) + STEP))
            return
        self.spans.replace(slot.node, slot.key, inline(value))


def _block(value: object, where: int) -> list[str]:
    if isinstance(value, dict):
        return [line for key, item in value.items() for line in lines(key, item, where)]
    assert isinstance(value, list)
    return [line for item in value for line in items(item, where)]


def _steps(old: object, new: object) -> EditPlan:
    """How one table becomes another, key by key, so that comments in it stay; nothing for what are not two tables."""
    plan = EditPlan()
    if isinstance(old, dict) and isinstance(new, dict) and new:
        for key, value in new.items():
            plan.add(Put((key,), value))
        for key in old:
            if key not in new:
                plan.add(Cut((key,)))
    return plan
