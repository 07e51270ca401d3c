"""`dogwatch beat`: the work speaks for itself. Imports no model and no json: it may be called in a tight loop."""

import os
import sys

from dogwatch.lean import dumps, open_plain, write_atomic

TAKES = ("--note", "--progress", "--result", "--dir", "--name")


def main(arguments: list[str]) -> int:
    given: dict[str, str] = {}
    rest = list(arguments)
    while rest:
        flag, equals, value = rest.pop(0).partition("=")
        if flag not in TAKES:
            return _wrong(f"beat has no option {flag!r}")
        if not equals and not rest:
            return _wrong(f"{flag} needs a value")
        given[flag] = value if equals else rest.pop(0)
    try:
        progress = float(given["--progress"]) if "--progress" in given else None
    except ValueError:
        return _wrong(f"--progress is a number from 0 to 1, not {given['--progress']!r}")
    try:
        directory, name, run = whose(given.get("--dir"), given.get("--name"), progress)
    except LookupError as error:
        print(f"dogwatch: {error}", file=sys.stderr)
        return 7
    except ValueError as error:
        return _wrong(str(error))
    try:
        result = _result(given["--result"]) if "--result" in given else None
    except (ValueError, RecursionError, OSError) as error:
        return _wrong(f"--result {given['--result']}: {error}")
    try:
        speak(f"{directory}/{name}", run, given.get("--note", ""), progress, result)
    except OSError as error:
        print(f"dogwatch: cannot write to {directory}: {error.strerror}", file=sys.stderr)
        return 12
    return 0


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
    write_atomic(base + ".beat", dumps({"schema": 1, "run": run, "note": note, "progress": progress}) + "\n")


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


def _result(path: str) -> str:
    """The text of a result, checked to be JSON before anyone relies on it."""
    import json

    with open(0 if path == "-" else path, encoding="utf-8") as file:
        text = file.read()
    json.loads(text, parse_constant=_no_number)
    return text


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is not JSON")


def _wrong(what: str) -> int:
    print(f"dogwatch: {what}\ntry `dogwatch beat --help`", file=sys.stderr)
    return 2
