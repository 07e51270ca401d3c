"""Which conversation of a Codex is the one in its pane, also after `/clear` and `/new`.

The daemon does not tell which pane shows which conversation. After `/clear` it has two of the same Codex, and the first
stays loaded for half an hour, as does one whose pane was closed. Codex begins the second at once, so the unused one is
the pane's if its screen is empty and no other Codex works in that directory. Else it is not known.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable

from midwatch.agents.codex.files import open_files, rollout_id
from midwatch.core.pane_model import RunningAgent
from midwatch.core.value import Value
from midwatch.system import procfs

YOUNGER = 0.1
"""Seconds by which a conversation may seem older than the Codex that began it."""
CONVERSATION = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
LOCKS, LOCK = "/thread-writer-locks", ".lock"
"""Where Codex has a lock for each conversation, and how its name ends."""


class CodexThread(Value):
    """A conversation. But for its use, nothing of it changes."""

    id: str
    cwd: str
    path: str
    """Its transcript."""
    begun: float
    hidden: bool
    """Nobody sees it: it finds a title, or belongs to a sub-agent."""
    used: bool = True
    """It has a prompt."""
    asked: float = 0.0
    """When it had its last prompt, in whole seconds."""


class ConversationChoice(Value):
    """Which conversation is in a pane, or why that cannot be told."""

    id: str = ""
    trouble: str = ""
    unclear: bool = False
    """It may be one of several."""


def never() -> bool:
    return False


def works_in(directory: str, running: RunningAgent) -> bool:
    """Whether a Codex works in a directory: it was started there, or an option such as `--cd` names it."""
    words = (word.rpartition("=")[2] for word in running.args)
    named = (os.path.realpath(os.path.join(running.cwd, word)) for word in words if "\0" not in word)
    return not running.cwd or running.cwd == directory or os.path.realpath(directory) in named


def choose_conversation(
    threads: list[CodexThread],
    running: RunningAgent,
    before: str = "",
    blank: Callable[[], bool] = never,
    alone: Callable[[], bool] = never,
) -> ConversationChoice:
    """Which of the daemon's conversations is the one in a pane.

    ``before`` is the one that this process was last known to have. ``blank``: its screen shows an empty conversation
    (Ctrl-L does the same to one that goes on). ``alone``: no other Codex works in that directory.
    """
    resumes = "resume" in running.args
    named = next((each for each in running.args if CONVERSATION.fullmatch(each)), "") if resumes else ""
    here = [each for each in threads if each.cwd == running.cwd and not each.hidden]
    new = [each for each in here if each.begun >= running.started - YOUNGER]
    if named and not new:
        return ConversationChoice(named)
    possible = here if resumes and not named else new
    if len(possible) == 1 and not named:
        return ConversationChoice(possible[0].id)
    cleared = _conversation_after_clear(new, here)
    if cleared and blank() and alone():
        return ConversationChoice(cleared)
    if before and before == max([each.id for each in new], default=""):  # such ids sort by the time of their beginning
        return ConversationChoice(before)
    if named:
        trouble = f"a conversation was begun in {running.cwd} since this Codex resumed {named}"
        return ConversationChoice("", trouble, unclear=True)
    if new:
        trouble = f"{len(possible)} conversations were begun in {running.cwd} since this Codex was started"
        return ConversationChoice("", trouble, unclear=True)
    return ConversationChoice(
        "", f"what runs in {running.cwd} is older than this Codex and may be another's" if here else ""
    )


def _conversation_after_clear(new: list[CodexThread], here: list[CodexThread]) -> str:
    """The only unused conversation, if no other one in that directory was used since it was begun; else empty."""
    unused = [each for each in new if not each.used]
    if len(unused) != 1 or any(each.used and each.asked > unused[0].begun for each in here):
        return ""
    return unused[0].id


def start_time(conversation: str) -> float:
    """When a conversation was begun: its id is a UUID of version 7. What the daemon says is now, until it is saved."""
    return int(conversation[:8] + conversation[9:13], 16) / 1000 if CONVERSATION.fullmatch(conversation) else 0.0


def unused_conversation(running: RunningAgent) -> str:
    """The last of several conversations that a Codex without a daemon has begun, while it has no prompt; else empty.

    Codex locks each conversation when it begins, and opens its rollout with its first prompt.
    """
    if running.agent != "codex" or procfs.start_time(running.pid) != running.start:
        return ""
    names = [os.path.split(path) for pid in (running.pid, *procfs.children(running.pid)) for path in open_files(pid)]
    locked = {name.removesuffix(LOCK) for directory, name in names if directory.endswith(LOCKS)}
    last = max(locked, default="")  # such ids sort by the time of their beginning
    return "" if len(locked) < 2 or last in {rollout_id(name) for _, name in names} else last  # noqa: PLR2004
