"""Whether a registry may name sockets of tmux servers: it is trusted with those that it named when a person read it.

A server has its clients read and write files. So a socket outside of tmux's own directory is not taken from a file that
a repository brought. Rows change all the time; the sockets that they name hardly do.
"""

from __future__ import annotations

import contextlib

from midwatch.config import trust
from midwatch.core.errors import MidwatchError, RefusedError
from midwatch.core.text import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from midwatch.registry.model import RegistryRow


def named_sockets(rows: Iterable[RegistryRow]) -> tuple[str, ...]:
    """The sockets that the rows of a registry name by path: what the file is trusted with."""
    return tuple(sorted({row.server[1] for row in rows if row.server is not None and row.server[0] == "-S"}))


def find_problem(path: str, named: tuple[str, ...]) -> str:
    """Why a registry may not name these sockets, and what to do; empty when it may.

    Its rows change all the time, so it is trusted with its sockets and not byte by byte.
    """
    try:
        known = trust.find_entry(path)
    except MidwatchError as error:
        return str(error)
    if unsafe := trust.find_exposure(path):
        return unsafe
    if known is None:
        return f"{visible(path)} names it and is not trusted; read it, then `midwatch trust {visible(path)}`"
    if known.digest != digest_sockets(named):
        since = f"names other sockets than when you trusted it ({trust.format_day(known)})"
        return f"{visible(path)} {since}; read it, then `midwatch trust {visible(path)}`"
    return ""


def update_trust(path: str, before: tuple[str, ...], after: tuple[str, ...]) -> None:
    """Keep a registry trusted that we have written: what we put there, the user has named.

    One that was not trusted with what it named before is not trusted now.
    """
    if before != after and not (before and find_problem(path, before)):
        with contextlib.suppress(RefusedError):  # then it is asked for when it matters
            trust_registry(path, after)


def trust_registry(path: str, named: tuple[str, ...]) -> trust.TrustEntry:
    """Trust a registry with the sockets that it names."""
    return trust.record_trust(path, digest_sockets(named), {})


def digest_sockets(named: tuple[str, ...]) -> str:
    return trust.digest("\0".join(("tmux sockets", *named)).encode("utf-8", "surrogateescape"))
