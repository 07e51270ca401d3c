"""What all tables of an agent's file share: conditions over named texts, regular expressions, and names of keys."""

from __future__ import annotations

import re

from midwatch.agents import wrapped_rows
from midwatch.agents.definition import Conditions
from midwatch.agents.lazy_pattern import LazyPattern
from midwatch.config.codec.toml_positions import Path
from midwatch.config.codec.toml_reader import Table, TomlFile

REPORTED = ("osc7501", "state", "api", "hook", "transcript")
"""Sources whose words come from reports; their texts are named `source.word`."""
PLAIN = ("screen", "title", "command", "cursor.row", "cursor.in", "cursor.visible", "alternate", "version", "tools")
UNWRAPPED = frozenset(PLAIN) - {"screen"}
KEY = re.compile(r"(?:[CMS]-)*\w+")


class RuleFile(TomlFile):
    """A TOML file with patterns in it. ``ours``: the file is known to be good, and nothing is compiled to check it."""

    def __init__(self, text: str, path: str, *, ours: bool) -> None:
        super().__init__(text, path)
        self.ours = ours

    def check_keys(self, keys: tuple[str, ...], at: Path) -> None:
        if odd := [key for key in keys if not KEY.fullmatch(key)]:
            raise self.wrong(f"{odd[0]!r} is no key; say Enter or C-u", at)

    def conditions(self, data: Table, key: str, at: Path, texts: set[str]) -> Conditions:
        found: list[tuple[str, LazyPattern]] = []
        for name, value in self.flat(data, key, at).items():
            if name not in texts and name.removesuffix(".style") not in texts and name.split(".")[0] not in REPORTED:
                raise self.wrong(f"there is no text {name!r} to look at; there are {', '.join(sorted(texts))}", at, key)
            if not isinstance(value, str):
                raise self.wrong(f"{key}.{name} must be a regular expression in quotes", at, key)
            shown = name in texts and name not in UNWRAPPED
            found.append((name, self.expression(wrapped_rows.match_across_rows(value) if shown else value, at, key)))
        return tuple(found)

    def flat(self, data: Table, key: str, at: Path) -> Table:
        """A table without the tables within: TOML reads `when.state.status` as one in another."""
        found: Table = {}
        for name, each in self.table(data, key, at).items():
            found |= (
                {f"{name}.{inner}": rest for inner, rest in each.items()} if isinstance(each, dict) else {name: each}
            )
        return found

    def number(self, data: Table, key: str, at: Path) -> int:
        value = data.get(key)
        if not isinstance(value, int):
            raise self.wrong(f"{key} must be a number", at, key)
        return value

    def expression(self, text: str, at: Path, key: str) -> LazyPattern:
        """Compiled now, so that an error has its line, unless the file is one of ours, which a test has read."""
        found = LazyPattern(text)
        if not self.ours:
            self.regex(text, at, key)
        return found

    def regex(self, text: str, at: Path, key: str) -> re.Pattern[str]:
        try:
            return re.compile(text, re.MULTILINE)
        except (re.error, OverflowError, RecursionError) as error:
            raise self.wrong(f"{key} is not a regular expression: {error}", at, key) from None
