"""`orchestrator-helper marker`: the file that says a run over stories is under way, and still alive.

Its heartbeat is what tells a run that was killed from one that works: 30 minutes without one is stale. The file is
replaced whole, so that a reader never sees half of it.
"""

from __future__ import annotations

import calendar
import json
import os
import time

from midwatch.compat.story_automator import project
from midwatch.compat.story_automator.arguments import Arguments
from midwatch.core.errors import RefusedError, UsageError
from midwatch.core.json_text import dump
from midwatch.core.text import visible
from midwatch.system.atomic_files import read_plain, write_atomic

ENTRY = ".claude/.story-automator-active"
STALE = 30 * 60.0
WHEN = "%Y-%m-%dT%H:%M:%SZ"
LARGEST = 1 << 20
MOST_PIDS = 1 << 22
FLAGS = ("--epic", "--story", "--remaining", "--state-file", "--project-slug", "--pid", "--heartbeat")
NEEDED = ("--epic", "--story", "--remaining")


def main(given: list[str]) -> int:
    action, rest = (given[0], given[1:]) if given else ("", [])
    root = project.project_root()
    path = f"{root}/{ENTRY}"
    match action:
        case "create":
            return _create_marker(root, path, rest)
        case "remove":
            return _remove_marker(path)
        case "check":
            return _check_marker(path)
        case "heartbeat":
            return _beat_marker(path)
        case "path":
            return _print_json({"file": path, "entry": ENTRY})
        case _:
            raise UsageError("marker is one of: create, remove, check, heartbeat, path")


def _create_marker(root: str, path: str, rest: list[str]) -> int:
    given = Arguments(rest, FLAGS)
    epic, story, remaining = [given.text(flag) or "" for flag in NEEDED]
    if not (epic and story and remaining):
        raise UsageError("marker create needs all of: --epic 5 --story 5.3 --remaining 3")
    project.check_epic(epic)
    now = time.strftime(WHEN, time.gmtime())
    heartbeat = given.text("--heartbeat") or now
    if _parse_moment(heartbeat) is None:
        raise UsageError(f"--heartbeat is a time such as {now}, not {heartbeat!r}")
    made = {
        "epic": epic,
        "currentStory": project.check_story(story),
        "storiesRemaining": project.check_number(remaining, "--remaining"),
        "stateFile": given.text("--state-file") or "",
        "createdAt": now,
        "startedAt": now,
        "heartbeat": heartbeat,
        "pid": project.check_number(given.text("--pid") or "0", "--pid", most=MOST_PIDS),
        "projectSlug": given.text("--project-slug") or project.project_slug(root),
    }
    _write_marker(path, made)
    print(f"Marker created: {visible(path)}")
    return 0


def _remove_marker(path: str) -> int:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise RefusedError(f"{path} cannot be removed: {error.strerror}") from None
    print("Marker removed")
    return 0


def _check_marker(path: str) -> int:
    """One JSON document, with what the marker holds beside what we say of it."""
    found = _read_marker(path)
    if found is None:
        return _print_json({"exists": False})
    moments = [_parse_moment(found.get(key)) for key in ("heartbeat", "startedAt", "createdAt")]
    since = next((moment for moment in moments if moment is not None), None)
    age = None if since is None else max(0, int(time.time() - since))
    ours = {"exists": True, "file": path, "stale": age is None or age > STALE, "heartbeatAgeSeconds": age}
    return _print_json({**ours, **{key: value for key, value in found.items() if key not in ours}})


def _beat_marker(path: str) -> int:
    found = _read_marker(path)
    if found is None:
        raise RefusedError("No marker file to update; make one with `marker create`")
    now = time.strftime(WHEN, time.gmtime())
    _write_marker(path, {**found, "heartbeat": now})
    print(f"Heartbeat updated: {now}")
    return 0


def _read_marker(path: str) -> dict[str, object] | None:
    """What a marker holds, of whatever version; None where there is none."""
    try:
        found = json.loads(read_plain(path, LARGEST))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise RefusedError(f"{path} cannot be read: {error.strerror}; `marker remove` takes it away") from None
    except (ValueError, RecursionError):
        raise RefusedError(f"{path} holds no JSON; `marker remove` takes it away") from None
    if not isinstance(found, dict):
        raise RefusedError(f"{path} holds no marker; `marker remove` takes it away")
    return found


def _write_marker(path: str, found: dict[str, object]) -> None:
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        write_atomic(path, json.dumps(found, ensure_ascii=False, indent=2) + "\n")
    except OSError as error:
        raise RefusedError(f"{path} cannot be written: {error.strerror}") from None


def _parse_moment(text: object) -> float | None:
    try:
        return float(calendar.timegm(time.strptime(str(text)[:19] + "Z", WHEN)))
    except ValueError:
        return None


def _print_json(document: dict[str, object]) -> int:
    print(dump(document))
    return 0
