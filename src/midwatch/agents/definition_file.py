"""An agent's file, read: TOML text to a Detector, with the line of whatever is wrong in it."""

from __future__ import annotations

from midwatch.agents import dialog_rules, wrapped_rows
from midwatch.agents.definition import (
    DetectionRule,
    Detector,
    LimitRules,
    PromptBoxRules,
    ScreenRegion,
    parse_version,
)
from midwatch.agents.hooks.model import HookRules
from midwatch.agents.launch import CONVERSATION, MODEL, LaunchRules
from midwatch.agents.rule_file import PLAIN, RuleFile
from midwatch.config.codec.toml_positions import Path
from midwatch.config.codec.toml_reader import Table
from midwatch.core.pane_model import SOURCES, TURNS

NEVER = (1 << 30,)
KEYS = (
    "agent", "title", "tested", "process", "version", "noise", "firm", "region", "rule", "typing", "start", "limit",
    "hooks", "clock", "status", "dialog", "any",
)  # fmt: skip
KEYS_OF_PROCESS = ("names", "not", "variables")
KEYS_OF_REGION = ("name", "in", "match", "above", "below", "without", "else", "flat")
KEYS_OF_RULE = ("name", "source", "turn", "detail", "priority", "when", "not", "versions")
KEYS_OF_TYPING = ("box", "empty", "frame", "folded", "not", "submit", "clear")
KEYS_OF_START = ("command", "model", "named", "resume", "goodbye", "headless", "plain", "daemons", "without")
KEYS_OF_LIMIT = ("menu", "wait")
KEYS_OF_HOOKS = ("file", "events", "timeout", "plugin", "note")
KEYS_OF_STATUS = ("asks_after",)
SIGNS = (("model", MODEL), ("named", CONVERSATION), ("resume", CONVERSATION), ("goodbye", CONVERSATION))


def read(text: str, path: str, shared: tuple[DetectionRule, ...] = (), *, ours: bool = False) -> Detector:
    """The detector of one file; rules that all agents share hold unless it has its own. FormatError names the line.

    ``ours``: the file is known to be good.
    """
    return _DefinitionFile(text, path, ours=ours).detector(shared)


def read_rules(text: str, path: str, *, ours: bool = False) -> tuple[DetectionRule, ...]:
    """A file of nothing but rules."""
    return _DefinitionFile(text, path, ours=ours).rules()


class _DefinitionFile(RuleFile):
    def rules(self) -> tuple[DetectionRule, ...]:
        return tuple(self.rule(each, nth, set()) for nth, each in enumerate(self.tables(self.parsed(), "rule")))

    def detector(self, shared: tuple[DetectionRule, ...]) -> Detector:
        data = self.parsed()
        self.known(data, (), KEYS)
        process = self.table(data, "process", ())
        self.known(process, ("process",), KEYS_OF_PROCESS)
        regions: list[ScreenRegion] = []
        for nth, each in enumerate(self.tables(data, "region")):
            regions.append(self.region(each, nth, {"screen", *(region.name for region in regions)}))
        texts = {*PLAIN, *(region.name for region in regions)}
        rules = [self.rule(each, nth, texts) for nth, each in enumerate(self.tables(data, "rule"))]
        own = {rule.name for rule in rules}
        rules += [rule for rule in shared if rule.name not in own]
        rules.sort(key=lambda rule: -rule.priority)
        version, aside = self.string(data, "version", (), ""), self.string(process, "not", ("process",), "")
        return Detector(
            agent=self.string(data, "agent", ()), title=self.string(data, "title", ()),
            tested=self.strings(data, "tested", ()),
            names=self.regex(self.string(process, "names", ("process",)), ("process",), "names"),
            not_names=self.regex(aside, ("process",), "not") if aside else None,
            variables=self.strings(process, "variables", ("process",)),
            version=self.regex(version, (), "version") if version else None,
            noise=self.regex(self.string(data, "noise", (), "(?!)"), (), "noise"),
            firm=self.strings(data, "firm", ()), regions=tuple(regions), rules=tuple(rules),
            typing=self.typing(data, texts), start=self.start(data), limits=self.limits(data, texts),
            hooks=self.hooks(data), dialogs=dialog_rules.read_dialogs(self, data, texts),
            clock=self.clock(data, texts), asks_after=self.asks_after(data), any=self.flag(data, "any", ()),
        )  # fmt: skip

    def asks_after(self, data: Table) -> str:
        at = ("status",)
        table = self.table(data, "status", ())
        self.known(table, at, KEYS_OF_STATUS)
        return self.string(table, "asks_after", at, "")

    def clock(self, data: Table, texts: set[str]) -> str:
        found = self.string(data, "clock", (), "")
        if found and found not in texts:
            raise self.wrong(f"there is no region {found!r}", (), "clock")
        return found

    def region(self, data: Table, nth: int, earlier: set[str]) -> ScreenRegion:
        at = ("region", nth)
        self.known(data, at, KEYS_OF_REGION)
        match = self.string(data, "match", at, "")
        made = ScreenRegion(
            name=self.string(data, "name", at), within=self.string(data, "in", at, "screen"),
            match=self.expression(wrapped_rows.match_across_rows(match), at, "match") if match else None,
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

    def rule(self, data: Table, nth: int, texts: set[str]) -> DetectionRule:
        at = ("rule", nth)
        self.known(data, at, KEYS_OF_RULE)
        source = self.choice(data, "source", at, SOURCES)
        made = DetectionRule(
            name=self.string(data, "name", at), source=source, turn=self.choice(data, "turn", at, TURNS),
            detail=self.string(data, "detail", at, ""), priority=self.number(data, "priority", at),
            when=self.conditions(data, "when", at, texts), unless=self.conditions(data, "not", at, texts),
            versions=self.span(data, at),
        )  # fmt: skip
        if not made.when:
            raise self.wrong("a rule needs `when`", at)
        return made

    def typing(self, data: Table, texts: set[str]) -> PromptBoxRules | None:
        if "typing" not in data:
            return None
        at = ("typing",)
        table = self.table(data, "typing", ())
        self.known(table, at, KEYS_OF_TYPING)
        box, folded = self.string(table, "box", at), self.string(table, "folded", at, "")
        if box not in texts:
            raise self.wrong(f"there is no region {box!r}", at, "box")
        made = PromptBoxRules(
            box=box, empty=self.regex(self.string(table, "empty", at), at, "empty"),
            frame=self.regex(self.string(table, "frame", at), at, "frame"),
            folded=self.regex(folded, at, "folded") if folded else None,
            unless=self.conditions(table, "not", at, texts),
            submit=self.string(table, "submit", at, PromptBoxRules._field_defaults["submit"]),
            clear=self.strings(table, "clear", at) or PromptBoxRules._field_defaults["clear"],
        )  # fmt: skip
        self.check_keys((made.submit, *made.clear), at)
        return made

    def start(self, data: Table) -> LaunchRules | None:
        if "start" not in data:
            return None
        at = ("start",)
        table = self.table(data, "start", ())
        self.known(table, at, KEYS_OF_START)
        made = LaunchRules(**{key: self.strings(table, key, at) for key in KEYS_OF_START})
        if not made.command:
            raise self.wrong("command must name a program", at, "command")
        for key, sign in SIGNS:
            if getattr(made, key) and not any(sign in part for part in getattr(made, key)):
                raise self.wrong(f"{key} must hold {sign}", at, key)
        return made

    def limits(self, data: Table, texts: set[str]) -> LimitRules | None:
        if "limit" not in data:
            return None
        at = ("limit",)
        table = self.table(data, "limit", ())
        self.known(table, at, KEYS_OF_LIMIT)
        made = LimitRules(self.conditions(table, "menu", at, texts), self.strings(table, "wait", at))
        if not made.menu or not made.wait:
            raise self.wrong("`menu` tells when the keys in `wait` may be pressed; it needs both", at)
        self.check_keys(made.wait, at)
        return made

    def hooks(self, data: Table) -> HookRules | None:
        if "hooks" not in data:
            return None
        at = ("hooks",)
        table = self.table(data, "hooks", ())
        self.known(table, at, KEYS_OF_HOOKS)
        made = HookRules(
            file=self.string(table, "file", at), events=self.strings(table, "events", at),
            timeout=self.number(table, "timeout", at) if "timeout" in table else 0,
            plugin=self.string(table, "plugin", at, ""), note=self.string(table, "note", at, ""),
        )  # fmt: skip
        if bool(made.events) == bool(made.plugin):
            raise self.wrong("it needs `events` that name the hook, or a `plugin` in place of the file", at)
        return made

    def span(self, data: Table, at: Path) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        """`versions = "2.0 - 2.2"`: from the first on, up to but not including the second; either may be left out."""
        text = self.string(data, "versions", at, "")
        if not text:
            return None
        first, dash, last = text.partition("-")
        if not dash or not (first.strip() or last.strip()):
            raise self.wrong('versions are written "from - up to", such as "2.1 - 3" or "2.1 -"', at, "versions")
        return parse_version(first), parse_version(last) or NEVER
