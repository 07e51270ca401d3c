"""BMAD's ``sprint-status.yaml`` as a tracker: who writes it are BMAD's own workflows, never we.

Stories are tasks, their epic is `epic-N`. A story in the backlog is not written yet: it is blocked until a workflow has
made it ready for development. What these files call otherwise is deferred, and `said` has their word.
"""

from __future__ import annotations

from midwatch.core.foreign_text import ForeignText
from midwatch.system.atomic_files import read_plain
from midwatch.trackers.codec import bmad
from midwatch.trackers.model import (
    BLOCKED,
    CLOSED,
    DEFERRED,
    EPIC,
    IN_PROGRESS,
    OPEN,
    Tracker,
    TrackerError,
    TrackerTask,
    Work,
)

STORY = {
    "backlog": BLOCKED, "drafted": BLOCKED, "ready-for-dev": OPEN, "in-progress": IN_PROGRESS, "review": IN_PROGRESS,
    "done": CLOSED,
}  # fmt: skip
EPICS = {"backlog": OPEN, "contexted": IN_PROGRESS, "in-progress": IN_PROGRESS, "done": CLOSED}
RETROSPECTIVES = {"in-progress": IN_PROGRESS, "done": CLOSED}
"""All else, `optional` for one, leaves it to people whether there is one."""
LARGEST = 4 << 20


class BmadTracker(Tracker):
    kind = "sprint"

    def __init__(self, path: str) -> None:
        self.place = path

    def read(self, limit: float = 10.0) -> Work:  # noqa: ARG002  # a file is read at once
        try:
            text = read_plain(self.place, LARGEST, follow=True).decode("utf-8", "replace")
        except OSError as error:
            raise TrackerError(f"cannot read {self.place}: {error.strerror}; mend that") from error
        found = {key: _build_task(key, said) for key, said in bmad.story_rows(text).items()}
        if not found and text.strip():
            raise TrackerError(f"{self.place} names no story and no epic; is it a sprint-status.yaml?")
        return Work(found, self.place)


def _build_task(key: str, said: str) -> TrackerTask:
    title = ForeignText(key)
    number, _, rest = key.removeprefix("epic-").partition("-")
    if key.startswith("epic-"):
        kind, words = ("retrospective", RETROSPECTIVES) if rest else (EPIC, EPICS)
        parent = f"epic-{number}" if rest else ""
        return TrackerTask(key, title, words.get(said, DEFERRED), kind=kind, parent=parent, said=ForeignText(said))
    epic = key.replace(".", "-").partition("-")[0]
    return TrackerTask(
        key, title, STORY.get(said, DEFERRED), kind="story", parent=f"epic-{epic}", said=ForeignText(said)
    )
