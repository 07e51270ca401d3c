"""One card of a Hermes kanban board, through Hermes' own program.

Its exit code lies: it is 0 for a card that is not there (seen with 0.19.0). So a call counts as done only when the
program says so in the words that it has for it; all else is a KanbanError with what it said instead.

Comments are read with ``show --json`` and not from the database, whose tables are Hermes' own. That takes a second of
work, so it is asked only when the files of the database have changed, or after a call of ours, which changes them.
Where they are Hermes says, once; from then on every call goes to that database, whatever board a person switches to.
"""

from __future__ import annotations

import json
import os
import re
import time

from midwatch.core.errors import RefusedError, UsageError
from midwatch.core.plain_text import make_plain
from midwatch.core.redaction import Redactor
from midwatch.core.task_ids import is_id
from midwatch.core.value import Value
from midwatch.system import run_program

LIMIT = 30.0
"""Seconds that one call may take."""
BUSY = "10000"
"""Milliseconds that Hermes waits for a locked database. Its own two minutes are more than a call may take."""
CLAIMED = 86_400
"""Seconds that a claim holds: nothing that its program offers makes a claim longer."""
LONGEST = 200
CHAIN = 100
"""Cards that have ended, one made after the other: more are not gone through."""
READY, RUNNING = "ready", "running"
STOP = re.compile(r"^[^\S\n]*stop(?![\w-])|\bstop[^\S\n]+monitoring\b", re.IGNORECASE | re.MULTILINE)
INITIALIZED = "Kanban DB initialized at "


class KanbanError(RefusedError):
    """Hermes could not be reached, or did not do what it was asked to; the message has its words."""


class CardComment(Value):
    author: str
    body: str
    at: int
    """In wall-clock seconds; Hermes keeps whole ones."""


class CardState(Value):
    status: str
    comments: tuple[CardComment, ...]


Files = tuple[tuple[int, int, int], ...]


class KanbanCard:
    """A card by its id. Nothing is asked of it before the first call; ``status`` finds out whether it is there."""

    def __init__(self, task: str, *, author: str = "midwatch", program: str = "", board: str = "") -> None:
        if not is_id(task):
            raise UsageError(f"{task!r} is no id of a card; `hermes kanban list` shows them")
        self.task = task
        self._author = author
        self.hermes = HermesProgram(program, board, author)
        self._shown: CardState | None = None
        self._files: Files = ()
        """The files of the database before the last look; empty when they tell nothing."""
        self._first = 0
        """Comments that stood there at the first look."""

    # Saying

    def comment(self, text: str) -> None:
        self._do(f"Comment added to {self.task}", "comment", self.task, f"--author={self._author}", "--", text)

    def heartbeat(self, note: str) -> None:
        """Hermes takes it of a running card only: one that is ready is claimed, unless a dispatcher gave it to us."""
        done, words = f"Heartbeat recorded for {self.task}", ("heartbeat", self.task, f"--note={note}")
        try:
            self._do(done, *words)
        except KanbanError:
            dispatched = os.environ.get("HERMES_KANBAN_RUN_ID") and os.environ.get("HERMES_KANBAN_TASK") == self.task
            if dispatched or self.status() != READY:
                raise
            self.claim()
            self._do(done, *words)

    def claim(self) -> None:
        self._do(f"Claimed {self.task}", "claim", self.task, f"--ttl={CLAIMED}")

    def block(self, reason: str) -> None:
        """A card that is neither running nor ready is left alone: Hermes would comment on it and then not block it."""
        if self.status() in (READY, RUNNING):
            # After a second time Hermes has people look at the card, in triage. It has stopped all the same.
            done = (f"Blocked {self.task}", f"{self.task} → triage")
            self._do(done, "block", "--kind=needs_input", self.task, "--", reason)

    # Reading

    def status(self) -> str:
        return self._look().status

    def has_comment(self, text: str, since: float) -> bool:
        """Whether a comment of ours stands there already, not older than ``since``."""
        ours = (comment for comment in self._look().comments if comment.author == self._author)
        return any(comment.body == text.strip() and comment.at >= int(since) for comment in ours)

    def stop_asked(self, since: float) -> str:
        """Who asked to stop, and when: in a comment newer than ``since`` that is not our own."""
        shown = self._shown
        if shown is None or not self._files or self.hermes.files() != self._files:
            shown = self._look()
        for number, comment in enumerate(shown.comments):
            # Seconds are whole: of those of the first second, the new ones are those that came after the first look.
            new = comment.at > int(since) or (comment.at == int(since) and number >= self._first)
            if new and comment.author != self._author and asks_to_stop(comment.body):
                return f"{make_plain(comment.author, LONGEST)} at {time.strftime('%FT%TZ', time.gmtime(comment.at))}"
        return ""

    def _look(self) -> CardState:
        files = self.hermes.files()
        out, trouble = self.hermes("show", self.task, "--json")
        try:
            found = json.loads(out)
            comments = tuple(
                CardComment(str(c["author"]), str(c["body"]), int(c["created_at"])) for c in found["comments"]
            )
            shown = CardState(str(found["task"]["status"]), comments)
        except (ValueError, LookupError, TypeError, RecursionError) as error:
            raise KanbanError(self._words("show", out, trouble)) from error
        if self._shown is None:
            self._first = len(comments)
        self._shown, self._files = shown, files
        return shown

    def _do(self, done: str | tuple[str, ...], verb: str, *words: str) -> None:
        self._files = ()
        out, trouble = self.hermes(verb, *words)
        if not any(line.startswith(done) for line in out.splitlines()):
            raise KanbanError(self._words(verb, out, trouble))

    def _words(self, verb: str, out: str, trouble: str) -> str:
        said = last_line(trouble) or last_line(out) or "nothing"
        return f"`hermes kanban {verb} {self.task}` said: {said}; see `hermes kanban show {self.task}`"


def find_or_create_card(
    title: str, body: str, *, key: str = "", author: str = "midwatch", program: str = "", board: str = ""
) -> KanbanCard:
    """The card with this key, running and ours: a new one, or the one that an earlier run has left.

    Without a key it is the one with this title for this directory on this machine. One that has ended (blocked, done)
    stays as it is, and the next is made after it. It is assigned to nobody, so that no dispatcher starts an agent on
    it.
    """
    key = key or f"{title} ({os.uname().nodename}:{os.getcwd()})"
    hermes, wanted = HermesProgram(program, board, author), key
    for _ in range(CHAIN):
        out, trouble = hermes(
            "create", f"--body={body}", f"--idempotency-key={wanted}", f"--created-by={author}", "--json", "--", title
        )
        try:
            found = json.loads(out)
            task, status = str(found["id"]), str(found["status"])
        except (ValueError, LookupError, TypeError, RecursionError) as error:
            said = last_line(trouble) or last_line(out) or "nothing"
            raise KanbanError(f"`hermes kanban create` said: {said}; no card was made") from error
        card = KanbanCard(task, author=author)
        card.hermes = hermes
        if status == READY:
            card.claim()
        if status in (READY, RUNNING):
            return card
        wanted = f"{key} after {task}"
    raise KanbanError(f"{CHAIN} cards like this have ended; `hermes kanban archive` puts them away")


def asks_to_stop(comment: str) -> bool:
    """Whether a line begins with the word `stop`, or contains `stop monitoring`."""
    return STOP.search(comment) is not None


def last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return make_plain(Redactor(()).clean(lines[-1]), LONGEST).rstrip(" .") if lines else ""


class HermesProgram:
    """Hermes' program, called for so long and no longer, in a session of its own."""

    def __init__(self, program: str, board: str, author: str) -> None:
        self._program = program or os.environ.get("MIDWATCH_HERMES") or "hermes"
        self._board = (f"--board={board}",) if board else ()
        # The profile is who it says blocked a card; nothing else is read from this variable.
        self._more = {"HERMES_PROFILE_NAME": author, "PYTHONUTF8": "1"}
        self._database = ""
        self.limit: float | None = None
        """Seconds that a call may take, where that is not LIMIT."""

    def __call__(self, *words: str) -> tuple[str, str]:
        """What it says on standard output and on standard error. Whatever its exit code is."""
        if not self._database:
            self._find()
        return self._run(*words)

    def files(self) -> Files:
        """The state of the database's files; empty when they are not known."""
        found = []
        for path in (self._database, f"{self._database}-wal") if self._database else ():
            try:
                seen = os.stat(path)
            except OSError:
                continue
            found.append((seen.st_ino, seen.st_size, seen.st_mtime_ns))
        return tuple(found)

    def _find(self) -> None:
        out, trouble = self._run("init")
        places = [line.removeprefix(INITIALIZED) for line in out.splitlines() if line.startswith(INITIALIZED)]
        if not places:
            said = last_line(trouble) or last_line(out) or "nothing"
            raise KanbanError(f"`hermes kanban init` said: {said}; set MIDWATCH_HERMES to the program of hermes-agent")
        self._database = self._more["HERMES_KANBAN_DB"] = places[0]

    def _run(self, *words: str) -> tuple[str, str]:
        env = {"HERMES_KANBAN_BUSY_TIMEOUT_MS": BUSY} | os.environ | self._more
        limit = LIMIT if self.limit is None else self.limit
        command = [self._program, "kanban", *self._board, *words]
        try:
            called = run_program.call(command, env, limit=limit, name=f"hermes kanban {words[0]}")
        except run_program.CallError as error:
            late = isinstance(error, run_program.ProgramLateError)
            mend = "install hermes-agent, or set MIDWATCH_HERMES to its program"
            raise KanbanError(f"{error}; {'is its database in use?' if late else mend}") from error
        return called.out, called.trouble
