"""`story-automator validate-story-creation`: how many files a story has, and whether a session created exactly one."""

from __future__ import annotations

import os
import stat
import sys

from midwatch.compat.story_automator import project, story_verification
from midwatch.compat.story_automator.arguments import Arguments
from midwatch.core.errors import UsageError
from midwatch.core.json_text import dump
from midwatch.core.text import visible
from midwatch.trackers.codec import bmad

USAGE = """Usage: validate-story-creation <action> [args]

Actions:
  count <story_id>                         - How many story files there are
  check <story_id> [--before N --after N]  - Whether exactly one was created
  list <story_id>                          - The story files
  prefix <story_id>                        - How their names begin

count, check and list take --artifacts-dir DIR: where the files are, below the project."""
FLAGS = ("--before", "--after", "--artifacts-dir", "--state-file")
ACTIONS = ("count", "check", "list", "prefix")


def main(given: list[str]) -> int:
    if given[:1] in (["--help"], ["-h"]):
        print(USAGE)
        return 0
    if not given or given[0] not in ACTIONS:
        print(f"Unknown action: {given[0]!r}\n{USAGE}" if given else USAGE, file=sys.stderr)
        return 1
    if given[0] == "check":
        return _print_check(given[1:])
    told = Arguments(given[1:], FLAGS)
    start = project.story_prefix(_parse_story(given[0], told))
    match given[0]:
        case "prefix":
            print(start)
        case "count":
            print(len(_find_files(told, start)))
        case _:
            _print_files(_find_files(told, start), start)
    return 0


def _parse_story(action: str, told: Arguments) -> str:
    if not told.names:
        raise UsageError(f"{action} needs a story: validate-story-creation {action} 5.3")
    return told.names[0]


def _find_files(told: Arguments, start: str) -> list[str]:
    root = project.project_root()
    place = told.text("--artifacts-dir") or bmad.ARTIFACTS
    return [os.path.join(root, path) for path in story_verification.find_story_files(root, start, place)]


def _print_files(files: list[str], start: str) -> None:
    print(f"Story files matching {visible(start)}-*.md:")
    for path in files:
        try:
            about = os.stat(path)
        except FileNotFoundError:  # gone since it was counted
            continue
        print(stat.filemode(about.st_mode), about.st_nlink, about.st_uid, about.st_size, visible(path))
    if not files:
        print("  (none found)")


def _print_check(given: list[str]) -> int:
    """Exactly one more than before. Whatever is wrong is said in the JSON that scripts read, and never `proceed`."""
    start = ""
    try:
        told = Arguments(given, FLAGS)
        start = project.story_prefix(_parse_story("check", told))
        counts = [project.check_number(told.text(flag) or "", flag) for flag in FLAGS[:2] if told.flag(flag)]
        if len(counts) == 1:
            raise UsageError("both --before and --after are required together")  # noqa: TRY301
        files = _find_files(told, start)
    except UsageError as error:
        _print_json(start, 0, str(error), {"source": "", "pattern": "", "matches": []})
        return 1
    created = counts[1] - counts[0] if counts else len(files)
    reason = _format_problem(created)
    if not reason and counts and counts[1] != len(files):
        reason = f"--after says {counts[1]}, but there are {len(files)} story files now"
    place = told.text("--artifacts-dir") or bmad.ARTIFACTS
    shown: dict[str, object] = {"source": "artifact_glob", "pattern": f"{place}/{start}-*.md", "matches": files}
    if counts:
        shown |= {"before": counts[0], "after": counts[1]}
    if len(files) == 1:
        shown["story"] = os.path.basename(files[0]).removesuffix(".md")
    _print_json(start, created, reason, shown)
    return 0


def _format_problem(created: int) -> str:
    if created > 1:
        return f"RUNAWAY CREATION: {created} files created instead of 1"
    if created < 0:
        return f"Story files decreased ({created}) - unexpected deletion"
    return "" if created else "No story file created - session may have failed"


def _print_json(start: str, created: int, wrong: str, shown: dict[str, object]) -> None:
    said: dict[str, object] = {
        "valid": not wrong, "verified": not wrong, "created_count": created, "expected": 1, "prefix": start,
        "action": "escalate" if wrong else "proceed", "reason": wrong or "Exactly 1 story file created as expected",
    }  # fmt: skip
    print(dump(said | shown))
