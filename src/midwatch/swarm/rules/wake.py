"""Whether the controller is woken at a tick: when there is something that it does not know, and else rarely.

What it has done itself is no news: that a ready task is in progress now, or is closed. A message that says the same
again comes after 1, 2, 4 … intervals, at most hourly; while everybody works and there is nothing to be done, only when
the controller has slept for twice that long. None is sent while the last one is unread, and none with something new
beyond a ceiling, except for crashes and tasks of the highest priority. Repeats do not count towards the ceiling.

What was told belongs to a conversation: a new one has been told nothing.
"""

from __future__ import annotations

from midwatch.core.prompt_text import for_prompt, shown_id
from midwatch.swarm.model import AUTO, NOBODY, Recipient, Wake, WakeMemory, WakeRules, WorkState

HOUR = 3600.0
NEWS = {"ready": "ready", "blocked": "blocked", "quality": "quality loops due", "workers": "", "mail": "unread report"}
"""Fields of a state of which something new is worth a message, with a word for the log."""


TASKS = ("ready", "blocked", "quality")
"""Those of them that hold ids of tasks."""


def wake(state: WorkState, memory: WakeMemory, rules: WakeRules, *, now: float) -> Wake:
    if state.closed:
        return _closed(memory, rules, now)
    fresh = news(memory.told, state)
    why = ", ".join(fresh) if fresh else _repeat(state, memory, rules, now)
    if not why:
        return Wake("", "nothing new")
    if is_unread(memory, rules, now):
        message = ", ".join(fresh) or "what it was told before"
        return _held("the last message is unread", message, _lost_at(memory, rules))
    free_at = _free_at(memory, rules, now) if fresh and not is_urgent(memory.told, state) else None
    if free_at is not None:
        return _held(f"{rules.ceiling} messages within an hour are enough", why, free_at)
    return Wake("tick", why)


def _held(reason: str, message: str, until: float | None) -> Wake:
    return Wake("", f"{reason}; held back: {message}", held=reason, message=message, until=until)


def news(before: WorkState | None, now: WorkState) -> list[str]:
    """What the controller has not been told, in words; at first everything."""
    if before is None:
        return ["first tick"] if has_work(now) or now.workers else []
    added = [(field, shown_id(each) if field in TASKS else for_prompt(each)) for field, each in _added(before, now)]
    return [f"{NEWS[field]} {each}".strip() for field, each in added]


def _added(before: WorkState, now: WorkState) -> list[tuple[str, str]]:
    return [(field, each) for field in NEWS for each in getattr(now, field) if each not in getattr(before, field)]


def is_urgent(before: WorkState | None, now: WorkState) -> bool:
    """Whether something new does not wait for the ceiling: a crash, or a task of the highest priority."""
    added = _added(before or WorkState(closed=False), now)
    return any(
        (field == "workers" and each in now.crashed) or (field in TASKS and each in now.urgent) for field, each in added
    )


def _repeat(state: WorkState, memory: WakeMemory, rules: WakeRules, now: float) -> str:
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


def _closed(memory: WakeMemory, rules: WakeRules, now: float) -> Wake:
    if rules.exit_mode == AUTO:
        return Wake("", "the epic is closed", end=True)
    if memory.closed >= rules.notices:
        return Wake("", f"the epic is closed, and was told of {memory.closed} times; waiting to be stopped")
    if is_unread(memory, rules, now):
        return Wake(
            "", "the epic is closed; the last message is unread",
            held="the last message is unread", message="the epic is closed", until=_lost_at(memory, rules),
        )  # fmt: skip
    if memory.closed and memory.at is not None and now - memory.at < rules.interval:
        return Wake("", "the epic is closed; told already")
    return Wake("closed", "the epic is closed")


def has_work(state: WorkState) -> bool:
    """Whether there is anything to be done, or in hand."""
    return bool(state.ready or state.in_progress or state.blocked or state.quality or state.mail)


def is_unread(memory: WakeMemory, rules: WakeRules, now: float) -> bool:
    """Whether to wait for the last one. What nobody proved within the longest rest is lost: it must not mute us."""
    lost_at = _lost_at(memory, rules)
    return memory.unread and (lost_at is None or now < lost_at)


def _lost_at(memory: WakeMemory, rules: WakeRules) -> float | None:
    return None if memory.at is None else memory.at + max(rules.longest, rules.interval)


def _free_at(memory: WakeMemory, rules: WakeRules, now: float) -> float | None:
    """When the next message with something new may be sent; None: at once."""
    last = sorted(recent(memory, now))
    return last[-rules.ceiling] + HOUR if len(last) >= rules.ceiling else None


def recent(memory: WakeMemory, now: float) -> tuple[float, ...]:
    return tuple([at for at in memory.sent if now - at < HOUR])


def delivered(
    state: WorkState, memory: WakeMemory, kind: str, *, now: float, proven: bool, to: Recipient = NOBODY
) -> WakeMemory:
    """What to remember once a message was delivered, or may have been."""
    same = memory.told is not None and not news(memory.told, state)
    counts = kind == "tick" and not same
    return WakeMemory(
        told=state, at=now, repeats=memory.repeats + 1 if same else 0,
        sent=(*recent(memory, now), now) if counts else recent(memory, now),
        unread=not proven, closed=memory.closed + (kind == "closed"), to=to,
    )  # fmt: skip


def is_new(before: Recipient, now: Recipient) -> bool:
    """Whether another conversation listens than was told. Where one is not known, another process has another one."""
    if before.conversation and now.conversation:
        return before.conversation != now.conversation
    return bool(before.process and now.process and before.process != now.process)


def recognised(memory: WakeMemory, now: Recipient) -> WakeMemory:
    """The same conversation, of which more may be known by now: its id, or its next process."""
    known = Recipient(now.conversation or memory.to.conversation, now.process or memory.to.process)
    return memory if memory.told is None or is_new(memory.to, now) else memory._replace(to=known)


def seen(state: WorkState, memory: WakeMemory) -> WakeMemory:
    """What is no more is forgotten: a task that is ready, or an epic that is closed, a second time is news again."""
    memory = memory._replace(closed=memory.closed if state.closed else 0)
    if memory.told is None:
        return memory
    kept = {
        field: tuple([each for each in getattr(memory.told, field) if each in getattr(state, field)]) for field in NEWS
    }
    return memory._replace(told=memory.told._replace(**kept))  # type: ignore[arg-type]  # fields of NEWS
