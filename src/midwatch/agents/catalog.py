"""The files that describe agents: ours, and the user's own in the configuration directory, which replace them."""

from __future__ import annotations

import functools
import os

from midwatch.agents import definition_file
from midwatch.agents.definition import DetectionRule, Detector
from midwatch.config.paths import configuration_directory
from midwatch.core.errors import FormatError, UsageError
from midwatch.system.atomic_files import read_plain

OURS = os.path.dirname(os.path.abspath(__file__))
SHARED = tuple(os.path.join(OURS, name, "rules.toml") for name in ("program_status", "transcripts"))
"""Rules that hold for every agent."""
FILE = "definition.toml"
"""In the folder that has the agent's name."""
SUFFIX = ".toml"
"""Of the user's own files, which have the agent's name."""
LARGEST = 1 << 20


def definition_paths() -> dict[str, str]:
    """Agent and the file that describes it; a user's file stands in place of ours."""
    found = {name: path for name in sorted(os.listdir(OURS)) if os.path.exists(path := f"{OURS}/{name}/{FILE}")}
    directory = os.path.join(configuration_directory(), "agents")
    try:
        names = sorted(os.listdir(directory))
    except OSError:
        return found
    own = [name for name in names if name.endswith(SUFFIX) and not name.startswith("_")]
    return found | {name.removesuffix(SUFFIX): os.path.join(directory, name) for name in own}


def load(agent: str) -> Detector:
    """One agent's detector; FormatError with the line when its file is wrong."""
    known = definition_paths()
    if agent not in known:
        raise UsageError(f"no agent is called {agent!r}; known are {', '.join(known)}")
    path = known[agent]
    detector = definition_file.read(_read_text(path), path, _load_shared_rules(), ours=path.startswith(f"{OURS}/"))
    if detector.agent != agent:
        raise FormatError(f"{known[agent]}:1: agent is {detector.agent!r}, but the file is called {agent}{SUFFIX}")
    return detector


@functools.cache
def _load_shared_rules() -> tuple[DetectionRule, ...]:
    return tuple(rule for path in SHARED for rule in definition_file.read_rules(_read_text(path), path, ours=True))


def _read_text(path: str) -> str:
    try:
        return read_plain(path, LARGEST, follow=True).decode()
    except (OSError, UnicodeDecodeError) as error:
        raise FormatError(f"{path}:1: cannot be read: {error}") from error


def load_all() -> tuple[Detector, ...]:
    return tuple(load(agent) for agent in definition_paths())


class Detectors(dict[str, Detector]):
    """Detectors by agent, each read when it is first asked for."""

    def __missing__(self, agent: str) -> Detector:
        self[agent] = load(agent)
        return self[agent]
