"""What a monitor changes of a task: its manifest, and what a resume takes by the protocol of its wrapper.

Whoever calls this holds the lease of the directory (``taskdir/store.py``), so no two of us write at once. The owner's
own writers come first: what they wrote about an end is never written over.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from collections.abc import Iterator

from midwatch.core.errors import FormatError, RefusedError
from midwatch.core.verdict import Verdict
from midwatch.system import inotify, processes, procfs
from midwatch.system import terminate_tree as hand
from midwatch.system.atomic_files import write_atomic
from midwatch.taskdir import codec as taskdir_codec
from midwatch.taskdir.model import TaskFacts, TaskNotes
from midwatch.taskdir.observe import is_file, read_text
from midwatch.taskdir.session_observer import is_interactive_shell, list_ancestors, list_members

LOCK_PATIENCE = 5.0
"""Seconds that the owner waits for the lock of his manifest; then he goes on without it."""
ATTEMPTS = 100
BETWEEN_TRIES = 0.1
"""Seconds between tries for a lock whose going nothing tells of."""
NOT_ABANDONED: taskdir_codec.Fields = {"abandoned_at": None, "abandon_reason": None}
"""What is taken out of the manifest of a task that runs again."""


# The manifest


def update_manifest(directory: str, fields: taskdir_codec.Fields, *, unless_over: bool = True) -> None:
    """Merge fields into the manifest, if there is one. FormatError where it cannot be read; OSError.

    ``unless_over``: not if the wrapper has said how the task ended.
    """
    name = next((name for name in taskdir_codec.MANIFESTS if is_file(f"{directory}/{name}")), "")
    if not name or (unless_over and has_ended(directory)):
        return
    with _hold_owner_lock(directory) if name == "manifest" else contextlib.nullcontext():
        _merge_fields(directory, name, fields, unless_over=unless_over)
        if (
            unless_over and (code := _read_exit_code(directory)) is not None
        ):  # its wrapper wrote that while we wrote ours
            _merge_fields(directory, name, _end_fields(code), unless_over=False)


def _merge_fields(directory: str, name: str, fields: taskdir_codec.Fields, *, unless_over: bool) -> None:
    path = f"{directory}/{name}"
    for _ in range(ATTEMPTS):
        if unless_over and has_ended(directory):
            return
        before = os.lstat(path)
        text = taskdir_codec.merge_fields(name, read_text(path) or "", fields)
        after = os.lstat(path)
        if (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns):
            write_atomic(path, text)
            return
    raise OSError(0, "it changes all the time", path)


def has_ended(directory: str) -> bool:
    """Whether the wrapper has begun to say how its task ended."""
    return is_file(f"{directory}/done") or is_file(f"{directory}/exit_code")


def write_end(directory: str, verdict: Verdict, code: int | None, resumes: int) -> None:
    """Write down an end that the wrapper has not. ``code``: how the agent ended, if anybody knows."""
    checked: taskdir_codec.Fields = {"retry_count": resumes, "last_checked_at": taskdir_codec.format_time(time.time())}
    if verdict.state in ("completed", "failed", "stopped") and code is not None:
        write_wrapper_end(directory, code)
    elif verdict.state == "crashed":
        update_manifest(directory, {"status": "crashed", **checked})
    elif verdict.state == "abandoned":
        update_manifest(directory, abandoned_fields(verdict.detail) | checked)


def complete_manifest(directory: str, verdict: Verdict, code: int | None, status: str, resumes: int) -> None:
    """Add to the manifest of a task that is done what nobody else will: our own script leaves its end to us.

    What its wrapper has said of the end stays; of a crash it is added that it was seen, and how often it was resumed.
    """
    fields: taskdir_codec.Fields = {}
    if code is not None and status not in ("completed", "failed"):
        fields = _end_fields(code)
    if verdict.state in ("crashed", "abandoned"):
        fields |= {"retry_count": resumes, "last_checked_at": taskdir_codec.format_time(time.time())}
    if fields:
        update_manifest(directory, fields, unless_over=False)


def is_given_up(facts: TaskFacts) -> bool:
    """Whether the manifest of a task that runs says that it does not."""
    return facts.status in ("abandoned", "crashed", "hung") or not NOT_ABANDONED.keys().isdisjoint(facts.manifest)


def record_restart(directory: str, pid: int) -> None:
    """Say in the manifest that the task runs, after it was given up or brought back."""
    update_manifest(directory, {"status": "running", "pid": pid, **NOT_ABANDONED})


def abandoned_fields(reason: str) -> taskdir_codec.Fields:
    return {"status": "abandoned", "abandoned_at": taskdir_codec.format_time(time.time()), "abandon_reason": reason}


def write_wrapper_end(directory: str, code: int) -> None:
    """Say in the wrapper's place how the task ended, in his order: nobody else is left to do so."""
    write_atomic(f"{directory}/exit_code", f"{code}\n")
    with contextlib.suppress(FormatError):
        update_manifest(directory, _end_fields(code), unless_over=False)
    write_atomic(f"{directory}/done", "")


def _read_exit_code(directory: str) -> int | None:
    with contextlib.suppress(FormatError):
        text = read_text(f"{directory}/exit_code")
        return None if text is None else taskdir_codec.parse_exit_code(text)
    return None


def _end_fields(code: int) -> taskdir_codec.Fields:
    status = "failed" if code else "completed"
    return {"status": status, "exit_code": code, "finished_at": taskdir_codec.format_time(time.time())}


@contextlib.contextmanager
def _hold_owner_lock(directory: str) -> Iterator[None]:
    """The owner's lock of a manifest of lines: a directory that is made."""
    path, deadline = f"{directory}/manifest.lock", time.monotonic() + LOCK_PATIENCE
    with contextlib.ExitStack() as stack:
        events = None
        with contextlib.suppress(OSError, AttributeError):  # none are left: then time alone tells
            events = stack.enter_context(contextlib.closing(inotify.FileEvents()))
            events.add(directory, inotify.NAMES)
        while not (made := _make_directory(path)) and time.monotonic() < deadline:
            select.select([events] if events else [], [], [], BETWEEN_TRIES)
            if events:
                events.read()
    try:
        yield
    finally:
        if made:
            with contextlib.suppress(OSError):
                os.rmdir(path)


def _make_directory(path: str) -> bool:
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        return False
    return True


# A resume


def is_alive(who: tuple[int, int]) -> bool:
    """Whether a process (pid and start) is there."""
    return bool(who[0]) and processes.is_alive(*who)


def end_processes(notes: TaskNotes) -> None:
    """End the agent, its wrapper, all below them and in their process group. RefusedError if that cannot be.

    The wrapper goes first: it would call the task done. A pane's own process is never ended; a shell in it that waits
    for the agent is interrupted, as by Ctrl-C, since it would call the task done as well.
    """

    def left() -> dict[int, int]:
        found = dict(each for each in (notes.wrapper, notes.agent) if is_alive(each))
        if notes.pane[1] == notes.group[1] != notes.group[0]:  # a job of the pane's shell, and of nobody else
            found |= list_members(notes.group)
        return {pid: start for pid, start in found.items() if pid != notes.pane[1]}

    if os.getpid() in [each for pid in left() for each in (pid, *procfs.descendants(pid))]:
        raise RefusedError("this monitor runs below what it would have to end")
    _interrupt_shell(notes)
    if stays := hand.end_tree(left):
        raise RefusedError(f"it could not be ended; still there: {', '.join(map(str, stays))}")


def _interrupt_shell(notes: TaskNotes) -> None:
    """Have the pane's shell give up the line in which it waits for the agent, if it is the one who started that."""
    shell = notes.pane[1]
    if (
        shell
        and is_alive(notes.agent)
        and list_ancestors(notes.agent[0])[1:2] == [shell]
        and is_interactive_shell(shell)
    ):
        hand.signal_exactly(shell, procfs.start_time(shell), signal.SIGINT)


def write_script(directory: str, text: str) -> None:
    write_atomic(taskdir_codec.script_path(directory), text)


def remove_end_files(directory: str, dead: int) -> None:
    """Everything that must be so before the wrapper is run again. May be done again by whoever comes after us.

    The marker comes first: whoever runs the wrapper from then on resumes, and does not begin anew. Its end is taken
    back, since the wrapper does nothing where `done` is. ``dead``: the pid that the stale pid file holds.
    """
    marker = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
    os.close(os.open(f"{directory}/resume", marker, 0o600))
    for name in ("done", "exit_code"):
        _remove(f"{directory}/{name}")
    with contextlib.suppress(FormatError):
        if (read_text(f"{directory}/pid") or "").strip() == str(dead):
            _remove(f"{directory}/pid")


def _remove(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
