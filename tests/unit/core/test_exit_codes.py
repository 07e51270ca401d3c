from midwatch.core.exit_codes import EXIT_CODES, NEXT, STILL_RUNNING, exit_code
from midwatch.core.verdict import FINAL, LIVE


def test_every_state_has_something_to_do_next() -> None:
    assert set(NEXT) == {*LIVE, *FINAL}


def test_every_final_state_and_every_reported_one_has_an_exit_code_of_its_own() -> None:
    assert set(EXIT_CODES) == {*FINAL, "stuck", "waiting", "limited", "unknown"}
    assert len(set(EXIT_CODES.values())) == len(EXIT_CODES)


def test_a_live_state_that_was_waited_for_is_a_success() -> None:
    assert exit_code("working") == 0
    assert STILL_RUNNING not in EXIT_CODES.values()
