"""What of our environment a program of others gets."""

from midwatch.system.child_environment import SECRETS, without_secrets


def test_secrets_are_left_out_and_all_else_is_kept() -> None:
    given = {"HOME": "/home/ann", "MIDWATCH_MQTT_PASSWORD": "x", "MIDWATCH_MQTT_PASSWORD_FILE": "/f"}

    assert without_secrets(given) == {"HOME": "/home/ann", "MIDWATCH_MQTT_PASSWORD_FILE": "/f"}
    assert "MIDWATCH_MQTT_PASSWORD" in given  # the caller's own stays as it is
    assert "MIDWATCH_MQTT_PASSWORD" in SECRETS
