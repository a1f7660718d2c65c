"""Which objects the resources of a stack own (see `stoker.store.ownership`).

A resource claims its object when its ID is recorded. One with an `external_id` only refers to an object, and types
whose IDs identify no object of their own claim nothing. What resources own that an earlier release has recorded is
examined when an engine starts.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

from sqlalchemy import Connection

from stoker.engine.records.services import EngineServices, RecordingServices
from stoker.engine.records.stack_view import read_untyped
from stoker.engine.records.state import ResourceState
from stoker.plugins.object_ids import ObjectIds
from stoker.plugins.resource import ResourceType
from stoker.store import ownership
from stoker.store.journal import Batch
from stoker.store.ownership import Owned, double, key_of, nothing
from stoker.store.records import Resource, Stack
from stoker.template.registry import is_template_name

LOG = logging.getLogger(__name__)


class Grant(NamedTuple):
    """What a resource owns once a batch is committed, with the ID that is recorded then."""

    state: ResourceState
    physical_id: str | None
    ownership: str | None


def owned_by(state: ResourceState, stack: Stack) -> Owned | None:
    """Return the claim of a resource to its object; None if it owns none."""
    row = state.row
    if row.physical_id is None or state.stored.definition.get("external_id") is not None:
        return None
    key = _key_of(state.type, row.physical_id, stack.project_id, stack.user_id, state.properties)
    return None if key is None else Owned(key, row.physical_id, row.uuid, row.type)


def claim_of(
    kind: ResourceType,
    physical_id: str,
    project_id: str,
    user_id: str | None,
    properties: Mapping[str, object] = MappingProxyType({}),
) -> Owned | None:
    """Return the claim of a resource of this owner that is not recorded yet; None if the type has no own objects."""
    key = _key_of(kind, physical_id, project_id, user_id, properties)
    return None if key is None else Owned(key, physical_id, "", kind.type_name)


def _key_of(
    kind: ResourceType, physical_id: str, project_id: str, user_id: str | None, properties: Mapping[str, object]
) -> str | None:
    ids = kind.object_ids or (ObjectIds() if kind.id_is_new else None)
    if ids is None or kind.local or kind.nested:
        return None
    listed = f"{kind.listed.service} {kind.listed.path}" if kind.listed is not None else kind.type_name
    return key_of(ids.kind or listed, ids.scope(project_id, user_id, properties), physical_id)


def claim(
    batch: Batch,
    acquired: Iterable[tuple[Resource, ResourceState]],
    of_name: Callable[[str], Iterable[ResourceState]],
    stack: Stack,
) -> list[Grant]:
    """Add to a batch the claims to the objects whose IDs it records: `acquired` are the rows of resources with other
    IDs, each with its state, `of_name` returns the resources of the stack that have a name, earlier ones among them.

    Return what the resources own when the batch is committed.
    """
    grants: list[Grant] = []
    for row, state in acquired:
        owned = owned_by(state, stack)
        if owned is None:
            grants.append(Grant(state, row.physical_id, nothing(row.uuid) if row.physical_id else None))
            continue
        former = [
            other for other in of_name(row.name) if other.row.ownership == owned.key and other.row.uuid != row.uuid
        ]
        grants += [Grant(other, other.recorded_id, double(owned.key, other.row.uuid)) for other in former]
        grants.append(Grant(state, row.physical_id, owned.key))
        batch.claims.append(replace(owned, instead=frozenset(other.row.uuid for other in former)) if former else owned)
    granted = {grant.state.row.uuid: grant.ownership for grant in grants}
    for written in (*batch.added, *batch.changed):
        if isinstance(written, Resource) and written.uuid in granted:
            written.ownership = granted[written.uuid]
    return grants


async def examine_earlier_records(services: RecordingServices) -> None:
    """Record what resources own that earlier releases have recorded, and report doubles.

    Of two resources with one object, the one of the older stack owns it. A double whose owner is gone owns it then.
    """
    for stack in await services.database.read(ownership.unexamined_stacks):
        found = await services.database.read(_owned_in, services, stack)
        await services.journal.commit(Batch().then(partial(ownership.record_earlier, found=found)))
    await services.journal.commit(Batch().then(ownership.promote))
    for second, owner in await services.database.read(ownership.duplicates):
        LOG.warning(
            "The resources %s of the stack %s (%s) and %s of the stack %s (%s) have the same object, which belongs to "
            "the latter: an earlier release permitted that. `stoker db doubles` lists them",
            second.name, second.stack, second.stack_id, owner.name, owner.stack, owner.stack_id,
        )  # fmt: skip


def _owned_in(connection: Connection, services: EngineServices, stack: Stack) -> dict[str, Owned | None]:
    """Return the claims of a stack's resources that were not examined, by UUID.

    Resources whose plug-in is missing are examined when it is there. Those of a template own no object.
    """
    found: dict[str, Owned | None] = {}
    for state in read_untyped(connection, services, {stack.id: stack.name})[stack.id]:
        if state.row.physical_id is None or state.row.ownership is not None:
            continue
        state.type = services.types.recorded(state, {})
        if state.type is services.types.missing and not is_template_name(state.implementation):
            continue
        found[state.row.uuid] = owned_by(state, stack)
    return found
