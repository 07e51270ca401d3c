"""A real shell on a terminal of its own, in which a test types; what it runs in the end is written down."""

import contextlib
import os
import pty
import select
import signal
import sys
import time

from tests.conftest import PATIENCE, Box, tool, until, until_gone

STUB = """#!/bin/sh
# Completes like the real one; any other call is only written down.
case $1 in _complete | completion) exec {python} -m midwatch "$@" ;; esac
printf '%s\\n' "$@" >{told}.new
mv {told}.new {told}
"""
STARTS = {
    "bash": ("bash", "--norc", "--noprofile", "-i"),
    "zsh": ("zsh", "-f", "-i"),
    "fish": ("fish", "--no-config", "-i"),
}
LOADS = {
    "bash": 'eval "$(midwatch completion bash)"',
    "zsh": 'autoload -Uz compinit; compinit -D -u; eval "$(midwatch completion zsh)"',
    "fish": "midwatch completion fish | source",
}


class Shell:
    def __init__(self, kind: str, box: Box) -> None:
        program = tool(STARTS[kind][0])
        self.box, self.told = box, box.cwd / "told"
        commands = box.cwd / "bin"
        commands.mkdir(exist_ok=True)
        (commands / "midwatch").write_text(STUB.format(python=sys.executable, told=self.told))
        (commands / "quaintly-named").write_text("#!/bin/sh\n")
        for command in commands.iterdir():
            command.chmod(0o755)
        env = box.env | {"PATH": f"{commands}:{box.env['PATH']}", "TERM": "xterm", "HISTFILE": "/dev/null"}
        self.seen = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            try:
                os.chdir(box.cwd)
                os.execve(program, STARTS[kind], env)
            finally:
                os._exit(127)
        self.type(f"{LOADS[kind]}\r")
        self.type("echo RE''ADY\r")
        self.until(b"READY")

    def type(self, text: str) -> None:
        os.write(self.fd, text.encode())

    def until(self, text: bytes) -> None:
        deadline = time.monotonic() + PATIENCE
        while text not in self.seen:
            ready, _, _ = select.select([self.fd], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, f"the shell did not say {text!r}, but {self.seen!r}"
            self.seen += os.read(self.fd, 65536)
        self.seen = self.seen.partition(text)[2]

    def run(self, typed: str) -> list[str]:
        """Type a line, with tabs in it, and return what was called with which words."""
        self.told.unlink(missing_ok=True)
        self.type(f"{typed}\r")
        until(self.told.exists, self.box.cwd)
        return self.told.read_text().splitlines()

    def end(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        until_gone(self.pid)
        os.waitpid(self.pid, 0)
        os.close(self.fd)
