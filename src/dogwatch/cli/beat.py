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
    directory = given.get("--dir") or os.environ.get("DOGWATCH_DIR")
    name = given.get("--name") or os.environ.get("DOGWATCH_NAME")
    if not directory or not name:
        return _wrong("not inside a job: name it with --dir and --name, or start it with `dogwatch run`")
    try:
        progress = float(given["--progress"]) if "--progress" in given else None
    except ValueError:
        return _wrong(f"--progress is a number from 0 to 1, not {given['--progress']!r}")
    if progress is not None and not 0 <= progress <= 1:
        return _wrong(f"--progress is a number from 0 to 1, not {given['--progress']!r}")
    base = f"{directory}/{name}"
    # A job that is named is meant as it is now; else the beat is for the run that we are in.
    run = None if "--name" in given else os.environ.get("DOGWATCH_RUN")
    if problem := _problem(directory, name, run):
        print(f"dogwatch: {problem}", file=sys.stderr)
        return 7
    beat = {"schema": 1, "run": run, "note": given.get("--note", ""), "progress": progress}
    try:
        result = _result(given["--result"]) if "--result" in given else None
    except (ValueError, RecursionError, OSError) as error:
        return _wrong(f"--result {given['--result']}: {error}")
    try:
        if result is not None:
            write_atomic(base + ".result", result)
        write_atomic(base + ".beat", dumps(beat) + "\n")
    except OSError as error:
        print(f"dogwatch: cannot write to {directory}: {error.strerror}", file=sys.stderr)
        return 12
    return 0


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
