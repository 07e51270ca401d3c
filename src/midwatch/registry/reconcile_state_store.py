"""The state file of a reconciler: ``.cache/tmux-agent-orchestrate-monitor/<workspace>.state`` in the workspace.

That is where the system before this one kept it; AGENT_SESSIONS_STATE_DIR names another directory.
"""

from __future__ import annotations

import os

from midwatch.core.errors import RefusedError
from midwatch.registry import store as registry_store
from midwatch.registry.codec import reconcile_state
from midwatch.registry.codec.reconcile_state import ReconcileRecord
from midwatch.system.atomic_files import read_plain, write_atomic

LARGEST = 16 << 20
USUAL = ".cache/tmux-agent-orchestrate-monitor"


def state_path(registry_path: str) -> str:
    """One file per registry: its workspace's name, and that of the list where it is not the usual one."""
    workspace = registry_store.registry_workspace(registry_path)
    directory = os.environ.get("AGENT_SESSIONS_STATE_DIR") or f"{workspace}/{USUAL}"
    file = os.path.basename(registry_path)
    odd = "" if file in ("agent-sessions.yaml", "midwatch-sessions.yaml") else f".{file}"
    return f"{os.path.abspath(directory)}/{os.path.basename(workspace) or 'root'}{odd}.state"


def read_state(path: str) -> ReconcileRecord:
    try:
        return reconcile_state.decode_state(read_plain(path, LARGEST, follow=True).decode("utf-8", "replace"))
    except OSError:
        return ReconcileRecord()


def write_state(path: str, state: ReconcileRecord) -> None:
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        write_atomic(path, reconcile_state.encode_state(state))
    except OSError as error:
        raise RefusedError(
            f"{path} cannot be written: {error.strerror}; what was told is not remembered. "
            "AGENT_SESSIONS_STATE_DIR names another directory"
        ) from error
