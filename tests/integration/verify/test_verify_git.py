"""`verify git:…` in a repository that another has prepared: it starts no program of theirs, and asks no other."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from midwatch.integrations import git
from midwatch.system import procfs
from tests.conftest import PATIENCE, Box, alive, letter, tool, until

INCOMPLETE = 6
ASKED = "git:commit-since-start"
SIGNED = """tree {tree}
author x <x@x> 1700000000 +0000
committer x <x@x> 1700000000 +0000
gpgsig {kind}
 c2lnbmF0dXJl
 {end}

signed
"""
PGP = ("-----BEGIN PGP SIGNATURE-----", "-----END PGP SIGNATURE-----")
SSH = ("-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----")
X509 = ("-----BEGIN SIGNED MESSAGE-----", "-----END SIGNED MESSAGE-----")


class Hostile:
    """A repository whose settings name a program that leaves a mark when it runs."""

    def __init__(self, box: Box) -> None:
        self.box, self.path = box, Path(box.cwd) / "project"
        self.mark = Path(box.cwd) / "mark"
        self.program = Path(box.cwd) / "program"
        self.program.write_text(f'#!/bin/sh\necho "$0 $*" >> {self.mark}\n')
        self.program.chmod(0o755)
        self.path.mkdir()
        self.git("init", "-q")
        self.git("commit", "-q", "--allow-empty", "-m", "first")

    def git(self, *words: str, text: str = "") -> str:
        who = {f"GIT_{part}_{what}": "x" for part in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        return subprocess.run(
            [tool("git"), *words], cwd=self.path, env=self.box.env | who, input=text, check=True, capture_output=True,
            text=True,
        ).stdout.strip()  # fmt: skip

    def sign(self, kind: tuple[str, str]) -> None:
        tree = self.git("rev-parse", "HEAD^{tree}")
        commit = SIGNED.format(tree=tree, kind=kind[0], end=kind[1])
        self.git("update-ref", "HEAD", self.git("hash-object", "-t", "commit", "-w", "--stdin", text=commit))

    def shows_itself(self) -> None:
        """A plain `git log` runs their program. How git ends then does not matter: the program reads nothing."""
        asked = [tool("git"), "log", "-1"]
        subprocess.run(asked, cwd=self.path, env=self.box.env, check=False, capture_output=True)
        assert self.mark.exists()
        self.mark.unlink()

    def marked(self, **env: str) -> bool:
        """Whether asking has started their program."""
        done = self.box("verify", ASKED, "--cwd", str(self.path), **env)
        assert done.code in (0, INCOMPLETE), done
        return self.mark.exists()


@pytest.fixture
def hostile(box: Box) -> Hostile:
    return Hostile(box)


@pytest.mark.parametrize(
    ("kind", "setting"),
    [(PGP, "gpg.program"), (PGP, "gpg.openpgp.program"), (X509, "gpg.x509.program"), (SSH, "gpg.ssh.program")],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_signatures_are_not_checked(hostile: Hostile, kind: tuple[str, str], setting: str) -> None:
    hostile.sign(kind)
    hostile.git("config", "log.showSignature", "true")
    hostile.git("config", "gpg.ssh.allowedSignersFile", "/dev/null")
    hostile.git("config", setting, str(hostile.program))
    hostile.shows_itself()
    assert not hostile.marked()


def test_what_is_missing_is_not_fetched(hostile: Hostile) -> None:
    head = hostile.git("rev-parse", "HEAD")
    (hostile.path / ".git/objects" / head[:2] / head[2:]).unlink()
    hostile.git("config", "core.repositoryFormatVersion", "1")
    hostile.git("config", "extensions.partialClone", "origin")
    hostile.git("config", "remote.origin.url", f"ext::{hostile.program} %S")
    hostile.git("config", "remote.origin.promisor", "true")
    hostile.git("config", "protocol.ext.allow", "always")
    hostile.shows_itself()
    assert not hostile.marked()


@pytest.mark.parametrize(
    "setting",
    [
        "core.fsmonitor", "core.pager", "pager.log", "pager.rev-list", "core.editor", "core.sshCommand",
        "core.gitProxy",
        "core.askPass", "core.alternateRefsCommand", "credential.helper", "diff.external", "diff.hostile.command",
        "diff.hostile.textconv", "filter.hostile.clean", "filter.hostile.smudge", "filter.hostile.process",
        "uploadpack.packObjectsHook", "alias.log", "alias.rev-list", "sequence.editor", "interactive.diffFilter",
    ],
)  # fmt: skip
def test_no_setting_of_the_repository_starts_a_program(hostile: Hostile, setting: str) -> None:
    (hostile.path / ".gitattributes").write_text("* diff=hostile filter=hostile\n")
    (hostile.path / "a").write_text("text")
    hostile.git("add", ".")
    hostile.git("commit", "-q", "-m", "second")
    (hostile.path / "a").write_text("other text")
    included = hostile.path / "included"
    hostile.git("config", "--file", str(included), setting, str(hostile.program))
    hostile.git("config", "include.path", str(included))
    assert not hostile.marked()


def test_no_hook_runs(hostile: Hostile) -> None:
    hooks = hostile.path / "hooks"
    hooks.mkdir()
    for name in ("post-index-change", "reference-transaction", "pre-auto-gc", "fsmonitor-watchman", "post-checkout"):
        (hooks / name).symlink_to(hostile.program)
    hostile.git("config", "core.hooksPath", str(hooks))
    assert not hostile.marked()


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("gpg.program", "log -1"), ("gpg.program", "show --show-signature HEAD"), ("core.fsmonitor", "status"),
        ("diff.external", "diff --ext-diff HEAD"), ("core.hooksPath", "commit --allow-empty -m x"),
    ],
)  # fmt: skip
def test_whatever_git_is_asked_these_settings_start_nothing(hostile: Hostile, setting: str, words: str) -> None:
    """`verify` asks only what none of them touches. They are off besides, for the next question that somebody adds."""
    (hostile.path / "file").write_text("old\n")
    hostile.git("add", "file")
    hostile.git("commit", "-q", "-m", "second")
    (hostile.path / "file").write_text("new\n")
    (hostile.path / "pre-commit").symlink_to(hostile.program)
    hostile.sign(PGP)
    hostile.git("config", "log.showSignature", str(setting == "gpg.program").lower())
    hostile.git("config", setting, str(hostile.path if setting == "core.hooksPath" else hostile.program))
    git._run_git(str(hostile.path), *words.split())
    assert not hostile.mark.exists(), hostile.mark.read_text()


@pytest.mark.parametrize("path", [".:{PATH}", ":{PATH}", "bin:{PATH}"])
def test_a_program_of_the_project_that_is_called_git_is_not_run(hostile: Hostile, path: str) -> None:
    (hostile.path / "bin").mkdir()
    for place in (hostile.path, hostile.path / "bin"):
        (place / "git").symlink_to(hostile.program)
    hostile.box.cwd = hostile.path
    assert not hostile.marked(PATH=path.format(PATH=hostile.box.env["PATH"]))


def test_the_repository_is_that_of_the_directory_and_not_of_the_environment(hostile: Hostile, tmp_path: Path) -> None:
    """A hook of git has GIT_DIR set, for its own repository."""
    other = tmp_path / "other"
    other.mkdir()
    done = hostile.box("verify", ASKED, "--cwd", str(other), GIT_DIR=str(hostile.path / ".git"))
    assert (done.code, "not a git repository" in done.out) == (INCOMPLETE, True)
    done = hostile.box("verify", ASKED, "--cwd", str(hostile.path), GIT_DIR=str(other), GIT_CONFIG_PARAMETERS="'x")
    assert (done.code, done.out.endswith(" first\n")) == (0, True)


def test_a_worktree_is_a_repository_too(hostile: Hostile, tmp_path: Path) -> None:
    hostile.git("worktree", "add", "-q", str(tmp_path / "tree"))
    done = hostile.box("verify", ASKED, "--cwd", str(tmp_path / "tree"))
    assert (done.code, done.out.endswith(" first\n")) == (0, True)


def test_where_nothing_is_committed_that_is_said(box: Box) -> None:
    subprocess.run([tool("git"), "init", "-q"], cwd=box.cwd, env=box.env, check=True)
    done = box("verify", ASKED)
    assert (done.code, done.out) == (INCOMPLETE, "not verified: could not be verified: fatal: bad revision 'HEAD'\n")


def test_a_repository_of_another_user_is_read_where_the_user_says_that_it_is_safe(hostile: Hostile) -> None:
    if os.geteuid() != 0:
        pytest.fail("only root can give a directory away") if os.environ.get("CI") == "true" else pytest.skip("no root")
    os.chown(hostile.path, 54321, 54321)
    done = hostile.box("verify", ASKED, "--cwd", str(hostile.path))
    assert (done.code, "dubious ownership" in done.out) == (INCOMPLETE, True)
    (Path(hostile.box.env["HOME"]) / ".gitconfig").write_text(f"[safe]\n\tdirectory = {hostile.path}\n")
    assert hostile.box("verify", ASKED, "--cwd", str(hostile.path)).code == 0


def test_a_subject_without_end_is_cut(hostile: Hostile) -> None:
    hostile.git("commit", "-q", "--allow-empty", "-F", "-", text="word " * 1_000_000)
    done = hostile.box("verify", ASKED, "--cwd", str(hostile.path))
    assert (done.code, len(done.out) < 200) == (0, True)


TRACES = ("trace2.normalTarget", "trace2.eventTarget", "trace2.perfTarget")


@pytest.mark.parametrize("where", ["config", "include.path", "includeIf.gitdir:**.path", "worktree", "commondir"])
def test_no_settings_file_of_the_repository_makes_git_write(hostile: Hostile, tmp_path: Path, where: str) -> None:
    traces, dotgit = tmp_path / "traces", hostile.path / ".git"
    traces.mkdir()
    given = hostile.path / "given"
    for key in TRACES:
        hostile.git("config", "--file", str(given), key, str(traces / key))
    match where:
        case "worktree":
            hostile.git("config", "extensions.worktreeConfig", "true")
            given.rename(dotgit / "config.worktree")
        case "commondir":
            common = dotgit.rename(hostile.path / "common")
            dotgit.mkdir()
            (dotgit / "HEAD").write_text((common / "HEAD").read_text())
            (dotgit / "commondir").write_text("../common\n")
            given.rename(common / "config")
        case "config":
            given.rename(dotgit / "config")
        case _:
            hostile.git("config", where, str(given))
    assert hostile.box("verify", ASKED, "--cwd", str(hostile.path)).code == 0
    assert list(traces.iterdir()) == []


def test_git_writes_no_trace_that_the_user_or_the_environment_asks_for(hostile: Hostile, tmp_path: Path) -> None:
    traces = tmp_path / "traces"
    traces.mkdir()
    for key in TRACES:
        hostile.git("config", "--global", key, str(traces / key))
    hostile.git("rev-parse", "HEAD")
    assert len(list(traces.iterdir())) == len(TRACES), "git traces itself where it is asked to"
    for each in traces.iterdir():
        each.unlink()
    env = {name: str(traces / name) for name in ("GIT_TRACE", "GIT_TRACE2", "GIT_TRACE2_EVENT", "GIT_TRACE_SETUP")}
    assert hostile.box("verify", ASKED, "--cwd", str(hostile.path), **env).code == 0
    assert list(traces.iterdir()) == []


@pytest.mark.parametrize(
    "name", ["HEAD", "config", "commondir", "config.worktree", "info/grafts", "objects/info/alternates"]
)
@pytest.mark.parametrize("where", ["project", "project/below", "bare"])
def test_a_pipe_in_the_repository_is_not_waited_for(hostile: Hostile, name: str, where: str) -> None:
    repository = hostile.path / ".git"
    if where == "bare":
        repository = repository.rename(hostile.path / "bare")
    (hostile.path / "below").mkdir()
    if name == "config.worktree":
        hostile.git("config", "--file", str(repository / "config"), "extensions.worktreeConfig", "true")
    (repository / name).unlink(missing_ok=True)
    os.mkfifo(repository / name)
    cwd = hostile.path / where if where == "bare" else hostile.path.parent / where
    done = hostile.box("verify", ASKED, "--cwd", str(cwd))
    assert (done.code, done.out) == (
        INCOMPLETE, f"not verified: could not be verified: {repository / name} is not a regular file\n"
    )  # fmt: skip


def test_a_directory_called_config_beside_the_project_is_no_repository(hostile: Hostile) -> None:
    os.mkfifo(hostile.path / "config")
    (hostile.path.parent / "HEAD").mkdir()
    assert hostile.box("verify", ASKED, "--cwd", str(hostile.path)).code == 0


def test_git_ends_with_us_where_it_waits_for_a_pipe(hostile: Hostile) -> None:
    """Not every file that git may open is looked at before."""
    branch = hostile.path / ".git" / hostile.git("symbolic-ref", "HEAD")
    branch.unlink()
    os.mkfifo(branch)
    process = hostile.box.start("verify", ASKED, "--cwd", str(hostile.path))
    try:
        until(lambda: bool(procfs.children(process.pid)) and letter(procfs.children(process.pid)[0]) in "SD")
        (git,) = procfs.children(process.pid)
        process.terminate()
        assert process.wait(PATIENCE) == -signal.SIGTERM
        until(lambda: not alive(git))
    finally:
        process.kill()
        process.communicate()
