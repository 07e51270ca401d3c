"""A message between agents, or from one to a person: kept until somebody has read it."""

from __future__ import annotations

from midwatch.core.foreign_text import NOTHING, ForeignText
from midwatch.core.value import Value

CONTROLLER = "controller"
"""To whom reports go, unless somebody else is named."""


class Mail(Value):
    """One message. Nothing of it ever changes; that it was read or acknowledged is written beside it.

    Its file may be anybody's work, so all of its words are foreign.
    """

    id: str
    sender: ForeignText
    to: ForeignText
    subject: ForeignText
    topic: ForeignText
    """What several messages are about, in a word; empty: none."""
    thread: str
    """Id of the message that began it; its own for the first."""
    task: ForeignText
    """Id of the task that it is about; empty: none."""
    at: float
    """When it was sent; wall clock."""
    text: ForeignText
    claims: ForeignText = NOTHING
    """Who it says that it is from, where that is not the sender: what a subject leaves in its drop box is its own."""
    read: bool = False
    acked: bool = False
