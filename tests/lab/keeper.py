"""The process in which a lab lives: the first in its network namespace, and everything else is below it.

It brings loopback up, serves the model, runs the tmux server, and says `ready`. It adopts whatever detaches itself
(Codex's daemon does). When the lab closes its standard input, by will, by exception or by being killed, it ends
everything below itself and leaves; its exit code says whether nothing is left.
"""

from __future__ import annotations

import argparse
import ctypes
import fcntl
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

from tests.lab import processes
from tests.lab.server.__main__ import ModelServer
from tests.lab.server.journal import Journal

PORT = 8765
PATIENCE = 15.0
_SUBREAPER = 36
_CLEAR_AMBIENT = (47, 4)
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _UP = 0x8913, 0x8914, 1


def loopback_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        asked = struct.pack("16sH14x", b"lo", 0)
        flags = struct.unpack("16sH14x", fcntl.ioctl(control, _SIOCGIFFLAGS, asked))[1]
        fcntl.ioctl(control, _SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", flags | _UP))


def adopt_orphans() -> None:
    """Whatever detaches itself below us becomes our child; whatever we start has no powers in the namespace."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "cannot become a subreaper")
    if os.getuid():
        libc.prctl(*_CLEAR_AMBIENT, 0, 0, 0)


def serve(root: Path, *, bodies: bool) -> None:
    kept = root / "bodies" if bodies else None
    for directory in (root / "replies", kept):
        if directory:
            directory.mkdir(exist_ok=True)
    server = ModelServer(PORT, Journal(root / "journal.jsonl"), root / "replies", kept)
    threading.Thread(target=server.serve_forever, name="model", daemon=True).start()


def reap(until: float = 0.0) -> bool:
    """Collect ended children; whether some are left at the deadline."""
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return False
        if not pid:
            if time.monotonic() >= until:
                return True
            time.sleep(0.01)


def end_all() -> bool:
    """Kill everything below us, again and again, until nothing is left; whether that came true."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        for pid in processes.below(os.getpid()):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass  # ended by itself
        if not reap(time.monotonic() + 0.1):
            return True
    return False


def sockets(root: Path) -> set[str]:
    """Sockets of this lab outside of it: Codex has its daemon's in /tmp whatever TMPDIR says, and links to them."""
    links = root.glob("*/.codex/app-server-*/*.sock")
    linked = {os.readlink(link) for link in links if link.is_symlink()}
    # The kernel lists what is bound in this network, and a path is the last of eight columns.
    rows = [row.split(None, 7) for row in Path("/proc/self/net/unix").read_text(errors="surrogateescape").splitlines()]
    bound = {row[7] for row in rows if len(row) == 8 and row[7].startswith("/")}
    return {path for path in linked | bound if not Path(path).is_relative_to(root)}


def tidy(left: set[str]) -> None:
    for path in left:
        for name in (path, path + ".lock"):
            Path(name).unlink(missing_ok=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=Path)
    parser.add_argument("--bodies", action="store_true")
    parser.add_argument("--keep", action="store_true")
    asked = parser.parse_args()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    adopt_orphans()
    loopback_up()
    serve(asked.root, bodies=asked.bodies)
    tmux = ["tmux", "-D", "-S", str(asked.root / "tmux"), "-f", str(asked.root / "tmux.conf")]
    # The tmux server is cleaned of our ignored signals: children inherit those. And it does not hold our own output:
    # who reads that would wait for the server when we are no more.
    with open(asked.root / "tmux.log", "wb") as log:
        subprocess.Popen(
            tmux, cwd="/", stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            preexec_fn=_plain_signals,  # noqa: PLW1509
        )  # fmt: skip
    print("ready", os.readlink("/proc/self/ns/net"), flush=True)
    os.set_blocking(0, True)
    sys.stdin.buffer.read()
    left = sockets(asked.root)
    gone = end_all()
    tidy(left | sockets(asked.root))
    if not asked.keep:
        shutil.rmtree(asked.root, ignore_errors=True)
    for pid in processes.below(os.getpid()):
        print("left", pid, processes.command(pid), file=sys.stderr, flush=True)
    sys.exit(0 if gone else 1)


def _plain_signals() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


if __name__ == "__main__":
    main()
