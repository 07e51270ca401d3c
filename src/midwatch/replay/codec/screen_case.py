"""One labelled screen: the pane as it was, in the files of the corpus."""

from __future__ import annotations

import json
import re

from midwatch.core.errors import FormatError
from midwatch.core.numbers import parse_whole_number
from midwatch.core.pane_model import Observation, Pane, ProcessInfo
from midwatch.tmux.codec import sgr

_TASK = re.compile(r"( *)(\d{1,10}) stat=(\S+) comm=(.*?) args=(.*)", re.DOTALL)


def read_observation(agent: str, screen: str, facts: str, path: str) -> Observation:
    """What was seen of an agent: the text of its screen (plain or with colours) and the facts of its pane."""
    try:
        found = json.loads(facts)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{path}: not JSON: {error}") from None
    if not isinstance(found, dict):
        raise FormatError(f"{path}: not a table of facts")
    rows, styles = sgr.split_styles(tuple(screen.removesuffix("\n").split("\n")))
    return Observation(agent, _read_pane(found, rows), rows, _parse_processes(found.get("tree"), path), styles=styles)


def _read_pane(found: dict[str, object], rows: tuple[str, ...]) -> Pane:
    def text(key: str) -> str:
        value = found.get(key, "")
        return str(int(value)) if isinstance(value, bool) else str(value)

    def number(key: str, default: int = 0) -> int:
        found = parse_whole_number(text(key))
        return default if found is None else found

    return Pane(
        server=(), id=text("pane_id"), session=text("session_name"), pid=number("pane_pid"), title=text("pane_title"),
        command=text("pane_current_command"), path=text("pane_current_path"),
        width=number("pane_width", max(map(len, rows), default=0)), height=number("pane_height", len(rows)),
        cursor_x=number("cursor_x"), cursor_y=number("cursor_y"), cursor_visible=text("cursor_flag") == "1",
        alternate=text("alternate_on") == "1", dead=text("pane_dead") == "1", dead_status=text("pane_dead_status"),
        activity=number("window_activity"),
    )  # fmt: skip


def _parse_processes(tree: object, path: str) -> tuple[ProcessInfo, ...]:
    """Processes from the lines of a tree, indented by two blanks a level, as `ps` words them."""
    if not isinstance(tree, list):
        return ()
    tasks: list[ProcessInfo] = []
    above: list[int] = []
    for line in tree:
        found = _TASK.fullmatch(str(line))
        if found is None:
            raise FormatError(f"{path}: no process in the line {str(line)[:60]!r} of tree")
        depth, pid, letters = len(found[1]) // 2, int(found[2]), found[3]
        parent = above[depth - 1] if 0 < depth <= len(above) else 0
        above[depth:] = [pid]
        args = tuple(found[5].split(" "))
        tasks.append(ProcessInfo(pid, parent, letters[0], found[4], args, 0, "+" in letters))
    return tuple(tasks)
