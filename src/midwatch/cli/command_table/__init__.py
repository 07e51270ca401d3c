"""What each verb takes: the one table behind parsing, `--help` and completion.

An option is (flag, placeholder, help); without a placeholder it takes no value. Plain tuples, because building
anything richer would be paid for at every call. `more` is filled to the width of the screen: an empty line begins a
paragraph, other line ends count as blanks. The title of a module is the group of its verbs in the help.
"""

from midwatch.cli.command_table import (
    dialogs,
    history,
    jobs,
    registry,
    safeguards,
    sessions,
    steps,
    swarm,
    system,
    watches,
)

MODULES = (jobs, watches, sessions, dialogs, swarm, registry, steps, safeguards, history, system)
"""In the order in which people read them; those with the same title are one group."""
TITLES = tuple(dict.fromkeys([module.TITLE for module in MODULES]))
GROUPS: tuple[tuple[str, dict[str, dict[str, object]]], ...] = tuple([
    (title, {verb: about for module in MODULES if title == module.TITLE for verb, about in module.VERBS.items()})
    for title in TITLES
])  # fmt: skip
VERBS = {verb: about for _, verbs in GROUPS for verb, about in verbs.items()}
ALIASES = {
    "ps": ("ls",), "status": ("ls",), "kill": ("stop",), "follow": ("logs", "-f"), "rm": ("clean",),
}  # fmt: skip
"""Other words that people type, and what they stand for."""
