"""Claude Code under what a person opens over it: lists, transcript, history, menus, a sub-agent's talk."""

from __future__ import annotations

import functools
from typing import Any

from tests.lab.pane import AgentPane
from tests.lab.scenes import Scene, Shots
from tests.lab.scenes.claude_common import (
    FREE,
    LONG,
    alive,
    over,
    press,
    reply,
    send,
    steady,
    there,
    told,
    turn,
)

TALL = "".join(f"Paragraph {number}: the fox waits.\n\n" for number in range(1, 40))
BOX = r"(?m)^❯\s*\n─{8}"  # noqa: RUF001
LIST = r"(?m)^(?:  ❯ | {4})?/[a-z-]+ +[A-Z]"  # noqa: RUF001
TRANSCRIPT = r"Showing detailed transcript|ctrl\+o to toggle"
HISTORY = r"(?i)search prompts|Filter history"


def back(pane: AgentPane, key: str, wanted: str) -> None:
    """Close what was opened."""
    pane.keys(key)
    pane.until(wanted, LONG, gone=True, what=f"the end of {wanted}")


def at_rest(pane: AgentPane, shots: Shots, size: str) -> None:
    """Lists and views over a finished turn that leaves room on the screen."""
    turn(pane, "hello [[text first reply]]")
    press(pane, "/", until=LIST)
    steady(pane)
    shots.take(pane, f"{size}-rest-list", "idle", "turn-ended")
    back(pane, "BSpace", LIST)
    press(pane, "C-o", until=TRANSCRIPT)
    steady(pane)
    shots.undecided(pane, f"{size}-rest-transcript", "idle", "turn-ended")
    back(pane, "C-o", TRANSCRIPT)
    press(pane, "C-r", until=HISTORY)
    steady(pane)
    shots.undecided(pane, f"{size}-rest-history", "idle", "turn-ended")
    back(pane, "Escape", HISTORY)


def at_work(pane: AgentPane, shots: Shots, size: str) -> None:
    """The same while the model, and then a tool, is busy; and a menu over the work."""
    at_rest(pane, shots, size)
    moment = send(pane, "work [[slow 200]]")
    pane.until_model("first-byte", LONG, after=moment)
    press(pane, "/", until=LIST)
    shots.undecided(pane, f"{size}-model-list", "working", "model")
    back(pane, "BSpace", LIST)
    press(pane, "C-o", until=TRANSCRIPT)
    shots.undecided(pane, f"{size}-model-transcript", "working", "model")
    back(pane, "C-o", TRANSCRIPT)
    press(pane, "C-r", until=HISTORY)
    shots.undecided(pane, f"{size}-model-history", "working", "model")
    back(pane, "Escape", HISTORY)
    pane.type("/model")
    pane.until("Select model", LONG)
    pane.until(r"(?m)^[·✢*✶✻✽✳] \S+…", LONG)
    shots.take(pane, f"{size}-model-menu", "working", "model")
    back(pane, "Escape", "Select model")
    _interrupt(pane, moment)
    send(pane, "work [[bash touch one; sleep 200]]")
    there(pane, "one")
    pane.until(lambda _: alive(pane, "sleep 200"), LONG)
    pane.until(r"⎿ +(?:\$ touch one|Running)", LONG)
    press(pane, "/", until=LIST)
    take = shots.take if "⎿  $" in pane.screen() else shots.undecided  # in a small pane the list may hide that row
    take(pane, f"{size}-tool-list", "working", "tool")
    back(pane, "BSpace", LIST)
    press(pane, "C-o", until=TRANSCRIPT)
    pane.until("Running…", LONG)
    shots.take(pane, f"{size}-tool-transcript", "working", "tool")
    press(pane, "?", until="half page|exit")
    shots.take(pane, f"{size}-tool-transcript-help", "working", "tool")
    press(pane, "?", until=TRANSCRIPT)
    back(pane, "C-o", TRANSCRIPT)
    pane.type("a message for later [[text queued]]")
    pane.until("queued messages|Press up|to send now", LONG)
    assert alive(pane, "sleep 200")
    shots.take(pane, f"{size}-tool-queued", "working", "tool")


def _interrupt(pane: AgentPane, moment: float) -> None:
    """Esc before the first word; the prompt that comes back is deleted."""
    pane.keys("Escape")
    pane.until_model("client-gone", LONG, after=moment)
    pane.until(lambda _: told(pane) == "idle", LONG)
    steady(pane)
    pane.keys("C-u")
    pane.until(BOX, LONG, what="an empty box")


def scrolled(pane: AgentPane, shots: Shots, size: str) -> None:
    """A conversation that fills the pane: scrolled back, with a draft, under a list; at rest and at work."""
    reply(pane, "tall", TALL)
    turn(pane, "first [[say tall]]")
    turn(pane, "second [[say tall]]")
    press(pane, "PPage", until="Jump to bottom")
    steady(pane)
    shots.take(pane, f"{size}-scrolled-rest", "idle", "turn-ended")
    pane.type("a draft", enter=False)
    steady(pane)
    shots.undecided(pane, f"{size}-scrolled-rest-draft", "idle", "turn-ended")
    pane.keys("C-u")
    pane.until(BOX, LONG)
    press(pane, "C-End")
    pane.until("Jump to bottom", LONG, gone=True)
    press(pane, "/", until=LIST)
    steady(pane)
    shots.undecided(pane, f"{size}-full-rest-list", "idle", "turn-ended")
    back(pane, "BSpace", LIST)
    moment = send(pane, "third [[slow 200]]")
    pane.until_model("first-byte", LONG, after=moment)
    press(pane, "/", until=LIST)
    shots.undecided(pane, f"{size}-full-model-list", "working", "model")
    back(pane, "BSpace", LIST)
    press(pane, "PPage", until="Jump to bottom")
    pane.until("esc to interrupt", LONG)
    shots.take(pane, f"{size}-scrolled-model", "working", "model")
    pane.type("a draft", enter=False)
    pane.until("esc to interrupt", LONG, gone=True)
    shots.undecided(pane, f"{size}-scrolled-model-draft", "working", "model")


def agents(pane: AgentPane, shots: Shots, size: str) -> None:
    """Sub-agents in the background: the turn goes on when they come back; one's own talk in place of the main one."""
    jobs = [
        f'{{"description":"job {name}","subagent_type":"general-purpose",'
        f'"prompt":"((bash touch {name}; sleep {seconds})) ((text {name} is done))"}}'
        for name, seconds in (("one", 61), ("two", 62))
    ]
    moment = send(pane, f"delegate [[tool Agent {jobs[0]}]]+[[tool Agent {jobs[1]}]] [[text I wait for them]]")
    there(pane, "one")
    there(pane, "two")
    over(pane, moment, still=False)
    pane.until("Waiting for 2 background agents", LONG)
    shots.take(pane, f"{size}-agents", "working", "tool")
    pane.type("a draft", enter=False)
    pane.until(r"❯\s+a draft", LONG)  # noqa: RUF001
    shots.take(pane, f"{size}-agents-draft", "working", "tool")
    pane.keys("C-u")
    pane.until(BOX, LONG)
    press(pane, "Down", until="to select")
    shots.take(pane, f"{size}-agents-chosen", "working", "tool")
    press(pane, "Down")
    press(pane, "Enter", until="Message @general-purpose")
    assert alive(pane, "sleep 62")
    shots.undecided(pane, f"{size}-agents-talk", "working", "tool")
    pane.until(lambda _: not alive(pane, "sleep 62"), LONG)
    pane.until(lambda _: told(pane) == "idle", LONG)
    steady(pane)
    shots.undecided(pane, f"{size}-agents-talk-over", "idle", "turn-ended")


def agents_back(pane: AgentPane, shots: Shots, size: str) -> None:
    """A sub-agent comes back, and the turn that was not over ends; then a shell in the background, and a draft."""
    job = '{"description":"job","subagent_type":"general-purpose","prompt":"((bash touch one; sleep 5)) ((text done))"}'
    send(pane, f"delegate [[tool Agent {job}]] [[text I wait for it]]")
    there(pane, "one")
    pane.until('Agent "job" (?:finished|completed)', LONG)
    pane.until(lambda _: told(pane) == "idle", LONG)
    steady(pane)
    shots.take(pane, f"{size}-agents-back", "idle", "turn-ended")
    turn(pane, '[[tool Bash {"command":"touch bg; sleep 300","description":"bg","run_in_background":true}]]')
    there(pane, "bg")
    pane.type("a draft", enter=False)
    steady(pane)
    assert alive(pane, "sleep 300")
    shots.take(pane, f"{size}-background-draft", "idle", "background-work")


def unsent(pane: AgentPane, shots: Shots, size: str) -> None:
    """Esc before the first word, after turns that ended well and badly; a refusal; what is no command, in plan mode."""
    for name, words in {"good": "[[text fine]]", "failed": "[[status 400]]"}.items():
        moment = send(pane, words)
        pane.until_model("ended" if name == "good" else "error", LONG, after=moment)
        pane.until(lambda _: told(pane) == "idle", LONG)
        steady(pane)
        moment = send(pane, "again [[hang]]")
        pane.until_model("hang", LONG, after=moment)
        pane.keys("Escape")
        pane.until_model("client-gone", LONG, after=moment)
        pane.until(lambda _: told(pane) == "idle", LONG)
        steady(pane)
        shots.take(pane, f"{size}-unsent-after-{name}", "idle", "interrupted")
        pane.keys("C-u")
        pane.until(BOX, LONG)
    send(pane, "[[bash touch x]]")
    pane.until("1. Yes", LONG)
    steady(pane)
    pane.keys("Escape")
    pane.until(lambda _: told(pane) == "idle", LONG)
    steady(pane)
    shots.take(pane, f"{size}-refused-and-closed", "idle", "interrupted")
    press(pane, "BTab", until="accept edits")
    press(pane, "BTab", until="plan mode")
    turn(pane, "[[text planned]]")
    pane.type("/nosuchcommand")
    pane.until("(?i)unknown (?:slash )?command", LONG)
    steady(pane)
    shots.take(pane, f"{size}-unknown-command", "idle", "turn-ended")


def _scenes() -> list[Scene]:
    found: list[Scene] = []
    for width, height in ((80, 24), (140, 44)):
        size = f"s{width}x{height}"
        start: dict[str, Any] = {"size": (width, height), "settings": FREE}
        for play in (at_work, scrolled, agents, agents_back):
            name = f"{play.__name__.replace('_', '-')}-{size}"
            found.append(Scene(name, functools.partial(play, size=size), start))
        found.append(Scene(f"unsent-{size}", functools.partial(unsent, size=size), {"size": (width, height)}))
    return found


SCENES = _scenes()
