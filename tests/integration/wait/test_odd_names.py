import pytest

from tests.conftest import Box
from tests.integration.wait.watching import start

BAD = [
    "a/b",
    "/etc/passwd",
    "..",
    "../up",
    ".hidden",
    "two\nlines",
    "n" * 300,
    "n" * 101,
    "",
    "tab\there",
    "naïve",
    "a b",
]
BAD_IDS = [f"{number}-{name[:8]!r}" for number, name in enumerate(BAD)]


@pytest.mark.parametrize("name", BAD, ids=BAD_IDS)
def test_a_name_that_cannot_be_a_file_name_is_a_usage_error(box: Box, name: str) -> None:
    done = box("wait", "--", name)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("midwatch: the name ")
    assert done.err.count("\n") == 2


@pytest.mark.parametrize("verb", ["why", "logs", "stop"])
def test_every_verb_refuses_such_a_name(box: Box, verb: str) -> None:
    done = box(verb, "../up")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("midwatch: the name ")


@pytest.mark.parametrize("name", [name for name in BAD if name], ids=BAD_IDS[:8] + BAD_IDS[9:])
def test_a_job_cannot_be_given_such_a_name(box: Box, name: str) -> None:
    done = box("run", "-d", f"--name={name}", "--", "true")
    assert done.code == 2
    assert done.err.startswith("midwatch: the name ")
    assert not box.dir.exists()


@pytest.mark.parametrize("name", ["n" * 100, "v1.2", "a+b=c@d", "0", "job.status"])
def test_plain_names_work_from_run_to_wait(box: Box, name: str) -> None:
    start(box, name, "true")
    assert box("wait", name).code == 0


def test_a_file_with_an_odd_name_does_not_spoil_the_list(box: Box) -> None:
    start(box, "job", "true")
    assert box("wait", "job").code == 0
    for odd in ("..status", "two\nlines.status", "x" * 240 + ".pid", "ü.json", ".hidden.json"):
        box.path(odd).write_text("SUCCESS\n")
    (box.dir / "sub.status").mkdir()
    done = box("ls")
    assert done.code == 0
    assert [line.split()[:2] for line in done.out.splitlines()[1:]] == [["sub", "unknown"], ["job", "completed"]]
