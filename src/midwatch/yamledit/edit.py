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
from midwatch.yamledit.emit import STEP, emit_inline, emit_items, emit_key, emit_text
from midwatch.yamledit.parse import (
    MERGE,
    TEXT,
    YamlDocument,
    node_column,
    node_line,
    node_start,
    parse_document,
    yaml_error,
)
from midwatch.yamledit.spans import TextSpans

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Path = tuple[str | int, ...]
"""Keys of tables and numbers of items, from the outside in."""


class PutValue(Value):
    """Give a key of a table this value; tables that are missing on the way there are made."""

    path: Path
    value: object


class AppendItem(Value):
    """A new item at the end of a list, or with a key at the end of a table."""

    path: Path
    value: object
    key: str = ""


class RemoveItem(Value):
    """Take an item, or a key with its value, out."""

    path: Path


Edit = PutValue | AppendItem | RemoveItem


def apply_edits(document: YamlDocument, edits: Sequence[Edit]) -> YamlDocument:
    """The document with all changes made. Paths are those of the document as it is, also behind what is cut."""
    plan = EditPlan()
    for each in edits:
        plan.add(each)
    editor = TextEditor(document)
    expected = editor.change(ValueSlot(document.root, 0), document.data, plan)
    if not editor.spans.made:
        return document
    try:
        new = parse_document(editor.spans.result(), document.path, strict=not document.problems)
    except FormatError as error:
        raise editor.refusal() from error
    if not is_same_value(new.data, expected) or len(new.problems) != len(document.problems):
        raise editor.refusal()
    return new


def is_same_value(one: object, other: object) -> bool:
    """Whether two values are alike in kind and order too, where == finds 1, 1.0 and true equal, and NaN nothing."""
    return repr(one) == repr(other)


class EditPlan:
    """What is to become of one value."""

    def __init__(self) -> None:
        self.below: dict[str | int, EditPlan] = {}
        self.appended: list[AppendItem] = []
        self.values: list[object] = []
        """The value that it is to have, if any; changes below it come after."""
        self.cut = False

    def add(self, change: Edit) -> None:
        plan = self
        for step in change.path:
            plan = plan.below.setdefault(step, EditPlan())
        match change:
            case PutValue(value=value):
                plan.values, plan.below, plan.appended = [value], {}, []
            case AppendItem():
                plan.appended.append(change)
            case RemoveItem():
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


class ValueSlot(Value):
    """A value, and where its place begins: behind its key or dash."""

    node: yaml.Node
    after: int
    key: yaml.Node | None = None
    flow: bool = False
    """It stands in braces or brackets."""


class TextEditor:
    """Finds the places in the text where a plan changes it."""

    def __init__(self, document: YamlDocument) -> None:
        self.document = document
        self.spans = TextSpans(document.text)
        self.line = 1

    def refusal(self) -> FormatError:
        words = "the change cannot be made here and leave all else as it is; write this part as plain lines"
        return yaml_error(self.document.path, self.line, words)

    def change(self, slot: ValueSlot, data: object, plan: EditPlan) -> object:
        """Note what is to be cut and pasted for a value; gives what it will be."""
        expected = plan.made(data)
        if is_same_value(expected, data):
            return data
        node, self.line = slot.node, node_line(slot.key or slot.node)
        self._check_own(slot)
        if plan.values:
            plan = _plan_table(data, expected)
        if plan.below or plan.appended:
            if isinstance(node, yaml.MappingNode) and data:
                self._table(slot, node, data, plan)
                return expected
            if isinstance(node, yaml.SequenceNode) and data:
                self._list(slot, node, data, plan)
                return expected
        self._replace(slot, expected)
        return expected

    def _check_own(self, slot: ValueSlot) -> None:
        node, begin = slot.node, self.document.text[node_start(slot.node) : node_start(slot.node) + 200]
        merges = isinstance(node, yaml.MappingNode) and any(key.tag == MERGE for key, _ in node.value)
        if node_start(node) < slot.after or re.match(r"(?:!\S*\s+)?&", begin) or merges:
            words = "an anchor, alias or merge key (&, *, <<) stands in what is to be changed; write it out"
            raise yaml_error(self.document.path, self.line, words)

    # Within a table or list

    def _table(self, slot: ValueSlot, node: yaml.MappingNode, data: object, plan: EditPlan) -> None:
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
                self.change(ValueSlot(value_node, int(key_node.end_mark.index), key_node, flow), data[key], below)
        new = [(str(key), below.made(None)) for key, below in plan.below.items() if key not in found and not below.cut]
        new += [(each.key, each.value) for each in plan.appended]
        self.line = node_line(node)
        if flow:
            self._change_flow(node, cut, [f"{emit_text(key)}: {emit_inline(value)}" for key, value in new])
        else:
            last = node.value[-1]
            braced = isinstance(last[1], yaml.MappingNode) and bool(last[1].flow_style) and bool(last[1].value)

            def written(key: str, value: object) -> list[str]:
                if braced and isinstance(value, dict):
                    return [f"{' ' * node_column(node)}{emit_text(key)}: {emit_inline(value)}"]
                return list(emit_key(key, value, node_column(node)))

            self._change_block(slot, cut, "{}", [written(key, value) for key, value in new])

    def _list(self, slot: ValueSlot, node: yaml.SequenceNode, data: object, plan: EditPlan) -> None:
        assert isinstance(data, list)
        flow, cut = bool(node.flow_style), []
        for at, below in plan.below.items():
            assert isinstance(at, int)
            if below.cut:
                cut.append(at)
            else:
                self.change(ValueSlot(node.value[at], self.spans.before_item(node, at), None, flow), data[at], below)
        self.line = node_line(node)
        if flow:
            self._change_flow(node, sorted(cut), [emit_inline(each.value) for each in plan.appended])
            return
        last = node.value[-1]
        braced = not isinstance(last, yaml.MappingNode) or last.flow_style
        step = (
            STEP if braced or node_start(last) < node_start(node) else max(node_column(last) - node_column(node), STEP)
        )
        write: Callable[[object], list[str]] = lambda value: (  # noqa: E731
            [f"{' ' * node_column(node)}- {emit_inline(value)}"]
            if braced
            else list(emit_items(value, node_column(node), step))
        )
        self._change_block(slot, sorted(cut), "[]", [write(each.value) for each in plan.appended])

    def _change_block(self, slot: ValueSlot, cut: list[int], empty: str, new: list[list[str]]) -> None:
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

    def _replace(self, slot: ValueSlot, value: object) -> None:
        apart = isinstance(value, dict | list) and bool(value) and not slot.flow and self.spans.is_one_line(slot.node)
        if apart and slot.key is not None:
            self.spans.replace_by_lines(slot.node, slot.key, _block_lines(value, node_column(slot.key) + STEP))
            return
        self.spans.replace(slot.node, slot.key, emit_inline(value))


def _block_lines(value: object, where: int) -> list[str]:
    if isinstance(value, dict):
        return [line for key, item in value.items() for line in emit_key(key, item, where)]
    assert isinstance(value, list)
    return [line for item in value for line in emit_items(item, where)]


def _plan_table(old: object, new: object) -> EditPlan:
    """How one table becomes another, key by key, so that comments in it stay; nothing for what are not two tables."""
    plan = EditPlan()
    if isinstance(old, dict) and isinstance(new, dict) and new:
        for key, value in new.items():
            plan.add(PutValue((key,), value))
        for key in old:
            if key not in new:
                plan.add(RemoveItem((key,)))
    return plan
