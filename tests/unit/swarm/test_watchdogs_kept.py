"""What a watchdog has told is known to the next one, whatever its clock says; what cannot be read is as never told."""

from __future__ import annotations

import json

import pytest

from midwatch.swarm.codec import watchdog_state
from midwatch.swarm.model import MessageRecipient, WakeMemory, WorkState

STATE = WorkState(closed=False, ready=("bd-1",), workers=("%2 is idle",))
TOLD = WakeMemory(STATE, 1000.0, 2, (900.0, 1000.0), True, 3, MessageRecipient("8d7f", "71:5"))


def test_it_goes_on_where_the_last_one_was() -> None:
    kept = json.loads(json.dumps(watchdog_state.encode_memory(TOLD, now=1010.0, wall=5000.0)))
    found = watchdog_state.decode_memory(kept, now=30.0, wall=5060.0)  # the machine was started anew
    assert found == TOLD._replace(at=-40.0, sent=(-140.0, -40.0))


@pytest.mark.parametrize("wall", [5000.0 + watchdog_state.OLDEST, 4000.0])
def test_what_is_old_or_of_the_future_is_as_never_told(wall: float) -> None:
    kept = watchdog_state.encode_memory(TOLD, now=1000.0, wall=5000.0)
    assert watchdog_state.decode_memory(kept, now=0.0, wall=wall) == WakeMemory()


@pytest.mark.parametrize(
    "change",
    [
        {"told": None},
        {"told": {}},
        {"at": "x"},
        {"sent": 3},
        {"sent": ()},
        {"at": None},
        {"sent": ["x"]},
        {"repeats": "x"},
        {"told": 3},
    ],
)
def test_what_is_not_as_we_write_it_is_as_never_told(change: dict[str, object]) -> None:
    kept = watchdog_state.encode_memory(TOLD, now=1000.0, wall=5000.0) | change
    assert watchdog_state.decode_memory(kept, now=0.0, wall=5000.0) == WakeMemory()
    assert watchdog_state.decode_memory({}, now=0.0, wall=5000.0) == WakeMemory()


def test_nothing_told_is_nothing_told() -> None:
    assert (
        watchdog_state.decode_memory(watchdog_state.encode_memory(WakeMemory(), now=1.0, wall=2.0), now=1.0, wall=2.0)
        == WakeMemory()
    )


def test_what_an_older_one_left_tells_of_no_conversation() -> None:
    kept = watchdog_state.encode_memory(TOLD, now=1000.0, wall=5000.0)
    del kept["conversation"]
    found = watchdog_state.decode_memory(kept | {"process": 7}, now=1000.0, wall=5000.0)
    assert found == TOLD._replace(to=MessageRecipient())
