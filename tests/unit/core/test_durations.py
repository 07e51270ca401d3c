import pytest

from midwatch.core import durations
from midwatch.core.errors import UsageError


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90.0), ("90s", 90.0), ("15m", 900.0), ("2h", 7200.0), ("1.5h", 5400.0), ("250ms", 0.25)],
)
def test_durations_are_read_as_people_type_them(text: str, seconds: float) -> None:
    assert durations.parse(text) == seconds


@pytest.mark.parametrize("text", ["", "x", "-1", "1w", "s", "nan", "inf", "1e99"])
def test_what_is_no_duration_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError, match="is not a duration"):
        durations.parse(text)
