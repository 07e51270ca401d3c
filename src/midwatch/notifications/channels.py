"""Who is to be told, by the settings files as they are now, and whether that file may be used."""

from __future__ import annotations

from midwatch.config import load
from midwatch.config.model import Channel
from midwatch.core.errors import FormatError


def load_channels(project: str) -> tuple[list[Channel], list[str]]:
    """Who is to be told in a project, and which settings files cannot be read: one that is broken stops no other."""
    found: list[Channel] = []
    troubles: list[str] = []
    for path in (load.user_file(), load.project_file(project)):
        try:
            given = load.load_layer(path) or {}
            found += given.get("channels", ())  # type: ignore[arg-type]
        except FormatError as error:
            troubles.append(str(error))
    return found, troubles


def find_trust_problem(channel: Channel) -> str:
    """Why a channel may not be used: the file that it comes from is a project's, and not trusted. Empty if it may."""
    from midwatch.config import trust  # noqa: PLC0415  # whoever only asks whether there is somebody pays nothing

    return trust.find_problem(channel.source.rpartition(":")[0])


def channel_id(channel: Channel) -> str:
    """A name for a channel that gives nothing of it away."""
    import hashlib  # noqa: PLC0415  # as above
    import json  # noqa: PLC0415

    digest = hashlib.sha256(json.dumps(channel.target).encode("utf-8", "surrogateescape")).hexdigest()[:12]
    return f"{channel.kind}-{digest}"
