"""ntm's way of typing: `ntm --robot-send`, for those who use it.

It answers with JSON: which panes have it and which do not. Only an answer that is whole, and names our pane among those
that have it, counts; and it says no more than that keys were pressed. Whether the agent took them, others find out.
"""

from __future__ import annotations

import json
import os
import shutil

from midwatch.core.errors import RefusedError
from midwatch.core.plain_text import make_plain
from midwatch.system import run_program

LARGEST = 100_000
"""Bytes of a text that is given as one argument: Linux takes 128 kB."""
LONGEST = 200
"""Letters of what it said that are told on."""


class NtmError(RefusedError):
    """It could not be run, or did not say that the pane has the text; the message has its words."""


def find_problem(text: str, program: str = "ntm") -> str:
    """Why it cannot be asked at all; empty when it can."""
    if shutil.which(program) is None:
        return f"{program} is not installed here; without it send with --via tmux"
    if len(text.encode()) > LARGEST:
        return f"{len(text)} characters are too many for {program}, which takes them as an argument; use --via tmux"
    return ""


def send_text(
    session: str, pane: str, text: str, *, also: tuple[str, ...] = (), socket: str = "", program: str = "ntm",
    limit: float = 30.0,
) -> None:  # fmt: skip
    """Have it type a text into a pane, and press Enter. Raises NtmError unless it says that it has done both.

    ``also``: how else it may call that pane in its answer: by its index, or by window and index ("1.0").
    """
    command = [program, f"--robot-send={session}", f"--panes={pane}", f"--msg={text}", "--json"]
    env = {**os.environ, "TMUX": f"{socket},0,0"} if socket else os.environ  # the server that its tmux is to ask
    try:
        code, out, trouble = run_program.call(command, env, limit=limit, name=f"{program} --robot-send")
    except run_program.CallError as error:
        raise NtmError(f"{error}; without it send with --via tmux") from error
    try:
        found = json.loads(out)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        said = _last_line(trouble) or _last_line(out) or "nothing"
        raise NtmError(f"`{program} --robot-send` gave no answer that can be read; it said: {said}")
    if code or found.get("success") is not True or found.get("failed"):
        raise NtmError(
            f"`{program} --robot-send` failed: {_format_reason(found) or _last_line(trouble) or f'exit code {code}'}"
        )
    taken = found.get("successful")
    named = [str(each) for each in taken] if isinstance(taken, list) else []
    if not {pane, *also} & set(named):
        others = make_plain(", ".join(named), LONGEST) or "none"
        raise NtmError(f"`{program} --robot-send` does not say that {pane} has it; those that have it: {others}")


def _format_reason(found: dict[str, object]) -> str:
    """In its own words: of the whole, or of the panes that do not have it."""
    failed = found.get("failed")
    told = [found.get("error"), failed if isinstance(failed, str) else "", found.get("hint")]
    for each in failed if isinstance(failed, list) else []:
        of = each if isinstance(each, dict) else {"pane": each}
        told.append(" ".join(str(of[key]) for key in ("pane", "error", "reason") if of.get(key) is not None))
    return make_plain("; ".join([each for each in told if isinstance(each, str) and each]), LONGEST)


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return make_plain(lines[-1], LONGEST) if lines else ""
