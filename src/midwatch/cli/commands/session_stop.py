"""`midwatch session stop`: end a session of the list, note how, and if asked to remove what it has written."""

from __future__ import annotations

import os
import sys
import time

from midwatch.cli import output
from midwatch.cli.commands import session as face
from midwatch.cli.parser import Options
from midwatch.core.errors import RefusedError, UsageError
from midwatch.core.text import visible
from midwatch.registry import conversation_purge, session_stop
from midwatch.registry.session_stop import StopOptions
from midwatch.registry.sessions import RowStatus


def stop(options: Options) -> int:
    """0 also for what has ended already."""
    purge = options.flag("--purge-conversation")
    if options.flag("--yes") and not purge:
        raise UsageError("--yes says yes to --purge-conversation; nothing else asks")
    if purge and options.flag("--capture-id"):
        raise UsageError("--capture-id keeps the conversation's id, --purge-conversation removes it; give one")
    name, listed = face.parse_name(options), face.open_registry(options)
    try:
        standing = listed.observe(listed.row(name))
        talk = standing.conversation or standing.row.conversation
        where = None
        if purge:
            where = conversation_purge.locate_agent(listed, standing, session_stop.describe_agent(listed, standing))
            _confirm(standing, talk, yes=options.flag("--yes"))
        asked = StopOptions(options.text("--reason") or "", options.flag("--graceful"), options.flag("--capture-id"))
        ended = session_stop.stop_session(listed, standing, asked, time.time())
        row, said = ended.row, "stopped"
        if ended.again:
            said = f"{row.status} already; nothing was to be done"
        elif not ended.mode:
            said = "it had ended already; now its row says so"
        if ended.left:
            output.print_remark(f"{name} was ended, but its session could not be closed: {ended.left}")
        if where is not None:
            removed = (
                conversation_purge.purge_conversation(listed, row, talk, where)
                if talk
                else conversation_purge.PurgeResult((), "it had no conversation")
            )
            for path in removed.files:
                output.print_remark(f"removed {path}")
            if removed.kept:
                output.print_remark(removed.kept)
            row = listed.row(name)
    finally:
        listed.close()
    face.print_row(row, said, json=options.flag("--json"), again=ended.again)
    return 0


def _confirm(standing: RowStatus, talk: str, *, yes: bool) -> None:
    if yes:
        return
    name = standing.row.name
    if not os.isatty(0):
        raise RefusedError(
            f"--purge-conversation removes what {name} has written, for good: say --yes, or ask at a terminal"
        )
    what = f"conversation {visible(talk) or '(none)'} of {visible(name)}"
    print(f"This removes {what}, for good. Type its name to go on: ", end="")
    sys.stdout.flush()
    if sys.stdin.readline().strip() != name:
        raise RefusedError("that is not its name; nothing was stopped, and nothing removed")
