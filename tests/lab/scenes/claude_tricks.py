"""Claude Code where its own rows are hidden or copied: tools that print limits, hooks, modes, tasks, no title."""

from __future__ import annotations

import json

from tests.lab.pane import AgentPane
from tests.lab.scenes import Scene, Shots
from tests.lab.scenes.claude_common import (
    COUNTED,
    FREE,
    LONG,
    STATUSLINE,
    TASKS,
    alive,
    dialog,
    over,
    passed,
    press,
    reply,
    send,
    steady,
    there,
    turn,
)
from tests.lab.scenes.claude_limits import UNTITLED, rest
from tests.lab.scenes.claude_texts import FAKE_LIMIT


def tool_says(pane: AgentPane, shots: Shots) -> None:
    """A tool prints the words of a limit, a failure and an interruption where Claude Code would put its own."""
    (pane.cwd / "limit.txt").write_text(FAKE_LIMIT + "\n")
    moment = send(pane, "[[bash touch a; cat limit.txt]] [[slow 60]]")
    passed(pane, pane.until_model("began", LONG, after=moment, step=1)["t"], 4)
    shots.take(pane, "s80x24-tool-says-limit-busy", "working", "model")
    pane.keys("Escape")
    rest(pane)
    shots.take(pane, "s80x24-tool-says-limit-interrupted", "idle", "interrupted")
    send(pane, "[[bash cat limit.txt; touch one; sleep 90]]")
    there(pane, "one")
    pane.until(rf"resets 5pm[^\n]*\n +\(|{COUNTED}", LONG)
    assert alive(pane, "sleep 90")
    shots.take(pane, "s80x24-tool-says-limit-running", "working", "tool")
    pane.keys("Escape")
    rest(pane)
    pane.type("! cat limit.txt")
    pane.until(r"⎿\s+You've hit", LONG)
    rest(pane)
    shots.take(pane, "s80x24-shell-says-limit", "idle")
    reply(pane, "limit", FAKE_LIMIT)
    moment = send(pane, "[[say limit]]+[[slow 30]]")
    passed(pane, pane.until_model("text", LONG, after=moment)["t"], 4)
    shots.take(pane, "s80x24-reply-says-limit-busy", "working", "model")


def modes(pane: AgentPane, shots: Shots) -> None:
    """The footer of a mode in a narrow pane, at rest and at work; then keys of vi."""
    press(pane, "BTab", until="accept edits")
    steady(pane)
    shots.take(pane, "s46x14-accept-fresh", "idle")
    moment = send(pane, "[[slow 5]]+[[stream 20]]")
    passed(pane, pane.until_model("first-byte", LONG, after=moment)["t"], 3)
    shots.take(pane, "s46x14-accept-busy", "working", "model")
    passed(pane, pane.until_model("text", LONG, after=moment)["t"], 5)
    shots.take(pane, "s46x14-accept-streaming", "working", "model")
    pane.keys("Escape")
    rest(pane)
    _again(pane, editorMode="vim")
    turn(pane, "[[text fine]]")
    shots.take(pane, "s46x14-vim-idle", "idle", "turn-ended")
    moment = send(pane, "[[slow 30]]")
    passed(pane, pane.until_model("first-byte", LONG, after=moment)["t"], 4)
    shots.take(pane, "s46x14-vim-busy", "working", "model")


def _again(pane: AgentPane, **config: object) -> None:
    """End the agent, change its configuration, start it again."""
    pane.type("/exit", enter=False)
    steady(pane, 0.7)
    pane.keys("Enter")
    pane.until(lambda _: pane.facts()["pane_current_command"] == "bash", LONG, what="the shell")
    path = pane.home / ".claude.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | config))
    pane.type("clear; claude")
    pane.until(lambda _: pane.facts()["pane_current_command"] == "claude", LONG, what="a new agent")
    pane.until(r"(?m)^─{10,}[^─\n]*─*\n❯|use this API key", LONG)  # noqa: RUF001
    steady(pane)


def keys_and_login(pane: AgentPane, shots: Shots) -> None:
    """Whether to use a key, and how to log in."""
    _again(pane, customApiKeyResponses={"approved": [], "rejected": []})
    pane.until("use this API key", LONG)
    shots.take(pane, "s80x24-api-key", "waiting", "login")
    press(pane, "Up")
    pane.keys("Enter")
    pane.ready()
    steady(pane)
    pane.type("/login", enter=False)
    steady(pane, 0.7)
    pane.keys("Enter")
    pane.until("Select login method", LONG)
    steady(pane)
    shots.take(pane, "s80x24-login", "waiting", "login")


def hooks(pane: AgentPane, shots: Shots) -> None:
    """Hooks that take their time, before and after the model."""
    moment = send(pane, "[[text all done]]")
    there(pane, "before")
    passed(pane, (pane.cwd / "before").stat().st_mtime, 3)
    shots.take(pane, "hook-before", "working")
    over(pane, moment, still=False)
    there(pane, "after")
    passed(pane, (pane.cwd / "after").stat().st_mtime, 3)
    shots.take(pane, "hook-after", "working")


def many_tasks(pane: AgentPane, shots: Shots) -> None:
    """More tasks than rows, and a status line in place of the busy footer."""
    tasks = "+".join(f'[[tool TaskCreate {{"subject":"Step {n}","description":"d"}}]]' for n in range(1, 13))
    moment = send(pane, f"{tasks} [[slow 20]]+[[text now]]")
    passed(pane, pane.until_model("began", LONG, after=moment, step=1)["t"], 5)
    shots.take(pane, "s60x15-many-tasks-busy", "working", "model")
    over(pane, moment)
    take = shots.take if BOX in pane.screen() else shots.undecided  # newer ones leave no room for it
    take(pane, "s60x15-many-tasks-idle", "idle", "turn-ended")


def untitled_rest(pane: AgentPane, shots: Shots) -> None:
    """At rest without a title and without the line that closes a turn."""
    turn(pane, "[[text first]]")
    pane.type("! echo from the shell")
    pane.until(r"⎿\s+from the shell", LONG)
    rest(pane)
    shots.take(pane, "untitled-shell-done", "idle")
    _again(pane)
    pane.type("/exit", enter=False)
    steady(pane, 0.7)
    pane.keys("Enter")
    pane.until(lambda _: pane.facts()["pane_current_command"] == "bash", LONG, what="the shell")
    pane.type("clear; claude --continue")
    pane.until(lambda _: pane.facts()["pane_current_command"] == "claude", LONG, what="a new agent")
    pane.until(r"(?m)^─{10,}[^─\n]*─*\n❯", LONG)  # noqa: RUF001
    steady(pane, 2)
    shots.take(pane, "untitled-continued", "idle")
    moment = send(pane, "[[hang]]")
    pane.until_model("hang", LONG, after=moment)
    passed(pane, moment, 4)
    shots.take(pane, "untitled-hang", "working", "model")
    pane.keys("Escape")
    rest(pane)
    shots.take(pane, "untitled-interrupted-before-output", "idle")


def two(pane: AgentPane, shots: Shots) -> None:
    """One agent suspended at work, another started in front of it: at rest, then asking."""
    moment = send(pane, "[[slow 200]]")
    passed(pane, pane.until_model("first-byte", LONG, after=moment)["t"], 3)
    press(pane, "C-z", until="Stopped|suspended")
    pane.until(lambda _: pane.facts()["pane_current_command"] == "bash", LONG, what="the shell")
    steady(pane)
    pane.type("claude")
    # Newer ones have the screen to themselves.
    alone = r"\A(?![\s\S]*(?:Stopped|suspended))[\s\S]*Claude Code v"
    pane.until(rf"Claude Code v[\s\S]*Claude Code v|{alone}", LONG)
    steady(pane)
    shots.take(pane, "s120x40-second-agent-fresh", "idle")
    send(pane, "[[bash touch x]]")
    pane.until("Do you want to proceed", LONG)
    steady(pane)
    shots.take(pane, "s120x40-second-agent-permission", "waiting", "permission")


def full_screen(pane: AgentPane, shots: Shots) -> None:
    """The alternate screen in a small pane: a reply longer than it, a dialog, a menu."""
    moment = send(pane, "[[stream 8]]+[[slow 10]]+[[bash touch x]]")
    passed(pane, pane.until_model("text", LONG, after=moment)["t"], 12)
    shots.take(pane, "noflicker-s60x15-silent", "working", "model")
    dialog(pane, r"1\. Yes")
    shots.take(pane, "noflicker-s60x15-permission", "waiting", "permission")
    pane.keys("Escape")
    rest(pane)
    shots.take(pane, "noflicker-s60x15-refused", "idle", "interrupted")


BOX = f"{'─' * 60}\n❯"  # noqa: RUF001
SLOW = {
    event: [{"hooks": [{"type": "command", "command": f"touch {name}; sleep 12", "timeout": 60}]}]
    for event, name in (("UserPromptSubmit", "before"), ("Stop", "after"))
}
SCENES = [
    Scene("tool-says", tool_says, {"size": (80, 24), "settings": FREE}),
    Scene("modes", modes, {"size": (46, 14)}),
    Scene("keys-and-login", keys_and_login, {"size": (80, 24)}),
    Scene("hooks", hooks, {"size": (100, 30), "settings": {"hooks": SLOW}}),
    Scene("many-tasks", many_tasks, {"size": (60, 15), "statusline": STATUSLINE, "env": TASKS}),
    Scene("untitled-rest", untitled_rest, {"size": (80, 24), "env": UNTITLED}),
    Scene("two", two, {"size": (120, 40)}),
    Scene("full-screen", full_screen, {"size": (60, 15), "env": {"CLAUDE_CODE_NO_FLICKER": "1"}}),
]
