from tests.conftest import Box


def test_a_job_that_succeeds_is_completed_and_says_so_once(box: Box) -> None:
    assert box("run", "-d", "--name", "ok", "--", "true").out == "ok\n"
    done = box("wait", "ok", "--json")
    assert done.code == 0
    assert done.json["state"] == "completed"
    assert box.path("ok.status").read_text() == "SUCCESS\n"
