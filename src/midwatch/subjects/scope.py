"""What a face observes if nobody says otherwise: the tmux server of this user, and the registry of the workspace."""

from __future__ import annotations

import os

from midwatch.registry import store as registry_store
from midwatch.subjects.model import SubjectScope


def find_scope() -> SubjectScope:
    """The server that we run in, or else the default one; the nearest registry, if there is one; and children."""
    workspace = os.path.realpath(os.environ.get("WORKSPACE_ROOT") or os.getcwd())
    return SubjectScope(((),), registry_store.nearest_registry(workspace), children=True)
