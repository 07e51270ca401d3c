"""`midwatch reconcile`: keep the list of agent sessions true to tmux, processes and the agents' files."""

from __future__ import annotations

import os
import time

from midwatch.cli import output
from midwatch.cli.parser import Options
from midwatch.config import paths
from midwatch.core import durations
from midwatch.core.errors import MidwatchError, RefusedError, UsageError
from midwatch.core.json_text import dump
from midwatch.core.text import visible
from midwatch.registry import drift_notifications
from midwatch.registry import store as registry_store
from midwatch.registry.model import DriftReport, iso
from midwatch.registry.reconcile import ReconcilePass, Reconciler, failed_pass
from midwatch.tmux import sessions as hand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from midwatch.registry.kanban_card import CardUpdater
    from midwatch.registry.mqtt_subscription import EndSubscription

SCHEMA = 1
UNKNOWN = 12
IDLE = 600.0
"""Seconds without a message after which --subscribe ends, unless told otherwise."""
FALLBACK = 15.0
JSON_FLAGS = {"--emit-diff", "--json"}
TITLE = "agent sessions: live reconcile"


def main(options: Options) -> int:
    """Whatever goes wrong: who asked for JSON gets one object, with the reason among its troubles."""
    try:
        return _run(options)
    except BrokenPipeError:
        raise
    except (MidwatchError, OSError) as error:
        if _wants_json(options):
            print(format_json(failed_pass(str(error))), flush=True)
        if isinstance(error, MidwatchError):
            raise
        raise RefusedError(f"{error}; nothing more is done") from error


def print_unparsed(words: list[str], error: UsageError) -> None:
    """The same object for a command line that cannot be parsed, if these words ask for JSON."""
    if not JSON_FLAGS.isdisjoint([word.partition("=")[0] for word in words]):
        print(format_json(failed_pass(str(error))), flush=True)


def _run(options: Options) -> int:
    if options.names:
        raise UsageError("reconcile takes no names; --registry names the list")
    task = _task_id(options)
    stays = options.flag("--watch") or options.flag("--subscribe") or bool(task) or options.flag("--kanban-new")
    if options.flag("--once") and (options.flag("--watch") or options.flag("--subscribe")):
        raise UsageError("--once is one pass, --watch and --subscribe stay; ask for one of them")
    _ = options.seconds("--timeout"), options.seconds("--idle-timeout")  # a wrong one is an error also where unused
    if options.seconds("--interval") == 0:
        raise UsageError("--interval must be above 0")
    path = registry_store.find_registry(options.text("--registry"), paths.current_directory())
    reconciler = Reconciler(
        path, usual=hand.server_arguments(options.text("--socket")), prune=options.flag("--prune"),
        dry=options.flag("--dry-run"),
    )  # fmt: skip
    try:
        if stays and not options.flag("--once"):
            return _run_loop(options, reconciler, task)
        return _run_once(options, reconciler)
    finally:
        reconciler.close()


def _run_once(options: Options, reconciler: Reconciler) -> int:
    unsaid: list[str] = []

    def tell(new: tuple[DriftReport, ...]) -> None:
        project = paths.project_root(reconciler.workspace)
        if trouble := drift_notifications.record_drifts(reconciler.path, project, new):
            unsaid.append(trouble)

    passed = reconciler.act(reconciler.settled(tell))
    if passed.new and not reconciler.dry:
        tell(passed.new)
    passed = passed._replace(troubles=(*passed.troubles, *dict.fromkeys(unsaid)))
    if _wants_json(options):
        print(format_json(passed))
    else:
        _print_pass(passed, reconciler)
    for trouble in passed.troubles:
        output.print_remark(trouble)
    return UNKNOWN if passed.troubles else 0


def _run_loop(options: Options, reconciler: Reconciler, task: str) -> int:
    from midwatch.registry.reconcile_loop import LoopOptions, ReconcileWatcher

    subscribed = options.flag("--subscribe")
    idle = options.seconds("--idle-timeout")
    interval = options.seconds("--interval")
    card = _open_card(options, task, reconciler.path)
    subscription = _open_subscription(reconciler) if subscribed else None
    if subscribed and subscription is None:
        interval = _fallback_interval()
    wanted = LoopOptions(
        interval, options.seconds("--timeout") or 0.0, (IDLE if subscription else 0.0) if idle is None else idle
    )
    troubles: tuple[str, ...] | None = None

    def tell(passed: ReconcilePass) -> None:
        nonlocal troubles
        if _wants_json(options):
            if passed.new or passed.troubles != troubles:
                print(format_json(passed), flush=True)
        else:
            for report in passed.new:
                print(_format_report(report), flush=True)
        troubles = passed.troubles

    try:
        return ReconcileWatcher(reconciler, wanted, card=card, subscription=subscription).run(tell)
    finally:
        if subscription is not None:
            subscription.close()


def _task_id(options: Options) -> str:
    """The card that keeps it running. Its variable alone does not, where a single pass is asked for.

    A worker that a board has started has the variable, and calls `--emit-diff` expecting it to return.
    """
    if given := options.text("--kanban-task"):
        return given
    single = options.flag("--once") or (
        options.flag("--emit-diff") and not (options.flag("--watch") or options.flag("--subscribe"))
    )
    return "" if single else os.environ.get("HERMES_KANBAN_TASK", "")


def _open_card(options: Options, task: str, path: str) -> CardUpdater | None:
    if not task and not options.flag("--kanban-new"):
        return None
    from midwatch.integrations import hermes_kanban
    from midwatch.registry.kanban_card import CardUpdater

    if options.flag("--kanban-new"):
        if options.text("--kanban-task"):
            raise UsageError("--kanban-new makes a card, --kanban-task names one; give one of them")
        about = "Midwatch keeps the list of agent sessions true. Comment `stop` to end it."
        card = hermes_kanban.find_or_create_card(
            TITLE, about, key=f"midwatch reconcile {os.uname().nodename}:{os.path.realpath(path)}"
        )
        output.print_remark(f"the card is {card.task}")
    else:
        card = hermes_kanban.KanbanCard(task)
        card.status()  # a card that is not there is said at once
    return CardUpdater(card, now=time.monotonic())


def _open_subscription(reconciler: Reconciler) -> EndSubscription | None:
    """None where no broker is named, or it may not be used: then the list is polled."""
    from midwatch.notifications import mqtt_publish
    from midwatch.registry.mqtt_subscription import EndSubscription

    fallback = _fallback_interval()
    try:
        where = mqtt_publish.load_broker(paths.project_root(reconciler.workspace))
    except RefusedError as error:
        output.print_remark(f"{error}; until then there is a look every {fallback:g} s")
        return None
    return EndSubscription(where, reconciler.path, fallback)


def _fallback_interval() -> float:
    given = os.environ.get("RECONCILE_POLL_INTERVAL")
    if not given:
        return FALLBACK
    try:
        found = durations.parse(given)
    except UsageError as error:
        raise UsageError(f"RECONCILE_POLL_INTERVAL: {error}") from None
    if not found:
        raise UsageError("RECONCILE_POLL_INTERVAL must be above 0")
    return found


# Saying it ---------------------------------------------------------------------------------------------------------


def _wants_json(options: Options) -> bool:
    return not JSON_FLAGS.isdisjoint(options.values)


def format_json(passed: ReconcilePass) -> str:
    drifts = [
        {
            "class": report.drift.kind, "session": report.drift.session,
            "message": drift_notifications.format_report(report),
            "before": report.drift.before, "after": report.drift.after, "applied": report.applied,
            "wait_s": round(report.drift.wait_s, 1),
        }
        for report in passed.new
    ]  # fmt: skip
    found = {"schema": SCHEMA, "at": iso(time.time()), "checked": passed.checked, "drifts": drifts}
    found |= {"standing": passed.standing, "troubles": passed.troubles}
    return dump({**found, "left_out": [each.fields() for each in passed.left_out]}, other=str)


def _format_report(report: DriftReport) -> str:
    kind = f"{report.drift.kind:<9}"
    shown = f"\033[{'32' if report.applied else '33'}m{kind}\033[0m" if output.uses_colour(1) else kind
    return f"{shown} {visible(drift_notifications.format_report(report))}"


def _print_pass(passed: ReconcilePass, reconciler: Reconciler) -> None:
    for report in passed.new:
        print(_format_report(report))
    for left in passed.left_out if reconciler.dry else ():
        print(f"{'left out':<9} {left.line()}")
    again = passed.standing - len(passed.new)
    rows = f"{passed.checked} session{'' if passed.checked == 1 else 's'} in {reconciler.path}"
    if passed.new and reconciler.dry:
        output.print_remark(f"{rows}; nothing was written (--dry-run)")
    elif passed.standing == 0 and not passed.troubles:
        output.print_remark(f"{rows}: no drift")
    elif again > 0:
        known = f"{again} drift{'' if again == 1 else 's'} stand{'s' if again == 1 else ''} as told before"
        output.print_remark(f"{rows}: {known}; --dry-run shows all")
