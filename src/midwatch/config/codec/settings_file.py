"""A settings file, read: TOML text to Settings, with the line of whatever is wrong in it.

What a file gives is kept apart from what it leaves to us until both files are read: 0 that was given beats a 3 that
was given elsewhere, and one that is only our default beats nothing.
"""

from __future__ import annotations

from midwatch.config.codec import mqtt_table, notify_table, swarm_table
from midwatch.config.codec.toml_positions import Path
from midwatch.config.codec.toml_reader import Table, TomlFile
from midwatch.config.model import CHECKS, PROGRAM_STATUS, Command, PreflightCheck, Settings
from midwatch.core import check_targets
from midwatch.core.errors import FormatError
from midwatch.core.policy import CLOCKS, POLICIES, PROGRESS_SOURCES
from midwatch.core.text import visible

KEYS = (
    "policy", "run", "breaker", "check", "notify", "parse", "registry", "session", "mqtt", "terminal",
    *swarm_table.KEYS,
)  # fmt: skip
KEYS_OF_POLICY = ("name", "stale", "grace", "timeout", "heartbeat", "on_stuck", "progress", "clock")
KEYS_OF_RUN = ("retries", "backoff", "preflight")
KEYS_OF_BREAKER = ("threshold", "cooldown")
KEYS_OF_PARSE = ("command",)
KEYS_OF_REGISTRY = ("naming", "keep")
KEYS_OF_SESSION = ("status_protocol",)
KEYS_OF_TERMINAL = ("program_status",)
KEYS_OF_CHECK = (*CHECKS, "name", "fix", "timeout")
READERS = {"disk": check_targets.parse_disk, "tcp": check_targets.parse_address, "env": check_targets.parse_variable}
"""Of targets that have a form of their own."""
WITH_VENV = ("module", "package")
ON_STUCK = ("report", "stop")
PATIENCE = 10.0
"""Seconds that a check may take unless its file says otherwise."""

Given = Table
"""The fields of Settings that one file gives."""


def read(text: str, path: str) -> Settings:
    """The settings of one file, ours where it is silent. FormatError names the line."""
    return merge_layers(parse_layer(text, path), None)


def parse_layer(text: str, path: str) -> Given:
    """What one file gives, to be merged. FormatError names the line."""
    return _SettingsFile(text, path).given()


def merge_layers(user: Given | None, project: Given | None) -> Settings:
    """The project's over the user's, key by key; checks and channels of both, the user's first.

    Whoever names a policy means that policy's own table, so a name in the project's file leaves nothing of the
    user's [policy].
    """
    weak, strong = user or {}, project or {}
    policy = (
        {**_merge_policy(weak), **_merge_policy(strong)}
        if "name" not in _merge_policy(strong)
        else _merge_policy(strong)
    )
    added = ("checks", "channels", "files")
    both = {key: (*weak.get(key, ()), *strong.get(key, ())) for key in added}  # type: ignore[misc]
    sources = {**_read_table(weak, "sources"), **_read_table(strong, "sources")}
    return Settings()._replace(**{**weak, **strong, **both, "policy": policy, "sources": sources})  # type: ignore[arg-type]


def _merge_policy(layer: Given) -> Table:
    return _read_table(layer, "policy")


def _read_table(layer: Given, key: str) -> Table:
    found = layer.get(key, {})
    assert isinstance(found, dict)
    return found


def decode_text(data: bytes, path: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FormatError(f"{path}:{line}: this is not UTF-8; save the file in that encoding") from None


class _SettingsFile(TomlFile):
    def given(self) -> Given:
        data = self.parsed()
        self.known(data, (), KEYS)
        found: Given = {"policy": self.policy(data), "files": (self.path,)}
        run, breaker = self.table(data, "run", ()), self.table(data, "breaker", ())
        self.known(run, ("run",), KEYS_OF_RUN)
        self.known(breaker, ("breaker",), KEYS_OF_BREAKER)
        if "retries" in run:
            found["retries"] = self.count(run, "retries", ("run",), least=0)
        if "backoff" in run:
            found["backoff_s"] = self.seconds(run, "backoff", ("run",))
        if "preflight" in run:
            found["preflight"] = self.flag(run, "preflight", ("run",))
        if "threshold" in breaker:
            found["breaker_threshold"] = self.count(breaker, "threshold", ("breaker",), least=1)
        if "cooldown" in breaker:
            found["breaker_cooldown_s"] = self.seconds(breaker, "cooldown", ("breaker",))
        found["checks"] = tuple(self.check(each, ("check", nth)) for nth, each in enumerate(self.tables(data, "check")))
        found["channels"] = notify_table.read(self, self.table(data, "notify", ()))
        parse = self.table(data, "parse", ())
        self.known(parse, ("parse",), KEYS_OF_PARSE)
        if "command" in parse:
            source = f"{self.path}:{self.line(('parse', 'command'))}"
            found["parse"] = Command(self.text_of(parse, "command", ("parse",)).strip(), source)
        if "mqtt" in data:
            found["mqtt"] = mqtt_table.read(self, self.table(data, "mqtt", ()))
        found.update(swarm_table.read(self, data))
        session = self.table(data, "session", ())
        self.known(session, ("session",), KEYS_OF_SESSION)
        if "status_protocol" in session:
            found["status_protocol"] = self.flag(session, "status_protocol", ("session",))
        registry = self.table(data, "registry", ())
        self.known(registry, ("registry",), KEYS_OF_REGISTRY)
        if "naming" in registry:
            found["naming"] = self.strings(registry, "naming", ("registry",))
        if "keep" in registry:
            found["keep_s"] = self.seconds(registry, "keep", ("registry",), above_0=True)
        terminal = self.table(data, "terminal", ())
        self.known(terminal, ("terminal",), KEYS_OF_TERMINAL)
        if "program_status" in terminal:
            found["program_status"] = self.choice(terminal, "program_status", ("terminal",), PROGRAM_STATUS)
        return found

    def policy(self, data: Table) -> Table:
        at = ("policy",)
        table = self.table(data, "policy", ())
        self.known(table, at, KEYS_OF_POLICY)
        found: Table = {}
        if "name" in table:
            found["name"] = self.choice(table, "name", at, tuple(POLICIES))
        for key in ("stale", "grace", "timeout", "heartbeat"):
            if key in table:
                found[f"{key}_s"] = self.seconds(table, key, at, above_0=key != "grace")
        if "on_stuck" in table:
            found["on_stuck"] = self.choice(table, "on_stuck", at, ON_STUCK)
        if "clock" in table:
            found["clock"] = self.choice(table, "clock", at, CLOCKS)
        if "progress" in table:
            found["progress"] = self.sources(table, at)
        stale = found.get("stale_s", POLICIES[str(found.get("name", "patient"))].stale_s)
        pulse = found.get("heartbeat_s", 0.0)
        assert isinstance(stale, float)
        assert isinstance(pulse, float)
        if pulse >= stale / 2:
            raise self.wrong(f"heartbeat must be below half of stale, which is {stale:g}s; lower it", at, "heartbeat")
        return found

    def sources(self, table: Table, at: Path) -> tuple[str, ...]:
        wanted = self.strings(table, "progress", at)
        odd = [source for source in wanted if source not in PROGRESS_SOURCES]
        if odd or not wanted:
            named = f"not {odd[0]!r}" if odd else "at least one"
            raise self.wrong(f"progress lists {', '.join(PROGRESS_SOURCES)}, {named}", at, "progress")
        return tuple(source for source in PROGRESS_SOURCES if source in wanted)

    def check(self, data: Table, at: Path) -> PreflightCheck:
        self.known(data, at, KEYS_OF_CHECK)
        kinds = [key for key in data if key in CHECKS]
        if "venv" in kinds and any(kind in kinds for kind in WITH_VENV):
            kinds.remove("venv")
        if not kinds:
            raise self.wrong(f"a check needs what it looks at: one of {', '.join(CHECKS)}", at)
        if len(kinds) > 1:
            only = "; venv goes only with module or package" if "venv" in kinds else ""
            raise self.wrong(f"{kinds[0]} and {kinds[1]} are two checks; write two [[check]]{only}", at, kinds[1])
        kind = kinds[0]
        target = self.target(data, kind, at)
        name = self.text_of(data, "name", at) if "name" in data else visible(f"{kind} {target}")
        if not name.isprintable():
            raise self.wrong("name must be one line of plain text", at, "name")
        return PreflightCheck(
            kind=kind, target=target, name=name,
            fix=self.text_of(data, "fix", at) if "fix" in data else "",
            venv=self.text_of(data, "venv", at) if "venv" in data and kind != "venv" else "",
            timeout_s=self.seconds(data, "timeout", at, above_0=True) if "timeout" in data else PATIENCE,
            source=f"{self.path}:{self.line(at)}",
        )  # fmt: skip

    def target(self, data: Table, kind: str, at: Path) -> str:
        target = self.text_of(data, kind, at)
        try:
            READERS.get(kind, str)(target)
        except FormatError as error:
            raise self.wrong(f"{kind}: {error}", at, kind) from None
        return target
