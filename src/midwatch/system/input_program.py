"""Calling another's program: for so long and no longer, in a group of its own, which is ended when it is late."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile

from midwatch.core.text import in_words
from midwatch.core.value import Value
from midwatch.system.child_environment import without_secrets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import IO

MERCY = 1.0
LARGEST = 64 << 20
"""Bytes of what it says that are read."""


class ProgramOutput(Value):
    code: int
    """Its exit code; below 0 the signal that ended it."""
    out: str
    trouble: str


class CallError(Exception):
    """It could not be run; the message begins a sentence, to which a link adds what to do."""


class ProgramLateError(CallError):
    """It took too long and was ended."""


def call(
    words: list[str], env: Mapping[str, str], *, limit: float, name: str = "", cwd: str | None = None
) -> ProgramOutput:
    """What it said and how it ended, for at most ``limit`` seconds. ``name``: as it is called in an error."""
    try:
        # Files, not pipes: what it leaves running may keep a pipe open for ever.
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as trouble:
            process = subprocess.Popen(
                words, cwd=cwd, env=without_secrets(env), stdin=subprocess.DEVNULL, stdout=out, stderr=trouble,
                start_new_session=True,
            )  # fmt: skip
            try:
                code = process.wait(limit)
            except BaseException as error:
                _end(process)
                if not isinstance(error, subprocess.TimeoutExpired):
                    raise
                raise ProgramLateError(
                    f"`{name or words[0]}` took longer than {in_words(limit)} and was ended"
                ) from error
            return ProgramOutput(code, _read(out, name or words[0]), _read(trouble, name or words[0]))
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise CallError(f"{words[0]} cannot be run: {why}") from error


def _read(file: IO[bytes], name: str) -> str:
    if file.seek(0, os.SEEK_END) > LARGEST:
        raise CallError(f"`{name}` said more than {LARGEST >> 20} MB")
    file.seek(0)
    return file.read().decode("utf-8", "replace")


def _end(process: subprocess.Popen[bytes]) -> None:
    """It is not waited for yet, so the number of its group is still its own."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    try:
        process.wait(MERCY)
    except subprocess.TimeoutExpired:  # it hangs in the kernel; it ends when it comes back
        pass
