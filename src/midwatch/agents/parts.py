"""The parts of an agent's folder, by the agent's name. Each is loaded when it is first asked for.

======== ============= ==============================================================================
module   holds         what it is
======== ============= ==============================================================================
files    ``FILES``     an ``AgentFiles``: what the agent writes of its conversations, and where
database ``DATABASE``  a ``DatabaseFormat``: how its databases are read
service  ``SERVICE``   a subclass of ``AgentService``: its server or daemon, asked at each look
caller   ``VARIABLES`` a pattern of the variables by which the agent marks the programs that it starts
======== ============= ==============================================================================

A folder has only the parts that its agent needs; an agent that a user has added has none.
"""

from __future__ import annotations

import functools
import os

from midwatch.agents.agent_files import AgentFiles

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from types import ModuleType

    from midwatch.agents.agent_service import AgentService
    from midwatch.agents.database_format import DatabaseFormat

NO_FILES = AgentFiles()
REMEMBERED = 64
"""Names that are remembered; those of a registry are written by others."""


@functools.lru_cache(REMEMBERED)
def files(agent: str) -> AgentFiles:
    module = _module(agent, "files")
    if module is None:
        return NO_FILES
    found: AgentFiles = module.FILES
    return found


@functools.lru_cache(REMEMBERED)
def database(agent: str) -> DatabaseFormat | None:
    module = _module(agent, "database") if files(agent).in_database else None
    if module is None:
        return None
    found: DatabaseFormat = module.DATABASE
    return found


def service(agent: str) -> AgentService | None:
    """Made anew for each who asks, and closed by him."""
    kind = _service(agent)
    return None if kind is None else kind()


@functools.lru_cache(REMEMBERED)
def _service(agent: str) -> type[AgentService] | None:
    module = _module(agent, "service")
    if module is None:
        return None
    found: type[AgentService] = module.SERVICE
    return found


@functools.cache
def caller_variables() -> tuple[re.Pattern[str], ...]:
    """Names of variables that an agent sets for its children, of every agent that has a folder."""
    found: list[re.Pattern[str]] = []
    for agent in sorted(os.listdir(os.path.dirname(os.path.abspath(__file__)))):
        module = _module(agent, "caller")
        if module is not None:
            found.append(module.VARIABLES)
    return tuple(found)


def _module(agent: str, part: str) -> ModuleType | None:
    if not agent.isidentifier():
        return None
    package = f"midwatch.agents.{agent}"
    try:
        found: ModuleType = __import__(f"{package}.{part}", fromlist=[part])
    except ModuleNotFoundError as error:
        if error.name not in (package, f"{package}.{part}"):
            raise
        return None
    return found
