"""Objects of a project that have a name which Stoker has chosen, and that belong to no resource of any stack.

A name alone proves nothing: it only has the form of those that Stoker chooses. An object counts if the record names it,
too: an event of a stack of the project has its ID or its name, or a resource of the project has its mark. Nothing is
changed, each collection is listed once, and what cannot be read is reported as unknown.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from http import HTTPStatus
from itertools import chain

from sqlalchemy import Connection

from stoker.base.errors import CloudError
from stoker.base.ids import has_short_id, short_id
from stoker.cloud.session import Cloud
from stoker.cloud.time_limited import TimeLimitedCloud
from stoker.engine.inspection.survey import offered_lists
from stoker.plugins.listing import CollectionLocation
from stoker.plugins.resource import ResourceType
from stoker.store import marked_objects
from stoker.store.database import Database
from stoker.store.marked_objects import MarkedResource, NamingEvent


class Orphaned(StrEnum):
    """What is known about an object, or about all objects of a type."""

    ORPHANED = "orphaned"
    UNKNOWN = "unknown"


class OrphanReason(StrEnum):
    """Why an object is in the result."""

    UNREADABLE = "unreadable"
    """The service did not list the objects."""
    IN_PROGRESS = "in-progress"
    """An operation is in progress on the stack of the resource, which may get the object."""
    UNPROVEN = "unproven"
    """Its name has the form of those that Stoker chooses, but nothing in the record names it."""
    SECOND = "second"
    """The resource has another object."""
    LEFT = "left"
    """The resource, or its stack, does not exist any more, or has left the object."""


@dataclass(frozen=True, slots=True)
class Orphan:
    """An object without an owner, or one of which that is unknown; `physical_id` is empty for all objects of a type.

    `resource`, `stack` and `stack_id` are those that had the object last, as far as the record tells.
    """

    status: Orphaned
    why: OrphanReason
    type: str
    physical_id: str = ""
    name: str = ""
    resource: str = ""
    stack: str = ""
    detail: str = ""


_Record = tuple[list[MarkedResource], set[str], Mapping[str, NamingEvent]]


async def orphans_of(
    database: Database, cloud: Cloud, project_id: str, kinds: Mapping[str, ResourceType], seconds: float
) -> list[Orphan]:
    """Return the orphans of a project, as far as the types and the cloud's user allow to see them.

    `seconds` is how long all lists together may take; those that are late are unknown.
    """
    before = await database.read(marked_objects.resources_of, project_id)
    types = [kind for name, kind in kinds.items() if name == kind.type_name]
    time_limited = TimeLimitedCloud(cloud, seconds)
    services = _by_service(types).values()
    answers = await asyncio.gather(*(_listed_by_service(time_limited, each, project_id) for each in services))
    found = list[Orphan]()
    candidates = list[tuple[str, str, str]]()
    for listing, answer in chain.from_iterable(answers):
        type_name = _type_of(types, listing)
        if isinstance(answer, CloudError):
            found.append(Orphan(Orphaned.UNKNOWN, OrphanReason.UNREADABLE, type_name, detail=answer.message))
        else:
            candidates += ((type_name, identifier, name) for identifier, name in answer if has_short_id(name))

    def recorded(connection: Connection) -> _Record:
        texts = {text for _, identifier, name in candidates for text in (identifier, name)}
        return (
            marked_objects.resources_of(connection, project_id),
            marked_objects.recorded_ids(connection, [identifier for _, identifier, _ in candidates]),
            marked_objects.naming_events(connection, project_id, texts),
        )

    now, owned, naming_events = await database.read(recorded)
    owned |= {each.physical_id for each in before if each.physical_id is not None}
    marks = {short_id(each.uuid): each for each in (*before, *now)}
    busy = {each.stack for each in (*before, *now) if each.busy}
    for type_name, identifier, name in candidates:
        if identifier not in owned:
            event = naming_events.get(identifier) or naming_events.get(name)
            found.append(_classified(type_name, identifier, name, marks.get(name.rpartition("-")[2]), event, busy))
    return sorted(found, key=lambda each: (each.status, each.type, each.name, each.physical_id))


def _classified(
    type_name: str,
    identifier: str,
    name: str,
    resource: MarkedResource | None,
    event: NamingEvent | None,
    busy: set[str],
) -> Orphan:
    """Return what the record says about an object that no resource has."""
    if resource is not None:
        unfinished = resource.physical_id is None or resource.stack in busy
        status, why = (
            (Orphaned.UNKNOWN, OrphanReason.IN_PROGRESS) if unfinished else (Orphaned.ORPHANED, OrphanReason.SECOND)
        )
        return Orphan(status, why, type_name, identifier, name, resource.name, resource.stack)
    if event is None:
        return Orphan(Orphaned.UNKNOWN, OrphanReason.UNPROVEN, type_name, identifier, name)
    if event.stack in busy and not event.deleted:
        return Orphan(
            Orphaned.UNKNOWN, OrphanReason.IN_PROGRESS, event.type, identifier, name, event.resource, event.stack
        )
    return Orphan(Orphaned.ORPHANED, OrphanReason.LEFT, event.type, identifier, name, event.resource, event.stack)


def _by_service(kinds: Iterable[ResourceType]) -> dict[str, list[ResourceType]]:
    services = dict[str, list[ResourceType]]()
    for kind in kinds:
        if kind.listed is not None:
            services.setdefault(kind.listed.service, []).append(kind)
    return services


async def _listed_by_service(
    cloud: TimeLimitedCloud, kinds: Iterable[ResourceType], project_id: str
) -> list[tuple[CollectionLocation, list[tuple[str, str]] | CloudError]]:
    """Return what a service lists of the types: the IDs and names of each collection, or why it cannot be read.

    A service that answers knows what it has: a collection that it does not find is not offered, and has no objects.
    """
    named = [listing async for listing in offered_lists(cloud, kinds, ()) if listing.name_field is not None]
    answers = await asyncio.gather(*(_listed(cloud, listing, project_id) for listing in named))
    here = any(not isinstance(answer, CloudError) for answer in answers)
    responses = zip(named, answers, strict=True)
    return [(listing, answer) for listing, answer in responses if not (here and _is_not_found(answer))]


def _is_not_found(answer: object) -> bool:
    return isinstance(answer, CloudError) and answer.status == HTTPStatus.NOT_FOUND


async def _listed(
    cloud: TimeLimitedCloud, listing: CollectionLocation, project_id: str
) -> list[tuple[str, str]] | CloudError:
    """Return the IDs and names of a collection, or why it cannot be read."""
    params = {listing.owner: project_id} if listing.owner else None
    try:
        items = await cloud.list(listing.service, listing.path, listing.members, params)
    except CloudError as error:
        return error
    return list(_parts(listing, items))


def _parts(listing: CollectionLocation, items: Iterable[object]) -> Iterator[tuple[str, str]]:
    for item in items:
        if (parts := listing.parts(item)) is not None:
            yield parts


def _type_of(kinds: Iterable[ResourceType], listing: CollectionLocation) -> str:
    """Return the type whose objects are in a list, one of OpenStack if there are others."""
    names = [kind.type_name for kind in kinds if kind.listed == listing]
    return min(names, key=lambda name: (not name.startswith("OS::"), name))
