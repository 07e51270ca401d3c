"""Changes of a plan, made to a list that others may have written since the plan was made."""

from __future__ import annotations

from collections.abc import Sequence

from midwatch.core.errors import FormatError, MidwatchError
from midwatch.core.text import first_few
from midwatch.core.value import Value
from midwatch.registry.model import AddRow, Change, Registry, RegistryRow, RemoveRow
from midwatch.registry.store import RegistryFile


class ChangeResult(Value):
    """What became of the changes of a plan, which are named by their ids."""

    made: frozenset[int] = frozenset()
    refused: frozenset[int] = frozenset()
    troubles: tuple[str, ...] = ()
    names: frozenset[str] = frozenset()
    """Sessions whose rows were written."""


def write_changes(file: RegistryFile, planned: Sequence[Change], rows: tuple[RegistryRow, ...]) -> ChangeResult:
    """Make the changes that were planned for these rows. One that cannot be made holds up no other."""
    if not planned:
        return ChangeResult()
    kept: dict[int, Change] = {}
    refused: list[tuple[Change, FormatError]] = []

    def decide(now: Registry) -> Sequence[Change]:
        kept.clear()
        same = {id(row): at for row, at in _match_rows(rows, now.rows)}
        names = {row.name for row in now.rows}
        changes = list[Change]()
        for change in planned:
            moved = _adapt_change(change, rows, same, names)
            if moved is not None:
                kept[id(moved)] = change
                changes.append(moved)
        return changes

    try:
        written = file.update(decide, refused=refused)
    except MidwatchError as error:
        return ChangeResult(refused=frozenset(map(id, planned)), troubles=(str(error),))
    not_made = frozenset(id(kept.pop(id(moved))) for moved, _ in refused)
    names = [change.name if isinstance(change, AddRow) else rows[change.at].name for change in kept.values()]
    troubles = tuple(first_few((str(error) for _, error in refused), "rows that cannot be changed"))
    return ChangeResult(frozenset(map(id, kept.values())), not_made, troubles, frozenset(names if written else ()))


def _match_rows(before: tuple[RegistryRow, ...], now: tuple[RegistryRow, ...]) -> list[tuple[RegistryRow, int]]:
    """Rows that stand as they stood, each with where that is now."""
    if before is now:
        return [(row, row.at) for row in before]
    where: dict[str, list[RegistryRow]] = {}
    for row in now:
        where.setdefault(row.name, []).append(row)
    found = []
    for row in before:
        same = [each for each in where.get(row.name, []) if each.data == row.data]
        if same:
            found.append((row, same[0].at))
            where[row.name].remove(same[0])
    return found


def _adapt_change(
    change: Change, rows: tuple[RegistryRow, ...], same: dict[int, int], names: set[str]
) -> Change | None:
    """A change as the file stands now; None where what it was planned for is not as it was."""
    if isinstance(change, AddRow):
        return None if change.name in names else change
    at = same.get(id(rows[change.at]))
    if at is None:
        return None
    return RemoveRow(at) if isinstance(change, RemoveRow) else change._replace(at=at)
