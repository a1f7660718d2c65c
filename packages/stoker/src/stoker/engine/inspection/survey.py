"""What the cloud has of all stacks: objects that nobody owns, and recorded objects that are gone. Nothing is changed.

Each collection is listed once in each project. An object that the record has and the list lacks is asked for, since a
list shows what a service lets the caller see. What cannot be read is reported as unknown.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from stoker.base.errors import CloudError, StokerError
from stoker.base.ids import has_short_id, short_id
from stoker.cloud.session import Cloud
from stoker.cloud.time_limited import TimeLimitedCloud
from stoker.engine.records.services import EngineServices
from stoker.plugins.listing import CollectionLocation
from stoker.plugins.live_values import has_object
from stoker.plugins.resource import ResourceType
from stoker.store import recorded_objects
from stoker.store.mark_records import ShownId
from stoker.store.recorded_objects import Owner, RecordedObject, RecordedObjects
from stoker.store.records import COMPLETE

_NO_LIST = "no list of a service has these objects; `stoker drift` reads them"
_NO_CREDENTIAL = "no stack of this project has a credential"


class Presence(StrEnum):
    """What a service says about an object."""

    EXISTS = "exists"
    ABSENT = "absent"
    UNKNOWN = "unknown"


class Finding(StrEnum):
    """What the comparison of the record with the cloud has found."""

    ORPHANED = "orphaned"
    """The object has a name that Stoker chooses, and no resource has it."""
    LOST = "lost"
    """A resource has the object, which does not exist."""
    UNKNOWN = "unknown"
    """The objects could not be read."""


@dataclass(frozen=True, slots=True)
class Found:
    """A finding about an object, or about all objects of a type (UNKNOWN, with the `reason`).

    `stack` and `stack_id` are those of the root of the tree, `resource` the name of the resource; empty if not known.
    """

    finding: Finding
    project_id: str
    type: str
    physical_id: str = ""
    stack: str = ""
    stack_id: str = ""
    resource: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ExpectedObject:
    """An object that is looked for besides the recorded ones: its project, type and ID."""

    project_id: str
    type: str
    physical_id: str


@dataclass(frozen=True, slots=True)
class SurveyResult:
    """The findings, and what the cloud says about the objects that were sought."""

    found: tuple[Found, ...]
    sought: Mapping[ExpectedObject, Presence]


_Place = tuple[str, CollectionLocation]
"""A project and a list in it."""


async def survey(services: EngineServices, shown: ShownId, sought: Collection[ExpectedObject] = ()) -> SurveyResult:
    """Compare all recorded objects with the cloud. `shown` is how IDs that users have chosen are shown."""
    return await _Survey(services, shown, frozenset(sought)).run()


class _Survey:
    def __init__(self, services: EngineServices, shown: ShownId, sought: frozenset[ExpectedObject]) -> None:
        self._services = services
        self._shown = shown
        self._sought = sought
        self._clouds: dict[str, Cloud] = {}
        self._listed: dict[_Place, dict[str, str]] = {}
        self._unread: dict[_Place, str] = {}
        self._unlisted = defaultdict[tuple[str, str, str], set[str]](set)
        self._found: list[Found] = []

    async def run(self) -> SurveyResult:
        before = await self._services.database.read(recorded_objects.everything)
        projects = sorted(
            {owner.project_id for owner in before.owners.values()} | {it.project_id for it in self._sought}
        )
        needed = self._needed_lists(before)
        await asyncio.gather(*(self._read_project(project, before.owners, needed[project]) for project in projects))
        # What was made or deleted meanwhile is in one of the two records.
        now = await self._services.database.read(recorded_objects.everything)
        self._found += self._orphaned(before, now)
        await asyncio.gather(
            *(self._compare(each, now.owners[each.stack]) for each in now.objects if each.stack in now.owners)
        )
        self._found += [
            Found(Finding.UNKNOWN, project, ", ".join(sorted(types)), "", root, root_id, "", _NO_LIST)
            for (project, root, root_id), types in self._unlisted.items()
        ]
        presences = await asyncio.gather(*map(self._presence, self._sought))
        found = sorted(
            set(self._found), key=lambda each: (each.project_id, each.stack, each.finding, each.type, each.physical_id)
        )
        return SurveyResult(tuple(found), dict(zip(self._sought, presences, strict=True)))

    # -- reading ----------------------------------------------------------------------------------------------

    def _needed_lists(self, recorded: RecordedObjects) -> Mapping[str, set[CollectionLocation]]:
        """Return the lists with objects that are recorded or sought, by project."""
        places = [
            (recorded.owners[each.stack].project_id, each.type)
            for each in recorded.objects
            if each.stack in recorded.owners
        ]
        places += [(each.project_id, each.type) for each in self._sought]
        found = defaultdict[str, set[CollectionLocation]](set)
        for project, type_name in places:
            if (listing := self._listing(type_name)) is not None:
                found[project].add(listing)
        return found

    def _listing(self, type_name: str) -> CollectionLocation | None:
        kind = self._services.types.registry.types.get(type_name)
        return kind.listed if kind is not None else None

    async def _read_project(
        self, project: str, owners: Mapping[str, Owner], needed: Collection[CollectionLocation]
    ) -> None:
        try:
            cloud = await self._services.credentials.of_project(
                project, [owner.credential for owner in owners.values() if owner.project_id == project]
            )
            if cloud is not None:
                self._clouds[project] = cloud
                listings = [each async for each in offered_lists(cloud, self._kinds(), needed)]
            reason = _NO_CREDENTIAL
        except StokerError as error:
            self._clouds.pop(project, None)
            reason = error.message
        if project not in self._clouds:
            self._unread |= {(project, listing): reason for listing in needed}
            self._found.append(Found(Finding.UNKNOWN, project, "", reason=reason))
            return
        await asyncio.gather(*(self._read(project, listing) for listing in listings))

    def _types_of(self, listing: CollectionLocation) -> list[str]:
        """Return the names of the types whose objects are in a list, those of OpenStack first."""
        names = [kind.type_name for kind in self._kinds() if kind.listed == listing]
        return sorted(names, key=lambda name: (not name.startswith("OS::"), name))

    def _kinds(self) -> Iterator[ResourceType]:
        return iter(self._services.types.registry.types.values())

    async def _read(self, project: str, listing: CollectionLocation) -> None:
        cloud = self._clouds[project]
        params = {listing.owner: project} if listing.owner else None
        try:
            items = await cloud.list(listing.service, listing.path, listing.members, params)
        except StokerError as error:
            self._unread[project, listing] = error.message
            types = ", ".join(self._types_of(listing))
            self._found.append(Found(Finding.UNKNOWN, project, types, reason=error.message))
            return
        self._listed[project, listing] = dict(filter(None, map(listing.parts, items)))

    # -- comparing --------------------------------------------------------------------------------------------

    def _orphaned(self, before: RecordedObjects, recorded: RecordedObjects) -> Iterator[Found]:
        """Yield the listed objects that no resource has and whose name has the form of a physical name."""
        objects = (*before.objects, *recorded.objects)
        known = {each.physical_id for each in objects}
        named = {short_id(each.uuid): each for each in objects}
        for (project, listing), items in self._listed.items():
            for identifier, name in items.items():
                if identifier in known or not has_short_id(name):
                    continue
                resource = named.get(name.rpartition("-")[2])
                if resource is None:
                    kind = self._types_of(listing)[0]
                    yield Found(Finding.ORPHANED, project, kind, identifier, reason=f"its name is {name}")
                elif resource.physical_id is not None and self._listing(resource.type) == listing:
                    owner = recorded.owners.get(resource.stack)
                    stack, stack_id = (owner.root, owner.root_id) if owner else ("", "")
                    reason = f"the object of the resource is {resource.physical_id}"
                    yield Found(
                        Finding.ORPHANED, project, resource.type, identifier, stack, stack_id, resource.name, reason
                    )

    async def _compare(self, each: RecordedObject, owner: Owner) -> None:
        """Note an object that is gone, or is not known to exist."""
        kind = self._services.types.registry.types.get(each.type)
        outside = kind is None or has_object(kind)
        if each.physical_id is None or each.status != COMPLETE or each.action == "DELETE" or not outside:
            return
        note = partial(Found, project_id=owner.project_id, type=each.type, stack=owner.root, stack_id=owner.root_id)
        if kind is None or kind.listed is None:
            self._unlisted[owner.project_id, owner.root, owner.root_id].add(each.type)
            return
        place = owner.project_id, kind.listed
        if place in self._unread or each.physical_id in self._listed.get(place, {}):
            return
        identifier = self._shown(each.type, each.uuid, each.physical_id)
        note = partial(note, physical_id=identifier, resource=each.name)
        try:
            cloud = await self._services.credentials.of_record(owner.credential)
            if not await _exists(cloud, kind, kind.listed, each.physical_id):
                self._found.append(note(Finding.LOST))
        except StokerError as error:
            self._found.append(note(Finding.UNKNOWN, reason=error.message))

    async def _presence(self, each: ExpectedObject) -> Presence:
        kind = self._services.types.registry.types.get(each.type)
        if kind is None or (listing := kind.listed) is None or (each.project_id, listing) not in self._listed:
            return Presence.UNKNOWN
        if each.physical_id in self._listed[each.project_id, listing]:
            return Presence.EXISTS
        if listing.personal:
            return Presence.UNKNOWN
        try:
            exists = await _exists(self._clouds[each.project_id], kind, listing, each.physical_id)
        except StokerError:
            return Presence.UNKNOWN
        return Presence.EXISTS if exists else Presence.ABSENT


async def offered_lists(
    cloud: Cloud | TimeLimitedCloud, kinds: Iterable[ResourceType], locations: Collection[CollectionLocation]
) -> AsyncIterator[CollectionLocation]:
    """Yield each list in which objects of stacks can be: the given ones, and those that the cloud offers to anybody.

    A list without names says only whether known objects exist. One of a service that does not tell its extensions
    counts as offered: the answer to its request says more.
    """
    seen = set[CollectionLocation]()
    for kind in kinds:
        listing = kind.listed
        if listing is None or listing in seen:
            continue
        if listing not in locations:
            if kind.for_administrators or listing.name_field is None or not cloud.has_service(listing.service):
                continue
            if kind.extension is not None and not await _may_have(cloud, listing.service, kind.extension):
                continue
        seen.add(listing)
        yield listing


async def _may_have(cloud: Cloud | TimeLimitedCloud, service: str, extension: str) -> bool:
    try:
        return await cloud.has_extension(service, extension)
    except CloudError:
        return True


async def _exists(cloud: Cloud, kind: ResourceType, listing: CollectionLocation, physical_id: str) -> bool:
    """Ask for one object. Raises StokerError, also if the answer proves nothing."""
    named = kind.id_form.in_requests(physical_id)
    answer = await cloud.request("GET", listing.service, listing.path_of(named or physical_id), ok=(404,))
    return answer.status != 404
