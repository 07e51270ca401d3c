"""What agents told their hooks, as it stands in the spool.

A hook's environment says in which pane its agent runs, with one exception: where a daemon runs the hooks for several
panes, it says where that daemon was started. Such agents' events are found by their conversation, or by their
directory if only one conversation is there. An agent may run another of its kind as a tool, in the same pane: the one
that called the hook itself is meant, else the one that was there first.

A session of ours has a drop box, in which its hooks leave their events where nothing else can be written to. What is
in there speaks for that session only, whatever it says, and only of its turn.

Nothing is written here. The hook itself bounds its files; those of panes that are gone can be swept away by age.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from midwatch.agents import parts
from midwatch.agents.hooks import events as hooks_events
from midwatch.agents.hooks import turns
from midwatch.agents.hooks.events import HookEvent
from midwatch.core.errors import FormatError
from midwatch.core.pane_model import Pane, RunningAgent, SourceReport
from midwatch.system import atomic_files, procfs
from midwatch.tmux import client as tmux_client

SUFFIX = ".events"
ASIDE = ".1"
"""What is added to the name of a file that was full."""
RECENT = 200
"""Lines that are read first; older ones only if these say nothing of the turn."""
KEPT = 10_000
MOST = 512
"""Turns that are remembered; the one that was not asked for longest is forgotten."""
LARGEST = 4 << 20
"""Bytes of a file that are read at most, from its end: the hooks keep it at half of that."""
LONGEST = 4096
"""Bytes of a line."""
NOT_OF_TURN = ("conversation", "transcript", "cwd")
"""Words that say who an agent is; those of a drop box are not believed."""
SLACK = 0.05
"""Seconds by which an event may seem older than the process that it came from: both are told in hundredths."""


class HookSpool:
    """The spool of the hooks. Each look reads on from where the last one ended; without news it costs a few stats."""

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._files: dict[str, _PaneSpool] = {}
        self._turns: dict[tuple[object, ...], tuple[list[object], turns.HookTurn]] = {}
        """What was asked, by whom; of which files in which state, and what they said."""

    def read(self, running: RunningAgent, pane: Pane, conversation: str = "", box: str = "") -> SourceReport | None:
        """The last event of an agent that says something of its turn; None where its hooks have told nothing.

        ``box``: the drop box of the session that it is, if it is one of ours.
        """
        if box and (told := self._of_box(box, running)) is not None:
            return told
        try:
            names = os.listdir(self._directory)
        except FileNotFoundError:
            return None
        except OSError as error:
            return SourceReport("hook", None, {}, f"the spool of the hooks cannot be read: {error.strerror}")
        begins = (f"{running.agent},", f"{running.agent}{SUFFIX}")
        names = [name for name in names if name.startswith(begins) and name.endswith(SUFFIX)]
        if parts.files(running.agent).hooks_by_daemon:
            return self._of_daemon(names, running, conversation)
        server = os.path.realpath(tmux_client.socket_path(pane.server))
        here = [name for name in names if name.endswith(f"{pane.id}{SUFFIX}")]
        found = self._turn(
            here, running, (pane.id, server), lambda events: select_agent_events(events, running, pane.id, server)
        )
        if found.latest is None and conversation:
            found = self._turn(
                names, running, (conversation,), lambda events: _conversation_events(events, conversation)
            )
        return _build_report(found)

    def _of_box(self, box: str, running: RunningAgent) -> SourceReport | None:
        name = f"{box}/{running.agent}{SUFFIX}"
        found = _build_report(
            self._turn([name], running, (box,), lambda events: _without_other_agents(events, running))
        )
        if found is None:
            return None
        return found._replace(words={word: text for word, text in found.words.items() if word not in NOT_OF_TURN})

    def _of_daemon(self, names: list[str], running: RunningAgent, conversation: str) -> SourceReport | None:
        if not conversation:
            last = {each.conversation: each for each in self._events(names, running, deep=False) if each.conversation}
            here = [each for each in last.values() if each.words.get("cwd") == running.cwd]
            found = (
                [each for each in last if each in running.args]
                or [each.conversation for each in here if each.pid == running.pid]
                or [each.conversation for each in here if each.name != "SessionEnd"]
            )
            if len(found) > 1:
                return SourceReport("hook", None, {}, f"{len(found)} conversations in {running.cwd} have called hooks")
            conversation = found[0] if found else ""
        return _build_report(
            self._turn(names, running, (conversation,), lambda events: _conversation_events(events, conversation))
        )

    def _turn(
        self,
        names: list[str],
        running: RunningAgent,
        chosen: tuple[str, ...],
        choose: Callable[[list[HookEvent]], list[HookEvent]],
    ) -> turns.HookTurn:
        """What the chosen events say. An agent tells thousands; they are gone through again only when there are new."""
        asked = (running.pid, running.start, *chosen)
        state: list[object] = [(name, self._file(name).observe()) for name in sorted(names)]
        before = self._turns.pop(asked, None)
        if before is not None and before[0] == state:
            found = before[1]
        else:
            found = turns.derive_turn(choose(self._events(names, running, deep=False)))
            found = found if found.event else turns.derive_turn(choose(self._events(names, running, deep=True)))
        self._turns[asked] = state, found
        if len(self._turns) > MOST:
            del self._turns[next(iter(self._turns))]
        return found

    def _file(self, name: str) -> _PaneSpool:
        if name not in self._files:
            self._files[name] = _PaneSpool(os.path.join(self._directory, name))
        return self._files[name]

    def _events(self, names: list[str], running: RunningAgent, *, deep: bool) -> list[HookEvent]:
        """Everything in some files since a process began, in the order of time."""
        since, boot = running.start / procfs.TICKS - SLACK, procfs.boot_id()
        events: list[HookEvent] = []
        for name in names:
            events += self._file(name).read(deep=deep)
        return sorted((each for each in events if each.boot == boot and each.up >= since), key=lambda each: each.up)

    def leftovers(self, age: float) -> list[str]:
        """Files that no hook has written to for so many seconds; whoever keeps the spool may delete them."""
        before = time.time() - age
        try:
            with os.scandir(self._directory) as entries:
                ours = [each for each in entries if SUFFIX in each.name]
                return sorted(each.path for each in ours if each.stat(follow_symlinks=False).st_mtime < before)
        except OSError:
            return []


def select_agent_events(events: list[HookEvent], running: RunningAgent, pane: str, server: str) -> list[HookEvent]:
    """Of the events in a pane those of one agent, without those of others that run below it as its tools."""
    same = {name for name in {each.server for each in events} if os.path.realpath(name) == server}
    return _without_other_agents([each for each in events if each.pane == pane and each.server in same], running)


def _without_other_agents(here: list[HookEvent], running: RunningAgent) -> list[HookEvent]:
    called = {each.conversation for each in here if each.pid == running.pid}
    if called:
        return [each for each in here if each.conversation in called]
    found: list[HookEvent] = []
    others: set[str] = set()
    for each in here:
        before = found[-1] if found else each
        begins = each.name == "SessionStart" and each.words.get("reason") == "startup"
        if begins and before.conversation != each.conversation and before.name != "SessionEnd":
            others.add(each.conversation)
        if each.conversation not in others:
            found.append(each)
    return found


def _conversation_events(events: list[HookEvent], conversation: str) -> list[HookEvent]:
    return [each for each in events if conversation and each.conversation == conversation]


def _build_report(found: turns.HookTurn) -> SourceReport | None:
    if found.event is None or found.latest is None:
        return None
    booted = time.time() - float(procfs.read_text("/proc/uptime").split()[0])
    words = found.words | {"latest_at": f"{booted + found.latest.up:.2f}"}
    return SourceReport("hook", round(booted + found.event.up, 2), words)


class _PaneSpool:
    """One pane's events, and those in the file that was moved aside when it was full."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._news = 0
        self._seen: tuple[int, ...] = ()
        self._inode = 0
        self._offset = 0
        self._rest = b""
        """The beginning of a line that was not whole yet."""
        self._older: list[bytes] = []
        """Lines that nobody has wanted to see yet."""
        self._events: list[HookEvent] = []

    def observe(self) -> int:
        """Read on; how often there was something new so far."""
        seen = _file_state(self._path)
        if seen and seen == self._seen:
            return self._news
        inode, data, end, goes_on = _read_from(self._path, self._inode, self._offset)
        if not goes_on:
            self._older, self._events = _read_from(self._path + ASIDE)[1].split(b"\n"), []
            self._inode, self._rest = inode, b""
        self._seen = seen if inode else ()
        self._news += bool(data) or not goes_on
        self._offset = end
        *lines, rest = (self._rest + data).split(b"\n")
        self._rest = rest[: LONGEST + 1]
        if not self._events:
            self._older += lines
            lines, self._older = self._older[-2 * RECENT :], self._older[: -2 * RECENT]  # every other is empty
        self._events = (self._events + _parse_lines(lines))[-KEPT:]
        return self._news

    def read(self, *, deep: bool) -> list[HookEvent]:
        """The events of the file as it is now; ``deep``: all of them, else at least the last."""
        self.observe()
        if deep and self._older:
            self._events = _parse_lines(self._older) + self._events
            self._older = []
        return self._events


def _file_state(path: str) -> tuple[int, ...]:
    try:
        found = os.stat(path, follow_symlinks=False)
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _read_from(path: str, inode: int = 0, offset: int = 0) -> tuple[int, bytes, int, bool]:
    """A file's inode, and what is in it: from an offset on if that goes on with what is known already, else all.

    Of what is larger than any hook makes it, the end. Then where that ends, and whether it goes on.
    """
    try:
        fd = atomic_files.open_plain(path)
    except OSError:
        return 0, b"", 0, False
    with open(fd, "rb") as file:
        found = os.fstat(fd)
        goes_on = found.st_ino == inode and offset <= found.st_size <= offset + LARGEST
        file.seek(offset if goes_on else max(0, found.st_size - LARGEST))
        data = file.read(LARGEST)
        return found.st_ino, data, file.tell(), goes_on


def _parse_lines(lines: list[bytes]) -> list[HookEvent]:
    found = []
    for line in lines:
        try:
            event = hooks_events.parse_event(line.decode("utf-8", "replace")) if 0 < len(line) <= LONGEST else None
        except FormatError:
            continue  # torn by a full disk, or of a later version
        if event is not None:
            found.append(event)
    return found
