"""Beads: ``issues.jsonl`` (one object per line), and what its programs `br` and `bd` print with ``--json``.

Of an id that stands in the file twice the last one counts. A status is what the field says, never what a title says;
what we have no word for (pinned, hooked, a project's own) is DEFERRED, and `said` has their word.

Old and new forms of the programs: a bare array, ``{"issues": […]}``, either of them in ``{"schema_version", "data"}``;
an error is ``{"error": …}``, on standard error or, in newer ones, on standard output, also after a first document.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime

from midwatch.core.foreign_text import ForeignText
from midwatch.trackers.model import CLOSED, DEFERRED, OPEN, STATUSES, TrackerError, TrackerTask, Work

PLACE = ".beads/issues.jsonl"
BLOCKING = ("blocks", "conditional-blocks", "waits-for")
"""Kinds of dependencies that keep a task from being begun. Its parent is not one: an epic is open while it is done."""
CHILD = "parent-child"
TOMBSTONE = "tombstone"
ASIDE = ("pinned", "ephemeral", "is_template", "template")
"""Flags of issues that nobody is to work on."""
USUAL = 2
LONGEST = 300
DEEPEST = 50
"""Epics within epics."""
MOST_LINES, MOST_NEEDS = 100_000, 1_000_000

Issue = dict[str, object]


def parse_statuses(text: str) -> dict[str, str]:
    """Every bead with its status, in beads' own word. Lines that are none are passed over. TrackerError as `whole`."""
    return {
        str(issue["id"]): str(issue["status"]).lower()
        for issue in parse_issues(text)
        if isinstance(issue.get("status"), str)
    }


def parse_issues(text: str) -> list[Issue]:
    """The objects of a file, in its order. Only a line feed ends a line: titles may hold what else ends lines."""
    return [found for line in _split_lines(text, PLACE) if (found := parse_issue(line)) is not None]


def _split_lines(text: str, source: str) -> list[str]:
    if text.count("\n") > MOST_LINES:
        raise TrackerError(f"{source} holds more than {MOST_LINES:,} lines; is it the file meant?")
    return text.split("\n")


def parse_issue(line: str) -> Issue | None:
    """One line of a file; None where it is none."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and isinstance(found.get("id"), str) and found["id"] else None


def parse_checked(text: str, source: str) -> tuple[list[Issue], str]:
    """The objects of a file, and what is wrong with its other lines, in words.

    TrackerError where none can be read, where there are too many, and where the file ends within a line: how much is
    missing nobody knows.
    """
    lines = _split_lines(text, source)
    read = [parse_issue(line) for line in lines]
    found = [each for each in read if each is not None]
    others = [(number, line) for number, line in enumerate(lines, 1) if read[number - 1] is None]
    odd = [number for number, line in others if line.strip() and not _is_json(line)]
    if not found and text.strip():
        raise TrackerError(f"{source} holds no issue that can be read; look what has become of it")
    if odd and odd[-1] == len(lines):
        raise TrackerError(
            f"{source} is cut off in line {odd[-1]}: issues are missing; restore it, or have it exported anew"
        )
    more = f" and {len(odd) - 1} more" if len(odd) > 1 else ""
    return found, f"{source}: line {odd[0]}{more} cannot be read and may be an issue; correct it" if odd else ""


def _is_json(line: str) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def encode_issue(issue: Issue) -> str:
    """One line of a file, without its end."""
    text = json.dumps(issue, ensure_ascii=False, separators=(",", ":"))
    # Half of a pair of surrogates, which JSON can hold and UTF-8 cannot, stays an escape.
    return text if _encodable(text) else json.dumps(issue, separators=(",", ":"))


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def parse_work(text: str, source: str, now: float | None = None) -> Work:
    """All tasks of a file. TrackerError as of ``whole``.

    ``now``: wall clock; what is put off until later than that is deferred.
    """
    found, trouble = parse_checked(text, source)
    return build_work(found, source, now)._replace(trouble=trouble)


def build_work(found: list[Issue], source: str, now: float | None = None) -> Work:
    """The same of issues that were read elsewhere. TrackerError where tasks depend on each other beyond measure."""
    tasks: dict[str, TrackerTask] = {}
    for each in found:
        if (task := _build_task(each, now)) is not None:
            tasks[task.id] = task
        else:
            tasks.pop(str(each.get("id")), None)
    handed = _InheritedNeeds(tasks, source)
    return Work({own: task._replace(needs=handed.needs(task)) for own, task in tasks.items()}, source)


class _InheritedNeeds:
    """What tasks need, and what their epics need, which beads hands down; not what is itself part of such an epic."""

    def __init__(self, tasks: dict[str, TrackerTask], source: str) -> None:
        self._tasks, self._source = tasks, source
        self._above = {own: self._ancestors(own) for own in tasks}
        self._count = 0

    def needs(self, task: TrackerTask) -> tuple[str, ...]:
        found = list(task.needs)
        for above in self._above[task.id]:
            needs = self._tasks[above].needs if above in self._tasks else ()
            self._count += len(needs)
            if self._count > MOST_NEEDS:  # few lines can say that each of many tasks needs each of many others
                raise TrackerError(f"{self._source} holds more than {MOST_NEEDS:,} dependencies that epics hand down")
            found += [need for need in needs if need != task.id and above not in self._above.get(need, ())]
        return tuple(dict.fromkeys(found))

    def _ancestors(self, task: str) -> list[str]:
        found: list[str] = []
        above = self._tasks[task].parent
        while above and above not in (task, *found):
            if len(found) == DEEPEST:
                raise TrackerError(f"{self._source}: {task[:LONGEST]!r} lies more than {DEEPEST} epics deep; mend that")
            found.append(above)
            above = self._tasks[above].parent if above in self._tasks else ""
        return found


def _build_task(issue: Issue, now: float | None) -> TrackerTask | None:
    """An issue as a task; None for one that was removed."""
    said = _to_text(issue.get("status")).lower() or OPEN
    if said == TOMBSTONE or not isinstance(issue.get("id"), str):
        return None
    own = str(issue["id"])
    links = [_parse_link(each, own) for each in _to_objects(issue.get("dependencies"))]
    parents = [to for kind, to in links if kind == CHILD]
    priority, status = issue.get("priority"), _map_status(issue, said, now)
    return TrackerTask(
        id=own,
        title=ForeignText(_to_text(issue.get("title"))),
        status=status,
        kind=_to_text(issue.get("issue_type")) or "task",
        priority=priority if isinstance(priority, int) and not isinstance(priority, bool) else USUAL,
        labels=tuple([each for each in _to_list(issue.get("labels")) if isinstance(each, str)]),
        needs=tuple(dict.fromkeys([to for kind, to in links if kind in BLOCKING and to not in ("", own)])),
        parent=_to_text(issue.get("parent")) or (parents[-1] if parents else ""),
        assignee=ForeignText(_to_text(issue.get("assignee"))),
        updated=parse_instant(issue.get("updated_at")),
        said=ForeignText(said),
        notes=tuple([ForeignText(_to_text(each.get("text"))) for each in _to_objects(issue.get("comments"))]),
        closed=parse_instant(issue.get("closed_at")) if status == CLOSED else None,
    )


def _map_status(issue: Issue, said: str, now: float | None) -> str:
    if said == CLOSED:
        return CLOSED
    until = parse_instant(issue.get("defer_until"))
    if any(issue.get(flag) for flag in ASIDE) or (
        said == OPEN and until is not None and now is not None and until > now
    ):
        return DEFERRED
    return said if said in STATUSES else DEFERRED


def _parse_link(found: Issue, own: str) -> tuple[str, str]:
    """Kind and target of a dependency, as files have it or as `show` tells it; nothing where it is another's."""
    if "depends_on_id" in found:
        mine = found.get("issue_id") in (None, "", own)
        return (_to_text(found.get("type")) or BLOCKING[0], _to_text(found["depends_on_id"])) if mine else ("", "")
    return _to_text(found.get("dependency_type")) or _to_text(found.get("type")) or BLOCKING[0], _to_text(
        found.get("id")
    )


def parse_instant(value: object) -> float | None:
    """Wall-clock seconds of an ISO 8601 text; without a zone it is UTC."""
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
        return None if moment is None else (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def format_time(at: float) -> str:
    """A moment as beads writes it."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def check_output(out: str, trouble: str, asked: str) -> list[object]:
    """The JSON that one of the programs has printed. TrackerError with its words where that tells of an error."""
    said = _find_documents(out)
    for document in (*said, *_find_documents(trouble)):
        if isinstance(document, dict) and document.get("error"):
            raise TrackerError(f"`{asked}` said: {_error_words(document)}")
    return said


def parse_answer(out: str, trouble: str, asked: str) -> list[Issue]:
    """The issues that one of the programs tells. TrackerError where it tells of an error, or nothing that is one."""
    for document in check_output(out, trouble, asked):
        if isinstance(document, list):
            return _to_objects(document)
        if isinstance(document, dict) and isinstance(document.get("issues"), list):
            return _to_objects(document["issues"])
        if isinstance(document, dict) and isinstance(document.get("id"), str):
            return [document]
    words = read_last_line(trouble) or read_last_line(out) or "nothing"
    raise TrackerError(f"`{asked}` said: {words}; is that a program of beads?")


def _find_documents(text: str) -> list[object]:
    """Every JSON array or object that begins a line, out of its envelope."""
    decoder, found, at = json.JSONDecoder(), [], 0
    while at < len(text):
        if text[at] in "[{":
            try:
                document, at = decoder.raw_decode(text, at)
            except (ValueError, RecursionError):
                pass
            else:
                found.append(document["data"] if _is_envelope(document) else document)
                continue
        at = text.find("\n", at) + 1 or len(text)
    return found


def _is_envelope(document: object) -> bool:
    return isinstance(document, dict) and "schema_version" in document and isinstance(document.get("data"), list | dict)


def _error_words(document: dict[str, object]) -> str:
    error = document["error"]
    parts = [error.get("message"), error.get("hint")] if isinstance(error, dict) else [error, document.get("hint")]
    return read_last_line("; ".join([str(part) for part in parts if part])) or "an error without words"


def read_last_line(text: str) -> str:
    """The last line of what a program says, as it may be shown."""
    lines = [line for line in text.splitlines() if line.strip()]
    shown = "".join([c if c.isprintable() else " " for c in lines[-1].strip()]) if lines else ""
    return shown[:LONGEST].rstrip(" .")


def _to_text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _to_list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _to_objects(value: object) -> list[Issue]:
    return [each for each in _to_list(value) if isinstance(each, dict)]
