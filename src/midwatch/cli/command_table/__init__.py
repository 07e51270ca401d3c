"""What each verb takes: the one table behind parsing, `--help` and completion.

An option is (flag, placeholder, help); without a placeholder it takes no value. Plain tuples, because building
anything richer would be paid for at every call.
"""

from midwatch.cli.command_table import (
    dialogs,
    history,
    jobs,
    registry,
    safeguards,
    sessions,
    swarm,
    system,
    watches,
)

VERBS = {
    **jobs.VERBS, **safeguards.VERBS, **watches.VERBS, **sessions.VERBS, **dialogs.VERBS, **swarm.VERBS,
    **registry.VERBS, **history.VERBS, **system.VERBS,
}  # fmt: skip
