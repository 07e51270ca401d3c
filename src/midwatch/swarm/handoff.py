"""A worker hands its task over: the report goes to mail, and the controller is pinged when it is ready for that.

The mail is the truth. Whatever becomes of the ping, the report is there, and whoever watches over the controller finds
it at the next look.
"""

from __future__ import annotations

import os
import re

from midwatch.core.value import Value
from midwatch.swarm import watchdog_store
from midwatch.system import procfs
from midwatch.tmux.pane_location import PaneLocation

TITLE = re.compile(r"\bcontroller\b", re.IGNORECASE)


class HandoffTarget(Value):
    """Who is to be pinged, as `send` takes a target; or why nobody is."""

    target: str
    trouble: str = ""


def find_controller(where: PaneLocation | None, given: str | None = None) -> HandoffTarget:
    """The controller: the one given, else $MIDWATCH_CONTROLLER, else the watchdog's, else the one that is titled so."""
    if told := given or os.environ.get("MIDWATCH_CONTROLLER"):
        return HandoffTarget(told)
    if where is None:
        return HandoffTarget("", "we are in no tmux session; name the controller's pane with --controller")
    others = {each.pane: each for each in where.all if each.pane != where.own.pane and not each.dead}
    if (kept := _find_watched_controller(where)) in others:
        return HandoffTarget(kept)
    fits = [each.pane for each in others.values() if TITLE.search(each.title)]
    if len(fits) == 1:
        return HandoffTarget(fits[0])
    what = f"several panes ({', '.join(fits)}) are" if fits else "no pane is"
    return HandoffTarget(
        "", f"{what} titled controller in the session {where.own.session}; name the one meant with --controller"
    )


def _find_watched_controller(where: PaneLocation) -> str:
    """The pane that a watchdog that runs takes for the controller of our session; empty: there is none."""
    try:
        found = watchdog_store.read_status(watchdog_store.base_path(where.own.session, where.socket))
    except OSError:
        return ""
    if found is None or not found.pid or procfs.start_time(found.pid) != found.start:
        return ""  # what a dead one knew may be of another server with the same numbers
    return found.controller
