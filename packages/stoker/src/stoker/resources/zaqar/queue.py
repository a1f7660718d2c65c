"""OS::Zaqar::Queue"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from urllib.parse import quote

from stoker.cloud import messaging
from stoker.plugins.object_ids import IdScope, ObjectIds
from stoker.plugins.outcome import Done, Outcome
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import AttributeKey, Call, ResourceType
from stoker.resources.base import unrecorded, value_at
from stoker.resources.declare import length
from stoker.schema.live import LISTED, same
from stoker.schema.property import Attribute, Change, Property, Support, Type

_LONGEST_NAME = 64


class Queue(ResourceType):
    """A queue, whose name is its physical ID. Zaqar creates queues at their first use, so that a request is needed only
    for metadata.
    """

    type_name = "OS::Zaqar::Queue"
    description = "A queue of messages."
    content = "the messages in the queue"
    service = "zaqar"
    object_ids = ObjectIds(IdScope.PROJECT)
    id_property = "name"
    support = Support(version="2014.2")
    physical_name_limit = _LONGEST_NAME
    live_otherwise = LISTED
    recovery = Recovery(RecoveryMethod.NAME, "The name is the physical ID: creating an existing queue changes nothing.")

    properties = {
        "name": Property(description="Name of the queue.", constraints=length(high=_LONGEST_NAME)),
        "metadata": Property(Type.MAP, "Metadata of the queue.", change=Change.UPDATE),
    }

    attributes = {
        "queue_id": Attribute(
            "ID of the queue.",
            live=True,
            support=Support(
                "HIDDEN",
                version="6.0.0",
                previous=Support("DEPRECATED", version="2015.1", previous=Support(version="2014.1")),
            ),
        ),
        "href": Attribute("URL of the queue."),
    }

    async def find(self, call: Call) -> str | None:
        return next(iter(await unrecorded(call, [_name(call)])), None)

    async def create(self, call: Call) -> Outcome:
        name = _name(call)
        if call.properties["metadata"]:
            await messaging.request(call.cloud, "PUT", messaging.queue_path(name))
            await _set_metadata(call, name, call.properties["metadata"])
        return Done(physical_id=name)

    async def update(self, call: Call) -> Outcome:
        if call.physical_id is not None and call.properties["metadata"] is not None:
            await messaging.request(call.cloud, "PUT", messaging.queue_path(call.physical_id))
            await _set_metadata(call, call.physical_id, call.properties["metadata"])
        return Done()

    async def delete(self, call: Call) -> Outcome:
        if call.physical_id is not None:
            await messaging.delete_queue(call.cloud, call.physical_id)
        return Done()

    async def observe(self, call: Call) -> Mapping[str, object] | None:
        """Compare the metadata; a queue always exists, since it is made when it is used."""
        call.report.compared.add("name")
        declared = call.properties["metadata"]
        if declared is None:
            return {}
        shown = (await messaging.request(call.cloud, "GET", messaging.queue_path(str(call.physical_id)))).body
        call.report.compared.add("metadata")
        held = {key: value for key, value in shown.items() if key in declared or not key.startswith("_")}
        return {} if same(declared, held) and held.keys() == declared.keys() else {"metadata": held}

    async def read_attributes(self, call: Call, keys: Collection[AttributeKey]) -> dict[AttributeKey, object]:
        name = call.physical_id
        if name is None:
            return dict.fromkeys(keys)
        href = f"{call.cloud.endpoint('zaqar').rstrip('/')}/queues/{quote(name, safe='')}"
        shown = (
            (await messaging.request(call.cloud, "GET", messaging.queue_path(name))).body
            if any(key[0] == "show" for key in keys)
            else None
        )
        return {key: value_at({"queue_id": name, "href": href, "show": {"metadata": shown}}, key) for key in keys}


def _name(call: Call) -> str:
    return str(call.properties["name"] or call.physical_name)


async def _set_metadata(call: Call, name: str, metadata: Mapping[str, object]) -> None:
    """Set the queue's metadata; the service's own entries (`_…`) stay."""
    present = (await messaging.request(call.cloud, "GET", messaging.queue_path(name))).body
    changes = [
        {"op": "replace" if key in present else "add", "path": f"/metadata/{key}", "value": value}
        for key, value in metadata.items()
    ]
    gone = [key for key in present if key not in metadata and not key.startswith("_")]
    changes += [{"op": "remove", "path": f"/metadata/{key}"} for key in gone]
    if changes:
        await messaging.request(
            call.cloud, "PATCH", messaging.queue_path(name), headers={"Content-Type": messaging.PATCH}, json=changes
        )
