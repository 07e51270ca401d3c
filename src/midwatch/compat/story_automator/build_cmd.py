"""`tmux-wrapper build-cmd`: the command line that has an agent do one step, quoted so that a shell changes none of it.

The prompt names the files by which the step is verified afterwards, and says that nobody will answer. Words of the
caller's own come last, and count.
"""

from __future__ import annotations

import os

from midwatch.compat.story_automator import agent_command, project, story_verification
from midwatch.core.errors import RefusedError, UsageError
from midwatch.trackers.codec import bmad

FLAGS = ("--agent", "--state-file")
USAGE = "build-cmd <step> <story_id> [--agent claude|codex] [--state-file PATH] [extra_instruction]"
TASKS = {
    "create": "Write the file of story {story}.",
    "dev": "Implement story {story}.",
    "auto": "Add the automated tests that story {story} still lacks.",
    "review": "Review what was implemented for story {story}.",
    "retro": "Hold the retrospective of epic {epic}.",
}
ENDS = {
    "create": "Write exactly one new file for it, {files}, and none for any other story.",
    "dev": (
        "Its file is {files}. Do every task in it that is still open, run the tests, and tick what is done. "
        "When all tests pass, set its status to review, there and in {sprint}."
    ),
    "auto": "Its file is {files}. Write each test that you find missing, and run them all.",
    "review": (
        "Its file is {files}. When nothing serious is left to be fixed, set its status to done, there and in {sprint}; "
        "otherwise set it to in-progress in both."
    ),
    "retro": (
        "Its stories are {files}, their statuses are in {sprint}. Answer from these files what would be asked of the "
        "team. Afterwards compare the documentation with the code, and correct what the epic has made untrue."
    ),
}
"""What must be there in the end: by this the step is verified."""
EXTRA = {"review": "Fix every issue that you find, without asking."}
"""What is said where the caller says nothing."""
ALONE = "#YOLO Nobody is here to answer: at every question or menu decide for yourself, and go on until all is done."


def main(words: list[str]) -> int:
    given, alone = _split_flags(words)
    if len(alone) < len(("step", "story")):
        raise UsageError(f"build-cmd needs a step and a story: {USAGE}")
    step = project.check_step(alone[0])
    story = project.check_subject(step, alone[1])
    if (path := given.get("--state-file")) and not (os.path.isfile(path) and os.access(path, os.R_OK)):
        raise RefusedError(f"state file unreadable: {path}")
    wanted = given.get("--agent")
    said = build_prompt(
        project.project_root(), step, story, " ".join(alone[2:]), slash=agent_command.knows_slash_commands(wanted)
    )
    print(agent_command.shell_command(wanted, said))
    return 0


def build_prompt(root: str, step: str, story: str, extra: str, *, slash: bool) -> str:
    """What an agent is told. ``slash``: it knows the slash commands of Claude Code."""
    epic = project.epic_number(story)
    told = {
        "story": story,
        "epic": epic,
        "files": f"{bmad.ARTIFACTS}/{epic if step == 'retro' else project.story_prefix(story)}-*.md",
        "sprint": story_verification.read_sprint_status(root)[0] or bmad.PLACES[0],
    }
    task, end = TASKS[step].format(**told), ENDS[step].format(**told)
    flow = agent_command.find_workflow(root, step, slash=slash)
    extra = extra.strip() or EXTRA.get(step, "")
    if flow.slash:
        lines = [f"{flow.slash} {epic if step == 'retro' else story} {ALONE}", end, extra]
    else:
        read = f"Read {flow.file} first, and follow the workflow that it describes." if flow.file else ""
        lines = [task, read, end, ALONE, extra]
    return "\n".join(line for line in lines if line)


def _split_flags(words: list[str]) -> tuple[dict[str, str], list[str]]:
    """Our flags, wherever they stand, and all other words as they are: an instruction may begin with a dash."""
    given: dict[str, str] = {}
    alone: list[str] = []
    left = list(words)
    while left:
        word = left.pop(0)
        if word not in FLAGS:
            alone.append(word)
        elif not left:
            raise UsageError(f"{word} requires a value")
        else:
            given[word] = left.pop(0)
    return given, alone
