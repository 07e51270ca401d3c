import pytest

from midwatch.core import names
from midwatch.core.errors import UsageError


@pytest.mark.parametrize("name", ["a", "build-1", "x.y_z+=@-", "A" * 100])
def test_plain_names_are_taken(name: str) -> None:
    assert names.check_name(name) == name


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "../up", "a\nb", "-x", ".hidden", "A" * 300, "ü", "a b", "a\0"])
def test_names_that_could_lead_elsewhere_are_refused_with_a_reason(name: str) -> None:
    with pytest.raises(UsageError, match="the name"):
        names.check_name(name)


@pytest.mark.parametrize("command", ["/usr/bin/make", "…", "./run.sh", "-weird", "a" * 300])
def test_a_name_made_from_a_command_is_always_valid(command: str) -> None:
    assert not names.find_problem(names.derive_name(command, "18f-abcdef"))
