"""Whether what a job left may be removed. Pure: what counts is looked at under the lease of its name."""

from __future__ import annotations

from midwatch.core.job_model import Alive, JobFacts
from midwatch.core.text import format_age
from midwatch.core.value import Value
from midwatch.core.verdict import Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    PaneState = Literal["none", "gone", "dead", "attached", "alive", "unknown"]
else:
    PaneState = str


class RemovalFacts(Value):
    """What else was seen of a job beside its own files."""

    since_end_s: float
    older_s: float = 0.0
    """How long its end must be past."""
    processes: int = 0
    """Of this run, that are still there."""
    unsent: bool = False
    """Its end, or something about it, was not taken in by whoever sends notifications."""
    undelivered: int = 0
    """Notifications that no channel has taken yet."""
    prompts: int = 0
    """Sent to its pane, and never arrived."""
    mail: bool = False
    monitored: bool = False
    """A monitor acts on it, or was killed and is to go on."""
    watches: str = ""
    """The session that this job watches, which is still there."""
    pane: PaneState = "none"


def find_obstacle(facts: JobFacts, verdict: Verdict, seen: RemovalFacts) -> str:  # noqa: PLR0911, C901  # one each
    """Why a job stays as it is, and what to do; empty when it may go."""
    name = facts.name
    if facts.record is None:
        return "Midwatch did not start it; remove its files yourself"
    if not verdict.final:
        return f"it is {verdict.state}; `midwatch stop {name}` ends it"
    if not verdict.settled:
        return "it has just ended; try again"
    if seen.since_end_s < seen.older_s:
        return f"it ended {format_age(seen.since_end_s)}, and --older asks for more"
    if seen.processes or facts.survivors:
        count = max(seen.processes, len(facts.survivors))
        return f"{count} of its processes still {'runs' if count == 1 else 'run'}; `midwatch stop {name}` ends them"
    if isinstance(facts.work, Alive):
        return f"the process that it watched still runs; `midwatch stop {name}` ends it"
    if seen.monitored:
        return f"a monitor watches it; `midwatch stop {name}` ends the watch"
    if seen.watches:
        return f"it watches {seen.watches}, which is still there; it goes when that has gone"
    if seen.unsent or seen.undelivered:
        return "a notification about it was not delivered yet; see `midwatch notify --pending`"
    if seen.prompts:
        return "a prompt to it did not arrive; see `midwatch send --undelivered`"
    if seen.mail:
        return "mail in its drop box was not taken in yet; `midwatch mail inbox` does so"
    match seen.pane:
        case "attached":
            return "a tmux client shows its pane; leave the session first"
        case "alive":
            return "something else runs in its pane; end that first"
        case "unknown":
            return "tmux does not say what is in its pane; try again when it does"
    return ""
