"""The `[notify]` table of a settings file: channels, what each is told, and when it is to be left alone."""

from __future__ import annotations

import re

from midwatch.config.codec import command_template
from midwatch.config.codec.toml_reader import Table, TomlFile
from midwatch.config.model import REMIND, Channel, QuietHours
from midwatch.core.errors import FormatError
from midwatch.core.notification_kinds import LEVELS, NEEDS_YOU, USUAL, WORDS

KEYS = ("urls", "command", "on", "level", "remind", "quiet", "quiet_except")
AT = ("notify",)
SPAN = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)\s*-\s*([01]?\d|2[0-3]):([0-5]\d)")


def read(file: TomlFile, table: Table) -> tuple[Channel, ...]:
    """The channels of one file. FormatError names the line."""
    file.known(table, AT, KEYS)
    manner = _read_manner(file, table)
    found = [_read_command(file, table, manner)] if "command" in table else []
    for nth, given in enumerate(file.strings(table, "urls", AT)):
        where = (*AT, "urls", nth)
        try:
            target = (command_template.check_url(given),)
        except FormatError as error:
            raise file.wrong(str(error), where) from None
        found.append(manner._replace(kind="url", target=target, source=f"{file.path}:{file.line(where)}"))
    for key in KEYS[2:] if not found else ():
        if key in table:
            what = f"{key} goes with urls or command of the same file; without them nobody is told"
            raise file.wrong(what, AT, key)
    return tuple(found)


def _read_manner(file: TomlFile, table: Table) -> Channel:
    """What all channels of a file have in common."""
    if "on" in table and "level" in table:
        what = "level and on both choose what is sent, and a file may have one of them; delete the other"
        raise file.wrong(what, AT, "level")
    level = file.choice(table, "level", AT, tuple(LEVELS)) if "level" in table else ""
    quiet = _read_quiet(file, table) if "quiet" in table else None
    if quiet is None and "quiet_except" in table:
        raise file.wrong('quiet_except needs quiet hours; write quiet = "22:00-07:00"', AT, "quiet_except")
    return Channel(
        "", (), LEVELS[level] if level else _read_words(file, table, "on", WORDS) if "on" in table else USUAL, "",
        level=level, remind_s=file.seconds(table, "remind", AT) if "remind" in table else REMIND,
        quiet=quiet, quiet_except=_read_words(file, table, "quiet_except", (NEEDS_YOU, *WORDS)),
    )  # fmt: skip


def _read_command(file: TomlFile, table: Table, manner: Channel) -> Channel:
    text = isinstance(table["command"], str)
    given = file.string(table, "command", AT) if text else file.strings(table, "command", AT)
    try:
        words = command_template.parse_template(given)
    except FormatError as error:
        raise file.wrong(str(error), AT, "command") from None
    return manner._replace(kind="command", target=words, source=f"{file.path}:{file.line((*AT, 'command'))}")


def _read_words(file: TomlFile, table: Table, key: str, allowed: tuple[str, ...]) -> tuple[str, ...]:
    wanted = file.strings(table, key, AT)
    if odd := [word for word in wanted if word not in allowed]:
        meant = "; work that is stalled or frozen is `stuck`" if odd[0] in ("stalled", "frozen") else ""
        raise file.wrong(f"{key} lists {', '.join(allowed)}, not {odd[0]!r}{meant}", AT, key)
    return wanted


def _read_quiet(file: TomlFile, table: Table) -> QuietHours:
    found = SPAN.fullmatch(file.string(table, "quiet", AT).strip())
    if found is None:
        raise file.wrong('quiet is two times of the day, as in "22:00-07:00"', AT, "quiet")
    hours, minutes, until_hours, until_minutes = map(int, found.groups())
    quiet = QuietHours(hours * 60 + minutes, until_hours * 60 + until_minutes)
    if quiet.start == quiet.end:
        what = "quiet begins and ends at the same time; without the key there are no quiet hours"
        raise file.wrong(what, AT, "quiet")
    return quiet
