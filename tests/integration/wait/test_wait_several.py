import json

from tests.conftest import Box, until
from tests.integration.wait.watching import Gate, finish, listening, start, start_gated, waiter

MANY = 20


def names_of(out: str) -> list[str]:
    return [json.loads(line)["name"] for line in out.splitlines()]


def test_the_first_code_that_is_not_0_in_argument_order_is_returned(box: Box) -> None:
    start(box, "fine", "true")
    start(box, "crash", "sh", "-c", "kill -9 $$")
    start(box, "fail", "false")
    assert box("wait", "fine", "fail", "crash").code == 1
    assert box("wait", "fine", "crash", "fail").code == 3


def test_argument_order_counts_although_the_later_name_ends_first(box: Box, gate: Gate) -> None:
    start(box, "fast", "false")
    start_gated(box, gate, "slow", "kill -9 $$")
    with waiter(box, "slow", "fast") as process:
        gate.say()
        done = finish(process)
    assert names_of(done.out) == ["fast", "slow"]
    assert done.code == 3


def test_each_name_gets_one_line_as_soon_as_it_is_known(box: Box, gate: Gate) -> None:
    start(box, "fast", "true")
    start_gated(box, gate, "slow", "true")
    with waiter(box, "slow", "fast") as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["name"] == "fast"
        gate.say()
        assert json.loads(process.stdout.readline())["name"] == "slow"
        assert finish(process).code == 0


def test_a_name_given_twice_is_said_once(box: Box) -> None:
    start(box, "job", "true")
    assert names_of(box("wait", "job", "job", "--json").out) == ["job"]


def test_any_returns_with_the_first_and_its_code(box: Box, gate: Gate) -> None:
    start(box, "hang", "sleep", "300")
    start_gated(box, gate, "fail", "exit 1")
    with waiter(box, "hang", "fail", "--any") as process:
        gate.say()
        done = finish(process)
    assert names_of(done.out) == ["fail"]
    assert done.code == 1


def test_any_is_0_when_the_first_completed_although_others_run(box: Box) -> None:
    start(box, "hang", "sleep", "300")
    start(box, "fine", "true")
    assert box("wait", "hang", "fine", "--any").code == 0


def test_when_the_callers_time_is_up_every_name_left_is_said(box: Box) -> None:
    start(box, "fine", "true")
    start(box, "one", "sleep", "300")
    start(box, "two", "sleep", "300")
    done = box("wait", "fine", "one", "two", "--timeout", "200ms", "--json")
    assert names_of(done.out) == ["fine", "one", "two"]
    assert done.code == 13


def test_waits_started_before_during_and_after_get_the_same_verdict(box: Box, gate: Gate) -> None:
    waits = [box.start("wait", "job", "--start", "30s", "--json") for _ in range(MANY)]
    until(lambda: all(map(listening, waits)))
    start_gated(box, gate, "job", "exit 9")
    waits += [box.start("wait", "job", "--json") for _ in range(MANY)]
    until(lambda: all(map(listening, waits)))
    gate.say()
    box.until_file("job.status")
    waits += [box.start("wait", "job", "--json") for _ in range(MANY)]
    done = [finish(process) for process in waits]
    assert {one.code for one in done} == {1}
    assert len({one.out for one in done}) == 1
    assert {one.err for one in done} == {""}
