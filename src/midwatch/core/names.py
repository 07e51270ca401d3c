"""Names of jobs: they become file names and go into one-line messages, so they stay plain and short.

Steps of a foreign directory were named by others: blanks within their names are taken where such a step is meant.
"""

from midwatch.core.errors import UsageError

LONGEST = 100
PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._+=@-")


def find_problem(name: str, *, blanks: bool = False) -> str:
    """What is wrong with a name, or nothing."""
    if not name:
        return "is empty"
    if len(name) > LONGEST:
        return f"is longer than {LONGEST} characters"
    if name[0] in ".-":
        return f"begins with {name[0]!r}"
    if PLAIN.issuperset(name) or (blanks and name == name.strip(" ") and (PLAIN | {" "}).issuperset(name)):
        return ""
    odd = next(character for character in name if character not in PLAIN)
    where = "; give the directory of a script together with the name of its step" if odd == " " and not blanks else ""
    return f"holds {odd!r}; letters, digits and . _ + = @ - are allowed{where}"


def check_name(name: str, *, blanks: bool = False) -> str:
    if wrong := find_problem(name, blanks=blanks):
        shown = name if len(name) <= LONGEST else name[:20] + "…"
        raise UsageError(f"the name {shown!r} {wrong}")
    return name


def derive_name(command: str, run: str) -> str:
    """A name for a job that was given none: its program and a bit of its run id."""
    stem = "".join(c for c in command.rsplit("/", 1)[-1] if c in PLAIN).lstrip(".-")[:40]
    return f"{stem or 'job'}-{run[-4:]}"


def is_pane(name: str) -> bool:
    """Whether it is the id of a pane of tmux, such as %3."""
    return name[:1] == "%" and name[1:].isdecimal() and name.isascii()
