"""What checks before work find: the facts that observers read, and the finding made of each."""

from __future__ import annotations

from midwatch.core.value import Value


class Finding(Value):
    """One thing that was looked at. There is no third answer: what could not be found out has not passed."""

    name: str
    kind: str
    """Of settings.CHECKS."""
    ok: bool
    says: str
    fix: str = ""
    """The shell command that the settings give to mend it; `--fix` runs nothing else."""
    advice: str = ""
    """What a person can do, in words."""
    source: str = ""
    """The file and line that asked for it; empty for those that are built in."""
    ran: bool = True
    """False: it could not be carried out (no time, no permission, no trust), so nothing is known."""


class AddressReply(Value):
    """How an address answered."""

    status: int
    """HTTP's (a bare connection counts as 200); 0 where no answer came."""
    says: str


class DiskSpace(Value):
    free: int
    """Bytes that a plain user may write."""
    names_left: bool
    """Whether another file may be made: a disk can run out of names before it is full."""
    read_only: bool


class InterpreterReply(Value):
    """What an environment's own interpreter says of itself, of a module or of a package."""

    error: str
    """Why it has no answer; empty when it has."""
    python: str = ""
    prefix: str = ""
    """The environment that it believes to be in."""
    version: str = ""
    """Of the package, from its metadata."""
    place: str = ""
    """The file that the module comes from; of a package without a module of its own empty."""
    whole: bool = True
    """The module has a file of its own: it is no mere directory, which anybody may have left behind."""
    recorded: bool = True
    """The package has metadata."""
