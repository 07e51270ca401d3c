"""What can be measured of work from outside: its processes, what they use, and what of it moved.

Standard library only, no imports beyond it: shim and senses use the same functions, so that the one that keeps a
job's time and the ones that look at it can never measure differently.
"""

from __future__ import annotations

import os

RATES = {"cpu": 0.02, "io": 65536.0}
"""What moves all the time counts as progress only from this rate on: a share of one core, bytes per second."""
RATE_SPAN = 1.0
"""Rates over less than this many seconds are noise (a clock tick is 10 ms)."""
SHIM = ["-I", "-S", "-c", "import sys; sys.path.append(sys.argv[1]); from midwatch.shim.shim import main; main()"]
"""What a Python interpreter is given to become a shim, before the directory that holds this package."""
KEEPER = [
    *SHIM[:3],
    "import sys; sys.path.append(sys.argv[1]); from midwatch.jobs.adopted_supervisor import main; main()",
]
"""The same for the supervisor of work that somebody else started."""
ENTERING = [
    *SHIM[:3],
    "import sys; sys.path.append(sys.argv[1]); from midwatch.sessions.pane_entry import main; main()",
]
"""The same for what becomes the shim of a session, in its pane."""
CAPTURING = [
    *SHIM[:3],
    "import sys; sys.path.append(sys.argv[1]); from midwatch.tmux.pane_log_filter import main; main()",
]
"""The same for who writes down what a pane shows."""
_MAIN = "import sys; sys.path.insert(0, sys.argv.pop(1)); from midwatch.cli.main import main; sys.exit(main())"
BESIDE = ["-P", "-c", _MAIN]
"""The same for those who judge and tell beside the work; nothing is imported from where it runs."""
PAGE = 4096
THREADS = 17
"""Place of the number of threads in /proc/PID/stat, counted from the third field on."""
TICKS = float(os.sysconf("SC_CLK_TCK"))

Sources = dict[str, tuple[float, float, float]]
"""For each source of progress: its value, when that was taken, when it last moved (monotonic seconds)."""


def read_text(path: str) -> str:
    """All of a file of /proc, which gives no more than a page at a time however much is asked for."""
    fd = os.open(path, os.O_RDONLY)
    try:
        parts = [os.read(fd, PAGE)]
        while parts[-1]:
            parts.append(os.read(fd, PAGE))
        return b"".join(parts).decode("utf-8", "surrogateescape")
    finally:
        os.close(fd)


def stat_fields(pid: int) -> list[str]:
    """Fields of /proc/PID/stat from the third on; the command's name may itself hold blanks and brackets."""
    text = read_text(f"/proc/{pid}/stat")
    return text[text.rindex(")") + 2 :].split()


def is_dead(fields: list[str]) -> bool:
    """Whether a process has ended, by its fields: one whose first thread has ended is shown as a zombie too."""
    return fields[0] == "X" or (fields[0] == "Z" and int(fields[THREADS]) <= 1)


def start_time(pid: int) -> int:
    """Clock ticks between boot and the start of a process; 0 where the kernel does not tell."""
    try:
        return int(stat_fields(pid)[19])
    except (OSError, ValueError):
        return 0


def command_name(pid: int) -> str:
    try:
        return read_text(f"/proc/{pid}/comm").strip()
    except OSError:
        return "?"


def boot_id() -> str:
    """Names this boot of the machine; empty where the kernel does not tell."""
    try:
        return read_text("/proc/sys/kernel/random/boot_id").strip()
    except OSError:
        return ""


def pid_namespace() -> str:
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""


def time_namespace() -> str:
    """Names the clocks that start times and monotonic moments are read by; empty where the kernel does not tell."""
    try:
        return os.readlink("/proc/self/ns/time")
    except OSError:
        return ""


def children(pid: int) -> list[int]:
    found: list[int] = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            found += map(int, read_text(f"/proc/{pid}/task/{task}/children").split())
    except OSError:
        return found
    return found


def descendants(pid: int, *, besides: int = 0, jobs: bool = True, spare: list[str] | tuple[str, ...] = ()) -> list[int]:
    """All below a process but who judges and tells; without ``jobs``, not what it started as jobs of their own."""
    found: list[int] = []
    todo = [pid]
    others = (BESIDE,) if jobs else (BESIDE, SHIM, KEEPER)
    while todo:
        for child in children(todo.pop()):
            words = _arguments(child)
            if child != besides and not _begin_with(words, others) and not _process_names(words, spare):
                found.append(child)
                todo.append(child)
    return found


def is_shim(pid: int) -> bool:
    """Whether a process keeps a job: then it, and what is below it, is that job's, not its starter's."""
    return _begin_with(_arguments(pid), (SHIM, KEEPER))


def is_shared(pid: int, spare: list[str] | tuple[str, ...]) -> bool:
    """Whether a process is one that others need too: one of these stands in its command line."""
    return bool(spare) and _process_names(_arguments(pid), spare)


def helper_commands() -> list[list[str]]:
    """The words of all who judge or tell beside some work at this moment, behind the interpreter's own."""
    found = [_arguments(int(entry)) for entry in os.listdir("/proc") if entry.isdigit()]
    return [words[len(BESIDE) :] for words in found if _begin_with(words, (BESIDE,))]


def _arguments(pid: int) -> list[str]:
    try:
        return read_text(f"/proc/{pid}/cmdline").split("\0")[1:]
    except OSError:
        return []


def _begin_with(words: list[str], programs: tuple[list[str], ...]) -> bool:
    return any(words[: len(program)] == program for program in programs)


def _process_names(words: list[str], spare: list[str] | tuple[str, ...]) -> bool:
    return any(sign in " ".join(words) for sign in spare)


def cpu_seconds(fields: list[str], *, own: bool) -> float:
    """CPU seconds of a process (if ``own``) and of the children it has waited for."""
    return sum(map(int, fields[11 if own else 13 : 15])) / TICKS


def io_bytes(pid: int) -> float:
    """Bytes read and written by a process and the children it has waited for, by whatever system call."""
    try:
        lines = read_text(f"/proc/{pid}/io").split()
    except OSError:
        return 0.0
    return float(int(lines[1]) + int(lines[3]))


def measure_consumption(root: int, *, own: bool, helper: int, own_cpu: float, own_io: float) -> tuple[float, float]:
    """CPU seconds and bytes that the work has used so far: all below ``root``, and root itself if ``own``.

    What orphans used before they ended is in the account of the shim, which reaps them; what the judge used that
    the shim ran (``helper``, and earlier ones in ``own_…``) is taken out again.
    """
    cpu, io = -own_cpu, io_bytes(root) - own_io
    try:
        cpu += cpu_seconds(stat_fields(root), own=own)
    except (OSError, ValueError):
        pass
    for pid in descendants(root, besides=helper):
        try:
            cpu += cpu_seconds(stat_fields(pid), own=True)
        except (OSError, ValueError):
            continue
        io += io_bytes(pid)
    return cpu, io


# What counts as movement --------------------------------------------------------------------------------------


def update_sources(sources: Sources, sample: dict[str, float], now: float) -> None:
    """Take a sample in: for each source its value, when that was taken, and when it last moved."""
    for name, value in sample.items():
        if name not in sources:
            sources[name] = (value, now, now)
            continue
        before, taken, moved = sources[name]
        if name in RATES:
            span = now - taken
            if span >= RATE_SPAN:
                moved = now if value - before >= RATES[name] * span else moved
                sources[name] = (value, now, moved)
        elif value != before:
            sources[name] = (value, now, now)


def sample_files(base: str, wanted: frozenset[str] | set[str]) -> dict[str, float]:
    """What one ``stat`` per source tells: size of the log, time of the last beat and of a foreign heartbeat."""
    sample: dict[str, float] = {}
    for source, suffix in (("output", ".log"), ("beat", ".beat"), ("heartbeat", ".heartbeat")):
        if source in wanted:
            try:
                found = os.stat(base + suffix, follow_symlinks=False)
            except OSError:
                continue
            sample[source] = float(found.st_size if source == "output" else found.st_mtime_ns // 1000)
    return sample
