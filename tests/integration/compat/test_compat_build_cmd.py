"""`tmux-wrapper build-cmd` and its small words: what a shell makes of them is what was meant."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.conftest import PATIENCE, tool
from tests.integration.compat.automator import ARTIFACTS, Automator

STEPS = ("create", "dev", "auto", "review", "retro")
WORDS = 'printf "%s\\0" "$@" > "$SEEN"; printf "%s" "${CLAUDECODE-unset}" > "$SEEN.env"'
CLAUDE = "unset CLAUDECODE && claude --dangerously-skip-permissions '"
CODEX = "codex exec -s workspace-write -c 'approval_policy=\"never\"' '"
NASTY = """it's "quoted" $(touch hurt) `touch hurt` $HOME \\ ; touch hurt & | > hurt !! * ~ #no
second line\ttab, ünïcode {story} {} %s"""


def built(automator: Automator, *words: str, **env: str) -> str:
    done = automator("tmux-wrapper", "build-cmd", *words, **env)
    assert (done.code, done.err) == (0, ""), done
    return done.out.removesuffix("\n")


def seen(automator: Automator, command: str, program: str = "claude", shell: str = "sh") -> list[str]:
    """The words that a program is given when a shell runs a command line."""
    automator.stand_in(program, WORDS)
    path = automator.root / "seen"
    env = automator.env | {"SEEN": str(path), "CLAUDECODE": "1"}
    subprocess.run([tool(shell), "-c", command], cwd=automator.root, env=env, timeout=PATIENCE, check=True)
    return path.read_bytes().decode().split("\0")[:-1]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize(("agent", "start"), [("claude", CLAUDE), ("codex", CODEX)])
def test_each_step_is_one_prompt_for_either_agent(automator: Automator, step: str, agent: str, start: str) -> None:
    command = built(automator, step, "5" if step == "retro" else "5.3", "--agent", agent)
    assert command.startswith(start)
    assert command == built(automator, step, "5" if step == "retro" else "5.3", AI_AGENT=agent)
    words = seen(automator, command, agent)
    said = words[-1]
    assert len(words) == (2 if agent == "claude" else 6)
    assert f"{ARTIFACTS}/5-{'*' if step == 'retro' else '3-*'}.md" in said
    assert ("epic 5" if step == "retro" else "story 5.3") in said
    assert "#YOLO" in said


@pytest.mark.parametrize("shell", ["sh", "bash", "zsh"])
def test_an_instruction_reaches_the_agent_as_it_was_given(automator: Automator, shell: str) -> None:
    words = seen(automator, built(automator, "create", "5.3", NASTY), shell=shell)
    assert words[-1].endswith("\n" + NASTY)
    assert (automator.root / "seen.env").read_text() == "unset"
    assert not (automator.root / "hurt").exists()


def test_the_command_substitution_of_the_original_changes_nothing(automator: Automator) -> None:
    """`--command "$(… build-cmd …)"`: one word for whoever is given it, and one prompt when that is run."""
    automator.stand_in("claude", WORDS)
    path = automator.root / "seen"
    inner = " ".join(automator.program)
    script = f'run() {{ sh -c "$2"; }}; run --command "$({inner} tmux-wrapper build-cmd dev 5.3 "$EXTRA")"'
    env = automator.env | {"SEEN": str(path), "EXTRA": NASTY}
    subprocess.run(["sh", "-c", script], cwd=automator.root, env=env, timeout=PATIENCE, check=True)
    assert path.read_bytes().decode().split("\0")[1].endswith("\n" + NASTY)
    assert not (automator.root / "hurt").exists()


def test_an_instruction_that_is_no_text_goes_through_too(automator: Automator) -> None:
    words: list[str | bytes] = [*automator.program, "tmux-wrapper", "build-cmd", "create", "5.3", b"\xff\xfe"]
    env = automator.env | {"PYTHONIOENCODING": "utf-8:strict"}
    out = subprocess.run(words, cwd=automator.root, env=env, capture_output=True, timeout=PATIENCE, check=True)
    assert out.stdout.endswith(b"\n\xff\xfe'\n")


def test_words_and_flags_may_stand_in_any_order(automator: Automator) -> None:
    command = built(automator, "review", "5.3", "look", "--agent", "codex", "at --all tests")
    assert command.startswith(CODEX)
    assert command.endswith("\nlook at --all tests'")


def test_a_review_without_instructions_is_told_to_fix_what_it_finds(automator: Automator) -> None:
    assert "Fix every issue" in built(automator, "review", "5.3")
    assert "Fix every issue" not in built(automator, "review", "5.3", "only look")


def test_a_command_of_ones_own_stands_in_for_an_agent_that_nobody_named(automator: Automator) -> None:
    own = "my-agent --yes"
    assert built(automator, "create", "5.3", AI_COMMAND=own).startswith(f"unset CLAUDECODE && {own} '")
    assert built(automator, "create", "5.3", AI_COMMAND=own, AI_AGENT="claude").startswith(CLAUDE)
    assert built(automator, "create", "5.3", "--agent", "codex", AI_COMMAND=own).startswith(CODEX)


@pytest.mark.parametrize("agent", ["strange", "x;y", "../claude"])
def test_an_agent_that_nobody_knows_is_refused(automator: Automator, agent: str) -> None:
    automator.refuses("tmux-wrapper", "build-cmd", "create", "5.3", "--agent", agent)
    automator.refuses("tmux-wrapper", "build-cmd", "create", "5.3", AI_AGENT=agent)


def test_a_step_that_is_none_is_refused(automator: Automator) -> None:
    assert "create, dev, auto, review, retro" in automator.refuses("tmux-wrapper", "build-cmd", "strange", "5.3")


def test_a_state_file_is_taken_if_it_can_be_read(automator: Automator, tmp_path: Path) -> None:
    state = tmp_path / "state.md"
    state.write_text("---\nepic: 5\npolicySnapshotHash: 0123\n---\n")
    assert built(automator, "create", "5.3", "--state-file", str(state)) == built(automator, "create", "5.3")
    assert "unreadable" in automator.refuses("tmux-wrapper", "build-cmd", "create", "5.3", "--state-file", "/nowhere")


def test_a_skill_of_the_project_is_to_be_read(automator: Automator) -> None:
    path = ".claude/skills/bmad-create-story/SKILL.md"
    automator.put(path)
    for agent in ("claude", "codex"):
        assert f"Read {path} first" in built(automator, "create", "5.3", "--agent", agent)
    assert "SKILL.md" not in built(automator, "dev", "5.3")


def test_a_slash_command_of_the_project_is_used_where_it_is_understood(automator: Automator) -> None:
    automator.put(".claude/commands/bmad-bmm-create-story.md")
    automator.put(".claude/commands/bmad-bmm-retrospective.md")
    assert built(automator, "create", "5.3", "and hurry").startswith(f"{CLAUDE}/bmad-bmm-create-story 5.3 #YOLO ")
    assert built(automator, "create", "5.3", "and hurry").endswith("\nand hurry'")
    assert built(automator, "retro", "epic-5").startswith(f"{CLAUDE}/bmad-bmm-retrospective 5 #YOLO ")
    assert "/bmad-bmm" not in built(automator, "create", "5.3", "--agent", "codex")
    assert "/bmad-bmm" not in built(automator, "create", "5.3", AI_COMMAND="other")
    assert "'/bmad-bmm-create-story 5.3 " in built(automator, "create", "5.3", AI_COMMAND="/opt/bin/claude -x")


def test_a_workflow_of_the_project_is_to_be_read_where_there_is_nothing_better(automator: Automator) -> None:
    path = "_bmad/bmm/workflows/4-implementation/code-review/workflow.yaml"
    automator.put(path)
    assert f"Read {path} first" in built(automator, "review", "5.3", "--agent", "codex")


def test_the_sprint_status_that_there_is_is_named(automator: Automator) -> None:
    assert f"{ARTIFACTS}/sprint-status.yaml" in built(automator, "review", "5.3")
    automator.put("_bmad-output/sprint-status.yaml", "development_status:\n")
    assert " _bmad-output/sprint-status.yaml" in built(automator, "review", "5.3")


@pytest.mark.parametrize(
    ("words", "env", "said"),
    [
        (["project-slug"], {}, "myproj42"),
        (["project-slug"], {"PROJECT_ROOT": "/"}, "project"),
        (["story-suffix", "5.3"], {}, "5-3"),
        (["agent-type"], {}, "claude"),
        (["agent-type"], {"AI_AGENT": "codex"}, "codex"),
        (["agent-cli"], {}, "claude --dangerously-skip-permissions"),
        (["agent-cli"], {"AI_AGENT": "codex"}, "codex exec"),
        (["agent-cli"], {"AI_COMMAND": "my-agent --yes"}, "my-agent --yes"),
        (["skill-prefix"], {}, "bmad-"),
        (["skill-prefix"], {"AI_AGENT": "codex"}, "none"),
    ],
    ids=str,
)
def test_the_small_words(automator: Automator, words: list[str], env: dict[str, str], said: str) -> None:
    done = automator("tmux-wrapper", *words, **env)
    assert (done.code, done.out, done.err) == (0, f"{said}\n", "")


def test_the_prefix_is_that_of_slash_commands_where_the_project_has_those(automator: Automator) -> None:
    automator.put(".claude/commands/bmad-bmm-dev-story.md")
    assert automator("tmux-wrapper", "skill-prefix").out == "/bmad-bmm-\n"


def test_the_hash_is_of_the_real_path_whichever_way_one_came(automator: Automator, tmp_path: Path) -> None:
    link = tmp_path / "link"
    os.symlink(automator.root, link)
    here = automator("tmux-wrapper", "project-hash").out
    assert len(here) == 9
    assert automator("tmux-wrapper", "project-hash", PROJECT_ROOT=str(link)).out == here
    assert automator("tmux-wrapper", "project-hash", PROJECT_ROOT=str(tmp_path)).out != here
