"""Trust is for one path and exactly the bytes that were read; everything else is no."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from midwatch.config import load, trust
from midwatch.core.errors import RefusedError

TEXT = '[[check]]\nrun = "scripts/healthy"\nfix = "make"\n'


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project's settings file, which nobody has trusted yet."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    path = tmp_path / "project" / "midwatch.toml"
    path.parent.mkdir(mode=0o755)
    path.write_text(TEXT)
    path.chmod(0o644)
    return path


def problem(path: Path) -> str:
    """As a program finds it that has just loaded the settings."""
    load.load(str(path.parent))
    return trust.find_problem(str(path))


def trusted(path: Path) -> Path:
    load.load(str(path.parent))
    trust.trust_file(str(path))
    assert problem(path) == ""
    return path


def test_a_file_is_not_trusted_until_it_is(file: Path) -> None:
    assert problem(file) == f"{file} is not trusted: read it, then `midwatch trust`"
    trust.trust_file(str(file))
    assert problem(file) == ""


def test_one_changed_byte_wherever_it_is_takes_the_trust_away(file: Path) -> None:
    trusted(file)
    data = file.read_bytes()
    changes = [data[:n] + bytes([data[n] ^ 1]) + data[n + 1 :] for n in range(len(data))]
    for changed in (*changes, data + b"\n", data[:-1], b""):
        file.write_bytes(changed)
        load.read_file(str(file))
        assert "was changed since you trusted it (20" in trust.find_problem(str(file)), changed
    file.write_bytes(data)
    assert problem(file) == ""


def test_trusting_the_change_trusts_that_and_no_longer_what_was(file: Path) -> None:
    trusted(file)
    file.write_text(TEXT + "# more\n")
    trusted(file)
    file.write_text(TEXT)
    assert "was changed" in problem(file)
    assert len(trust.list_entries()) == 1


def test_a_file_that_is_exchanged_after_it_was_read_does_not_get_through(file: Path) -> None:
    trusted(file)
    file.write_text('[[check]]\nrun = "evil"\n')
    assert load.load(str(file.parent)).checks[0].target == "evil"
    file.write_text(TEXT)
    assert "was changed" in trust.find_problem(str(file))


def test_what_was_read_while_it_was_trusted_stays_so_whatever_stands_there_now(file: Path) -> None:
    trusted(file)
    file.write_text('[[check]]\nrun = "evil"\n')
    assert trust.find_problem(str(file)) == ""
    assert "was changed" in problem(file)


def test_what_is_trusted_is_what_was_shown_and_not_what_stands_there_at_the_answer(file: Path) -> None:
    load.load_layer(str(file))
    file.write_text('[[check]]\nrun = "evil"\n')
    trust.trust_file(str(file))
    assert "was changed" in problem(file)


def test_the_same_bytes_elsewhere_are_not_trusted(file: Path, tmp_path: Path) -> None:
    trusted(file)
    other = tmp_path / "other" / "midwatch.toml"
    other.parent.mkdir(mode=0o755)
    os.link(file, other)
    assert "is not trusted" in problem(other)


def test_the_real_path_counts_when_a_directory_is_reached_by_a_link(file: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(file.parent)
    trusted(tmp_path / "link" / "midwatch.toml")
    assert problem(file) == ""
    assert [each.path for each in trust.list_entries()] == [str(file)]


def test_a_link_in_the_same_directory_is_the_file_that_it_leads_to(file: Path) -> None:
    file.rename(file.with_name("settings.toml"))
    file.symlink_to("settings.toml")
    trusted(file)
    assert [each.path for each in trust.list_entries()] == [str(file.with_name("settings.toml"))]


def test_a_link_to_a_file_trusted_elsewhere_is_refused_for_its_commands_would_be_others(
    file: Path, tmp_path: Path
) -> None:
    trusted(file)
    evil = tmp_path / "evil" / "midwatch.toml"
    evil.parent.mkdir(mode=0o755)
    evil.symlink_to(file)
    assert "is a link to another directory" in problem(evil)
    with pytest.raises(RefusedError, match="put a copy in its place"):
        trust.trust_file(str(evil))


@pytest.mark.parametrize("mode", [0o664, 0o646, 0o666])
def test_a_file_that_others_may_write_is_refused(file: Path, mode: int) -> None:
    trusted(file)
    file.chmod(mode)
    assert problem(file).startswith(f"others may write to {file}; ")
    assert "`chmod go-w`" in problem(file)
    with pytest.raises(RefusedError, match="others may write"):
        trust.trust_file(str(file))
    file.chmod(0o600)
    assert problem(file) == ""


@pytest.mark.parametrize("mode", [0o775, 0o757, 0o1777])
def test_a_file_in_a_directory_that_others_may_write_is_refused(file: Path, mode: int) -> None:
    trusted(file)
    file.parent.chmod(mode)
    assert problem(file).startswith(f"others may write to {file.parent}; ")


@pytest.mark.parametrize("what", ["file", "directory"])
def test_what_belongs_to_another_user_is_refused(file: Path, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    trusted(file)
    place = file if what == "file" else file.parent
    if os.getuid() == 0:
        os.chown(place, 65534, 65534)
    else:  # for whom nothing here is his own
        monkeypatch.setattr(os, "geteuid", lambda: 65533)
    assert " belongs to another user; make it yours alone" in problem(file)


def test_no_variable_and_no_key_stands_in_for_trust(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MIDWATCH_TRUST", "MIDWATCH_TRUSTED", "MIDWATCH_YES"):
        monkeypatch.setenv(name, "1")
    assert "is not trusted" in problem(file)
    for key in ("trust = true\n", "trusted = true\n", "[trust]\nall = true\n"):
        file.write_text(key + TEXT)
        with pytest.raises(Exception, match="unknown key"):
            load.load(str(file.parent))
        assert "is not trusted" in trust.find_problem(str(file))


def test_the_users_own_file_needs_no_trust_and_a_link_to_it_does_not_inherit_that(file: Path, tmp_path: Path) -> None:
    own = tmp_path / "config" / "midwatch" / "config.toml"
    own.parent.mkdir(parents=True)
    own.write_text(TEXT)
    assert problem(file) != ""
    assert trust.find_problem(str(own)) == ""
    file.unlink()
    file.symlink_to(own)
    assert problem(file) != ""


def test_a_file_that_is_gone_or_unreadable_is_no_trusted_file(file: Path) -> None:
    trusted(file)
    file.unlink()
    assert "there is no" in problem(file)
    file.mkdir()
    load._held.clear()
    assert "not a regular file" in trust.find_problem(str(file))


def test_checks_that_run_something_or_connect_and_every_fix_need_trust(file: Path) -> None:
    file.write_text("".join(
        f'[[check]]\n{kind} = "{target}"\n[[check]]\n{kind} = "{target}"\nfix = "x"\n'
        for kind, target in (("run", "x"), ("module", "x"), ("package", "x"), ("venv", "x"), ("command", "x"),
                             ("http", "x"), ("tcp", "a:1"), ("disk", "1GB"), ("env", "A"), ("tmux", "3.2"))
    ))  # fmt: skip
    checks = load.load(str(file.parent)).checks
    assert {check.kind for check in checks if trust.needs_trust(check) and not check.fix} == {
        "run", "module", "package", "venv", "http", "tcp",
    }  # fmt: skip
    assert all(trust.needs_trust(check) for check in checks if check.fix)


# The list


def the_list(tmp_path: Path) -> Path:
    return tmp_path / "state" / "midwatch" / "trusted"


def test_the_list_is_one_private_line_per_file(file: Path, tmp_path: Path) -> None:
    trusted(file)
    found = the_list(tmp_path)
    assert found.stat().st_mode & 0o777 == 0o600
    digest, at, path = found.read_text().rstrip("\n").split("\t")
    assert (len(digest), at.isdecimal(), path) == (64, True, str(file))


def test_a_list_that_others_may_write_is_not_believed(file: Path, tmp_path: Path) -> None:
    trusted(file)
    the_list(tmp_path).chmod(0o622)
    assert "no word of it is believed" in problem(file)
    the_list(tmp_path).chmod(0o600)
    the_list(tmp_path).parent.chmod(0o777)
    assert "no word of it is believed" in problem(file)
    the_list(tmp_path).parent.chmod(0o700)
    assert problem(file) == ""


@pytest.mark.parametrize("spoil", [b"\xff\n", b"x\ty\tz\n", b"\n\n", b"x\t" + b"9" * 5000 + b"\tz\n", b"x\t1\n", b"\0"])
def test_odd_lines_of_the_list_are_passed_over(file: Path, tmp_path: Path, spoil: bytes) -> None:
    trusted(file)
    good = the_list(tmp_path).read_bytes()
    the_list(tmp_path).write_bytes(spoil)
    assert "is not trusted" in problem(file)
    the_list(tmp_path).write_bytes(spoil + b"\n" + good)
    assert problem(file) == ""


@pytest.mark.parametrize("aim", ["there", "nowhere"])
def test_a_link_in_place_of_the_list_is_not_followed(file: Path, tmp_path: Path, aim: str) -> None:
    trusted(file)
    found = the_list(tmp_path)
    found.rename(found.with_name("there"))
    found.symlink_to(found.with_name(aim))
    assert problem(file) != ""


def test_names_that_are_odd_but_possible_can_be_trusted(file: Path) -> None:
    for name in ("tab\there", "\udcff", "cr\rname", "sep\u2028"):
        odd = file.parent.parent / name / "midwatch.toml"
        odd.parent.mkdir(mode=0o755)
        odd.write_text(TEXT)
        odd.chmod(0o644)
        trusted(odd)
    assert len(trust.list_entries()) == 4


def test_a_line_break_in_a_path_cannot_add_a_line_to_the_list(file: Path) -> None:
    odd = file.parent.parent / f"a\n{'0' * 64}\t1\t" / "midwatch.toml"
    odd.parent.mkdir(mode=0o755)
    odd.write_text(TEXT)
    load.load(str(odd.parent))
    with pytest.raises(RefusedError, match="line break in its name"):
        trust.trust_file(str(odd))
    assert trust.list_entries() == []
