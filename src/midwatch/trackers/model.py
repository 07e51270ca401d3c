"""What a tracker says of the work: tasks, and what stands in their way. Whoever keeps it, these are the words."""

from __future__ import annotations

from midwatch.core.errors import RefusedError
from midwatch.core.foreign_text import NOTHING, ForeignText
from midwatch.core.value import Value

OPEN, IN_PROGRESS, BLOCKED, DEFERRED, CLOSED = "open", "in_progress", "blocked", "deferred", "closed"
STATUSES = (OPEN, IN_PROGRESS, BLOCKED, DEFERRED, CLOSED)
"""What a tracker of another kind calls differently is one of these here; what is none of them is DEFERRED: not ours."""
EPIC = "epic"


class TrackerTask(Value):
    """One piece of work, as its tracker has it now."""

    id: str
    title: ForeignText
    status: str
    """Of STATUSES."""
    kind: str = "task"
    """task, bug, epic …"""
    priority: int = 2
    """0 is the most urgent."""
    labels: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    """Tasks that must be closed before this one can begin."""
    parent: str = ""
    assignee: ForeignText = NOTHING
    updated: float | None = None
    """Wall clock."""
    said: ForeignText = NOTHING
    """The status in the tracker's own word."""
    notes: tuple[ForeignText, ...] = ()
    """Comments, oldest first."""
    closed: float | None = None
    """Wall clock: when it was last closed, if it is and its tracker tells."""


class Work(Value):
    """All tasks at one moment."""

    tasks: dict[str, TrackerTask]
    source: str
    """Where it was read, for people."""
    trouble: str = ""
    """Why it may not be all that there is; empty where nothing speaks against it."""
    highest: int = 0
    """The priority, or any lower number, that is the highest which this tracker has."""

    def urgent(self) -> tuple[TrackerTask, ...]:
        """Unfinished tasks of the highest priority."""
        return tuple([task for task in self.tasks.values() if task.priority <= self.highest and task.status != CLOSED])

    def missing(self, ids: tuple[str, ...]) -> tuple[str, ...]:
        """Those that are no task here."""
        return tuple([each for each in dict.fromkeys(ids) if each and each not in self.tasks])

    def stands_free(self, task: TrackerTask) -> bool:
        """Whether nothing that it needs is still to be done; what nobody knows any more does not block."""
        return all(need not in self.tasks or self.tasks[need].status == CLOSED for need in task.needs)

    def ready(self) -> tuple[TrackerTask, ...]:
        """What could be begun now, the most urgent first."""
        found = [
            task for task in self.tasks.values() if task.status == OPEN and task.kind != EPIC and self.stands_free(task)
        ]
        return tuple(sorted(found, key=lambda task: (task.priority, task.id)))

    def blocked(self) -> tuple[TrackerTask, ...]:
        """What says so itself, and what something open stands in the way of."""
        return tuple([
            task for task in self.tasks.values()
            if task.status == BLOCKED or (task.status == OPEN and task.kind != EPIC and not self.stands_free(task))
        ])  # fmt: skip

    def with_status(self, status: str) -> tuple[TrackerTask, ...]:
        return tuple([task for task in self.tasks.values() if task.status == status])

    def children(self, epic: str) -> tuple[TrackerTask, ...]:
        """The tasks of an epic: those that name it as their parent, and `epic.1`, `epic.2` …"""
        return tuple([task for task in self.tasks.values() if task.parent == epic or task.id.startswith(f"{epic}.")])


class TrackerError(RefusedError):
    """A tracker failed, did not answer in time, or said what nobody can read; the message has its words."""


class Tracker:
    """Whoever keeps the tasks. Only some can be written to; each call raises TrackerError where it fails."""

    kind: str
    """Of TRACKERS in the settings."""
    place: str
    """Where it is, for people."""
    has_loops = False
    """Whether companions can be kept there, and notes at them."""

    def read(self, limit: float = 10.0) -> Work:
        """Everything, within so many seconds."""
        raise NotImplementedError

    def add(self, title: str, *, labels: tuple[str, ...] = (), parent: str = "", text: str = "") -> str:
        """A new open task; its id."""
        raise self._refused("add", title, *labels, parent, text)

    def note(self, task: str, text: str) -> None:
        """A comment."""
        raise self._refused("note at", task, text)

    def close(self, task: str, reason: str) -> None:
        raise self._refused("close", task, reason)

    def _refused(self, what: str, *words: str) -> TrackerError:
        return TrackerError(
            f"{self.place} is not written by us; {what} {', '.join(filter(None, words))} there yourself"
        )
