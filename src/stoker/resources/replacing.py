"""What types need to know when one resource takes another's place: who has an identity, and who holds what is missed.

While a resource is being replaced two of them are recorded under one name, and an object's id may be one that both
bear: a keypair's name, a container's, the two ends of an association.
"""

from __future__ import annotations

from stoker.base.ids import short_id
from stoker.plugins.resource import Call
from stoker.resources.base import unrecorded


async def has_passed_on(call: Call) -> bool:
    """Whether another resource that the stack goes on with bears this one's id: the object is that one's by now."""
    other = await call.neighbours.by_reference(call.physical_id)
    return other is not None and other.data is not call.data


async def is_recorded(call: Call, physical_id: str) -> bool:
    """Whether an object belongs to a resource, so that nobody else's object is ever touched."""
    return not await unrecorded(call, [physical_id])


def is_named_alike(call: Call, name: str | None) -> bool:
    """Whether an object is called what this resource's object or its replacement is called."""
    stem = call.physical_name.removesuffix(short_id(call.uuid))
    alike = name is not None and len(name) == len(call.physical_name) and name.startswith(stem)
    return alike or name == call.properties.get("name")
