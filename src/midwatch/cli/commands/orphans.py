"""`midwatch orphans`: what agents and jobs left running; with `--stop`, end it."""

from __future__ import annotations

import os
import sys

from midwatch.cli import output
from midwatch.cli.parser import Options
from midwatch.config import paths
from midwatch.core import names
from midwatch.core.errors import UsageError
from midwatch.core.exit_codes import EXIT_CODES
from midwatch.core.json_text import dump
from midwatch.core.text import format_duration, visible
from midwatch.jobs.orphans.model import SPARED, Orphan, Selection
from midwatch.jobs.orphans.orphan_list import OrphanList

SCHEMA = 1
HEAD = ("PID", "ORIGIN", "STATE", "KIND", "AGE", "CPU", "MEMORY", "LISTENS ON", "COMMAND")
LONGEST_COMMAND = 60
MEBIBYTE = 1 << 20


def main(options: Options) -> int:
    wanted = _parse_selection(options)
    if options.flag("--yes") and not options.flag("--stop"):
        raise UsageError("--yes goes with --stop: it ends what `midwatch orphans` lists without asking")
    directory = "" if options.flag("--all") else paths.sentinel_directory(options.text("--dir"))
    found = OrphanList(directory)
    for place, why in found.doubted.items():
        output.print_warning(f"{why}: what the jobs of {place} left is not listed")
    if options.flag("--stop"):
        return _stop(options, found, wanted)
    shown = found.orphans if wanted.everything else found.select(wanted)
    _print_orphans(options, shown)
    if not shown and not options.flag("--json"):
        output.print_remark("no job or session here left anything running")
    return EXIT_CODES["not_found"] if found.find_unknown(wanted) else 0


def _parse_selection(options: Options) -> Selection:
    pids = frozenset(int(word) for word in options.names if word.isdecimal() and word.isascii())
    others = frozenset(names.check_name(word) for word in options.names if not (word.isdecimal() and word.isascii()))
    return Selection(others, pids)


def _stop(options: Options, found: OrphanList, wanted: Selection) -> int:
    unknown = found.find_unknown(wanted)
    for each in unknown:
        output.print_remark(f"{each} is no orphan; `midwatch orphans` lists them")
    meant = found.select(wanted)
    spared = [each for each in found.orphans if each.kind in SPARED] if wanted.everything else []
    if meant and not options.flag("--yes"):
        if not os.isatty(0):
            raise UsageError("--stop asks on a terminal; without one, say --yes")
        _print_orphans(options, meant)
        print(f"end {_count(len(meant))}? [y/N] ", end="", file=sys.stderr, flush=True)
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            output.print_remark("nothing was ended")
            return 130
    left = found.stop(meant) if meant else ()
    _print_ended(options, meant, left)
    if spared:
        pids = " ".join(str(each.process.pid) for each in spared)
        output.print_remark(f"left running, since they serve or were declared: {pids}; name them to end them")
    if left:
        return EXIT_CODES["unknown"]
    return EXIT_CODES["not_found"] if unknown else 0


def _count(number: int) -> str:
    return "1 process" if number == 1 else f"{number} processes"


def _print_ended(options: Options, meant: tuple[Orphan, ...], left: tuple[int, ...]) -> None:
    for each in meant:
        ended = each.process.pid not in left
        if options.flag("--json"):
            print(dump(_json_fields(each) | {"ended": ended}), flush=True)
        else:
            what = "ended" if ended else "could not be ended"
            print(f"{each.process.pid}  {what}: {each.process.command.line(LONGEST_COMMAND)}", flush=True)
    if not meant and not options.flag("--json"):
        output.print_remark("there is nothing to end")


def _print_orphans(options: Options, found: tuple[Orphan, ...]) -> None:
    if options.flag("--json"):
        for each in found:
            print(dump(_json_fields(each)), flush=True)
        return
    if not found:
        return
    rows = [HEAD, *map(_cells, found)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD) - 1)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        print("  ".join([*cells, row[-1]]).rstrip(), flush=True)


def _cells(each: Orphan) -> tuple[str, ...]:
    process = each.process
    return (
        str(process.pid), each.mark.name, each.state, each.kind, format_duration(process.age_s),
        format_duration(process.cpu_s), f"{process.memory / MEBIBYTE:.0f} MB", visible(", ".join(each.listens)) or "-",
        process.command.line(LONGEST_COMMAND),
    )  # fmt: skip


def _json_fields(each: Orphan) -> dict[str, object]:
    process = each.process
    return {
        "schema": SCHEMA, "pid": process.pid, "start": process.start, "command": process.command, "kind": each.kind,
        "age_s": round(process.age_s, 1), "cpu_s": round(process.cpu_s, 2), "memory_bytes": process.memory,
        "listens": list(each.listens),
        "origin": {"name": each.mark.name, "run": each.mark.run, "directory": each.mark.directory, "state": each.state},
    }  # fmt: skip
