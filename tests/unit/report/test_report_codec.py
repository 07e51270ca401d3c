"""A report as text, JSON and HTML; moments as people type them; events as others may have written them."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from datetime import datetime
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.core.errors import UsageError
from midwatch.core.event import Event
from midwatch.core.foreign_text import ForeignText
from midwatch.report.codec import html, journal_events, lines, moments, text
from midwatch.report.model import WorkReport
from tests.unit.report import night

VOID = {"meta", "br"}


def plain(report: WorkReport, columns: int = 80) -> str:
    return text.format_report(report, columns, lambda state: state)


# Text ---------------------------------------------------------------------------------------------------------------


def test_a_night_as_text() -> None:
    told = plain(night.work_report()).splitlines()
    assert told[0] == "Thu 05 Mar 22:00 to Fri 06 Mar 07:12 (9h 12m), shop"
    assert told[2:7] == [
        "Needs you (2)", "  api: waiting: it waits for a permission: Bash(rm -rf build)", "    midwatch attach api",
        "  test: failed: exit 2 after 36m", "    midwatch why test",
    ]  # fmt: skip
    assert "  docs (claude): idle, verified" in told
    assert "    worked 42m · ended 23:12" in told
    assert "    not observed 2h 12m" in told
    assert "  00:25  api  resumed: killed by SIGKILL" in told
    assert any(line.startswith("Not observed is time in which no monitor watched") for line in told)
    assert "\x1b" not in "".join(told)


@pytest.mark.parametrize("columns", [40, 60, 80, 200])
def test_no_line_is_wider_than_the_terminal(columns: int) -> None:
    assert max(map(len, plain(night.work_report(), columns).splitlines())) <= max(columns, 53)


def test_a_night_without_work_is_said_to_be_one() -> None:
    quiet = night.work_report()._replace(subjects=())
    assert plain(quiet).splitlines()[-1] == "Nothing ran in this time."
    assert "Nothing ran in this time." in html.format_page(quiet)


def test_names_of_several_projects_are_told_apart() -> None:
    assert "  shop-1a2b3c4d/api (claude): waiting" in plain(night.work_report(several=True)).splitlines()


# JSON ---------------------------------------------------------------------------------------------------------------


def test_a_line_of_json_has_the_periods_and_their_sums() -> None:
    report = night.work_report()
    found = {each.name: json.loads(lines.encode_subject(report, each)) for each in report.subjects}
    train = found["train"]
    assert (train["schema"], train["kind"], train["retries"], train["verified"]) == (1, "job", 1, None)
    assert train["seconds"] == {
        "working": 7.2 * 3600, "waiting": 0, "limited": 0, "stuck": 1440, "idle": 360, "not_observed": 5400,
    }  # fmt: skip
    assert train["periods"][0] == {"state": "working", "begin": night.BEGIN, "end": night.BEGIN + 1.5 * 3600}
    assert (found["docs"]["verified"], found["api"]["needs_you"], found["api"]["runs"]) == (True, True, 2)


# HTML ---------------------------------------------------------------------------------------------------------------


class Page(HTMLParser):
    """What a browser sees: elements, attributes and text."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.words.append(data)


def test_a_page_needs_neither_a_script_nor_the_network() -> None:
    page = Page(html.format_page(night.work_report()))
    assert page.open == []
    assert not {"script", "link", "img", "iframe", "object", "embed", "form", "a"} & {*page.tags}
    assert not {"src", "href", "action", "srcset"} & {name for name, _ in page.attributes}
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    assert ("content", "default-src 'none'; style-src 'unsafe-inline'") in page.attributes
    assert "url(" not in html.format_page(night.work_report())


def test_a_page_shows_text_of_others_as_text() -> None:
    page = Page(html.format_page(night.work_report()))
    assert r"exit 2\e[2J<script>alert(1)</script>" in page.words
    assert {"script"} & {*page.tags} == set()


def bars(page: Page) -> Iterator[tuple[float, float]]:
    for name, value in page.attributes:
        if name == "style" and "width" in value:
            left, width = (float(part.partition(":")[2].rstrip("%")) for part in value.split(";"))
            yield left, width


def test_bars_stand_inside_their_track() -> None:
    found = list(bars(Page(html.format_page(night.work_report()))))
    assert len(found) > 15
    assert all(left >= 0 and left + width <= 100.01 for left, width in found)


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=30))
def test_no_text_of_others_becomes_a_part_of_the_page(reason: str, agent: str, place: str) -> None:
    report = night.work_report()
    subjects = tuple([each._replace(reason=ForeignText(reason), agent=agent, reach=reason) for each in report.subjects])
    plain_page, page = (
        Page(html.format_page(report._replace(subjects=those, place=place)))
        for those in (report.subjects, subjects)
    )
    assert {*page.tags} == {*plain_page.tags}
    assert {name for name, _ in page.attributes} == {name for name, _ in plain_page.attributes}
    assert page.open == []


# Moments ------------------------------------------------------------------------------------------------------------


@pytest.fixture(params=["UTC0", "CET-1CEST,M3.5.0,M10.5.0/3"])
def now(request: pytest.FixtureRequest) -> Iterator[float]:
    before = os.environ.get("TZ")
    os.environ["TZ"] = request.param
    time.tzset()
    yield datetime(2026, 3, 6, 7, 12).timestamp()  # noqa: DTZ001  # as the clock on the wall shows it
    os.environ.pop("TZ") if before is None else os.environ.update(TZ=before)
    time.tzset()


def wall(at: float) -> str:
    return datetime.fromtimestamp(at).strftime("%m-%d %H:%M")  # noqa: DTZ006


@pytest.mark.parametrize(
    ("given_text", "means"),
    [
        ("22:00", "03-05 22:00"), ("06:30", "03-06 06:30"), ("7:12", "03-06 07:12"), ("07:13", "03-05 07:13"),
        ("8h", "03-05 23:12"), ("90m", "03-06 05:42"), ("2d", "03-04 07:12"), ("2026-03-01", "03-01 00:00"),
        ("2026-03-01T12:30", "03-01 12:30"), (" 22:00 ", "03-05 22:00"),
    ],
)  # fmt: skip
def test_a_begin_is_the_last_such_moment(now: float, given_text: str, means: str) -> None:
    assert wall(moments.parse_since(given_text, now, "--since")) == means


def test_an_end_is_the_first_such_moment_after_the_begin(now: float) -> None:
    since = moments.parse_since("22:00", now, "--since")
    assert wall(moments.parse_until("06:00", since, now, "--until")) == "03-06 06:00"
    assert wall(moments.parse_until("23:00", since, now, "--until")) == "03-05 23:00"
    assert wall(moments.parse_until("1h", since, now, "--until")) == "03-06 06:12"


def test_a_moment_with_a_zone_is_the_same_everywhere(now: float) -> None:
    assert moments.parse_since("2026-03-05T21:00:00+00:00", now, "--since") == 1772744400.0


@pytest.mark.parametrize(
    "wrong", ["", "noon", "25:00", "12:60", "2026-13-01", "-1h", "1:2:3:4", "nanh", "²:00", "9999-12-31"]
)
def test_what_is_no_moment_is_refused(now: float, wrong: str) -> None:
    with pytest.raises(UsageError, match="--since"):
        moments.parse_since(wrong, now, "--since")


# Events -------------------------------------------------------------------------------------------------------------

values = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.integers(), max_size=2)


FIELDS = ["state", "cause", "reason", "monitor", "seconds", "policy", "exit_code", "signal"]


@given(st.dictionaries(st.sampled_from(FIELDS), values))
def test_whatever_stands_in_an_event_it_is_read(body: dict[str, object]) -> None:
    found = journal_events.decode_event(Event("r", None, 1.0, "x", "observed", json.dumps(body)))
    assert (found.name, found.run, found.session) == ("x", "r", False)
