"""Beats: how work says that it makes progress. A leaf, because `dogwatch beat` may be called in a tight loop.

What the work says in words (``speak``) stands until it says something else: a beat without words (``renew``) leaves
note and progress as they are.
"""

from __future__ import annotations

import os

from dogwatch.lean import dumps, open_plain, write_atomic, write_new


def whose(directory: str | None, name: str | None, progress: float | None) -> tuple[str, str, str | None]:
    """Directory, name and run that a beat is for. ValueError: it is said wrongly; LookupError: nobody would hear it."""
    # A job that is named is meant as it is now; else the beat is for the run that we are in.
    run = None if name else os.environ.get("DOGWATCH_RUN")
    directory = directory or os.environ.get("DOGWATCH_DIR") or os.environ.get("DOGWATCH_HOME")
    name = name or os.environ.get("DOGWATCH_NAME")
    if not directory or not name:
        raise ValueError("not inside a job: name it with --dir and --name, or start it with `dogwatch run`")
    if progress is not None and not 0 <= progress <= 1:
        raise ValueError(f"--progress is a number from 0 to 1, not {progress:g}")
    if problem := _problem(directory, name, run):
        raise LookupError(problem)
    return directory, name, run


def speak(base: str, run: str | None, note: str, progress: float | None, result: str | None) -> None:
    """Leave a result, if there is one, then the beat. OSError when that cannot be written."""
    if result is not None:
        write_atomic(base + ".result", result)
    write_atomic(base + ".beat", _text(run, note, progress))


def renew(directory: str, name: str, run: str) -> None:
    """Beat for a run without words. Where that cannot be written, or a newer run has the name, nothing happens."""
    path = f"{directory}/{name}.beat"
    try:
        if _problem(directory, name, run):
            return
        try:
            os.utime(path, follow_symlinks=False)
        except FileNotFoundError:
            write_new(path, _text(run, "", None))
    except OSError:
        pass  # whoever beats has other work to do, which goes on


def _text(run: str | None, note: str, progress: float | None) -> str:
    return dumps({"schema": 1, "run": run, "note": note, "progress": progress}) + "\n"


def _problem(directory: str, name: str, run: str | None) -> str:
    """Why nobody would hear this beat. What an older run left behind must not speak for a newer one."""
    try:
        with open(open_plain(f"{directory}/{name}.json"), encoding="utf-8", errors="replace") as file:
            record = "" if "/" in name else file.read()
    except OSError:
        record = ""
    if not record:
        return f"there is no job {name!r} in {directory}"
    stale = run and f'"run": "{run}"' not in record
    return f"{name} has been started again since; this beat is of an older run" if stale else ""
