"""Whether the work of a step is there: story files and sprint-status tell, whatever a screen says.

These are the project's own files, so they are read as an agent left them and never trusted further: nothing outside
the project's directory of artifacts counts as a story.
"""

from __future__ import annotations

import os

from midwatch.compat.story_automator import project
from midwatch.core.errors import UsageError
from midwatch.core.value import Value
from midwatch.stories.codec import story_file
from midwatch.system.atomic_files import read_plain
from midwatch.trackers.codec import bmad

LARGEST = 1 << 24
TOLERANCE = 1.0
"""Seconds that a file may seem older than it is: clocks of file systems are coarse."""
DEVELOPED = ("review", "ready-for-review", "done")
DONE = ("done",)


class StoryVerification(Value):
    """``done`` is None where nothing tells. ``reason``: the word that scripts read; ``says``: the same for people."""

    done: bool | None
    reason: str
    says: str


class StoryFiles(Value):
    """What a project tells of a story: its key and status in sprint-status and where that is, its file's and where."""

    key: str = ""
    sprint: str = ""
    sprint_file: str = ""
    status: str = ""
    file: str = ""
    trouble: str = ""


def verify_step(root: str, step: str, story: str, since: float | None = None) -> StoryVerification:
    """Whether a step's work is there. ``since``: when the session began (wall clock); what is older is not its."""
    if step == "auto":
        return StoryVerification(done=None, reason="normal_completion", says="nothing tells whether tests were added")
    try:
        if step == "retro":
            return _verify_epic(root, project.epic_number(story))
        start = project.story_prefix(story)
    except UsageError as error:
        return StoryVerification(done=False, reason="story_key_required", says=str(error))
    if step == "create":
        return _verify_creation(root, start, since)
    found = read_story(root, story)
    told = _format_files(found)
    if not found.sprint and not found.status:
        if step == "dev":
            return StoryVerification(done=None, reason="normal_completion", says=told)
        return StoryVerification(done=False, reason="workflow_not_complete", says=told)
    wanted = DEVELOPED if step == "dev" else DONE
    if found.sprint in wanted or found.status in wanted:
        return StoryVerification(done=True, reason="verified_complete", says=told)
    return StoryVerification(done=False, reason="workflow_not_complete", says=told)


def read_story(root: str, story: str) -> StoryFiles:
    """What sprint-status and the story's own file say of it; a file counts if it is the only one of its number."""
    found = StoryFiles()
    where, text = read_sprint_status(root)
    if where:
        found = found._replace(sprint_file=where)
        keys = bmad.find_keys(text, story)
        if len(keys) == 1:
            found = found._replace(key=keys[0], sprint=bmad.parse_statuses(text)[keys[0]])
        elif keys:
            found = found._replace(trouble=f"{where} has {len(keys)} stories {story}: {', '.join(keys)}")
    files = find_story_files(root, project.story_prefix(story))
    if len(files) == 1:
        return found._replace(file=files[0], status=story_file.find_status(_read_text(f"{root}/{files[0]}") or ""))
    if files and not found.trouble:
        found = found._replace(trouble=f"{len(files)} files could be story {story}: {', '.join(files)}")
    return found


def find_story_files(root: str, start: str, place: str = bmad.ARTIFACTS) -> list[str]:
    """Files of a story, below a project: plain, not empty, each counted once, and none that a link leads away to."""
    directory = os.path.join(root, place)
    inside = os.path.realpath(directory)
    try:
        names = sorted(os.listdir(directory))
    except OSError:
        return []
    found: set[str] = set()
    for name in names:
        if not (name.startswith(f"{start}-") and name.endswith(".md")):
            continue
        real = os.path.realpath(f"{directory}/{name}")
        if os.path.dirname(real) == inside and os.path.isfile(real) and _size_and_time(real)[0]:
            found.add(f"{place}/{os.path.basename(real)}")
    return sorted(found)


def _size_and_time(path: str) -> tuple[int, float]:
    """Size of a file and when it was written; a file that has just gone has neither."""
    try:
        seen = os.stat(path)
    except OSError:
        return 0, 0.0
    return seen.st_size, seen.st_mtime


def read_sprint_status(root: str) -> tuple[str, str]:
    """Where sprint-status is, below a project, and what it holds; the first place that has one counts."""
    for place in bmad.PLACES:
        text = _read_text(f"{root}/{place}")
        if text is not None:
            return place, text
    return "", ""


def _verify_creation(root: str, start: str, since: float | None) -> StoryVerification:
    files = find_story_files(root, start)
    if len(files) != 1:
        many = f": {', '.join(files)}" if files else ""
        says = f"{len(files)} files {bmad.ARTIFACTS}/{start}-*.md where one was expected{many}"
        return StoryVerification(done=False, reason="unexpected_story_artifact_count", says=says)
    if since is not None and _size_and_time(f"{root}/{files[0]}")[1] < since - TOLERANCE:
        return StoryVerification(
            done=False, reason="workflow_not_complete", says=f"{files[0]} is older than the session"
        )
    return StoryVerification(done=True, reason="verified_complete", says=f"{files[0]} is there")


def _verify_epic(root: str, epic: str) -> StoryVerification:
    where, text = read_sprint_status(root)
    if not where:
        return StoryVerification(done=False, reason="epic_incomplete", says=f"there is no {bmad.PLACES[0]}")
    told = bmad.stories_of_epic(text, epic)
    if not told:
        return StoryVerification(done=False, reason="epic_incomplete", says=f"{where} has no story of epic {epic}")
    left = [f"{key} is {status}" for key, status in told.items() if status not in DONE]
    if left:
        return StoryVerification(done=False, reason="epic_incomplete", says=", ".join(left))
    return StoryVerification(
        done=True, reason="verified_complete", says=f"all {len(told)} stories of epic {epic} are done"
    )


def _format_files(found: StoryFiles) -> str:
    parts = [f"{found.sprint_file} says {found.key} is {found.sprint}"] if found.sprint else []
    if found.status:
        parts.append(f"{found.file} says {found.status}")
    elif found.file:
        parts.append(f"{found.file} tells no status")
    if found.trouble:
        parts.append(found.trouble)
    return "; ".join(parts) or "neither sprint-status nor a story file tells of it"


def _read_text(path: str) -> str | None:
    try:
        return read_plain(path, LARGEST).decode("utf-8-sig", "replace")
    except OSError:
        return None
