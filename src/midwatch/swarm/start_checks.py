"""Whether what a watchdog is asked to watch is there: its epic, its beads, its controller's pane."""

from __future__ import annotations

from midwatch.agents import catalog
from midwatch.config import load, paths
from midwatch.core.text import visible
from midwatch.sessions.pane_observer import PaneObserver
from midwatch.swarm.controller_session import ControllerSession
from midwatch.swarm.watchdog_store import WatchdogStatus
from midwatch.trackers import select
from midwatch.trackers.model import Tracker, TrackerError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from midwatch.swarm.watchdog import WatchdogRequest


def find_problems(asked: WatchdogRequest, before: WatchdogStatus | None) -> list[str]:
    """What is not there, or cannot be checked, in words. ``before``: the last watchdog of that session."""
    tracker = select.find_tracker(asked.project)
    return [*_find_missing_tasks(asked, tracker), *_find_missing_controller(asked, tracker, before)]


def _find_missing_tasks(asked: WatchdogRequest, tracker: Tracker) -> list[str]:
    if not asked.epic and not asked.beads:
        return []
    try:
        work = tracker.read()
    except TrackerError as error:
        return [f"--epic and --beads cannot be checked: {error}"]
    given = {"--epic": (asked.epic,), "--beads": asked.beads}
    return [
        f"{flag}: there is no task {visible(each)!r} in {visible(work.source)}"
        for flag, ids in given.items()
        for each in work.missing(ids)
    ]


def _find_missing_controller(asked: WatchdogRequest, tracker: Tracker, before: WatchdogStatus | None) -> list[str]:
    panes = PaneObserver(catalog.load_all(), paths.hook_spool(), asked.server)
    own = before.pane if before else ""
    world = ControllerSession(asked, load.load(asked.project), tracker, panes, _no_log, _never, own=own)
    if before is not None and before.controller:
        world.controller = (before.controller, before.controller_pid)
    try:
        sight = world.observe()
    finally:
        panes.close()
    if sight.controller:
        return []
    return [f"the controller ({visible(asked.title)!r}) was not found: {visible(sight.trouble)}"]


def _no_log(_: str) -> None:
    """Nothing has begun yet that could be logged."""


def _never() -> bool:
    return False
