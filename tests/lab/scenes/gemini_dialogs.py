"""Scenes of Gemini CLI: all that it asks, and its menus."""

from __future__ import annotations

from tests.lab.pane import AgentPane
from tests.lab.scenes import Scene, Shots
from tests.lab.scenes.gemini_steps import PERMISSION, TRUE_COLOUR, allow, close, dialog, menu, settle, turn

LONG_FILE = "\\n".join(f"line {number}" for number in range(1, 45))
QUESTIONS = (
    '{"questions":['
    '{"question":"Which colours do you like","header":"Colours","type":"choice","multiSelect":true,'
    '"options":[{"label":"Red","description":"warm"},{"label":"Blue","description":"cold"}]},'
    '{"question":"What is its name","header":"Name","type":"text","placeholder":"a name"},'
    '{"question":"Shall we go on","header":"Go","type":"yesno"}]}'
)


def permissions(pane: AgentPane, shots: Shots) -> None:
    command = "; ".join(f"echo step {number} of a very long command line" for number in range(1, 14))
    fetch = '[[tool web_fetch {"prompt":"fetch http://127.0.0.1:9/x please"}]]'
    dialog(
        pane, f"a [[write a.txt one\\ntwo\\nthree]] [[write long.txt {LONG_FILE}]] {fetch} [[bash touch m1; {command}]]"
    )
    pane.keys("Down", "Down")
    pane.until("● 3")
    settle(pane, 0.6)
    shots.take(pane, "permission-write-third-80x24", "waiting", "permission")
    pane.keys("Up", "Up")
    pane.until("● 1")
    pane.keys("Enter")
    pane.until("long.txt")
    pane.until(PERMISSION)
    settle(pane)
    shots.take(pane, "permission-long-diff-80x24", "waiting", "permission")
    pane.keys("Enter")
    pane.until("URLs to fetch")
    settle(pane)
    shots.take(pane, "permission-fetch-80x24", "waiting", "permission")
    pane.keys("Enter")
    pane.until("step 13")
    pane.until(PERMISSION)
    settle(pane)
    shots.take(pane, "permission-long-command-80x24", "waiting", "permission")
    allow(pane, "m1")
    pane.until("Tool finished")
    settle(pane)
    shots.take(pane, "ended-after-tool-80x24", "idle", "turn-ended")
    pane.keys("C-y")
    pane.until("YOLO")
    settle(pane)
    shots.take(pane, "yolo-mode-80x24", "idle", "turn-ended")


def several(pane: AgentPane, shots: Shots) -> None:
    """Three tools in one reply: they ask one after the other, and only then run."""
    dialog(pane, "a [[bash touch m1; echo one]]+[[bash touch m2; sleep 60]]+[[write a.txt one]]")
    shots.take(pane, "permission-first-of-three-100x30", "waiting", "permission")
    pane.keys("Enter")
    pane.until(r"\? Shell  touch m2")
    pane.until(PERMISSION)
    settle(pane, 0.6)
    shots.take(pane, "permission-second-of-three-100x30", "waiting", "permission")


def questions(pane: AgentPane, shots: Shots) -> None:
    dialog(pane, "a [[ask Which colour | Red | Blue]]", "Choose Blue")
    shots.take(pane, "question-46x14", "waiting", "question")
    pane.resize(100, 30)
    settle(pane)
    pane.keys("Down")
    settle(pane, 0.6)
    shots.take(pane, "question-second-100x30", "waiting", "question")
    pane.keys("Escape")
    settle(pane)
    shots.take(pane, "question-dismissed-100x30", "idle", "interrupted")


def several_questions(pane: AgentPane, shots: Shots) -> None:
    dialog(pane, f"b [[tool ask_user {QUESTIONS}]]", "Which colours[^$]*Enter to")
    shots.take(pane, "question-multi-100x30", "waiting", "question")
    pane.keys("Right")
    settle(pane, 0.6)
    shots.take(pane, "question-text-100x30", "waiting", "question")
    pane.type("Allow execution of [Shell]", enter=False)
    settle(pane, 0.6)
    shots.take(pane, "question-text-typed-100x30", "waiting", "question")


def plan(pane: AgentPane, shots: Shots) -> None:
    (pane.cwd / "plans").mkdir()
    (pane.cwd / "plans/plan.md").write_text("# Plan\n\n1. Read\n2. Write\n3. Test\n")
    leave = '[[tool exit_plan_mode {"plan_filename":"plan.md"}]]'
    dialog(pane, f'a [[tool enter_plan_mode {{"reason":"to think"}}]] {leave}', r"● 1\.")
    shots.take(pane, "plan-enter-80x24", "waiting", "permission")
    pane.keys("Enter")
    pane.until("Test")
    pane.until(r"● 1\.|●  1\.")
    settle(pane)
    shots.take(pane, "plan-approval-80x24", "waiting", "permission")


def menus(pane: AgentPane, shots: Shots) -> None:
    turn(pane, "hello there")
    for command, shown, name, detail in (
        ("/model", "Select Model", "model", "menu"),
        ("/settings", "> Settings", "settings", "menu"),
        ("/theme", "Select Theme", "theme", "menu"),
        ("/auth", "Get started", "auth", "login"),
        ("/footer", "Configure Footer", "footer", "menu"),
        ("/privacy", "Press Esc to exit", "privacy", "menu"),
        ("/resume", "Chat Sessions", "resume", "menu"),
    ):
        menu(pane, command, shown)
        shots.take(pane, f"menu-{name}", "waiting", detail)
        close(pane)


def lists(pane: AgentPane, shots: Shots) -> None:
    """A menu that is taller than the pane, and what leaves the turn as it is."""
    turn(pane, "hello there")
    menu(pane, "/editor", "Workspace Settings")
    shots.take(pane, "menu-editor-80x24", "waiting", "menu")
    close(pane)
    pane.keys("C-r")
    pane.until(r"\(r:\)")
    settle(pane)
    shots.take(pane, "history-search", "idle", "turn-ended")
    close(pane)
    pane.keys("/")
    pane.until(r"\(1/\d+\)")
    settle(pane)
    shots.take(pane, "slash-list", "idle", "turn-ended")
    pane.keys("BSpace")
    pane.ready()
    pane.keys("?")
    pane.until("Ctrl\\+Y YOLO")
    settle(pane)
    shots.take(pane, "shortcuts", "idle", "turn-ended")
    pane.keys("Escape")
    pane.until("Ctrl\\+Y YOLO", gone=True)
    pane.keys("C-c")
    pane.until("Press Ctrl\\+C again")
    shots.take(pane, "ctrl-c-once", "idle", "turn-ended")


def trust(pane: AgentPane, shots: Shots) -> None:
    pane.until("Do you trust")
    settle(pane)
    shots.take(pane, "trust-46x14", "waiting", "trust")


def login(pane: AgentPane, shots: Shots) -> None:
    pane.until("Get started|authenticate")
    settle(pane)
    shots.take(pane, "login-60x15", "waiting", "login")


SCENES: list[Scene] = [
    Scene("permissions", permissions, {"size": (80, 24), "env": TRUE_COLOUR}),
    Scene("several", several, {"size": (100, 30), "env": TRUE_COLOUR}),
    Scene("questions", questions, {"size": (46, 14), "env": TRUE_COLOUR}),
    Scene("multi", several_questions, {"size": (100, 30), "env": TRUE_COLOUR}),
    Scene(
        "plan",
        plan,
        {"size": (80, 24), "env": TRUE_COLOUR, "settings": {"general": {"plan": {"directory": "plans"}}}},
    ),
    Scene("menus", menus, {"size": (80, 24), "env": TRUE_COLOUR}),
    Scene("lists", lists, {"size": (80, 24), "env": TRUE_COLOUR}),
    Scene("trust", trust, {"size": (46, 14), "trusted": False, "ready": False, "env": TRUE_COLOUR}),
    Scene("login", login, {"size": (60, 15), "onboarded": False, "ready": False, "env": {"GEMINI_API_KEY": ""}}),
]
