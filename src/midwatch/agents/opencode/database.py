"""OpenCode's ``opencode.db``, with the conversations of all directories."""

from __future__ import annotations

import json

from midwatch.agents import file_locations
from midwatch.agents.agent_files import AmbiguousConversationError
from midwatch.agents.database_format import DatabaseFormat
from midwatch.agents.file_head_cache import FileHeadCache
from midwatch.agents.file_locations import Environment
from midwatch.agents.opencode.files import database_path
from midwatch.agents.opencode.transcript import OpenCode
from midwatch.agents.transcripts.transcript_state import to_number
from midwatch.core.pane_model import RunningAgent, SourceReport
from midwatch.system.foreign_database import DatabaseReader, Row
from midwatch.system.recent_files import SLACK

LATEST = 20
"""Parts and sub-sessions among which the last change is looked for; their numbers grow with time."""
PARTS = 500
RECENT = "SELECT * FROM session WHERE directory = ? AND parent_id IS NULL AND time_updated >= ? AND id IS NOT NULL"
LAST = "SELECT id, time_updated, data FROM message WHERE session_id = ? ORDER BY time_created DESC, id DESC LIMIT 2"


class OpenCodeDatabase(DatabaseFormat):
    tables = ("session", "message", "part")
    index = ("session",)
    recent = RECENT
    held = "SELECT id FROM session WHERE id = ?"

    def path(self, running: RunningAgent, wanted: str, heads: FileHeadCache) -> str:  # noqa: ARG002  # there is one
        return self.shared_path(running.environment)

    def shared_path(self, environment: Environment) -> str:
        return database_path(environment)

    def report(self, database: DatabaseReader, path: str, running: RunningAgent, wanted: str) -> SourceReport | None:
        if (session := _session(database, running, wanted)) is None:
            return None
        story = OpenCode()
        story.session(session)
        changed = [to_number(session.get("time_updated")) or 0]
        for row in reversed(database.rows(LAST, story.conversation)):
            parts = database.rows(
                "SELECT time_updated, data FROM part WHERE message_id = ? ORDER BY id LIMIT ?", row["id"], PARTS
            )
            story.interpret(_object(row["data"]) | {"parts": [_object(part["data"]) for part in parts]})
            changed += [to_number(each["time_updated"]) or 0 for each in (row, *parts)]
        below = "SELECT id FROM session WHERE parent_id = ? ORDER BY time_updated DESC LIMIT ?"
        newest = "SELECT time_updated FROM part WHERE session_id = ? ORDER BY rowid DESC LIMIT ?"
        for child in (session, *database.rows(below, story.conversation, LATEST)):
            changed += [to_number(part["time_updated"]) or 0 for part in database.rows(newest, child["id"], LATEST)]
        return SourceReport("transcript", story.at, story.words() | {"path": path, "size": str(max(changed))})


DATABASE = OpenCodeDatabase()


def _session(database: DatabaseReader, running: RunningAgent, wanted: str) -> Row | None:
    if wanted := wanted or file_locations.requested_conversation(running.args):
        found = database.rows("SELECT * FROM session WHERE id = ?", wanted)
    else:
        found = database.rows(RECENT, running.cwd, (running.started - SLACK) * 1000)
    if len(found) > 1:
        raise AmbiguousConversationError(running.cwd)
    return found[0] if found else None


def _object(data: object) -> Row:
    try:
        found = json.loads(data) if isinstance(data, str) else None
    except (ValueError, RecursionError):
        found = None
    return found if isinstance(found, dict) else {}
