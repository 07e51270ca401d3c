"""`midwatch record`: everything that is seen of one agent's pane, look by look, to be judged again later."""

import os
import sys

from midwatch.cli import output, pane_arguments
from midwatch.cli.parser import Options
from midwatch.core.errors import RefusedError, UsageError
from midwatch.core.text import format_duration
from midwatch.replay import record
from midwatch.sessions import find_agent

EVERY = 0.5


def main(options: Options) -> int:
    if len(options.names) != 1 or not options.names[0].startswith("%"):
        raise UsageError("record needs one pane, such as %3; `midwatch ls --panes` lists them")
    every = options.seconds("--every")
    if every is not None and every <= 0:
        raise UsageError("--every must be above 0")
    server = find_agent.open_server(pane_arguments.server_arguments(options))
    path = options.text("-o")
    out = sys.stdout if path in (None, "-") else open(_check_new_path(path), "x", encoding="utf-8")  # noqa: SIM115
    recorder = record.SessionRecorder(
        server.panes, options.names[0], out, redact=not options.flag("--raw"), say=_print_trouble
    )
    try:
        recorder.run(every or EVERY, options.seconds("--for"))
    except KeyboardInterrupt:
        pass  # how a recording without --for ends
    finally:
        out.flush()
        server.close()
        if recorder.looks:
            took = format_duration(float(int(recorder.took)))
            output.print_remark(f"{recorder.looks} looks in {took}; {recorder.why}")
    if recorder.unknown:
        raise RefusedError(recorder.why)
    if not recorder.looks:
        output.print_remark(f"{recorder.why}; `midwatch ls --panes` lists them")
        return 7
    return 0


def _print_trouble(trouble: str) -> None:
    output.print_remark(trouble)


def _check_new_path(path: str | None) -> str:
    assert path is not None
    if os.path.exists(path):
        raise UsageError(f"{path} is there already; choose another name, or remove it")
    if not os.path.isdir(os.path.dirname(os.path.abspath(path))):
        raise UsageError(f"there is no directory {os.path.dirname(path)}")
    return path
