"""Midwatch's entries in an agent's settings file, as text: put in, found, and taken out; all else in it stays.

Midwatch's entries are known by their command, which `hook_command` writes. The file is JSON, and is written anew with
the indentation that it has. A file that JSON cannot say again (comments, a key twice) is refused.
"""

from __future__ import annotations

import json
import re

from midwatch.agents.hooks.events import hook_command
from midwatch.agents.hooks.model import HookRules
from midwatch.core.errors import FormatError

OURS = re.compile(r"exec /bin/sh \S*/agents/hooks/hook\.sh |exec /bin/sh '[^']*/agents/hooks/hook\.sh' ")
TABLE = "hooks"
INDENT = re.compile(r"^([ \t]+)\S", re.MULTILINE)
JsonObject = dict[str, object]


def read_settings(text: str) -> JsonObject:
    """The object that a settings file holds; FormatError where it cannot be written again as it is."""
    if not text.strip():
        return {}
    try:
        found = json.loads(text, object_pairs_hook=_check_pairs)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"it is not plain JSON ({error})") from None
    if not isinstance(found, dict):
        raise FormatError("it holds no JSON object")
    return found


def write_settings(settings: JsonObject, before: str) -> str:
    """The text of the file, indented as it was before."""
    found = INDENT.search(before)
    return json.dumps(settings, indent=found[1] if found else 2, ensure_ascii=False) + "\n"


def add_entries(settings: JsonObject, rules: HookRules, script: str, spool: str, agent: str) -> JsonObject:
    """The same settings with Midwatch's entry for each event, and no older entry of its own."""
    made = remove_entries(settings)
    hooks = _table(made)
    command = hook_command(script, spool, agent)
    for event in rules.events:
        entry = {"matcher": "*", "hooks": [{"type": "command", "command": command, "timeout": rules.timeout}]}
        hooks[event] = [*_entries(hooks, event), entry]
    return {**made, TABLE: hooks}


def remove_entries(settings: JsonObject) -> JsonObject:
    """The same settings without Midwatch's entries, and without what held nothing else."""
    if TABLE not in settings:
        return dict(settings)
    kept: JsonObject = {}
    for event, entries in _table(settings).items():
        left = entries
        if isinstance(entries, list):
            left = [rest for entry in entries for rest in _without_ours(entry)]
        if left or left == entries:
            kept[event] = left
    rest = {key: value for key, value in settings.items() if key != TABLE}
    return {key: kept if key == TABLE else value for key, value in settings.items()} if kept else rest


def list_commands(settings: JsonObject) -> dict[str, list[str]]:
    """Midwatch's commands by event."""
    found: dict[str, list[str]] = {}
    for event, entries in (_table(settings) if TABLE in settings else {}).items():
        for command in _commands(entries):
            found.setdefault(event, []).append(command)
    return found


def _check_pairs(pairs: list[tuple[str, object]]) -> JsonObject:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


def _table(settings: JsonObject) -> JsonObject:
    found = settings.get(TABLE, {})
    if not isinstance(found, dict):
        raise FormatError(f"its {TABLE!r} is no object")
    return dict(found)


def _entries(hooks: JsonObject, event: str) -> list[object]:
    found = hooks.get(event, [])
    if not isinstance(found, list):
        raise FormatError(f"its {TABLE}.{event} is no list")
    return found


def _is_ours(hook: object) -> bool:
    command = hook.get("command") if isinstance(hook, dict) else None
    return isinstance(command, str) and OURS.match(command) is not None


def _without_ours(entry: object) -> list[object]:
    """An entry of an event without Midwatch's hooks; nothing where nothing else is left of it."""
    hooks = entry.get("hooks") if isinstance(entry, dict) else None
    if not isinstance(entry, dict) or not isinstance(hooks, list) or not any(map(_is_ours, hooks)):
        return [entry]
    left = [hook for hook in hooks if not _is_ours(hook)]
    return [{**entry, "hooks": left}] if left else []


def _commands(entries: object) -> list[str]:
    found = []
    for entry in entries if isinstance(entries, list) else []:
        hooks = entry.get("hooks") if isinstance(entry, dict) else None
        found += [hook["command"] for hook in (hooks if isinstance(hooks, list) else []) if _is_ours(hook)]
    return found
