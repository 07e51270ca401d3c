"""OpenCode's files: the database ``opencode.db``, and of older versions ``storage/session/<project>/<id>.json``.

They are below ``opencode`` in XDG_DATA_HOME, else ``~/.local/share/opencode``; OPENCODE_DB names another database.
"""

from __future__ import annotations

import os

from midwatch.agents.agent_files import AgentFiles, ConversationPlaces
from midwatch.agents.file_locations import Environment, path_below


def database_path(environment: Environment) -> str:
    data = path_below(environment, "XDG_DATA_HOME", "opencode") or path_below(
        environment, "HOME", ".local/share/opencode"
    )
    named = environment.get("OPENCODE_DB") or "opencode.db"
    return named if named.startswith("/") else f"{data}/{named}" if data else ""


def _stem(name: str) -> str:
    return name.removesuffix(".json") if name.endswith(".json") else ""


class OpenCodeFiles(AgentFiles):
    places = (ConversationPlaces("storage/session", 1, "", _stem),)
    in_database = True
    shared_database = True

    def home(self, environment: Environment) -> str:
        return os.path.dirname(database_path(environment))

    def settings_home(self, environment: Environment) -> str:
        below = path_below(environment, "XDG_CONFIG_HOME", "opencode")
        return environment.get("OPENCODE_CONFIG_DIR") or below or path_below(environment, "HOME", ".config/opencode")

    def arrivals(self, environment: Environment, day: str) -> list[str]:  # noqa: ARG002  # all days are in one place
        home = self.home(environment)
        return [home] if home else []


FILES = OpenCodeFiles()
