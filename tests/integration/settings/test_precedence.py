"""Flags beat variables, which beat the project's file, which beats the user's, which beats our own numbers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from midwatch.cli import context
from midwatch.cli.parser import parse
from midwatch.config.model import Settings
from midwatch.core.policy import PATIENT, STRICT, Policy
from tests.conftest import Box

DOCS = (Path(__file__).parents[3] / "docs" / "reference" / "configuration.md").read_text()
VARIABLES = sorted(set(re.findall(r"`(MIDWATCH_[A-Z_]+)`", DOCS.partition("## Variables")[2].partition("\n## ")[0])))


class Layers:
    """The places in which something can be said, and what comes of it."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.project, self.config = root / "project", root / "config" / "midwatch"
        self.project.mkdir()
        self.config.mkdir(parents=True)
        self.monkeypatch = monkeypatch
        for variable in VARIABLES:
            monkeypatch.delenv(variable, raising=False)
        monkeypatch.setenv("XDG_CONFIG_HOME", str(root / "config"))
        monkeypatch.chdir(self.project)

    def user(self, text: str) -> None:
        (self.config / "config.toml").write_text(text)

    def own(self, text: str) -> None:
        (self.project / "midwatch.toml").write_text(text)

    def set(self, **variables: str) -> None:
        for name, value in variables.items():
            self.monkeypatch.setenv(f"MIDWATCH_{name}", value)

    def policy(self, *flags: str) -> Policy:
        return context.read_policy(parse("run", [*flags, "--", "true"]))

    def settings(self) -> Settings:
        return context.read_settings(parse("run", ["--", "true"]))


@pytest.fixture
def layers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Layers:
    return Layers(tmp_path, monkeypatch)


def test_each_place_beats_those_below_it(layers: Layers) -> None:
    assert layers.policy() == PATIENT
    layers.user("[policy]\nstale = 100\ngrace = 101\ntimeout = 102\non_stuck = 'stop'\n")
    assert layers.policy()[1:4] == (100.0, 101.0, 102.0)
    layers.own("[policy]\nstale = 200\ngrace = 201\ntimeout = 202\n")
    assert layers.policy()[1:4] == (200.0, 201.0, 202.0)
    layers.set(STALE="300", GRACE="301")
    assert layers.policy()[1:4] == (300.0, 301.0, 202.0)
    found = layers.policy("--stale", "400")
    assert found[1:4] == (400.0, 301.0, 202.0)
    assert found.on_stuck == "stop"


def test_sources_of_progress_and_the_action_can_be_given_everywhere(layers: Layers) -> None:
    layers.own('[policy]\nprogress = ["beat"]\non_stuck = "stop"\n')
    assert (layers.policy().progress, layers.policy().on_stuck) == (("beat",), "stop")
    layers.set(PROGRESS="cpu", ON_STUCK="report")
    assert (layers.policy().progress, layers.policy().on_stuck) == (("cpu",), "report")
    found = layers.policy("--progress", "io", "--on-stuck", "stop")
    assert (found.progress, found.on_stuck) == (("io",), "stop")


def test_a_policy_named_in_a_file_is_changed_by_the_rest_of_its_table(layers: Layers) -> None:
    layers.own('[policy]\nname = "strict"\ngrace = 1\n')
    assert layers.policy() == STRICT._replace(grace_s=1.0)


def test_a_policy_named_by_a_flag_is_that_policy_whatever_the_files_say(layers: Layers) -> None:
    layers.own('[policy]\nstale = 1000\non_stuck = "report"\ntimeout = 5\n')
    assert layers.policy("--policy", "strict") == STRICT
    assert layers.policy("--policy", "strict", "--stale", "90").stale_s == 90.0
    assert layers.policy("--policy", "patient") == PATIENT
    loaded = layers.settings()
    assert context.read_policy(parse("run", ["--policy", "strict", "--", "true"]), loaded) == STRICT
    assert context.read_policy(parse("run", ["--", "true"]), loaded) == layers.policy()


def test_a_policy_named_by_a_variable_is_that_policy_whatever_the_files_say(layers: Layers) -> None:
    layers.user('[policy]\nname = "patient"\ngrace = 9\n')
    layers.own("[policy]\nstale = 1000\n")
    layers.set(POLICY="strict")
    assert layers.policy() == STRICT


def test_single_variables_go_on_top_of_a_policy_that_a_flag_names(layers: Layers) -> None:
    layers.set(STALE="300", POLICY="patient")
    assert layers.policy("--policy", "strict") == STRICT._replace(stale_s=300.0)


def test_a_heartbeat_of_a_file_is_kept_as_long_as_it_fits(layers: Layers) -> None:
    layers.own("[policy]\nstale = 60\nheartbeat = 25\n")
    assert layers.policy().heartbeat_s == 25.0
    assert layers.policy("--stale", "51").heartbeat_s == 25.0
    assert layers.policy("--stale", "50").heartbeat_s == pytest.approx(50 / 3)
    assert layers.policy("--heartbeat", "7").heartbeat_s == 7.0


def test_a_heartbeat_of_the_users_file_gives_way_to_the_projects_stale(layers: Layers) -> None:
    layers.user('[policy]\nheartbeat = "2m"\n')
    layers.own("[policy]\nstale = 30\n")
    assert layers.policy().heartbeat_s == 10.0


def test_variables_beat_the_files_in_all_other_settings(layers: Layers) -> None:
    layers.user("[run]\nretries = 1\nbackoff = 2\npreflight = true\n")
    layers.own("[breaker]\nthreshold = 3\ncooldown = 4\n")
    before = layers.settings()
    assert before[1:6] == (1, 2.0, 3, 4.0, True)
    layers.set(RETRIES="0", BACKOFF="3s", BREAKER_THRESHOLD="5", BREAKER_COOLDOWN="1m", PREFLIGHT="0")
    assert layers.settings() == before._replace(
        retries=0, backoff_s=3.0, breaker_threshold=5, breaker_cooldown_s=60.0, preflight=False
    )


def test_an_empty_variable_counts_as_not_set(layers: Layers) -> None:
    layers.set(**{name.removeprefix("MIDWATCH_"): "" for name in VARIABLES})
    assert (layers.policy(), layers.settings()) == (PATIENT, Settings())


def test_every_variable_is_documented() -> None:
    source = Path(context.__file__).read_text()
    spelled = set(re.findall(r'"(MIDWATCH_[A-Z_]+[A-Z])"', source))
    flags = {f"MIDWATCH_{flag}" for flag in ("STALE", "GRACE", "TIMEOUT", "HEARTBEAT")}
    assert spelled | flags == set(VARIABLES)


@pytest.mark.parametrize("variable", VARIABLES)
@pytest.mark.parametrize("value", ["nonsense", "-1", "1" * 5000])
def test_a_bad_variable_is_named_and_nothing_is_started(box: Box, variable: str, value: str) -> None:
    done = box("run", "--name", "x", "--", "true", **{variable: value})
    assert (done.code, variable in done.err) == (2, True), done
    assert not box.path("x.json").exists()


def test_a_threshold_of_0_is_refused_also_from_the_environment(box: Box) -> None:
    done = box("run", "--", "true", MIDWATCH_BREAKER_THRESHOLD="0")
    assert (done.code, "MIDWATCH_BREAKER_THRESHOLD is a number from 1 to 1000" in done.err) == (2, True), done


def test_what_the_files_say_is_written_into_the_record_of_a_job(box: Box) -> None:
    (box.cwd / "midwatch.toml").write_text('[policy]\nname = "strict"\nstale = "20m"\nprogress = ["beat"]\n')
    assert box("run", "--name", "x", "--", "true").code == 0
    assert box.record("x")["policy"] == {
        "name": "strict", "stale_s": 1200.0, "grace_s": 30.0, "timeout_s": 1800.0, "heartbeat_s": 10.0,
        "on_stuck": "stop", "progress": ["beat"],
    }  # fmt: skip


def test_reports_to_the_terminal_can_be_given_everywhere(layers: Layers) -> None:
    assert (layers.settings().program_status, context.program_status_mode()) == ("auto", "auto")
    layers.user('[terminal]\nprogram_status = "off"\n')
    assert (layers.settings().program_status, context.program_status_mode()) == ("off", "off")
    layers.own('[terminal]\nprogram_status = "on"\n')
    assert (layers.settings().program_status, context.program_status_mode()) == ("on", "on")
    layers.set(PROGRAM_STATUS="off")
    assert (layers.settings().program_status, context.program_status_mode()) == ("off", "off")


def test_where_the_directory_is_gone_nothing_is_reported(layers: Layers) -> None:
    layers.project.rmdir()
    assert context.program_status_mode() == "off"
