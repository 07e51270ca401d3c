"""The databases of Antigravity's agy: ``conversations/<id>.db``, one for each conversation.

The program has not been tried, so only what is documented is told: ``conversation``, ``path``, ``size`` (when it last
changed), ``steps`` and the last step's ``step`` (its type) and ``state``, both as its numbers; ``event`` is empty. Its
transcript says more.
"""

from __future__ import annotations

import os

from midwatch.agents import file_locations
from midwatch.agents.agy.files import FILES, last_conversation
from midwatch.agents.database_format import DatabaseFormat
from midwatch.agents.file_head_cache import FileHeadCache
from midwatch.core.pane_model import RunningAgent, SourceReport
from midwatch.system import foreign_database
from midwatch.system.foreign_database import DatabaseReader


class AgyDatabase(DatabaseFormat):
    tables = ("steps",)

    def path(self, running: RunningAgent, wanted: str, heads: FileHeadCache) -> str:
        home = FILES.home(running.environment)
        named = home and (
            wanted or file_locations.requested_conversation(running.args) or last_conversation(home, running, heads)
        )
        return f"{home}/conversations/{named}.db" if named else ""

    def report(
        self, database: DatabaseReader, path: str, running: RunningAgent, wanted: str  # noqa: ARG002  # the path tells them
    ) -> SourceReport | None:  # fmt: skip
        changed = max(each[2] for each in foreign_database.database_state(path) if each) // 1_000_000
        words = {"event": "", "open": "", "path": path, "size": str(changed)}
        words["conversation"] = os.path.basename(path).removesuffix(".db")
        for row in database.rows("SELECT count(*) AS steps FROM steps"):
            words["steps"] = str(row["steps"])
        for row in database.rows("SELECT step_type, status FROM steps ORDER BY idx DESC LIMIT 1"):
            words |= {"step": str(row["step_type"]), "state": str(row["status"])}
        return SourceReport("transcript", None, words)


DATABASE = AgyDatabase()
