"""Agents in tmux panes, for the verbs that show them: which servers, which panes, how they are said."""

from midwatch.cli import output
from midwatch.cli.parser import Options
from midwatch.core.errors import UsageError
from midwatch.core.verdict import Verdict
from midwatch.sessions import find_agent
from midwatch.sessions.model import PaneVerdict
from midwatch.tmux import client as tmux_client
from midwatch.tmux.codec import commands as codec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def servers(options: Options) -> list[tuple[str, ...]]:
    """One for each server meant: -L or -S as tmux takes them, --all for every server of this user."""
    meant = server_arguments(options)
    return [("-S", each) for each in tmux_client.list_sockets()] if options.flag("--all") else [meant]


def server_arguments(options: Options) -> tuple[str, ...]:
    """The server that -L or -S name; without, the one that we run in, or the default one."""
    name, path = options.text("-L"), options.text("-S")
    if name and path:
        raise UsageError("-L and -S both name a tmux server; give one")
    return ("-S", path) if path else ("-L", name) if name else ()


def observe_panes(
    options: Options, only: str | None = None, say: "Callable[[str], None]" = output.print_remark
) -> tuple[list[PaneVerdict], str]:
    """One look at each server; what could not be seen is said.

    And why panes may be missing from it; that no server runs is an answer.
    """
    found: list[PaneVerdict] = []
    unknown: list[str] = []
    for looked in find_agent.observe_servers(servers(options), only):
        found += looked.seen
        if looked.trouble:
            say(looked.trouble)
            unknown += [looked.trouble] if looked.cause != codec.ABSENT else []
    return found, "; ".join(unknown)


def find_agents(options: Options, target: str) -> tuple[list[PaneVerdict], str]:
    """The agents in %pane, or in exactly that =session; and why there may be more."""
    if target.startswith("%"):
        return observe_panes(options, only=target)
    found, unknown = observe_panes(options)
    return [seen for seen in found if codec.is_in_session(seen.sighting.pane, target.removeprefix("="))], unknown


def name_agent(seen: PaneVerdict) -> Verdict:
    """The verdict with the agent and where it runs in its reason, for people."""
    pane = seen.sighting.pane
    return seen.verdict._replace(reason=f"{seen.sighting.agent} in {pane.session}: {seen.verdict.reason}")
