"""`midwatch task`: the work of a project, as whoever keeps it has it; ours can be written, too."""

import os
import sys

from midwatch.cli import output
from midwatch.cli.parser import Options
from midwatch.core.errors import RefusedError, UsageError
from midwatch.core.json_text import dump
from midwatch.core.text import visible
from midwatch.swarm import quality
from midwatch.swarm.quality import TaskOrder
from midwatch.trackers import select
from midwatch.trackers.builtin import BuiltinTracker
from midwatch.trackers.model import CLOSED, STATUSES, Tracker, TrackerError, TrackerTask, Work

SCHEMA = 1
WORDS = {
    "list": 0, "ready": 0, "show": 1, "add": 1, "start": 1, "block": 1, "unblock": 1, "reopen": 1, "close": 1,
    "note": 2,
}  # fmt: skip
"""Words, and how many more each takes."""
READING = ("list", "ready", "show")
FLAGS = {
    "--status": ("list",), "--epic": ("add",), "--needs": ("add",), "--priority": ("add",), "--label": ("add",),
    "--type": ("add",), "--assignee": ("start",), "--reason": ("block", "close"),
}  # fmt: skip
KEEPERS = {"beads": "br or bd", "sprint": "BMAD's own workflows", "kanban": "`hermes kanban`"}
FOR_BEADS = ("add", "note", "close")
PRIORITIES = ("0", "1", "2", "3", "4")
COLOURS = {"open": "36", "in_progress": "33", "blocked": "31", "deferred": "2", "closed": "32"}


def main(options: Options) -> int:
    word, *rest = options.names or ("list",)
    _check_arguments(options, word, rest)
    project = options.text("--project-dir") or os.getcwd()
    if not os.path.isdir(project):
        raise UsageError(f"there is no directory {project}; --project-dir names one")
    tracker = select.find_tracker(project)
    if word in READING:
        return _print_query(options, tracker, word, rest)
    if tracker.kind in KEEPERS and not (tracker.kind == "beads" and word in FOR_BEADS):
        raise TrackerError(f"{tracker.place} is written by {KEEPERS[tracker.kind]} only; {word} {rest[0]} with that")
    task = _add_task(options, tracker, rest[0]) if word == "add" else rest[0]
    if word == "close":
        _check_closable(options, tracker, task, project)
        tracker.close(task, options.text("--reason") or "")
    elif word == "note":
        tracker.note(task, rest[1])
    elif isinstance(tracker, BuiltinTracker) and word != "add":
        _change_status(options, tracker, word, task)
    _print_task(options, tracker, task, word)
    return 0


def _check_arguments(options: Options, word: str, rest: list[str]) -> None:
    if word not in WORDS:
        raise UsageError(f"task takes one of {', '.join(WORDS)}, not {word!r}")
    for flag, words in FLAGS.items():
        if options.flag(flag) and word not in words:
            raise UsageError(f"{flag} belongs to {' and '.join(words)}")
    what = {
        0: "nothing more",
        1: "the title, in quotes" if word == "add" else "one id",
        2: "an id, and a text in quotes",
    }
    if len(rest) != WORDS[word]:
        raise UsageError(f"{word} takes {what[WORDS[word]]}")
    rest[:] = [each.encode("utf-8", "surrogateescape").decode("utf-8", "replace").strip() for each in rest]
    if not all(rest):
        raise UsageError(f"{word} takes {what[WORDS[word]]}, not an empty word")
    if word == "block" and not (options.text("--reason") or "").strip():
        raise UsageError("block needs --reason: what is in the way, for whoever can clear it")


# Reading


def _print_query(options: Options, tracker: Tracker, word: str, rest: list[str]) -> int:
    status = options.choice("--status", (*STATUSES, "all"))
    work = tracker.read()
    if work.trouble:
        output.print_remark(work.trouble)
    if word == "show":
        task = _find_task(work, tracker, rest[0])
        _print(options, work, [task])
        if not options.flag("--json"):
            _show(work, task)
        return 0
    if word == "ready":
        found = list(quality.order(work).ready)
    else:
        tasks = sorted(work.tasks.values(), key=lambda task: (STATUSES.index(task.status), task.priority, task.id))
        found = [task for task in tasks if status in ("all", task.status) or (status is None and task.status != CLOSED)]
    _print(options, work, found)
    if not found and not options.flag("--json"):
        what = "ready" if word == "ready" else f"{status}" if status and status != "all" else "left"
        print(f"no task is {what} in {visible(work.source)}", file=sys.stderr)
    return 0


def _find_task(work: Work, tracker: Tracker, task: str) -> TrackerTask:
    if task not in work.tasks:
        raise TrackerError(f"there is no task {visible(task)!r} in {tracker.place}; `midwatch task list` lists them")
    return work.tasks[task]


def _print(options: Options, work: Work, found: list[TrackerTask]) -> None:
    order = quality.order(work)
    width = max([len(visible(task.id)) for task in found], default=0)
    for task in found:
        print(_as_json(task, order) if options.flag("--json") else _as_line(task, order, width))


def _as_json(task: TrackerTask, order: TaskOrder) -> str:
    ready = any(each.id == task.id for each in order.ready)
    told = {"schema": SCHEMA, **task._asdict(), "waits_for": order.waits_for[task.id], "ready": ready}
    return dump(told, spaced=True)


def _as_line(task: TrackerTask, order: TaskOrder, width: int) -> str:
    waits = order.waits_for[task.id]
    more = [f"needs {', '.join(waits)}"] * bool(waits) + [task.assignee.line()] * bool(task.assignee)
    more += [task.said.line()] * (task.said.raw not in ("", task.status))
    told = f" ({visible('; '.join(more))})" if more else ""
    return f"{visible(task.id):<{width}}  {_status(task)}  P{task.priority}  {task.title.line()}{told}"


def _status(task: TrackerTask) -> str:
    shown = f"{task.status:<11}"
    return f"\033[{COLOURS[task.status]}m{shown}\033[0m" if output.uses_colour(1) else shown


def _show(work: Work, task: TrackerTask) -> None:
    children = [child.id for child in work.children(task.id)]
    for name, found in (("epic", [task.parent]), ("needs", task.needs), ("labels", task.labels), ("tasks", children)):
        if told := ", ".join(filter(None, found)):
            print(f"  {name}: {visible(told)}")
    for note in task.notes:
        print(f"  - {note.line()}")


# Writing


def _add_task(options: Options, tracker: Tracker, title: str) -> str:
    priority, kind = options.text("--priority"), options.text("--type") or "task"
    if priority is not None and priority not in PRIORITIES:
        raise UsageError(f"--priority is 0 to 4, not {priority!r}")
    if not title.isprintable() or not kind.replace("-", "").replace("_", "").isalnum():
        raise UsageError("a title is one line of text, and --type one word")
    labels = tuple([label.strip() for given in options.each("--label") for label in given.split(",") if label.strip()])
    needs = tuple([need.strip() for given in options.each("--needs") for need in given.split(",") if need.strip()])
    return tracker.add(  # type: ignore[call-arg]  # ours and beads take more than every tracker must
        title, labels=labels, parent=options.text("--epic") or "", kind=kind, priority=int(priority or 2), needs=needs
    )


def _change_status(options: Options, tracker: BuiltinTracker, word: str, task: str) -> None:
    if word == "start":
        work = tracker.read()
        if waits := quality.order(work).waits_for[_find_task(work, tracker, task).id]:
            output.print_remark(f"{visible(task)} needs {visible(', '.join(waits))} first")
        tracker.start(task, options.text("--assignee") or "")
    elif word == "block":
        tracker.block(task, options.text("--reason") or "")
    else:
        tracker.reopen(task)


def _check_closable(options: Options, tracker: Tracker, task: str, project: str) -> None:
    """RefusedError while somebody has reported about it and nobody has read that, or its reviews are not done."""
    from midwatch.mail import store as mail_store

    work = tracker.read()
    quality.refuse_early_close(work, _find_task(work, tracker, task), "; `midwatch quality due` tells more")
    if unread := mail_store.unread_ids_about(mail_store.collect_mail(project, options.text("--dir"))[0], task):
        raise RefusedError(
            f"{visible(task)} stays open: a report about it is unread; read it with `midwatch mail show {unread[0]}`"
        )


def _print_task(options: Options, tracker: Tracker, task: str, word: str) -> None:
    """What has become of it. A new one by its id alone, for scripts."""
    if word == "add" and not options.flag("--json"):
        print(visible(task))
        return
    work = tracker.read()
    _print(options, work, [_find_task(work, tracker, task)])
