"""What an agent has begun beside its turn, at one look at its pane: sub-agents, and shells that run its commands."""

from __future__ import annotations

import time

from midwatch.agents import evidence
from midwatch.agents.definition import find_presence
from midwatch.core.verdict import Verdict
from midwatch.sessions.model import PaneVerdict
from midwatch.sessions.pane_observer import PaneObserver
from midwatch.sessions.rules.child import ChildVerdict, find_shells, judge_shell, judge_sub_agent


def find_children(panes: PaneObserver, seen: PaneVerdict, parent: Verdict) -> tuple[ChildVerdict, ...]:
    """``seen`` is the last look of ``panes`` at the agent; ``parent`` is the verdict on it that is shown."""
    sighting, known = seen.sighting, panes.known.get(seen.sighting.pane.id)
    found = [judge_sub_agent(each, parent, time.time()) for each in panes.sub_agents(sighting.pane.id)]
    if known is not None:
        there = find_presence(known.detector, sighting.tasks, sighting.pane.command, dead=sighting.pane.dead)
        tools = evidence.find_tools(known.detector, sighting, there)
        found += [judge_shell(task, parent) for task in find_shells(tools)]
    return tuple(found)
