"""The environment that a program of others gets from us: all of ours but our secrets. A leaf of the shim.

Programs of others are jobs, agents, tmux, trackers, verifiers, checks and notification commands. Our own processes
beside the work (`_deliver`) may keep a secret: they log in at the broker with it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

SECRETS = {"MIDWATCH_MQTT_PASSWORD"}
"""Variables that hold a secret of ours. A settings file that names another (`password_env`) adds it."""


def without_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """The same variables but for our secrets."""
    return {name: value for name, value in environment.items() if name not in SECRETS}
