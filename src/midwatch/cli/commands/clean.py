"""`midwatch clean`: remove what has ended, and say what stays and why."""

from __future__ import annotations

from midwatch.cli import context, output
from midwatch.cli.parser import Options
from midwatch.config import paths, sentinel_files
from midwatch.core.exit_codes import EXIT_CODES
from midwatch.core.foreign_text import escape_text
from midwatch.core.json_text import dump
from midwatch.core.text import first_few, format_size
from midwatch.core.verdict_json import SCHEMA
from midwatch.mail import store as mail_store
from midwatch.subjects.clean import CleanedItem, Cleaner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

WORDS = {
    "job": ("job", "jobs"), "session": ("session", "sessions"), "pane": ("dead tmux pane", "dead tmux panes"),
    "archive": ("archived run", "archived runs"), "mail": ("message", "messages"), "events": ("event", "events"),
}  # fmt: skip


def main(options: Options) -> int:
    looker = context.job_observer(options)
    names = context.job_names(options) if options.names else []
    cleaner = Cleaner(looker, older_s=options.seconds("--older") or 0.0, dry_run=options.flag("--dry-run"))
    missing = [name for name in names if not _is_there(looker.directory, name)]
    for name in missing:
        output.print_remark(f"there is no job {name!r} in {looker.directory}")
    if names:
        found = [item for name in names if name not in missing for item in cleaner.clean_name(name)]
    else:
        found = list(cleaner.clean_all(mail_store.mail_directory(paths.current_directory(), options.text("--dir"))))
    if options.flag("--json"):
        for item in found:
            print(dump(_fields(item, dry_run=cleaner.dry_run)))
    else:
        print("\n".join(_format_items(found, names, dry_run=cleaner.dry_run)))
    if missing:
        return EXIT_CODES["not_found"]
    return EXIT_CODES["unknown"] if names and any(not item.removed for item in found) else 0


def _is_there(directory: str, name: str) -> bool:
    return sentinel_files.is_job(f"{directory}/{name}") or bool(sentinel_files.list_archives(directory, name))


def _fields(item: CleanedItem, *, dry_run: bool) -> dict[str, object]:
    return {
        "schema": SCHEMA,
        "kind": item.kind,
        "name": item.name or None,
        "removed": item.removed and not dry_run,
        "dry_run": dry_run,
        "reason": escape_text(item.why) or None,
        "count": item.number,
        "bytes": item.size,
    }


def _format_items(found: list[CleanedItem], names: list[str], *, dry_run: bool) -> Iterator[str]:
    """What was removed of each kind, and each thing that stays, live ones only where they were named."""
    free = [item for item in found if item.removed]
    counts = {kind: sum(item.number for item in free if item.kind == kind) for kind in WORDS}
    told = [f"{count} {WORDS[kind][count != 1]}" for kind, count in counts.items() if count]
    told += ["finished spools"] if any(item.kind == "spools" for item in free) else []
    size = format_size(sum(item.size for item in free))
    yield f"{'would remove' if dry_run else 'removed'} {', '.join(told)} ({size})" if told else "nothing to remove"
    if dry_run:
        yield from (f"  {item.kind:<8} {escape_text(item.name)}" for item in free if item.name)
    kept = [item for item in found if not item.removed]
    if not names:
        live, recent = sum(item.live for item in kept), sum(item.recent for item in kept)
        yield from [f"{live} still at work {'stays' if live == 1 else 'stay'}"] * bool(live)
        yield from [f"{recent} that ended since then {'stays' if recent == 1 else 'stay'}"] * bool(recent)
        kept = [item for item in kept if not (item.live or item.recent)]
    lines = [f"kept {escape_text(item.name) or item.kind}: {escape_text(item.why)}" for item in kept]
    yield from lines if names else first_few(lines, "that stay")
