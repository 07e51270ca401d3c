"""What a watchdog has told, as it is kept for the next one: with times of the wall clock, as ours begins anew."""

from __future__ import annotations

from midwatch.swarm.model import MessageRecipient, WakeMemory, WorkState

LISTS = ("ready", "in_progress", "blocked", "quality", "workers", "mail")
OLDEST = 86400.0
"""Seconds after which what was told is of no interest."""


def encode_memory(memory: WakeMemory, *, now: float, wall: float) -> dict[str, object]:
    return {
        "told": {name: list(getattr(memory.told, name)) for name in LISTS} if memory.told else None,
        "at": None if memory.at is None else wall - (now - memory.at),
        "repeats": memory.repeats, "sent": [wall - (now - at) for at in memory.sent], "unread": memory.unread,
        "closed": memory.closed, "conversation": memory.to.conversation, "process": memory.to.process,
    }  # fmt: skip


def decode_memory(data: dict[str, object], *, now: float, wall: float) -> WakeMemory:
    """What is not as we write it is as if nothing had been told: to tell once too often does little harm."""
    try:
        told, at, sent = data["told"], data["at"], data["sent"]
        if not isinstance(told, dict) or not isinstance(at, int | float) or not isinstance(sent, list):
            return WakeMemory()
        if not 0 <= wall - at < OLDEST:
            return WakeMemory()
        state = WorkState(closed=False, **{name: tuple([str(each) for each in told[name]]) for name in LISTS})  # type: ignore[arg-type]
        moments = tuple([now - (wall - float(each)) for each in sent])
        repeats, closed = data["repeats"], data["closed"]
        if not isinstance(repeats, int) or not isinstance(closed, int):
            return WakeMemory()
        to = MessageRecipient(
            *[each if isinstance(each := data.get(name), str) else "" for name in MessageRecipient._fields]
        )
        return WakeMemory(
            state, now - (wall - at), repeats, moments, unread=data["unread"] is True, closed=closed, to=to
        )
    except (KeyError, TypeError, ValueError, OverflowError):
        return WakeMemory()
