"""Writing down the end of a job whose shim is gone: nobody else is left to say it.

One job has one end. What the kernel tells of it may be gone at the next look, so whoever learns it writes it down.
"""

from __future__ import annotations

import contextlib
import json
import os
import time

from midwatch.config import paths, sentinel_files
from midwatch.core.errors import FormatError
from midwatch.core.job_model import JobFacts, Record
from midwatch.jobs import name_claim
from midwatch.shim import drop_box
from midwatch.system.atomic_files import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def write_end(directory: str, facts: JobFacts, end: dict[str, Any]) -> bool:
    """Record an end, so that every reader comes to one. False: its shim, or another watcher, has done so. OSError."""
    base = f"{directory}/{facts.name}"
    text = sentinel_files.read(f"{base}.json")
    if facts.record is not None and text is not None:
        raw = json.loads(text)
        if raw["run"] != facts.record.run or raw["end"] is not None:
            return False
        if facts.record.drop:
            result, trouble = drop_box.read_result(directory, facts.name)
            if result is not None:
                name_claim.write_file(f"{base}.result", result)
            raw["notes"] += [trouble] if trouble else []
        raw["end"] = end
        raw["states"].append([end["state"], time.time()])
        name_claim.write_file(f"{base}.json", dumps(raw) + "\n")
        if facts.record.adopted is not None:
            from midwatch.jobs import foreign_step_end  # noqa: PLC0415  # it looks for itself

            foreign_step_end.write_failed_status(facts.record.adopted, facts.record.work.pid)
        from midwatch.journal import journal  # noqa: PLC0415  # a shim that lives tells this itself

        journal.record_event(directory, facts.name, facts.record.run, "ended", **end)
    name_claim.write_file(f"{base}.status", "SUCCESS\n" if end["state"] == "completed" else "FAILED\n")
    return True


def write_if_free(directory: str, facts: JobFacts, end: dict[str, Any], *, ours: bool) -> bool:
    """The same, for a watcher: only where nobody else may write, and under the lease of the name, if it has none."""
    if paths.find_sharing(directory):
        return False
    with contextlib.suppress(OSError, FormatError, ValueError, KeyError):
        lease = None if ours else name_claim.lock_name(f"{directory}/{facts.name}")
        if not ours and lease is None:
            return False
        try:
            return write_end(directory, facts, end)
        finally:
            if lease is not None:
                os.close(lease)
    return False


def send_end(directory: str, record: Record | None) -> None:
    """Have an end sent whose shim is gone: by the same process that a shim starts, which looks for itself."""
    if record is not None and record.notify:
        from midwatch.jobs import launch, start_sender  # noqa: PLC0415  # few lose their shim

        with contextlib.suppress(OSError):  # its promise stays on the disk, so the next process sends it
            start_sender.start(launch.sender_command(directory, record.name, record.run))
