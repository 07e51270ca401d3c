"""On which line each key of a TOML text stands: the parser does not tell, and an error without a line is half an error.

The text has been accepted by tomllib, so nothing is checked here again; it is only walked through.
"""

from __future__ import annotations

import re
import tomllib

Path = tuple[str | int, ...]
"""Keys and, in arrays, numbers: the timeout of the third [[check]] is ("check", 2, "timeout")."""

BLANK = re.compile(r"(?:[ \t\n]|#[^\n]*)*")
STRING = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*"""(?:"{0,2})' r"|'''(?:[^']|'(?!''))*'''(?:'{0,2})" r'|"(?:[^"\\]|\\.)*"' r"|'[^']*'",
    re.DOTALL,
)
BARE = re.compile(r"[A-Za-z0-9_-]+")
SCALAR = re.compile(r"[^,\]}#\n]*")


def find_lines(text: str) -> dict[Path, int]:
    """The line of every key and of every element of an array, counted from 1."""
    return _Walk(text.replace("\r\n", "\n")).lines()


class _Walk:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.found: dict[Path, int] = {}
        self.sizes: dict[Path, int] = {}
        """How many tables an array of tables has so far: keys after its header belong to the last."""
        self.line, self.counted = 1, 0

    def lines(self) -> dict[Path, int]:
        table: Path = ()
        while self.peek():
            if self.text.startswith("[[", self.at):
                self.at += 2
                table = self.appended(self.key(()))
                self.take(2)
            elif self.text[self.at] == "[":
                self.at += 1
                table = self.key(())
                self.take(1)
            else:
                path = self.key(table)
                self.take(1)
                self.value(path)
        return self.found

    def appended(self, array: Path) -> Path:
        if isinstance(array[-1], int):  # it is there already: `key` went on into its last table
            array = array[:-1]
        self.sizes[array] = self.sizes.get(array, 0) + 1
        table = (*array, self.sizes[array] - 1)
        self.note(table)
        return table

    def key(self, path: Path) -> Path:
        """A key with all its dots, below a path."""
        while True:
            self.peek()
            found = STRING.match(self.text, self.at) or BARE.match(self.text, self.at)
            assert found is not None
            quoted = found[0][0] in "\"'"
            path = (*path, tomllib.loads(f"key = {found[0]}")["key"] if quoted else found[0])
            self.note(path)
            self.at = found.end()
            if path in self.sizes:
                path = (*path, self.sizes[path] - 1)
            if self.peek() != ".":
                return path
            self.at += 1

    def value(self, path: Path) -> None:
        first = self.peek()
        self.note(path)
        if first in ("[", "{"):
            self.at += 1
            self.elements(path, keyed=first == "{")
        else:
            found = STRING.match(self.text, self.at) or SCALAR.match(self.text, self.at)
            assert found is not None
            self.at = found.end()

    def elements(self, path: Path, *, keyed: bool) -> None:
        number = 0
        while self.peek() not in ("]", "}", ""):
            inner: Path = (*path, number)
            if keyed:
                inner = self.key(path)
                self.take(1)
            self.value(inner)
            number += 1
            if self.peek() == ",":
                self.at += 1
        self.at += 1

    def peek(self) -> str:
        """The next character that means something; empty at the end."""
        blank = BLANK.match(self.text, self.at)
        assert blank is not None
        self.at = blank.end()
        return self.text[self.at : self.at + 1]

    def take(self, count: int) -> None:
        self.peek()
        self.at += count

    def note(self, path: Path) -> None:
        self.line += self.text.count("\n", self.counted, self.at)
        self.counted = self.at
        self.found.setdefault(path, self.line)
