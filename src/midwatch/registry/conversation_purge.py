"""Taking away what an agent has written of one conversation: files that are that conversation's alone.

Databases hold the conversations of others, or are an agent's own business: they are never written. What is taken away
is named by the id itself, or says that it is of it; nobody may have it open.
"""

from __future__ import annotations

import os

from midwatch.agents import file_locations, parts
from midwatch.agents.conversation_holders import find_holders
from midwatch.agents.definition import Detector
from midwatch.agents.file_head_cache import FileHeadCache
from midwatch.core.errors import RefusedError
from midwatch.core.pane_model import RunningAgent
from midwatch.core.value import Value
from midwatch.registry.model import RegistryRow
from midwatch.registry.sessions import RegisteredSessions, RowStatus
from midwatch.sessions import conversation_lease
from midwatch.system.remove_tree import remove_tree


class PurgeResult(Value):
    files: tuple[str, ...]
    kept: str = ""
    """What is left, and why."""


def locate_agent(listed: RegisteredSessions, standing: RowStatus, seen: RunningAgent | None) -> RunningAgent:
    """Where the files of a row's agent are: as of the agent that ran, else as of ourselves."""
    agent = listed.detector(standing.row)
    if seen is not None and seen.agent == agent.agent:
        return seen
    cwd = standing.record.cwd if standing.record else standing.row.pane.cwd
    return RunningAgent(agent.agent, 0, 0, 0.0, cwd, (), listed.variables(standing))


def purge_conversation(
    listed: RegisteredSessions, row: RegistryRow, conversation: str, where: RunningAgent
) -> PurgeResult:
    """Take a conversation's files away, and its id out of the row."""
    agent = listed.detector(row)
    if not file_locations.ID.match(conversation):
        raise RefusedError(
            f"{conversation!r} is no id by which files of {agent.title} could be told; nothing is removed"
        )
    _refuse_if_open(agent, conversation)
    found = _conversation_files(where, conversation)
    for path in found:
        _remove_file(path)
    values: dict[str, object] = {"resumable": False}
    own = f"{agent.agent}_session_id_own"
    if row.data.get(own) is not None:
        values[own] = None
    if _read_identity(row, agent.agent) is not None:
        values[f"agent_identities.{agent.agent}.session_id"] = None
    listed.write(row, values)
    kept = ""
    if parts.files(agent.agent).in_database:
        kept = f"{agent.title} has it in a database, too, which is never written: remove it there with {agent.title}"
    elif not found:
        kept = "no file of it was found"
    return PurgeResult(tuple(found), kept)


def _refuse_if_open(agent: Detector, conversation: str) -> None:
    spare = agent.start.daemons if agent.start else ()
    if others := find_holders(agent, conversation) or conversation_lease.find_holders(agent.agent, conversation, spare):
        told = ", ".join(map(str, others))
        raise RefusedError(f"conversation {conversation} is open in another process ({told}); nothing is removed")


def _read_identity(row: RegistryRow, agent: str) -> object:
    tables = row.data.get("agent_identities")
    table = tables.get(agent) if isinstance(tables, dict) else None
    return table.get("session_id") if isinstance(table, dict) else None


def _conversation_files(where: RunningAgent, conversation: str) -> list[str]:
    """Its transcript, and what lies beside it under its id."""
    files, heads = parts.files(where.agent), FileHeadCache()
    if files.story is None:
        return []
    try:
        path = files.find(where, conversation, heads)
        if not path or os.path.islink(path) or not os.path.isfile(path):
            return []
        if conversation not in path and heads.story(path, files.story).conversation != conversation:
            return []
    except OSError:
        return []
    top = os.path.dirname(path)
    while conversation in top:  # an agent that gives each a directory
        path, top = top, os.path.dirname(top)
    beside = (f"{top}/{conversation}", f"{top}/{conversation}.runtime.json")
    return list(dict.fromkeys([path, *(each for each in beside if os.path.lexists(each))]))


def _remove_file(path: str) -> None:
    try:
        if os.path.isdir(path) and not os.path.islink(path):
            remove_tree(path)
        else:
            os.unlink(path)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise RefusedError(f"{path} could not be removed: {error.strerror}") from error
