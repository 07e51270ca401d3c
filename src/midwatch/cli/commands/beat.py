"""`midwatch beat`: the work speaks for itself. Imports no model and no json: it may be called in a tight loop."""

import sys

from midwatch.shim.beat_file import find_beat_target, write_beat

TAKES = ("--note", "--progress", "--result", "--dir", "--name")


def main(arguments: list[str]) -> int:
    given: dict[str, str] = {}
    rest = list(arguments)
    while rest:
        flag, equals, value = rest.pop(0).partition("=")
        if flag not in TAKES:
            return _print_usage_error(f"beat has no option {flag!r}")
        if not equals and not rest:
            return _print_usage_error(f"{flag} needs a value")
        given[flag] = value if equals else rest.pop(0)
    try:
        progress = float(given["--progress"]) if "--progress" in given else None
    except ValueError:
        return _print_usage_error(f"--progress is a number from 0 to 1, not {given['--progress']!r}")
    try:
        directory, name, run = find_beat_target(given.get("--dir"), given.get("--name"), progress)
    except LookupError as error:
        print(f"midwatch: {error}", file=sys.stderr)
        return 7
    except ValueError as error:
        return _print_usage_error(str(error))
    try:
        result = _read_result(given["--result"]) if "--result" in given else None
    except (ValueError, RecursionError, OSError) as error:
        return _print_usage_error(f"--result {given['--result']}: {error}")
    try:
        write_beat(f"{directory}/{name}", run, given.get("--note", ""), progress, result)
    except OSError as error:
        print(f"midwatch: cannot write to {directory}: {error.strerror}", file=sys.stderr)
        return 12
    return 0


def _read_result(path: str) -> str:
    """The text of a result, checked to be JSON before anyone relies on it."""
    import json

    with open(0 if path == "-" else path, encoding="utf-8") as file:
        text = file.read()
    json.loads(text, parse_constant=_refuse_constant)
    return text


def _refuse_constant(word: str) -> None:
    raise ValueError(f"{word} is not JSON")


def _print_usage_error(what: str) -> int:
    print(f"midwatch: {what}\ntry `midwatch beat --help`", file=sys.stderr)
    return 2
