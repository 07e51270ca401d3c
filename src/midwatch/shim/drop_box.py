"""The drop box of a subject: the one directory in which the work of a job or session may write. A leaf.

It is ``drop/NAME`` in the state directory, and the only part of it that a sandbox is given. What is found there is
data: a note, a result, mail, what a hook told. It never says which process is meant, how a run ended or what is to be
run. The work may leave anything there, so nothing in it is followed, waited for or read without a limit.
"""

from __future__ import annotations

import os

from midwatch.system.atomic_files import open_plain, write_atomic

RUN = "run"
"""Names the run that the box belongs to, for those inside who cannot see its record."""
LARGEST_BEAT = 64 << 10
LARGEST_RESULT = 16 << 20
MAIL = ("md", "read", "acked")
"""Suffixes of what stays when the name is started again: mail that nobody has taken in yet."""


def box_path(directory: str, name: str) -> str:
    return f"{directory}/drop/{name}"


def base_path(directory: str, name: str) -> str:
    """What the paths of a subject's own files begin with."""
    return f"{directory}/drop/{name}/{name}"


def find_state_directory(box: str, name: str) -> str:
    """The directory that a drop box is part of; of an earlier release, where both were one, that directory."""
    return box.removesuffix(f"/drop/{name}")


def find_own_box() -> str:
    """The box of the subject that we run in, where nothing else of its state directory can be written; else empty.

    A sandbox may show another directory in its place, which may well be writable: so a file of it must be there.
    Whether that can be written is tried, because not every sandbox lets `access` tell.
    """
    box, name = os.environ.get("MIDWATCH_DIR", ""), os.environ.get("MIDWATCH_NAME", "")
    if not box or read_owner(box) is None:
        return ""
    state = find_state_directory(box, name)
    try:
        os.close(os.open(f"{state}/{name}.lock", os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC))
    except OSError:
        return box
    return ""


def prepare_box(directory: str, name: str, run: str, patience: float | None) -> None:
    """Make the box of a run. OSError where there can be none.

    ``patience``: seconds without progress after which the work is suspected; None where its beats do not count.
    """
    box = box_path(directory, name)
    for each in (os.path.dirname(box), box):
        try:
            os.mkdir(each, 0o700)
        except FileExistsError:
            pass
    try:
        write_atomic(f"{box}/{RUN}", f"{run}\n{'' if patience is None else patience}\n")
    except OSError:
        pass  # what an earlier run left running may be in the way; then nobody inside can beat


def read_file(path: str, limit: int) -> bytes | None:
    """The content of a file; None where there is none. OSError, ValueError: it is no plain file, or too large."""
    try:
        fd = open_plain(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    with open(fd, "rb") as file:
        size = os.fstat(fd).st_size
        found = file.read(limit + 1) if size <= limit else b""
    if max(size, len(found)) > limit:
        raise ValueError(f"it has {max(size, len(found))} bytes, and {limit} are allowed")
    return found


def read_owner(box: str) -> tuple[str, str] | None:
    """The run that a box belongs to, and its patience as text; None where this is no box, or it does not tell."""
    try:
        found = read_file(f"{box}/{RUN}", LARGEST_BEAT)
    except (OSError, ValueError):
        return None
    run, _, patience = (found or b"").decode("utf-8", "replace").rstrip("\n").partition("\n")
    return (run, patience) if run else None


def read_result(directory: str, name: str) -> tuple[str | None, str]:
    """The result that the work left, if there is one that can be kept, and else why not."""
    try:
        found = read_file(f"{base_path(directory, name)}.result", LARGEST_RESULT)
    except ValueError as error:
        return None, f"its result is not kept: {error}"
    except OSError as error:
        return None, f"its result is not kept: {error.strerror}"
    return None if found is None else found.decode("utf-8", "surrogateescape"), ""
