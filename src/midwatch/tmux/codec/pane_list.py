"""Asking for the panes of a server or of a session, one row each."""

from __future__ import annotations


def server_panes(shown: str) -> list[str]:
    """Every pane of a server. ``shown``: the format of a row."""
    return ["list-panes", "-a", "-F", shown]


def session_panes(session: str, shown: str) -> list[str]:
    """The panes of the session of that name."""
    return ["list-panes", "-s", "-t", f"={session}:", "-F", shown]


def neighbour_panes(pane: str, shown: str) -> list[str]:
    """The panes of the session that a pane is in."""
    return ["list-panes", "-s", "-t", pane, "-F", shown]
