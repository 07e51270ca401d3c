"""Without tmux: the agent's non-interactive mode as a plain job, with its output as it comes."""

from __future__ import annotations

from tests.conftest import until
from tests.integration.spawn.office import Office
from tests.integration.spawn.test_spawn_session import SECRET, seen_by_all


def headless(office: Office, prompt: str, *more: str) -> int:
    (office.home / "prompt").write_text(prompt)
    words = ["spawn", "night", "--agent", "claude", "--headless", "--prompt-file", str(office.home / "prompt"), *more]
    return office.box(*words).code


def test_it_is_a_job_whose_output_streams(office: Office) -> None:
    office.box.env["PATH"] = str(office.home / "bin")
    assert headless(office, "work", "--", "--max-turns", "5") == 0
    office.box.until_file("night.log", lambda text: '"prompt": "work"' in text)
    record = office.box.record("night")
    assert (record["kind"], record["agent"], record["pane"]) == ("job", "claude", None)
    argv = ["-p", "--output-format", "stream-json", "--verbose", "--session-id", record["conversation"]]
    assert office.start(1)["argv"] == [*argv, "--max-turns", "5"]
    assert office.listed() == {"night": "working"}
    office.go()
    assert office.box("wait", "night").code == 0
    assert '"result": "Fine."' in office.box("logs", "night").out


def test_its_prompt_is_on_no_command_line(office: Office) -> None:
    assert headless(office, f"{SECRET}\n\x1b[31m!as it is") == 0
    assert SECRET not in seen_by_all()
    assert office.box("wait", "night").code == 0
    assert f"{SECRET}\\n\\u001b[31m!as it is" in office.box("logs", "night").out


def test_without_the_program_it_says_so(office: Office) -> None:
    office.box.env["PATH"] = "/nowhere"
    assert headless(office, "work") == 127


def test_a_prompt_from_standard_input_is_read_to_its_end(office: Office) -> None:
    done = office.box("spawn", "night", "--agent", "claude", "--headless", "--prompt-file", "-", stdin="one\ntwo\n")
    assert done.code == 0
    until(lambda: '"prompt": "one\\ntwo\\n"' in office.box("logs", "night").out)


def test_what_no_reader_sees_is_dropped_from_a_prompt_unless_verbatim(office: Office) -> None:
    hidden = "say\u202e it\u200b"
    words = ("--agent", "claude", "--headless", "--prompt-file", "-")
    done = office.box("spawn", "night", *words, stdin=hidden)
    assert (done.code, "2 invisible characters were dropped" in done.err) == (0, True), done
    until(lambda: '"prompt": "say it"' in office.box("logs", "night").out)
    done = office.box("spawn", "day", *words, "--verbatim", stdin=hidden)
    assert (done.code, "dropped" in done.err) == (0, False), done
    until(lambda: '"prompt": "say\\u202e it\\u200b"' in office.box("logs", "day").out)
