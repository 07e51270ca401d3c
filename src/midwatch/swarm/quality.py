"""Companions of beads: made where they are missing, found by either id, written to and closed.

Two who look at the same moment would both make one, so whoever makes some is alone with that tracker meanwhile.
"""

from __future__ import annotations

import hashlib
import os

from midwatch.config import paths
from midwatch.core.errors import RefusedError
from midwatch.core.prompt_text import quote_title
from midwatch.core.task_ids import is_id
from midwatch.core.text import visible
from midwatch.core.value import Value
from midwatch.swarm.codec import quality_text
from midwatch.swarm.rules import quality
from midwatch.swarm.rules.quality import DueTask
from midwatch.system import file_locks
from midwatch.trackers.model import CLOSED, Tracker, TrackerTask, Work


class LoopsSurvey(Value):
    """What is to be done now."""

    beads: tuple[str, ...]
    """Those that were named, or else those that are managed."""
    due: tuple[DueTask, ...]
    unknown: tuple[str, ...]
    """Beads that are no task of the tracker."""


class TaskOrder(Value):
    """What of the work can be begun, and what comes before the rest. The loops of a task come after it."""

    ready: tuple[TrackerTask, ...]
    """The most urgent first."""
    waits_for: dict[str, tuple[str, ...]]
    """For each task, what is to be closed first: what it needs and, of a companion, the task that it is for."""


def survey(tracker: Tracker, named: tuple[str, ...]) -> LoopsSurvey:
    """What is due of the beads that are named, or of all that are managed."""
    work = tracker.read()
    beads = named or quality.find_managed_beads(work)
    return LoopsSurvey(beads, quality.find_due(work, beads), tuple([bead for bead in beads if bead not in work.tasks]))


def order(work: Work) -> TaskOrder:
    return TaskOrder(quality.find_ready(work), {task.id: _open_needs(work, task) for task in work.tasks.values()})


def _open_needs(work: Work, task: TrackerTask) -> tuple[str, ...]:
    needs = [need for need in task.needs if need in work.tasks and work.tasks[need].status != CLOSED]
    return tuple(dict.fromkeys([*needs, *filter(None, [quality.find_blocker(work, task)])]))


def refuse_early_close(work: Work, task: TrackerTask, advice: str = "") -> None:
    """RefusedError while the loops of a companion are not done, or what it is for is not closed."""
    if why := quality.find_open_reason(work, task):
        raise RefusedError(f"{visible(task.id)} stays open: {visible(why)}{advice}")


def make_companions(tracker: Tracker, beads: tuple[str, ...]) -> list[str]:
    """Make the companions that are missing; the ids of those that were made. Beads that nobody knows have none."""
    return list(make_companions_by_bead(tracker, beads).values())


def make_companions_by_bead(tracker: Tracker, beads: tuple[str, ...]) -> dict[str, str]:
    """The same, by bead."""
    if all(each.companion for each in quality.find_due(tracker.read(), beads)):
        return {}
    found = {}
    with file_locks.ExclusiveLock(_lock_path(tracker)):
        work = tracker.read()  # another may have made some by now
        for each in quality.find_due(work, beads):
            if not each.companion:
                found[each.bead] = tracker.add(
                    quality_text.format_title(each.bead), labels=(quality_text.LABEL,),
                    parent=_find_parent(work, each.bead),
                    text=_companion_text(work.tasks[each.bead]),
                )  # fmt: skip
    return found


def open_companion(tracker: Tracker, given: str) -> tuple[Work, TrackerTask]:
    """The open companion that is meant by its own id or that of its bead. RefusedError says what there is instead."""
    work = tracker.read()
    task = work.tasks.get(given)
    own = quality_text.find_bead(task) if task else ""
    if task and own:
        if task.status == CLOSED:
            raise RefusedError(f"{given} is closed already; `midwatch quality due --beads {own}` tells what is left")
        return work, task
    having = quality.find_companions(work, given)
    if having and having[0].status != CLOSED:
        return work, having[0]
    if task is None and not having:
        raise RefusedError(f"there is no task {given} in {tracker.place}; `midwatch task list` shows those that are")
    raise RefusedError(
        f"{given} has no open companion; `midwatch quality ensure --beads {given}` makes one if it is due"
    )


def _find_parent(work: Work, bead: str) -> str:
    """Where a bead belongs: the parent that it names, or the task that its id is a part of, if that is there."""
    above = (work.tasks[bead].parent, bead.rpartition(".")[0])
    return next((each for each in above if each in work.tasks and is_id(each)), "")


def _companion_text(bead: TrackerTask) -> str:
    """What its worker should know."""
    loops = "\n".join([f"- {loop}" for loop in quality_text.LOOPS])
    return (
        f"Once {bead.id} ({quote_title(bead.title.raw)}) is closed, "
        f"look at the work again, in each of these ways:\n{loops}\n"
        f'Record each: midwatch quality record {bead.id} LOOP "what was found", or --none where nothing was.\n'
        f"Then: midwatch quality close {bead.id}"
    )


def _lock_path(tracker: Tracker) -> str:
    digest = hashlib.sha256(tracker.place.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    path = f"{paths.state_root()}/quality/{digest}.lock"
    try:
        paths.make_private(os.path.dirname(path))
        os.close(file_locks.open_lock_file(path))
    except OSError as error:
        raise RefusedError(f"{path} cannot be made: {error.strerror}; mend that first") from error
    return path
