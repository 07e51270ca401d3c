"""What the files of adopted work tell, wherever its starter has them."""

from __future__ import annotations

import os

from dogwatch import proc
from dogwatch.model.facts import Adopted


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
