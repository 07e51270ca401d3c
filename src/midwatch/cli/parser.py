"""Parsing a command line against the table of verbs.

By hand, because argparse costs as much as an interpreter start at every `wait` and `ls`. It takes what people type:
``--flag value``, ``--flag=value``, ``-n5``, options after names, ``--`` before a command.
"""

from midwatch.cli.command_table import find_verb
from midwatch.core import durations
from midwatch.core.errors import UsageError


class Options:
    """What was given: flags with their values, then names (or, after ``--``, a command)."""

    def __init__(self, verb: str) -> None:
        self.verb = verb
        self.values: dict[str, list[str]] = {}
        self.names: list[str] = []
        self.command: list[str] | None = None

    def label(self, flag: str) -> str:
        """How whoever gave an option calls it, for errors. The Python API has other names for the same."""
        return flag

    def flag(self, name: str) -> bool:
        return name in self.values

    def text(self, name: str) -> str | None:
        given = self.values.get(name)
        return given[-1] if given else None

    def each(self, name: str) -> list[str]:
        return self.values.get(name, [])

    def seconds(self, name: str) -> float | None:
        given = self.text(name)
        if given is None:
            return None
        try:
            return durations.parse(given)
        except UsageError as error:
            raise UsageError(f"{self.label(name)}: {error}") from None

    def choice(self, name: str, among: tuple[str, ...]) -> str | None:
        given = self.text(name)
        if given is not None and given not in among:
            raise UsageError(f"{self.label(name)} is one of {', '.join(among)}, not {given!r}")
        return given


def parse(verb: str, arguments: list[str]) -> Options:
    about = find_verb(verb)
    assert about is not None
    table: tuple[tuple[str, str, str], ...] = about["options"]  # type: ignore[assignment]
    takes_value = {flag: bool(placeholder) for flag, placeholder, _ in table}
    found, rest = Options(verb), list(arguments)
    while rest:
        word = rest.pop(0)
        if word == "--":
            found.command = rest
            break
        if not word.startswith("-") or word == "-":
            if verb == "run":  # the command may follow without its dashes
                found.command = [word, *rest]
                break
            found.names.append(word)
            continue
        flag, equals, value = word.partition("=")
        if not word.startswith("--") and len(word) > 2 and takes_value.get(word[:2]):  # noqa: PLR2004
            flag, equals, value = word[:2], "=", word[2:]
        if flag not in takes_value:
            raise UsageError(f"{verb} has no option {flag}{suggest_word(flag, list(takes_value))}")
        if takes_value[flag] and not equals:
            if not rest:
                raise UsageError(f"{flag} needs a value")
            value = rest.pop(0)
            if value.startswith("--") and value in takes_value:  # as after a variable of the shell that is empty
                raise UsageError(f"{flag} needs a value; if {value} is meant as one, {flag}={value}")
        elif equals and not takes_value[flag]:
            raise UsageError(f"{flag} takes no value")
        found.values.setdefault(flag, []).append(value)
    if found.command is not None and verb not in ("run", "spawn", "step", "session"):
        found.names += found.command
        found.command = None
    return found


def suggest_word(word: str, known: list[str]) -> str:
    import difflib  # only for an error

    near = difflib.get_close_matches(word, known, n=1)
    return f"; did you mean {near[0]}?" if near else ""
