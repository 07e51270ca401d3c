"""Codex asking: for leave, for answers, for trust; and menus."""

# ruff: noqa: RUF001  # Codex draws with such characters
from __future__ import annotations

import json
import time

from tests.lab.pane import AgentPane
from tests.lab.scenes import Scene, Shots
from tests.lab.scenes import codex_common as do

ASKED = r"esc to cancel|esc cancel|esc to go back"


def asked(pane: AgentPane, prompt: str, look: str = ASKED) -> float:
    """Have the model ask, and wait for the dialog: the tool must not have run."""
    before = time.time()
    if len(prompt) > 300:
        do.paste(pane, prompt)
    else:
        pane.type(prompt, enter=False)
    since = do.enter(pane, before)
    pane.until_model("ended", after=since, main=True)
    pane.until(look, do.LONG)
    do.still(pane, 0.7, lambda seen: seen.screen())
    return since


def shell(pane: AgentPane, shots: Shots) -> None:
    asked(pane, "go [[bash !touch x]]")
    shots.take(pane, "permission-46x14", "waiting", "permission")
    pane.keys("Down")
    pane.until(r"› 2\.")
    shots.take(pane, "permission-46x14-second", "waiting", "permission")
    pane.keys("Escape")
    do.rest(pane)
    shots.take(pane, "permission-rejected-46x14", "idle", "interrupted")


def shell_long(pane: AgentPane, shots: Shots) -> None:
    command = " && ".join(f"echo step {n} of a long line of commands" for n in range(1, 40))
    asked(pane, f"go [[bash !{command}]]", "Yes")
    shots.take(pane, "permission-overflowing-60x15", "waiting", "permission")
    pane.keys("Down")
    pane.until(r"› 2\.")
    shots.take(pane, "permission-overflowing-60x15-second", "waiting", "permission")
    pane.keys("C-a")
    do.still(pane, 0.7, lambda seen: seen.screen())
    shots.take(pane, "permission-in-full-60x15", "waiting", "permission")


def patch(pane: AgentPane, shots: Shots) -> None:
    lines = "\\n".join(f"line {n} of the new file" for n in range(1, 60))
    asked(pane, f"go [[write ../outside.txt {lines}]]", "Would you like")
    shots.take(pane, "permission-edit-long", "waiting", "permission")
    pane.keys("Down")
    do.still(pane, 0.7, lambda seen: seen.screen())
    shots.take(pane, "permission-edit-long-second", "waiting", "permission")
    pane.keys("Escape")
    do.rest(pane)
    shots.take(pane, "permission-edit-rejected", "idle", "interrupted")


def imitated(pane: AgentPane, shots: Shots) -> None:
    do.reply(pane, "closing", f"All is done.\n\n{do.CLOSING}\n\n")
    asked(pane, "go [[say closing]]+[[bash !touch x]]")
    shots.take(pane, "permission-after-closing", "waiting", "permission")
    pane.keys("Escape")
    do.rest(pane)
    do.reply(pane, "status", f"{do.STATUS}\n\n")
    asked(pane, "go [[say status]]+[[bash !touch y]]")
    shots.take(pane, "permission-after-status", "waiting", "permission")


def question(pane: AgentPane, shots: Shots) -> None:
    do.press(pane, "BTab", lambda seen: "Plan mode" in seen.screen())
    options = [{"label": word, "description": f"Choose {word}"} for word in ("Red", "Blue")]
    questions = [
        {"id": f"q{n}", "header": f"Choice {n}", "question": f"Which colour for part {n}?", "options": options}
        for n in (1, 2, 3)
    ]
    asked(pane, f"go [[tool request_user_input {json.dumps({'questions': questions})}]]", r"Question 1/3|1 of 3")
    shots.take(pane, "question-1-of-3", "waiting", "question")
    pane.keys("Down")
    pane.keys("Down")
    do.still(pane, 0.7, lambda seen: seen.screen())
    pane.keys("Tab")
    do.still(pane, 0.7, lambda seen: seen.screen())
    pane.type("not sure yet", enter=False)
    shots.take(pane, "question-notes", "waiting", "question")
    pane.keys("Enter")
    pane.until(r"Question 2/3|2 of 3")
    do.still(pane, 0.7, lambda seen: seen.screen())
    shots.take(pane, "question-2-of-3", "waiting", "question")


def plan(pane: AgentPane, shots: Shots) -> None:
    do.press(pane, "BTab", lambda seen: "Plan mode" in seen.screen())
    do.reply(pane, "plan", "<proposed_plan>\n# Plan\n\n1. Read the code\n2. Change it\n3. Test it\n</proposed_plan>\n")
    since = do.send(pane, "plan it [[say plan]]")
    pane.until_model("ended", after=since, main=True)
    pane.until("Implement this plan")
    do.still(pane, 1.0, lambda seen: seen.screen())
    shots.take(pane, "plan-approval", "waiting", "permission")
    pane.keys("Down")
    do.still(pane, 0.7, lambda seen: seen.screen())
    shots.take(pane, "plan-approval-second", "waiting", "permission")


def menus(pane: AgentPane, shots: Shots) -> None:
    do.finish(pane, do.send(pane, "hello [[text Hello. How can I help?]]"))
    for name in ("model", "permissions", "experimental", "keymap", "resume", "theme", "skills", "hooks", "statusline"):
        before = pane.screen()
        pane.type(f"/{name}", enter=False)
        do.rest(pane, 0.7)
        pane.keys("Enter")
        do.still(pane, 1.2, lambda seen: seen.screen())
        assert pane.screen() != before, name
        shots.take(pane, f"menu-{name}", "waiting", "menu")
        pane.keys("Escape")
        do.rest(pane, 0.7)
        if pane.facts()["cursor_flag"] != "1":
            pane.keys("Escape")
            do.rest(pane, 0.7)


def lists(pane: AgentPane, shots: Shots) -> None:
    (pane.cwd / "claude.md").touch()
    do.finish(pane, do.send(pane, "hello [[text Hello. How can I help?]]"))
    for name, keys in (("slash", "/"), ("files", "@clau"), ("help", "?"), ("history", "C-r")):
        before = pane.screen()
        pane.keys(*([keys] if keys.startswith("C-") else ["-l", keys]))
        do.changed(pane, before)
        do.rest(pane, 1.0)
        shots.take(pane, f"list-{name}", "idle", "turn-ended")
        pane.keys("Escape")
        do.rest(pane, 0.5)
        pane.keys("C-u")
        do.rest(pane, 0.5)
    since = do.send(pane, "go [[hang]]")
    do.passed(pane, since, 3)
    pane.keys("-l", "/")
    pane.until("/permissions")
    shots.take(pane, "list-slash-busy", "working", "model")


def trust(pane: AgentPane, shots: Shots) -> None:
    pane.until("Do you trust|Trust this folder", do.LONG)
    do.still(pane, 1.5, lambda seen: seen.screen())
    shots.take(pane, "trust", "waiting", "trust")


def upgrade(pane: AgentPane, shots: Shots) -> None:
    pane.until("Use existing model", do.LONG)
    do.still(pane, 1.5, lambda seen: seen.screen())
    shots.take(pane, "new-model-offered", "waiting", "startup-dialog")


def hooks(pane: AgentPane, shots: Shots) -> None:
    pane.until("Hooks need review", do.LONG)
    do.still(pane, 1.5, lambda seen: seen.screen())
    shots.take(pane, "hooks-60x15", "waiting", "startup-dialog")


def login(pane: AgentPane, shots: Shots) -> None:
    pane.until("Sign in|API key", do.LONG)
    do.still(pane, 1.5, lambda seen: seen.screen())
    shots.take(pane, "login", "waiting", "login")


NO_PROVIDER = {"model_provider": "openai", "cli_auth_credentials_store": "file"}

SCENES = [
    Scene("permission-narrow", shell, {"size": (46, 14)}),
    Scene("permission-long", shell_long, {"size": (60, 15)}),
    Scene("patch", patch, {"size": (80, 24)}),
    Scene("permission-imitated", imitated, {"size": (100, 30)}),
    Scene("question", question, {"size": (80, 24)}),
    Scene("plan-approval", plan, {"size": (80, 24)}),
    Scene("menus", menus, {"size": (80, 24)}),
    Scene("lists", lists, {"size": (100, 30)}),
    Scene("trust", trust, {"size": (80, 24), "trusted": False, "ready": False}),
    Scene("upgrade", upgrade, {"size": (100, 30), "settings": {"model": "gpt-5.5"}, "ready": False}),
    Scene("hooks", hooks, {"size": (60, 15), "hooks": "log", "ready": False}),
    Scene("login", login, {"size": (80, 24), "settings": NO_PROVIDER, "ready": False}),
]
