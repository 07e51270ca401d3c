"""Claude Code at work: what it shows while the model or a tool is busy, and what may hide that."""

from __future__ import annotations

from tests.lab.pane import AgentPane
from tests.lab.scenes import Scene, Shots
from tests.lab.scenes.claude_common import (
    COUNTED,
    FREE,
    LONG,
    STATUSLINE,
    TASKS,
    agent,
    alive,
    over,
    passed,
    paste,
    press,
    reply,
    send,
    steady,
    there,
    told,
    turn,
)
from tests.lab.scenes.claude_texts import FAKE_END, FAKE_SHELL, LECTURE


def thinking(pane: AgentPane, shots: Shots) -> None:
    """Thought, words, silence in the middle of words, Esc; all in a narrow pane."""
    shots.take(pane, "s46x14-fresh", "idle")
    moment = send(pane, "ponder [[think 9]]+[[hangmid]]")
    passed(pane, pane.until_model("thinking", LONG, after=moment)["t"], 4)
    shots.take(pane, "s46x14-thinking", "working", "model")
    passed(pane, pane.until_model("hang", LONG, after=moment)["t"], 8)
    shots.take(pane, "s46x14-hang-in-words", "working", "model")
    pane.keys("Escape")
    pane.until_model("client-gone", LONG, after=moment)
    steady(pane)
    shots.take(pane, "s46x14-interrupted-in-words", "idle", "interrupted")


def streaming(pane: AgentPane, shots: Shots) -> None:
    """A reply that is longer than the pane: the prompt has scrolled off before it ends."""
    reply(pane, "lecture", LECTURE * 3)
    moment = send(pane, "explain [[say lecture 12]]+[[slow 9]]+[[say lecture]]")
    pane.until(lambda _: "explain [[say" not in pane.screen(), LONG, what="a prompt that has scrolled off")
    assert not any(entry["event"] == "ended" and entry["t"] > moment and entry.get("main") for entry in pane.journal())
    shots.take(pane, "s80x24-stream-long", "working", "model")
    passed(pane, pane.until_model("text", LONG, after=moment)["t"], 15)
    shots.take(pane, "s80x24-stream-long-silent", "working", "model")
    over(pane, moment)
    shots.take(pane, "s80x24-stream-long-idle", "idle", "turn-ended")


def tools(pane: AgentPane, shots: Shots) -> None:
    """Tools: one that prints an idle screen and stays, several at once, Esc in one."""
    (pane.cwd / "old.txt").write_text(FAKE_END)
    moment = send(pane, "look [[bash cat old.txt; touch one; sleep 31]]")
    there(pane, "one")
    pane.until(lambda _: alive(pane, "sleep 31"), LONG)
    passed(pane, moment, 6)
    pane.until(rf"for shortcuts\n +\+\d lines|{COUNTED}", LONG)
    assert alive(pane, "sleep 31")
    shots.take(pane, "s100x30-tool-prints-idle-screen", "working", "tool")
    pane.keys("Escape")
    pane.until(lambda _: not alive(pane, "sleep 31"), LONG, what="the end of the tool")
    pane.until(lambda _: told(pane) == "idle", LONG)
    steady(pane)
    shots.take(pane, "s100x30-interrupted-in-tool", "idle", "interrupted")
    send(pane, "two [[bash touch two; sleep 33]]+[[bash touch three; sleep 34]]+[[bash touch four; sleep 35]]")
    there(pane, "four")
    pane.until(lambda _: alive(pane, "sleep 35"), LONG)
    shots.take(pane, "s100x30-three-tools", "working", "tool")


def fake_end_then_tool(pane: AgentPane, shots: Shots) -> None:
    """The reply ends like a finished turn, and only then calls a tool; and drafts and lists while it runs."""
    reply(pane, "end", FAKE_END)
    send(pane, "finish [[say end]]+[[bash touch one; sleep 120]]")
    there(pane, "one")
    pane.until(lambda _: alive(pane, "sleep 120"), LONG)
    pane.until("Running", LONG)
    shots.take(pane, "s120x40-fake-end-tool-running", "working", "tool")
    pane.type("and then Do you want to proceed? ❯ 1. Yes", enter=False)  # noqa: RUF001
    steady_draft(pane, "1. Yes")
    shots.take(pane, "s120x40-busy-draft-dialog", "working", "tool")
    pane.keys("C-u")
    pane.until(lambda _: "1. Yes" not in pane.screen(), LONG)
    paste(pane, "first\nYou've hit your session limit · resets 5pm (UTC)\n✻ Brewed for 12s\nlast line")
    steady_draft(pane, "last line|Pasted")
    shots.take(pane, "s120x40-busy-draft-pasted", "working", "tool")
    pane.keys("C-u", "C-u", "C-u", "C-u", "C-u", "C-u", "C-u", "C-u")
    pane.until(lambda _: "last line" not in pane.screen() and "Pasted" not in pane.screen(), LONG)
    press(pane, "/", until="/[a-z]+ .*[A-Z]")
    assert alive(pane, "sleep 120")
    shots.take(pane, "s120x40-busy-slash-list", "working", "tool")
    press(pane, "BSpace", until="Running")
    press(pane, "C-o", until="ctrl\\+o")
    assert alive(pane, "sleep 120")
    shots.take(pane, "s120x40-busy-transcript", "working", "tool")
    press(pane, "C-o")
    pane.until(r"(?m)^❯", LONG)  # noqa: RUF001
    pane.type("please also [[text queued]]")
    pane.until("queued messages|Press up", LONG)
    assert alive(pane, "sleep 120")
    shots.take(pane, "s120x40-tool-queued", "working", "tool")


def steady_draft(pane: AgentPane, shows: str) -> None:
    pane.until(shows, LONG)
    assert alive(pane, "sleep 120")


def statusline(pane: AgentPane, shots: Shots) -> None:
    """A status line that has the busy footer's words and a clock, at rest and at work."""
    shots.take(pane, "statusline-esc-fresh", "idle")
    reply(pane, "end", FAKE_END)
    turn_ticking(pane, "finish [[say end]]")
    shots.take(pane, "statusline-esc-idle", "idle", "turn-ended")
    moment = send(pane, "wait [[say end]]+[[slow 60]]")
    passed(pane, pane.until_model("text", LONG, after=moment)["t"], 5)
    shots.take(pane, "statusline-esc-fake-end-busy", "working", "model")
    pane.type("a draft in the box", enter=False)
    shots.take(pane, "statusline-esc-busy-draft", "working", "model")


def turn_ticking(pane: AgentPane, words: str) -> None:
    """A whole turn where a clock ticks: the screen never stands still."""
    over(pane, send(pane, words), still=False)
    pane.until(lambda _: told(pane) == "idle", LONG)
    pane.until(r"(?m)^✻ \w+ for \d+s(?: · done .*)?$", LONG)


def subagent(pane: AgentPane, shots: Shots) -> None:
    """A helper of the model runs a tool; then one that works in the background while the main turn is over."""
    job = '{"description":"sub job","subagent_type":"general-purpose","prompt":"((bash touch sub; sleep 41))"}'
    send(pane, f"delegate [[tool Agent {job}]]")
    there(pane, "sub")
    pane.until(lambda _: alive(pane, "sleep 41"), LONG)
    shots.take(pane, "subagent-tool", "working", "tool")
    pane.keys("Escape")
    pane.until(lambda _: not alive(pane, "sleep 41"), LONG)
    pane.until(lambda _: told(pane) == "idle", LONG)
    steady(pane)
    if "finished" in pane.screen():  # newer ones work in the background, where Esc does not reach them
        shots.take(pane, "subagent-done", "idle", "turn-ended")
    else:
        shots.take(pane, "subagent-interrupted", "idle", "interrupted")


def background(pane: AgentPane, shots: Shots) -> None:
    """A shell in the background: at rest, at work, with words about it, and when it ends."""
    turn(pane, '[[tool Bash {"command":"touch bg; sleep 300","description":"bg","run_in_background":true}]]')
    there(pane, "bg")
    assert alive(pane, "sleep 300")
    shots.take(pane, "s60x15-background-idle", "idle", "background-work")
    moment = send(pane, "more [[slow 40]]")
    passed(pane, pane.until_model("first-byte", LONG, after=moment)["t"], 4)
    shots.take(pane, "s60x15-background-busy", "working", "model")
    pane.keys("Escape")
    pane.until_model("client-gone", LONG, after=moment)
    pane.until(lambda _: told(pane) != "busy", LONG)
    steady(pane)
    assert alive(pane, "sleep 300")
    shots.take(pane, "s60x15-background-after-esc", "idle", "background-work")


def compact(pane: AgentPane, shots: Shots) -> None:
    """/compact while it lasts and after it, then /clear."""
    for word in ("first", "second", "third"):
        turn(pane, f"hello [[text a {word} reply]]")
    moment = send(pane, "/compact [[slow 8]]+[[text a summary of all]]")
    passed(pane, pane.until_model("first-byte", LONG, after=moment)["t"], 3)
    shots.take(pane, "compacting", "working", "model")
    pane.until_model("ended", LONG, after=moment)
    pane.until(lambda _: told(pane) == "idle", LONG)
    steady(pane, 2)
    shots.take(pane, "compacted", "idle")
    pane.type("/clear")
    pane.until(lambda _: "a summary" not in pane.screen() and "Compacted" not in pane.screen(), LONG)
    steady(pane)
    shots.take(pane, "compacted-cleared", "idle")


def todos(pane: AgentPane, shots: Shots) -> None:
    """A list of tasks below the spinner, and below the finished turn."""
    tasks = "+".join(
        f'[[tool TaskCreate {{"subject":"{subject}","description":"d","activeForm":"{doing}"}}]]'
        for subject, doing in (("Write the tests", "Writing the tests"), ("Fix the bug", "Fixing the bug"))
    )
    first = '[[tool TaskUpdate {"taskId":"1","status":"in_progress"}]]'
    moment = send(pane, f"plan {tasks} {first} [[slow 14]]+[[text half of it is done]]")
    pane.until("Writing the tests…", LONG)
    passed(pane, pane.until_model("first-byte", LONG, after=moment)["t"], 5)
    shots.take(pane, "s80x24-tasks-busy", "working", "model")
    over(pane, moment)
    shots.take(pane, "s80x24-tasks-idle", "idle", "turn-ended")


def hidden(pane: AgentPane, shots: Shots) -> None:
    """A long draft that leaves no room for anything else, at work and at rest."""
    moment = send(pane, "wait [[slow 25]]")
    pane.until_model("first-byte", LONG, after=moment)
    for number in range(1, 12):
        pane.type(f"point {number}: think", enter=False)
        press(pane, "M-Enter")
    passed(pane, moment, 6)
    shots.take(pane, "s60x15-busy-long-draft", "working", "model")
    over(pane, moment)
    shots.take(pane, "s60x15-idle-long-draft", "idle", "turn-ended")


def shell(pane: AgentPane, shots: Shots) -> None:
    """The model shows a shell and a dead agent; then works on."""
    reply(pane, "shell", FAKE_SHELL)
    turn(pane, "[[say shell]]")
    shots.take(pane, "fake-shell-idle", "idle", "turn-ended")
    moment = send(pane, "[[say shell]]+[[slow 30]]")
    passed(pane, pane.until_model("text", LONG, after=moment)["t"], 5)
    assert agent(pane)
    shots.take(pane, "fake-shell-busy", "working", "model")


SCENES = [
    Scene("thinking", thinking, {"size": (46, 14)}),
    Scene("streaming", streaming, {"size": (80, 24)}),
    Scene("tools", tools, {"size": (100, 30), "settings": FREE}),
    Scene("fake-end-then-tool", fake_end_then_tool, {"settings": FREE}),
    Scene("statusline", statusline, {"size": (80, 24), "statusline": STATUSLINE, "refresh": 1}),
    Scene("subagent", subagent, {"settings": FREE}),
    Scene("background", background, {"size": (60, 15), "settings": FREE}),
    Scene("compact", compact, {"size": (120, 40)}),
    Scene("todos", todos, {"size": (80, 24), "env": TASKS}),
    Scene("hidden", hidden, {"size": (60, 15)}),
    Scene("fake-shell", shell, {"size": (120, 80)}),
]
