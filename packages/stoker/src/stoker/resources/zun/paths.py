"""Where containers are."""

from __future__ import annotations

from urllib.parse import quote

from stoker.plugins.resource import Call

CONTAINERS = "/v1/containers"


def path_of(call: Call, rest: str = "") -> str:
    """Return the path of the container, or of something below it."""
    return f"{CONTAINERS}/{quote(str(call.physical_id), safe='')}{rest}"
