"""Handing a specification, leases and a pipe to the program that a pane was opened with."""

from __future__ import annotations

import array
import contextlib
import marshal
import os
import select
import shutil
import socket
import struct
import sys
import tempfile
import time

from midwatch.core.errors import RefusedError
from midwatch.jobs import launch
from midwatch.system import procfs

LIMIT = 15.0
"""Seconds that a pane may take to come to the door."""
LONGEST = 90
"""Characters of the path of a socket that every kernel takes."""


class PaneHandover:
    """A socket for one visitor."""

    def __init__(self) -> None:
        self.directory = tempfile.mkdtemp(prefix="midwatch-")
        if len(self.directory) > LONGEST:
            os.rmdir(self.directory)
            self.directory = tempfile.mkdtemp(prefix="midwatch-", dir="/tmp")
        self.path = f"{self.directory}/door"
        self._listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._listening.bind(self.path)
            self._listening.listen(1)
        except OSError:
            self.close()
            raise

    def command(self) -> list[str]:
        """What a pane must run to come here."""
        return [sys.executable, *procfs.ENTERING, launch.ROOT, self.path]

    def hand(self, job: launch.JobSpec, lease: int, leases: list[int]) -> int:
        """Give everything to whoever comes; returns where its shim speaks. RefusedError when nobody does."""
        listening, control = os.pipe()
        try:
            with contextlib.closing(self._visitor()) as visitor:
                spec = launch.build_specification(job, -1, -1, (-1, -1, -1), tty=True)
                said = marshal.dumps((launch.shim_command(), launch.unmarked_environment(), spec))
                fds = array.array("i", [control, lease, *leases])
                sent = visitor.sendmsg([said], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])
                visitor.sendall(said[sent:])
        except BaseException:
            os.close(listening)
            raise
        finally:
            os.close(control)
        return listening

    def _visitor(self) -> socket.socket:
        deadline = time.monotonic() + LIMIT
        while select.select([self._listening], [], [], max(0.0, deadline - time.monotonic()))[0]:
            visitor, _ = self._listening.accept()
            _, uid, _ = struct.unpack("3i", visitor.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
            if uid == os.geteuid():
                return visitor
            visitor.close()
        raise RefusedError(f"the pane was opened, but its program did not start within {LIMIT:g} s")

    def close(self) -> None:
        self._listening.close()
        shutil.rmtree(self.directory, ignore_errors=True)
