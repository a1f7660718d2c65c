"""Read the objects of a project: which there are, and why some of them become no resources.

Each collection is read with one list, whose pages follow each other; a collection inside another object with one for
each of these. Nothing is recorded or changed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from stoker.base.errors import CloudError, RequestLimitExceeded
from stoker.cloud.session import Cloud
from stoker.cloud.time_limited import TimeLimitedCloud
from stoker.engine.records.object_owners import claim_of
from stoker.plugins.inventory import Inventory, inventory_of
from stoker.plugins.resource import ResourceType
from stoker.store.database import Database
from stoker.store.ownership import Holder, holder_of, holders

MOST = 5000
"""Maximum number of objects that a scan reads."""
LONGEST = 50.0
"""Seconds after which a scan ends without a result: before the API process gives up waiting for it."""
_LISTS = 0.6
"""The part of this time within which lists must be complete; those that are not count as unread."""
_NARROW = "name the types, a tag or a pattern of names to scan less"

_Selects = Callable[["Found"], bool]
_Progress = Callable[[int, int], Awaitable[None]]
"""Receives how many types and objects have been read."""
_Related = Mapping[str, list[Any]]


@dataclass(frozen=True, slots=True)
class Scanned:
    """A type whose objects are read; `is_requested` tells whether they may become resources, or only contain others."""

    kind: ResourceType
    inventory: Inventory
    is_requested: bool

    @property
    def container(self) -> str | None:
        """The property that names what contains the objects; None if they are in no other object."""
        _, brace, rest = self.inventory.path.partition("{")
        return rest.partition("}")[0] if brace else None

    @property
    def outer(self) -> str | None:
        """What finds the objects with which those of the type are scanned; None if they are scanned by themselves."""
        name = self.container or self.inventory.follows
        return self.kind.properties[name].reference if name else None


@dataclass(slots=True, eq=False)
class Found:
    """An object of a project. `inside` is the object that contains it, `owner` the resource that owns it, `reason` why
    it becomes no resource ("" if it does).
    """

    scanned: Scanned
    id: str
    name: str
    fields: Mapping[str, Any]
    inside: Found | None = None
    owner: Holder | None = None
    reason: str = ""

    @property
    def type_name(self) -> str:
        """The type of the resource that has the object, or would have it."""
        return self.scanned.kind.type_name

    @property
    def order(self) -> tuple[str, str, str]:
        """What objects are sorted by, so that equal projects have equal templates."""
        return self.type_name, self.name, self.id


@dataclass(frozen=True, slots=True)
class Unread:
    """A list that a service did not answer, or refused: whether there are objects of these types is not known."""

    types: tuple[str, ...]
    service: str
    reason: str


@dataclass(slots=True)
class Scan:
    """The objects that were found, in no particular order, and what could not be read."""

    found: list[Found] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)


def scanned_types(types: Mapping[str, ResourceType], requested: Collection[str], project_id: str) -> list[Scanned]:
    """Return those of the requested types that can be scanned, with the types of what contains their objects."""
    known = {name: found for name, kind in types.items() if (found := inventory_of(kind, project_id)) is not None}
    chosen = {name: Scanned(types[name], known[name], is_requested=True) for name in known if name in requested}
    finders = {inventory.finder: name for name, inventory in known.items() if inventory.finder is not None}
    for each in list(chosen.values()):
        outer = finders.get(each.outer) if each.outer is not None else None
        if outer is not None and outer not in chosen:
            chosen[outer] = Scanned(types[outer], known[outer], is_requested=False)
    return [chosen[name] for name in sorted(chosen)]


async def _unreported(types: int, objects: int) -> None:
    """Report nothing."""


async def scan(
    cloud: Cloud,
    scanned: Iterable[Scanned],
    selects: _Selects,
    *,
    progress: _Progress = _unreported,
    longest: float = LONGEST,
) -> Scan:
    """Read the objects. `selects` says whether an object that no other contains was asked for.

    Raises RequestLimitExceeded for more than `MOST` objects, or after `longest` seconds.
    """
    reading = _Reading(cloud, selects, progress, TimeLimitedCloud(cloud, _LISTS * longest))
    try:
        async with asyncio.timeout(longest):
            return await reading.read(list(scanned))
    except TimeoutError:
        raise RequestLimitExceeded(
            f"The project could not be scanned within {longest:.0f} seconds: {_NARROW}."
        ) from None


class _Reading:
    """One scan, which reads each list once."""

    def __init__(self, cloud: Cloud, selects: _Selects, progress: _Progress, time_limited: TimeLimitedCloud) -> None:
        self._cloud = cloud
        self._time_limited = time_limited
        self._selects = selects
        self._progress = progress
        self._lists: dict[tuple[object, ...], asyncio.Task[list[object]]] = {}
        self._scan = Scan()
        self._number = 0
        self._others: dict[str, Found] = {}
        self._failed: dict[str | None, CloudError] = {}

    async def read(self, scanned: list[Scanned]) -> Scan:
        """Read the objects of types in turn: those that contain others before these."""
        left = [each for each in scanned if self._cloud.has_service(each.inventory.service)]
        done = len(scanned) - len(left)
        outer: dict[str | None, dict[str, Found]] = {None: {}}
        try:
            while left:
                ready = [each for each in left if each.outer in outer] or left
                left = [each for each in left if each not in ready]
                groups = await asyncio.gather(*(self._objects(each, outer.get(each.outer, {})) for each in ready))
                for each, group in zip(ready, groups, strict=True):
                    outer.setdefault(each.inventory.finder, {}).update((found.id, found) for found in group)
                done += len(ready)
                await self._progress(done, self._number)
        finally:
            for task in self._lists.values():
                task.cancel()
        self._scan.found += self._parts()
        self._scan.unread = _merged(self._scan.unread)
        return self._scan

    def _parts(self) -> list[Found]:
        """Return the objects that were not asked for and belong to others that were: the ports of servers."""
        found: list[Found] = []
        for whole in self._scan.found:
            if (related := whole.scanned.inventory.related) is not None:
                names = (str(item.get("id")) for item in whole.fields[related.key])
                found += [self._others.pop(name) for name in names if name in self._others]
        return found

    async def _objects(self, scanned: Scanned, outer: Mapping[str, Found]) -> list[Found]:
        """Return the selected objects of a type. `outer` are those, by ID, with which these are scanned."""
        try:
            if scanned.container is not None and scanned.outer in self._failed:
                raise self._failed[scanned.outer]
            related = await self._related_objects(scanned.inventory)
            if scanned.container is not None:
                parts = await asyncio.gather(*(self._inside(scanned, each, related) for each in outer.values()))
                found = [each for part in parts for each in part]
            else:
                items = await self._items(scanned, related)
                found = [each for each in items if self._is_selected(each, outer)]
                if scanned.is_requested:
                    taken = set(found)
                    self._others |= {each.id: each for each in items if each not in taken}
            await self._complete(scanned, found)
        except CloudError as error:
            self._failed[scanned.inventory.finder] = error
            self._scan.unread.append(Unread((scanned.kind.type_name,), error.service, error.message))
            return []
        if scanned.is_requested:
            self._scan.found += found
        self._number += len(found)
        if self._number > MOST:
            raise RequestLimitExceeded(f"The project has more than {MOST} objects: {_NARROW}.")
        return found

    async def _complete(self, scanned: Scanned, found: list[Found]) -> None:
        """Read what the list does not show of the objects that may become resources."""
        complete = scanned.inventory.complete
        readable = [each for each in found if scanned.is_requested and not each.reason] if complete is not None else []
        if complete is not None:
            read = await asyncio.gather(*(complete(self._cloud, each.fields) for each in readable))
            for each, fields in zip(readable, read, strict=True):
                each.fields = fields

    async def _items(self, scanned: Scanned, related: _Related) -> list[Found]:
        each = scanned.inventory
        listed = await self._listed(each.service, each.path, each.members, each.params)
        return [found for item in listed for found in _found(scanned, item, None, related)]

    async def _inside(self, scanned: Scanned, outer: Found, related: _Related) -> list[Found]:
        each = scanned.inventory
        path = each.path.replace(f"{{{scanned.container}}}", quote(outer.id, safe=""))
        listed = await self._listed(each.service, path, each.members, each.params)
        return [found for item in listed for found in _found(scanned, item, outer, related)]

    def _is_selected(self, found: Found, outer: Mapping[str, Found]) -> bool:
        """Return whether an object was asked for, by itself or as part of another one, which it notes."""
        inventory = found.scanned.inventory
        if inventory.follows:
            found.inside = outer.get(str(inventory.describe(found.fields).get(inventory.follows)))
        return found.inside is not None or self._selects(found)

    async def _related_objects(self, inventory: Inventory) -> _Related:
        """Return the other objects that tell more of those of a type, by the IDs of these."""
        related = inventory.related
        by_id: dict[str, list[object]] = {}
        if related is not None:
            owner = {related.owner: self._cloud.project_id}
            for item in await self._listed(related.service, related.path, related.members, owner):
                by_id.setdefault(str(item.get(related.field)), []).append(item)
        return by_id

    async def _listed(self, service: str, path: str, members: str, params: Mapping[str, object]) -> list[Any]:
        key = (service, path, *sorted(params.items()))
        if key not in self._lists:
            self._lists[key] = asyncio.ensure_future(self._time_limited.list(service, path, members, params or None))
        return await asyncio.shield(self._lists[key])


def _found(scanned: Scanned, item: Any, inside: Found | None, related: _Related) -> Iterator[Found]:
    inventory = scanned.inventory
    fields = item.get(inventory.member, item) if inventory.member else item
    for each in inventory.objects(fields):
        identifier = str(each[inventory.id_field])
        name = str((each.get(inventory.name_field) if inventory.name_field else None) or "")
        if inventory.related is not None:
            each = {**each, inventory.related.key: related.get(identifier, [])}
        reason = inventory.left_out(each)
        if "DELET" in str(each.get(inventory.status_field) or "").upper():
            reason = "it is being deleted"
        yield Found(scanned, identifier, name, each, inside, reason=reason)


def _merged(unread: Iterable[Unread]) -> list[Unread]:
    """Return what could not be read, each reason of a service once."""
    types: dict[tuple[str, str], set[str]] = {}
    for each in unread:
        types.setdefault((each.service, each.reason), set()).update(each.types)
    return [Unread(tuple(sorted(names)), *key) for key, names in sorted(types.items())]


async def find_owners(database: Database, found: Iterable[Found], project_id: str, user_id: str | None) -> None:
    """Note which resources own objects. What belongs to an owned object, and has no owner itself, is left out."""
    claims = {each: claim_of(each.scanned.kind, each.id, project_id, user_id) for each in found}
    known = await database.read(lambda connection: list(holders(connection, (each.id for each in claims))))
    parts: dict[str, Found] = {}
    for each, claim in claims.items():
        each.owner = holder_of(claim, known) if claim is not None else None
        related = each.scanned.inventory.related
        if each.owner is not None and related is not None:
            parts |= {str(item.get("id")): each for item in each.fields[related.key]}
    for each in claims:
        if each.owner is None and each.id in parts and not each.reason:
            whole = parts[each.id]
            each.reason = f"it belongs to {whole.name or whole.id}, which a stack owns"
