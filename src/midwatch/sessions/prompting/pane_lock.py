"""Who types into a pane: one at a time, whichever project it is called from."""

from __future__ import annotations

import hashlib
import os
from types import TracebackType

from midwatch.config import paths
from midwatch.core.errors import RefusedError
from midwatch.system import file_locks


class PaneLockedError(RefusedError):
    """Another types there."""


class PaneLock:
    """Held by one process while it types, and free when that has ended, however it did."""

    def __init__(self, socket: str, pane: str) -> None:
        digest = hashlib.sha256(os.path.realpath(socket).encode("utf-8", "surrogateescape")).hexdigest()[:16]
        self.pane = pane
        self.path = f"{paths.state_root()}/keyboards/{digest}-{pane[1:]}.lock"
        self._fd = -1

    def __enter__(self) -> None:
        """Raises HeldError while another types there, RefusedError where that cannot be known."""
        while not self._take():
            pass  # whoever held it has just removed the file that we have opened

    def _take(self) -> bool:
        try:
            paths.make_private(os.path.dirname(self.path))
            fd = file_locks.open_lock_file(self.path)
        except OSError as error:
            raise RefusedError(f"{self.path} cannot be made: {error.strerror}; mend that first") from error
        try:
            if not file_locks.try_lock(fd):
                os.close(fd)
                raise PaneLockedError(f"another `send` types into {self.pane} just now; try again when it is done")
            if os.fstat(fd).st_ino == os.stat(self.path).st_ino:
                self._fd = fd
                return True
        except FileNotFoundError:
            pass
        os.close(fd)
        return False

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.unlink(self.path)
        os.close(self._fd)
