"""What each verb takes: the one table behind parsing, `--help` and completion.

An option is (flag, placeholder, help); without a placeholder it takes no value. Plain tuples, because building
anything richer would be paid for at every call.
"""

from dogwatch.cli.verbs import guards, history, jobs, registry, sessions, system

VERBS = {**jobs.VERBS, **guards.VERBS, **sessions.VERBS, **registry.VERBS, **history.VERBS, **system.VERBS}
