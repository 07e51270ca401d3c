"""The file of a BMAD story: what it says of its status.

``Status: review`` near the top, as a plain line, in bold, or in the front matter; older files have a heading with the
word below it. What stands in a block of code is an example.
"""

from __future__ import annotations

import re

LINE = re.compile(r"\s*(?:#+\s*)?[*_]{0,2}status[*_]{0,2}\s*:\s*[*_]{0,2}(?P<status>.*)", re.IGNORECASE)
HEADING = re.compile(r"#+\s*[*_]{0,2}status[*_]{0,2}\s*", re.IGNORECASE)
FENCE = ("```", "~~~")
REST = re.compile(r"[(\[#<,;.|]| [-\u2013\u2014] ")
"""Where a remark on the status begins."""


def find_status(text: str) -> str:
    """The first status that is told, in lower case with `-` between words; empty when there is none."""
    fenced = below = False
    for line in text.splitlines():
        if line.lstrip().startswith(FENCE):
            fenced = not fenced
        elif fenced:
            continue
        elif below and line.strip():
            return normalize_status(line)
        elif HEADING.fullmatch(line):
            below = True
        elif (found := LINE.fullmatch(line)) and (told := normalize_status(found["status"])):
            return told
    return ""


def normalize_status(text: str) -> str:
    """A status without its ornaments: `**Done** (today)` is done, `Ready for Review` is ready-for-review."""
    plain = REST.split(text, maxsplit=1)[0]
    return re.sub(r"[\s_-]+", "-", re.sub(r"[^\w\s-]", " ", plain).strip().lower()).strip("-")
