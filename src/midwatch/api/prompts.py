"""Words for coding agents from Python: a prompt for one that runs, and an answer to its open dialog."""

from __future__ import annotations

import time

from midwatch.api.arguments import KeywordOptions, job_name, plain_word, warn
from midwatch.config import paths
from midwatch.core import names, prompt_text
from midwatch.core.errors import RefusedError, UsageError
from midwatch.core.names import is_pane

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from midwatch.api.arguments import Duration, Job, Path
    from midwatch.sessions.dialogs.model import AnswerResult, Choice, OpenDialog
    from midwatch.sessions.find_agent import FoundAgent
    from midwatch.sessions.prompting.model import PromptResult


def send(
    target: Job,
    text: str,
    *,
    wait: Duration | None = None,
    via: Literal["tmux", "ntm"] | None = None,
    verbatim: bool = False,
    dir: Path | None = None,  # noqa: A002  # called as the flag is
    socket: Path | None = None,
) -> PromptResult:
    """Type a prompt for an agent in a pane, only where nobody minds, and return whether it arrived.

    ``target``: a session of ours, `=session` of tmux, or `%pane`; the last two on the tmux server that ``socket``
    names. ``wait``: how long the prompt may wait for an agent that works.

    >>> import midwatch
    >>> sent = midwatch.send("nobody", "mend the failing tests")
    >>> sent.delivered, sent.outcome
    (False, 'exited')
    """
    from midwatch.cli.commands import send as command
    from midwatch.sessions.find_agent import NoAgentError
    from midwatch.sessions.prompting.codec import text as sessions_text
    from midwatch.sessions.prompting.model import PromptOutcome, PromptResult
    from midwatch.sessions.prompting.send import send_prompt

    options, name = KeywordOptions("send", dir=dir, wait=wait, via=via), job_name(target)
    words = sessions_text.clean_prompt(visible_text(text, verbatim=verbatim))
    until, way = time.monotonic() + (options.seconds("--wait") or 0.0), _delivery_method(options)
    try:
        there = _find_agent(name, dir, socket)
        try:
            sent = send_prompt(there.panes, there.id, words, until=until, via=way)
        finally:
            there.close()
        if command.is_undelivered(sent, waited=wait is not None):
            command.update_notes(there.pane, name, words, sent, None, warn)
    except RefusedError as error:
        exited = isinstance(error, NoAgentError)
        return PromptResult(PromptOutcome.EXITED if exited else PromptOutcome.REFUSED, str(error))
    return sent


def _find_agent(target: str, directory: Path | None, socket: Path | None) -> FoundAgent:
    from midwatch.sessions import find_agent
    from midwatch.tmux import sessions as hand

    if not is_pane(target) and not target.startswith("="):
        state = KeywordOptions("send", dir=directory).text("--dir")
        return find_agent.find_agent_of_session(paths.sentinel_directory(state), names.check_name(target))
    return find_agent.find_agent(hand.server_arguments(None if socket is None else plain_word(socket)), target)


def _delivery_method(options: KeywordOptions) -> str:
    from midwatch.config import load, trust
    from midwatch.config.model import WAYS

    if given := options.choice("--via", WAYS):
        return given
    way, problem = trust.trusted_value(load.load(paths.project_root(paths.current_directory())), "send_via")
    if problem:
        warn(f"{problem}; until then its [send] via does not count")
    return str(way)


def answer(
    target: Job,
    choice: int | None = None,
    *,
    text: str | None = None,
    dialog: str | None = None,
    dir: Path | None = None,  # noqa: A002  # called as the flag is
    socket: Path | None = None,
) -> AnswerResult:
    """Return the open dialog of a session with its choices; with a ``choice``, select that one.

    ``text``: words for a choice that takes them. ``dialog``: the id of the dialog that is meant; another one is left
    as it is. The journal has who answered.

    >>> import midwatch
    >>> found = midwatch.answer("nobody")
    >>> found.outcome, found.pressed
    ('exited', False)
    """
    from midwatch.cli.commands.answer import check_text
    from midwatch.sessions.dialogs import answer_target
    from midwatch.sessions.dialogs.answer import DialogAnswer
    from midwatch.sessions.dialogs.caller import find_caller
    from midwatch.sessions.dialogs.model import AnswerOutcome, AnswerResult
    from midwatch.sessions.find_agent import NoAgentError

    name = job_name(target)
    if choice is not None and (not isinstance(choice, int) or choice < 1):
        raise UsageError(f"choice is the number of a choice, not {choice!r}; answer(name) lists them")
    words = None if text is None else check_text(visible_text(text, verbatim=False), "text")
    if dialog is not None and choice is None and words is None:
        raise UsageError("dialog says which dialog is to be answered; name a choice, too")
    try:
        there = _find_agent(name, dir, socket)
    except RefusedError as error:
        exited = isinstance(error, NoAgentError)
        return AnswerResult(AnswerOutcome.EXITED if exited else AnswerOutcome.REFUSED, str(error))
    try:
        answering = DialogAnswer(there, lambda: False)
        if choice is None and words is None:
            return answering.look()
        directory = paths.sentinel_directory(KeywordOptions("answer", dir=dir).text("--dir"))
        meant, caller = answer_target.find_target(there, name, directory), find_caller()
        if why := meant.find_refusal(caller):
            return AnswerResult(AnswerOutcome.REFUSED, why)
        record, begun = meant.record(caller, words), []

        def write(found: OpenDialog, chosen: Choice) -> None:
            record.write_begun(found, chosen)
            begun.append(chosen)

        result = answering.answer(choice, words, dialog or "", write)
        if begun:
            try:
                record.write_ended(result)
            except (OSError, RefusedError) as error:
                warn(f"what became of the answer is not in the journal: {error}")
        return result
    finally:
        there.close()


def visible_text(text: str, *, verbatim: bool) -> str:
    """A person's words without what no reader sees: they may come from a page that hides something there."""
    if verbatim:
        return text
    found, dropped = prompt_text.remove_hidden(text.removeprefix("\ufeff"))
    if dropped:
        warn(f"{dropped} invisible characters were dropped from the text; verbatim=True keeps all")
    return found
