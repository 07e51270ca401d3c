"""What the machine has: programs, room on disks, variables, tmux."""

from __future__ import annotations

import os
import shutil

from midwatch.core.foreign_text import ForeignText
from midwatch.preflight import check_program
from midwatch.preflight.codec import virtualenv as scripts
from midwatch.preflight.model import DiskSpace
from midwatch.system.atomic_files import open_plain
from midwatch.tmux import client as tmux_client

HEAD = 4096


def find_program(name: str, cwd: str) -> tuple[str, str]:
    """Where a program is, and why it cannot be run (empty when it can). A name with a slash is a path in a project."""
    path = os.path.join(cwd, os.path.expanduser(name)) if "/" in name else shutil.which(name)
    if path is None:
        there = _find_problem(name)
        return there, f"{there} is there, but we may not run it" if there else "it is not in PATH"
    if not os.path.lexists(path):
        return path, "it is not there"
    if not os.path.exists(path):
        return path, f"it leads to {os.path.realpath(path)}, which is not there"
    if not os.path.isfile(path) or not os.access(path, os.X_OK):
        return path, "it is there, but it is not a program that we may run"
    return path, _interpreter_trouble(path)


def _find_problem(name: str) -> str:
    paths = [f"{directory}/{name}" for directory in os.get_exec_path()]
    return next((path for path in paths if os.path.lexists(path) and not os.path.isdir(path)), "")


def _interpreter_trouble(path: str) -> str:
    try:
        with open(open_plain(path, follow=True), "rb") as file:
            head = file.read(HEAD).decode("utf-8", "replace")
    except OSError:
        return ""  # a program may be run that may not be read
    named = scripts.script_interpreter(head, os.path.dirname(os.path.realpath(path)))
    if named is None:
        return ""
    if not os.path.isfile(named) or not os.access(named, os.X_OK):
        return f"it starts with {named or 'nothing'}, which is not there (bad interpreter)"
    words = [word for word in head.partition("\n")[0].split()[1:] if not word.startswith("-") and "=" not in word]
    if os.path.basename(named) == "env" and words and not shutil.which(words[0]):
        return f"it is run by {words[0]}, which is not in PATH"
    return ""


def measure_space(path: str) -> DiskSpace:
    """Room on the disk of a path. Raises OSError."""
    found = os.statvfs(path)
    return DiskSpace(
        free=found.f_bavail * found.f_frsize,
        names_left=found.f_favail > 0 or found.f_files == 0,  # some file systems do not count them
        read_only=bool(found.f_flag & os.ST_RDONLY),
    )


def nearest_directory(path: str) -> str:
    """The path itself or, where it is still to be made, the nearest directory above that is there."""
    while not os.path.exists(path) and path != os.path.dirname(path):
        path = os.path.dirname(path)
    return path


def read_variable(name: str) -> str | None:
    return os.environ.get(name)


def tmux_version(cwd: str, limit: float, cancel: int) -> str:
    """As tmux says it; empty when it says nothing. Raises OSError when there is no tmux."""
    ended = check_program.run(tmux_client.version_command(), cwd, limit, cancel)
    return "" if ended.late or ended.code else ForeignText(ended.text.raw.strip()).line()
