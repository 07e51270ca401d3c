"""What Tab makes of a line, in real shells."""

from collections.abc import Iterator

import pytest

from tests.conftest import Box, tool
from tests.integration.completion.shells import LOADS, Shell

ODD = "a@b=c+d.e_f-g"
LINES = {
    "a verb": ("midwatch wai\talpha", ["wait", "alpha"]),
    "a name": ("midwatch wait alp\t", ["wait", "alpha"]),
    "a second name": ("midwatch stop beta alp\t", ["stop", "beta", "alpha"]),
    "an odd name": ("midwatch wait a@\t", ["wait", ODD]),
    "an odd name, far in": ("midwatch wait a@b=c\t", ["wait", ODD]),
    "a name elsewhere": ("midwatch wait --dir else gam\t", ["wait", "--dir", "else", "gamma"]),
    "a flag": ("midwatch wait alpha --tim\t 3s", ["wait", "alpha", "--timeout", "3s"]),
    "a value": ("midwatch run --policy st\t true", ["run", "--policy", "strict", "true"]),
    "a state": ("midwatch wait --until=fin\t alpha", ["wait", "--until=final", "alpha"]),
    "a value behind =": ("midwatch run --policy=st\t true", ["run", "--policy=strict", "true"]),
    "nothing yet behind =": ("midwatch run --breaker=\t true", ["run", "--breaker=night", "true"]),
    "a list": ("midwatch run --progress output,cp\t true", ["run", "--progress", "output,cpu", "true"]),
    "a word to choose": ("midwatch breaker res\t key", ["breaker", "reset", "key"]),
    "a directory": ("midwatch ls --dir els\t", ["ls", "--dir", "else"]),
    "a directory behind =": ("midwatch ls --dir=els\t", ["ls", "--dir=else"]),
    "a directory with a blank": ("midwatch ls --dir two\t", ["ls", "--dir", "two words"]),
    "a file": ("midwatch record %1 -o note\t", ["record", "%1", "-o", "notes.txt"]),
    "a command": ("midwatch run -- quaint\t x", ["run", "--", "quaintly-named", "x"]),
    "a command without dashes": ("midwatch run -d quaint\t x", ["run", "-d", "quaintly-named", "x"]),
    "an argument of a command": ("midwatch run -- cat note\t", ["run", "--", "cat", "notes.txt"]),
    "nothing": ("midwatch wait zzz\t", ["wait", "zzz"]),
    "an unknown verb": ("midwatch wobble alp\t", ["wobble", "alp"]),
}


@pytest.fixture(params=list(LOADS))
def shell(request: pytest.FixtureRequest, box: Box) -> Iterator[Shell]:
    (box.dir / "breakers").mkdir(parents=True, mode=0o700)
    box.path("breakers/night.jsonl").write_text("")
    (box.cwd / "else").mkdir()
    (box.cwd / "two words").mkdir()
    (box.cwd / "notes.txt").write_text("")
    for path in (box.dir / "alpha", box.dir / "beta", box.dir / ODD, box.cwd / "else" / "gamma"):
        path.with_name(f"{path.name}.status").write_text("SUCCESS\n")
    found = Shell(request.param, box)
    yield found
    found.end()


def test_tab_completes_what_has_been_begun(shell: Shell) -> None:
    said = {what: [word.rstrip("/") for word in shell.run(typed)] for what, (typed, _) in LINES.items()}
    assert said == {what: called for what, (_, called) in LINES.items()}


def test_tab_twice_shows_what_there_is(shell: Shell) -> None:
    shell.type("midwatch wait \t\t")
    for name in (b"alpha", b"beta"):
        shell.until(name)


def test_a_path_to_the_program_is_completed_by_that_program(shell: Shell) -> None:
    assert shell.run("./bin/midwatch wait alp\t") == ["wait", "alpha"]


def test_the_script_for_bash_is_clean(box: Box) -> None:
    script = box.cwd / "completion.bash"
    script.write_text(box("completion", "bash").out)
    box.program = [tool("shellcheck"), "-s", "bash", str(script)]
    assert box().out == ""


def test_with_the_completions_of_others_a_command_has_its_own(box: Box) -> None:
    """As Debian's bash-completion offers it."""
    shell = Shell("bash", box)
    try:
        shell.type('_command_offset() { COMPREPLY=("offset-$1"); }\r')
        assert shell.run("midwatch run --env A=b -- git sta\t") == ["run", "--env", "A=b", "--", "git", "offset-7"]
    finally:
        shell.end()


def test_help_comes_with_what_is_offered(box: Box) -> None:
    """Zsh and fish show it beside the words."""
    shell = Shell("zsh", box)
    try:
        shell.type("midwatch wait --ti\t\x15midwatch wait --\t\t")
        shell.until(b"give up waiting after this time")
    finally:
        shell.end()


@pytest.mark.parametrize("given", [(), ("ksh",), ("bash", "zsh")], ids=str)
def test_which_shell_must_be_said(box: Box, given: tuple[str, ...]) -> None:
    done = box("completion", *given)
    assert (done.code, done.out) == (2, "")
    assert "bash, zsh, fish" in done.err
