"""How an agent is started, resumed and run without a terminal: what its file says, and the command line that gives."""

from __future__ import annotations

from dogwatch.model.value import Value

CONVERSATION, MODEL = "{conversation}", "{model}"


class Starting(Value):
    """Parts of a command line. Where an id or a model belongs, `{conversation}` or `{model}` stands."""

    command: tuple[str, ...]
    model: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    """Begins a conversation under an id of our choice; empty where the agent chooses."""
    resume: tuple[str, ...] = ()
    headless: tuple[str, ...] = ()
    """Without a terminal: the prompt on standard input, events on standard output as they happen."""
    daemons: tuple[str, ...] = ()
    """In the command lines of processes that it starts for all its sessions: not to be ended with one of them."""
    without: tuple[str, ...] = ()
    """Variables that an agent of the same kind leaves to what it starts, and that would make this one another."""
    goodbye: tuple[str, ...] = ()
    """How to resume, as the agent itself prints it when it ends, where it words that otherwise."""


def options(start: Starting, model: str, more: tuple[str, ...]) -> tuple[str, ...]:
    """What a person asked for: it holds for a resumed conversation as well."""
    return (*_filled(start.model if model else (), MODEL, model), *more)


def begin(start: Starting, conversation: str, given: tuple[str, ...], *, headless: bool = False) -> list[str]:
    """Starts a new conversation, under an id if one is given."""
    named = _filled(start.named if conversation else (), CONVERSATION, conversation)
    return [*start.command, *(start.headless if headless else ()), *named, *given]


def resume(start: Starting, conversation: str, given: tuple[str, ...]) -> list[str]:
    """Goes on with exactly that conversation."""
    return [*start.command, *_filled(start.resume, CONVERSATION, conversation), *given]


def _filled(parts: tuple[str, ...], sign: str, value: str) -> tuple[str, ...]:
    return tuple(part.replace(sign, value) for part in parts)
