"""The tasks that we keep ourselves: one file below the project, in the form of beads' ``issues.jsonl``.

People, git and beads may write to it, too. So only the line that is meant is written anew, with all that we do not know
in it; all others stay as they are, byte by byte. One writes at a time, and readers see the old file or the new one.
"""

from __future__ import annotations

import contextlib
import os
import time

from midwatch.core.text import visible
from midwatch.system import file_locks
from midwatch.system.atomic_files import read_plain
from midwatch.trackers.codec import beads
from midwatch.trackers.codec.beads import Issue
from midwatch.trackers.model import BLOCKED, CLOSED, IN_PROGRESS, OPEN, Tracker, TrackerError, Work

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

NAME = "midwatch-tasks.jsonl"
PREFIX = "dw-"
LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz"
SHORTEST, LARGEST = 3, 64 << 20
CROWDED = 16
"""An id gets one letter more where a sixteenth of those of its length are taken."""
PATIENCE = 10.0
"""Seconds to wait for whoever is writing."""


class BuiltinTracker(Tracker):
    kind, has_loops = "tasks", True

    def __init__(self, path: str) -> None:
        self.place = path

    def read(self, limit: float = 10.0) -> Work:  # noqa: ARG002  # a file is read at once
        """Everything; nothing where there is no file yet."""
        return beads.parse_work(self._text(), self.place, time.time())

    def add(
        self, title: str, *, labels: tuple[str, ...] = (), parent: str = "", text: str = "", kind: str = "task",
        priority: int = beads.USUAL, needs: tuple[str, ...] = (),
    ) -> str:  # fmt: skip
        """A new open task; its id. What it names as its parent and its needs must be there."""
        now = beads.format_time(time.time())

        def added(lines: list[str]) -> str:
            known = {str(issue["id"]) for issue in beads.parse_issues("\n".join(lines))}
            for other in (*([parent] if parent else []), *needs):
                if other not in known:
                    raise self._missing(other)
            own = _new_id(known)
            links = [("parent-child", parent)] * bool(parent) + [("blocks", need) for need in dict.fromkeys(needs)]
            issue: Issue = {
                "id": own, "title": title, "description": text, "status": OPEN, "priority": priority,
                "issue_type": kind, "created_at": now, "updated_at": now, "labels": list(dict.fromkeys(labels)),
                "dependencies": [
                    {"issue_id": own, "depends_on_id": other, "type": link, "created_at": now, "created_by": _author()}
                    for link, other in links
                ],
                "comments": [],
            }  # fmt: skip
            if not text:
                del issue["description"]
            lines.append(beads.encode_issue(issue))
            return own

        return self._write(added)

    def start(self, task: str, assignee: str = "") -> None:
        """Take a task. What another is at, or what is closed, is not for the taking."""

        def taken(issue: Issue) -> None:
            status, whose = issue.get("status"), issue.get("assignee")
            if status == CLOSED:
                raise TrackerError(f"{task} is closed; `midwatch task reopen {task}` opens it again")
            if status == IN_PROGRESS and whose and whose != assignee:
                raise TrackerError(f"{visible(str(whose))} is at {task}; `midwatch task reopen {task}` takes it away")
            _set_fields(issue, status=IN_PROGRESS, **({"assignee": assignee} if assignee else {}))

        self._edit(task, taken)

    def block(self, task: str, reason: str) -> None:
        def blocked(issue: Issue) -> None:
            _set_fields(issue, status=BLOCKED)
            _add_comment(issue, f"Blocked: {reason}")

        self._edit(task, blocked)

    def reopen(self, task: str) -> None:
        """Open again, and nobody's: whoever takes it now may begin."""
        self._edit(task, lambda issue: _set_fields(issue, status=OPEN, assignee=None))

    def change(self, task: str, **fields: object) -> None:
        """Set fields of an issue, by beads' names; None removes one."""
        self._edit(task, lambda issue: _set_fields(issue, **fields))

    def note(self, task: str, text: str) -> None:
        self._edit(task, lambda issue: _add_comment(issue, text))

    def close(self, task: str, reason: str) -> None:
        """What is closed already stays as it was: when it was closed tells whether its reviews came after."""

        def closed(issue: Issue) -> None:
            if issue.get("status") != CLOSED:
                _set_fields(issue, status=CLOSED, close_reason=reason or None)

        self._edit(task, closed)

    # The file

    def _edit(self, task: str, change: Callable[[Issue], None]) -> None:
        def edited(lines: list[str]) -> str:
            for number in reversed(range(len(lines))):
                issue = beads.parse_issue(lines[number])
                if issue is not None and issue["id"] == task:
                    change(issue)
                    issue["updated_at"] = beads.format_time(time.time())
                    lines[number] = beads.encode_issue(issue)
                    return task
            raise self._missing(task)

        self._write(edited)

    def _missing(self, task: str) -> TrackerError:
        return TrackerError(
            f"there is no task {visible(task)!r} in {visible(self.place)}; `midwatch task list` lists them"
        )

    def _text(self) -> str:
        try:
            return read_plain(self.place, LARGEST, follow=True).decode("utf-8", "surrogateescape")
        except FileNotFoundError:
            return ""
        except OSError as error:
            raise TrackerError(f"cannot read {visible(self.place)}: {error.strerror}; mend that") from error

    def _write(self, change: Callable[[list[str]], str]) -> str:
        """Change the lines of the file, alone. What fails leaves it as it was."""
        real = os.path.realpath(self.place)
        try:
            lock = self._lock(f"{real}.lock")
            try:
                lines = self._text().split("\n")
                if not lines[-1]:
                    lines.pop()
                told = change(lines)
                _replace_file(real, "\n".join([*lines, ""]).encode("utf-8", "surrogateescape"))
            finally:
                os.close(lock)
        except OSError as error:
            raise TrackerError(f"cannot write {visible(self.place)}: {error.strerror}; mend that") from error
        return told

    def _lock(self, path: str) -> int:
        fd = file_locks.acquire(path, PATIENCE, shared=True)
        if fd is not None:
            return fd
        words = f"someone has been writing {visible(self.place)} for {PATIENCE:g}s"
        raise TrackerError(f"{words}; try again, or look who holds {visible(path)}")


def _replace_file(path: str, data: bytes) -> None:
    """The whole file at once, with the mode that it has. Only who holds the lock comes here."""
    temporary = f"{os.path.dirname(path)}/.{os.path.basename(path)}.new"
    try:
        os.unlink(temporary)  # of one who was killed
    except FileNotFoundError:
        pass
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        with open(fd, "wb") as file:
            file.write(data)
            file.flush()
            try:
                os.fchmod(fd, os.stat(path).st_mode & 0o777)
            except FileNotFoundError:
                pass
            os.fsync(fd)
        os.rename(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def _set_fields(issue: Issue, **fields: object) -> None:
    """Set fields; when it was closed follows from its status."""
    for name, value in fields.items():
        if value is None:
            issue.pop(name, None)
        else:
            issue[name] = value
    if fields.get("status") == CLOSED:
        issue["closed_at"] = beads.format_time(time.time())
    elif "status" in fields:
        issue.pop("closed_at", None)
        issue.pop("close_reason", None)


def _add_comment(issue: Issue, text: str) -> None:
    found = issue.get("comments")
    comments = found if isinstance(found, list) else []
    numbers = [each["id"] for each in comments if isinstance(each, dict) and isinstance(each.get("id"), int)]
    issue["comments"] = [
        *comments,
        {
            "id": max(numbers, default=0) + 1, "issue_id": issue["id"], "author": _author(), "text": text,
            "created_at": beads.format_time(time.time()),
        },
    ]  # fmt: skip


def _author() -> str:
    return os.environ.get("BD_ACTOR") or os.environ.get("USER") or "midwatch"


def _new_id(known: set[str]) -> str:
    """Short, and of nobody else; also not of one that was removed, as long as its line is there."""
    length = SHORTEST
    while len(known) > len(LETTERS) ** length // CROWDED:
        length += 1
    while True:
        own = PREFIX + "".join([LETTERS[byte % len(LETTERS)] for byte in os.urandom(length)])
        if own not in known:
            return own
