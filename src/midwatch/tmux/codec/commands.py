"""What is asked of tmux in one go, and how its reply is read.

A request is one client's command line: a line about the server, the list of panes, then captures, each with a heading.
A server runs a request from its first command to its last without reading from any pane, so everything in a reply is
of one moment. A command that fails would take the rest of its request with it; therefore each capture stands behind a
test that its pane is there. That test must be all that is evaluated of a pane that is gone: asked for the time of a
window that there is not, tmux 3.2 crashes, and everybody's work with it.

Texts that others choose (titles, paths, names) stand between marks, which are random and new for each look. Rows of a
screen are counted, not delimited: a pane may show what it likes, our mark included.
"""

from __future__ import annotations

from collections.abc import Iterable

from midwatch.core.numbers import parse_whole_number
from midwatch.core.pane_model import Pane
from midwatch.core.value import Value
from midwatch.tmux.codec import query_modes
from midwatch.tmux.codec.query_modes import FORKED, QueryMode

OLDEST = (3, 0)
"""Earlier servers cannot compare in a format."""
LETTERS = "abcdefghijklmnopqrstuvwxyz234567"
SERVER, PANE, SCREEN, SCREENS, END, LAST = "S", "P", "C", "M", "E", "."
TOLD = "#D,#{pane_height}"

NUMBERS = (
    "pane_id", "window_id", "pane_pid", "pane_width", "pane_height", "cursor_x", "cursor_y", "cursor_flag",
    "alternate_on", "pane_dead", "pane_dead_status", "pane_dead_signal", "window_activity", "pane_tty",
)  # fmt: skip
TEXTS = ("pane_title", "pane_current_command", "pane_current_path", "session_name")

ABSENT, DENIED, MIXED, OLD, OTHER = "no-server", "denied", "versions-differ", "too-old", "other"
REFUSED = "refused"
"""Why a server did not tell, for programs."""


class TmuxServer(Value):
    version: str
    pid: int
    started: int
    """Wall-clock seconds."""


class QueryReply(Value):
    """What came back, as far as it came."""

    server: TmuxServer | None
    panes: tuple[Pane, ...]
    screens: dict[str, tuple[str, ...]]
    complete: bool


class ReplyTrouble(Value):
    cause: str
    words: str


NO_TROUBLE = ReplyTrouble("", "")


def make_word(randomness: bytes) -> str:
    """Ten bytes of chance as a word that is safe in formats, in times and between quotes."""
    return "".join([LETTERS[byte & 31] for byte in randomness])


# Requests -----------------------------------------------------------------------------------------------------


def survey_command(word: str, known: dict[str, int], *, colours: bool, way: QueryMode = FORKED) -> list[str]:
    """Ask for all panes, and for the screens of known ones whose window has printed since a second, each its own.

    As many as there is room for, in the order given. In control mode only those for which that second is 0.
    """
    numbers = ",".join([f"#{{{name}}}" for name in NUMBERS])
    texts = word.join([f"#{{{name}}}" for name in TEXTS])
    command = [
        *("display-message", "-p", f"{word}{SERVER}#{{version}},#{{pid}},#{{start_time}}", ";"),
        *("list-panes", "-a", "-F", f"{word}{PANE}{numbers}{word}{texts}{word}{LAST}"),
    ]
    last = [";", *_end_command(word)]
    if way.guarded:
        asked = [pane for pane, since in known.items() if way.limit and not since]
        return command + query_modes.capture_many_command(way, word, f"{word}{SCREENS}", asked, colours=colours) + last
    room = _room_left(way, [*command, *last])
    for pane, since in known.items():
        moved = f"#{{?pane_id,#{{>=:#{{window_activity}},{since}}},}}"  # what is not chosen is not evaluated
        part = [";", *_capture_command(word, pane, moved if since else "", colours=colours)]
        room = _reduce_room(room, part)
        if min(room) < 0:
            break
        command += part
    return command + last


def capture_commands(word: str, panes: Iterable[str], *, colours: bool, way: QueryMode = FORKED) -> list[list[str]]:
    """Ask for the screens of panes, in as few commands as can carry them; in control mode as lines of their own."""
    commands: list[list[str]] = []
    room, between = (0, 0), "\n" if way.guarded else ";"
    for pane in panes:
        if way.guarded:  # the heading names none where there is no such pane
            heading = ["display", f"-pt{pane}", f"{word}{SCREEN}{TOLD}"]
            part = [*query_modes.capture_command(way, word, pane, heading, colours=colours), between]
        else:
            part = [*_capture_command(word, pane, "#D", colours=colours), between]
        room = _reduce_room(room, part)
        if min(room) < 0:
            commands.append([])
            room = _room_left(way, _end_command(word) + part)
        commands[-1] += part
    return [command + _end_command(word) for command in commands]


def _capture_command(word: str, pane: str, condition: str, *, colours: bool) -> list[str]:
    """Written short: a hundred of them must find room. #D is the pane's id.

    With a condition nothing happens where there is no such pane. Without one the server is done in half the time, but
    it drops the rest of the request when the pane is gone. Then only a number precedes the screen, whose height is
    that of the list: nothing can happen between the commands of one request. (A % would be taken for a time's.)
    """
    how = "-ept" if colours else "-pt"
    if not condition:
        return ["display", "-p", f"{word}{SCREEN}{pane[1:]}", ";", "capturep", f"{how}{pane}"]
    return ["if", f"-Ft{pane}", condition, f'display -pt{pane} "{word}{SCREEN}{TOLD}";capturep {how}{pane}']


def _end_command(word: str) -> list[str]:
    return ["display-message", "-p", f"{word}{END}"]


def _room_left(way: QueryMode, command: list[str]) -> tuple[int, int]:
    """Bytes and arguments for which there is still room beside a command."""
    return _reduce_room((way.limit, way.words), command)


def _reduce_room(room: tuple[int, int], command: list[str]) -> tuple[int, int]:
    """As a client sends them, each argument with its zero."""
    return room[0] - sum([len(argument) + 1 for argument in command]), room[1] - len(command)


# Replies ------------------------------------------------------------------------------------------------------


def read_reply(
    data: bytes,
    word: str,
    server: tuple[str, ...] = (),
    way: QueryMode = FORKED,
    known: dict[bytes, Pane] | None = None,
) -> QueryReply:
    """Read a reply. Lines that belong to nothing (a hook's output, say) are passed over, and so is half a screen.

    Of ``known`` panes, by the line that told them last time, nothing is read again; it becomes that of this reply.
    """
    before = known or {}
    fresh: dict[bytes, Pane] = {}
    begins = word.encode()
    last = begins + LAST.encode()
    lines = data.split(b"\n")
    there: TmuxServer | None = None
    panes: dict[str, Pane] = {}
    screens: dict[str, tuple[str, ...]] = {}
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if not line.startswith(begins):
            continue
        kind, rest = line[len(begins) : len(begins) + 1].decode("ascii", "replace"), line[len(begins) + 1 :]
        if kind == END:
            if known is not None and fresh:
                known.clear()
                known.update(fresh)
            return QueryReply(there, tuple(panes.values()), screens, complete=True)
        if kind == SERVER:
            there = _parse_server(rest)
        elif kind == PANE:
            while not rest.endswith(last) and at < len(lines):  # a path may have lines
                rest += b"\n" + lines[at]
                at += 1
            line = rest.replace(begins, b"\0")
            found = before.get(line) or _parse_pane(rest.split(begins), server)
            if found is not None:
                fresh[line] = found
                twin = panes.get(found.id)
                panes[found.id] = found if twin is None else twin._replace(also=(*twin.also, found.session))
        elif kind == SCREEN:
            name, told, number = rest.decode("ascii", "replace").partition(",")
            name = name if told else f"%{name}"
            height = max(0, _parse_number(number)) if told else panes[name].height if name in panes else 0
            at = query_modes.find_next_answer(lines, at) if way.guarded else at
            text, at = b"\n".join(lines[at : at + height]), at + height
            if height and at < len(lines):
                screens[name] = _split_rows(text, way)
        elif kind == SCREENS:
            names = [f"%{number}" for number in rest.decode("ascii", "replace").split(",")]
            heights = [panes[name].height if name in panes else 0 for name in names]
            texts, at = query_modes.split_screens(way, begins, lines, at, heights)
            screens |= {name: _split_rows(text, way) for name, text in zip(names, texts, strict=False)}
    return QueryReply(there, tuple(panes.values()), screens, complete=False)


def _split_rows(text: bytes, way: QueryMode) -> tuple[str, ...]:
    return tuple((query_modes.unescape_buffer(text) if way.buffered else text).decode("utf-8", "replace").split("\n"))


def _parse_server(line: bytes) -> TmuxServer | None:
    parts = line.decode("utf-8", "replace").split(",")
    return (
        TmuxServer(parts[0], _parse_number(parts[1]), _parse_number(parts[2]))
        if len(parts) == len(TmuxServer._fields)
        else None
    )


def _parse_pane(parts: list[bytes], server: tuple[str, ...]) -> Pane | None:
    numbers = parts[0].decode("utf-8", "replace").split(",")
    if len(parts) != len(TEXTS) + 2 or len(numbers) != len(NUMBERS):
        return None
    name, window, pid, width, height, x, y, cursor, alternate, dead, status, signal, activity, tty = numbers
    title, command, path, session = parts[1:-1]
    return Pane(  # in the order of its fields: to name them costs more than all else that is done for a pane
        server, name, session.decode("utf-8", "replace"), _parse_number(pid), title.decode("utf-8", "replace"),
        command.decode("utf-8", "replace"), path.decode("utf-8", "surrogateescape"), _parse_number(width),
        max(0, _parse_number(height)), _parse_number(x), _parse_number(y), cursor != "0", alternate == "1",
        dead == "1", status,
        _parse_number(activity), tty, window, signal, (),
    )  # fmt: skip


def _parse_number(text: str) -> int:
    return parse_whole_number(text) or 0


# Trouble ------------------------------------------------------------------------------------------------------


def read_trouble(errors: str, place: str) -> ReplyTrouble:
    """What a client that did not get its reply complained of, with what to do about it."""
    said = errors.strip()
    if not said:
        return ReplyTrouble(
            OTHER, f"the tmux client at {place} ended without an answer; if that goes on, try it by hand"
        )
    if said.startswith(("no server running", "server exited", "lost server")) or _is_refused(said):
        return ReplyTrouble(ABSENT, f"no tmux server answers at {place}; it will be seen when one is started there")
    if "Permission denied" in said or "access not allowed" in said:
        return ReplyTrouble(DENIED, f"the tmux server at {place} is another user's; run as that user: {said}")
    if said.startswith("protocol version mismatch"):
        words = (
            f"the tmux server at {place} is of another version than the client; put the server's own tmux first in PATH"
        )
        return ReplyTrouble(MIXED, f"{words}: {said}")
    return ReplyTrouble(OTHER, f"tmux at {place} did not answer as expected: {said.splitlines()[0]}")


def _is_refused(said: str) -> bool:
    ends = ("(No such file or directory)", "(Connection refused)")
    return said.startswith("error connecting") and said.endswith(ends)


def outdated_trouble(version: str, place: str) -> ReplyTrouble:
    name, oldest = version.removeprefix("tmux "), ".".join(map(str, OLDEST))
    words = f"tmux {name} at {place} is too old to be asked; it must be {oldest} or later, server and client"
    return ReplyTrouble(OLD, words)


def has_no_session(errors: str) -> bool:
    """Whether a client complained only because its server has no session."""
    return errors.strip() == "no current target"


def is_pane_gone(errors: str) -> bool:
    """Whether a request was dropped half way because a pane that it named is gone; what came before holds."""
    return errors.startswith("can't find pane")


def is_too_old(version: str) -> bool:
    """Whether a version, as tmux words it ("3.3a", "next-3.6", "tmux 1.8"), is one that we cannot ask."""
    text = version.removeprefix("tmux ").removeprefix("next-")
    major, _, minor = text.partition(".")
    digits = minor[: len(minor) - len(minor.lstrip("0123456789"))]
    number = parse_whole_number(major)
    return number is not None and (number, parse_whole_number(digits) or 0) < OLDEST


# Names --------------------------------------------------------------------------------------------------------


def parse_socket(variable: str) -> str:
    """The socket that $TMUX (socket, server's pid, session) names. It may have commas, though tmux itself errs then."""
    socket, *rest = variable.rsplit(",", 2)
    return socket if [part.isdecimal() for part in rest] == [True, True] else variable.split(",", 1)[0]


def is_in_session(pane: Pane, name: str) -> bool:
    """Whether a pane is in the session of exactly that name, as tmux writes it: up to 3.6, dots are underscores."""
    return name in (pane.session, *pane.also)
