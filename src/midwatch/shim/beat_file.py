"""Beats: how work says that it makes progress. A leaf, because `midwatch beat` may be called in a tight loop.

What the work says in words (``speak``) stands until it says something else: a beat without words (``renew``) leaves
note and progress as they are.
"""

from __future__ import annotations

import os

from midwatch.shim import drop_box
from midwatch.system.atomic_files import dumps, read_plain, write_atomic, write_new

LARGEST = 64 << 20


def find_beat_target(directory: str | None, name: str | None, progress: float | None) -> tuple[str, str, str | None]:
    """Drop box, name and run that a beat is for. ValueError: it is said wrongly; LookupError: nobody would hear it."""
    box, own = os.environ.get("MIDWATCH_DIR"), os.environ.get("MIDWATCH_NAME")
    # A job that is named is meant as it is now; else the beat is for the run that we are in.
    run = None if name else os.environ.get("MIDWATCH_RUN")
    inside = box and own and not directory and not name
    state = directory or (box and drop_box.find_state_directory(box, own or "")) or os.environ.get("MIDWATCH_HOME")
    name = name or own
    if not state or not name:
        raise ValueError("not inside a job: name it with --dir and --name, or start it with `midwatch run`")
    if progress is not None and not 0 <= progress <= 1:
        raise ValueError(f"--progress is a number from 0 to 1, not {progress:g}")
    if inside and box and (found := drop_box.read_owner(box)):
        if run not in (None, found[0]):
            raise LookupError(_earlier_place(name))
        return box, name, run
    return _beat_path(state, name, run), name, run


def write_beat(base: str, run: str | None, note: str, progress: float | None, result: str | None) -> None:
    """Leave a result, if there is one, then the beat. OSError when that cannot be written."""
    if result is not None:
        write_atomic(base + ".result", result)
    write_atomic(base + ".beat", _beat_text(run, note, progress))


def renew_beat(directory: str, name: str, run: str) -> None:
    """Beat for a run without words. Where that cannot be written, or a newer run has the name, nothing happens."""
    path = f"{directory}/{name}.beat"
    try:
        found = drop_box.read_owner(directory)
        if found is None:
            _beat_path(directory, name, run)
        elif found[0] != run:
            return
        try:
            os.utime(path, follow_symlinks=False)
        except FileNotFoundError:
            write_new(path, _beat_text(run, "", None))
    except (OSError, LookupError):
        pass  # whoever beats has other work to do, which goes on


def _beat_text(run: str | None, note: str, progress: float | None) -> str:
    return dumps({"schema": 1, "run": run, "note": note, "progress": progress}) + "\n"


def _beat_path(directory: str, name: str, run: str | None) -> str:
    """Where a beat for a job of a directory is written: its drop box, if its record says that it has one.

    LookupError says why nobody would hear it. What an older run left behind must not speak for a newer one.
    """
    try:
        path = f"{directory}/{name}.json"
        record = "" if "/" in name else read_plain(path, LARGEST).decode("utf-8", "replace")
    except OSError:
        record = ""
    if not record:
        raise LookupError(f"there is no job {name!r} in {directory}")
    if run and f'"run": "{run}"' not in record:
        raise LookupError(_earlier_place(name))
    if '"drop": true' not in record:  # adopted, or of an earlier release
        return directory
    return drop_box.box_path(directory, name)


def _earlier_place(name: str) -> str:
    return f"{name} has been started again since; this beat is of an older run"
