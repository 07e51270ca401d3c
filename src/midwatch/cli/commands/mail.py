"""`midwatch mail`: messages between agents, which stay until they are read. Files are the truth; pings only tell."""

from __future__ import annotations

import os
import sys
import time

from midwatch.cli import output
from midwatch.cli.parser import Options
from midwatch.core.errors import UsageError
from midwatch.core.json_text import dump
from midwatch.core.text import visible
from midwatch.mail import codec
from midwatch.mail import store as mail_store
from midwatch.mail.model import Mail

SCHEMA = 1
WORDS = ("send", "inbox", "show", "ack")
ONLY = {"send": ("--from", "--subject", "--task", "--file"), "inbox": ("--unread",), "show": ("--raw",)}
COLOURS = {"new": "33", "read": "36", "acked": "2"}


def main(options: Options) -> int:
    word, *rest = options.names or ["inbox"]
    if word not in WORDS:
        raise UsageError(f"mail takes {', '.join(WORDS)}, not {word!r}")
    for flag in [flag for whose, flags in ONLY.items() if whose != word for flag in flags]:
        if options.flag(flag):
            raise UsageError(f"{flag} does not belong to mail {word}")
    if word == "send":
        return _send_message(options, mail_store.mail_directory(os.getcwd(), options.text("--dir")), rest)
    place, wrong = mail_store.collect_mail(os.getcwd(), options.text("--dir"))
    for line in wrong:
        print(f"midwatch: warning: {visible(line)}", file=sys.stderr)
    if word == "inbox":
        return _print_inbox(options, place, rest)
    if not rest:
        raise UsageError(f"mail {word} needs the id of a message; `midwatch mail inbox` lists them")
    for each in [mail_store.find_mail(place, begins) for begins in rest]:
        if word == "show":
            _show_message(options, place, each)
        else:
            mail_store.mark_mail(place, each.id, mail_store.ACKED)
            _print_result(each._replace(read=True, acked=True), "acknowledged", as_json=options.flag("--json"))
    return 0


def _send_message(options: Options, place: str, rest: list[str]) -> int:
    path = options.text("--file")
    if len(rest) != (1 if path is None else 0):
        raise UsageError("mail send needs one text in quotes, or --file (- is standard input)")
    to, subject = options.text("--to"), options.text("--subject")
    if not to or not subject:
        raise UsageError("mail send needs --to and --subject: midwatch mail send --to controller --subject …")
    text = rest[0] if path is None else read_text("--file", path)
    sent = mail_store.send_mail(
        place, sender=options.text("--from") or own_name(), to=to, subject=subject, text=text,
        topic=options.text("--topic") or "", task=options.text("--task") or "", thread=options.text("--thread") or "",
    )  # fmt: skip
    _print_result(sent, f"sent to {sent.to.line()}", as_json=options.flag("--json"))
    return 0


def own_name() -> str:
    """Our name in mail: that of our pane, else of the job that we are, else the user's."""
    from midwatch.tmux import pane_location  # asks tmux; those who say who they are need not

    where = pane_location.own_location()
    return where.name if where else pane_location.name_outside()


def read_text(flag: str, path: str) -> str:
    """The whole text of a file (- is standard input); UsageError where that cannot be, or is too much."""
    try:
        with open(0 if path == "-" else path, "rb", closefd=path != "-") as file:
            data = file.read(mail_store.LARGEST + 1)
    except OSError as error:
        raise UsageError(f"{flag} {path}: {error.strerror}; nothing was sent") from error
    if len(data) > mail_store.LARGEST:
        raise UsageError(f"{flag} {path} is longer than {mail_store.LARGEST >> 20} MB; send its path instead")
    return data.decode("utf-8", "replace")


# Reading


def _print_inbox(options: Options, place: str, rest: list[str]) -> int:
    if rest:
        raise UsageError("mail inbox takes no names; say whose with --to")
    found, wrong = mail_store.read_all(place, unread=options.flag("--unread"))
    for line in wrong:
        output.print_warning(line)
    if to := options.text("--to"):
        found = [each for each in found if each.to == codec.clean_name("--to", to)]
    if topic := options.text("--topic"):
        found = [each for each in found if each.topic.raw == topic]
    if thread := options.text("--thread"):
        begun = mail_store.find_mail(place, thread).thread
        found = [each for each in found if each.thread == begun]
    if options.flag("--json"):
        for each in found:
            print(dump(_fields(each), spaced=True))
    elif found:
        _table(found)
    else:
        print("no mail here" if not options.flag("--unread") else "no unread mail here", file=sys.stderr)
    return 0


def _table(found: list[Mail]) -> None:
    rows = [("ID", "STATE", "AT", "FROM", "TO", "TASK", "SUBJECT")]
    rows += [
        (each.id, _format_state(each), time.strftime("%m-%d %H:%M", time.localtime(each.at)), _format_sender(each),
         each.to.line(), each.task.line() or "-", each.subject.line())
        for each in found
    ]  # fmt: skip
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    room = os.get_terminal_size(1).columns if os.isatty(1) else 1 << 16
    for row in rows:
        taken = sum(widths) + 2 * len(widths)
        subject = row[-1] if len(row[-1]) <= room - taken else row[-1][: max(10, room - taken - 1)] + "…"
        cells = [f"{cell:<{width}}" for cell, width in zip(row, widths, strict=False)]
        if row[1] in COLOURS and output.uses_colour(1):
            cells[1] = f"\033[{COLOURS[row[1]]}m{cells[1]}\033[0m"
        print("  ".join([*cells, subject]))


def _show_message(options: Options, place: str, found: Mail) -> None:
    """Print a message, and only then note that it was read."""
    if options.flag("--json"):
        print(dump(_fields(found) | {"text": found.text}, spaced=True), flush=True)
    elif options.flag("--raw"):
        sys.stdout.buffer.write(mail_store.read_raw(place, found))
        sys.stdout.buffer.flush()
    else:
        print("\n".join([*map(visible, codec.header_lines(found)), found.text.block()]), flush=True)
    mail_store.mark_mail(place, found.id)


def _format_sender(found: Mail) -> str:
    return f"{found.sender.line()} (says {found.claims.line()})" if found.claims else found.sender.line()


def _format_state(found: Mail) -> str:
    return "acked" if found.acked else "read" if found.read else "new"


def _print_result(found: Mail, what: str, *, as_json: bool) -> None:
    print(dump(_fields(found), spaced=True) if as_json else f"{found.id}: {what}", flush=True)


def _fields(found: Mail) -> dict[str, object]:
    return {
        "schema": SCHEMA, "id": found.id, "from": found.sender, "to": found.to, "subject": found.subject,
        "topic": found.topic or None, "thread": found.thread, "task": found.task or None, "at": found.at,
        "state": _format_state(found), **({"claims": found.claims} if found.claims else {}),
    }  # fmt: skip
