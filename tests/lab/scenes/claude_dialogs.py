"""Claude Code waiting for a person: permissions, questions, plans, first questions, menus."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

from tests.lab.pane import AgentPane
from tests.lab.scenes import Scene, Shots
from tests.lab.scenes.claude_common import LONG, STATUSLINE, dialog, press, reply, send, steady, told, turn
from tests.lab.scenes.claude_texts import FAKE_BUSY, FAKE_END, FAKE_LIMIT

YES = r"(?m)^\s*❯ 1\. Yes"  # noqa: RUF001
LINES = "; ".join(f"touch file-{number}.txt" for number in range(1, 60))


def refuse(pane: AgentPane) -> None:
    """Close a dialog with Esc, and wait until the turn is over."""
    pane.keys("Escape")
    pane.until(lambda _: told(pane) == "idle", LONG, what="rest after Esc")
    steady(pane)


def shells(pane: AgentPane, shots: Shots) -> None:
    """Leave to run a command, in a small pane; another choice; a command that overflows it; refused."""
    send(pane, "[[bash touch x]]")
    dialog(pane, YES)
    shots.take(pane, "s60x15-permission-bash", "waiting", "permission")
    press(pane, "Down", until=r"❯ ?2\.")  # noqa: RUF001
    shots.take(pane, "s60x15-permission-second", "waiting", "permission")
    refuse(pane)
    shots.take(pane, "s60x15-permission-refused", "idle", "interrupted")
    reply(pane, "end", FAKE_END)
    send(pane, f"[[say end]]+[[bash {LINES}]]")
    dialog(pane, r"(?m)^\s*[❯ ] \d\. (?:Yes|No)")  # noqa: RUF001
    shots.take(pane, "s60x15-permission-overflow", "waiting", "permission")


def files(pane: AgentPane, shots: Shots) -> None:
    """Leave to write and to edit a file whose text looks like a busy agent; to read elsewhere; to fetch."""
    (pane.cwd / "notes.md").write_text("# Notes\n\nold line\n")
    reply(pane, "busy", FAKE_BUSY)
    text = json.dumps(FAKE_BUSY * 4)
    send(pane, f'[[say busy]]+[[tool Write {{"file_path":"{pane.cwd}/screen.txt","content":{text}}}]]')
    dialog(pane, YES)
    shots.take(pane, "s80x24-permission-write-busy-screen", "waiting", "permission")
    refuse(pane)
    notes = f"{pane.cwd}/notes.md"
    new = json.dumps("✶ Percolating… (12s · esc to interrupt)\n✻ Brewed for 12s")
    edit = f'{{"file_path":"{notes}","old_string":"old line","new_string":{new}}}'
    send(pane, f'[[tool Read {{"file_path":"{notes}"}}]] [[tool Edit {edit}]]')
    dialog(pane, YES)
    shots.take(pane, "s80x24-permission-edit", "waiting", "permission")
    press(pane, "Down", "Down", until=r"❯ ?3\.")  # noqa: RUF001
    shots.take(pane, "s80x24-permission-edit-third", "waiting", "permission")
    refuse(pane)
    send(pane, '[[tool Read {"file_path":"/etc/hostname"}]]')
    dialog(pane, YES)
    shots.take(pane, "s80x24-permission-read", "waiting", "permission")
    refuse(pane)
    send(pane, '[[tool WebFetch {"url":"https://example.com/limits","prompt":"what is the usage limit"}]]')
    dialog(pane, YES)
    shots.take(pane, "s80x24-permission-fetch", "waiting", "permission")


def amended(pane: AgentPane, shots: Shots) -> None:
    """Words added to an answer; a dialog of a helper; both below a limit that was only spoken of."""
    reply(pane, "limit", FAKE_LIMIT)
    send(pane, "[[say limit]]+[[bash touch x]]+[[bash touch y]]")
    dialog(pane, YES)
    shots.take(pane, "s100x30-permission-below-fake-limit", "waiting", "permission")
    press(pane, "Tab")
    pane.tmux("send-keys", "-t", pane.pane_id, "-l", "--", "and esc to interrupt")
    pane.until("and esc to interrupt", LONG)
    steady(pane)
    assert told(pane).startswith("waiting"), told(pane)
    shots.take(pane, "s100x30-permission-amend", "waiting", "permission")
    pane.keys("Escape")
    steady(pane)
    if told(pane).startswith("waiting"):
        refuse(pane)
    job = '{"description":"sub job","subagent_type":"general-purpose","prompt":"((bash touch sub))"}'
    send(pane, f"[[tool Agent {job}]]")
    dialog(pane, YES)
    shots.take(pane, "s100x30-permission-subagent", "waiting", "permission")


def questions(pane: AgentPane, shots: Shots) -> None:
    """Several questions at once, one of them for several answers; words of one's own; all in a narrow pane."""
    asked = [
        {
            "question": f"Which {thing}?", "header": thing, "multiSelect": several,
            "options": [{"label": name, "description": f"{name} it is"} for name in names],
        }
        for thing, several, names in (
            ("Colour", False, ("Red", "Blue")),
            ("Limits", True, ("session limit", "weekly limit", "esc to interrupt")),
        )
    ]  # fmt: skip
    send(pane, f"[[tool AskUserQuestion {json.dumps({'questions': asked})}]]")
    dialog(pane, "Which Colour")
    shots.take(pane, "question-several", "waiting", "question")
    press(pane, "Enter", until="Which Limits")
    steady(pane)
    shots.take(pane, "question-multi-select", "waiting", "question")
    press(pane, "Right", until="[Ss]ubmit")
    steady(pane)
    shots.take(pane, "question-submit", "waiting", "question")
    refuse(pane)
    shots.take(pane, "question-declined", "idle", "interrupted")
    send(pane, "[[ask How shall it be called? | Alpha | Beta]]")
    dialog(pane, "Alpha")
    press(pane, "Down", "Down")
    pane.tmux("send-keys", "-t", pane.pane_id, "-l", "--", "esc to interrupt it")
    pane.until("esc to interrupt it", LONG)
    steady(pane)
    shots.take(pane, "question-own-words", "waiting", "question")


def plan(pane: AgentPane, shots: Shots) -> None:
    """A plan to approve, short and longer than the pane."""
    turn(pane, "hello")
    path = _plan_file(pane)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("# The plan\n\n1. Raise the limit\n2. esc to interrupt\n")
    send(pane, "[[tool ExitPlanMode {}]]")
    dialog(pane, r"❯ 1\.")  # noqa: RUF001
    shots.take(pane, "s80x24-plan-approval", "waiting", "permission")
    refuse(pane)
    shots.take(pane, "s80x24-plan-refused", "idle", "interrupted")
    path.write_text("# The plan\n\n" + "".join(f"{number}. Step number {number}\n" for number in range(1, 50)))
    send(pane, "[[tool ExitPlanMode {}]]")
    dialog(pane, r"\d\. (?:Yes|No|Tell)")
    shots.take(pane, "s80x24-plan-approval-long", "waiting", "permission")


def _plan_file(pane: AgentPane) -> Path:
    """Where this session keeps its plan: its transcript says so."""
    for transcript in (pane.home / ".claude/projects").rglob("*.jsonl"):
        for line in transcript.read_text().splitlines():
            path = json.loads(line).get("attachment", {}).get("planFilePath")
            if path:
                return Path(path)
    raise AssertionError("no plan file is named in the transcript")


MENUS = {
    "model": "/model", "status": "/status", "permissions": "/permissions", "theme": "/theme", "help": "/help",
    "memory": "/memory", "resume": "/resume", "hooks": "/hooks",
}  # fmt: skip


def menus(pane: AgentPane, shots: Shots) -> None:
    """Menus over a conversation that seems to be busy."""
    reply(pane, "busy", FAKE_BUSY)
    turn(pane, "[[say busy]]")
    for name, command in MENUS.items():
        pane.type(command, enter=False)
        steady(pane, 0.7)
        pane.keys("Enter")
        moment = time.time()
        pane.until(lambda _, at=moment: told(pane) != "idle" or time.time() > at + 6, LONG)  # type: ignore[misc]
        steady(pane)
        if told(pane).startswith("waiting"):
            shots.take(pane, f"menu-{name}", "waiting", "menu")
            for _ in range(3):
                if told(pane) != "idle":
                    press(pane, "Escape")
                    steady(pane, 0.7)
        else:
            print(f"{command}: {told(pane)}\n{pane.screen()}")


def lists(pane: AgentPane, shots: Shots) -> None:
    """What is unfolded around the input box leaves the state as it is."""
    (pane.cwd / "claude.md").write_text("x")
    reply(pane, "busy", FAKE_BUSY)
    turn(pane, "[[say busy]]")
    press(pane, "?", until="shift")
    steady(pane)
    shots.take(pane, "s80x24-shortcuts", "idle", "turn-ended")
    press(pane, "BSpace")
    steady(pane)
    press(pane, "@", until=r"claude\.md")
    steady(pane)
    shots.undecided(pane, "s80x24-file-list", "idle", "turn-ended")
    press(pane, "BSpace")
    steady(pane)
    press(pane, "C-o", until=r"ctrl\+o")
    steady(pane)
    shots.undecided(pane, "s80x24-transcript", "idle", "turn-ended")
    press(pane, "C-o")
    steady(pane)
    press(pane, "C-r")
    steady(pane)
    shots.undecided(pane, "s80x24-history-search", "idle", "turn-ended")


def trust(pane: AgentPane, shots: Shots) -> None:
    """The first question of all, and the last answer to it."""
    pane.until("trust", LONG)
    steady(pane)
    shots.take(pane, "s60x15-trust", "waiting", "trust")
    press(pane, "Down")
    steady(pane)
    shots.take(pane, "s60x15-trust-no", "waiting", "trust")
    if not re.search(r"❯ .*No, exit", pane.screen()):  # noqa: RUF001
        press(pane, "Up", until=r"❯ .*No, exit")  # noqa: RUF001  # newer ones begin with it
    pane.keys("Enter")
    pane.until(lambda _: pane.facts()["pane_current_command"] == "bash", LONG, what="the shell")
    steady(pane)
    shots.take(pane, "s60x15-trust-refused", "exited")


def servers(pane: AgentPane, shots: Shots) -> None:
    """A project that brings a tool server of its own: asked when the agent is started again."""
    (pane.cwd / ".mcp.json").write_text('{"mcpServers":{"lab":{"command":"true","args":[]}}}')
    pane.type("/exit")
    pane.until(lambda _: pane.facts()["pane_current_command"] == "bash", LONG, what="the shell")
    pane.type("claude")
    pane.until("MCP", LONG)
    steady(pane)
    shots.take(pane, "s80x24-startup-mcp", "waiting", "startup-dialog")


def untitled(pane: AgentPane, shots: Shots) -> None:
    """A permission where neither title nor words of the footer help."""
    reply(pane, "end", FAKE_END)
    send(pane, "[[say end]]+[[bash touch x]]")
    dialog(pane, YES)
    shots.take(pane, "untitled-statusline-permission", "waiting", "permission")


SCENES = [
    Scene("shells", shells, {"size": (60, 15)}),
    Scene("files", files, {"size": (80, 24)}),
    Scene("amended", amended, {"size": (100, 30)}),
    Scene("questions", questions, {"size": (46, 24)}),
    Scene("plan", plan, {"size": (80, 24), "options": ["--permission-mode", "plan"]}),
    Scene("menus", menus, {"size": (100, 30)}),
    Scene("lists", lists, {"size": (80, 24)}),
    Scene("trust", trust, {"size": (60, 15), "trusted": False, "ready": False}),
    Scene("servers", servers, {"size": (80, 24)}),
    Scene(
        "untitled-dialog",
        untitled,
        {"size": (200, 50), "statusline": STATUSLINE, "env": {"CLAUDE_CODE_DISABLE_TERMINAL_TITLE": "1"}},
    ),
]
