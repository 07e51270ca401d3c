"""Whether the controller is woken at a tick: when there is something that it does not know, and else rarely.

What it has done itself is no news: that a ready task is in progress now, or is closed. A message that says the same
again comes after 1, 2, 4 … intervals, at most hourly; while everybody works and there is nothing to be done, only when
the controller has slept for twice that long. None is sent while the last one is unread, or beyond a ceiling.
"""

from __future__ import annotations

from dogwatch.model.waking import AUTO, Memory, Rules, State, Wake

HOUR = 3600.0
NEWS = {"ready": "ready", "blocked": "blocked", "quality": "quality loops due", "workers": "", "mail": "unread report"}
"""Fields of a state of which something new is worth a message, with a word for the log."""


def wake(state: State, memory: Memory, rules: Rules, *, now: float) -> Wake:
    if state.closed:
        return _closed(memory, rules, now)
    fresh = news(memory.told, state)
    why = ", ".join(fresh) if fresh else _repeat(state, memory, rules, now)
    if not why:
        return Wake("", "nothing new")
    if is_unread(memory, rules, now):
        return Wake("", f"the last message is unread; held back: {why}")
    if len(recent(memory, now)) >= rules.ceiling:
        return Wake("", f"{rules.ceiling} messages within an hour are enough; held back: {why}")
    return Wake("tick", why)


def news(before: State | None, now: State) -> list[str]:
    """What the controller has not been told, in words; at first everything."""
    if before is None:
        return ["first tick"] if has_work(now) or now.workers else []
    found = []
    for field, word in NEWS.items():
        added = [each for each in getattr(now, field) if each not in getattr(before, field)]
        found += [f"{word} {each}".strip() for each in added]
    return found


def _repeat(state: State, memory: Memory, rules: Rules, now: float) -> str:
    """Why the same is told again: there is work, it was told long ago, and somebody could do something about it."""
    if not has_work(state):
        return ""
    if memory.at is None:
        return "nothing was delivered yet"
    longest, last = max(rules.longest, rules.interval), memory.at
    waits = state.mail or state.quality or (state.free and (state.ready or state.blocked)) or not state.working
    rest = min(rules.interval * 2.0 ** min(memory.repeats, 30), longest) if waits else 2.0 * longest
    if not waits and state.turn is not None:
        last = max(last, state.turn)  # it was awake of itself
    return f"unchanged for {int(now - memory.at)} s" if now - last >= rest else ""


def _closed(memory: Memory, rules: Rules, now: float) -> Wake:
    if rules.exit_mode == AUTO:
        return Wake("", "the epic is closed", end=True)
    if memory.closed >= rules.notices:
        return Wake("", f"the epic is closed, and was told of {memory.closed} times; waiting to be stopped")
    if is_unread(memory, rules, now):
        return Wake("", "the epic is closed; the last message is unread")
    if memory.closed and memory.at is not None and now - memory.at < rules.interval:
        return Wake("", "the epic is closed; told already")
    return Wake("closed", "the epic is closed")


def has_work(state: State) -> bool:
    """Whether there is anything to be done, or in hand."""
    return bool(state.ready or state.in_progress or state.blocked or state.quality or state.mail)


def is_unread(memory: Memory, rules: Rules, now: float) -> bool:
    """Whether to wait for the last one. What nobody proved within the longest rest is lost: it must not mute us."""
    return memory.unread and (memory.at is None or now - memory.at < max(rules.longest, rules.interval))


def recent(memory: Memory, now: float) -> tuple[float, ...]:
    return tuple([at for at in memory.sent if now - at < HOUR])


def delivered(state: State, memory: Memory, kind: str, *, now: float, proven: bool) -> Memory:
    """What to remember once a message was delivered, or may have been."""
    same = memory.told is not None and not news(memory.told, state)
    return Memory(
        told=state, at=now, repeats=memory.repeats + 1 if same else 0, sent=(*recent(memory, now), now),
        unread=not proven, closed=memory.closed + (kind == "closed"),
    )  # fmt: skip


def seen(state: State, memory: Memory) -> Memory:
    """What is no more is forgotten: a task that is ready, or an epic that is closed, a second time is news again."""
    memory = memory._replace(closed=memory.closed if state.closed else 0)
    if memory.told is None:
        return memory
    kept = {
        field: tuple([each for each in getattr(memory.told, field) if each in getattr(state, field)]) for field in NEWS
    }
    return memory._replace(told=memory.told._replace(**kept))  # type: ignore[arg-type]  # fields of NEWS
