"""Beads as a tracker: its files are read, and what is to be written its own program writes.

Of ``issues.jsonl`` and the database the one that was written to last counts: programs write the database first and
export it, git brings the other. `br` or `bd` is asked only where the newer one cannot be read, and where `bd` keeps the
tasks in Dolt, whose files only it can read.
"""

from __future__ import annotations

import os
import shutil
import time

from midwatch.core import prompt_text
from midwatch.core.task_ids import NO_ID, is_id
from midwatch.system import run_program
from midwatch.system.atomic_files import read_plain
from midwatch.trackers.codec import beads
from midwatch.trackers.codec.beads import Issue
from midwatch.trackers.model import CLOSED, Tracker, TrackerError, Work

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

PROGRAMS = ("br", "bd")
LINES = ("issues.jsonl", "beads.jsonl")
DOLT = "dolt"
LARGEST = 64 << 20
LIMIT = 30.0
"""Seconds that a call that writes may take."""
COMPANION = "quality loops for "
"""How the title of a companion begins."""
AT_ONCE = 100
"""Issues that are asked for in one call."""


class BeadsTracker(Tracker):
    kind, has_loops = "beads", True

    def __init__(self, place: str) -> None:
        """``place``: its directory, or a file in there."""
        self.place = place
        self.directory = (
            place if os.path.isdir(place) or os.path.basename(place) == ".beads" else os.path.dirname(place)
        )

    # Reading

    def read(self, limit: float = 10.0) -> Work:
        found = [] if self._in_dolt() and self._program() else self._files(limit)
        troubles = []
        for number, (path, source) in enumerate(found):
            try:
                if number and self._program():
                    break  # the older of two files is only better than nothing
                stale = f" (the newer {os.path.basename(found[0][0])} cannot be read)" if number else ""
                issues, odd = source()
                troubles += [odd] * bool(odd)
                return beads.build_work(issues, path + stale, time.time())._replace(trouble="; ".join(troubles))
            except TrackerError as error:
                troubles.append(str(error))
        if not self._program():
            there = "; ".join(troubles) or f"{self.directory} holds no issues that can be read"
            raise TrackerError(f"{there}; neither br nor bd is installed, or set MIDWATCH_BR to the program")
        found_by = f"`{self._program()} list` in {self.directory}"
        return beads.build_work(self._listed(limit), found_by, time.time())._replace(trouble="; ".join(troubles))

    def _files(self, limit: float) -> list[tuple[str, Callable[[], tuple[list[Issue], str]]]]:
        """What can be read without a program, and what is wrong with it; the newest first."""
        from midwatch.trackers import beads_sqlite  # noqa: PLC0415  # SQLite is loaded only where there is a database

        found: list[tuple[int, str, Callable[[], tuple[list[Issue], str]]]] = []
        named = [os.path.basename(self.place)] if self.place != self.directory else []
        for path in [f"{self.directory}/{name}" for name in (*named, *LINES) if name.endswith(".jsonl")]:
            try:
                found.append((os.stat(path).st_mtime_ns, path, lambda path=path: _read_lines(path)))  # type: ignore[misc]
                break
            except OSError:
                continue
        if database := beads_sqlite.find_database(self.directory):
            at = beads_sqlite.modified_ns(database)
            found.append((at, database, lambda: (beads_sqlite.read_issues(database, limit), "")))
        return [(path, source) for _, path, source in sorted(found, key=lambda each: -each[0])]

    def _listed(self, limit: float) -> list[Issue]:
        """All issues as its program tells them. Where it merely counts what one needs, that one is asked for again."""
        until = time.monotonic() + limit
        found = {
            str(issue.get("id")): issue for issue in self._ask("list", "--json", "--all", "--limit=0", limit=limit)
        }
        vague = [
            own for own, issue in found.items()
            if is_id(own) and issue.get("dependency_count") and "dependencies" not in issue
            and issue.get("status") != CLOSED
        ]  # fmt: skip
        for first in range(0, len(vague), AT_ONCE):
            some = vague[first : first + AT_ONCE]
            for issue in self._ask("show", "--json", "--", *some, limit=max(0.1, until - time.monotonic())):
                found[str(issue.get("id"))] = found.get(str(issue.get("id")), {}) | issue
        for own, issue in found.items():
            if is_id(own) and _needs_comments(issue):
                said = self._ask("comments", "--json", "--", own, limit=max(0.1, until - time.monotonic()))
                issue["comments"] = said
        return list(found.values())

    # Writing

    def add(
        self, title: str, *, labels: tuple[str, ...] = (), parent: str = "", text: str = "", kind: str = "",
        priority: int | None = None, needs: tuple[str, ...] = (),
    ) -> str:  # fmt: skip
        _check_ids(*filter(None, (parent, *needs)))
        given = {
            "--labels": ",".join(labels), "--parent": parent, "--description": text, "--type": kind,
            "--priority": "" if priority is None else str(priority),
        }  # fmt: skip
        words = [f"{flag}={value}" for flag, value in given.items() if value]
        made = self._ask("create", "--json", *words, "--", title, limit=LIMIT)
        own = str(made[0].get("id")) if made else ""
        if not is_id(own):
            raise TrackerError(f"`{self._program()} create` did not tell the id of what it made; look at its list")
        for need in needs:
            self._do("dep", "add", "--json", "--type=blocks", "--", own, need)
        return own

    def note(self, task: str, text: str) -> None:
        _check_ids(task)
        self._do("comments", "add", "--json", "--", task, text)

    def close(self, task: str, reason: str) -> None:
        _check_ids(task)
        self._do("close", "--json", *([f"--reason={reason}"] if reason else []), "--", task)

    # Its program

    def _do(self, *words: str) -> None:
        called = self._call(*words, limit=LIMIT)
        beads.check_output(called.out, called.trouble, f"{self._program()} {words[0]}")
        if called.code:
            self._failed(words[0], called)

    def _ask(self, *words: str, limit: float) -> list[Issue]:
        called = self._call(*words, limit=limit)
        found = beads.parse_answer(called.out, called.trouble, f"{self._program()} {words[0]}")
        if called.code:
            self._failed(words[0], called)
        return found

    def _call(self, *words: str, limit: float) -> run_program.ProgramOutput:
        if not (program := self._program()):
            raise TrackerError(
                f"{self.place} is written by br or bd only, and neither is installed; install one, "
                "or set MIDWATCH_BR to the program"
            )
        project = os.path.dirname(os.path.abspath(self.directory))
        more = {"BEADS_DIR": os.path.abspath(self.directory)}
        try:
            return run_program.call(
                [program, *words], os.environ | more, limit=limit, name=f"{program} {words[0]}", cwd=project
            )
        except run_program.CallError as error:
            late = isinstance(error, run_program.ProgramLateError)
            raise TrackerError(f"{error}; {'is its database in use?' if late else 'install it anew'}") from error

    def _failed(self, verb: str, called: run_program.ProgramOutput) -> None:
        said = beads.read_last_line(called.trouble) or beads.read_last_line(called.out) or "nothing"
        raise TrackerError(f"`{self._program()} {verb}` ended with {called.code} and said: {said}")

    def _program(self) -> str:
        if given := os.environ.get("MIDWATCH_BR"):
            return given
        among = reversed(PROGRAMS) if self._in_dolt() else PROGRAMS
        return next(filter(None, map(shutil.which, among)), "")

    def _in_dolt(self) -> bool:
        return os.path.isdir(f"{self.directory}/{DOLT}")


def _check_ids(*tasks: str) -> None:
    """No program gets an id that cannot be one: it may be an option to it, or a path."""
    for task in tasks:
        if not is_id(task):
            raise TrackerError(f"{prompt_text.quote_title(task)} {NO_ID}")


def _needs_comments(issue: Issue) -> bool:
    """Whether its comments matter and were merely counted: those of a companion are its records.

    bd counts them in `list` and in `show` (beads#5078). To ask for those of all issues would be a call for each.
    """
    matters = issue.get("status") != CLOSED and str(issue.get("title")).lower().startswith(COMPANION)
    return matters and bool(issue.get("comment_count")) and "comments" not in issue


def _read_lines(path: str) -> tuple[list[Issue], str]:
    try:
        text = read_plain(path, LARGEST, follow=True).decode("utf-8", "replace")
    except OSError as error:
        raise TrackerError(f"{path} cannot be read: {error.strerror}") from error
    return beads.parse_checked(text, path)
