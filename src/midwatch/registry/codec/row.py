"""One row of a registry: the fields that mean something to us, each in the kinds that it may have."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time

import yaml

from midwatch.core.shells import SHELLS
from midwatch.core.text import visible
from midwatch.registry.model import INVALID, STATUSES, Place, RegistryRow, RowPane
from midwatch.yamledit.parse import find_pair, node_line, yaml_error

OWN_ID = "_session_id_own"
"""Behind the name of the agent."""
IDENTITIES = "agent_identities"
NAMED = re.compile(r".*-creator-([a-z][a-z0-9_]*)")
WORD = re.compile(r"[a-z][a-z0-9_-]*")
NO_COMMANDS = SHELLS | {"tmux"}
"""Commands that say only that nobody knows what runs in a pane."""
FLAT = ("pid", "cmd", "cwd")
"""Fields of the pane that may also stand in the row itself."""
MOMENTS = ("terminated_at", "stopped_at", "archived_at", "created_at")
MOST = 1 << 63
"""Larger than any number of a process or of ticks."""


class RowFields:
    """A table of the file, and the words for what is wrong in it."""

    def __init__(self, data: dict[str, object], node: yaml.Node, path: str) -> None:
        self.data = data
        self.node = node
        self.path = path

    def wrong(self, key: str, words: str) -> Exception:
        found = find_pair(self.node, key)
        return yaml_error(self.path, node_line(found[0] if found else self.node), words)

    def text(self, key: str) -> str:
        """Empty where there is none."""
        value = self.data.get(key)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise self.wrong(key, f"{visible(key)} must be a text; put it in quotes")
        return value

    def number(self, key: str) -> int:
        value = self.data.get(key)
        if value is None:
            return 0
        if type(value) is not int or not 0 <= value < MOST:
            raise self.wrong(key, f"{visible(key)} must be a whole number from 0 on, without quotes")
        return value

    def truth(self, key: str) -> bool | None:
        value = self.data.get(key)
        if value is not None and not isinstance(value, bool):
            raise self.wrong(key, f"{visible(key)} must be true or false, without quotes")
        return value

    def moment(self, key: str) -> float | None:
        value = self.data.get(key)
        if value is None or value == "":
            return None
        try:
            return to_seconds(value)
        except (TypeError, ValueError, OverflowError) as error:
            raise self.wrong(key, f"{visible(key)} must be a time such as 2026-06-20T15:48:27Z") from error

    def table(self, key: str) -> RowFields:
        """An empty one where there is none."""
        value = self.data.get(key)
        if value is None:
            return RowFields({}, self.node, self.path)
        if not isinstance(value, dict):
            raise self.wrong(key, f"{visible(key)} must be a table of fields")
        found = find_pair(self.node, key)
        return RowFields(value, found[1] if found else self.node, self.path)


def to_seconds(value: object) -> float:
    """A time of the file, as text or as YAML's own, in seconds since 1970; without a zone it is UTC."""
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    elif isinstance(value, date) and not isinstance(value, datetime):
        value = datetime.combine(value, time())
    if not isinstance(value, datetime):
        raise TypeError
    return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()


def parse_row(at: int, name: str, line: int, fields: RowFields) -> RegistryRow:
    """FormatError names the line of a field that is not what it must be."""
    status = fields.text("status")
    if status not in STATUSES:
        said = f"status {visible(status)} is none of" if status else "the status is missing; it is one of"
        raise fields.wrong("status", f"{said} {', '.join(STATUSES)}")
    pane = _parse_pane(fields)
    identities = _parse_identities(fields)
    own = {key.removesuffix(OWN_ID): fields.text(key) for key in fields.data if _is_own_id(key)}
    agent = fields.text("agent") or _find_agent(name, own, identities, pane)
    moments = [moment for key in MOMENTS if (moment := fields.moment(key)) is not None]
    return RegistryRow(
        at, name, status, line, agent, pane, _server_socket(fields.text("tmux_socket")),
        own.get(agent) or identities.get(agent, ""), fields.truth("resumable"), max(moments, default=None),
        fields.text("last_visible_status"), fields.data,
    )  # fmt: skip


def invalid_row(at: int, name: str, line: int, data: object, problem: str) -> RegistryRow:
    """A row that cannot be understood. Its name and its ids are still taken."""
    table = data if isinstance(data, dict) else {}
    ids = [(key.removesuffix(OWN_ID), value) for key, value in table.items() if _is_own_id(key)]
    agent, talk = next(((agent, value) for agent, value in ids if isinstance(value, str)), ("", ""))
    return RegistryRow(at, name, INVALID, line, agent, conversation=talk, data=table, problem=problem)


def _is_own_id(key: object) -> bool:
    return isinstance(key, str) and key.endswith(OWN_ID) and key != OWN_ID


def _parse_pane(fields: RowFields) -> RowPane:
    inner = fields.table("pane")
    pid, cmd, cwd = (inner if inner.data.get(key) is not None else fields for key in FLAT)
    return RowPane(
        pid.number("pid"), cmd.text("cmd"), cwd.text("cwd"), inner.text("id"), inner.number("start"), inner.text("boot")
    )


def field_path(data: dict[str, object], field: str) -> str:
    """Where a field of the pane stands in a row: ``pane.pid``, or ``pid`` in a row that has it so."""
    key = field.removeprefix("pane.")
    pane = data.get("pane")
    flat = key in FLAT and key in data and not (isinstance(pane, dict) and pane.get(key) is not None)
    return key if flat else field


def _parse_identities(fields: RowFields) -> dict[str, str]:
    table = fields.table(IDENTITIES)
    return {agent: table.table(agent).text("session_id") for agent in table.data if isinstance(agent, str)}


def _find_agent(name: str, own: dict[str, str], identities: dict[str, str], pane: RowPane) -> str:
    known = [agent for agent, value in own.items() if value] or list(own)
    if len(known) == 1:
        return known[0]
    if len(identities) == 1:
        return next(iter(identities))
    if named := NAMED.fullmatch(name):
        return named[1]
    return pane.cmd if WORD.fullmatch(pane.cmd) and pane.cmd not in NO_COMMANDS else ""


def _server_socket(socket: str) -> Place | None:
    if not socket:
        return None
    return ("-S" if "/" in socket else "-L", socket)
