"""How what was seen of processes and sources is worded, for every verdict alike."""

from dogwatch.model.facts import Alive, Gone, Process, Unseen
from dogwatch.model.verdict import Evidence

SOURCE_WORDS = {"cpu": "CPU", "io": "I/O"}
SHOWN = 3


def of_process(source: str, process: Process) -> Evidence:
    match process:
        case Alive(pid=pid, letter=letter):
            return Evidence(source, f"pid {pid} is {'suspended' if letter == 'T' else 'alive'} ({letter})")
        case Gone(why=why):
            return Evidence(source, f"gone: {why}")
        case Unseen(why=why):
            return Evidence(source, f"cannot tell: {why}")


def called(source: str) -> str:
    """A source of progress, as people call it."""
    return SOURCE_WORDS.get(source, source)


def processes_named(processes: tuple[tuple[str, int], ...]) -> str:
    """Some processes by name and pid; of many, the first."""
    more = f" and {len(processes) - SHOWN} more" if len(processes) > SHOWN else ""
    return ", ".join(f"{command} ({pid})" for command, pid in processes[:SHOWN]) + more
