"""The only place that runs git. The repository may be hostile: its configuration must start no program.

Many settings of a repository name a program: signatures, pagers, hooks, the file monitor, filters, drivers of diffs,
transports. So only plumbing is asked that reads commits and neither index nor work tree, since filters have any name
and cannot all be switched off. What else could start a program is switched off besides, on the command line and in the
environment, which outweigh every file. The user's own files are read as ever: `safe.directory` is honoured.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import time

from midwatch.core.text import in_words
from midwatch.core.value import Value
from midwatch.core.visible import visible

LIMIT = 60.0
"""Seconds that a question may take."""
LARGEST = 1 << 16
"""Bytes of an answer."""
MERCY = 1.0
SHOWN = 120
"""Characters of what git said that are told on."""
NOTHING = "/bin/false"
OFF = {
    "core.hooksPath": "/dev/null", "core.fsmonitor": "false", "core.pager": "cat", "core.editor": NOTHING,
    "core.askPass": NOTHING, "core.sshCommand": NOTHING, "core.gitProxy": NOTHING, "core.alternateRefsCommand": NOTHING,
    "core.attributesFile": "/dev/null", "credential.helper": "", "diff.external": "", "log.showSignature": "false",
    "gpg.program": NOTHING, "gpg.openpgp.program": NOTHING, "gpg.x509.program": NOTHING, "gpg.ssh.program": NOTHING,
    "protocol.allow": "never", "submodule.recurse": "false",
}  # fmt: skip
"""Settings that start programs, as they are here."""
FIXED = {
    "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none", "GIT_NO_REPLACE_OBJECTS": "1", "GIT_ATTR_NOSYSTEM": "1",
    "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": NOTHING, "SSH_ASKPASS": NOTHING,
    "GIT_SSH_COMMAND": NOTHING, "GIT_PAGER": "cat", "GIT_EDITOR": NOTHING, "LC_ALL": "C",
}  # fmt: skip
"""``GIT_ALLOW_PROTOCOL`` outweighs ``protocol.<name>.allow`` of a repository. Old versions fetch what is missing."""
TRACES = (
    "GIT_TRACE", "GIT_TRACE_CURL", "GIT_TRACE_FSMONITOR", "GIT_TRACE_PACK_ACCESS", "GIT_TRACE_PACKET",
    "GIT_TRACE_PACKFILE", "GIT_TRACE_PERFORMANCE", "GIT_TRACE_REFS", "GIT_TRACE_SETUP", "GIT_TRACE_SHALLOW",
    "GIT_TRACE2", "GIT_TRACE2_EVENT", "GIT_TRACE2_PERF",
)  # fmt: skip
"""What makes git write files about its own work. The last three outweigh ``trace2.*`` of any settings file."""
KEPT = ("HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "SUDO_UID")
"""Where the user's own settings are, and who the user is; nothing that a hook of git has set for its children."""


class GitError(Exception):
    """git could not be asked, or did not know; the message says why."""


class GitOutput(Value):
    code: int
    out: str
    trouble: str


def last_commit(cwd: str, since: float | None) -> str:
    """Hash and subject of the newest commit of HEAD, not older than ``since`` (wall clock); empty where there is none.

    Raises GitError.
    """
    after = [] if since is None else [f"--since=@{int(since)}"]
    said = _ask(cwd, "rev-list", "--max-count=1", "--format=%h %<(200,trunc)%s", *after, "HEAD")
    if said.code:
        lines = said.trouble.strip().splitlines()[:1]
        raise GitError(visible("".join(lines)[:SHOWN]) or f"git ended with {said.code} and said nothing")
    return visible(said.out.partition("\n")[2].strip())  # after a line with the whole hash


def _ask(cwd: str, *words: str) -> GitOutput:
    # Programs of the project are not found by relative paths.
    path = os.pathsep.join(each for each in os.get_exec_path() if os.path.isabs(each))
    program = shutil.which("git", path=path)
    if program is None:
        raise GitError("git is not installed, or not in an absolute directory of $PATH")
    settings = [word for key, value in OFF.items() for word in ("-c", f"{key}={value}")]
    command = [program, "--no-pager", "-C", cwd, *settings, *words, "--"]
    env = (
        FIXED
        | dict.fromkeys(TRACES, "0")
        | {"PATH": path}
        | {key: os.environ[key] for key in KEPT if key in os.environ}
    )
    try:
        process = subprocess.Popen(
            command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            start_new_session=True, bufsize=0,
        )  # fmt: skip
    except (OSError, ValueError) as error:
        raise GitError(f"git cannot be run: {error}") from error
    try:
        return _listen(process)
    finally:
        _end(process)


def _listen(process: subprocess.Popen[bytes]) -> GitOutput:
    """All that it says, and its exit code. GitError where it says too much or takes too long."""
    assert process.stdout is not None
    assert process.stderr is not None
    said = {process.stdout.fileno(): b"", process.stderr.fileno(): b""}
    out, trouble = said
    open_ends, until = set(said), time.monotonic() + LIMIT
    while open_ends:
        ready = select.select(open_ends, [], [], max(0.0, until - time.monotonic()))[0]
        if not ready:
            raise GitError(f"git took longer than {in_words(LIMIT)}")
        for fd in ready:
            data = os.read(fd, LARGEST)
            said[fd] += data
            open_ends -= set() if data else {fd}
            if len(said[fd]) > LARGEST:
                raise GitError(f"git said more than {LARGEST >> 10} kB")
    try:
        code = process.wait(max(0.0, until - time.monotonic()))
    except subprocess.TimeoutExpired as error:
        raise GitError(f"git took longer than {in_words(LIMIT)}") from error
    return GitOutput(code, said[out].decode("utf-8", "replace"), said[trouble].decode("utf-8", "replace"))


def _end(process: subprocess.Popen[bytes]) -> None:
    """End its group. Unless it was waited for, in which case its number may be another's."""
    if process.returncode is None:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
        try:
            process.wait(MERCY)
        except subprocess.TimeoutExpired:  # it hangs in the kernel; it ends when it comes back
            pass
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()
