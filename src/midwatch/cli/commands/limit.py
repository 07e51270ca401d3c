"""`midwatch limit`: what will happen when the limit of a session ends, and a person's word on that."""

from __future__ import annotations

from midwatch.cli import context, output
from midwatch.cli.parser import Options
from midwatch.core import names
from midwatch.core.errors import RefusedError, UsageError
from midwatch.core.exit_codes import EXIT_CODES
from midwatch.core.json_text import dump
from midwatch.jobs import monitor_store
from midwatch.sessions import limit_plan
from midwatch.subjects import snapshot

SCHEMA = 1


def main(options: Options) -> int:
    if len(options.names) != 1:
        raise UsageError("limit needs the name of one session; `midwatch ls` lists them")
    if options.flag("--cancel") and options.flag("--continue"):
        raise UsageError("--cancel and --continue say the opposite; give one")
    looker, name = context.job_observer(options), names.check_name(options.names[0])
    verdict = snapshot.live_verdict(looker, name, output.print_warning)
    if verdict.state == "not_found":
        output.print_verdict(verdict, json=options.flag("--json"))
        return EXIT_CODES["not_found"]
    if verdict.kind != "session":
        raise RefusedError(f"{name} is a job without an agent in a pane, which has no limits that Midwatch could see")
    base = f"{looker.directory}/{name}"
    if options.flag("--cancel"):
        monitor_store.cancel_limit(base)
    elif options.flag("--continue"):
        monitor_store.allow_limit(base)
    changed = options.flag("--cancel") or options.flag("--continue")
    verdict = snapshot.live_verdict(looker, name, output.print_warning) if changed else verdict
    plan, cancelled = monitor_store.read_plan(base), monitor_store.is_limit_cancelled(base)
    watched = limit_plan.is_watched(plan)
    if options.flag("--json"):
        limit = verdict.limit
        print(dump({
            "schema": SCHEMA, "name": name, "state": verdict.state, "ends": limit and limit.ends,
            "continued_by": (limit and limit.by) or None, "cancelled": cancelled,
            "monitor": (plan and watched and plan.job) or None,
            "on_limit": plan.on_limit if plan and watched else None,
            "continues_left": plan.continues if plan and watched else None,
        }))  # fmt: skip
        return 0
    print(output.format_line(verdict))
    if plan is None or not watched:
        print(f"  no monitor watches it; `midwatch monitor -d {name}` starts one that waits for limits and goes on")
    elif plan.on_limit != "wait":
        print("  its monitor only reports limits (--on-limit report)")
    elif cancelled:
        print(f"  its monitor only reports limits: cancelled; `midwatch limit {name} --continue` takes that back")
    else:
        print(f"  after a limit its monitor tells it to go on, {plan.continues} times at most from now on")
    return 0
