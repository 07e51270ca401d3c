"""`midwatch why`: the verdict, and what speaks for and against it."""

from __future__ import annotations

import json
import os

from midwatch.cli import context, output
from midwatch.cli.parser import Options
from midwatch.core.errors import MidwatchError
from midwatch.core.exit_codes import EXIT_CODES
from midwatch.core.foreign_text import escaped
from midwatch.core.json_text import dump
from midwatch.core.redaction import clean, clean_value
from midwatch.core.text import in_words
from midwatch.core.verdict import Evidence, Verdict
from midwatch.subjects import live_state
from midwatch.system import inotify

TYPE_CHECKING = False
if TYPE_CHECKING:
    from midwatch.registry.model import LeftOut
    from midwatch.sessions.model import PaneVerdict


def main(options: Options) -> int:
    panes = [name for name in options.names if name.startswith(("%", "="))]
    missing = _panes(options, panes) if panes else 0
    options.names = [name for name in options.names if name not in panes]
    if panes and not options.names:
        return missing
    looker = context.looker(options)
    for name in context.named(options):
        verdict = live_state.verdict(looker, name, output.warn)
        if hidden := inotify.hides_events(looker.directory):
            note = Evidence("events", f"{hidden}; looked at every 2 s instead")
            verdict = verdict._replace(against=(*verdict.against, note))
        missing = missing or (EXIT_CODES["not_found"] if verdict.state == "not_found" else 0)
        print(as_json(verdict) if options.flag("--json") else "\n".join(told(verdict)))
    return missing


def _panes(options: Options, wanted: list[str]) -> int:
    from midwatch.cli import pane_arguments  # a job does not pay for tmux and detectors
    from midwatch.cli.commands import send_undelivered  # a job does not pay for tmux and detectors
    from midwatch.sessions import find_agent  # a job does not pay for tmux and detectors

    missing = 0
    for name in wanted:
        seen, unknown = pane_arguments.inside(options, name)
        left_out = _left_out(options, seen)
        for each in seen:
            notes, left = send_undelivered.of(each), left_out.get(each.sighting.pane.id)
            if options.flag("--json"):
                print(as_json(each.verdict, *[note.id for note in notes], left_out=left))
            else:
                listed = [f"  registry: {left.line()}"] if left else []
                print("\n".join([*told(pane_arguments.named(each)), *listed, *send_undelivered.told(notes)]))
        if not seen and unknown:
            unseen = Verdict(name, "session", "unknown", False, unknown, "unknown", "unknown", "not-seen")
            print(as_json(unseen) if options.flag("--json") else "\n".join(told(unseen)))
            missing = EXIT_CODES["unknown"]
        elif not seen:
            output.remark(find_agent.in_words(name))
            missing = EXIT_CODES["not_found"]
    return missing


def _left_out(options: Options, seen: list[PaneVerdict]) -> dict[str, LeftOut]:
    """By pane: what the list of this workspace does not take, if there is one. The verdict does not depend on it."""
    from midwatch.cli import pane_arguments
    from midwatch.registry import reconcile
    from midwatch.registry import store as registry_store
    from midwatch.tmux import client as tmux_client

    server = pane_arguments.server(options)
    try:
        path = registry_store.nearest(os.path.realpath(os.environ.get("WORKSPACE_ROOT") or os.getcwd()))
        found = reconcile.left_out(path, server, {each.sighting.pane.session for each in seen}) if path else ()
    except (MidwatchError, OSError) as error:
        output.warn(f"{error}; whether the list has this pane is not known")
        return {}
    socket = tmux_client.socket_path(server)
    return {each.pane: each for each in found if tmux_client.socket_path(each.server) == socket}


def told(verdict: Verdict) -> list[str]:
    lines = [output.as_line(verdict), f"  process: {verdict.process}   progress: {verdict.progress}"]
    for head, evidence in (("for", verdict.evidence), ("against, or to be known", verdict.against)):
        if evidence:
            lines.append(f"  {head}:")
            lines += [
                f"    {escaped(piece.source):<13} {escaped(clean(piece.says))}{_ago(piece)}" for piece in evidence
            ]
    return lines


def _ago(piece: Evidence) -> str:
    return "" if piece.age_s is None else f" {in_words(piece.age_s)} ago"


def as_json(verdict: Verdict, *undelivered: str, left_out: LeftOut | None = None) -> str:
    found = json.loads(output.as_json(verdict))
    found |= {"process": verdict.process, "progress": verdict.progress}
    if verdict.turn:
        found |= {"turn": verdict.turn, "detail": verdict.detail, "until": verdict.until or None}
    found["for"] = [clean_value(piece._asdict()) for piece in verdict.evidence]
    found["against"] = [clean_value(piece._asdict()) for piece in verdict.against]
    if undelivered:
        found["undelivered"] = undelivered
    if left_out:
        found["left_out"] = left_out.fields()
    return dump(found)
