"""BMAD's ``sprint-status.yaml``: which story has which status.

Read line by line, as those do who write it: a key, a colon, a word. What stands in quotes or behind a # is taken for
what it is; nothing else of YAML is in these files.
"""

from __future__ import annotations

import re

PLACES = ("_bmad-output/implementation-artifacts/sprint-status.yaml", "_bmad-output/sprint-status.yaml")
"""Where it may be, below a project."""
ROW = re.compile(r"^ *(?P<key>[A-Za-z0-9][\w.-]*|\"[^\"]+\"|'[^']+') *: *(?P<status>[^#\s][^#]*?) *(?:#.*)?$")
SECTION = "development_status"


def statuses(text: str) -> dict[str, str]:
    """Every story and epic with its status; the last word on each counts."""
    found: dict[str, str] = {}
    inside, depth = False, 0
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip(" "))
        if line.strip().rstrip(":") == SECTION and line.rstrip().endswith(":"):
            inside, depth = True, indent
            continue
        if inside and line.strip() and not line.lstrip().startswith("#") and indent <= depth:
            inside = False
        if inside and (row := ROW.match(line)):
            found[row["key"].strip("\"'")] = row["status"].strip().strip("\"'").lower()
    return found


def find(text: str, story: str) -> tuple[str, str] | None:
    """Key and status of a story, by its whole key or by its number (5.3 or 5-3); None where there is none, or two."""
    found = statuses(text)
    if story in found:
        return story, found[story]
    number = story.replace(".", "-")
    meant = [key for key in found if key == number or key.startswith(f"{number}-")]
    return (meant[0], found[meant[0]]) if len(meant) == 1 else None
