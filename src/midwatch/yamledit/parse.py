"""YAML text, taken apart: its data, and where in the text every piece of it stands.

Stricter than YAML where two readers could understand a file differently: no key twice, one document, no mark before it.
"""

from __future__ import annotations

import yaml
from yaml.reader import ReaderError

from midwatch.core.errors import FormatError
from midwatch.core.text import visible
from midwatch.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable
    from typing import TypeGuard

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The one in C is ten times as fast, and not in every build of the library."""
TAG = "tag:yaml.org,2002:"
TEXT, NULL, INTEGER, TABLE, LIST, MERGE = (TAG + word for word in ("str", "null", "int", "map", "seq", "merge"))
NUMBERS = (INTEGER, TAG + "float")
LONGEST_NUMBER = 400
"""Characters of a number. `1:1:1…`, in base 60, takes the library time that grows with the square of it."""
LARGEST = 1_000_000
"""Values, with those that aliases stand for: a few lines of aliases of aliases can mean more than fits anywhere."""
DEEPEST, MANY = 200, 5000
TOO_MANY = f"more than {LARGEST:,} values, with those that aliases stand for"
DIRECTIVES = 100
"""Lines that begin with %: the parser in C compares each of them with all before it."""
TOO_DEEP = "tables within tables, too deep to be read"


class YamlDocument(Value):
    text: str
    path: str
    """Of the file, for messages; empty for none."""
    root: yaml.Node
    data: object
    problems: tuple[tuple[int, FormatError], ...] = ()
    """Values that cannot be read, each with its place in the text; the data does not have them."""


def yaml_error(path: str, line: int, words: str) -> FormatError:
    """What is wrong, and on which line (from 1)."""
    return FormatError(f"{visible(path)}:{line}: {words}" if path else f"line {line}: {words}")


def parse_document(text: str, path: str = "", *, strict: bool = True) -> YamlDocument:
    """Take a text apart; FormatError names the line of what is wrong with it.

    Who is not strict gets the rest of the data where single values cannot be read.
    """
    if text.startswith("\ufeff"):
        raise yaml_error(path, 1, "a byte order mark stands before the first letter; save the file as UTF-8 without it")
    try:
        _check_depth(text, path)
        loader = LOADER(text)
        try:
            root = loader.get_single_node()
            if root is None:
                raise yaml_error(path, 1, "nothing stands in it")
            values = _Values(loader, path, strict=strict)
            return YamlDocument(text, path, root, values.convert(root), tuple(values.problems))
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        words = ": ".join(part for part in (error.context, error.problem) if part)
        raise yaml_error(path, mark.line + 1 if mark else 1, f"no YAML: {visible(words)}") from error
    except ReaderError as error:
        before = text.encode("utf-8", "surrogatepass")[: error.position]
        raise yaml_error(path, before.count(b"\n") + 1, f"no YAML: {error.reason}") from error
    except RecursionError as error:
        raise yaml_error(path, 1, TOO_DEEP) from error


def _check_depth(text: str, path: str) -> None:
    """The parser in C goes as deep as the text says, until the process dies of it; its scanner does not."""
    if text.count("\n%") > DIRECTIVES:
        raise yaml_error(path, 1, f"more than {DIRECTIVES} lines begin with %; remove them")
    if text.count("[") + text.count("{") < MANY and max(map(len, text.split("\n"))) < MANY:
        return  # it takes long lines or many brackets to get deep
    depth = 0
    for count, event in enumerate(yaml.parse(text, Loader=LOADER)):
        if count > 2 * LARGEST:
            raise yaml_error(path, event.start_mark.line + 1, TOO_MANY)
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise yaml_error(path, event.start_mark.line + 1, TOO_DEEP)


class _Values:
    """Data from nodes. What the loader's own constructor does with generators is half of the time of a reading."""

    def __init__(self, loader: yaml.SafeLoader, path: str, *, strict: bool) -> None:
        self.loader = loader
        self.path = path
        self.strict = strict
        self.problems: list[tuple[int, FormatError]] = []
        self.known: dict[int, tuple[object, int]] = {}
        """By node, for aliases: its value, and how many values there are in it."""
        self.begun: set[int] = set()
        self.count = 0

    def convert(self, node: yaml.Node) -> object:
        if isinstance(node, yaml.ScalarNode):
            return node.value if node.tag == TEXT else self._scalar(node)
        known = self.known.get(id(node))
        if known is None:
            if id(node) in self.begun:
                raise yaml_error(self.path, node_line(node), "it is part of itself, by an alias")
            self.begun.add(id(node))
            before = self.count
            known = self._collection(node), self.count - before
            self.known[id(node)] = known
        else:
            self.count += known[1]
        if self.count > LARGEST:
            raise yaml_error(self.path, node_line(node), TOO_MANY)
        return known[0]

    def _scalar(self, node: yaml.ScalarNode) -> object:
        value: str = node.value
        if node.tag == NULL:
            return None
        if node.tag == INTEGER and value.isdigit() and value[0] != "0" and len(value) < 20:  # noqa: PLR2004  # quickly
            return int(value)
        try:
            return self.loader.construct_object(node) if len(value) <= LONGEST_NUMBER else self._long(node)
        except (ValueError, LookupError, OverflowError, AttributeError) as error:  # what the library lets through
            kind = node.tag.removeprefix(TAG)
            self._refuse(node, f"{visible(value[:LONGEST_NUMBER])} looks like a {kind} and is none", error)
            return None

    def _long(self, node: yaml.ScalarNode) -> object:
        if node.tag in NUMBERS:
            raise ValueError(node.tag)
        return self.loader.construct_object(node)

    def _refuse(self, node: yaml.Node, words: str, cause: Exception | None = None) -> None:
        error = yaml_error(self.path, node_line(node), words)
        if self.strict:
            raise error from cause
        self.problems.append((node_start(node), error))

    def _collection(self, node: yaml.Node) -> object:
        self.count += len(node.value)
        if node.tag == TABLE and isinstance(node, yaml.MappingNode):
            return self._table(node)
        if node.tag == LIST and isinstance(node, yaml.SequenceNode):
            return [self.convert(item) for item in node.value]
        self._refuse(node, f"{visible(node.tag[:80])}: only plain lists and tables are read")
        return None

    def _table(self, node: yaml.MappingNode) -> dict[Hashable, object]:
        found: dict[Hashable, object] = {}
        merged: list[object] = []
        for key_node, value_node in node.value:
            if key_node.tag == MERGE:
                merged.append(self.convert(value_node))
                continue
            key = key_node.value if key_node.tag == TEXT else self.convert(key_node)
            if not _is_key(key):
                self._refuse(key_node, "a list or table cannot be a key")
            elif key in found:
                self._refuse(key_node, f"{visible(str(key))} stands twice; remove one of them")
            else:
                found[key] = self.convert(value_node)
        for each in merged:
            for source in each if isinstance(each, list) else [each]:
                if not isinstance(source, dict):
                    self._refuse(node, "<< merges what is no table")
                    continue
                for key, value in source.items():
                    found.setdefault(key, value)
        return found


def _is_key(key: object) -> TypeGuard[Hashable]:
    return not isinstance(key, list | dict | set)


# Places -------------------------------------------------------------------------------------------------------------


def node_line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


def node_start(node: yaml.Node) -> int:
    return int(node.start_mark.index)


def node_column(node: yaml.Node) -> int:
    return int(node.start_mark.column)


def find_pair(node: yaml.Node | None, key: object) -> tuple[yaml.Node, yaml.Node] | None:
    """Key and value of a table, where they stand themselves; None for what is not there or was merged into it."""
    if isinstance(node, yaml.MappingNode):
        for key_node, value_node in node.value:
            if key_node.value == key and key_node.tag == TEXT:
                return key_node, value_node
    return None
