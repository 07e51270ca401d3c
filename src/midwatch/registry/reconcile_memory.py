"""What a reconciler has reported, in memory and in its state file, which other reconcilers of the list share.

If the file cannot be written, the drifts are reported all the same; the next process may report them once more.
"""

from __future__ import annotations

import time

from midwatch.core.errors import RefusedError
from midwatch.registry import reconcile_state_store as states
from midwatch.registry.codec import reconcile_state
from midwatch.registry.codec.reconcile_state import ReconcileRecord
from midwatch.registry.model import Drift
from midwatch.system import procfs

BELIEVED = 30.0
"""Seconds for which another process is believed that a session is missing: meanwhile it may have come and gone."""


class ReconcileState:
    def __init__(self, registry_path: str) -> None:
        self.path = states.state_path(registry_path)
        self.state = states.read_state(self.path)
        self._saved = True

    def missed(self) -> dict[str, float]:
        """Since when sessions are missing, as a process saw it that has ended or was interrupted."""
        now = time.monotonic()
        if self.state.boot != procfs.boot_id():
            return {}
        return {mark: since for mark, since in self.state.missing.items() if 0 <= now - since <= BELIEVED}

    def knows(self, drift: Drift) -> bool:
        """Whether the drift was reported before, as it is now."""
        return self.state.told.get(reconcile_state.format_mark(drift)) == reconcile_state.digest_drift(drift)

    def learn(self) -> None:
        """Take over what other processes have reported since."""
        self.state = self.state._replace(told={**states.read_state(self.path).told, **self.state.told})

    def save(self, state: ReconcileRecord) -> str:
        """Remember this. Returns why the file could not be written; it is tried again the next time."""
        if state == self.state and self._saved:
            return ""
        self.state, self._saved = state, False
        try:
            states.write_state(self.path, state)
        except RefusedError as error:
            return str(error)
        self._saved = True
        return ""
