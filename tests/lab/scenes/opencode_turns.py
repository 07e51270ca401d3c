"""OpenCode at work: tools, sub-agents, errors, drafts, and what comes after a turn."""

from __future__ import annotations

from tests.lab.pane import AgentPane
from tests.lab.scenes import Scene, Shots
from tests.lab.scenes.opencode_common import (
    FREE,
    LONG,
    interrupt,
    leader,
    over,
    passed,
    paste,
    runs,
    send,
    steady,
    tool,
)

FAKED_BAR = "/home/developer/work/proj                 20.0K (10%)  ctrl+p commands"
DRAFT = f"△ Permission required\n\n Allow once   Allow always   Reject\n▣  Build · Fake Model · 8.3s\n{FAKED_BAR}"


def tools(pane: AgentPane, shots: Shots) -> None:
    lines = 'for i in $(seq 40); do echo "▣  Build · Fake Model · $i.0s"; done'
    send(pane, f"print [[bash touch t1; {lines}; sleep 300]]")
    moment = runs(pane, "t1")
    pane.until("Click to expand|40.0s")
    passed(pane, moment, 3)
    shots.take(pane, "tool-prints-closing-lines", "working", "tool")
    send(pane, "then tell me [[text queued ok]]")
    pane.until("QUEUED")
    shots.take(pane, "tool-queued", "working", "tool")
    pane.type("a draft that says esc twice", enter=False)
    pane.keys("C-j")
    pane.type("and has a second line", enter=False)
    shots.take(pane, "tool-queued-draft", "working", "tool")
    pane.keys("C-c")
    pane.until("second line", gone=True)
    pane.type("/", enter=False)
    pane.until("/agents")
    shots.take(pane, "tool-slash-list", "working", "tool")
    pane.keys("BSpace")
    pane.until("/agents", gone=True)
    pane.keys("Escape")
    pane.until("again to")
    shots.take(pane, "tool-escape-once", "working", "tool")
    interrupt_rest(pane)
    many = "[[bash touch t2; sleep 300]]+[[bash touch t3; sleep 301]]+[[bash sleep 302]]"
    send(pane, f"many {many}")
    runs(pane, "t2")
    runs(pane, "t3")
    pane.until("sleep 301")
    shots.take(pane, "tools-three", "working", "tool")
    leader(pane, "b")
    steady(pane)
    shots.take(pane, "tools-three-sidebar", "working", "tool")


def interrupt_rest(pane: AgentPane) -> None:
    pane.keys("Escape")
    pane.until("again to|esc interrupt", gone=True)
    steady(pane)


def subagent(pane: AgentPane, shots: Shots) -> None:
    job = {"description": "sub job", "subagent_type": "general"}
    asked = "((bash touch u1; sleep 300))"
    send(pane, "task " + tool("task", prompt=asked, **job) + " [[text main done]]")
    pane.until("Permission required", LONG)
    steady(pane)
    shots.take(pane, "subagent-permission", "waiting", "permission")
    for key in ("Right", "Right", "Enter"):
        pane.keys(key)
        steady(pane)
    pane.until("Tell OpenCode")
    steady(pane)
    shots.take(pane, "subagent-reject-reason", "waiting", "permission")
    pane.keys("Escape")
    pane.until("Permission required")
    steady(pane)
    pane.keys("Enter")
    runs(pane, "u1")
    pane.until("Permission required", gone=True)
    steady(pane)
    shots.take(pane, "subagent-runs", "working", "tool")
    leader(pane, "Down")
    pane.until("1 of 1")
    steady(pane)
    shots.take(pane, "subagent-runs-view", "working", "tool")


def errors(pane: AgentPane, shots: Shots) -> None:
    over(pane, send(pane, "fail [[status 401]]"))
    shots.take(pane, "failed-401-80x24", "idle", "turn-failed")
    send(pane, "fail [[retryafter 429 7200]]")
    pane.until(r"retrying in \d+h", LONG)
    steady(pane)
    shots.take(pane, "retry-hours-80x24", "limited", "rate")
    interrupt(pane)
    shots.take(pane, "retry-interrupted-80x24", "idle", "interrupted")
    send(pane, "fail [[retryafter 529 20]]")
    pane.until(r"retrying in \d+s", LONG)
    shots.take(pane, "retry-seconds-80x24", "working", "retrying")
    interrupt(pane)
    moment = send(pane, "twice [[status 500 1]]+[[hang]]")
    pane.until_model("hang", LONG, after=moment)
    moment = pane.until_model("hang", after=moment)["t"]
    passed(pane, moment, 4)
    shots.take(pane, "hang-after-retry-80x24", "working")
    interrupt(pane)
    over(pane, send(pane, "cut [[streamerr invalid_request_error]]"))
    shots.take(pane, "stream-error-80x24", "idle", "turn-failed")


def drafts(pane: AgentPane, shots: Shots) -> None:
    paste(pane, DRAFT)
    steady(pane)
    shots.take(pane, "draft-pasted-fresh", "idle")
    pane.keys("C-c")
    steady(pane)
    over(pane, send(pane, "hello [[text Hi there.]]"))
    for number, line in enumerate(DRAFT.splitlines()):
        if number:
            pane.keys("C-j")
        if line:
            pane.type(line, enter=False)
    steady(pane)
    shots.take(pane, "draft-imitates-dialog", "idle", "turn-ended")
    pane.keys("C-c")
    pane.until("Allow once", gone=True)
    pane.type("⬝■■■■■■⬝  esc interrupt [retrying in 2h 5m attempt #1]", enter=False)
    steady(pane)
    shots.take(pane, "draft-imitates-bar", "idle", "turn-ended")
    pane.keys("C-c")
    pane.until("retrying", gone=True)
    pane.keys("!")
    pane.until("Shell")
    pane.type("touch v1; sleep 300; echo", enter=False)
    steady(pane)
    shots.take(pane, "shell-mode-draft", "idle", "turn-ended")
    pane.keys("Enter")
    runs(pane, "v1")
    steady(pane)
    shots.take(pane, "shell-mode-runs", "working", "tool")


def wide(pane: AgentPane, shots: Shots) -> None:
    todos = [
        {"content": "esc interrupt", "status": "in_progress", "priority": "high"},
        {"content": "△ Permission required", "status": "pending", "priority": "low"},
    ]
    over(pane, send(pane, "plan " + tool("todowrite", todos=todos)))
    shots.take(pane, "sidebar-todo-200x50", "idle", "turn-ended")
    moment = send(pane, "go [[stream 2 one two three]]+[[hang]]")
    passed(pane, pane.until_model("hang", LONG, after=moment)["t"], 3)
    shots.take(pane, "sidebar-hang-200x50", "working", "model")
    interrupt(pane)
    shots.take(pane, "sidebar-interrupted-200x50", "idle", "interrupted")
    send(pane, "fail [[retryafter 429 300]]")
    pane.until(r"retrying in \dm", LONG)
    steady(pane)
    shots.take(pane, "sidebar-retry-minutes-200x50", "limited", "rate")


def tall(pane: AgentPane, shots: Shots) -> None:
    moment = send(pane, "think [[think 300]]")
    passed(pane, pane.until_model("thinking", LONG, after=moment)["t"], 3)
    shots.take(pane, "thinking-120x80", "working", "model")
    interrupt(pane)
    moment = send(pane, "tell [[stream 6 " + "\\n".join(f"line-{number}" for number in range(120)) + "]]+[[hang]]")
    passed(pane, pane.until_model("hang", LONG, after=moment)["t"], 2)
    shots.take(pane, "stream-past-prompt-120x80", "working", "model")
    pane.keys("PageUp", "PageUp")
    steady(pane)
    shots.take(pane, "stream-scrolled-up-120x80", "working", "model")
    pane.keys("C-M-g")
    pane.until("line-119")  # an Escape right behind that key would be read as part of it
    interrupt(pane)
    pane.type("/undo")
    steady(pane)
    shots.take(pane, "undone-120x80", "idle")
    pane.keys("C-c")  # the prompt is back in the box
    pane.until(r"line-119\]\]", gone=True)
    pane.type("/new")
    pane.until("Ask anything")
    steady(pane)
    shots.take(pane, "new-session-120x80", "idle")


SCENES = [
    Scene("turns-tools", tools, {"size": (120, 40), "settings": FREE}),
    Scene("turns-subagent", subagent, {"size": (100, 30)}),
    Scene("turns-errors", errors, {"size": (80, 24)}),
    Scene("turns-drafts", drafts, {"size": (100, 30), "env": {"OPENCODE_DISABLE_TERMINAL_TITLE": "1"}}),
    Scene("turns-wide", wide, {"size": (200, 50)}),
    Scene("turns-tall", tall, {"size": (120, 80)}),
]
