"""Taking out of a recording what should not leave the machine: keys, and the name of the home directory.

Only what looks like a key by its own form is found; prose that gives a secret away is not.
"""

from __future__ import annotations

import re

from dogwatch.model.session import Report, Sighting

KEYS = re.compile(
    r"\bsk-[A-Za-z0-9_-]{16,}"  # Anthropic, OpenAI
    r"|\bAIza[0-9A-Za-z_-]{30,}"  # Google
    r"|\bgh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}"
    r"|glpat-[A-Za-z0-9_-]{16,}"
    r"|xox[abeprs]-[A-Za-z0-9-]{10,}"
    r"|AKIA[0-9A-Z]{16}|ASIA[0-9A-Z]{16}"
    r"|hf_[A-Za-z0-9]{30,}|npm_[A-Za-z0-9]{30,}"
    r"|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"  # JSON web tokens
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----"
    r"|(?i:(?<=bearer )|(?<=api[_-]key=)|(?<=token=)|(?<=password=)|(?<=secret=))[^\s'\"&]{6,}"
)
HIDDEN = "█"


class Redactor:
    """Hides keys, and writes home directories as /home/user."""

    def __init__(self, homes: tuple[str, ...]) -> None:
        parts = sorted({home.rstrip("/") for home in homes if len(home.rstrip("/")) > 1}, key=len, reverse=True)
        self.homes = re.compile("|".join(rf"{re.escape(home)}(?![\w.-])" for home in parts)) if parts else None

    def clean(self, text: str) -> str:
        """The same text; a hidden key keeps its length, so that the screen keeps its shape."""
        text = KEYS.sub(lambda found: HIDDEN * len(found[0]), text)
        return self.homes.sub("/home/user", text) if self.homes else text

    def clean_sighting(self, seen: Sighting) -> Sighting:
        """A look without keys, names of homes, and where its tmux server is."""
        clean = self.clean
        pane = seen.pane._replace(title=clean(seen.pane.title), path=clean(seen.pane.path), server=(), tty="")
        tasks = tuple(task._replace(args=tuple(clean(arg) for arg in task.args)) for task in seen.tasks)
        reports = tuple(
            Report(
                each.source, each.at, {word: clean(value) for word, value in each.words.items()}, clean(each.trouble)
            )
            for each in seen.reports
        )
        return seen._replace(pane=pane, rows=tuple(clean(row) for row in seen.rows), tasks=tasks, reports=reports)
