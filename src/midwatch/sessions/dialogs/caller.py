"""Who calls `answer`: the Unix user, and the session and the agent that the call comes from."""

from __future__ import annotations

import os
import pwd

from midwatch.agents import catalog, definition
from midwatch.core.pane_model import ProcessInfo
from midwatch.core.value import Value
from midwatch.system import process_tree, procfs


class Caller(Value):
    user: str
    uid: int
    session: str = ""
    """Name of the job or session of ours that the call comes from."""
    run: str = ""
    agent: str = ""
    """The agent that the call comes from, by the processes above this one."""
    pane: str = ""
    """The tmux pane that the call comes from."""
    ancestry: frozenset[int] = frozenset()

    @property
    def words(self) -> str:
        """In a few words, such as `anna (claude in session lead)`."""
        where = " in session ".join(filter(None, (self.agent or ("a program" if self.session else ""), self.session)))
        return f"{self.user} ({where})" if where else self.user


def find_caller() -> Caller:
    uid = os.getuid()
    try:
        user = pwd.getpwuid(uid).pw_name
    except KeyError:
        user = str(uid)
    above = process_tree.list_ancestry(os.getpid())
    tasks = tuple(_read_process(pid) for pid in sorted(above - {os.getpid()}))
    found = definition.find_agent(catalog.load_all(), tuple(task for task in tasks if task is not None))
    return Caller(
        user, uid, os.environ.get("MIDWATCH_NAME", ""), os.environ.get("MIDWATCH_RUN", ""),
        found[0].agent if found else "", os.environ.get("TMUX_PANE", ""), frozenset(above),
    )  # fmt: skip


def _read_process(pid: int) -> ProcessInfo | None:
    try:
        arguments = tuple(procfs.read_text(f"/proc/{pid}/cmdline").rstrip("\0").split("\0"))
        fields = procfs.stat_fields(pid)
    except (OSError, ValueError):
        return None
    return ProcessInfo(pid, int(fields[1]), fields[0], procfs.command_name(pid), arguments, int(fields[19]))
