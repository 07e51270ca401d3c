"""The `[mqtt]` table of a settings file. Passwords do not stand in there: such files are shared, and shown."""

from __future__ import annotations

import re

from midwatch.config.codec.toml_reader import Table, TomlFile
from midwatch.config.model import MqttSettings
from midwatch.core import check_targets
from midwatch.core.errors import FormatError

SCHEMA = 1
VERSION = f"v{SCHEMA}"
"""Of our messages; part of every topic."""
PORTS = {"mqtt": 1883, "mqtts": 8883}
HOST = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,252}")
AT = ("mqtt",)
TEXTS = ("username", "password_env", "password_file", "password_command", "ca", "cert", "key", "prefix", "client_id")
ACCEPTED = "accept_unsigned"
KEYS = ("url", *TEXTS, ACCEPTED)
PLACES = ("password_env", "password_file", "password_command")
LONGEST = 200


def parse_address(url: str) -> tuple[str, int, bool]:
    """Host, port, and whether to speak TLS, of `mqtt://host:1883` or `mqtts://host`. FormatError says what is wrong."""
    scheme, there, rest = url.strip().partition("://")
    if not there or scheme not in PORTS:
        raise FormatError("a broker's address begins with mqtt:// or mqtts://")
    if "@" in rest:
        raise FormatError(
            "neither user nor password stands in the address; use username and password_file, or variables"
        )
    place = rest.removesuffix("/")
    if "/" in place or "?" in place or "#" in place:
        raise FormatError(f"nothing follows host and port in the address; say {scheme}://host:{PORTS[scheme]}")
    has_port = ":" in place.rpartition("]")[2]
    host, port = check_targets.parse_address(place if has_port else f"{place}:{PORTS[scheme]}")
    return host, port, scheme == "mqtts"


def read(file: TomlFile, table: Table) -> MqttSettings:
    """FormatError names the line."""
    if "password" in table:
        raise file.wrong(
            "a password does not belong in a settings file; name the file (password_file) or the variable "
            "(password_env) that holds it, or the command (password_command) that prints it", AT, "password",
        )  # fmt: skip
    file.known(table, AT, KEYS)
    url = file.string(table, "url", AT)
    try:
        host, port, tls = parse_address(url)
    except (FormatError, ValueError) as error:
        raise file.wrong(f"url: {error}", AT, "url") from None
    texts = {key: _read_text(file, table, key) for key in TEXTS if key in table}
    if len(places := [key for key in PLACES if key in texts]) > 1:
        raise file.wrong(f"{' and '.join(places[:2])} are two places; keep one", AT, places[1])
    if "key" in texts and "cert" not in texts:
        raise file.wrong("key goes with cert", AT, "key")
    if not tls and (odd := [key for key in ("ca", "cert") if key in texts]):
        raise file.wrong(f"{odd[0]} means nothing without TLS; write url with mqtts://", AT, odd[0])
    if prefix := _find_prefix_problem(texts.get("prefix", "midwatch")):
        raise file.wrong(f"prefix {prefix}", AT, "prefix")
    accepted = file.strings(table, ACCEPTED, AT)
    if others := [each for each in accepted if not HOST.fullmatch(each)]:
        raise file.wrong(f"{ACCEPTED}: {others[0]!r} is no name of a host; list the hosts one by one", AT, ACCEPTED)
    found = MqttSettings(host, port, tls, accept_unsigned=accepted, source=f"{file.path}:{file.line((*AT, 'url'))}")
    return found._replace(**texts)  # type: ignore[arg-type]  # all of TEXTS are


def _read_text(file: TomlFile, table: Table, key: str) -> str:
    value = file.string(table, key, AT)
    if not value.strip() or not value.isprintable() or len(value) > LONGEST * 20:
        raise file.wrong(f"{key} must hold plain text", AT, key)
    return value


def _find_prefix_problem(prefix: str) -> str:
    """What is wrong with it: it becomes the beginning of every topic."""
    if any(c in "+#$" for c in prefix) or "" in prefix.split("/"):
        return "is a word, or several with / between them; it holds no + # $"
    if f"/{VERSION}/" in f"/{prefix}/":
        return f"must not hold {VERSION}, which follows it in every topic"
    return f"is longer than {LONGEST} characters" if len(prefix) > LONGEST else ""
