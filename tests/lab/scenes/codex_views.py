"""Codex with something to read over the conversation, at work and at rest; and its answers to commands."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable

from tests.lab.pane import AgentPane
from tests.lab.scenes import Scene, Shots
from tests.lab.scenes import codex_common as do

INLINE = {"tui.alternate_screen": "never"}
"""So the conversation can be read in a pager; on a screen of its own newer ones scroll it instead."""


def calm(pane: AgentPane) -> None:
    """Wait until nothing moves but what moves all the time: spinners, bullets and numbers."""
    do.still(pane, 0.8, lambda seen: re.sub(r"\d+|[⠁-⣿•◦]", "0", seen.screen()))


def command(pane: AgentPane, name: str) -> None:
    pane.type(f"/{name}", enter=False)
    calm(pane)
    pane.keys("Enter")
    calm(pane)


def changed_files(pane: AgentPane) -> None:
    """A repository with a change in it, for `/diff` to show."""
    git = ["git", "-c", "user.name=dev", "-c", "user.email=dev@localhost"]
    for arguments in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "begin"]):
        subprocess.run([*git, *arguments], cwd=pane.cwd, check=True)
    (pane.cwd / "notes.txt").write_text("".join(f"line {number}\n" for number in range(60)))


def pagers(pane: AgentPane, shots: Shots) -> None:
    changed_files(pane)
    do.finish(pane, do.send(pane, "hello [[text Hello. How can I help?]]"))
    read(pane, shots.undecided, "", "idle", "turn-ended")
    do.passed(pane, do.send(pane, "go [[hang]]"), 3)
    read(pane, shots.take, "-busy", "working", "model")


def center(pane: AgentPane, shots: Shots) -> None:
    """The list of all its tasks, over the conversation."""
    pane.until("← for agents", do.LONG)
    glance(pane, shots, "fresh", "waiting", "menu")
    do.finish(pane, do.send(pane, "hello [[text Hello. How can I help?]]"))
    glance(pane, shots, "ended", "waiting", "menu")
    do.passed(pane, do.send(pane, "go [[hang]]"), 3)
    glance(pane, shots, "busy", "working", "model")


def glance(pane: AgentPane, shots: Shots, word: str, turn: str, detail: str) -> None:
    pane.keys("Left")
    pane.until("Agent command center")
    calm(pane)
    shots.take(pane, f"center-{word}", turn, detail)
    pane.keys("Escape")
    pane.until("Agent command center", gone=True)
    calm(pane)


def read(pane: AgentPane, take: Callable[[AgentPane, str, str, str], None], word: str, turn: str, detail: str) -> None:
    pane.keys("C-t")
    pane.until("T R A N S C R I P T")
    calm(pane)
    take(pane, f"pager{word}", turn, detail)
    pane.keys("q")
    pane.until("T R A N S C R I P T", gone=True)
    calm(pane)
    command(pane, "diff")
    pane.until("/ D I F F /")
    calm(pane)
    take(pane, f"pager-diff{word}", turn, detail)
    pane.keys("q")
    pane.until("/ D I F F /", gone=True)
    calm(pane)


def answers(pane: AgentPane, shots: Shots) -> None:
    """What it says of a command is no answer of the model; it may hide the row that closed the turn."""
    (pane.cwd / "claude.md").touch()
    do.finish(pane, do.send(pane, "hello [[text Hello. How can I help?]]"))
    command(pane, "nonsense")
    pane.until("Unrecognized command")
    shots.take(pane, "unknown-command", "idle", "turn-ended")
    pane.keys("C-e", "C-u")
    calm(pane)
    command(pane, "ps")
    shots.take(pane, "command-ps", "idle", "turn-ended")
    command(pane, "status")
    pane.until("Token usage")
    calm(pane)
    shots.undecided(pane, "commands-scrolled", "idle", "turn-ended")
    do.passed(pane, do.send(pane, "go [[hang]]"), 3)
    command(pane, "nonsense")
    pane.until("Unrecognized command")
    shots.take(pane, "unknown-command-busy", "working", "model")
    pane.keys("C-e", "C-u")
    calm(pane)
    command(pane, "ps")
    shots.take(pane, "command-ps-busy", "working", "model")
    keys(pane, shots)


def keys(pane: AgentPane, shots: Shots) -> None:
    """Lists and pages of keys while it works."""
    for name, key in (("files", "@clau"), ("help", "?"), ("history", "C-r")):
        before = pane.screen()
        pane.keys(*([key] if key.startswith("C-") else ["-l", key]))
        do.changed(pane, before)
        calm(pane)
        shots.take(pane, f"list-{name}-busy", "working", "model")
        pane.keys("C-c" if name == "history" else "BSpace" if name == "help" else "C-u")
        calm(pane)


def menus(pane: AgentPane, shots: Shots) -> None:
    do.finish(pane, do.send(pane, "hello [[text Hello. How can I help?]]"))
    command(pane, "skills")
    shots.take(pane, "menu-skills", "waiting", "menu")
    pane.keys("Escape")
    calm(pane)
    do.passed(pane, do.send(pane, "go [[hang]]"), 3)
    command(pane, "skills")
    shots.take(pane, "menu-skills-busy", "working", "model")


def interrupted(pane: AgentPane, shots: Shots) -> None:
    """The closing row of an older turn stands above one that is interrupted."""
    do.finish(pane, do.send(pane, "hello [[text All of it is fine.]]"))
    do.reply(pane, "half", "One moment.\n\nIt is\n\n")
    cases = (("before-a-word", "[[hang]]", "Working"), ("after-a-word", "[[say half]]+[[hang]]", "One moment"))
    for count, (name, script, shown) in enumerate(cases, start=1):
        since = do.send(pane, f"go on {script}")
        pane.until(shown)
        do.passed(pane, since, 3)
        # Older ones take no Escape while text stands there without a status row; newer ones ask what Ctrl-C is to mean.
        pane.keys("Escape" if pane.facts()["alternate_on"] == "1" else "C-c")
        pane.until(rf"(?:Conversation interrupted[^$]*){{{count}}}")
        do.rest(pane)
        shots.take(pane, f"interrupted-again-{name}", "idle", "interrupted")


SCENES = [
    Scene("views-pagers", pagers, {"size": (120, 40), "settings": INLINE}),
    Scene("views-answers", answers, {"size": (80, 24)}),
    Scene("views-menus", menus, {"size": (80, 24)}),
    Scene("views-center", center, {"size": (100, 30)}),
    Scene("views-interrupted", interrupted, {"size": (100, 40)}),
]
