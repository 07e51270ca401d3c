"""Whether somebody holds a lock on a file. Apart from `leases`, which takes them, so that hot verbs load little."""

from __future__ import annotations

import fcntl
import os


def is_free(path: str) -> bool:
    """Whether nobody holds a lock. Looking takes it for an instant, shared with all who look."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(fd)
    return True
