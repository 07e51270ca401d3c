"""An agent's file, read: TOML text to a Detector, with the line of whatever is wrong in it."""

from __future__ import annotations

import re
import tomllib

from dogwatch.agents.detector import Detector, Region, Rule, numbered
from dogwatch.model.errors import FormatError
from dogwatch.model.session import SOURCES, TURNS

REPORTED = ("state", "api", "hook", "transcript")
"""Sources whose words come from reports; their texts are named `source.word`."""
PLAIN = ("screen", "title", "command", "cursor.row", "cursor.in", "cursor.visible", "alternate", "version", "tools")
NEVER = (1 << 30,)
KEYS = {
    "": {"agent", "title", "tested", "process", "version", "noise", "firm", "region", "rule"},
    "process": {"names", "not", "variables"},
    "region": {"name", "in", "match", "above", "below", "without", "else", "flat"},
    "rule": {"name", "source", "turn", "detail", "priority", "when", "not", "versions"},
}


def read(text: str, path: str, shared: tuple[Rule, ...] = ()) -> Detector:
    """The detector of one file; rules that all agents share hold unless it has its own. FormatError names the line."""
    return _File(text, path).detector(shared)


def read_rules(text: str, path: str) -> tuple[Rule, ...]:
    """A file of nothing but rules."""
    return _File(text, path).rules()


class _File:
    def __init__(self, text: str, path: str) -> None:
        self.text = text
        self.path = path

    def parsed(self) -> dict[str, object]:
        try:
            return tomllib.loads(self.text)
        except tomllib.TOMLDecodeError as error:
            found = re.search(r"\(at line (\d+)", str(error))
            raise self.wrong(str(error).split(" (at ")[0], line=int(found[1]) if found else 1) from None

    def rules(self) -> tuple[Rule, ...]:
        return tuple(self.rule(each, nth, set()) for nth, each in enumerate(self.tables(self.parsed(), "rule")))

    def detector(self, shared: tuple[Rule, ...]) -> Detector:
        data = self.parsed()
        self.known(data, "", 0)
        process = self.table(data, "process", ("process", 0))
        self.known(process, "process", 0)
        regions: list[Region] = []
        for nth, each in enumerate(self.tables(data, "region")):
            regions.append(self.region(each, nth, {"screen", *(region.name for region in regions)}))
        texts = {*PLAIN, *(region.name for region in regions)}
        rules = [self.rule(each, nth, texts) for nth, each in enumerate(self.tables(data, "rule"))]
        own = {rule.name for rule in rules}
        rules += [rule for rule in shared if rule.name not in own]
        rules.sort(key=lambda rule: -rule.priority)
        version, aside = self.string(data, "version", ("", 0), ""), self.string(process, "not", ("process", 0), "")
        return Detector(
            agent=self.string(data, "agent", ("", 0)), title=self.string(data, "title", ("", 0)),
            tested=self.strings(data, "tested", ("", 0)),
            names=self.regex(self.string(process, "names", ("process", 0)), ("process", 0), "names"),
            not_names=self.regex(aside, ("process", 0), "not") if aside else None,
            variables=self.strings(process, "variables", ("process", 0)),
            version=self.regex(version, ("", 0), "version") if version else None,
            noise=self.regex(self.string(data, "noise", ("", 0), "(?!)"), ("", 0), "noise"),
            firm=self.strings(data, "firm", ("", 0)), regions=tuple(regions), rules=tuple(rules),
        )  # fmt: skip

    def region(self, data: dict[str, object], nth: int, earlier: set[str]) -> Region:
        at = ("region", nth)
        self.known(data, *at)
        match = self.string(data, "match", at, "")
        made = Region(
            name=self.string(data, "name", at), within=self.string(data, "in", at, "screen"),
            match=self.regex(match, at, "match") if match else None,
            above=self.string(data, "above", at, ""), below=self.string(data, "below", at, ""),
            without=self.string(data, "without", at, ""), otherwise=self.string(data, "else", at, ""),
            flat=self.flag(data, "flat", at),
        )  # fmt: skip
        beside = {"above": made.above, "below": made.below, "without": made.without}
        for key, name in {"in": made.within, "else": made.otherwise, **beside}.items():
            if name and name not in earlier:
                before = ", ".join(sorted(earlier))
                raise self.wrong(f"region {name!r} is not one of those before it: {before}", at, key)
        if not match and not any(beside.values()):
            raise self.wrong("a region needs `match`, `above`, `below` or `without`", at)
        return made

    def rule(self, data: dict[str, object], nth: int, texts: set[str]) -> Rule:
        at = ("rule", nth)
        self.known(data, *at)
        source = self.choice(data, "source", at, SOURCES)
        made = Rule(
            name=self.string(data, "name", at), source=source, turn=self.choice(data, "turn", at, TURNS),
            detail=self.string(data, "detail", at, ""), priority=self.number(data, "priority", at),
            when=self.conditions(data, "when", at, texts), unless=self.conditions(data, "not", at, texts),
            versions=self.span(data, at),
        )  # fmt: skip
        if not made.when:
            raise self.wrong("a rule needs `when`", at)
        return made

    def conditions(
        self, data: dict[str, object], key: str, at: tuple[str, int], texts: set[str]
    ) -> tuple[tuple[str, re.Pattern[str]], ...]:
        found: list[tuple[str, re.Pattern[str]]] = []
        for name, value in self.table(data, key, at).items():
            if name not in texts and name.removesuffix(".style") not in texts and name.split(".")[0] not in REPORTED:
                raise self.wrong(f"there is no text {name!r} to look at; there are {', '.join(sorted(texts))}", at, key)
            if not isinstance(value, str):
                raise self.wrong(f"{key}.{name} must be a regular expression in quotes", at, key)
            found.append((name, self.regex(value, at, key)))
        return tuple(found)

    def span(self, data: dict[str, object], at: tuple[str, int]) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        """`versions = "2.0 - 2.2"`: from the first on, up to but not including the second; either may be left out."""
        text = self.string(data, "versions", at, "")
        if not text:
            return None
        first, dash, last = text.partition("-")
        if not dash or not (first.strip() or last.strip()):
            raise self.wrong('versions are written "from - up to", such as "2.1 - 3" or "2.1 -"', at, "versions")
        return numbered(first), numbered(last) or NEVER

    # Values --------------------------------------------------------------------------------------------------------

    def known(self, data: dict[str, object], table: str, nth: int) -> None:
        for key in data:
            if key not in KEYS[table]:
                raise self.wrong(f"unknown key {key!r}; known are {', '.join(sorted(KEYS[table]))}", (table, nth), key)

    def table(self, data: dict[str, object], key: str, at: tuple[str, int]) -> dict[str, object]:
        value = data.get(key, {})
        if not isinstance(value, dict):
            raise self.wrong(f"{key} must be a table", at, key)
        flat: dict[str, object] = {}
        for name, each in value.items():
            if isinstance(each, dict):  # TOML reads `when.state.status` as tables within tables
                flat |= {f"{name}.{inner}": rest for inner, rest in each.items()}
            else:
                flat[name] = each
        return flat

    def tables(self, data: dict[str, object], key: str) -> list[dict[str, object]]:
        value = data.get(key, [])
        if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
            raise self.wrong(f"write [[{key}]], with two brackets", ("", 0), key)
        return value

    def string(self, data: dict[str, object], key: str, at: tuple[str, int], default: str | None = None) -> str:
        value = data.get(key, default)
        if not isinstance(value, str):
            raise self.wrong(f"{key} is missing" if value is None else f"{key} must be text in quotes", at, key)
        return value

    def strings(self, data: dict[str, object], key: str, at: tuple[str, int]) -> tuple[str, ...]:
        value = data.get(key, [])
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise self.wrong(f"{key} must be a list of texts", at, key)
        return tuple(value)

    def number(self, data: dict[str, object], key: str, at: tuple[str, int]) -> int:
        value = data.get(key)
        if not isinstance(value, int):
            raise self.wrong(f"{key} must be a number", at, key)
        return value

    def flag(self, data: dict[str, object], key: str, at: tuple[str, int]) -> bool:
        value = data.get(key, False)
        if not isinstance(value, bool):
            raise self.wrong(f"{key} must be true or false", at, key)
        return value

    def choice(self, data: dict[str, object], key: str, at: tuple[str, int], allowed: tuple[str, ...]) -> str:
        value = self.string(data, key, at)
        if value not in allowed:
            raise self.wrong(f"{key} {value!r} is none of {', '.join(allowed)}", at, key)
        return value

    def regex(self, text: str, at: tuple[str, int], key: str) -> re.Pattern[str]:
        try:
            return re.compile(text, re.MULTILINE)
        except re.error as error:
            raise self.wrong(f"{key} is not a regular expression: {error}", at, key) from None

    # Errors --------------------------------------------------------------------------------------------------------

    def wrong(self, what: str, at: tuple[str, int] = ("", 0), key: str = "", line: int = 0) -> FormatError:
        return FormatError(f"{self.path}:{line or self.line(at, key)}: {what}")

    def line(self, at: tuple[str, int], key: str) -> int:
        """Where a table begins, or within it a key: the parser does not tell, so the text is searched."""
        table, nth = at
        rows = self.text.splitlines()
        start = 0
        if table:
            headers = [n for n, row in enumerate(rows) if re.match(rf"\s*\[\[?\s*{table}\b", row)]
            start = headers[nth] if nth < len(headers) else 0
        for number, row in enumerate(rows[start + bool(table) :], start + bool(table) + 1):
            if table and row.lstrip().startswith("["):
                break
            if key and re.match(rf"""\s*\[?\[?["']?{re.escape(key)}\b""", row):
                return number
        return start + 1
