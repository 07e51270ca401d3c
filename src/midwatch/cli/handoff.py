"""`midwatch handoff`: a worker's report goes to mail, and a ping to the controller once it is ready for it."""

from __future__ import annotations

import os
import time

from midwatch.cli import mail as letters
from midwatch.cli import say, send, settings
from midwatch.cli.options import Options
from midwatch.formats import assignments
from midwatch.formats.json_text import dump
from midwatch.formats.visible import visible
from midwatch.loops import handoff
from midwatch.loops.send import deliver
from midwatch.model.errors import FormatError, RefusedError, UsageError
from midwatch.model.mail import CONTROLLER
from midwatch.model.sending import Outcome, Sent
from midwatch.model.settings import Settings
from midwatch.senses import servers, whereabouts
from midwatch.senses.whereabouts import Whereabouts
from midwatch.store import mail

SCHEMA = 1
WAIT = 60.0
"""Seconds for the controller to come to its prompt."""
NOBODY = "no_controller"


def main(options: Options) -> int:
    if options.names:
        raise UsageError("handoff takes no names: midwatch handoff --task ID --status 'done' --report FILE")
    task, status = assignments.task(options.text("--task") or ""), assignments.status(options.text("--status") or "")
    path, wait = options.text("--report"), options.seconds("--wait")
    report = status if path is None else letters.read_text("--report", path)
    where = whereabouts.here()
    who = where.name if where else whereabouts.outside()
    filed = mail.send(
        mail.place(os.getcwd(), options.text("--dir")), sender=who, to=options.text("--to") or CONTROLLER,
        subject=f"{task}: {status}", text=report, task=task,
    )  # fmt: skip
    if not options.flag("--json"):
        print(f"{filed.id}: report on {visible(task)} sent to {filed.to.line()}", flush=True)
    found = handoff.controller(_around(options, where), options.text("--controller"))
    sent = Sent(NOBODY, found.trouble)
    if found.target:
        sent = _pinged(
            options, where, found.target, assignments.ping(who, task, status), WAIT if wait is None else wait
        )
    if options.flag("--json"):
        print(dump({
            "schema": SCHEMA, "task": task, "status": status, "from": who, "to": filed.to, "mail": filed.id,
            "controller": found.target or None, "ping": sent.outcome, "reason": sent.reason,
        }, spaced=True))  # fmt: skip
    if not sent.delivered:
        how = "sent, perhaps" if sent.submitted else "not delivered"
        say.remark(
            f"the ping was {how}: {sent.reason}. The report is in the mail, where the controller finds it;"
            " nothing more is to be done"
        )
    elif not options.flag("--json"):
        print(visible(f"{found.target}: pinged: {sent.reason}"))
    return 130 if sent.outcome == Outcome.INTERRUPTED else 0


def _around(options: Options, where: Whereabouts | None) -> Whereabouts | None:
    """Where to look for a controller: not on our own server when another is meant."""
    name, path = options.text("-L"), options.text("-S")
    meant = ("-S", path) if path else ("-L", name) if name else ()
    return where if where is not None and _is_same(meant, where) else None


def _is_same(server: tuple[str, ...], where: Whereabouts) -> bool:
    return os.path.realpath(servers.socket_path(server)) == os.path.realpath(where.socket)


def _pinged(options: Options, where: Whereabouts | None, target: str, ping: str, wait: float) -> Sent:
    asked = send.Signals()
    try:
        panes, pane = send.found(options, target)
        if where is not None and where.own.pane == pane.id and _is_same(pane.server, where):
            return Sent(Outcome.REFUSED, f"{target} is the pane that this comes from")
        until, via = time.monotonic() + wait, send.way(_settings(options))
        with asked:
            sent = deliver(panes, pane.id, ping, until=until, stopped=asked.heard, alone=True, via=via)
        panes.close()
    except (RefusedError, UsageError) as error:
        return Sent(Outcome.REFUSED, str(error))
    return sent


def _settings(options: Options) -> Settings:
    """A broken file must not keep a worker from telling that it is done."""
    try:
        return settings.settings(options)
    except (FormatError, UsageError) as error:
        say.warn(f"{error}; until then the settings files do not count")
        return Settings()
