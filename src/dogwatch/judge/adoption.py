"""Work that somebody else started: what is said of it in other words than of our own."""

from __future__ import annotations

from dogwatch.model.facts import Gone, Record
from dogwatch.model.verdict import Evidence


def keeper(record: Record) -> str:
    """Who keeps its time: our own work has a parent, adopted work only somebody who watches."""
    return "shim" if record.adopted is None else "keeper"


def beginning(record: Record | None) -> str:
    """What happened when its silence was first reckoned."""
    return "started" if record is None or record.adopted is None else "adopted"


def unseen_end(record: Record | None, gone: Gone) -> str:
    """Why nobody can say how it ended; empty where its end would have been written down by itself."""
    if record is None or record.adopted is None or record.adopted.dir:
        return ""
    return f"it ended while nobody kept watch ({gone.why}); its exit status is not known"


def evidence(record: Record) -> tuple[Evidence, ...]:
    adopted = record.adopted
    if adopted is None:
        return ()
    where = f"{adopted.name} in {adopted.dir}" if adopted.dir else f"process {record.work.pid}"
    manners = "the policy may end it" if adopted.stop else "left alone unless `dogwatch stop` is called"
    return (Evidence("adopted", f"{where}, started by somebody else; {manners}"),)
