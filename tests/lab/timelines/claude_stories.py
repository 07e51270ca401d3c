"""What is done with Claude Code alone while it is recorded: what other agents do not have."""

from __future__ import annotations

import time

from tests.lab.pane import AgentPane
from tests.lab.timelines import Tape
from tests.lab.timelines.stories import REST, Story, ended, escape, send, stand, written

JOB = (
    '{"description":"a job","subagent_type":"general-purpose",'
    '"prompt":"((bash touch began; sleep 8; touch over)) ((text the job is done))"}'
)
FREE = {"permissions": {"allow": ["Bash", "Agent", "Task"]}}


def delegated(pane: AgentPane, tape: Tape) -> None:
    """A sub-agent in the background: the turn goes on when it comes back, so it has not ended before."""
    send(pane, tape, f"go [[tool Agent {JOB}]] [[text I wait for it.]]")
    tape.true(written(pane.cwd / "began", pane), "working", "tool", "file: the sub-agent's tool began")
    over = written(pane.cwd / "over", pane)

    def answered() -> list[float]:
        return [
            each["t"] for each in pane.journal() if each["event"] == "ended" and each.get("main") and each["t"] > over
        ]

    pane.until(lambda _: len(answered()) == 2, 90, what="the answers to the sub-agent and to the one that sent it")
    tape.true(answered()[1], "idle", "turn-ended", "server: answered the one that sent the sub-agent")
    stand(REST)


def limited(pane: AgentPane, tape: Tape) -> None:
    """The plan's limit: at rest, and limited; then no more meaning to continue, and limited all the same."""
    after = send(pane, tape, "go [[limit 4000]]")
    error = pane.until_model("error", main=True, after=after)
    tape.true(error["t"], "limited", "plan", "server: refused by the limit of the plan, for more than an hour")
    stand(2 * REST)
    pane.keys("Escape")
    stand(2 * REST)


def asked(pane: AgentPane, tape: Tape) -> None:
    after = send(pane, tape, "go [[ask How shall it be called? | Alpha | Beta]]")
    called = pane.until_model("ended", main=True, after=after)
    tape.true(called["t"], "", "", "server: called the tool that asks; the agent has not asked yet")
    pane.until("Chat about this|Type something")
    tape.true(time.time(), "waiting", "question", "driver: the question is up")
    stand(REST)
    tape.true(time.time(), "", "", "driver: pressed Esc; the agent has not taken it yet")
    pane.keys("Escape")
    pane.until("User declined|Declined to answer")
    tape.true(time.time(), "idle", "interrupted", "driver: Esc declined the question")
    stand(REST)


def unsent(pane: AgentPane, tape: Tape) -> None:
    """Esc before the first word, below a turn that ended well."""
    after = send(pane, tape, "go [[text All of it is fine.]]")
    ended(pane, tape, after)
    stand(REST)
    send(pane, tape, "again [[hang]]")
    stand(REST)
    escape(pane, tape)


def covered(pane: AgentPane, tape: Tape) -> None:
    """What a person opens over the work changes nothing of it."""
    send(pane, tape, "go [[slow 90]]")
    stand(REST)
    for opens, closes in (("/", "BSpace"), ("C-o", "C-o"), ("C-r", "Escape")):
        pane.keys(opens)
        stand(REST)
        pane.keys(closes)
        stand(1.0)


OWN = {
    "delegated": Story(delegated, {"settings": FREE}),
    "limited": Story(limited, {"oauth": True}),
    "asked": Story(asked),
    "unsent": Story(unsent),
    "covered": Story(covered),
}
