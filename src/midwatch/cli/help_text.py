"""What `--help` prints: the overview of all verbs in their groups, and the page of one verb.

All lines fit into 80 columns, or into a terminal that is narrower.
"""

from __future__ import annotations

import os

from midwatch.cli.command_table import ALIASES, GROUPS, VERBS

WIDEST = 80
NARROWEST = 40
VERB_COLUMN = 12
FLAG_COLUMN = 18


def help_width() -> int:
    """Columns to fill: those of the terminal at standard output, 80 at most."""
    columns = os.get_terminal_size(1).columns if os.isatty(1) else 0
    return max(NARROWEST, min(WIDEST, columns or WIDEST))


def verb_usage(verb: str, width: int = WIDEST) -> str:
    about = VERBS[verb]
    says = str(about["says"])
    lines = [*_format_forms(verb, str(about["takes"]), width), ""]
    lines += [*fill_paragraphs(f"{says[:1].upper()}{says[1:]}.", width), ""]
    table: tuple[tuple[str, str, str], ...] = about["options"]  # type: ignore[assignment]
    for flag, placeholder, text in table:
        lines += _fill_column(f"  {flag} {placeholder}".rstrip(), text, FLAG_COLUMN, width)
    lines += [""] if table else []
    if "more" in about:
        lines += [*fill_paragraphs(str(about["more"]), width), ""]
    if others := format_aliases(verb):
        lines += [others, ""]
    examples: tuple[str, ...] = about["examples"]  # type: ignore[assignment]
    lines += ["Examples:" if len(examples) > 1 else "Example:"]
    lines += [_break_example(example, width) for example in examples]
    return "\n".join(lines)


def _format_forms(verb: str, takes: str, width: int) -> list[str]:
    """The ways to call a verb, on one line if they fit, else each on its own."""
    indent = len("usage: ")
    one = f"usage: midwatch {verb} {takes}".rstrip()
    if len(one) <= width:
        return [one]
    first, *others = [f"midwatch {verb} {form}" for form in _split_outside(takes, " | ", "")]
    lines = _fill_column("usage:", first, indent, width)
    return lines + [line for form in others for line in _fill_column("", form, indent, width)]


def _break_example(example: str, width: int) -> str:
    """A command that a shell understands as it stands, on several lines where it is too long for one."""
    lines = ["  "]
    for word in _split_outside(example, " ", "'\""):
        begun = bool(lines[-1].strip())
        if begun and len(lines[-1]) + 1 + len(word) + len(" \\") > width:
            lines[-1] += " \\"
            lines.append("      ")
            begun = False
        lines[-1] += f" {word}" if begun else word
    return "\n".join(lines)


def _split_outside(text: str, separator: str, quotes: str) -> list[str]:
    """The parts of a text, where a separator within quotes or brackets does not count."""
    parts: list[str] = []
    for part in text.split(separator):
        before = parts[-1] if parts else ""
        if any(before.count(quote) % 2 for quote in quotes) or before.count("(") > before.count(")"):
            parts[-1] += separator + part
        else:
            parts.append(part)
    return parts


def format_aliases(verb: str) -> str:
    """The other words for a verb, with the options that they stand for; empty where there are none."""
    shown = []
    for alias, (meant, *options) in ALIASES.items():
        if meant == verb:
            shown.append(f"`{alias}` (with {' '.join(options)})" if options else f"`{alias}`")
    return f"Also called {', '.join(shown)}." if shown else ""


def usage(width: int = WIDEST) -> str:
    from midwatch import __version__

    lines = fill_paragraphs(
        f"midwatch {__version__}: watches agents and jobs, and says truthfully how they ended", width
    )
    lines += ["", "usage: midwatch VERB [OPTIONS]", "       midwatch VERB --help"]
    for title, verbs in GROUPS:
        lines += ["", f"{title}:"]
        for verb, about in verbs.items():
            if about["says"]:
                lines += _fill_column(f"  {verb}", str(about["says"]), VERB_COLUMN + 1, width)
    also = " · ".join(f"{alias} = {' '.join(meant)}" for alias, meant in ALIASES.items())
    lines += ["", *_fill_column("Aliases:", also, 9, width), "", "Examples:"]
    lines += ["  midwatch run -d --name build -- make all", "  midwatch wait build"]
    return "\n".join(lines)


def fill_paragraphs(text: str, width: int) -> list[str]:
    """The lines of a text whose paragraphs are parted by an empty line; where its own lines end does not matter."""
    lines: list[str] = []
    for paragraph in text.split("\n\n"):
        lines += ["", *_fill(paragraph, width)] if lines else _fill(paragraph, width)
    return lines


def _fill_column(left: str, text: str, indent: int, width: int) -> list[str]:
    """A text beside a word, or below it where the word is too long; always one column between them."""
    rows = _fill(text, width - indent)
    blank = " " * indent
    if len(left) >= indent:
        return [left, *(blank + row for row in rows)]
    return [f"{left:<{indent}}{rows[0]}".rstrip(), *(blank + row for row in rows[1:])]


def _fill(text: str, width: int) -> list[str]:
    """By hand, because textwrap loads regular expressions."""
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}" if lines[-1] else word
    return lines
