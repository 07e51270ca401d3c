"""What the work itself writes, wherever that is: in its drop box, or where the starter of adopted work has it."""

from __future__ import annotations

import os

from midwatch.config import sentinel_files
from midwatch.core.job_model import Beat, Record
from midwatch.jobs.codec import sentinel
from midwatch.shim import drop_box
from midwatch.system import procfs


def sample_files(base: str, wanted: set[str], record: Record | None) -> dict[str, float]:
    """What one ``stat`` per source tells. A heartbeat in a drop box counts only if the policy has the work touch it."""
    if record is not None and record.drop:
        spoken = wanted & {*record.policy.progress} - {"output"}
        return procfs.sample_files(base, wanted - spoken) | procfs.sample_files(_beat_path(base), spoken)
    if record is None or (adopted := record.adopted) is None:
        return procfs.sample_files(base, wanted)
    theirs = f"{adopted.dir}/{adopted.name}" if adopted.dir else base
    sample = procfs.sample_files(base, wanted & {"beat"}) | procfs.sample_files(theirs, wanted & {"heartbeat"})
    if adopted.log and "output" in wanted:
        try:
            sample["output"] = float(os.stat(adopted.log, follow_symlinks=False).st_size)
        except OSError:
            pass
    return sample


def read_beat(base: str, record: Record | None) -> Beat | None:
    """What the work of this run said last; None where it said nothing. Raises FormatError."""
    path = _beat_path(base) if record is not None and record.drop else base
    text = sentinel_files.read(f"{path}.beat", drop_box.LARGEST_BEAT)
    return None if text is None else sentinel.decode_beat(text, record.run if record else "")


def _beat_path(base: str) -> str:
    return drop_box.base_path(*os.path.split(base))
