"""What one must know who wants to type into an agent's pane, and what became of it."""

from __future__ import annotations

from midwatch.core.value import Value

EMPTY, DRAFT, UNSEEN = "empty", "draft", "unseen"
"""States of a box: nothing is typed there, something is, it is not on the screen or nobody knows how it looks."""


class PromptOutcome:
    """What became of a prompt, in a word."""

    DELIVERED = "delivered"
    """The agent itself has told that it has it."""
    UNPROVEN = "unproven"
    """It is gone from the box, and nobody has told more."""
    NOT_TAKEN = "not_taken"
    INTERRUPTED = "interrupted"
    """We were asked to leave off."""

    STARTING = "starting"
    """No prompt is to be seen, or not yet."""
    WORKING = "working"
    PERSON = "person"
    """Somebody else types there, or keys would go elsewhere."""
    UNKNOWN = "unknown"
    """The tmux server does not tell."""

    WAITING = "waiting"
    """For a person: a dialog is open, or it is suspended."""
    LIMITED = "limited"
    EXITED = "exited"
    """The agent, its pane or its server is gone."""
    DRAFT = "draft"
    """Something stands in its box that is not ours."""
    REFUSED = "refused"
    """Its pane or its kind is one that nothing can be typed to."""

    PASSING = (STARTING, WORKING, PERSON, UNKNOWN)
    """Those that may pass without anybody's doing; whoever has time can wait for it."""


class InputBox(Value):
    """Where a prompt is typed."""

    state: str
    text: str = ""
    """What stands there, without its frame."""


class PromptRefusal(Value):
    """Why nothing is typed, or not sent."""

    outcome: str
    reason: str
    detail: str = ""
    """For what the agent waits: trust, login, permission … as in a verdict."""


class PromptResult(Value):
    """What became of a prompt."""

    outcome: str
    reason: str
    agent: str = ""
    detail: str = ""
    proof: str = ""
    """How it is known: transcript, hook, state; screen only shows that it is gone from the box."""
    typed: bool = False
    left: bool = False
    """Something of ours may still stand in the box."""

    @property
    def delivered(self) -> bool:
        """The agent itself has told that it has the prompt."""
        return self.outcome == PromptOutcome.DELIVERED

    @property
    def submitted(self) -> bool:
        """At least it no longer stands in the box: whoever sends it again may send it twice."""
        return self.outcome in (PromptOutcome.DELIVERED, PromptOutcome.UNPROVEN)
