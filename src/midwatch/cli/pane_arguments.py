"""Agents in tmux panes, for the verbs that show them: which servers, which panes, how they are said."""

from midwatch.agents import catalog
from midwatch.cli import output
from midwatch.cli.parser import Options
from midwatch.config import paths
from midwatch.core.errors import RefusedError, UsageError
from midwatch.core.verdict import Verdict
from midwatch.sessions.model import PaneVerdict
from midwatch.sessions.pane_observer import PaneObserver
from midwatch.tmux import client as tmux_client
from midwatch.tmux.codec import commands as codec
from midwatch.tmux.codec.commands import is_pane


def watchers(options: Options) -> list[PaneObserver]:
    """One for each server meant: -L or -S as tmux takes them, --all for every server of this user."""
    meant = server(options)
    chosen = [("-S", each) for each in tmux_client.sockets()] if options.flag("--all") else [meant]
    known = catalog.load_all()
    return [PaneObserver(known, paths.hook_spool(), server) for server in chosen]


def server(options: Options) -> tuple[str, ...]:
    """The server that -L or -S name; without, the one that we run in, or the default one."""
    name, path = options.text("-L"), options.text("-S")
    if name and path:
        raise UsageError("-L and -S both name a tmux server; give one")
    return ("-S", path) if path else ("-L", name) if name else ()


def look(options: Options, only: str | None = None) -> tuple[list[PaneVerdict], str]:
    """One look at each server; what could not be seen is said on standard error.

    And why panes may be missing from it; that no server runs is an answer.
    """
    found: list[PaneVerdict] = []
    unknown: list[str] = []
    for panes in watchers(options):
        looked = panes.look(only)
        panes.close()
        found += looked.seen
        if looked.trouble:
            output.remark(looked.trouble)
            unknown += [looked.trouble] if looked.cause != codec.ABSENT else []
    return found, "; ".join(unknown)


def inside(options: Options, target: str) -> tuple[list[PaneVerdict], str]:
    """The agents in %pane, or in exactly that =session; and why there may be more."""
    if target.startswith("%"):
        return look(options, only=target)
    found, unknown = look(options)
    return [seen for seen in found if codec.in_session(seen.sighting.pane, target.removeprefix("="))], unknown


def nobody(target: str) -> str:
    where = f"pane {target}" if target.startswith("%") else f"a session {target.removeprefix('=')!r}"
    return f"no agent in {where} there; `midwatch ls --panes` lists them"


class NoAgentError(RefusedError):
    """There is no such pane, session or name, or no agent in it."""


class NoServerError(RefusedError):
    """No tmux server is there in which anybody could be."""


def agent_of(panes: PaneObserver, target: str) -> PaneVerdict:
    """The one agent in %pane, or in exactly that =session. RefusedError where it cannot be told, or is not one."""
    only = target if is_pane(target) else None
    looked = panes.look(only)
    if looked.trouble:
        raise (NoServerError if looked.cause == codec.ABSENT else RefusedError)(looked.trouble)
    session = target.removeprefix("=")
    found = [seen for seen in looked.seen if only or codec.in_session(seen.sighting.pane, session)]
    if not found:
        raise NoAgentError(nobody(target))
    if len(found) > 1:
        several = ", ".join(f"{seen.sighting.pane.id} ({seen.sighting.agent})" for seen in found)
        raise RefusedError(f"there are {len(found)} agents in {session}: {several}; name the pane")
    return found[0]


def named(seen: PaneVerdict) -> Verdict:
    """The verdict with the agent and where it runs in its reason, for people."""
    pane = seen.sighting.pane
    return seen.verdict._replace(reason=f"{seen.sighting.agent} in {pane.session}: {seen.verdict.reason}")
