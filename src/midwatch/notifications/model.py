"""What somebody is told of a subject, and what is remembered so that it is told once."""

from __future__ import annotations

from midwatch.core.value import Value


class ChangeSubject(Value):
    """Whom a verdict is about, beyond its name."""

    run: str = ""
    """The run of a job; of an agent that we did not start, its pid and start time."""
    agent: str = ""
    """Of a session: the agent's name."""
    pane: str = ""
    where: str = ""
    """Of a session: where it works, in a word."""
    session: str = ""
    """The name that people know the session by."""
    attach: str = ""
    """The command that shows the session."""
    server: tuple[str, ...] = ()
    """The arguments by which tmux reaches the server of a pane that is not ours."""
    ours: bool = False
    """It is a session of ours, which `midwatch attach` shows."""


class Change(Value):
    """What became of a subject at one look."""

    name: str
    about: ChangeSubject
    state: str
    final: bool
    reason: str
    following: str
    """What to do next."""
    at: float
    """Monotonic moment of the look, of the boot named beside it."""
    boot: str
    wall: float
    project: str
    """The directory whose settings say who is told."""
    since: float | None = None
    """Monotonic moment from which on it is so, where that is known."""
    cause: str = ""
    until: str = ""
    """When a limit ends."""
    message: str = ""
    """What the agent itself says of it, on one line."""
    goes_on: bool = False
    """It is final for whoever watched, but there is still something that may end, wait or fail."""
    planned: bool = False
    """Of a limit: something continues the work when it is over."""
    began: float = 0.0
    """Since when it is so (wall); 0: not known."""


class NotificationState(Value):
    """What has been told of one run of a subject."""

    state: str = ""
    final: bool = False
    """Nothing more can become of this run."""
    open: bool = False
    """It was still so when somebody last looked."""
    at: float = -1.0
    """Monotonic moment of the look at which this was so, of the boot named beside it."""
    boot: str = ""
    number: int = 0
    """How many changes were told so far."""
    planned: bool = False
    cause: str = ""
    began: float = 0.0
    """Since when that state held (wall)."""


class SentAt(Value):
    """The moment of a delivery."""

    at: float = 0.0
    """Monotonic, of the boot named beside it."""
    boot: str = ""


class Notification(Value):
    """One change on its way through one channel; after its delivery the reminder of it; or a digest of several."""

    id: str
    name: str
    run: str
    fields: dict[str, str]
    """What templates may use: text, name, state …"""
    channel: str
    """Which channel, without what is secret of it: its kind, and a few digits of a hash."""
    project: str
    filed: float
    """Wall clock, as all times here: it may take another boot to deliver it."""
    tries: int = 0
    again: float = 0.0
    """When to try again."""
    trouble: str = ""
    """Why it could not be delivered yet."""
    number: int = 0
    """Which change of its run it reports (`NotificationState.number`). Delivered once that is recorded; 0: at once."""
    kind: str = "change"
    """`change`, `reminder` or `digest`."""
    began: float = 0.0
    """Since when it is so (wall); 0: since it was filed."""
    sent: SentAt = SentAt()
    """Of a reminder: when the change itself was delivered."""
    server: tuple[str, ...] = ()
    """As in `ChangeSubject`."""
    members: tuple[str, ...] = ()
    """Of a digest: kind and id of each that it lists."""
