"""BMAD's ``sprint-status.yaml``: which story has which status.

Read line by line, as those do who write it: a key, a colon, a word. What stands in quotes or behind a # is taken for
what it is; nothing else of YAML is in these files.
"""

from __future__ import annotations

import re

ARTIFACTS = "_bmad-output/implementation-artifacts"
"""Where BMAD keeps what its workflows make, below a project: this file, and those of stories."""
PLACES = (f"{ARTIFACTS}/sprint-status.yaml", "_bmad-output/sprint-status.yaml")
"""Where it may be, below a project."""
KEY = re.compile(r"(?P<key>[A-Za-z0-9][\w.-]*|\"[^\"]+\"|'[^']+') *:")
NUMBER = re.compile(r"([0-9]+)[.-]([0-9]+)(?=-|$)")
EPIC = re.compile(r"epic-[0-9]+(-retrospective)?")
SECTION = "development_status"


def parse_statuses(text: str) -> dict[str, str]:
    """Every story and epic with its status; the last word on each counts. A file without the section is all of it."""
    found: dict[str, str] = {}
    lines = text.splitlines()
    everywhere = not any(_begins_section(line) for line in lines)
    inside, depth = everywhere, 0
    for line in lines:
        indent = len(line) - len(line.lstrip(" "))
        if _begins_section(line):
            inside, depth = True, indent
            continue
        if inside and not everywhere and line.strip() and not line.lstrip().startswith("#") and indent <= depth:
            inside = False
        if inside and (row := KEY.match(line, indent)):
            status = line[row.end() :].partition("#")[0].lstrip(" ")
            if status[:1].strip():
                found[row["key"].strip("\"'")] = status.strip().strip("\"'").lower()
    return found


def _begins_section(line: str) -> bool:
    return line.partition("#")[0].strip() == f"{SECTION}:"


def find_story(text: str, story: str) -> tuple[str, str] | None:
    """Key and status of a story, by its whole key or by its number (5.3 or 5-3); None where there is none, or two."""
    keys = find_keys(text, story)
    return (keys[0], parse_statuses(text)[keys[0]]) if len(keys) == 1 else None


def find_keys(text: str, story: str) -> list[str]:
    """All that could be meant by a story's key or number. A story that was renamed is found by its number."""
    found = parse_statuses(text)
    if story in found:
        return [story]
    for start in (story.replace(".", "-"), _story_number(story)):
        meant = [key for key in found if f"{key.replace('.', '-')}-".startswith(f"{start}-")]
        if start and meant:
            return meant
    return []


def stories_of_epic(text: str, epic: str) -> dict[str, str]:
    """The stories of an epic; neither the epic's own row nor its retrospective is one."""
    return {key: status for key, status in parse_statuses(text).items() if _story_number(key).startswith(f"{epic}-")}


def story_rows(text: str) -> dict[str, str]:
    """The rows that are stories, epics or retrospectives; in a file without the section others stand beside them."""
    return {key: status for key, status in parse_statuses(text).items() if _story_number(key) or EPIC.fullmatch(key)}


def _story_number(key: str) -> str:
    found = NUMBER.match(key)
    return f"{found[1]}-{found[2]}" if found else ""
