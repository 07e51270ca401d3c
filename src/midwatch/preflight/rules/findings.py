"""What a look before work means: facts of each check → a finding that says what was found and what to do.

What could not be found out has not passed. A variable's value is never said: it may be a secret.
"""

from __future__ import annotations

import re
import shlex

from midwatch.config.model import PreflightCheck
from midwatch.core.check_targets import format_bytes, parse_release
from midwatch.core.program_result import ProgramResult
from midwatch.core.text import format_duration, signal_name, visible
from midwatch.preflight.model import AddressReply, DiskSpace, Finding, InterpreterReply
from midwatch.preflight.virtualenv_model import EnvironmentRecipe

ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)")
LONGEST = 400
REFUSED_FROM = 400
"""HTTP's statuses that say no begin here."""
START_IT = "start the service, or the tunnel that leads to it"
MOST_NAMED = 3


def clean_line(text: str) -> str:
    """Text of others as one line that a terminal may be shown."""
    plain = "".join([letter if letter.isprintable() else " " for letter in ESCAPES.sub("", text)])
    plain = " ".join(plain.split())
    return plain if len(plain) <= LONGEST else plain[: LONGEST - 1] + "…"


def build_finding(check: PreflightCheck, says: str, *, ok: bool, advice: str = "", ran: bool = True) -> Finding:
    name = check.name
    if check.kind == "env":
        name = name.replace(visible(check.target), check.target.partition("=")[0])
    return Finding(
        clean_line(name), check.kind, ok, clean_line(says), check.fix, "" if ok else advice, check.source, ran
    )


def timeout_finding(check: PreflightCheck) -> Finding:
    return build_finding(check, f"no answer within {format_duration(check.timeout_s)}", ok=False, ran=False)


def untrusted_finding(check: PreflightCheck, problem: str) -> Finding:
    return build_finding(check, f"not run: {problem}", ok=False, ran=False)


def address_finding(check: PreflightCheck, seen: AddressReply) -> Finding:
    ok = 0 < seen.status < REFUSED_FROM
    return build_finding(
        check, seen.says, ok=ok, advice=START_IT if seen.status == 0 else "look at what the service says"
    )


def disk_finding(check: PreflightCheck, needed: int, place: str, seen: DiskSpace) -> Finding:
    says = f"{format_bytes(seen.free)} free at {place}"
    if seen.read_only:
        return build_finding(
            check, f"{place} is on a file system that is read-only", ok=False, advice="mount it writable"
        )
    if not seen.names_left:
        return build_finding(
            check, f"no more files can be made at {place}: its inodes are used up", ok=False, advice=ROOM
        )
    if seen.free < needed:
        return build_finding(check, f"{says}; {format_bytes(needed)} are needed", ok=False, advice=ROOM)
    return build_finding(check, says, ok=True)


ROOM = "make room there"


def variable_finding(check: PreflightCheck, name: str, wanted: str | None, seen: str | None) -> Finding:
    advice = f"set {name} where you start the work, and look again"
    if seen is None:
        return build_finding(check, f"{name} is not set", ok=False, advice=advice)
    if wanted is None:
        return build_finding(check, f"{name} is {'set' if seen else 'empty'}", ok=bool(seen), advice=advice)
    ok = seen == wanted
    return build_finding(
        check, f"{name} is {'set as it must be' if ok else 'set to another value'}", ok=ok, advice=advice
    )


def program_finding(check: PreflightCheck, path: str, trouble: str) -> Finding:
    if not trouble:
        return build_finding(check, path, ok=True)
    says = trouble if path in trouble else f"{path}: {trouble}" if path else trouble
    return build_finding(check, says, ok=False, advice="install it (again), or mend PATH")


def tmux_finding(check: PreflightCheck, wanted: str, told: str | None) -> Finding:
    advice = f"install tmux {wanted} or later"
    if told is None:
        return build_finding(check, "there is no tmux in PATH", ok=False, advice=advice)
    there, least = parse_release(told), parse_release(wanted)
    if least is None:
        return build_finding(check, f"{wanted!r} is not a version of tmux; say 3.3 or 3.3a", ok=False)
    if there is None:
        return build_finding(
            check, f"{told or 'tmux'} does not say a version that can be compared", ok=False, advice=advice
        )
    ok = there >= least
    return build_finding(check, told if ok else f"{told}; {wanted} or later is needed", ok=ok, advice=advice)


def command_finding(check: PreflightCheck, seen: ProgramResult) -> Finding:
    last = next((line for line in reversed(seen.text.raw.splitlines()) if clean_line(line)), "")
    said = f": {last}" if last else ""
    if seen.late:
        return build_finding(check, f"not done within {format_duration(check.timeout_s)}; it was ended{said}", ok=False)
    if seen.code < 0:
        return build_finding(check, f"killed by {signal_name(-seen.code)}{said}", ok=False)
    return build_finding(check, f"exit code {seen.code}{said if seen.code else ''}", ok=seen.code == 0)


def module_finding(check: PreflightCheck, seen: InterpreterReply, install: str) -> Finding:
    if seen.error:
        return build_finding(check, _format_reply(seen), ok=False, advice=install)
    mere = "" if seen.whole else " (a directory without a file of its own: is it a leftover?)"
    return build_finding(check, f"from {seen.place}{mere}", ok=True)


def package_finding(check: PreflightCheck, seen: InterpreterReply, install: str) -> Finding:
    if not seen.recorded and not seen.error:
        says = (
            f"no metadata, so pip does not know it, though its module can be imported from {seen.place}:"
            " `uv run` hides that"
        )
        return build_finding(check, says, ok=False, advice=install)
    if not seen.recorded and seen.error.startswith("ModuleNotFoundError"):
        return build_finding(check, "not installed there: neither metadata nor module", ok=False, advice=install)
    if seen.error:
        known = f"recorded as {seen.version}, but " if seen.version else ""
        return build_finding(check, f"{known}{_format_reply(seen)}", ok=False, advice=install)
    where = f" from {seen.place}" if seen.place else "; it has no module of its own"
    return build_finding(check, f"{seen.version}{where}", ok=True)


def _format_reply(seen: InterpreterReply) -> str:
    return f"{seen.error} (Python {seen.python} of {seen.prefix})" if seen.python else f"its Python {seen.error}"


def format_counts(findings: list[Finding]) -> str:
    """How many passed, and the name of each that could not be run; a failure is seen, but those are easily missed."""
    failed = sum(not each.ok and each.ran for each in findings)
    unrun = [each.name for each in findings if not each.ran]
    some = f"of {len(findings)} {'check' if len(findings) == 1 else 'checks'}"
    if not failed and not unrun:
        return f"all {len(findings)} checks passed"
    if not unrun:
        return f"{failed} {some} failed"
    which = f"could not be run: {', '.join(unrun)}"
    return f"{failed} {some} failed, {len(unrun)} {which}" if failed else f"{len(unrun)} {some} {which}"


def format_summary(findings: list[Finding]) -> str:
    """One line for whoever will not start because of it; empty when all passed."""
    bad = sorted([each for each in findings if not each.ok], key=lambda each: not each.ran)
    if not bad:
        return ""
    said = [f"{each.name}: {each.says}" for each in bad[:MOST_NAMED]]
    more = [f"and {len(bad) - MOST_NAMED} more"] if len(bad) > MOST_NAMED else []
    separator = ": " if all(each.ran for each in bad) else "; "
    return f"{format_counts(findings)}{separator}{'; '.join(said + more)}; `midwatch preflight` tells more"


def findings_after_fixes(findings: list[Finding], outcomes: dict[str, str]) -> list[Finding]:
    """What was found once fixes were run, with what became of those that did not help."""
    return [
        each if each.ok or each.fix not in outcomes else each._replace(says=f"{each.says}; {outcomes[each.fix]}")
        for each in findings
    ]


def install_command(environment: str, recipe: EnvironmentRecipe) -> str:
    """How a project's packages get into its environment, with the optional parts that it had."""
    if "uv.lock" in recipe.names:
        return f"`{_uv_command(environment, recipe)}`{_format_rebuild(recipe)}"
    into = f"{shlex.quote(environment)}/bin/python -m pip install"
    groups = "".join(f" --group {shlex.quote(group)}" for group in recipe.groups)
    if recipe.requirements:
        return f"`{into}{''.join(f' -r {shlex.quote(name)}' for name in recipe.requirements)}{groups}`"
    if "pyproject.toml" in recipe.names or "setup.py" in recipe.names:
        place = shlex.quote(f".[{','.join(recipe.extras)}]") if recipe.extras else "."
        return f"`{into} -e {place}{groups}`{_format_rebuild(recipe)}"
    return f"install it there: `{into} …`"


def rebuild_command(environment: str, recipe: EnvironmentRecipe) -> str:
    """How an environment is made anew. A mere `uv sync` leaves scripts alone that name another directory."""
    place = shlex.quote(environment)
    if "uv.lock" in recipe.names:
        alone = "(`uv sync` alone leaves what it had as it is)"
        return f"make it again: `rm -rf {place} && {_uv_command(environment, recipe)}` {alone}{_format_rebuild(recipe)}"
    rest = install_command(environment, recipe)
    if rest.startswith("`"):
        return f"make it again: `python3 -m venv --clear {place} && {rest[1:]}"
    return f"make it again: `python3 -m venv --clear {place}`, then install its packages"


def _uv_command(environment: str, recipe: EnvironmentRecipe) -> str:
    parts = [f" --extra {shlex.quote(extra)}" for extra in recipe.extras]
    parts += [f" --group {shlex.quote(group)}" for group in recipe.groups]
    where = "" if environment == ".venv" else f"UV_PROJECT_ENVIRONMENT={shlex.quote(environment)} "
    return f"{where}uv sync{''.join(parts)}"


def _format_rebuild(recipe: EnvironmentRecipe) -> str:
    return f"; the project also has {', '.join(f'`{each}`' for each in recipe.offered)}" if recipe.offered else ""
