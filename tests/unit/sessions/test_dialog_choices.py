"""The choices of every agent's dialogs, read from screens of the real programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from midwatch.agents import catalog
from midwatch.core.pane_model import SourceReport
from midwatch.sessions.dialogs import dialog_identity
from midwatch.sessions.dialogs.choice_list import read_choices
from midwatch.sessions.dialogs.model import ChoiceList, UnreadableDialog

SCREENS = Path(__file__).parents[2] / "goldens" / "agents" / "screens"
KINDS = ("permission", "trust", "question", "login", "startup-dialog")
"""Dialogs that stand between a session and its work; menus that a person opened may be of any kind."""
ALWAYS = "2 Yes, and don't ask again for commands that start with "
READ = {
    "claude/permission-bash": ["*1 Yes", "2 Yes, and always allow access to proj/ from this project", "3 No"],
    "claude/s80x24-permission-edit-third": ["1 Yes", "2 Yes, allow all edits during this session (shift+tab)", "*3 No"],
    "claude/2.1.325-s60x15-permission-second": [
        "1 Yes", "*2 Yes, and always allow access to /home/developer/work/proj from this project",
        "3 Yes, and switch to auto mode · auto mode handles these prompts for you", "4 No",
    ],
    "claude/2.1.325-s80x24-plan-approval": [
        "*1 Yes, and use auto mode", "2 Yes, manually approve edits",
        "3 Tell Claude what to change shift+tab to approve with this feedback (words)",
    ],
    "claude/2.1.325-s60x15-trust": ["*1 No, exit", "2 Yes, I trust this folder"],
    "claude/dialog-1": ["*1 Yes, I trust this folder", "2 No, exit"],
    "claude/2.1.325-s80x24-api-key": ["1 Yes", "*2 No (recommended)"],
    "claude/bypass-dialog": ["*1 No, exit", "2 Yes, I accept"],
    "claude/question": ["*1 Red red it is", "2 Blue blue it is", "3 Type something. (typed)", "4 Chat about this"],
    "claude/question-submit": ["*1 Submit answers", "2 Cancel"],
    "claude/hard-limit-minutes-menu": ["*1 Stop and wait for limit to reset", "2 Upgrade your plan"],
    "codex/permission-46x14-second": ["1 Yes, proceed (y)", f"*{ALWAYS}`touch x` (p)"],
    "codex/permission-edit-long": [
        "*1 Yes, proceed (y)", "2 Yes, and don't ask again for these files (a)",
        "3 No, and tell Codex what to do differently (esc)",
    ],
    "codex/0.169.0-trust": ["*1 Trust and continue", "2 Back to Agent Command Center"],
    "codex/question-1-of-3": [
        "*1 Red Choose Red", "2 Blue Choose Blue", "3 None of the above Optionally, add details in notes (tab)",
    ],
    "codex/hooks-60x15": [
        "*1 Review hooks", "2 Trust all and continue", "3 Continue without trusting (hooks won't run)",
    ],
    "codex-nodaemon/inline-permission-after-status": [
        "*1 Yes, proceed (y)", f"{ALWAYS}`touch y` (p)", "3 No, and tell Codex what to do differently (esc)",
    ],
    "gemini/permission-write-third-80x24": [
        "1 Allow once", "2 Allow for this session", "*3 Modify with external editor", "4 No, suggest changes (esc)",
    ],
    "gemini/permission-screen-reader": ["*1 Allow once", "2 Allow for this session", "3 No, suggest changes (esc)"],
    "gemini/question-second-100x30": ["1 Red Choose Red", "*2 Blue Choose Blue", "3 Enter a custom value (words)"],
    "gemini/trust-46x14": ["*1 Trust folder (proj)", "2 Trust parent folder (work)", "3 Don't trust"],
    "opencode/permission-bash": ["*1 Allow once", "2 Allow always", "3 Reject"],
    "opencode/permission-outside-third-chosen": ["1 Allow once", "2 Allow always", "*3 Reject"],
    "opencode/permission-always-46x14": ["*1 Confirm", "2 Cancel"],
    "opencode/question-60x15": ["*1 Red warm", "2 Blue cold", "3 Type your own answer (words)"],
    "qwen/0.24.4-permission-second-46x14": [
        "1 Yes, allow once", "*2 Always allow run 'touch *' comma…", "3 Always allow run 'touch *' comma…",
        "4 No, suggest changes (esc)",
    ],
    "qwen/question-80x24": ["*1 Red Choose Red", "2 Blue Choose Blue", "3 Type something... (words)"],
    "qwen/trust-60x15": ["*1 Trust folder (proj)", "2 Trust parent folder (work)", "3 Don't trust (esc)"],
}  # fmt: skip
NOT_READ = (
    "question-multi", "question-own-answer",  # several choices at once
    "question-text",  # a text, and no choice
    "question-notes",  # a note takes the keys
    "question-review", "subagent-reject-reason",  # no list of choices
    "permission-in-full",  # the command in full covers them
    "qwen/0.24.4-login", "qwen/0.24.4-menu-auth", "qwen/menu-auth", "qwen/previous-menu-auth",  # no numbers
    "0.24.4-trust-60x15",  # drawn over by another size, so that a choice is missing
)  # fmt: skip


def read(case: Path) -> ChoiceList | UnreadableDialog:
    return read_choices(catalog.load(case.parent.name.partition("-")[0]), rows(case))


def rows(case: Path) -> tuple[str, ...]:
    coloured = case / "screen.ansi.txt"
    return tuple((coloured if coloured.exists() else case / "screen.txt").read_text().split("\n"))


def told(found: ChoiceList | UnreadableDialog) -> list[str]:
    assert isinstance(found, ChoiceList), found.reason
    return [
        f"{'*' * each.marked}{each.number} {each.text.raw}"
        + (" (typed)" if each.typed else " (words)" if each.takes_words else "")
        for each in found.choices
    ]


@pytest.mark.parametrize("case", READ)
def test_the_choices_and_the_marked_one_are_read(case: str) -> None:
    assert told(read(SCREENS / case)) == READ[case]


def waiting() -> list[Path]:
    found = []
    for path in sorted(SCREENS.glob("*/*/expected.json")):
        expected = json.loads(path.read_text())
        if expected["turn"] == "waiting" and expected.get("detail") in KINDS:
            found.append(path.parent)
    return found


@pytest.mark.parametrize("case", waiting(), ids=lambda case: f"{case.parent.name}/{case.name}")
def test_every_dialog_is_read_or_known_not_to_be(case: Path) -> None:
    found = read(case)
    known = any(word in f"{case.parent.name}/{case.name}" for word in NOT_READ)
    assert isinstance(found, UnreadableDialog) == known, found
    if isinstance(found, ChoiceList):
        assert [each.number for each in found.choices] == list(range(1, len(found.choices) + 1))
        assert sum(each.marked for each in found.choices) == 1
        assert len(found.choices) > 1


def test_an_agent_at_work_or_at_its_prompt_is_asked_by_its_verdict_not_by_this() -> None:
    """What looks like a list of choices may stand in a conversation: a dialog needs a verdict that waits, too."""
    assert isinstance(read(SCREENS / "codex/words-draft-options"), ChoiceList)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("claude/2.1.325-s60x15-permission-bash", "claude/2.1.325-s60x15-permission-second"),
        ("claude/2.1.325-s60x15-trust", "claude/2.1.325-s60x15-trust-no"),
        ("codex/permission-46x14", "codex/permission-46x14-second"),
        ("claude/2.1.325-s80x24-permission-edit", "claude/2.1.325-s80x24-permission-edit-third"),
    ],
)
def test_a_dialog_is_the_same_whichever_choice_is_marked(first: str, second: str) -> None:
    signs = []
    for name in (first, second):
        case = SCREENS / name
        detector = catalog.load(case.parent.name)
        signs.append(dialog_identity.sign_dialog(detector, rows(case), read(case)))
    assert signs[0] == signs[1]


def test_another_command_asks_in_another_dialog() -> None:
    claude = catalog.load("claude")
    cases = [SCREENS / "claude" / name for name in ("permission-bash", "s100x30-permission-subagent")]
    signs = {dialog_identity.sign_dialog(claude, rows(case), read(case)) for case in cases}
    assert len(signs) == len(cases)


def test_the_conversation_tells_the_same_question_asked_twice_apart() -> None:
    asked = [(SourceReport("transcript", at, {}),) for at in (1.0, 2.0)]
    ids = [dialog_identity.identify_dialog("/s", "%1", (4, 5), ("Do you?", "1 Yes"), reports) for reports in asked]
    assert ids[0] != ids[1]
    assert ids[0] == dialog_identity.identify_dialog("/s", "%1", (4, 5), ("Do you?", "1 Yes"), asked[0])
    assert ids[0] != dialog_identity.identify_dialog("/s", "%1", (4, 6), ("Do you?", "1 Yes"), asked[0])
