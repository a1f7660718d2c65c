"""Replacement of a resource: which of the two resources owns an object or an address.

While a resource is being replaced, two resources are recorded under one name, and both may have the same physical ID:
a keypair's name, a container's name, the two ends of an association.
"""

from __future__ import annotations

from collections.abc import Awaitable

from stoker.base.errors import CloudError
from stoker.base.ids import short_id
from stoker.plugins.outcome import Failed, Outcome
from stoker.plugins.resource import Call
from stoker.resources.base import unrecorded


async def belongs_to_successor(call: Call, type_name: str) -> bool:
    """Return whether another resource of the type, which stays in the stack, has this one's physical ID: the object
    now belongs to that resource, and must not be deleted.
    """
    other = await call.engine.neighbours.by_reference(call.physical_id)
    return other is not None and other.type == type_name and other.data is not call.data


async def conclusive(step: Awaitable[Outcome]) -> Outcome:
    """Return a step's outcome; a conflict is a permanent failure, since a retry would meet it again."""
    try:
        return await step
    except CloudError as error:
        if not error.conflict:
            raise
        return Failed(error.message, error.kind)


async def is_recorded(call: Call, physical_id: str) -> bool:
    """Return whether an object belongs to a recorded resource, so that no foreign object is ever changed."""
    return not await unrecorded(call, [physical_id])


def has_same_name(call: Call, name: str | None) -> bool:
    """Return whether an object has the name of this resource's object or of its replacement."""
    stem = call.physical_name.removesuffix(short_id(call.resource.uuid))
    alike = name is not None and len(name) == len(call.physical_name) and name.startswith(stem)
    return alike or name == call.properties.get("name")
