"""What types need to know when one resource takes another's place: who has an identity, and who holds what is missed.

While a resource is being replaced two of them are recorded under one name, and an object's id may be one that both
bear: a keypair's name, a container's, the two ends of an association.
"""

from __future__ import annotations

from collections.abc import Awaitable

from stoker.base.errors import CloudError
from stoker.base.ids import short_id
from stoker.plugins.outcome import Failed, Outcome
from stoker.plugins.resource import Call
from stoker.resources.base import unrecorded


async def has_passed_on(call: Call, type_name: str) -> bool:
    """Whether another resource of the type, which the stack goes on with, bears this one's id: the object is that
    one's by now, and must stay.
    """
    other = await call.neighbours.by_reference(call.physical_id)
    return other is not None and other.type == type_name and other.data is not call.data


async def conclusive(step: Awaitable[Outcome]) -> Outcome:
    """A step's outcome; a conflict is a failure for good, since nobody is about to resolve it."""
    try:
        return await step
    except CloudError as error:
        if not error.conflict:
            raise
        return Failed(error.message, error.kind)


async def is_recorded(call: Call, physical_id: str) -> bool:
    """Whether an object belongs to a resource, so that nobody else's object is ever touched."""
    return not await unrecorded(call, [physical_id])


def is_named_alike(call: Call, name: str | None) -> bool:
    """Whether an object is called what this resource's object or its replacement is called."""
    stem = call.physical_name.removesuffix(short_id(call.uuid))
    alike = name is not None and len(name) == len(call.physical_name) and name.startswith(stem)
    return alike or name == call.properties.get("name")
