"""The registry's text: rows out of every shape that people keep, changes back into it."""

from __future__ import annotations

import pytest

from midwatch.core.errors import FormatError
from midwatch.registry.codec import registry_file
from midwatch.registry.codec.registry_file import apply_changes, parse_registry
from midwatch.registry.model import INVALID, AddRow, Change, RegistryRow, RemoveRow, RowPane, SetFields

FULL = """\
# Sessions of the lab.
workspace: lab   # not ours
sessions:
  - name: lab-landing-page-creator-claude  # the first
    status: running
    pane:
      pid: 201132
      cmd: claude
      cwd: /srv/lab/landing-page
      id: "%3"
      start: 8123456
      boot: 3f0c2a52-1111-4000-8000-000000000000
    tmux_socket: lab
    claude_session_id_own: null
    agent_identities:
      claude:
        session_id: 87dc548e-0000-4000-8000-0000000000ff
    created_at: 2026-06-20T15:48:27Z
    resumable: true
    last_visible_status: working
    owner: me   # unknown fields are kept

  - name: lab-paper-creator-agy
    status: stopped
    stopped_at: "2026-06-20 17:00:00"
    created_at: 2026-06-20
    agy_session_id_own: c0ffee
    tmux_socket: /tmp/tmux-1000/lab
    resumable: false
"""


def only(text: str) -> RegistryRow:
    (row,) = parse_registry(text).rows
    return row


def test_every_field_is_read() -> None:
    first, second = parse_registry(FULL).rows
    assert first._replace(data={}) == RegistryRow(
        0, "lab-landing-page-creator-claude", "running", 4, "claude",
        RowPane(201132, "claude", "/srv/lab/landing-page", "%3", 8123456, "3f0c2a52-1111-4000-8000-000000000000"),
        ("-L", "lab"), "87dc548e-0000-4000-8000-0000000000ff", True, 1781970507.0, "working",
    )  # fmt: skip
    assert first.data["owner"] == "me"
    assert second._replace(data={}) == RegistryRow(
        1, "lab-paper-creator-agy", "stopped", 23, "agy", RowPane(), ("-S", "/tmp/tmux-1000/lab"), "c0ffee", False,
        1781974800.0,
    )  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "sessions:\n- {name: a, status: running}\n- {name: b, status: stopped}\n",
        "sessions:\n- {session: a, status: running}\n- {session: b, status: stopped}\n",
        "sessions:\n- {session_name: a, status: running}\n- {tmux_session: b, status: stopped}\n",
        "sessions:\n  a: {status: running}\n  b: {status: stopped}\n",
        "a: {status: running}\nb: {status: stopped}\n",
        "- {name: a, status: running}\n- {name: b, status: stopped}\n",
        '{"sessions": [{"name": "a", "status": "running"}, {"name": "b", "status": "stopped"}]}',
        "base: &b {status: running}\nsessions:\n  a: *b\n  b: {<<: *b, status: stopped}\n",
    ],
)
def test_rows_are_found_in_every_shape(text: str) -> None:
    assert [(row.at, row.name, row.status) for row in parse_registry(text).rows] == [
        (0, "a", "running"),
        (1, "b", "stopped"),
    ]


@pytest.mark.parametrize(
    "text", ["sessions:\n", "sessions: []\n", "sessions: {}\n", "version: 1\n", "{}", "[]", registry_file.NEW]
)
def test_a_list_may_be_empty_and_takes_a_first_row(text: str) -> None:
    assert parse_registry(text).rows == ()
    new = apply_changes(text, [AddRow("a", {"status": "running"})])
    assert only(new).name == "a"
    assert parse_registry(apply_changes(new, [RemoveRow(0)])).rows == ()


def test_a_new_list_says_what_it_is() -> None:
    new = apply_changes(registry_file.NEW, [AddRow("a", {"status": "running", "pane": {"pid": 1}})])
    assert (
        new == registry_file.NEW.removesuffix(" []\n") + "\n  - name: a\n    status: running\n    pane:\n      pid: 1\n"
    )


@pytest.mark.parametrize(
    ("row", "agent", "conversation"),
    [
        ("{name: x, status: running, agent: codex, codex_session_id_own: a}", "codex", "a"),
        ("{name: x-creator-agy, status: running, claude_session_id_own: null}", "claude", ""),
        ("{name: x, status: running, claude_session_id_own: null, agy_session_id_own: a}", "agy", "a"),
        ("{name: x-creator-agy, status: running, claude_session_id_own: a, agy_session_id_own: b}", "agy", "b"),
        ("{name: x, status: running, agent_identities: {qwen: {session_id: a}}}", "qwen", "a"),
        ("{name: x, status: stopped, claude_session_id_own: null, agent_identities: {claude: {session_id: a}}}",
         "claude", "a"),
        ("{name: x, status: running, agent_identities: {claude: null}}", "claude", ""),
        ("{name: x-creator-agy, status: running, pane: {cmd: node}}", "agy", ""),
        ("{name: x-creator-, status: running}", "", ""),
        ("{name: x, status: running, pane: {cmd: codex}}", "codex", ""),
        ("{name: x, status: running, cmd: codex}", "codex", ""),
        ("{name: x, status: running, pane: {cmd: bash}}", "", ""),
        ("{name: x, status: running, pane: {cmd: claude --resume a}}", "", ""),
        ("{name: x, status: running}", "", ""),
    ],
)  # fmt: skip
def test_the_agent_is_told_by_the_first_field_that_knows_it(row: str, agent: str, conversation: str) -> None:
    found = only(f"- {row}\n")
    assert (found.agent, found.conversation) == (agent, conversation)


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("2026-06-20T15:48:27Z", 1781970507.0),
        ('"2026-06-20T15:48:27Z"', 1781970507.0),
        ('"2026-06-20T15:48:27"', 1781970507.0),
        ("2026-06-20 15:48:27", 1781970507.0),
        ('"2026-06-21T00:48:27+09:00"', 1781970507.0),
        ("2026-06-21T00:48:27.5+09:00", 1781970507.5),
        ("2026-06-20", 1781913600.0),
        ('"2026-06-20"', 1781913600.0),
        ("null", None),
        ('""', None),
    ],
)
def test_times_without_a_zone_are_utc(written: str, seconds: float | None) -> None:
    assert only(f"- {{name: a, status: running, terminated_at: {written}}}").since == seconds


def test_the_latest_moment_counts() -> None:
    row = "{name: a, status: archived, created_at: 2026-01-01, archived_at: 2026-01-03, stopped_at: 2026-01-02}"
    assert only(f"- {row}").since == only("- {name: a, status: archived, archived_at: 2026-01-03}").since


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("sessions:\n- name: a\n  status: runing\n", 3, "status runing is none of running, stopped"),
        ("sessions:\n- name: a\n  status: true\n", 3, "status must be a text"),
        ("sessions:\n- name: a\n", 2, "status is missing"),
        ("sessions:\n- status: running\n", 2, "without a name"),
        ("sessions:\n- name: 12\n  status: running\n", 2, "name must be a text"),
        ("sessions:\n- name: ''\n  status: running\n", 2, "name of a session must be a text"),
        ("sessions:\n  12:\n    status: running\n", 2, "name of a session must be a text"),
        ("sessions:\n- a\n", 2, "must be a table of fields"),
        ("- name: a\n  status: running\n  pane: 12\n", 3, "pane must be a table"),
        ("- name: a\n  status: running\n  pane:\n    pid: '12'\n", 4, "pid must be a whole number"),
        ("- name: a\n  status: running\n  pane: {pid: -1}\n", 3, "pid must be a whole number"),
        ("- name: a\n  status: running\n  pane: {pid: true}\n", 3, "pid must be a whole number"),
        ("- name: a\n  status: running\n  pid: 1.5\n", 3, "pid must be a whole number"),
        ("- name: a\n  status: running\n  pane:\n    id: 3\n", 4, "id must be a text"),
        ("- name: a\n  status: running\n  resumable: maybe\n", 3, "resumable must be true or false"),
        ("- name: a\n  status: running\n  created_at: yesterday\n", 3, "created_at must be a time"),
        ("- name: a\n  status: running\n  created_at: 12\n", 3, "created_at must be a time"),
        ("- name: a\n  status: running\n  tmux_socket: [a]\n", 3, "tmux_socket must be a text"),
        ("- name: a\n  status: running\n  claude_session_id_own: 12\n", 3, "claude_session_id_own must be a text"),
        ("- name: a\n  status: running\n  agent_identities:\n    claude: x\n", 4, "claude must be a table"),
        ("- name: a\n  status: running\n  agent_identities:\n    claude:\n      session_id: 1\n", 5, "session_id must"),
        ("- name: a\n  status: running\n  last_visible_status: no\n", 3, "last_visible_status must be a text"),
        ("- name: a\n  status: running\n  status: stopped\n", 3, "status stands twice"),
        ("- name: a\n  status: running\n  note: 2026-13-45\n", 3, "looks like a timestamp"),
        ("- name: a\n  status: running\n  ? [b]\n  : 1\n", 3, "cannot be a key"),
        ("a: {statsu: running}\nz: {status: running}\n", 1, "status is missing"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_row_is_told_with_its_line_and_spoils_no_other(text: str, line: int, words: str) -> None:
    first = parse_registry(text, "/x/agent-sessions.yaml").rows[0]
    assert first.status == INVALID
    assert first.problem.startswith(f"/x/agent-sessions.yaml:{line}: "), first.problem
    assert words in first.problem
    new = apply_changes(text, [AddRow("b", {"status": "running"})])
    assert new.startswith(text)
    last = parse_registry(new).rows[-1]
    assert (last.name, last.status) == ("b", "running")
    stopped = apply_changes(new, [SetFields(last.at, {"status": "stopped"})])
    assert stopped.startswith(text)
    assert parse_registry(stopped).rows[-1].status == "stopped"


def test_the_name_and_the_id_of_a_row_that_cannot_be_understood_are_taken() -> None:
    text = "- {name: a, status: runing, agy_session_id_own: b3a7}\n- c\n"
    found = [(row.name, row.agent, row.conversation) for row in parse_registry(text).rows]
    assert found == [("a", "agy", "b3a7"), ("c", "", "")]


def test_a_change_that_cannot_be_made_holds_up_no_other() -> None:
    text = "base: &b {status: running}\nsessions:\n  a: *b\n  c: {status: running}\n"
    changes: list[Change] = [SetFields(0, {"status": "stopped"}), SetFields(1, {"status": "stopped"})]
    fine, refused = registry_file.RegistryText(text).possible(changes)
    assert fine == changes[1:]
    assert [(change, "line 3: an anchor" in str(error)) for change, error in refused] == [(changes[0], True)]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("sessions: 3\n", 1, "must be a list or a table"),
        ("just words\n", 1, "neither a list nor a table"),
        ("a: {status: running}\nversion: 1\n", 2, "version is no session"),
        ("x: 1\nx: 2\nsessions:\n- {name: a, status: running}\n", 2, "x stands twice"),
        ("sessions:\n  a: {status: running}\n  a: {status: stopped}\n", 3, "a stands twice"),
    ],
)
def test_what_is_wrong_outside_of_the_rows_spoils_the_file(text: str, line: int, words: str) -> None:
    with pytest.raises(FormatError) as caught:
        parse_registry(text, "/x/agent-sessions.yaml")
    assert str(caught.value).startswith(f"/x/agent-sessions.yaml:{line}: "), caught.value
    assert words in str(caught.value)
    with pytest.raises(FormatError, match=f"^line {line}: "):
        apply_changes(text, [AddRow("b", {"status": "running"})])


def test_a_session_that_ended_is_written_down_and_all_else_stays() -> None:
    ended: dict[str, object] = {
        "status": "terminated",
        "terminated_at": "2026-06-21T00:00:00Z",
        "termination_mode": "auto-detected",
    }
    assert apply_changes(FULL, [SetFields(0, ended)]) == FULL.replace("status: running", "status: terminated").replace(
        "kept\n\n",
        'kept\n    terminated_at: "2026-06-21T00:00:00Z"\n    termination_mode: auto-detected\n\n',
    )


def test_fields_that_lie_deeper_are_set_where_they_lie() -> None:
    changes: list[Change] = [SetFields(0, {"pane.pid": 5, "agent_identities.claude.session_id": "x", "pane.new": 1})]
    assert apply_changes(FULL, changes) == FULL.replace("201132", "5").replace(
        "87dc548e-0000-4000-8000-0000000000ff", "x"
    ).replace("000000000000\n    tmux", "000000000000\n      new: 1\n    tmux")


def test_a_pane_that_stands_in_the_row_itself_is_set_there() -> None:
    text = "- name: a\n  status: running\n  pid: 1 # c\n  cwd: /x\n"
    new = apply_changes(text, [SetFields(0, {"pane.pid": 2, "pane.cwd": "/y", "pane.cmd": "claude", "pane.id": "%1"})])
    assert new == '- name: a\n  status: running\n  pid: 2 # c\n  cwd: /y\n  pane:\n    cmd: claude\n    id: "%1"\n'
    assert only(new).pane == RowPane(2, "claude", "/y", "%1")
    assert apply_changes(new, [SetFields(0, {"pane.pid": 2, "pane.cmd": "claude"})]) == new


def test_a_new_row_is_written_as_its_neighbours_are() -> None:
    row: dict[str, object] = {"status": "running", "pane": {"pid": 1, "id": "%1"}}
    text = "- session: a\n  status: running\n  pid: 3\n"
    assert (
        apply_changes(text, [AddRow("b", row)])
        == text + '- session: b\n  status: running\n  pid: 1\n  pane:\n    id: "%1"\n'
    )
    text = "sessions:\n  a:\n    status: running\n"
    new = text + '  b:\n    status: running\n    pane:\n      pid: 1\n      id: "%1"\n'
    assert apply_changes(text, [AddRow("b", row)]) == new
    with pytest.raises(FormatError, match="a stands in the list already"):
        apply_changes(text, [AddRow("a", row)])


def test_rows_are_meant_as_they_stand_before_any_change() -> None:
    text = "- {name: a, status: running}\n- {name: b, status: running}\n- {name: c, status: running}\n"
    changes: list[Change] = [
        RemoveRow(0),
        SetFields(2, {"status": "stopped"}),
        SetFields(0, {"status": "archived"}),
        RemoveRow(1),
    ]
    assert apply_changes(text, changes) == "- {name: c, status: stopped}\n"


def test_rows_with_one_name_are_told_apart_by_their_place() -> None:
    text = "- {name: a, status: running}\n- {name: a, status: running}\n"
    assert apply_changes(text, [SetFields(1, {"status": "stopped"})]) == text[:29] + "- {name: a, status: stopped}\n"


def test_a_row_that_is_made_of_others_is_not_changed() -> None:
    text = "base: &b {status: running}\nsessions:\n  a:\n    <<: *b\n    x: 1\n  b: *b\n"
    assert [row.line for row in parse_registry(text).rows] == [3, 6]
    for at, line in ((0, 3), (1, 6)):
        with pytest.raises(FormatError, match=f"^line {line}: an anchor"):
            apply_changes(text, [SetFields(at, {"status": "stopped"})])


def test_a_byte_that_yaml_cannot_hold_is_refused() -> None:
    with pytest.raises(FormatError, match="no UTF-8"):
        apply_changes(registry_file.NEW, [AddRow("a", {"status": "running", "pane": {"cwd": "/x\udc80"}})])


def test_a_change_to_a_row_that_is_no_table_is_refused_with_its_line() -> None:
    text = "- name: api\n  status: running\n- status:0 terminated\n"
    with pytest.raises(FormatError, match=r"^line 3: a session must be a table of fields"):
        registry_file.apply_changes(text, [SetFields(1, {"mine": 1})])


def test_sessions_beyond_measure_are_an_error() -> None:
    rows = "".join(f"- {{name: a{number}}}\n" for number in range(registry_file.MOST_ROWS + 1))
    with pytest.raises(FormatError, match="more than 10,000 sessions"):
        parse_registry(f"sessions:\n{rows}")
    assert len(parse_registry("sessions:\n" + rows.partition("\n")[2]).rows) == registry_file.MOST_ROWS
