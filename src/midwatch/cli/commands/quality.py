"""`midwatch quality`: have finished work looked at again, and what was found written down, before it counts as done."""

import os
import sys

from midwatch.cli.parser import Options
from midwatch.core.errors import RefusedError, UsageError
from midwatch.core.json_text import dump
from midwatch.core.text import visible
from midwatch.mail import store as mail_store
from midwatch.swarm import quality
from midwatch.swarm.codec import quality_text
from midwatch.swarm.quality import LoopsSurvey
from midwatch.trackers import select
from midwatch.trackers.model import Tracker

SCHEMA = 1
WORDS = ("due", "ensure", "record", "close")
ALONE = ("due", "ensure")
"""Words that take no id."""


def main(options: Options) -> int:
    word, *rest = options.names or ("due",)
    if word not in WORDS:
        raise UsageError(f"quality takes one of {', '.join(WORDS)}, not {word!r}")
    if word in ALONE and rest:
        raise UsageError(f"{word} takes no id; name the beads with --beads {','.join(rest)}")
    if word not in ALONE and options.flag("--beads"):
        raise UsageError("--beads belongs to due and ensure; name one bead or companion after the word")
    if word != "record" and options.flag("--none"):
        raise UsageError("--none belongs to record")
    project = options.text("--project-dir") or os.getcwd()
    if not os.path.isdir(project):
        raise UsageError(f"there is no directory {project}; --project-dir names one")
    tracker, as_json = select.find_tracker(project), options.flag("--json")
    match word:
        case "due":
            return _print_due(tracker, options.text("--beads"), as_json=as_json)
        case "ensure":
            return _make_companions(tracker, options.text("--beads"), as_json=as_json)
        case "record":
            return _record_findings(tracker, rest, none=options.flag("--none"), as_json=as_json)
    return _close_companion(tracker, rest, mail_store.collect_mail(project, options.text("--dir"))[0], as_json=as_json)


def _print_due(tracker: Tracker, given: str | None, *, as_json: bool) -> int:
    found = quality.survey(tracker, _named(given))
    for each in found.due:
        if as_json:
            _print_json(bead=each.bead, companion=each.companion or None, missing=each.missing_loops, why=each.why)
        else:
            print(f"{visible(each.bead)}  {visible(each.companion) or '-'}  {visible(each.why)}")
    if not found.due and not as_json:
        print("no quality loops are due", file=sys.stderr)
    return _report_unknown(tracker, found)


def _make_companions(tracker: Tracker, given: str | None, *, as_json: bool) -> int:
    found = quality.survey(tracker, _named(given))
    made = quality.make_companions_by_bead(tracker, found.beads)
    for bead, companion in made.items():
        if as_json:
            _print_json(bead=bead, companion=companion)
        else:
            print(f"{visible(companion)}  {visible(quality_text.format_title(bead))}")
    if not made and not as_json:
        print("no companion is missing", file=sys.stderr)
    return _report_unknown(tracker, found)


def _named(given: str | None) -> tuple[str, ...]:
    """The beads that are named; empty where none is."""
    found = tuple([bead.strip() for bead in (given or "").split(",") if bead.strip()])
    if given is not None and not found:
        raise UsageError("--beads needs ids with commas between them, such as bd-1,bd-2")
    return found


def _report_unknown(tracker: Tracker, found: LoopsSurvey) -> int:
    """Ids that are no task are told of last: they keep nobody from what can be done."""
    if found.unknown:
        lost = ", ".join(map(visible, found.unknown))
        raise RefusedError(f"{tracker.place} has no task {lost}; the others were seen to")
    return 0


def _record_findings(tracker: Tracker, given: list[str], *, none: bool, as_json: bool) -> int:
    if given[1:3] == ["random", "exploration"]:
        given = [given[0], "random exploration", *given[3:]]
    if len(given) < 2:  # noqa: PLR2004  # an id, a loop
        raise UsageError(f"record needs the id of a bead or companion and a loop: {', '.join(quality_text.LOOPS)}")
    loop = quality_text.find_loop(given[1])
    if not loop:
        raise UsageError(f"there is no loop {given[1]!r}; it is one of {', '.join(quality_text.LOOPS)}")
    text = " ".join(given[2:]).encode("utf-8", "surrogateescape").decode("utf-8", "replace").strip()
    if none and text:
        raise UsageError("say either what was found or --none")
    if not none and quality_text.is_no_finding(text):
        raise RefusedError("say what was found; if that is nothing, say so with --none")
    _, companion = quality.open_companion(tracker, given[0])
    tracker.note(companion.id, quality_text.format_note(loop, text))
    missing = [each for each in quality_text.missing_loops(companion) if each != loop]
    if as_json:
        _print_json(
            bead=quality_text.find_bead(companion),
            companion=companion.id,
            loop=loop,
            findings=text or None,
            missing=missing,
        )
    else:
        left = f"not yet: {', '.join(missing)}" if missing else f"all are; `midwatch quality close {companion.id}`"
        print(f"{visible(companion.id)}: {loop} is recorded; {visible(left)}")
    return 0


def _close_companion(tracker: Tracker, given: list[str], place: str, *, as_json: bool) -> int:
    if len(given) != 1:
        raise UsageError("close needs the id of one bead or companion")
    work, companion = quality.open_companion(tracker, given[0])
    bead = quality_text.find_bead(companion)
    quality.refuse_early_close(work, companion)
    if unread := [*mail_store.unread_ids_about(place, companion.id), *mail_store.unread_ids_about(place, bead)]:
        raise RefusedError(f"{companion.id} stays open: unread: {', '.join(unread)}; `midwatch mail show {unread[0]}`")
    said = [
        f"{loop}: {'findings' if found else 'none'}"
        for loop, found in quality_text.recorded_findings(companion).items()
    ]
    tracker.close(companion.id, f"quality loops recorded: {', '.join(said)}")
    if as_json:
        _print_json(bead=bead, companion=companion.id, closed=True)
    else:
        print(f"{visible(companion.id)} is closed: {', '.join(said)}")
    return 0


def _print_json(**what: object) -> None:
    print(dump({"schema": SCHEMA, **what}, spaced=True))
