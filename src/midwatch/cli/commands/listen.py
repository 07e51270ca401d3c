"""`midwatch listen`: read what the program in somebody's pane reports of itself."""

from __future__ import annotations

from midwatch.cli import pane_arguments
from midwatch.cli.parser import Options
from midwatch.core.errors import UsageError
from midwatch.core.names import is_pane
from midwatch.sessions import report_listener
from midwatch.tmux.sessions import TmuxSessions


def main(options: Options) -> int:
    if len(options.names) != 1 or not is_pane(options.names[0]):
        raise UsageError("listen needs one pane: midwatch listen %3")
    change = report_listener.stop if options.flag("--off") else report_listener.start
    change(TmuxSessions(pane_arguments.server_arguments(options)), options.names[0])
    return 0
