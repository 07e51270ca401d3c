"""The last words of agents, as they stand on real screens: which conversation, and whether anything came after."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from midwatch.agents import catalog, exit_message

SCREENS = Path(__file__).parents[2] / "goldens" / "agents" / "screens"
KNOWN = catalog.load_all()
ONE, TWO = "b03dceae-438c-4405-b9d9-df6e5f8ef6cf", "58fc8578-6f21-4613-9780-b39c33ccfb94"
PROMPT = "here$"


def read(*rows: str, cursor: tuple[int, int] | None = None) -> tuple[str, str, bool] | None:
    """Agent, conversation, and whether something was run since; the cursor is at the end unless it is said where."""
    found = exit_message.read(KNOWN, rows, cursor or (len(rows[-1]), len(rows) - 1))
    return (found.agent.agent, found.conversation, found.since) if found else None


@pytest.mark.parametrize(
    ("agent", "case", "conversation"),
    [
        ("claude", "exited", "b03dceae-438c-4405-b9d9-df6e5f8ef6cf"),
        ("claude", "exited-slash", "b03dceae-438c-4405-b9d9-df6e5f8ef6cf"),
        ("claude", "hard-exited-adv-above", "499fe232-58cf-4cce-966c-55e057514cf3"),
        ("codex", "exited", "01a1e0d5-e3d0-71c1-a6b2-364982b59228"),
        ("codex-nodaemon", "exited", "01a1e0da-1ec0-76d3-8952-e6c2f2556603"),
        ("gemini", "exited", "58fc8578-6f21-4613-9780-b39c33ccfb94"),
        ("gemini", "exited-ctrl-c-80x24", "eaa63b1d-8ac5-43af-b399-d7486cd4dd2a"),
        ("qwen", "exited", "340a6d74-422b-41da-884a-12407aec4b9c"),
        ("qwen", "exited-ctrl-c-80x24", "7aba0809-5d81-48e3-b85d-c8a481403491"),
    ],
)
def test_real_agents_say_how_to_come_back(agent: str, case: str, conversation: str) -> None:
    rows = (SCREENS / agent / case / "screen.txt").read_text().split("\n")
    facts = json.loads((SCREENS / agent / case / "facts.json").read_text())
    cursor = int(facts["cursor_x"]), int(facts["cursor_y"])
    assert read(*rows, cursor=cursor) == (agent.partition("-")[0], conversation, False)


def test_opencode_words_it_in_its_own_way() -> None:
    session = "ses_e17e3e61cffetnDhBjC06PsqM5"
    rows = ("  Session   Greeting", f"  Continue  opencode -s {session}", "", PROMPT)
    assert read(*rows) == ("opencode", session, False)


def test_of_several_the_last_holds() -> None:
    rows = (f"claude --resume {ONE}", f"To continue this session, run qwen --resume {TWO}", PROMPT)
    assert read(*rows) == ("qwen", TWO, False)


def test_what_is_no_id_or_no_command_of_an_agent_says_nothing() -> None:
    assert read("claude --resume last", PROMPT) is None
    assert read(f"claude --resume {ONE}-and-more", PROMPT) is None
    assert read(f"myclaude --resume {ONE}", PROMPT) is None
    assert read(f"claude {ONE}", PROMPT) is None


def test_a_command_that_was_run_since_is_noticed() -> None:
    assert read(f"claude --resume {ONE}", f"{PROMPT} ls", "src", PROMPT) == ("claude", ONE, True)
    assert read(f"claude --resume {ONE}", PROMPT, f"{PROMPT} half^C", f"{PROMPT} ^C", PROMPT) == ("claude", ONE, False)


def test_half_a_line_at_the_prompt_is_no_command() -> None:
    assert read(f"claude --resume {ONE}", f"{PROMPT} half a line") == ("claude", ONE, False)


# How an agent that is gone took its leave -------------------------------------------------------------------------

ENDED = sorted(
    (path.parents[1].name, path.parent.name)
    for path in SCREENS.glob("*/*/expected.json")
    if (expected := json.loads(path.read_text()))["turn"] == "exited" and not expected.get("detail")
)


def left(agent: str, case: str) -> tuple[bool, int | None]:
    """Whether its goodbye is read from a real screen, and the signal that the shell tells of."""
    rows = tuple((SCREENS / agent / case / "screen.txt").read_text().split("\n"))
    facts = json.loads((SCREENS / agent / case / "facts.json").read_text())
    cursor = int(facts["cursor_x"]), int(facts["cursor_y"])
    detector = next(each for each in KNOWN if each.agent == agent.partition("-")[0])
    return exit_message.has_exit_message(detector, rows, cursor), exit_message.reported_signal(rows, cursor)


@pytest.mark.parametrize(("agent", "case"), [(agent, case) for agent, case in ENDED if "killed" in case])
def test_no_agent_that_was_killed_has_said_goodbye(agent: str, case: str) -> None:
    """Told to end by SIGTERM, some take their leave."""
    said, signal = left(agent, case)
    assert not said
    assert signal in (None, 9, 15)


@pytest.mark.parametrize(
    ("agent", "case"), [(agent, case) for agent, case in ENDED if "killed" not in case and "terminated" not in case]
)
def test_of_no_agent_that_was_left_does_the_shell_tell_a_signal(agent: str, case: str) -> None:
    assert left(agent, case)[1] is None


@pytest.mark.parametrize(
    ("agent", "case"),
    [("claude", "exited"), ("claude", "exited-slash"), ("claude", "s100x30-ctrl-c-twice"),
     ("claude", "hard-exited-adv-above"), ("claude", "hard-limit-then-exited"), ("codex", "exited"),
     ("codex", "left-by-ctrl-d"), ("gemini", "exited"), ("gemini", "exited-ctrl-c-80x24"), ("qwen", "exited"),
     ("qwen", "exited-ctrl-c-80x24")],
)  # fmt: skip
def test_an_agent_that_was_left_has(agent: str, case: str) -> None:
    assert left(agent, case)[0]


CLAUDE = next(each for each in KNOWN if each.agent == "claude")
BOX = ("─" * 40, "❯ ", "─" * 40)  # noqa: RUF001
BYE = ("Resume this session with:", f"claude --resume {ONE}")


def is_said(*rows: str) -> bool:
    return exit_message.has_exit_message(CLAUDE, rows, (len(rows[-1]), len(rows) - 1))


def test_what_stands_above_the_agents_box_was_said_before_it_ended() -> None:
    assert is_said(*BOX, *BYE, PROMPT)
    assert not is_said(*BYE, *BOX, PROMPT), "a model can write that too, or an earlier run did"


def test_what_was_typed_at_the_shells_prompt_is_no_goodbye() -> None:
    assert not is_said(f"{PROMPT} claude --resume {ONE}", PROMPT)
    assert is_said(f"{PROMPT} claude --resume {ONE}", *BYE, PROMPT)


def test_commands_that_were_run_since_take_nothing_back() -> None:
    assert is_said(*BYE, f"{PROMPT} ls", "src", PROMPT)


@pytest.mark.parametrize(
    ("row", "signal"),
    [
        ("Killed", 9), ("Terminated", 15), ("Segmentation fault (core dumped)", 11), ("Aborted", 6), ("Hangup", 1),
        ("❯ Killed", 9), ("› Killeddex to do anything", 9), ("  ┃  Killed", 9), ("> Terminatedr message or @path", 15),  # noqa: RUF001
        ("[1]+  Killed                  claude", 9), ("zsh: killed     claude", 9),
        ("zsh: segmentation fault (core dumped)  claude", 11), ("zsh: terminated  claude", 15),
        ("fish: Job 1, 'claude' terminated by signal SIGKILL (Forced quit)", 9),
        ("● I have killed the server.", None), ("The worker was Killed by the kernel", None), ("src", None),
    ],
)  # fmt: skip
def test_what_shells_say_of_a_signal(row: str, signal: int | None) -> None:
    rows = ("", row, "", PROMPT)
    assert exit_message.reported_signal(rows, (len(PROMPT), 3)) == signal


def test_of_an_earlier_command_it_says_nothing() -> None:
    rows = ("Killed", f"{PROMPT} ls", "a", "b", PROMPT)
    assert exit_message.reported_signal(rows, (len(PROMPT), 4)) is None
