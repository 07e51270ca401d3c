"""The drop box of the session in a pane.

The first process of such a pane is the session's shim, which lives in the state directory. That, and the record in
it, are out of the agent's reach; what the agent's own environment says only tells which record to ask.
"""

from __future__ import annotations

import os

from midwatch.config import sentinel_files
from midwatch.core import names
from midwatch.core.errors import FormatError
from midwatch.core.pane_model import ProcessInfo
from midwatch.jobs.codec import sentinel
from midwatch.shim import drop_box
from midwatch.system import process_tree, procfs


def find_drop_box(shim: int, tasks: tuple[ProcessInfo, ...]) -> str:
    """The box of the session whose shim is the first process of a pane; empty where that is no shim."""
    told = (process_tree.read_environment(task.pid).get("MIDWATCH_NAME", "") for task in tasks if task.parent == shim)
    name = next(filter(None, told), "")
    if names.find_problem(name):
        return ""
    try:
        directory = os.readlink(f"/proc/{shim}/cwd")
        record = sentinel.decode_record(sentinel_files.read(f"{directory}/{name}.json") or "")
    except (OSError, FormatError):
        return ""
    ours = (record.shim.pid, record.shim.start) == (shim, procfs.start_time(shim))
    return drop_box.box_path(directory, name) if ours and record.drop else ""
