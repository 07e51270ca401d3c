"""The files of a task directory: manifest in both its forms, exit code, the numbers of its environment, and our notes.

Manifests belong to others. What we do not know in them is kept, in its place and of its type; bytes that are no UTF-8
come and go as surrogates.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from midwatch.core import durations
from midwatch.core.errors import FormatError, UsageError
from midwatch.core.job_model import ProgressSource
from midwatch.core.process_state import format_process, parse_process
from midwatch.core.verdict import Verdict
from midwatch.taskdir.model import TaskAgent, TaskNotes, TaskNumbers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SCHEMA = 1
STAMP = "%Y-%m-%dT%H:%M:%SZ"
MANIFESTS = ("manifest.json", "manifest")
"""As earlier and as later releases of the owner write it: a JSON object, or lines of key=value."""
VARIABLES = {
    "MONITOR_BASE_INTERVAL": "base_s",
    "MONITOR_MAX_INTERVAL": "max_s",
    "MONITOR_DEADLINE": "deadline_s",
    "MONITOR_GRACE_PERIOD": "grace_s",
    "MONITOR_DISPATCH_WAIT": "dispatch_s",
}
RETRIES = "MONITOR_MAX_RETRIES"
POSITIVE = ("base_s", "max_s", "deadline_s")
MOST = 100_000
LARGEST_CODE = 255
TOLD = ("state", "final", "cause", "reason", "process", "progress", "exit_code", "signal", "elapsed_s", "log", "detail")
"""Of a verdict, what those who watched beside are told."""

Fields = dict[str, object]


def parse_numbers(environment: Mapping[str, str]) -> TaskNumbers:
    """The numbers of an environment, the protocol's own where it is silent. UsageError names the variable."""
    found: dict[str, Any] = {}
    for variable, field in VARIABLES.items():
        if given := environment.get(variable, "").strip():
            try:
                found[field] = durations.parse(given)
            except UsageError as error:
                raise UsageError(f"{variable}: {error}") from None
            if field in POSITIVE and not found[field]:
                raise UsageError(f"{variable} is {given!r}; it must be above 0")
    if given := environment.get(RETRIES, "").strip():
        if not (given.isascii() and given.isdecimal()) or int(given[:10]) > MOST:
            raise UsageError(f"{RETRIES} is {given!r}; say how often a task may be resumed, 0 for never")
        found["retries"] = int(given)
    return TaskNumbers(**found)


def parse_exit_code(text: str) -> int | None:
    """What `exit_code` holds; None where it holds no exit code."""
    word = text.strip()
    if not (word.isascii() and word.isdecimal()) or len(word) > len(str(LARGEST_CODE)):
        return None
    return int(word) if int(word) <= LARGEST_CODE else None


def format_time(seconds: float) -> str:
    """A moment of the wall clock as manifests hold it."""
    return datetime.fromtimestamp(int(seconds), UTC).strftime(STAMP)


def parse_time(text: object) -> float | None:
    try:
        return datetime.strptime(str(text), STAMP).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None


# Manifests


def parse_manifest(name: str, text: str) -> Fields:
    """The fields of a manifest. FormatError where it is not what its name promises."""
    if name == MANIFESTS[0]:
        return _to_fields(text)
    return {key: value for key, equals, value in (line.partition("=") for line in text.split("\n")) if equals}


def merge_fields(name: str, text: str, fields: Fields) -> str:
    """A manifest with some fields set, those that are None taken out, and everything else as it was."""
    wanted = {key: value for key, value in fields.items() if value is not None}
    if name == MANIFESTS[0]:
        if wanted.get("status") == "hung":  # a word of the later form only
            wanted["status"] = "crashed"
        whole = _to_fields(text) | wanted
        kept_fields = {key: value for key, value in whole.items() if key in wanted or key not in fields}
        return json.dumps(kept_fields, indent=2, ensure_ascii=False) + "\n"
    kept = [line for line in text.split("\n") if line and line.partition("=")[0] not in fields]
    return "\n".join([*kept, *(f"{key}={_to_line(value)}" for key, value in wanted.items())]) + "\n"


def find_exit_code(fields: Fields) -> int | None:
    """The exit code that a manifest tells of a task that has ended."""
    status, code = fields.get("status"), parse_exit_code(str(fields.get("exit_code", "")))
    if status not in ("completed", "failed"):
        return None
    return 0 if code is None and status == "completed" else code


def _to_fields(text: str) -> Fields:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"manifest.json is not valid JSON: {error}"[:100]) from error
    if not isinstance(found, dict):
        raise FormatError("manifest.json holds no object")
    return found


def _to_line(value: object) -> str:
    return " ".join(str(value).split("\n"))


# A task without a wrapper that we know


def script_path(directory: str) -> str:
    return f"{directory}/midwatch.sh"


def script_command(directory: str) -> str:
    """What is typed to run our own script."""
    return shlex.join(("sh", script_path(directory)))


def format_script(directory: str, cwd: str, words: Sequence[str], without: Sequence[str]) -> str:
    """A wrapper of our own, by the rules of the others: pid, then exit_code, then done.

    It outlives Ctrl-C, which its terminal sends to both: how the agent ended is still to be told.
    """
    return f"""#!/bin/sh
# Midwatch goes on with this task here, because it does not know the task's own wrapper. Written anew for each resume.
task={shlex.quote(directory)}
trap : INT QUIT
{f"unset {shlex.join(without)}" if without else ":"}
rm -f -- "$task/done" "$task/exit_code" "$task/resume"
cd -- {shlex.quote(cwd)} || exit
sh -c 'echo "$$" > "$0/pid.tmp" && mv -f -- "$0/pid.tmp" "$0/pid" && exec "$@"' "$task" {shlex.join(words)}
code=$?
echo "$code" > "$task/exit_code.tmp" && mv -f -- "$task/exit_code.tmp" "$task/exit_code"
: > "$task/done"
"""


# Our notes


def encode_notes(notes: TaskNotes) -> Fields:
    """Notes as our file beside the task's holds them."""
    verdict = notes.verdict
    return {
        "schema": SCHEMA,
        **notes._asdict(),
        "sources": {name: source._asdict() for name, source in notes.sources.items()},
        "worker": notes.worker._asdict(),
        "verdict": verdict
        and {**{field: getattr(verdict, field) for field in TOLD}, "process": format_process(verdict.process)},
    }


def decode_notes(text: str, name: str) -> TaskNotes:
    """Read what ``encode_notes`` gave, of a task of that session. FormatError where that is not to be read."""
    try:
        found = json.loads(text)
        if found.pop("schema") != SCHEMA:
            raise ValueError("it was written by another release")  # noqa: TRY301  # one error for all that is wrong
        verdict = found["verdict"]
        process = verdict and parse_process(str(verdict["process"]))
        found["verdict"] = verdict and Verdict(name=name, kind="session", **{**verdict, "process": process})
        found["sources"] = {k: ProgressSource(**{**v, "moved": float(v["moved"])}) for k, v in found["sources"].items()}
        for pair in ("agent", "wrapper", "group", "pane", "monitor"):
            first, second = found[pair]
            found[pair] = (first, int(second))
        if seen := found.pop("worker", None):
            lists = {key: tuple(value) for key, value in seen.items() if isinstance(value, list)}
            found["worker"] = TaskAgent(**{**seen, **lists})
        read = TaskNotes(**found)
        return read._replace(at=float(read.at), began=float(read.began), total=int(read.total), retry=int(read.retry))
    except (ValueError, OverflowError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise FormatError(f"our notes cannot be read: {type(error).__name__} {error}"[:100]) from error
