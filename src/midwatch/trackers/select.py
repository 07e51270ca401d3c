"""Which tracker a project has: what its settings name, else what is found there, else ours.

All worktrees of a project have one: that of its main tree.
"""

from __future__ import annotations

import os

from midwatch.config import load, paths, trust
from midwatch.core.errors import RefusedError
from midwatch.trackers import builtin
from midwatch.trackers.codec import bmad
from midwatch.trackers.model import Tracker

BEADS = ".beads"


def find_tracker(project: str) -> Tracker:
    """The tracker of the project that a directory is in. Nothing is read before it is asked; ours may not be there yet.

    FormatError where a settings file is wrong; RefusedError where it leads out of its project and is not trusted.
    """
    root = paths.main_worktree(project)
    given = load.load(root)
    path = os.path.join(root, os.path.expanduser(given.tracker_path)) if given.tracker_path else ""
    if given.tracker != "kanban" and not f"{os.path.normpath(path or root)}/".startswith(f"{root.rstrip('/')}/"):
        _, problem = trust.trusted_value(given, "tracker_path")
        if problem:
            raise RefusedError(f"{problem} (its [tracker] path leads out of the project)")
    match given.tracker or (_kind_of_path(path) if path else _detect_kind(root)):
        case "beads":
            from midwatch.trackers.beads import BeadsTracker  # noqa: PLC0415  # each loads what only it needs

            return BeadsTracker(path or f"{root}/{BEADS}")
        case "sprint":
            from midwatch.trackers.bmad import BmadTracker  # noqa: PLC0415

            return BmadTracker(path or _find_sprint_file(root) or f"{root}/{bmad.PLACES[0]}")
        case "kanban":
            from midwatch.trackers.hermes import HermesTracker  # noqa: PLC0415

            return HermesTracker(given.tracker_path)
        case _:
            return builtin.BuiltinTracker(path or f"{root}/{builtin.NAME}")


def _detect_kind(root: str) -> str:
    if os.path.isdir(f"{root}/{BEADS}"):
        return "beads"
    return "sprint" if _find_sprint_file(root) else "tasks"


def _kind_of_path(path: str) -> str:
    """What a path alone means."""
    if os.path.isdir(path) or os.path.basename(os.path.dirname(path)) == BEADS:
        return "beads"
    return "sprint" if path.endswith((".yaml", ".yml")) else "tasks"


def _find_sprint_file(root: str) -> str:
    return next((f"{root}/{place}" for place in bmad.PLACES if os.path.isfile(f"{root}/{place}")), "")
