"""A Hermes kanban board as a tracker, through Hermes' own program, because its tables are its own.

`todo` is a card whose parents are not done yet, or that nobody has released: blocked. `triage` and `scheduled` are for
a person and for later. Hermes' higher priorities come first, ours are the lower ones: the sign is turned.
"""

from __future__ import annotations

import json

from midwatch.core.foreign_text import ForeignText
from midwatch.core.numbers import parse_moment
from midwatch.integrations import hermes_kanban
from midwatch.trackers.model import (
    BLOCKED,
    CLOSED,
    DEFERRED,
    IN_PROGRESS,
    OPEN,
    Tracker,
    TrackerError,
    TrackerTask,
    Work,
)

STATUSES = {
    "triage": DEFERRED, "todo": BLOCKED, "scheduled": DEFERRED, "ready": OPEN, "running": IN_PROGRESS,
    "blocked": BLOCKED, "review": IN_PROGRESS, "done": CLOSED, "archived": CLOSED,
}  # fmt: skip


class HermesTracker(Tracker):
    kind = "kanban"

    def __init__(self, board: str = "", program: str = "") -> None:
        self.place = f"the Hermes board {board}" if board else "the Hermes board"
        self._hermes = hermes_kanban.HermesProgram(program, board, "midwatch")

    def read(self, limit: float = 10.0) -> Work:
        self._hermes.limit = limit
        try:
            out, trouble = self._hermes("list", "--json", "--archived")
            cards = json.loads(out)
            tasks = {card["id"]: _build_task(card) for card in cards}
            return Work(tasks, self.place, highest=_highest_priority(tasks))
        except hermes_kanban.KanbanError as error:
            raise TrackerError(str(error)) from error
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            said = hermes_kanban.last_line(trouble) or hermes_kanban.last_line(out) or "nothing"
            raise TrackerError(f"`hermes kanban list` said: {said}; see `hermes kanban list`") from error


def _highest_priority(tasks: dict[str, TrackerTask]) -> int:
    """Hermes' priorities have no end: it is the highest that an unfinished card has, if somebody has raised one."""
    return min([-1, *[task.priority for task in tasks.values() if task.status != CLOSED]])


def _build_task(card: dict[str, object]) -> TrackerTask:
    said, priority = str(card["status"]), card.get("priority")
    return TrackerTask(
        id=str(card["id"]),
        title=ForeignText(str(card["title"])),
        status=STATUSES.get(said, DEFERRED),
        kind="card",
        priority=-priority if isinstance(priority, int) else 0,
        assignee=ForeignText(str(card.get("assignee") or "")),
        said=ForeignText(said),
        closed=parse_moment(card.get("completed_at")),
    )
