"""Going on with a task: by its own wrapper where that is known, else by what manifest, pane and the agent's file tell.

Where nobody knows the wrapper, the agent's own command goes on with its conversation, from a script of ours that
writes what a wrapper would. The conversation is one that somebody knew, or the only one that began in the directory of
the task since its start; never "the latest". If none began there, the task begins with its prompt.
"""

from __future__ import annotations

import contextlib
import os
import time
import zlib

from midwatch.agents import catalog, launch, parts
from midwatch.agents.conversation_exists import ConversationIndex
from midwatch.agents.conversation_holders import find_holders
from midwatch.agents.definition import Detector
from midwatch.agents.file_head_cache import FileHeadCache
from midwatch.agents.launch import LaunchRules
from midwatch.core.errors import FormatError, MidwatchError
from midwatch.core.pane_model import RunningAgent
from midwatch.core.presence import GONE
from midwatch.jobs.codec import sentinel
from midwatch.system import procfs
from midwatch.taskdir import actions as hand
from midwatch.taskdir import codec
from midwatch.taskdir.agent_observer import read_prompt
from midwatch.taskdir.model import ResumeRecipe, TaskAgent, TaskFacts, TaskNotes
from midwatch.taskdir.observe import read_text
from midwatch.taskdir.session_observer import read_environment

CONTINUE = (
    "Continue the task: your last run was interrupted before it was done. "
    "Look at what is there already, and do not repeat what is done."
)
SHORT = 32
BY_HAND = "run it by hand, or name its script with --wrapper"


def prepare_resume(directory: str, notes: TaskNotes, facts: TaskFacts) -> None:
    """End what is left of a task, and leave all as whoever is run next needs it. RefusedError, OSError."""
    hand.end_processes(notes)
    fields = {
        "status": notes.cause,
        "retry_count": notes.total,
        "last_checked_at": codec.format_time(time.time()),
        **hand.NOT_ABANDONED,
    }
    with contextlib.suppress(FormatError):
        hand.update_manifest(directory, fields, unless_over=False)
    if facts.recipe is not None:
        hand.write_script(directory, facts.recipe.script)
    hand.remove_end_files(directory, facts.pid)


def format_run_name(directory: str, notes: TaskNotes) -> str:
    """Which run of a task is meant, for those who are told of it: one that was run again has other news."""
    pid = notes.agent[0]
    if not pid:
        with contextlib.suppress(FormatError):
            pid = sentinel.decode_pid(read_text(f"{directory}/pid") or "")
    digest = zlib.crc32(directory.encode("utf-8", "surrogateescape"))
    return f"{os.path.basename(directory)[:SHORT]}-{digest:08x}-{pid}"


def derive_recipe(facts: TaskFacts) -> ResumeRecipe:
    """How to go on with a task whose wrapper nobody knows."""
    try:
        return _derive(facts)
    except (MidwatchError, OSError) as error:  # an agent's file that is wrong, a conversation that may not be read
        return ResumeRecipe(why=f"how to go on cannot be found out: {error}")


def _derive(facts: TaskFacts) -> ResumeRecipe:
    worker, fields = facts.notes.worker, facts.manifest
    agent = _find_agent(worker, facts)
    if agent is None:
        return ResumeRecipe(why=f"neither its wrapper nor which agent it ran is known; {BY_HAND}")
    start = agent.start
    if start is None or not start.plain or not start.resume:
        return ResumeRecipe(why=f"nobody has written down how {agent.title} goes on without a terminal; {BY_HAND}")
    shell = facts.session.pane.pid if facts.session.pane else 0
    cwd = _find_directory(fields.get("project_dir"), worker, shell)
    if not cwd:
        return ResumeRecipe(why=f"in which directory it worked is not known; {BY_HAND}")
    where = _describe_agent(agent, worker, shell, cwd, _find_start_time(facts))
    talk, why = _find_conversation(facts, agent, where, start)
    text = CONTINUE if talk else read_prompt(facts.directory)
    if why or not text:
        return ResumeRecipe(
            why=why or f"no conversation of it was found, and it has no prompt to begin with; {BY_HAND}"
        )
    model = str(fields.get("model") or "")
    given = launch.default_options(start, model) if worker.options is None else worker.options
    words = launch.continue_command(start, worker.program, talk, given, text)
    return ResumeRecipe(codec.format_script(facts.directory, cwd, words, start.without))


def _find_agent(worker: TaskAgent, facts: TaskFacts) -> Detector | None:
    """The one that was seen; else the one that the manifest names, or the session, which is called after it."""
    known = {each.agent: each for each in catalog.load_all() if not each.any}
    named = (worker.agent, str(facts.manifest.get("agent") or ""), facts.name.partition("-")[0])
    return next((known[name] for name in named if name in known), None)


def _find_directory(told: object, worker: TaskAgent, shell: int) -> str:
    """Where it worked: as it was seen there, as the manifest says, or where the shell of its pane is."""
    home = read_environment(shell).get("HOME", "")
    said = str(told or "")
    said = f"{home}{said[1:]}" if said == "~" or said.startswith("~/") else said
    with contextlib.suppress(OSError):
        places = (worker.cwd, said, os.readlink(f"/proc/{shell}/cwd") if shell else "")
        return next((os.path.realpath(each) for each in places if os.path.isabs(each) and os.path.isdir(each)), "")
    return ""


def _find_start_time(facts: TaskFacts) -> float:
    """When the task began, on the wall clock; 0 where nobody knows: then every conversation may be its own."""
    return codec.parse_time(facts.manifest.get("started_at")) or 0.0


def _describe_agent(agent: Detector, worker: TaskAgent, shell: int, cwd: str, began: float) -> RunningAgent:
    given = os.environ | read_environment(shell)
    variables = {name: given[name] for name in (*agent.variables, "HOME") if name in given}
    return RunningAgent(agent.agent, 0, 0, began, cwd, (), worker.environment or variables)


def _find_conversation(facts: TaskFacts, agent: Detector, where: RunningAgent, start: LaunchRules) -> tuple[str, str]:
    """The conversation to go on with, empty for none; and why it cannot be."""
    talk = facts.notes.worker.conversation
    artifacts = ConversationIndex()
    artifacts.begin()
    if talk and artifacts.there(agent.agent, talk, where.environment) == GONE:
        talk = ""
    files = parts.files(agent.agent)
    if not talk and files.story is None:
        return "", f"which conversation of {agent.title} was its own is not known; {BY_HAND}"
    if not talk:
        found = list(files.new_conversations(where, FileHeadCache()))
        if len(found) > 1:
            way = " ".join((*start.command, start.resume[0]))
            asked = f"which of {len(found)} conversations since its start is its own?"
            return "", f"{asked} `{way}` in {where.cwd} lists them"
        talk = next(iter(found), "")
    pid = facts.notes.agent[0]
    own = {pid, *procfs.descendants(pid)} if hand.is_alive(facts.notes.agent) else set()
    if talk and (others := [each for each in find_holders(agent, talk) if each not in own]):
        return "", f"its conversation {talk} is open in another process ({', '.join(map(str, others))})"
    return talk, ""
