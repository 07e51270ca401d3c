"""Having sent, by a process beside us, what nobody could send before: called by every verb, for its directory."""

from __future__ import annotations

from dogwatch.store import places, unsent


def send(directory: str) -> None:
    """Start a sender if something is to be sent and nobody is at it. Costs a look into a directory or two."""
    waiting = unsent.candidates(directory)
    if not waiting or unsent.is_attended(directory) or places.shared_with_others(directory):
        return
    from dogwatch import proc  # noqa: PLC0415  # there is mostly nothing to send
    from dogwatch.hands import spawn, tell  # noqa: PLC0415

    at_work = {word for words in proc.run_beside() for word in words}
    if at_work.issuperset(waiting):
        return
    try:
        tell.start(spawn.teller_command(directory))
    except OSError:
        pass  # whoever comes by next finds the same
