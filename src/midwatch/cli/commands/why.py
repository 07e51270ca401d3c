"""`midwatch why`: the verdict, and what speaks for and against it."""

from __future__ import annotations

import json
import os

from midwatch.cli import context, output
from midwatch.cli.parser import Options
from midwatch.core.errors import MidwatchError
from midwatch.core.exit_codes import EXIT_CODES
from midwatch.core.foreign_text import escape_text
from midwatch.core.json_text import dump
from midwatch.core.process_state import format_process
from midwatch.core.redaction import redact, redact_value
from midwatch.core.text import format_duration
from midwatch.core.verdict import Evidence, Verdict
from midwatch.subjects import snapshot
from midwatch.system import inotify

TYPE_CHECKING = False
if TYPE_CHECKING:
    from midwatch.registry.model import UnregisteredPane
    from midwatch.sessions.model import PaneVerdict


def main(options: Options) -> int:
    panes = [name for name in options.names if name.startswith(("%", "="))]
    missing = _explain_panes(options, panes) if panes else 0
    options.names = [name for name in options.names if name not in panes]
    if panes and not options.names:
        return missing
    looker = context.job_observer(options)
    for name in context.job_names(options):
        verdict = snapshot.live_verdict(looker, name, output.print_warning)
        if hidden := inotify.find_event_problem(looker.directory):
            note = Evidence("events", f"{hidden}; looked at every 2 s instead")
            verdict = verdict._replace(against=(*verdict.against, note))
        missing = missing or (EXIT_CODES["not_found"] if verdict.state == "not_found" else 0)
        print(as_json(verdict) if options.flag("--json") else "\n".join(format_verdict(verdict)))
    return missing


def _explain_panes(options: Options, wanted: list[str]) -> int:
    from midwatch.cli import pane_arguments  # a job does not pay for tmux and detectors
    from midwatch.cli.commands import send_undelivered  # a job does not pay for tmux and detectors
    from midwatch.sessions import find_agent  # a job does not pay for tmux and detectors

    missing = 0
    for name in wanted:
        seen, unknown = pane_arguments.find_agents(options, name)
        left_out = _find_left_out(options, seen)
        for each in seen:
            notes, left = send_undelivered.find_undelivered(each), left_out.get(each.sighting.pane.id)
            if options.flag("--json"):
                print(as_json(each.verdict, *[note.id for note in notes], left_out=left))
            else:
                listed = [f"  registry: {left.line()}"] if left else []
                print(
                    "\n".join(
                        [
                            *format_verdict(pane_arguments.name_agent(each)),
                            *listed,
                            *send_undelivered.format_notes(notes),
                        ]
                    )
                )
        if not seen and unknown:
            unseen = Verdict(name, "session", "unknown", False, unknown, "unknown", "unknown", "not-seen")
            print(as_json(unseen) if options.flag("--json") else "\n".join(format_verdict(unseen)))
            missing = EXIT_CODES["unknown"]
        elif not seen:
            output.print_remark(find_agent.in_words(name))
            missing = EXIT_CODES["not_found"]
    return missing


def _find_left_out(options: Options, seen: list[PaneVerdict]) -> dict[str, UnregisteredPane]:
    """By pane: what the list of this workspace does not take, if there is one. The verdict does not depend on it."""
    from midwatch.cli import pane_arguments
    from midwatch.registry import reconcile
    from midwatch.registry import store as registry_store
    from midwatch.tmux import client as tmux_client

    server = pane_arguments.server_arguments(options)
    try:
        path = registry_store.nearest_registry(os.path.realpath(os.environ.get("WORKSPACE_ROOT") or os.getcwd()))
        found = reconcile.find_unregistered(path, server, {each.sighting.pane.session for each in seen}) if path else ()
    except (MidwatchError, OSError) as error:
        output.print_warning(f"{error}; whether the list has this pane is not known")
        return {}
    socket = tmux_client.socket_path(server)
    return {each.pane: each for each in found if tmux_client.socket_path(each.server) == socket}


def format_verdict(verdict: Verdict) -> list[str]:
    lines = [
        output.format_line(verdict),
        f"  process: {format_process(verdict.process)}   progress: {verdict.progress}",
    ]
    for head, evidence in (("for", verdict.evidence), ("against, or to be known", verdict.against)):
        if evidence:
            lines.append(f"  {head}:")
            lines += [
                f"    {escape_text(piece.source):<13} {escape_text(redact(piece.says))}{_format_age(piece)}"
                for piece in evidence
            ]
    return lines


def _format_age(piece: Evidence) -> str:
    return "" if piece.age_s is None else f" {format_duration(piece.age_s)} ago"


def as_json(verdict: Verdict, *undelivered: str, left_out: UnregisteredPane | None = None) -> str:
    found = json.loads(output.as_json(verdict))
    found |= {"process": format_process(verdict.process), "progress": verdict.progress}
    if verdict.turn:
        found |= {"turn": verdict.turn, "detail": verdict.detail, "until": verdict.until or None}
    found["for"] = [redact_value(piece._asdict()) for piece in verdict.evidence]
    found["against"] = [redact_value(piece._asdict()) for piece in verdict.against]
    if undelivered:
        found["undelivered"] = undelivered
    if left_out:
        found["left_out"] = left_out.fields()
    return dump(found)
