"""How what was seen of processes and sources is worded, for every verdict alike."""

from midwatch.core.foreign_text import ForeignText
from midwatch.core.job_model import Alive, Gone, Process, Unseen
from midwatch.core.verdict import Evidence

SOURCE_WORDS = {"cpu": "CPU", "io": "I/O"}
SHOWN = 3
LONGEST_STATUS = 30
"""Characters that are told of a status which is neither SUCCESS nor FAILED."""
SUSPENDED = "suspended (stopped by a signal); `fg` or SIGCONT brings it back"


def process_evidence(source: str, process: Process) -> Evidence:
    match process:
        case Alive(pid=pid, letter=letter):
            return Evidence(source, f"pid {pid} is {'suspended' if letter == 'T' else 'alive'} ({letter})")
        case Gone(why=why):
            return Evidence(source, f"gone: {why}")
        case Unseen(why=why):
            return Evidence(source, f"cannot tell: {why}")


def format_source(source: str) -> str:
    """A source of progress, as people call it."""
    return SOURCE_WORDS.get(source, source)


def format_sources(sources: tuple[str, ...]) -> str:
    """Some sources, as in "output, CPU or beat"."""
    named = [format_source(name) for name in sources]
    return named[0] if len(named) == 1 else f"{', '.join(named[:-1])} or {named[-1]}"


def format_status(status: ForeignText) -> str:
    """What stands in a status file."""
    return ForeignText(status.raw.strip()).line(LONGEST_STATUS) or "empty"


def format_processes(processes: tuple[tuple[ForeignText, int], ...]) -> str:
    """Some processes by name and pid; of many, the first."""
    more = f" and {len(processes) - SHOWN} more" if len(processes) > SHOWN else ""
    return ", ".join(f"{command.line()} ({pid})" for command, pid in processes[:SHOWN]) + more
