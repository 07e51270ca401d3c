"""Reads the [[dialog]] tables of an agent's file."""

from __future__ import annotations

from midwatch.agents.dialog_lists import MARKS, SIGN, DialogRules
from midwatch.agents.lazy_pattern import LazyPattern
from midwatch.agents.rule_file import RuleFile
from midwatch.config.codec.toml_positions import Path
from midwatch.config.codec.toml_reader import Table

KEYS_OF_DIALOG = ("in", "choice", "marked_by", "move", "take", "words", "typed", "several")
MOVE = ("Up", "Down")
TAKE = "Enter"


def read_dialogs(file: RuleFile, data: Table, texts: set[str]) -> tuple[DialogRules, ...]:
    """Every [[dialog]] in the order of the file. FormatError names the line of what is wrong."""
    return tuple(
        _read_dialog(file, each, ("dialog", nth), texts) for nth, each in enumerate(file.tables(data, "dialog"))
    )


def _read_dialog(file: RuleFile, table: Table, at: Path, texts: set[str]) -> DialogRules:
    file.known(table, at, KEYS_OF_DIALOG)
    region = file.string(table, "in", at)
    if region not in texts:
        raise file.wrong(f"there is no region {region!r}", at, "in")
    choice = file.string(table, "choice", at)
    marked_by = file.choice(table, "marked_by", at, MARKS) if "marked_by" in table else SIGN
    wanted = ["label", *(["mark"] if marked_by == SIGN else [])]
    if not file.ours and (missing := set(wanted) - set(file.regex(choice, at, "choice").groupindex)):
        raise file.wrong(f"choice needs the group (?P<{min(missing)}>…)", at, "choice")
    move = file.strings(table, "move", at) or MOVE
    if len(move) != len(MOVE):
        raise file.wrong("move names two keys: to the choice before, and to the one after", at, "move")
    take = file.string(table, "take", at, TAKE)
    file.check_keys((*move, take), at)
    return DialogRules(
        region=region, choice=file.expression(choice, at, "choice"), marked_by=marked_by, move=(move[0], move[1]),
        take=take, words=_pattern(file, table, at, "words"), typed=file.flag(table, "typed", at),
        several=_pattern(file, table, at, "several"),
    )  # fmt: skip


def _pattern(file: RuleFile, table: Table, at: Path, key: str) -> LazyPattern | None:
    text = file.string(table, key, at, "")
    return file.expression(text, at, key) if text else None
