"""A message between agents, or from one to a person: kept until somebody has read it."""

from __future__ import annotations

from dogwatch.model.value import Value

CONTROLLER = "controller"
"""To whom reports go, unless somebody else is named."""


class Mail(Value):
    """One message. Nothing of it ever changes; that it was read or acknowledged is written beside it."""

    id: str
    sender: str
    to: str
    subject: str
    topic: str
    """What several messages are about, in a word; empty: none."""
    thread: str
    """Id of the message that began it; its own for the first."""
    task: str
    """Id of the task that it is about; empty: none."""
    at: float
    """When it was sent; wall clock."""
    text: str
    read: bool = False
    acked: bool = False
