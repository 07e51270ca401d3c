"""Whether the controller is woken at a tick: when there is something that it does not know, and else rarely.

What it has done itself is no news: that a ready task is in progress now, or is closed. A message that says the same
again comes after 1, 2, 4 … intervals, at most hourly; while everybody works and there is nothing to be done, only when
the controller has slept for twice that long. None is sent while the last one is unread, and none with something new
beyond a ceiling, except for crashes and tasks of the highest priority. Repeats do not count towards the ceiling.

What was told belongs to a conversation: a new one has been told nothing.
"""

from __future__ import annotations

from midwatch.core.prompt_text import format_id, make_prompt_safe
from midwatch.swarm.model import AUTO, NOBODY, MessageRecipient, WakeDecision, WakeMemory, WakeRules, WorkState

HOUR = 3600.0
NEWS = {"ready": "ready", "blocked": "blocked", "quality": "quality loops due", "workers": "", "mail": "unread report"}
"""Fields of a state of which something new is worth a message, with a word for the log."""


TASKS = ("ready", "blocked", "quality")
"""Those of them that hold ids of tasks."""


def decide_wake(state: WorkState, memory: WakeMemory, rules: WakeRules, *, now: float) -> WakeDecision:
    if state.closed:
        return _wake_when_closed(memory, rules, now)
    fresh = list_news(memory.told, state)
    why = ", ".join(fresh) if fresh else _find_repeat_reason(state, memory, rules, now)
    if not why:
        return WakeDecision("", "nothing new")
    if is_unread(memory, rules, now):
        message = ", ".join(fresh) or "what it was told before"
        return _held_wake("the last message is unread", message, _loss_time(memory, rules))
    free_at = _next_allowed_time(memory, rules, now) if fresh and not is_urgent(memory.told, state) else None
    if free_at is not None:
        return _held_wake(f"{rules.ceiling} messages within an hour are enough", why, free_at)
    return WakeDecision("tick", why)


def _held_wake(reason: str, message: str, until: float | None) -> WakeDecision:
    return WakeDecision("", f"{reason}; held back: {message}", held=reason, message=message, until=until)


def list_news(before: WorkState | None, now: WorkState) -> list[str]:
    """What the controller has not been told, in words; at first everything."""
    if before is None:
        return ["first tick"] if has_work(now) or now.workers else []
    added = [
        (field, format_id(each) if field in TASKS else make_prompt_safe(each))
        for field, each in _added_items(before, now)
    ]
    return [f"{NEWS[field]} {each}".strip() for field, each in added]


def _added_items(before: WorkState, now: WorkState) -> list[tuple[str, str]]:
    return [(field, each) for field in NEWS for each in getattr(now, field) if each not in getattr(before, field)]


def is_urgent(before: WorkState | None, now: WorkState) -> bool:
    """Whether something new does not wait for the ceiling: a crash, or a task of the highest priority."""
    added = _added_items(before or WorkState(closed=False), now)
    return any(
        (field == "workers" and each in now.crashed) or (field in TASKS and each in now.urgent) for field, each in added
    )


def _find_repeat_reason(state: WorkState, memory: WakeMemory, rules: WakeRules, now: float) -> str:
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


def _wake_when_closed(memory: WakeMemory, rules: WakeRules, now: float) -> WakeDecision:
    if rules.exit_mode == AUTO:
        return WakeDecision("", "the epic is closed", end=True)
    if memory.closed >= rules.notices:
        return WakeDecision("", f"the epic is closed, and was told of {memory.closed} times; waiting to be stopped")
    if is_unread(memory, rules, now):
        return WakeDecision(
            "", "the epic is closed; the last message is unread",
            held="the last message is unread", message="the epic is closed", until=_loss_time(memory, rules),
        )  # fmt: skip
    if memory.closed and memory.at is not None and now - memory.at < rules.interval:
        return WakeDecision("", "the epic is closed; told already")
    return WakeDecision("closed", "the epic is closed")


def has_work(state: WorkState) -> bool:
    """Whether there is anything to be done, or in hand."""
    return bool(state.ready or state.in_progress or state.blocked or state.quality or state.mail)


def is_unread(memory: WakeMemory, rules: WakeRules, now: float) -> bool:
    """Whether to wait for the last one. What nobody proved within the longest rest is lost: it must not mute us."""
    lost_at = _loss_time(memory, rules)
    return memory.unread and (lost_at is None or now < lost_at)


def _loss_time(memory: WakeMemory, rules: WakeRules) -> float | None:
    return None if memory.at is None else memory.at + max(rules.longest, rules.interval)


def _next_allowed_time(memory: WakeMemory, rules: WakeRules, now: float) -> float | None:
    """When the next message with something new may be sent; None: at once."""
    last = sorted(recent_times(memory, now))
    return last[-rules.ceiling] + HOUR if len(last) >= rules.ceiling else None


def recent_times(memory: WakeMemory, now: float) -> tuple[float, ...]:
    return tuple([at for at in memory.sent if now - at < HOUR])


def remember_delivery(
    state: WorkState, memory: WakeMemory, kind: str, *, now: float, proven: bool, to: MessageRecipient = NOBODY
) -> WakeMemory:
    """What to remember once a message was delivered, or may have been."""
    same = memory.told is not None and not list_news(memory.told, state)
    counts = kind == "tick" and not same
    return WakeMemory(
        told=state, at=now, repeats=memory.repeats + 1 if same else 0,
        sent=(*recent_times(memory, now), now) if counts else recent_times(memory, now),
        unread=not proven, closed=memory.closed + (kind == "closed"), to=to,
    )  # fmt: skip


def is_new_conversation(before: MessageRecipient, now: MessageRecipient) -> bool:
    """Whether another conversation listens than was told. Where one is not known, another process has another one."""
    if before.conversation and now.conversation:
        return before.conversation != now.conversation
    return bool(before.process and now.process and before.process != now.process)


def update_recipient(memory: WakeMemory, now: MessageRecipient) -> WakeMemory:
    """The same conversation, of which more may be known by now: its id, or its next process."""
    known = MessageRecipient(now.conversation or memory.to.conversation, now.process or memory.to.process)
    return memory if memory.told is None or is_new_conversation(memory.to, now) else memory._replace(to=known)


def forget_finished(state: WorkState, memory: WakeMemory) -> WakeMemory:
    """What is no more is forgotten: a task that is ready, or an epic that is closed, a second time is news again."""
    memory = memory._replace(closed=memory.closed if state.closed else 0)
    if memory.told is None:
        return memory
    kept = {
        field: tuple([each for each in getattr(memory.told, field) if each in getattr(state, field)]) for field in NEWS
    }
    return memory._replace(told=memory.told._replace(**kept))  # type: ignore[arg-type]  # fields of NEWS
