"""What the files of adopted work tell, wherever its starter has them."""

from __future__ import annotations

import os

from dogwatch import proc
from dogwatch.formats import sentinel
from dogwatch.model.errors import FormatError
from dogwatch.model.facts import Adopted, Result
from dogwatch.store import sentinels


def cheap_sample(base: str, wanted: set[str], adopted: Adopted | None) -> dict[str, float]:
    """What one ``stat`` per source tells. Output and heartbeat of adopted work are where its starter wanted them."""
    if adopted is None:
        return proc.cheap_sample(base, wanted)
    theirs = f"{adopted.dir}/{adopted.name}" if adopted.dir else base
    sample = proc.cheap_sample(base, wanted & {"beat"}) | proc.cheap_sample(theirs, wanted & {"heartbeat"})
    if adopted.log and "output" in wanted:
        try:
            sample["output"] = float(os.stat(adopted.log, follow_symlinks=False).st_size)
        except OSError:
            pass
    return sample


def spoken(adopted: Adopted, pid: int) -> tuple[str | None, Result | None]:
    """Status and result that its directory holds of adopted work; none once they are of another run there."""
    base = f"{adopted.dir}/{adopted.name}"
    try:
        named = sentinels.read(f"{base}.pid")
        if not adopted.dir or (named is not None and sentinel.pid(named) != pid):
            return None, None
        status = sentinels.read(f"{base}.status")
        text = None if status is None else sentinels.read(f"{base}.result")
    except FormatError:
        return None, None
    return status, None if text is None else sentinel.result(text)
