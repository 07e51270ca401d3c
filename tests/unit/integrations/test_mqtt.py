"""Topics and payloads; addresses of brokers; the `[mqtt]` table."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.config.codec import mqtt_table, settings_file
from midwatch.config.model import MqttSettings
from midwatch.core.errors import FormatError
from midwatch.core.event import Event
from midwatch.core.verdict import FINAL, LIVE
from midwatch.integrations.mqtt.codec import messages
from midwatch.integrations.mqtt.codec.messages import SubjectEvent
from midwatch.registry.session_delegate import STATES

TOLD = SubjectEvent(
    host="desk", project="/home/ann/shop", dir="/home/ann/.local/state/midwatch/shop-1", name="build", run="r1",
    kind="job", event="ended", state="failed", reason="exit 2", exit_code=2, at=1.5, seq=7,
)  # fmt: skip
TOPIC = "midwatch/v1/desk/shop/build/event"


def test_a_topic_names_host_project_and_subject() -> None:
    assert messages.event_topic("midwatch", "desk", "/home/ann/shop", "build") == TOPIC
    assert messages.subscription_topic("a/b") == "a/b/v1/+/+/+/event"


@given(st.text(), st.text(), st.text())
def test_whatever_a_name_holds_a_topic_has_six_parts_that_brokers_read_as_meant(
    host: str, project: str, name: str
) -> None:
    host, project, name = (part.replace("\udcff", "") for part in (host, project, name))
    found = messages.event_topic("p", *(part.encode("utf-8", "replace").decode() for part in (host, project, name)))
    assert len(found.split("/")) == 6
    assert not set(found) & set("+#\0")
    assert all(found.split("/"))


def test_different_names_have_different_topics() -> None:
    names = ["a+b", "a%2Bb", "a b", "%3", "3", "ü", "a/b", "%", ""]
    assert len({messages.event_topic("p", "h", "x", name) for name in names}) == len(names)


def test_what_is_encoded_is_read_again() -> None:
    assert messages.decode_event(TOPIC, messages.encode_event(TOLD), "midwatch") == TOLD
    full = TOLD._replace(agent="claude", session="s", pane="%3", conversation="c", cwd="/x", elapsed_s=2.5)
    assert messages.decode_event(TOPIC, messages.encode_event(full), "midwatch") == full


def test_what_is_not_known_is_not_there() -> None:
    found = json.loads(messages.encode_event(TOLD))
    assert list(found) == [
        "schema", "host", "project", "dir", "name", "run", "kind", "event", "state", "reason", "exit_code", "at", "seq",
    ]  # fmt: skip
    assert found["schema"] == 1


def test_fields_that_are_added_later_are_passed_over() -> None:
    more = json.dumps({**json.loads(messages.encode_event(TOLD)), "colour": "green"}).encode()
    assert messages.decode_event(TOPIC, more, "midwatch") == TOLD


@pytest.mark.parametrize(
    "change",
    [
        {"schema": 2}, {"schema": True}, {"name": "other"}, {"host": "other"}, {"project": "/other"}, {"name": 3},
        {"state": None}, {"at": "now"}, {"at": -1}, {"at": True}, {"seq": 0}, {"seq": 1.5}, {"exit_code": "2"},
        {"agent": 1}, {"elapsed_s": "x"}, {"at": 1e300}, {"state": ""}, {"state": "dead"}, {"state": "failed\n"},
        {"state": "<<<END>>>"}, {"state": "Failed"}, {"event": "begun"}, {"kind": "pane"}, {"dir": "\0"},
        {"dir": "a/b"}, {"cwd": "a\nb"}, {"reason": "x" * 401}, {"reason": "a\nb"}, {"session": "a\u202eb"},
        {"run": "\x1b[2J"},
    ],
    ids=str,
)  # fmt: skip
def test_a_message_that_is_not_in_order_is_none(change: dict[str, object]) -> None:
    wrong = json.dumps({**json.loads(messages.encode_event(TOLD)), **change}).encode()
    assert messages.decode_event(TOPIC, wrong, "midwatch") is None


@pytest.mark.parametrize(
    "change",
    [
        {"host": "a b"}, {"host": "a/b"}, {"host": "x" * 254}, {"host": ""}, {"host": "-x"}, {"host": "<<<x>>>"},
        {"name": ""}, {"name": "x" * 256}, {"name": "a\nb"}, {"name": "a\u202eb"}, {"name": "a\u200bb"},
        {"project": "shop"}, {"project": "/a\0b"}, {"project": ""},
    ],
    ids=str,
)  # fmt: skip
def test_a_host_a_name_or_a_project_that_cannot_be_one_is_none(change: dict[str, str]) -> None:
    wrong = TOLD._replace(**change)  # type: ignore[arg-type]
    topic = messages.event_topic("midwatch", wrong.host, wrong.project, wrong.name)
    assert messages.decode_event(topic, messages.encode_event(wrong), "midwatch") is None


@pytest.mark.parametrize("state", [*LIVE, *FINAL])
def test_every_state_of_a_verdict_is_known(state: str) -> None:
    told = TOLD._replace(state=state)
    assert messages.decode_event(TOPIC, messages.encode_event(told), "midwatch") == told


def test_every_state_of_a_task_that_was_not_taken_is_known() -> None:
    assert set(STATES.values()) <= {*LIVE, *FINAL}


def test_a_message_of_another_prefix_version_or_topic_is_none() -> None:
    good = messages.encode_event(TOLD)
    for topic in ("", "x", "other/v1/desk/shop/build/event", "midwatch/v2/desk/shop/build/event", TOPIC + "/x"):
        assert messages.decode_event(topic, good, "midwatch") is None


def test_a_message_that_is_too_large_is_not_even_read() -> None:
    large = messages.encode_event(TOLD._replace(reason="x" * messages.LARGEST))
    assert messages.decode_event(TOPIC, large, "midwatch") is None
    assert messages.decode_event(TOPIC, b"[" * 60000, "midwatch") is None


@given(st.binary(max_size=200))
def test_no_bytes_make_it_stumble(payload: bytes) -> None:
    assert messages.decode_event(TOPIC, payload, "midwatch") is None


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    )
)
def test_no_json_makes_it_stumble(value: object) -> None:
    assert messages.decode_event(TOPIC, json.dumps(value).encode(), "midwatch") is None


def test_an_event_of_the_journal_is_told_with_all_that_it_says() -> None:
    event = Event("r1", 3, 12.5, "build", "ended", "{}", 9)
    said = {"state": "failed", "exit_code": 2, "reason": "token=supersecret1234 is\nwrong", "elapsed_s": 3, "left": []}
    found = messages.build_event(event, said, None, host="desk", project="/p", dir="/d")
    assert (found.state, found.exit_code, found.elapsed_s, found.seq, found.at) == ("failed", 2, 3.0, 9, 12.5)
    assert "supersecret" not in found.reason
    assert "\n" not in found.reason
    odd = messages.build_event(
        event, {"state": 1, "exit_code": True, "reason": None}, None, host="desk", project="/p", dir="/d"
    )
    assert (odd.state, odd.exit_code, odd.reason) == ("", None, "")
    assert (
        messages.decode_event(messages.event_topic("x", "desk", "/p", "build"), messages.encode_event(odd), "x") is None
    )


def test_our_name_at_a_broker_is_the_same_each_time_and_nobody_elses() -> None:
    assert messages.client_id("", "desk", "/a") == messages.client_id("", "desk", "/a")
    others = [("", "desk", "/a"), ("", "desk", "/b"), ("", "lap", "/a"), ("me", "desk", "/a")]
    assert len({messages.client_id(*each) for each in others}) == len(others)


# Addresses


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("mqtt://localhost", ("localhost", 1883, False)),
        ("mqtts://broker.example", ("broker.example", 8883, True)),
        ("mqtt://10.0.0.1:1884/", ("10.0.0.1", 1884, False)),
        ("mqtts://[::1]:8884", ("::1", 8884, True)),
        ("mqtt://[::1]", ("::1", 1883, False)),
    ],
)
def test_an_address_is_read(url: str, found: tuple[str, int, bool]) -> None:
    assert mqtt_table.parse_address(url) == found


@pytest.mark.parametrize(
    "url",
    ["", "localhost", "localhost:1883", "http://x", "mqtt://", "mqtt://:1883", "mqtt://x:0", "mqtt://x:99999",
     "mqtt://x:port", "mqtt://x/topic", "mqtt://x?y", "mqtt://ann@x", "mqtt://ann:word@x", "mqtt://::1:1883"],
)  # fmt: skip
def test_what_is_no_address_is_an_error(url: str) -> None:
    with pytest.raises(FormatError):
        mqtt_table.parse_address(url)


def test_a_password_in_an_address_is_not_repeated_in_the_error() -> None:
    with pytest.raises(FormatError, match="username and password_file") as error:
        mqtt_table.parse_address("mqtt://ann:word@x")
    assert "word@" not in str(error.value)


# Settings


def read(*lines: str) -> MqttSettings | None:
    return settings_file.read("\n".join(("", "[mqtt]", *lines)), "midwatch.toml").mqtt


def test_a_table_is_read() -> None:
    found = read(
        'url = "mqtts://b:1"', 'username = "ann"', 'password_env = "W"', 'ca = "ca"', 'cert = "c"', 'key = "k"'
    )
    assert found == MqttSettings(
        "b", 1, tls=True, username="ann", password_env="W", ca="ca", cert="c", key="k", source="midwatch.toml:3"
    )


def test_whose_messages_are_accepted_is_read() -> None:
    found = read('url = "mqtt://b"', 'accept_unsigned = ["desk", "lap.example"]')
    assert found is not None
    assert found.accept_unsigned == ("desk", "lap.example")


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (['url = "mqtt://b"', 'password = "x"'], ":4: a password does not belong in a settings file"),
        (['url = "mqtt://a:b@c"'], ":3: url: neither user nor password"),
        (['url = "mqtt://b"', 'user = "x"'], ":4: unknown key 'user'; did you mean username?"),
        (['prefix = "x"'], "url is missing"),
        (["url = 1"], ":3: url must be text"),
        (['url = "mqtt://b"', 'prefix = "a/+"'], ":4: prefix"),
        (['url = "mqtt://b"', 'prefix = "a//b"'], ":4: prefix"),
        (['url = "mqtt://b"', 'prefix = "v1"'], ":4: prefix"),
        (['url = "mqtt://b"', 'prefix = ""'], ":4: prefix"),
        (['url = "mqtt://b"', 'ca = "x"'], ":4: ca means nothing without TLS"),
        (['url = "mqtts://b"', 'key = "x"'], ":4: key goes with cert"),
        (['url = "mqtts://b"', 'password_env = "x"', 'password_file = "y"'], ":5: password_env and password_file"),
        (['url = "mqtt://b"', 'client_id = "a\\nb"'], ":4: client_id must hold plain text"),
        (['url = "mqtt://b"', 'accept_unsigned = "far"'], ":4: accept_unsigned must be a list of texts"),
        (['url = "mqtt://b"', 'accept_unsigned = ["*"]'], ":4: accept_unsigned: '*' is no name of a host"),
        (['url = "mqtt://b"', 'accept_unsigned = ["a b"]'], ":4: accept_unsigned: 'a b' is no name of a host"),
    ],
    ids=str,
)
def test_what_is_wrong_in_a_table_is_told_with_its_line(lines: list[str], says: str) -> None:
    with pytest.raises(FormatError) as error:
        read(*lines)
    assert says in str(error.value)


def test_a_projects_table_stands_for_the_whole_of_the_users() -> None:
    """Else a password meant for one broker could go to another."""
    user = settings_file.parse_layer('[mqtt]\nurl = "mqtt://a"\nusername = "ann"\npassword_env = "W"\n', "config.toml")
    own = settings_file.parse_layer('[mqtt]\nurl = "mqtt://b"\n', "midwatch.toml")
    assert settings_file.merge_layers(user, own).mqtt == MqttSettings("b", 1883, source="midwatch.toml:2")
    assert settings_file.merge_layers(user, {}).mqtt == MqttSettings(
        "a", 1883, username="ann", password_env="W", source="config.toml:2"
    )
