"""The only place that runs git. The repository may be hostile: its configuration must start no program.

Many settings of a repository name a program: signatures, pagers, hooks, the file monitor, filters, drivers of diffs,
transports. So only plumbing is asked that reads commits and neither index nor work tree, since filters have any name
and cannot all be switched off. What else could start a program is switched off besides, on the command line and in the
environment, which outweigh every file. The user's own files are read as ever: `safe.directory` is honoured.
"""

from __future__ import annotations

import os
import shutil
import stat

from midwatch.core.text import format_duration, visible
from midwatch.core.value import Value
from midwatch.system import run_program
from midwatch.system.run_program import OutputCap, RunLimits

LIMIT = 60.0
"""Seconds that a question may take."""
LARGEST = 1 << 16
"""Bytes of an answer."""
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
READ = ("config", "config.worktree", "commondir", "packed-refs", "shallow", "info/grafts", "objects/info/alternates")
"""What git reads of a repository besides HEAD: it would wait for a pipe that stands there. LIMIT is for all others."""
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
    said = _run_git(cwd, "rev-list", "--max-count=1", "--format=%h %<(200,trunc)%s", *after, "HEAD")
    if said.code:
        lines = said.trouble.strip().splitlines()[:1]
        raise GitError(visible("".join(lines)[:SHOWN]) or f"git ended with {said.code} and said nothing")
    return visible(said.out.partition("\n")[2].strip())  # after a line with the whole hash


def _run_git(cwd: str, *words: str) -> GitOutput:
    # Programs of the project are not found by relative paths.
    path = os.pathsep.join(each for each in os.get_exec_path() if os.path.isabs(each))
    program = shutil.which("git", path=path)
    if program is None:
        raise GitError("git is not installed, or not in an absolute directory of $PATH")
    _refuse_pipes(cwd)
    settings = [word for key, value in OFF.items() for word in ("-c", f"{key}={value}")]
    command = [program, "--no-pager", "-C", cwd, *settings, *words, "--"]
    env = (
        FIXED
        | dict.fromkeys(TRACES, "0")
        | {"PATH": path}
        | {key: os.environ[key] for key in KEPT if key in os.environ}
    )
    cap = OutputCap(LARGEST, ends=True)
    try:
        done = run_program.run_program(command, RunLimits(LIMIT, cap, cap), env=env)
    except (OSError, ValueError) as error:
        raise GitError(f"git cannot be run: {error}") from error
    if done.too_much:
        raise GitError(f"git said more than {LARGEST >> 10} kB")
    if not done.ended:
        raise GitError(f"git took longer than {format_duration(LIMIT)}")
    return GitOutput(done.code, done.output.decode("utf-8", "replace"), done.errors.decode("utf-8", "replace"))


def _refuse_pipes(cwd: str) -> None:
    """Look at the repository that git will find: the nearest directory, or `.git` in it, with a HEAD.

    Where `.git` is a file, which names another place, nothing is looked at.
    """
    top, below = os.path.realpath(cwd), ""
    while top != below:
        if _is_plain(f"{top}/.git"):
            return
        for place in (f"{top}/.git", top):
            if _is_plain(f"{place}/HEAD"):
                for name in READ:
                    _is_plain(f"{place}/{name}")
                return
        top, below = os.path.dirname(top), top


def _is_plain(path: str) -> bool:
    """Whether there is a file. GitError where it is a pipe or a device."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise GitError(f"{path} is not a regular file")
    return stat.S_ISREG(mode)
