"""Quality loops: what is still to be reviewed of work that somebody calls done.

Each managed bead has a companion, a task titled `Quality loops for <id>`. It is to be open from the beginning of the
bead until the loops are done, and it is closed last. So a companion that is closed counts for one cycle of its bead:

- While the bead is not closed, no closed companion counts: the bead was closed too early or was opened again, which
  comes to the same, and an open companion is wanted.
- When the bead is closed, a companion counts if it was closed at that moment or later. A bead that was closed later
  than every companion was opened again in between, and wants a new one.
- The moment is when the tracker says that the task was closed. Where it does not say so of the bead, the companion
  counts: `updated` may be a mere comment. Where it does not say so of the companion, its last change stands for it,
  which cannot be earlier.
"""

from __future__ import annotations

from midwatch.core.task_ids import is_id
from midwatch.core.value import Value
from midwatch.swarm.codec.quality_text import LOOPS, find_bead, missing_loops
from midwatch.trackers.model import CLOSED, EPIC, IN_PROGRESS, TrackerTask, Work

NONE_WANTED = "no-quality-loops"
"""A bead with this label has no loops."""


class DueTask(Value):
    """Something is to be done about a bead: make its companion, do the loops, or close it."""

    bead: str
    companion: str
    """The open one; empty where there is none."""
    missing_loops: tuple[str, ...]
    """Of LOOPS: those that are not recorded."""
    why: str


def find_companions(work: Work, bead: str) -> tuple[TrackerTask, ...]:
    """All of a bead: those that are open first, the furthest on before the others."""
    return _all_companions(work).get(bead, ())


def _all_companions(work: Work) -> dict[str, tuple[TrackerTask, ...]]:
    found: dict[str, list[TrackerTask]] = {}
    for task in work.tasks.values():
        if bead := find_bead(task):
            found.setdefault(bead, []).append(task)
    return {
        bead: tuple(sorted(having, key=lambda task: (task.status == CLOSED, len(missing_loops(task)), task.id)))
        for bead, having in found.items()
    }


def needs_companion(work: Work, bead: str) -> bool:
    """Whether a bead is to have a companion at all."""
    task = work.tasks.get(bead)
    return task is not None and is_id(bead) and NONE_WANTED not in task.labels and not find_bead(task)


def find_managed_beads(work: Work) -> tuple[str, ...]:
    """The beads that are meant where nobody names any: those in progress, and those that have had a companion.

    Not all that were ever closed: in a project with a past that would be a new task for each of them.
    """
    known = _all_companions(work)
    return tuple([
        task.id for task in work.tasks.values()
        if task.kind != EPIC and (task.status == IN_PROGRESS or task.id in known) and needs_companion(work, task.id)
    ])  # fmt: skip


def find_due(work: Work, beads: tuple[str, ...]) -> tuple[DueTask, ...]:
    """What is to be done now. Loops come after the work: a bead that is not closed has nothing due but a companion."""
    having = _all_companions(work)
    found = [
        _due_for_bead(work.tasks[bead], having.get(bead, ()))
        for bead in dict.fromkeys(beads)
        if needs_companion(work, bead)
    ]
    return tuple([each for each in found if each])


def _due_for_bead(bead: TrackerTask, having: tuple[TrackerTask, ...]) -> DueTask | None:
    if having and having[0].status != CLOSED:
        if bead.status != CLOSED:
            return None
        lacking = missing_loops(having[0])
        why = f"not recorded: {', '.join(lacking)}" if lacking else "all loops are recorded; it can be closed"
        return DueTask(bead.id, having[0].id, lacking, why)
    if not having:
        return DueTask(bead.id, "", LOOPS, "there is no companion")
    last = max(having, key=lambda task: (_closed_at(task) or 0.0, task.id))
    if bead.status != CLOSED:
        return DueTask(bead.id, "", LOOPS, f"{last.id} is closed, but {bead.id} is not")
    if _is_later(bead, last):
        return DueTask(bead.id, "", LOOPS, f"{bead.id} was closed anew after {last.id}")
    return None


def _closed_at(companion: TrackerTask) -> float | None:
    return companion.updated if companion.closed is None else companion.closed


def _is_later(bead: TrackerTask, companion: TrackerTask) -> bool:
    """Whether the bead is known to have been closed after its companion."""
    moment = _closed_at(companion)
    return bead.closed is not None and moment is not None and bead.closed > moment


def find_blocker(work: Work, companion: TrackerTask) -> str:
    """The task that a companion waits for, while that is not closed; empty of any other task."""
    bead = work.tasks.get(find_bead(companion))
    return bead.id if bead is not None and bead.status != CLOSED else ""


def find_ready(work: Work) -> tuple[TrackerTask, ...]:
    """What could be begun now, the most urgent first. The loops of a task come after it."""
    return tuple([task for task in work.ready() if not find_blocker(work, task)])


def find_open_reason(work: Work, companion: TrackerTask) -> str:
    """Why a companion may not be closed yet; empty when it may, and for a task that is none."""
    if lacking := missing_loops(companion) if find_bead(companion) else ():
        return f"not recorded: {', '.join(lacking)}"
    if bead := find_blocker(work, companion):
        return f"{bead} is not closed, and a companion that is closed before its bead does not count"
    return ""
