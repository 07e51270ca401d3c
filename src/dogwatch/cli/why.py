"""`dogwatch why`: the verdict, and what speaks for and against it."""

import json
import sys

from dogwatch.cli import say, settings
from dogwatch.cli.options import Options
from dogwatch.judge.consequences import EXIT_CODES
from dogwatch.loops import live_state
from dogwatch.model.verdict import Evidence, Verdict
from dogwatch.model.words import in_words
from dogwatch.senses import files


def main(options: Options) -> int:
    panes = [name for name in options.names if name.startswith("%")]
    missing = _panes(options, panes) if panes else 0
    options.names = [name for name in options.names if name not in panes]
    if panes and not options.names:
        return missing
    looker = settings.looker(options)
    for name in settings.named(options):
        verdict = live_state.verdict(looker, name, say.warn)
        if hidden := files.hides_events(looker.directory):
            note = Evidence("events", f"{hidden}; looked at every 2 s instead")
            verdict = verdict._replace(against=(*verdict.against, note))
        missing = missing or (EXIT_CODES["not_found"] if verdict.state == "not_found" else 0)
        print(as_json(verdict) if options.flag("--json") else "\n".join(told(verdict)))
    return missing


def _panes(options: Options, wanted: list[str]) -> int:
    from dogwatch.cli import panes, undelivered  # a job does not pay for tmux and detectors

    missing = 0
    for name in wanted:
        seen = panes.look(options, only=name)
        for each in seen:
            notes = undelivered.of(each)
            if options.flag("--json"):
                print(as_json(each.verdict, *[note.id for note in notes]))
            else:
                print("\n".join([*told(panes.named(each)), *undelivered.told(notes)]))
        if not seen:
            print(f"dogwatch: no agent in pane {name} there; `dogwatch ls --panes` lists them", file=sys.stderr)
            missing = EXIT_CODES["not_found"]
    return missing


def told(verdict: Verdict) -> list[str]:
    lines = [say.as_line(verdict), f"  process: {verdict.process}   progress: {verdict.progress}"]
    for head, evidence in (("for", verdict.evidence), ("against, or to be known", verdict.against)):
        if evidence:
            lines.append(f"  {head}:")
            lines += [f"    {piece.source:<13} {piece.says}{_ago(piece)}" for piece in evidence]
    return lines


def _ago(piece: Evidence) -> str:
    return "" if piece.age_s is None else f" {in_words(piece.age_s)} ago"


def as_json(verdict: Verdict, *undelivered: str) -> str:
    found = json.loads(say.as_json(verdict))
    found |= {"process": verdict.process, "progress": verdict.progress}
    if verdict.turn:
        found |= {"turn": verdict.turn, "detail": verdict.detail, "until": verdict.until or None}
    found["for"] = [piece._asdict() for piece in verdict.evidence]
    found["against"] = [piece._asdict() for piece in verdict.against]
    if undelivered:
        found["undelivered"] = undelivered
    return json.dumps(found, ensure_ascii=False, separators=(",", ":"))
