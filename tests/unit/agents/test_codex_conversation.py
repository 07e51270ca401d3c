"""Which of the conversations in Codex's daemon is the one in a pane, after `/clear` too; an unclear one is nobody's."""

from collections.abc import Callable

import pytest

from midwatch.agents.codex.conversation import (
    CodexThread,
    ConversationChoice,
    choose_conversation,
    start_time,
    works_in,
)
from midwatch.core.pane_model import RunningAgent

CWD = "/home/dev/proj"
OLD = "01a1ef10-0000-7000-8000-000000000000"
FIRST = "01a1ef11-0000-7000-8000-000000000000"
SECOND = "01a1ef12-0000-7000-8000-000000000000"
THIRD = "01a1ef13-0000-7000-8000-000000000000"


def thread(name: str, *, used: bool = True, asked: float = 0.0, cwd: str = CWD, hidden: bool = False) -> CodexThread:
    moment = asked or start_time(name) + 2
    return CodexThread(name, cwd, f"/{name}.jsonl", start_time(name), hidden, used, moment if used else 0.0)


def codex(*args: str) -> RunningAgent:
    return RunningAgent("codex", 1, 1, start_time(FIRST) - 1, CWD, ("codex", *args), {})


def yes() -> bool:
    return True


def no() -> bool:
    return False


def never() -> bool:
    raise AssertionError("it is asked though nothing depends on it")


def test_a_conversation_that_was_cleared_gives_way_to_the_unused_one_below_an_empty_screen() -> None:
    threads = [thread(FIRST), thread(SECOND, used=False)]
    assert choose_conversation(threads, codex(), FIRST, yes, yes) == ConversationChoice(SECOND)
    assert choose_conversation(threads, codex(), "", yes, yes) == ConversationChoice(SECOND), (
        "whoever looks for the first time sees it too"
    )


@pytest.mark.parametrize(("blank", "alone"), [(no, never), (yes, no)])
def test_without_an_empty_screen_or_beside_another_codex_it_is_nobodys(
    blank: Callable[[], bool], alone: Callable[[], bool]
) -> None:
    found = choose_conversation([thread(FIRST), thread(SECOND, used=False)], codex(), FIRST, blank, alone)
    trouble = f"2 conversations were begun in {CWD} since this Codex was started"
    assert found == ConversationChoice("", trouble, unclear=True)


def test_two_unused_ones_are_not_guessed_between() -> None:
    threads = [thread(FIRST), thread(SECOND, used=False), thread(THIRD, used=False)]
    assert choose_conversation(threads, codex(), FIRST, yes, yes).unclear


def test_one_that_somebody_left_unused_is_not_ours_if_the_talk_went_on_elsewhere() -> None:
    """Ctrl-L empties the screen as well, and leaves the conversation as it is."""
    threads = [thread(FIRST, asked=start_time(SECOND) + 60), thread(SECOND, used=False)]
    assert choose_conversation(threads, codex(), FIRST, yes, yes).unclear


def test_the_newest_stays_ours_once_it_was_known() -> None:
    threads = [thread(FIRST), thread(SECOND)]
    assert choose_conversation(threads, codex(), SECOND, no, no) == ConversationChoice(SECOND)
    assert choose_conversation([*threads, thread(THIRD)], codex(), SECOND, no, no).unclear, (
        "it may have been cleared again"
    )
    assert choose_conversation(threads, codex(), FIRST, no, no).unclear


def test_the_only_one_needs_no_further_proof() -> None:
    others = [thread(OLD), thread(SECOND, cwd="/elsewhere"), thread(THIRD, hidden=True)]
    assert choose_conversation([thread(FIRST), *others], codex(), "", never, never) == ConversationChoice(FIRST)


def test_what_the_command_line_names_holds_until_another_is_begun() -> None:
    resumed = codex("resume", OLD)
    assert choose_conversation([thread(OLD)], resumed, "", never, never) == ConversationChoice(OLD)
    assert choose_conversation([thread(OLD), thread(SECOND, used=False)], resumed, OLD, yes, yes) == ConversationChoice(
        SECOND
    )
    assert choose_conversation([thread(OLD), thread(SECOND)], resumed, SECOND, no, no) == ConversationChoice(SECOND)
    unclear = choose_conversation([thread(OLD), thread(SECOND)], resumed, OLD, no, no)
    assert unclear == ConversationChoice(
        "", f"a conversation was begun in {CWD} since this Codex resumed {OLD}", unclear=True
    )


def test_a_fork_is_not_the_conversation_that_it_was_forked_from() -> None:
    assert choose_conversation(
        [thread(OLD), thread(FIRST)], codex("fork", OLD), "", never, never
    ) == ConversationChoice(FIRST)


def test_one_that_was_chosen_from_a_list_is_known_only_while_there_is_no_other() -> None:
    chosen = codex("resume", "--last")
    assert choose_conversation([thread(OLD)], chosen, "", never, never) == ConversationChoice(OLD)
    assert choose_conversation([thread(OLD), thread(FIRST)], chosen, "", no, no).unclear
    assert choose_conversation([thread(OLD), thread(FIRST, used=False)], chosen, OLD, yes, yes) == ConversationChoice(
        FIRST
    )


@pytest.mark.parametrize(
    ("cwd", "args", "works"),
    [
        (CWD, (), True),
        ("/elsewhere", (), False),
        ("/elsewhere", ("--cd", CWD), True),
        ("/elsewhere", (f"--cd={CWD}",), True),
        ("/home/dev", ("-C", "proj"), True),
        ("", (), True),  # unknown: it may be there
    ],
)
def test_who_works_in_a_directory(cwd: str, args: tuple[str, ...], *, works: bool) -> None:
    assert works_in(CWD, codex(*args)._replace(cwd=cwd)) == works
