"""A night on a mock clock. controller-proxy-watchdog sends its prompt at every tick; we may send a fifth of that.

And yet every ready task is announced within one tick, and nobody is disturbed.
"""

from __future__ import annotations

import pytest

from midwatch.swarm.model import WakeRules
from midwatch.swarm.watchdog import Watchdog, WatchdogRequest
from tests.lab.night import END, STEP, TICK, Night


@pytest.mark.parametrize("seed", range(40))
def test_a_fifth_of_the_messages_and_every_ready_task_within_one_tick(seed: int) -> None:
    night = Night(seed)
    log: list[str] = []
    dog = Watchdog(WatchdogRequest("s", "/p", "controller", "", (), WakeRules(interval=float(TICK))), night, log.append)
    due, held_until = 0, 0
    since: dict[str, int] = {}
    told: set[str] = set()
    while night.time < END:
        night.step()
        if night.is_held():
            held_until = night.time
        since = {task: since.get(task, night.time) for task in night.ready()}
        told &= since.keys()
        tick = night.time >= due
        due = night.time + TICK if tick else due
        before = len(night.messages)
        dog.round(tick=tick)
        for _, text in night.messages[before:]:
            told |= {task for task in since if f" {task}," in f"{text},".replace("\n", ",")}
        # A task waits from when it is ready and somebody can be told: at most until the tick after that has passed, and
        # one tick more where the tracker failed.
        failed = sum("tracker-failed" in line for line in log[-12:])
        late = [task for task, at in since.items()
                if task not in told and night.time - max(at, held_until) > TICK * (1 + failed) + STEP]  # fmt: skip
        assert late == [], "a ready task that nobody was told of within one tick"
    assert night.wrong == []
    assert not [line for line in log if "round-failed" in line]
    ticks = END // TICK
    assert 0 < len(night.messages) <= ticks / 5, f"{len(night.messages)} of {ticks}"
