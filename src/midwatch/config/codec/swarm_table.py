"""The tables of a settings file for those who let one agent lead others: [watchdog], [tracker], [handoff], [send]."""

from __future__ import annotations

from midwatch.config.codec.toml_reader import Table, TomlFile
from midwatch.config.model import TRACKERS, WAYS, Command

KEYS_OF_WATCHDOG = ("prompt", "ceiling", "ensure_quality")
KEYS_OF_TRACKER = ("kind", "path")
KEYS_OF_HANDOFF = ("command",)
KEYS_OF_SEND = ("via",)
KEYS = {"watchdog": KEYS_OF_WATCHDOG, "tracker": KEYS_OF_TRACKER, "handoff": KEYS_OF_HANDOFF, "send": KEYS_OF_SEND}
MOST = 60
"""Messages within an hour: one a minute is more than any controller can act upon."""


def read(file: TomlFile, data: Table) -> Table:
    """The fields of Settings that these tables give. FormatError names the line."""
    tables = {name: file.table(data, name, ()) for name in KEYS}
    for name, table in tables.items():
        file.known(table, (name,), KEYS[name])
    found: Table = {}
    watchdog = tables["watchdog"]
    if "prompt" in watchdog:
        found["watchdog_prompt"] = _read_command(file, watchdog, "prompt", "watchdog")
    if "ceiling" in watchdog:
        found["watchdog_ceiling"] = _read_ceiling(file, watchdog)
    sources = {}
    if "ensure_quality" in watchdog:
        found["ensure_quality"] = file.flag(watchdog, "ensure_quality", ("watchdog",))
        sources["ensure_quality"] = f"{file.path}:{file.line(('watchdog', 'ensure_quality'))}"
    if "kind" in tables["tracker"]:
        found["tracker"] = file.choice(tables["tracker"], "kind", ("tracker",), TRACKERS)
    if "path" in tables["tracker"]:
        found["tracker_path"] = _read_text(file, tables["tracker"], "path", "tracker")
        sources["tracker_path"] = f"{file.path}:{file.line(('tracker', 'path'))}"
    if "command" in tables["handoff"]:
        found["handoff"] = _read_command(file, tables["handoff"], "command", "handoff")
    if "via" in tables["send"]:
        found["send_via"] = file.choice(tables["send"], "via", ("send",), WAYS)
        sources["send_via"] = f"{file.path}:{file.line(('send', 'via'))}"
    return {**found, "sources": sources}


def _read_command(file: TomlFile, table: Table, key: str, name: str) -> Command:
    """What agents are told to do, which is as good as a command."""
    return Command(_read_text(file, table, key, name), f"{file.path}:{file.line((name, key))}")


def _read_text(file: TomlFile, table: Table, key: str, name: str) -> str:
    value = file.string(table, key, (name,))
    if not value.strip() or not value.isprintable():
        raise file.wrong(f"{key} must hold one line of text", (name,), key)
    return value


def _read_ceiling(file: TomlFile, table: Table) -> int:
    value = table["ceiling"]
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST:
        raise file.wrong(f"ceiling must be a whole number from 1 to {MOST}", ("watchdog",), "ceiling")
    return value
