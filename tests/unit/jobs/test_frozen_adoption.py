"""A record of adopted work must load for ever."""

from pathlib import Path

from midwatch.core.job_model import Adopted
from midwatch.jobs.codec import sentinel

GOLDEN = Path(__file__).parents[2] / "goldens" / "formats" / "v1" / "adopted.json"


def test_a_record_of_adopted_work_loads() -> None:
    record = sentinel.decode_record(GOLDEN.read_text())
    assert record.adopted == Adopted("/home/user/pipeline", "build", stop=False, log="/home/user/pipeline/build.log")
    assert record.end is not None
    assert (record.end.state, record.end.exit_code, record.end.signal) == ("unknown", None, None)
    assert record.began > record.started_mono
