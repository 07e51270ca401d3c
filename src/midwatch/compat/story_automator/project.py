"""Whose project, which story, which session: the words of `story-automator` and how its names are spelt.

A name of a session tells all that is needed to verify its work, so what goes into one is checked first.
"""

from __future__ import annotations

import os
import re

from midwatch.config import paths as config_paths
from midwatch.core.errors import UsageError
from midwatch.core.numbers import parse_whole_number
from midwatch.core.value import Value

STEPS = ("create", "dev", "auto", "review", "retro")
STORY = re.compile(r"(?P<epic>[0-9]{1,6})[.-](?P<number>[0-9]{1,6})(?P<rest>(?:-[A-Za-z0-9_]+)*)")
EPIC = re.compile(r"(?:epic-)?(?P<epic>[0-9]{1,6})")
SESSION = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,159}")
NAME = re.compile(
    r"sa-(?P<slug>[a-z0-9]+)-(?P<stamp>[0-9]{6}-[0-9]{6,}(?:-[0-9]+)?)-e(?P<epic>[0-9]+)-s(?P<story>[A-Za-z0-9_-]+?)"
    rf"-(?P<step>{'|'.join(STEPS)})(?:-r(?P<cycle>[0-9]+))?"
)
MARKS = ("_bmad-output", "_bmad")
"""What a project of BMAD has at its root."""
SLUG = 8
MOST = 1_000_000
SHOWN = 60


class StoryNames(Value):
    """What the name of a session tells. A story is `5.3`, or its whole key if that was given; of a retro the epic."""

    slug: str
    stamp: str
    epic: str
    story: str
    step: str
    cycle: str


def project_root() -> str:
    """The project meant: PROJECT_ROOT, else the current directory; as its real path."""
    found = os.path.realpath(os.environ.get("PROJECT_ROOT") or config_paths.current_directory())
    if not os.path.isdir(found):
        raise UsageError(f"PROJECT_ROOT is {found}, and that is no directory; set it to the project's, or unset it")
    return found


def resolve_project(given: str | None) -> str:
    """The project that a caller means: as it was said, else the usual one."""
    return os.path.realpath(given) if given else project_root()


def find_project_around(paths: list[str], caller: str) -> str:
    """The project of a session that has no record: the nearest directory above one of its own with files of BMAD.

    Where none has any yet, that of the caller if the session is inside it, else the repository that it is in.
    """
    for path in paths:
        here = os.path.realpath(path)
        while not any(os.path.isdir(f"{here}/{each}") for each in MARKS):
            if os.path.exists(f"{here}/.git") or here == os.path.dirname(here):
                break
            here = os.path.dirname(here)
        else:
            return here
    if not paths or f"{os.path.realpath(paths[0])}/".startswith(f"{caller}/"):
        return caller
    return config_paths.project_root(paths[0])


def project_slug(path: str) -> str:
    letters = re.sub(r"[^a-z0-9]", "", os.path.basename(path).lower())
    return letters[:SLUG] or "project"


def path_digest(path: str) -> str:
    """What tells two projects of one name apart, in the names of their files."""
    import hashlib  # only where a file is named

    real = os.path.realpath(path).encode("utf-8", "surrogateescape")
    return hashlib.md5(real, usedforsecurity=False).hexdigest()[:8]


def session_name(slug: str, stamp: str, epic: str, story: str, step: str, cycle: str = "") -> str:
    return f"sa-{slug}-{stamp}-e{epic}-s{story_suffix(story)}-{step}" + (f"-r{cycle}" if cycle else "")


def parse_name(name: str) -> StoryNames | None:
    found = NAME.fullmatch(name)
    if found is None:
        return None
    story = found["story"]
    if re.fullmatch(r"[0-9]+-[0-9]+", story):
        story = story.replace("-", ".")
    return StoryNames(found["slug"], found["stamp"], found["epic"], story, found["step"], found["cycle"] or "")


def story_suffix(story: str) -> str:
    return story.replace(".", "-")


def check_story(text: str) -> str:
    if not STORY.fullmatch(text):
        raise UsageError(f"{shorten_word(text)} is no story; say 5.3, 5-3, or a whole key such as 5-3-login")
    return text


def check_subject(step: str, text: str) -> str:
    """What a step is about: a story; of a retro the epic, or any story of it."""
    if step == "retro" and EPIC.fullmatch(text):
        return text
    return check_story(text)


def story_prefix(story: str) -> str:
    """How the keys and files of a story begin: 5-3."""
    found = STORY.fullmatch(check_story(story))
    assert found is not None
    return f"{found['epic']}-{found['number']}"


def epic_number(text: str) -> str:
    """The epic of a story, or the one that is named."""
    found = EPIC.fullmatch(text) or STORY.fullmatch(text)
    if found is None:
        raise UsageError(f"{shorten_word(text)} is neither an epic nor a story; say 5, or 5.3")
    return found["epic"]


def check_epic(text: str) -> str:
    """The number of an epic, said as 5 or as epic-5."""
    found = EPIC.fullmatch(text)
    if found is None:
        raise UsageError(f"{shorten_word(text)} is no epic; say 5, or epic-5")
    return found["epic"]


def check_step(text: str) -> str:
    if text not in STEPS:
        raise UsageError(f"{shorten_word(text)} is no step; there are {', '.join(STEPS)}")
    return text


def check_number(text: str, what: str, *, least: int = 0, most: int = MOST) -> int:
    number = parse_whole_number(text)
    if number is None or not least <= number <= most:
        raise UsageError(f"{what} is a whole number from {least} to {most}, not {shorten_word(text)}")
    return number


def check_session(text: str) -> str:
    """A name that means one session and nothing else. tmux takes `.` and `:` for a pane or a window of it."""
    if SESSION.fullmatch(text):
        return text
    if re.search(r"[.:]", text) and SESSION.fullmatch(respelt := re.sub(r"[.:]", "_", text)):
        raise UsageError(f"{shorten_word(text)} cannot be a session: tmux writes `.` and `:` as `_`; say {respelt}")
    raise UsageError(
        f"{shorten_word(text)} is no session: 1 to 160 of A-Z a-z 0-9 _ -; `story-automator tmux-wrapper list`"
    )


def output_file(path: str, session: str) -> str:
    return f"{_temporary()}/sa-{path_digest(path)}-output-{session}.txt"


def state_file(path: str, session: str) -> str:
    return f"{_temporary()}/.sa-{path_digest(path)}-session-{session}-state.json"


def _temporary() -> str:
    return (os.environ.get("TMPDIR") or "/tmp").rstrip("/")  # noqa: S108  # its readers look there


def shorten_word(text: str) -> str:
    """A word in a message: on one line, and not longer than anybody reads."""
    return repr(text if len(text) <= SHOWN else text[: SHOWN - 1] + "…")
