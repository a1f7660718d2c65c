"""Building the `Call` that a resource type's method is entered with."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any
from uuid import UUID

from stoker.base.errors import CloudError
from stoker.cloud.session import Cloud
from stoker.engine.children import Child
from stoker.engine.configs import StoredConfigs
from stoker.engine.decide import finalized
from stoker.engine.neighbours import StackNeighbours
from stoker.engine.state import ResourceState
from stoker.plugins.resource import Call
from stoker.schema.property import Property
from stoker.store import queries

if TYPE_CHECKING:
    from stoker.engine.stack_context import StackContext


async def make_call(run: StackContext, state: ResourceState) -> Call:
    """Everything that one entry into a method may need. Raises CloudError when a name cannot be looked up."""
    cloud = await run.cloud()
    before = finalized(state.type, state.former) if state.row.former_properties else None
    acting = state.row.action in ("CREATE", "UPDATE")
    properties = await (translate if acting else translate_known)(
        state.type.properties, finalized(state.type, state.given), cloud
    )
    if before is not None:
        before = await translate_known(state.type.properties, before, cloud)
    engine = run.engine
    row = state.row
    stored = state.stored
    return Call(
        name=row.name,
        uuid=row.uuid,
        type=row.type,
        action=row.action,
        physical_name=state.physical_name,
        physical_id=row.physical_id,
        properties=properties,
        previous=before,
        changed={} if before is None else _differences(before, properties),
        data=stored.data,
        progress=stored.progress,
        metadata=stored.metadata,
        stack=run.facts,
        cloud=cloud,
        child=Child(run, state),
        neighbours=StackNeighbours(run.current),
        configs=StoredConfigs(engine, run.stack.project_id),
        started_at=row.started_at or engine.clock.now(),
        now=engine.clock.now(),
        update_policy=stored.definition.get("update_policy", {}),
        unrecorded=Unrecorded(run),
    )


def _differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in after.items() if before.get(name) != value}


class Unrecorded:
    """Which objects no resource is recorded for."""

    def __init__(self, run: StackContext) -> None:
        self._run = run

    async def __call__(self, physical_ids: Collection[str]) -> set[str]:
        recorded = await self._run.engine.database.read(queries.recorded_ids, list(physical_ids))
        mine = {state.row.physical_id for state in self._run.states.values()}
        return set(physical_ids) - recorded - mine


async def translate(schema: Mapping[str, Property], values: Mapping[str, Any], cloud: Cloud) -> dict[str, Any]:
    """Values with names turned into ids wherever the schema asks for it. Raises CloudError for an unknown name."""
    return {
        name: await _translated(schema[name], value, cloud) if name in schema else value
        for name, value in values.items()
    }


async def translate_known(schema: Mapping[str, Property], values: Mapping[str, Any], cloud: Cloud) -> Mapping[str, Any]:
    """As `translate` for former values, whose names may be gone by now: those stay as they are."""
    try:
        return await translate(schema, values, cloud)
    except CloudError:
        return values


async def _translated(prop: Property, value: Any, cloud: Cloud) -> Any:
    if value is None or value == "":
        return value
    if prop.schema is not None and isinstance(value, Mapping):
        return await translate(prop.schema, value, cloud)
    if prop.items is not None and isinstance(value, list):
        return [await _translated(prop.items, item, cloud) for item in value]
    if prop.resolve is not None and isinstance(value, str) and not _is_uuid(value):
        return await cloud.find(prop.resolve, value)
    return value


def _is_uuid(value: str) -> bool:
    """An id needs no look-up: the service itself says when it does not know it."""
    try:
        UUID(value)
    except ValueError:
        return False
    return True
