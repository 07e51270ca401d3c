"""Our values behave as typing.NamedTuple's do."""

import copy
import pickle

import pytest

from midwatch.core.job_model import Alive, Gone, ProgressSource
from midwatch.core.verdict import Evidence


def test_a_value_is_a_tuple_with_names() -> None:
    source = ProgressSource(1.0, at=2.0, moved=3.0)
    assert source == (1.0, 2.0, 3.0)
    assert (source.value, source.at, source.moved) == (1.0, 2.0, 3.0)
    assert source._asdict() == {"value": 1.0, "at": 2.0, "moved": 3.0}
    assert repr(source) == "ProgressSource(value=1.0, at=2.0, moved=3.0)"


def test_what_is_not_given_has_its_default() -> None:
    assert Evidence("pid", "alive").age_s is None


def test_replacing_makes_another_value_of_the_same_kind() -> None:
    assert Alive(1, "S")._replace(letter="T") == Alive(1, "T")
    assert Alive(1, "T").suspended


@pytest.mark.parametrize(("args", "named"), [((1,), {}), ((1, "S", 3), {}), ((1, "S"), {"odd": 1}), ((), {"odd": 1})])
def test_too_little_or_too_much_is_an_error(args: tuple[object, ...], named: dict[str, object]) -> None:
    with pytest.raises(TypeError, match="Alive"):
        Alive(*args, **named)  # type: ignore[arg-type]


def test_nothing_can_be_changed_or_added() -> None:
    value = Gone("x")
    with pytest.raises(AttributeError):
        value.why = "y"  # type: ignore[misc]
    with pytest.raises(AttributeError):
        value.other = 1  # type: ignore[attr-defined]


def test_values_are_matched_by_kind_and_field() -> None:
    match Alive(7, "S"):
        case Gone():
            pytest.fail("an Alive is no Gone")
        case Alive(pid=pid):
            assert pid == 7


def test_a_value_can_be_copied_to_another_process() -> None:
    process = Alive(4711, "S")
    again = pickle.loads(pickle.dumps(process))
    assert (again, type(again)) == (process, Alive)
    assert copy.deepcopy(Evidence("output", "last moved", 0.5)) == Evidence("output", "last moved", 0.5)
