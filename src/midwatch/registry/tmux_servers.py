"""Which tmux servers the rows of a registry may name.

A registry can come with somebody else's repository. So it names servers by tmux's own directory, or by the very socket
that the user has named too. Any other socket counts only if the user trusts the file with those that it names.
"""

from __future__ import annotations

from midwatch.core.text import visible
from midwatch.registry import socket_trust
from midwatch.tmux import client as tmux_client

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from midwatch.registry.model import Place, RegistryRow


def refused_servers(path: str, rows: Sequence[RegistryRow], usual: Place = ()) -> dict[Place, str]:
    """The servers of these rows that are not asked, and why; ``usual`` is the one that the user named."""
    users = {tmux_client.socket_path(usual), tmux_client.socket_path(())}
    named = {row.server: tmux_client.socket_path(row.server) for row in rows if row.server is not None}
    outside = {
        server: place
        for server, place in named.items()
        if place not in users and not tmux_client.is_default_directory(place)
    }
    why = socket_trust.find_problem(path, socket_trust.named_sockets(rows)) if outside else ""
    if not why:
        return {}
    return {server: visible(f"tmux server {place} is refused: {why}") for server, place in outside.items()}
