"""Blocks of commands in the README and in docs: what each needs, what it runs, and what it shows."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
NEEDS = {
    "nothing": True,
    "tmux": True,
    "agent": False,
    "service": False,
    "terminal": False,
    "time": False,
    "checkout": False,
}
"""What a block may need, and whether the tests have it. A service is a broker or another program; time is hours."""
LANGUAGES = ("", "sh", "bash", "console", "python")
_FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"^(?:\$ |midwatch |story-automator |make |tmux |hermes )", re.MULTILINE)


class Command(NamedTuple):
    text: str
    shown: str
    """What the block shows below it; … stands for anything."""
    code: str = "0"
    """Exit code; the block shows another one by `echo $?`."""


class Block(NamedTuple):
    page: Path
    line: int
    language: str
    needs: str
    text: str

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def runs(self) -> bool:
        return NEEDS.get(self.needs, False)

    def commands(self) -> list[Command]:
        """Of a console what stands behind `$ ` and `> `, each with what it shows; else the whole text."""
        if self.language != "console":
            text = f"python - <<'END_OF_PYTHON'\n{self.text}END_OF_PYTHON" if self.language == "python" else self.text
            return [Command(text, "")]
        found: list[tuple[list[str], list[str]]] = []
        for line in self.text.splitlines():
            if line.startswith("$ "):
                found.append(([line[2:]], []))
            elif line.startswith("> ") and not found[-1][1]:
                found[-1][0].append(line[2:])
            else:
                found[-1][1].append(line)
        commands = [Command("\n".join(typed), "\n".join(shown)) for typed, shown in found]
        told = [next_.shown if next_.text == "echo $?" else "0" for next_ in [*commands[1:], Command("", "")]]
        pairs = zip(commands, told, strict=True)
        return [command._replace(code=code) for command, code in pairs if command.text != "echo $?"]


def pages() -> list[Path]:
    return [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


def blocks() -> list[Block]:
    """Every block that holds commands."""
    return [found for page in pages() for found in _of(page)]


def _of(page: Path) -> list[Block]:
    found, text = [], page.read_text()
    for fence in _FENCE.finditer(text):
        language, _, rest = fence[1].partition(" ")
        needs = rest.removeprefix("needs=")
        if language in LANGUAGES and not fence[2].startswith("#!") and (needs or _COMMAND.search(fence[2])):
            found.append(Block(page, text.count("\n", 0, fence.start()) + 1, language, needs, fence[2]))
    return found


def summary() -> str:
    """How many of the blocks the tests run, and why the others are not run."""
    every = blocks()
    left = [f"{sum(one.needs == needs for one in every)} need {needs}" for needs, there in NEEDS.items() if not there]
    run = f"{sum(one.runs for one in every)} of {len(every)} blocks of commands in the docs are run"
    return f"{run}; not run: {', '.join(left)}"
