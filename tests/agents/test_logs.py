"""The log of a real agent's session: it reads as a person read the screen."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from midwatch.tmux.pane_log_filter import LIMIT
from tests.agents.conftest import each, need
from tests.agents.sessions import SLOW, Spawned
from tests.lab.lab import Lab

QUESTIONS = {
    "claude": ("This command requires approval", "Do you want to proceed?"),
    "codex": ("Would you like to run the following command?", "Press enter to confirm or esc to cancel"),
    "opencode": ("Permission required", "Allow once"),
}
KNOWN = [pytest.param(one.values[0], id=one.id, marks=one.marks) for one in each(previous=False) if one.id in QUESTIONS]
FINDINGS = [f"Finding {number}: the answer has words enough to fill a part of the row." for number in range(1, 31)]


@pytest.fixture
def home(lab: Lab) -> Iterator[Lab]:
    """A lab whose tmux server outlives its sessions."""
    lab.tmux("new-session", "-d", "-s", "keep", "sleep 3600")
    yield lab
    lab.tmux("kill-session", "-t", "=keep")


@pytest.mark.parametrize("agent", KNOWN)
def test_questions_and_answers_are_in_the_log_as_they_were_read(home: Lab, agent: str) -> None:
    need(agent)
    home.say("findings", "\n\n".join(FINDINGS))
    session = Spawned(home, agent)
    session.spawn("go [[bash !python3 -c 1]] [[think 2]]+[[say findings 8]]")
    session.until(QUESTIONS[agent][-1], SLOW)
    session.until(lambda _: all(words in log(session) for words in QUESTIONS[agent]), what="the question in the log")
    session.answer("Enter")
    session.until(lambda _: FINDINGS[-1] in log(session), SLOW, what="the last line in the log")
    lines = log(session).splitlines()
    found = [line for line in lines if "Finding" in line]
    assert [line[line.index("Finding") :] for line in found] == FINDINGS
    for words in QUESTIONS[agent]:
        assert len([line for line in lines if words in line]) == 1, "\n".join(lines)
    assert len("\n".join(lines)) < LIMIT // 100


def log(session: Spawned) -> str:
    return session.call("logs", session.name).stdout
