"""Asking a model through a command: the question on its standard input, the answer from its standard output.

Its output is counted, so that a command that never stops can neither fill a disk nor our memory.
"""

from __future__ import annotations

import os
import re

from midwatch.agents import parts
from midwatch.core.plain_text import clean_reason
from midwatch.core.text import format_duration, signal_name
from midwatch.core.value import Value
from midwatch.stories.codec.model_answer import ESCAPE
from midwatch.stories.model import CALL_FAILED, NO_JSON, TIMED_OUT, ParseTrouble
from midwatch.system import run_program
from midwatch.system.run_program import OutputCap, ProgramRun, RunLimits

LARGEST = 1 << 16
"""Bytes of an answer; what says more than that is no small object."""
KEPT = 4096
"""Bytes of its errors that are kept, from the end."""
NOT_FOUND = 127
PANE = re.compile(r"TMUX(?:_PANE)?")
"""Variables that tell of the pane we were called from: an agent's hooks take what is done there for its own."""
CHILD = {"STORY_AUTOMATOR_CHILD": "true"}
"""The stop hook of a story-automator lets no other agent of that project end."""


class ModelReply(Value):
    said: str
    trouble: ParseTrouble | None = None
    """Why there is none; then nothing of what was said counts."""
    again: bool = False
    """Whether it may go better if asked again."""


def ask_model(command: str, question: str, limit_s: float) -> ModelReply:
    """Ask once. The command runs in a group of its own, which ends with it or with its time."""
    limits = RunLimits(limit_s, OutputCap(LARGEST, ends=True), OutputCap(KEPT), whole_group=True)
    asked = question.encode("utf-8", "replace")
    try:
        done = run_program.run_program(["/bin/sh", "-c", command], limits, env=_command_environment(), data=asked)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the command
        why = f"`{clean_reason(command)}` cannot be run: {getattr(error, 'strerror', '') or error}"
        return ModelReply("", ParseTrouble(CALL_FAILED, why))
    return _build_reply(command, done, limit_s)


def _command_environment() -> dict[str, str]:
    """Without what marks children of the agent that called us: they behave otherwise. How one signs in stays."""
    callers = (PANE, *parts.caller_variables())
    kept = os.environ.items()
    return {name: value for name, value in kept if not any(caller.fullmatch(name) for caller in callers)} | CHILD


def _build_reply(command: str, done: ProgramRun, limit_s: float) -> ModelReply:
    called = f"`{clean_reason(command)}`"
    if done.too_much:
        return ModelReply("", ParseTrouble(NO_JSON, f"{called} said more than {LARGEST >> 10} kB"), again=True)
    if not done.ended:
        return ModelReply(
            "", ParseTrouble(TIMED_OUT, f"{called} took longer than {format_duration(limit_s)} and was ended")
        )
    if done.code:
        how = f"was killed by {signal_name(-done.code)}" if done.code < 0 else f"ended with {done.code}"
        last = _last_line(done.errors) or _last_line(done.output)
        return ModelReply(
            "", ParseTrouble(CALL_FAILED, f"{called} {how}{last and f': {last}'}"), again=done.code != NOT_FOUND
        )
    try:
        return ModelReply(done.output.decode("utf-8"))
    except UnicodeDecodeError:
        return ModelReply("", ParseTrouble(NO_JSON, "the answer is not UTF-8"), again=True)


def _last_line(said: bytes) -> str:
    rows = [clean_reason(ESCAPE.sub("", row)) for row in said[-KEPT:].decode("utf-8", "replace").splitlines()]
    return next(filter(None, reversed(rows)), "")
