"""Checks as people write them: a command, file:GLOB, git:commit-since-start, sprint:KEY=done, bead:ID=closed."""

from __future__ import annotations

from midwatch.core.errors import UsageError
from midwatch.verification.model import BEAD, COMMAND, FILE, GIT, SPRINT, VerificationCheck

COMMITTED = "commit-since-start"
WANTED = {SPRINT: "done", BEAD: "closed"}
"""What a status must be, for people who do not say."""


def parse_check(text: str) -> VerificationCheck:
    """Anything that is none of the other kinds is a command. UsageError says what is wrong."""
    kind, colon, rest = text.strip().partition(":")
    if not text.strip():
        raise UsageError("--verify needs something that tells whether the work is there: a command, file:GLOB …")
    if not colon or kind not in (FILE, GIT, SPRINT, BEAD):
        return VerificationCheck(COMMAND, text.strip())
    if kind == GIT:
        if rest != COMMITTED:
            raise UsageError(f"--verify git:{rest} is not known; there is git:{COMMITTED}")
        return VerificationCheck(GIT, "")
    if kind == FILE:
        if not rest:
            raise UsageError("--verify file: needs a pattern, such as file:docs/*.md")
        return VerificationCheck(FILE, rest)
    subject, _, wanted = rest.partition("=")
    if not subject:
        raise UsageError(f"--verify {kind}: needs a name, such as {kind}:5-3={WANTED[kind]}")
    return VerificationCheck(kind, subject, wanted or WANTED[kind])


def format_check(check: VerificationCheck) -> str:
    """The same text again."""
    match check.kind:
        case "command":
            return check.subject
        case "git":
            return f"{GIT}:{COMMITTED}"
        case "file":
            return f"{FILE}:{check.subject}"
        case _:
            return f"{check.kind}:{check.subject}={check.wanted}"
