"""Names of sessions, stories and projects."""

from __future__ import annotations

from pathlib import Path

import pytest

from midwatch.compat.story_automator import project
from midwatch.compat.story_automator.project import StoryNames
from midwatch.core.errors import UsageError


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("sa-shop-261116-110449-e5-s5-3-create", StoryNames("shop", "261116-110449", "5", "5.3", "create", "")),
        ("sa-shop-261116-110449-e5-s5-3-review-r2", StoryNames("shop", "261116-110449", "5", "5.3", "review", "2")),
        ("sa-a1-261116-110449-e12-s12-30-dev", StoryNames("a1", "261116-110449", "12", "12.30", "dev", "")),
        ("sa-a-261116-110449-e5-s5-3-some-key-dev", StoryNames("a", "261116-110449", "5", "5-3-some-key", "dev", "")),
        ("sa-a-261116-110449-e5-s5-3-dev-auto-auto", StoryNames("a", "261116-110449", "5", "5-3-dev-auto", "auto", "")),
        ("sa-a-261116-110449-e5-s5-retro", StoryNames("a", "261116-110449", "5", "5", "retro", "")),
        ("sa-a-261116-110449-2-e5-s5-3-dev", StoryNames("a", "261116-110449-2", "5", "5.3", "dev", "")),
    ],
)
def test_a_name_tells_what_it_was_made_of(name: str, told: StoryNames) -> None:
    assert project.parse_name(name) == told
    assert project.session_name(told.slug, told.stamp, told.epic, told.story, told.step, told.cycle) == name


@pytest.mark.parametrize(
    "name",
    [
        "", "main", "sa-shop", "sa-shop-261116-110449-e5-s5-3-strange", "sa-shop-261116-110449-e5-s5-3-review-r--cycle",
        "sa-shop-261116-110449-e5-s5-3-dev\n", "xsa-a-261116-110449-e5-s5-3-dev", "sa-A-261116-110449-e5-s5-3-dev",
    ],
)  # fmt: skip
def test_other_names_tell_nothing(name: str) -> None:
    assert project.parse_name(name) is None


@pytest.mark.parametrize("story", ["5.3", "5-3", "12.30", "5-3-login", "5-3-log_in-2", "5.3-login"])
def test_stories(story: str) -> None:
    assert project.check_story(story) == story
    assert project.story_prefix(story) in ("5-3", "12-30")


@pytest.mark.parametrize(
    "story",
    ["", "5", "5.", ".3", "5.3.1", "../../etc", "5.3;rm", "5.3 ", " 5.3", "5.3\n", "5-3-", "5-3-a/b", "1" * 9 + ".1"],
)
def test_what_is_no_story(story: str) -> None:
    with pytest.raises(UsageError):
        project.check_story(story)


def test_a_retro_is_about_an_epic_and_nothing_else_is() -> None:
    for said in ("5", "epic-5", "5.3"):
        assert project.epic_number(project.check_subject("retro", said)) == "5"
    with pytest.raises(UsageError):
        project.check_subject("dev", "5")
    with pytest.raises(UsageError):
        project.check_subject("retro", "all")
    with pytest.raises(UsageError):
        project.epic_number("x")


@pytest.mark.parametrize("session", ["a", "A_b-9", "x" * 160, "sa-a-261116-110449-e5-s5-3-dev"])
def test_sessions(session: str) -> None:
    assert project.check_session(session) == session


@pytest.mark.parametrize("session", ["", "-a", "a b", "a\n", "x" * 161, "a/b", "=a", "%1", "@1", "é"])
def test_what_is_no_session(session: str) -> None:
    with pytest.raises(UsageError):
        project.check_session(session)


@pytest.mark.parametrize("session", ["a.b", "a:b", "sa-x:0.1"])
def test_what_tmux_spells_otherwise(session: str) -> None:
    with pytest.raises(UsageError, match=session.replace(".", "_").replace(":", "_")):
        project.check_session(session)


@pytest.mark.parametrize(
    ("path", "slug"), [("/a/My-Proj_42x", "myproj42"), ("/", "project"), ("/x/ÄÖ", "project"), ("/x/a", "a")]
)
def test_slugs(path: str, slug: str) -> None:
    assert project.project_slug(path) == slug


@pytest.mark.parametrize(
    ("text", "least"), [("-1", 0), ("", 0), ("x", 0), ("1.5", 0), ("٣", 0), ("9" * 20, 0), ("0", 1)]
)
def test_what_is_no_number(text: str, least: int) -> None:
    with pytest.raises(UsageError, match="--n"):
        project.check_number(text, "--n", least=least)


def test_a_project_has_one_digest_whichever_way_one_came(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    assert project.path_digest(str(tmp_path / "link")) == project.path_digest(str(tmp_path)) != project.path_digest("/")


def test_files_are_named_by_project_and_session_where_temporary_files_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", "/elsewhere/")
    assert project.output_file("/", "s") == f"/elsewhere/sa-{project.path_digest('/')}-output-s.txt"
    assert project.state_file("/", "s") == f"/elsewhere/.sa-{project.path_digest('/')}-session-s-state.json"
    monkeypatch.delenv("TMPDIR")
    assert project.output_file("/", "s").startswith("/tmp/sa-6666cd76-output-")
