"""Other resources of the stack: objects of their plug-ins' classes, or plain ones for Stoker's own types."""

from __future__ import annotations

from heat.engine.resource import Resource
from heat.engine.rsrc_defn import ResourceDefinition
from stoker.plugins.resource import Neighbour
from stoker.schema.property import Finalizer
from stoker_heat_plugins.known import CLASSES
from stoker_heat_plugins.record import NO_ID, OWN, SECRETS, Record
from stoker_heat_plugins.schema import to_properties


def resource_of(neighbour: Neighbour, stack: object) -> Resource:
    """Return the object of another resource. It may be read, and what it sets is not recorded."""
    kind: type[Resource] = CLASSES.get(neighbour.type, Resource)
    record = Record(
        resource_id=None if neighbour.data.get(NO_ID) else neighbour.physical_id,
        metadata=dict(neighbour.metadata),
        data={key: value for key, value in neighbour.data.items() if not key.startswith(OWN)},
        secrets=dict(neighbour.data.get(SECRETS) or {}),
    )
    schema = to_properties(kind)
    values = Finalizer().properties(schema, neighbour.properties) if schema else dict(neighbour.properties)
    made = kind(
        neighbour.name, ResourceDefinition(neighbour.name, neighbour.type, values, neighbour.metadata, record), stack
    )
    if kind is Resource:
        made.properties = values  # type: ignore[assignment]  # no schema is known
    return made
