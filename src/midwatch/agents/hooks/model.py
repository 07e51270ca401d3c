"""How an agent is told to call Midwatch's hook."""

from __future__ import annotations

from midwatch.core.value import Value


class HookRules(Value):
    """Which of the agent's settings files names the hook, and for which events."""

    file: str
    """Below the directory of its settings."""
    events: tuple[str, ...] = ()
    """Empty for a file that is a plugin as a whole."""
    timeout: int = 0
    """In the agent's own unit."""
    plugin: str = ""
    """The file of the agent's folder that is put there instead."""
    note: str = ""
    """What a person must do besides."""
