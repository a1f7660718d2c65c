"""OS::Swift::Container"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from urllib.parse import quote, urlsplit

from stoker.base.errors import CloudError, ResourceActionNotSupported
from stoker.plugins.capabilities import ConditionalContent
from stoker.plugins.object_ids import IdScope, ObjectIds
from stoker.plugins.outcome import Done, Failed, InProgress, Outcome
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import AttributeKey, Call, ResourceType, Snapshot
from stoker.resources.base import CLOCK_SKEW, unrecorded, value_at
from stoker.schema.live import LISTED, managed, never, same
from stoker.schema.property import Attribute, Property, Support, Type

_PURGED_AT_ONCE = 50
_LISTING_LAG = 1.0
_CONTAINER_META = "X-Container-Meta"
_ACCOUNT_META = "X-Account-Meta"
_ACCESS = ("X-Container-Read", "X-Container-Write")
_COUNTS = {"ObjectCount": "x-container-object-count", "BytesUsed": "x-container-bytes-used"}
_HEADERS = ("HeadContainer", "show")


class Container(ResourceType, ConditionalContent):
    """A container, whose name is its physical ID. Creating it is idempotent."""

    type_name = "OS::Swift::Container"
    description = "A container of the object store."
    content = "the objects in the container"
    service = "swift"
    roles = ("admin", "swiftoperator", "reselleradmin")
    roles_asked_at = "/"
    live_otherwise = LISTED
    object_ids = ObjectIds(IdScope.PROJECT, "swift containers")
    id_property = "name"
    recovery = Recovery(
        RecoveryMethod.NAME,
        "Names are unique in an account. A container whose name the template gives must also have been made since the "
        "action began, and belong to no other resource.",
    )

    properties = {
        "name": Property(description="Name of the container."),
        "X-Container-Read": Property(description="Access control list for reading."),
        "X-Container-Write": Property(description="Access control list for writing."),
        _CONTAINER_META: Property(Type.MAP, "Metadata of the container.", default={}),
        _ACCOUNT_META: Property(
            Type.MAP,
            "Metadata of the account; it stays when the stack is deleted.",
            default={},
            live=never("the account belongs to the project, not to the container"),
        ),
        "PurgeOnDelete": Property(
            Type.BOOLEAN,
            "Whether objects are deleted with the container, which must be empty otherwise.",
            default=False,
            support=Support(version="2015.1"),
            live=managed("it tells Stoker how to delete the container"),
        ),
    }

    attributes = {
        "DomainName": Attribute("Host of the container's URL.", Type.STRING),
        "WebsiteURL": Attribute("URL of the container.", Type.STRING),
        "RootURL": Attribute("URL of the account.", Type.STRING),
        "ObjectCount": Attribute("Number of objects in the container.", Type.INTEGER),
        "BytesUsed": Attribute("Total size of the objects in bytes.", Type.INTEGER),
        "HeadContainer": Attribute("All headers that Swift returns for the container.", Type.MAP),
    }

    def reference_id(self, resource: Snapshot) -> object:
        return str(resource.physical_id)

    async def find(self, call: Call) -> str | None:
        name = _name(call)
        headers = await _head(call, name)
        if headers is None:
            return None
        if name != call.physical_name and float(headers.get("x-timestamp", 0)) < call.resource.created_at - CLOCK_SKEW:
            return None
        return next(iter(await unrecorded(call, [name])), None)

    def lost_content(self, properties: Mapping[str, object], changed: Collection[str] | None = None) -> str:
        """The deletion of a container with objects fails, unless it is to be purged."""
        purged = self.properties["PurgeOnDelete"].convert(properties.get("PurgeOnDelete", False)) is True
        return self.content if changed is None and purged else ""

    async def create(self, call: Call) -> Outcome:
        if call.physical_id is None:
            properties = call.properties
            if properties[_ACCOUNT_META]:
                headers = _metadata(_ACCOUNT_META, properties[_ACCOUNT_META])
                await call.cloud.post("swift", "/", headers=headers)
            headers = _metadata(_CONTAINER_META, properties[_CONTAINER_META])
            headers |= {name: properties[name] for name in _ACCESS if properties[name] is not None}
            await call.cloud.put("swift", _path(_name(call)), headers=headers)
        return Done(physical_id=_name(call))

    async def delete(self, call: Call) -> Outcome:
        if call.physical_id is None:
            return Done()
        path = _path(call.physical_id)
        answer = await call.cloud.request("DELETE", "swift", path, ok=(404, 409))
        if answer.status != 409:
            return Done()
        if not call.properties["PurgeOnDelete"]:
            raise ResourceActionNotSupported(
                f"The container {call.physical_id} is not empty. Delete its objects, or set PurgeOnDelete."
            )
        params = {"format": "json", "limit": _PURGED_AT_ONCE}
        objects = await call.cloud.get("swift", path, params=params, ok=(404,))
        names = [item["name"] for item in objects] if isinstance(objects, list) else []
        await asyncio.gather(
            *(call.cloud.delete("swift", f"{path}/{quote(name, safe='')}", ok=(404,)) for name in names)
        )
        return InProgress(after=0.0 if names else _LISTING_LAG)

    async def observe(self, call: Call) -> Mapping[str, object] | None:
        headers = await _head(call, str(call.physical_id))
        if headers is None:
            return None
        call.report.compared.update(("name", *_ACCESS, _CONTAINER_META))
        declared = {name: call.properties[name] for name in _ACCESS if call.properties[name] is not None}
        found: dict[str, object] = {
            name: headers.get(name.lower())
            for name, value in declared.items()
            if headers.get(name.lower(), "") != value
        }
        held = {key: value for key, value in headers.items() if key.startswith(_prefix(_CONTAINER_META))}
        sent = {
            key.lower(): value for key, value in _metadata(_CONTAINER_META, call.properties[_CONTAINER_META]).items()
        }
        if not same(sent, held) or (call.gives(_CONTAINER_META) and held.keys() - sent.keys()):
            found[_CONTAINER_META] = {key.removeprefix(_prefix(_CONTAINER_META)): held[key] for key in held}
        return found

    async def check(self, call: Call) -> Outcome:
        if call.physical_id is None or await _head(call, call.physical_id) is None:
            return Failed("the container does not exist", "NotFound")
        return Done()

    async def read_attributes(self, call: Call, keys: Collection[AttributeKey]) -> dict[AttributeKey, object]:
        if call.physical_id is None:
            return dict.fromkeys(keys)
        headers: Mapping[str, str] | None = None
        if any(key[0] in _COUNTS or key[0] in _HEADERS for key in keys):
            try:
                headers = await _head(call, call.physical_id)
            except CloudError:
                headers = None
        root = call.cloud.endpoint("swift").rstrip("/")
        values: dict[str, object] = {
            "DomainName": urlsplit(root).hostname,
            "RootURL": root,
            "WebsiteURL": f"{root}{_path(call.physical_id)}",
            **{name: (headers or {}).get(header) for name, header in _COUNTS.items()},
            **dict.fromkeys(_HEADERS, headers),
        }
        return {key: value_at(values, key) for key in keys}


def _name(call: Call) -> str:
    return str(call.properties["name"] or call.physical_name)


def _path(name: str) -> str:
    return f"/{quote(name, safe='')}"


def _prefix(kind: str) -> str:
    """Return how the names of the headers with such metadata begin, in lower case."""
    return f"{kind.lower()}-"


def _metadata(prefix: str, values: Mapping[str, object]) -> dict[str, str]:
    return {f"{prefix}-{name}": str(value) for name, value in values.items()}


async def _head(call: Call, name: str) -> dict[str, str] | None:
    """Return the headers of a container with lower-case names; None if it does not exist."""
    answer = await call.cloud.request("HEAD", "swift", _path(name), ok=(404,))
    return None if answer.status == 404 else {key.lower(): value for key, value in answer.headers.items()}
