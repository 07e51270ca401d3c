"""How an agent is started, resumed and run without a terminal: what its file says, and the command line that gives."""

from __future__ import annotations

from midwatch.core.value import Value

CONVERSATION, MODEL, PROMPT = "{conversation}", "{model}", "{prompt}"


class LaunchRules(Value):
    """Parts of a command line. Where an id or a model belongs, `{conversation}` or `{model}` stands."""

    command: tuple[str, ...]
    model: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    """Begins a conversation under an id of our choice; empty where the agent chooses."""
    resume: tuple[str, ...] = ()
    headless: tuple[str, ...] = ()
    """Without a terminal: the prompt on standard input, events on standard output as they happen."""
    plain: tuple[str, ...] = ()
    """Without a terminal: the prompt as the last word, the answer as text on standard output."""
    daemons: tuple[str, ...] = ()
    """In the command lines of processes that it starts for all its sessions: not to be ended with one of them."""
    without: tuple[str, ...] = ()
    """Variables that an agent of the same kind leaves to what it starts, and that would make this one another."""
    goodbye: tuple[str, ...] = ()
    """How to resume, as the agent itself prints it when it ends, where it words that otherwise."""


def start_options(start: LaunchRules, model: str, more: tuple[str, ...]) -> tuple[str, ...]:
    """What a person asked for: it holds for a resumed conversation as well."""
    return (*_fill_placeholder(start.model if model else (), MODEL, model), *more)


def begin_command(
    start: LaunchRules, conversation: str, given: tuple[str, ...], *, headless: bool = False
) -> list[str]:
    """Starts a new conversation, under an id if one is given."""
    named = _fill_placeholder(start.named if conversation else (), CONVERSATION, conversation)
    return [*start.command, *(start.headless if headless else ()), *named, *given]


def resume_command(start: LaunchRules, conversation: str, given: tuple[str, ...]) -> list[str]:
    """Goes on with exactly that conversation."""
    return [*start.command, *_fill_placeholder(start.resume, CONVERSATION, conversation), *given]


def program_words(start: LaunchRules, args: tuple[str, ...]) -> tuple[str, ...]:
    """What runs on a command line, up to the agent's program; nothing where that does not stand there."""
    found = next((at for at, word in enumerate(args) if word.rpartition("/")[2] == start.command[0]), None)
    return () if found is None else args[: found + 1]


def find_options(start: LaunchRules, args: tuple[str, ...], prompt: str) -> tuple[str, ...] | None:
    """What a running agent was given, from its command line; None where that does not tell.

    `{prompt}` stands where the prompt stood, which is known by what it says; its conversation is left out.
    """
    rest = args[len(program_words(start, args)) :]
    if rest == args or not prompt or rest.count(prompt) != 1:
        return None
    words = [PROMPT if word == prompt else word for word in rest]
    for parts in (start.named, start.resume):
        while parts and parts[0] in words:
            at = words.index(parts[0])
            del words[at : at + len(parts)]
    return tuple(words)


def continue_command(
    start: LaunchRules, program: tuple[str, ...], conversation: str, given: tuple[str, ...], prompt: str
) -> list[str]:
    """Goes on with a conversation, or begins one if it is empty. ``given`` as `find_options` tells.

    ``program`` counts where it is a path: the shell that found it may have known it by another name.
    """
    which = _fill_placeholder(start.resume, CONVERSATION, conversation) if conversation else ()
    command = program if program and program[-1].startswith("/") else start.command
    return [*command, *which, *(prompt if word == PROMPT else word for word in given)]


def default_options(start: LaunchRules, model: str) -> tuple[str, ...]:
    """The same for an agent whose command line nobody has seen."""
    return (*start.plain, *start_options(start, model, ()), PROMPT)


def _fill_placeholder(parts: tuple[str, ...], sign: str, value: str) -> tuple[str, ...]:
    return tuple(part.replace(sign, value) for part in parts)
