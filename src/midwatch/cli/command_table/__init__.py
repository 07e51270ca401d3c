"""What each verb takes: the one table behind parsing, `--help` and completion.

An option is (flag, placeholder, help); without a placeholder it takes no value. Plain tuples, because building
anything richer would be paid for at every call. `more` is filled to the width of the screen: an empty line begins a
paragraph, other line ends count as blanks. The title of a module is the group of its verbs in the help.
All groups are loaded only where all are needed: `wait` and `ls` are in the first.
"""

ALIASES = {
    "ps": ("ls",), "status": ("ls",), "kill": ("stop",), "follow": ("logs", "-f"), "rm": ("clean",),
}  # fmt: skip
"""Other words that people type, and what they stand for."""
TYPE_CHECKING = False
if TYPE_CHECKING:
    GROUPS: tuple[tuple[str, dict[str, dict[str, object]]], ...]
    """In the order in which people read them."""
    VERBS: dict[str, dict[str, object]]


def find_verb(verb: str) -> dict[str, object] | None:
    """What a verb takes; None where there is none."""
    from midwatch.cli.command_table import jobs

    return jobs.VERBS.get(verb) or _load_groups()[1].get(verb)


def __getattr__(name: str) -> object:
    """GROUPS and VERBS, once somebody asks for them."""
    if name not in ("GROUPS", "VERBS"):
        raise AttributeError(name)
    globals()["GROUPS"], globals()["VERBS"] = _load_groups()
    return globals()[name]


def _load_groups() -> "tuple[tuple[tuple[str, dict[str, dict[str, object]]], ...], dict[str, dict[str, object]]]":
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

    # In the order in which people read them; those with the same title are one group.
    modules = (jobs, watches, sessions, dialogs, swarm, registry, steps, safeguards, history, system)
    groups: dict[str, dict[str, dict[str, object]]] = {module.TITLE: {} for module in modules}
    for module in modules:
        groups[module.TITLE] |= module.VERBS
    return tuple(groups.items()), {verb: about for verbs in groups.values() for verb, about in verbs.items()}
