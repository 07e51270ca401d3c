"""Where in a YAML text something begins and ends; and the pieces that are cut out of it and pasted in."""

from __future__ import annotations

import itertools
import re

import yaml

from midwatch.core.errors import FormatError
from midwatch.yamledit.parse import node_column, node_start

ALIAS = re.compile(r"(?:[\s,:\[{-]|#[^\n]*\n)*(\*[^\s,\[\]{}]+)")
COMMENT = re.compile(r"(?:[ \t]*\r?\n)*( *)#[^\n]*(?:\n|\Z)")
BLANK_LINES = re.compile(r"(?:[ \t]*\r?\n)+")
BLANKS = " \t\r\n"
BLOCK_SCALARS = ("|", ">")


def is_block_style(node: yaml.Node) -> bool:
    """Whether it is a list or table without brackets."""
    return isinstance(node, yaml.CollectionNode) and not node.flow_style and bool(node.value)


class TextSpans:
    """Cuts and pastes of one text. Each names places of the text as it was."""

    def __init__(self, text: str) -> None:
        first = text.find("\n")
        self.nl = "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"
        self.ended = text.endswith("\n")
        self.text = text if self.ended else text + self.nl
        self.made: list[tuple[int, int, str]] = []
        self.floors: dict[int, list[int]] = {}

    def result(self) -> str:
        parts, at = [], 0
        for begin, end, new in sorted(
            self.made, key=lambda each: each[:2]
        ):  # of pastes in one place the first stays first
            if begin < at and begin < end:
                raise FormatError("two changes meet in one place")
            parts += [self.text[at:begin], new]  # what is pasted into the midst of a cut comes behind it
            at = max(at, end)
        whole = "".join([*parts, self.text[at:]])
        return whole if self.ended else whole.removesuffix(self.nl)

    # Where things are

    def place(self, node: yaml.Node, after: int) -> tuple[int, int]:
        """Where the text of a value begins and ends, without comments; ``after`` is behind its key, dash or comma."""
        if node_start(node) < after:  # an alias: the node is where its anchor stands
            alias = ALIAS.match(self.text, after)
            return (alias.start(1), alias.end()) if alias else (after, after)
        if isinstance(node, yaml.ScalarNode):
            return node_start(node), self._end_of_text(node)
        if not is_block_style(node):
            return node_start(node), int(node.end_mark.index)
        if isinstance(node, yaml.MappingNode):
            key, value = node.value[-1]
            return node_start(node), self.place(value, int(key.end_mark.index))[1]
        return node_start(node), self.place(node.value[-1], self.before_item(node, len(node.value) - 1))[1]

    def _end_of_text(self, node: yaml.ScalarNode) -> int:
        end = int(node.end_mark.index)
        if node.style not in BLOCK_SCALARS:
            return end
        # Blank lines behind a text in lines are its own only where it keeps them; its mark may be in the line behind.
        keeps = "+" in self.text[node_start(node) : node_start(node) + 3].split("\n")[0]
        return self.line_start(end) if keeps else self._trimmed(node)

    def _trimmed(self, node: yaml.Node) -> int:
        return node_start(node) + len(self.text[node_start(node) : node.end_mark.index].rstrip(BLANKS))

    def before_item(self, node: yaml.Node, at: int) -> int:
        """Not later than an item begins, and later than any anchor that it may be an alias of."""
        floors = self.floors.get(id(node))
        if floors is None:
            ends = [int(each.end_mark.index) for each in node.value]
            floors = self.floors[id(node)] = list(itertools.accumulate([node_start(node), *ends], max))
        return floors[at]

    def line_start(self, at: int) -> int:
        return self.text.rfind("\n", 0, at) + 1

    def line_end(self, at: int) -> int:
        """Where the next line begins."""
        if at and self.text[at - 1] == "\n":
            return at
        return self.text.find("\n", at) + 1 or len(self.text)

    def behind(self, end: int, indent: int) -> int:
        """The line where something new may begin: comments that are moved in further than it stay before it."""
        at = self.line_end(end)
        while (comment := COMMENT.match(self.text, at)) and len(comment[1]) > indent and comment.end() > at:
            at = comment.end()
        return at

    def is_one_line(self, node: yaml.Node) -> bool:
        return not is_block_style(node) and node.start_mark.line == node.end_mark.line

    # Lists and tables of lines

    def cut_lines(self, node: yaml.Node, at: int) -> None:
        if isinstance(node, yaml.MappingNode):
            key, value = node.value[at]
            begin, after = self.line_start(node_start(key)), int(key.end_mark.index)
            if self.text[begin : node_start(key)].strip() and at + 1 < len(
                node.value
            ):  # it shares its line with a dash
                self.made.append((node_start(key), node_start(node.value[at + 1][0]), ""))
                return
        else:
            value, after = node.value[at], self.before_item(node, at)
            begin = self.line_start(self.place(value, after)[0])
            while begin > node_start(node) and not self.text.startswith(" " * node_column(node) + "-", begin):
                begin = self.line_start(begin - 1)
        end = self.behind(self.place(value, after)[1], node_column(node))
        # Blank lines behind it go with it: left alone they could become part of a text before it.
        blank = BLANK_LINES.match(self.text, end)
        self.made.append((begin, blank.end() if blank else end, ""))

    def add_lines(self, node: yaml.Node, new: list[list[str]], cut: list[int]) -> None:
        end = self.place(node, node_start(node))[1]
        at = self.behind(end, node_column(node))
        first = self.line_start(self._item(node, len(node.value) - 1)[0])
        last = node.value[-1][1] if isinstance(node, yaml.MappingNode) else node.value[-1]
        rows = len(node.value) > 1 and isinstance(last, yaml.CollectionNode)
        apart = rows and not self.text[self.line_start(first - 1) : first].strip(BLANKS)
        before = next((at for at in range(len(node.value) - 1, -1, -1) if at not in cut), None)
        # A text that keeps blank lines would keep this one.
        apart = apart and (before is None or self.text[self._item(node, before)[1] - 1] != "\n")
        written = [line for each in new for line in ([""] if apart else []) + each]
        self.made.append((at, at, "".join(line + self.nl for line in written)))

    def empty(self, node: yaml.Node, key: yaml.Node | None, brackets: str) -> None:
        """Say that nothing is left of a list or table."""
        if key is None:
            at = self.line_start(node_start(node))
            self.made.append((at, at, brackets + self.nl))
        else:
            colon = self.text.index(":", int(key.end_mark.index)) + 1
            self.made.append((colon, colon, f" {brackets}"))

    # Lists and tables in brackets

    def cut_inline(self, node: yaml.Node, cut: list[int]) -> None:
        count = len(node.value)
        if cut and len(cut) == count:
            self.made.append((self._opened(node), int(node.end_mark.index) - 1, ""))
            return
        kept = max(at for at in range(count) if at not in cut)
        for at in cut:
            if at < kept:
                self.made.append((self._item(node, at)[0], self._item(node, at + 1)[0], ""))
        if kept + 1 < count:
            self.made.append((self._item(node, kept)[1], self._item(node, count - 1)[1], ""))

    def add_inline(self, node: yaml.Node, new: list[str], *, alone: bool) -> None:
        at = int(node.end_mark.index) - 1 if alone else self._item(node, len(node.value) - 1)[1]
        self.made.append((at, at, ("" if alone else ", ") + ", ".join(new)))

    def _opened(self, node: yaml.Node) -> int:
        bracket = "{" if isinstance(node, yaml.MappingNode) else "["
        return self.text.index(bracket, node_start(node)) + 1

    def _item(self, node: yaml.Node, at: int) -> tuple[int, int]:
        if isinstance(node, yaml.MappingNode):
            key, value = node.value[at]
            return node_start(key), self.place(value, int(key.end_mark.index))[1]
        return self.place(node.value[at], self.before_item(node, at))

    # A value as a whole

    def replace(self, node: yaml.Node, key: yaml.Node | None, new: str) -> None:
        begin, end = node_start(node), int(node.end_mark.index)
        if isinstance(node, yaml.ScalarNode):
            if node.style in BLOCK_SCALARS:
                end = self._trimmed(node)
            elif begin == end and key is not None:
                between = self.text[key.end_mark.index : begin]
                new = f": {new}" if ":" not in between else f" {new}" if between.endswith(":") else new
        elif is_block_style(node):
            end = self.place(node, begin)[1]
            if key is not None and node.start_mark.line > key.end_mark.line:
                colon = self.text.index(":", int(key.end_mark.index)) + 1
                self.made.append((colon, colon, f" {new}"))
                begin, end, new = self.line_start(begin), self.line_end(end), ""
        self.made.append((begin, end, new))

    def replace_by_lines(self, node: yaml.Node, key: yaml.Node, new: list[str]) -> None:
        """Of a value that stands on one line. A comment behind it stays there."""
        colon = self.text.index(":", int(key.end_mark.index)) + 1
        self.made.append((colon, int(node.end_mark.index), ""))
        at = self.line_end(int(node.end_mark.index))
        self.made.append((at, at, "".join(line + self.nl for line in new)))
