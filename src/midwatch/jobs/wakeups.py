"""What can wake a watcher of many jobs: files that appear, files being written, processes that end, time.

Events say which job to look at, never what became of it. Where the kernel cannot tell (no inotify, no pidfd, a file
system that hides changes, too few file descriptors) a timed look takes its place, and ``blind`` says why.
"""

import contextlib
import os
import select
import time

from midwatch.system import inotify, processes, procfs

TIMED_LOOK = 2.0
"""Seconds between looks at what cannot wake us."""
TELLING = frozenset(("json", "status", "result", "seen", "pid", "log", "watch"))
WRITTEN_IN_PLACE = frozenset(("status", "result"))
SPARE_DESCRIPTORS = 64
GUEST_SHARE = 0.5
"""Of the files that another's program may have open: what its waits take at most. Beyond that processes are visited."""


class JobWakeups:
    """With ``guest``, in somebody else's program: its limits stay as they are, and most of them are left to it."""

    def __init__(self, directory: str, names: set[str], *, guest: bool = False) -> None:
        self.directory = directory
        self.names = names
        self.guest = guest
        self.blind = ""
        self.everything = False
        self._poll = select.epoll() if hasattr(select, "epoll") else select.poll()
        self._processes: dict[int, str] = {}
        self._pidfds: dict[str, int] = {}
        self._visited: dict[str, tuple[int, int]] = {}
        self._writes: dict[int, set[str]] = {}
        self._watched = -1
        self._files: inotify.FileEvents | None = None
        self._timed_at = time.monotonic() + TIMED_LOOK
        self._listen()

    def _listen(self) -> None:
        self.blind = inotify.find_event_problem(self.directory)
        try:
            if os.environ.get("MIDWATCH_EVENTS") != "off":
                self._files = inotify.FileEvents()
                self._poll.register(self._files.fileno(), select.POLLIN)
                self._watch_directory()
        except (OSError, AttributeError) as error:
            self.blind = f"the kernel sends no file events: {error}"

    def _watch_directory(self) -> None:
        """Watch the directory, or its nearest ancestor until it exists."""
        assert self._files is not None
        path = self.directory
        while True:
            try:
                self._watched = self._files.add(path, inotify.NAMES)
            except FileNotFoundError:
                path = os.path.dirname(path)
            else:
                self.everything = path != self.directory
                return

    def watch_process(self, name: str, pid: int) -> bool:
        """Wake when this process ends. False: it has ended already, look again."""
        if name in self._pidfds:
            return True
        started = procfs.start_time(pid)
        off = os.environ.get("MIDWATCH_EVENTS") == "off" or not _may_open_more(len(self._pidfds), guest=self.guest)
        pidfd = None if off else processes.watch_exit(pid)
        if pidfd is None:  # the kernel does not tell when it ends
            self._visited[name] = pid, started
            return procfs.start_time(pid) == started != 0
        self._pidfds[name] = pidfd
        self._processes[pidfd] = name
        self._poll.register(pidfd, select.POLLIN)
        return procfs.start_time(pid) == started != 0

    def watch_writes(self, name: str, path: str) -> bool:
        """Wake when this file is written. True: only from now on, so look again at what was written before."""
        if self._files is None:
            return False
        try:
            whose = self._writes.setdefault(self._files.add(path, inotify.WRITES), set())
        except OSError:
            return False
        new = name not in whose
        whose.add(name)
        return new

    def fileno(self) -> int:
        """For whoever sleeps on more than this: when it is readable, ``sleep`` has something to tell."""
        assert isinstance(self._poll, select.epoll)
        return self._poll.fileno()

    @property
    def due(self) -> float:
        """When to look although nothing may have happened."""
        return self._timed_at if self.blind or self._visited else float("inf")

    def sleep(self, until: float) -> set[str]:
        """Sleep until something happened or that moment came; return the names to look at."""
        wait = min(max(0.0, min(until, self.due) - time.monotonic()), 86400.0)
        return self.take(wait + 0.001)

    def take(self, wait: float = 0.0) -> set[str]:
        """The names to look at after what has happened, or happens within so many seconds."""
        ready = self._poll.poll(wait * (1 if hasattr(select, "epoll") else 1000))
        touched: set[str] = set()
        for fd, _ in ready:
            if self._files is not None and fd == self._files.fileno():
                touched |= self._file_events()
            else:
                touched.add(self._processes[fd])
                self._drop_process(self._processes[fd])
        if time.monotonic() >= self.due:
            self._timed_at = time.monotonic() + TIMED_LOOK
            touched |= self.names if self.blind else self._ended()
        return touched

    def _ended(self) -> set[str]:
        """Whose processes have gone, of those that are visited; each is named once."""
        ended = {name for name, (pid, start) in self._visited.items() if not processes.is_alive(pid, start)}
        for name in ended:
            del self._visited[name]
        return ended

    def _file_events(self) -> set[str]:
        assert self._files is not None
        touched: set[str] = set()
        for watch, mask, entry in self._files.read():
            if mask & inotify.OVERFLOW or (watch == self._watched and mask & inotify.OVER) or self.everything:
                self._watch_directory()
                return set(self.names)
            if watch in self._writes:
                touched |= self._writes[watch]
                if mask & inotify.IGNORED:  # the file is gone, and the watch with it
                    del self._writes[watch]
                continue
            name, _, suffix = entry.rpartition(".")
            if name in self.names and suffix in TELLING:
                touched.add(name)
                if mask & inotify.CREATE and suffix in WRITTEN_IN_PLACE:
                    self.watch_writes(name, f"{self.directory}/{entry}")
        return touched

    def _drop_process(self, name: str) -> None:
        self._visited.pop(name, None)
        pidfd = self._pidfds.pop(name, None)
        if pidfd is not None:
            del self._processes[pidfd]
            self._poll.unregister(pidfd)
            os.close(pidfd)

    def forget(self, name: str) -> None:
        self._drop_process(name)
        self.names.discard(name)
        for watch in [watch for watch, whose in self._writes.items() if name in whose]:
            self._writes[watch].discard(name)
            if not self._writes[watch]:
                if self._files is not None:
                    self._files.remove(watch)
                del self._writes[watch]

    def close(self) -> None:
        for name in list(self._pidfds):
            self._drop_process(name)
        if self._files is not None:
            self._files.close()
        if isinstance(self._poll, select.epoll):
            self._poll.close()


def _may_open_more(pidfds: int, *, guest: bool) -> bool:
    """Whether one more can be had. When many processes are watched, our own limit of open files is raised."""
    if not guest and pidfds % 256:
        return True
    import resource  # noqa: PLC0415  # only a watcher of many needs it

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if guest:
        return pidfds < soft * GUEST_SHARE or soft == resource.RLIM_INFINITY
    if pidfds + SPARE_DESCRIPTORS + 256 > soft:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return True
