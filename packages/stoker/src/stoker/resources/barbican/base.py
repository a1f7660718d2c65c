"""What objects of the key manager have in common: their IDs are URLs, and nothing of them can be updated."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import ClassVar
from urllib.parse import quote

from stoker.plugins.id_form import IdForm, last_segment
from stoker.plugins.resource import Call
from stoker.resources.base import Collection, RestResource
from stoker.resources.live_values import NotShown, Reader

SERVICE = "barbican"


def collection(kind: str) -> Collection:
    """Return where the objects of a kind (`secret`) are."""
    return Collection(
        SERVICE,
        f"/{kind}s",
        members=f"{kind}s",
        id_field=f"{kind}_ref",
        reason_field="error_reason",
        created_field="created",
        owner=None,
    )


def key_of(reference: object) -> str:
    """Return the ID in a reference, which is the URL of an object under any name of its service."""
    return last_segment(str(reference))


async def _expiration(kind: RestResource, call: Call, shown: Mapping[str, object]) -> object:
    """Return the given time, if the service shows the same moment in another form."""
    given, live = call.properties["expiration"], shown.get("expiration")
    if live is None:
        raise NotShown("the service does not show it")
    try:
        moments = [datetime.fromisoformat(str(time)) for time in (given, live)]
    except ValueError:
        return live
    first, second = (moment if moment.tzinfo else moment.replace(tzinfo=UTC) for moment in moments)
    return given if first == second else live


class KeyManagerObject(RestResource):
    """An object whose physical ID is its URL. Requests use the last segment of it, below the current endpoint."""

    readers: ClassVar[Mapping[str, Reader]] = {"expiration": _expiration}
    id_form = IdForm.URL

    def member_path(self, call: Call) -> str:
        return member_path(f"{self.collection.path}/", call.physical_id)

    def why(self, shown: Mapping[str, object]) -> str | None:
        reason, code = shown.get("error_reason"), shown.get("error_status_code")
        return f"{reason} (status code {code})" if code else super().why(shown)

    def made_by(self, call: Call, body: Mapping[str, object], item: Mapping[str, object]) -> bool:
        return super().made_by(call, {key: value for key, value in body.items() if key != "expiration"}, item)


def member_path(prefix: str, reference: object) -> str:
    """Return the path of the object that a reference names."""
    return f"{prefix}{quote(key_of(reference), safe='')}"


async def payload(call: Call, reference: object) -> str | None:
    """Return the payload of a secret, None when it has none; a payload that is not in UTF-8 is encoded in base64."""
    path = member_path("/secrets/", reference)
    described = await call.cloud.get(SERVICE, path)
    kind = (described.get("content_types") or {}).get("default")
    if kind is None:
        return None
    answer = await call.cloud.request("GET", SERVICE, f"{path}/payload", headers={"Accept": kind})
    try:
        return answer.content.decode()
    except UnicodeDecodeError:
        return base64.b64encode(answer.content).decode()
