"""A TOML file that people write: its values by type, and an error with the line for whatever is wrong in it."""

from __future__ import annotations

import re
import tomllib

from midwatch.config.codec import toml_positions
from midwatch.config.codec.toml_positions import Path
from midwatch.core import durations
from midwatch.core.errors import FormatError, UsageError

Table = dict[str, object]
DOTS = 200
MOST = 1000
"""A count above this is a slip of the finger."""


class TomlFile:
    """One file. A method that reads a value gets its table, its key, and where that table is."""

    def __init__(self, text: str, path: str) -> None:
        self.text = text
        self.path = path
        self.lines: dict[Path, int] | None = None

    def parsed(self) -> Table:
        for number, row in enumerate(self.text.split("\n"), 1):
            if row.count(".") > DOTS:  # a key takes the parser time and space that grow with the square of its parts
                raise FormatError(f"{self.path}:{number}: more than {DOTS} dots in one line; mend the line")
        try:
            return tomllib.loads(self.text)
        except tomllib.TOMLDecodeError as error:
            what, _, where = str(error).partition(" (at ")
            found = re.match(r"line (\d+)", where)
            line = int(found[1]) if found else self.text.rstrip("\n").count("\n") + 1
            raise FormatError(f"{self.path}:{line}: this is not TOML: {what}; mend the line") from None
        except (ValueError, RecursionError):  # tomllib's own limits, which name no line: the longest is the likeliest
            line, _ = max(enumerate(self.text.split("\n"), 1), key=lambda row: len(row[1]))
            raise FormatError(f"{self.path}:{line}: a number or a nesting that has no end; mend the line") from None

    def known(self, data: Table, at: Path, keys: tuple[str, ...]) -> None:
        for key in data:
            if key not in keys:
                import difflib  # noqa: PLC0415  # only for an error

                near = difflib.get_close_matches(key, keys, n=1)
                meant = f"did you mean {near[0]}? known" if near else "known"
                raise self.wrong(f"unknown key {key!r}; {meant} are {', '.join(sorted(keys))}", at, key)

    def table(self, data: Table, key: str, at: Path) -> Table:
        value = data.get(key, {})
        if not isinstance(value, dict):
            raise self.wrong(f"{key} must be a table", at, key)
        return value

    def tables(self, data: Table, key: str) -> list[Table]:
        value = data.get(key, [])
        if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
            raise self.wrong(f"write [[{key}]], with two brackets", (), key)
        return value

    def string(self, data: Table, key: str, at: Path, default: str | None = None) -> str:
        value = data.get(key, default)
        if not isinstance(value, str):
            raise self.wrong(f"{key} is missing" if value is None else f"{key} must be text in quotes", at, key)
        return value

    def strings(self, data: Table, key: str, at: Path) -> tuple[str, ...]:
        value = data.get(key, [])
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise self.wrong(f"{key} must be a list of texts", at, key)
        return tuple(value)

    def flag(self, data: Table, key: str, at: Path) -> bool:
        value = data.get(key, False)
        if not isinstance(value, bool):
            raise self.wrong(f"{key} must be true or false", at, key)
        return value

    def choice(self, data: Table, key: str, at: Path, allowed: tuple[str, ...]) -> str:
        value = self.string(data, key, at)
        if value not in allowed:
            raise self.wrong(f"{key} {value!r} is none of {', '.join(allowed)}", at, key)
        return value

    def text_of(self, data: Table, key: str, at: Path) -> str:
        value = self.string(data, key, at)
        if not value.strip() or "\0" in value:
            raise self.wrong(f"{key} must hold {'no NUL' if value.strip() else 'text'}", at, key)
        return value

    def seconds(self, data: Table, key: str, at: Path, *, above_0: bool = False) -> float:
        value = data[key]
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise self.wrong(f'{key} must be a number of seconds, or "90s", "15m", "2h"', at, key)
        if isinstance(value, str):
            try:
                value = durations.parse(value)
            except UsageError as error:
                raise self.wrong(f"{key}: {error}", at, key) from None
        if not 0 <= value <= durations.LONGEST:
            raise self.wrong(f"{key} is no time that can be waited for; say 0 to ten years", at, key)
        if above_0 and not value:
            raise self.wrong(f"{key} must be above 0", at, key)
        return float(value)

    def count(self, data: Table, key: str, at: Path, *, least: int) -> int:
        value = data[key]
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= MOST:
            raise self.wrong(f"{key} must be a whole number from {least} to {MOST}", at, key)
        return value

    def wrong(self, what: str, at: Path = (), key: str = "") -> FormatError:
        return FormatError(f"{self.path}:{self.line((*at, key) if key else at)}: {what}")

    def line(self, path: Path) -> int:
        """The line of a key, or of the table that it is missing from."""
        if self.lines is None:
            try:
                self.lines = toml_positions.find_lines(self.text)
            except RecursionError:  # as deep as tomllib could go, and one deeper than we can
                self.lines = {}
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)
