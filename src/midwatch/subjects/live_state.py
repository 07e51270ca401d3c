"""The live state of jobs and sessions: what `ls`, `show`, `why` and `status()` tell.

A job is judged by its files and processes alone. A session is judged by a look at its pane as well; what that needs is
loaded only when there is one. Nothing is verified here: the end of a turn is `idle`, not `completed`.
"""

from __future__ import annotations

from midwatch.core.errors import FormatError
from midwatch.core.verdict import Verdict
from midwatch.jobs.job_directory import JobDirectory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def live_verdict(looker: JobDirectory, name: str, warn: Callable[[str], None]) -> Verdict:
    """What is true of a job or a session at this moment."""
    return add_session_turns(looker, [looker.verdict(name)], warn)[0]


def add_session_turns(looker: JobDirectory, verdicts: list[Verdict], warn: Callable[[str], None]) -> list[Verdict]:
    """The same verdicts, those on sessions by a look at their panes.

    An agent's file that is broken is no reason to say nothing: ``warn`` is told, and turns are left out.
    """
    if not any(each.kind == "session" for each in verdicts):
        return verdicts
    from midwatch.sessions import agent_session  # noqa: PLC0415  # jobs do not pay for tmux and the agents' files

    try:
        return agent_session.add_pane_verdicts(looker, verdicts, looker.policy)
    except FormatError as error:
        warn(f"{error}; until then nothing is told of turns")
        return verdicts
