"""Which tracker a project has: what its settings name, else what is found there, else ours.

All worktrees of a project have one: that of its main tree.
"""

from __future__ import annotations

import os

from midwatch.config import load, paths, trust
from midwatch.config.model import Settings
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
    kind = given.tracker or (_kind_of_path(path) if path else _detect_kind(root))
    if kind == "kanban":
        from midwatch.trackers.hermes import HermesTracker  # noqa: PLC0415  # each loads what only it needs

        return HermesTracker(given.tracker_path)
    place = path or _usual_place(kind, root)
    if not path and _is_planted(root, place):
        raise RefusedError(f"{place} belongs to another user and lies where everybody can make files; work in a "
                           "directory of your own")  # fmt: skip
    if not f"{os.path.realpath(place)}/".startswith(f"{root.rstrip('/')}/"):
        _check_outside(given, place)
    if kind == "beads":
        from midwatch.trackers.beads import BeadsTracker  # noqa: PLC0415  # as above

        return BeadsTracker(place)
    if kind == "sprint":
        from midwatch.trackers.bmad import BmadTracker  # noqa: PLC0415  # as above

        return BmadTracker(place)
    return builtin.BuiltinTracker(place)


def _check_outside(given: Settings, place: str) -> None:
    """Whether a tracker may be outside of its project: a repository can bring links to any file that is the user's."""
    if not given.tracker_path:
        raise RefusedError(
            f"{place} is a link that leads out of the project; if you mean that, name it as `path` of [tracker] in a "
            "midwatch.toml that you trust, or in your own config.toml"
        )
    if problem := trust.trusted_value(given, "tracker_path")[1]:
        raise RefusedError(f"{problem} (its [tracker] path leads out of the project)")


def _detect_kind(root: str) -> str:
    if os.path.isdir(place := f"{root}/{BEADS}") and not _is_planted(root, place):
        return "beads"
    return "sprint" if _find_sprint_file(root) else "tasks"


def _usual_place(kind: str, root: str) -> str:
    if kind == "sprint":
        return _find_sprint_file(root) or f"{root}/{bmad.PLACES[0]}"
    return f"{root}/{BEADS}" if kind == "beads" else f"{root}/{builtin.NAME}"


def _kind_of_path(path: str) -> str:
    """What a path alone means."""
    if os.path.isdir(path) or os.path.basename(os.path.dirname(path)) == BEADS:
        return "beads"
    return "sprint" if path.endswith((".yaml", ".yml")) else "tasks"


def _find_sprint_file(root: str) -> str:
    places = [f"{root}/{place}" for place in bmad.PLACES]
    return next((place for place in places if os.path.isfile(place) and not _is_planted(root, place)), "")


def _is_planted(root: str, place: str) -> bool:
    """Whether another user has put a tracker into a directory such as /tmp, where we happen to work."""
    return paths.is_planted(f"{root}/{place[len(root) :].lstrip('/').partition('/')[0]}")
