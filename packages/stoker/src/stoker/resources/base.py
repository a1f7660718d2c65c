"""`RestResource`: a declarative resource type, for objects in a REST collection.

A type declares where its objects are (`collection`), the field names of its properties (`Property.wire`), which
statuses to wait for (`waits`, `deleting`), and overrides a method only where its service differs. What such a type
usually overrides, from the least to the most:

** `create_body`, `update_body`: the body contains more than the properties;
** `needs_extras`, `add_extras`, `change_extras`: some fields are set by separate requests (tags);
** `created`: something about a new object must be recorded;
* `computed_attribute`: an attribute is not a field of the object;
** `begin`, `send_update`, `remove`: the request itself is a different one.
"""

from __future__ import annotations

from collections.abc import Collection as Several
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, ClassVar
from urllib.parse import quote

from stoker.base.errors import CloudError
from stoker.plugins.former_names import accept_former_overrides
from stoker.plugins.listing import CollectionLocation, InventoryLocation, SharedList
from stoker.plugins.live_values import has_drifted, live_values
from stoker.plugins.outcome import Done, Failed, InProgress, Outcome, Watch
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import AttributeKey, Call, ResourceType, Waiter, index_object
from stoker.resources.live_values import Reader, read_differences
from stoker.resources.wire import NOT_SENT, from_wire, older_spellings, plain_name, to_wire, wire_value, without_nulls
from stoker.schema.live import LISTED, LiveSource, same
from stoker.schema.property import Property
from stoker.schema.unknown import is_unknown

CLOCK_SKEW = 60.0
"""Seconds that a service's clock may be behind the engine's."""


@dataclass(frozen=True, slots=True)
class Collection:
    """Where objects of a type are found.

    `path` may name properties in braces (`/v2.0/floatingips/{floating_ip}/port_forwardings`). `member` is the key
    around one object in bodies and `members` the key of lists, both "" where the service uses none. `list_path` is
    where lists show objects in full, if that is another path (`/servers/detail`). `update` is the HTTP method of
    updates. The rest are fields of an object: its ID, its status, the reason for its status (a dotted path), its
    creation time (None if the service does not show it). `owner` is the query parameter that limits a list to one
    project. `filters_names` tells whether lists can be filtered by the identity field, `whole` whether they show an
    object exactly as a request for it does, `selects` whether they can be limited to several IDs.
    """

    service: str
    path: str
    member: str = ""
    members: str = ""
    id_field: str = "id"
    list_path: str = ""
    update: str = "PUT"
    status_field: str = "status"
    reason_field: str = "status_reason"
    created_field: str | None = "created_at"
    owner: str | None = "project_id"
    filters_names: bool = True
    whole: bool = False
    selects: bool = False

    def path_for(self, call: Call) -> str:
        """Return the path with property values filled in."""
        return _filled(self.path, call.properties)

    def list_path_for(self, call: Call) -> str:
        """Return the path of lists that show objects in full, with property values filled in."""
        return _filled(self.list_path or self.path, call.properties)

    def wrap(self, body: Mapping[str, object]) -> Mapping[str, object]:
        """Put the key that the service expects around an object."""
        return {self.member: body} if self.member else body

    def listing(self, identity: str | None, *, personal: bool = False) -> CollectionLocation | None:
        """Return where the objects are listed, with the field of their names; None if that depends on properties."""
        if "{" in self.path:
            return None
        return CollectionLocation(
            self.service, self.path, self.members, self.id_field, identity, self.owner, self.member, personal=personal
        )

    def shared(self) -> SharedList:
        """Return the list that many reads can share."""
        keys = (self.members, self.member, self.id_field)
        return SharedList(self.service, self.path, self.list_path or self.path, *keys, selects=self.selects)

    def unwrap(self, body: object) -> dict[str, object]:
        """Return the object in a response; {} when there is none."""
        found = body.get(self.member) if self.member and isinstance(body, dict) else body
        return found if isinstance(found, dict) else {}


_FORMER_METHODS = {"judge": "status_outcome"}
"""Methods of `RestResource` that 0.1.0 has under other names."""


class RestResource(ResourceType):
    """Create, find, update, delete, check and read objects as declared.

    `identity` is the field by which an object is found after a crash. A property may set it: unless the template gives
    a value, the physical name is sent, which is unique. None means that objects of this kind have no field for a name,
    and are compared as a whole.
    `kept_after_failure` types update an object that still exists after a failed action; other types replace it.
    `waits` evaluates an object's status during creation and update, `deleting` during deletion (None: deleted when the
    request returns). `computed` names the attributes that `computed_attribute` reads. `readers` read the live values of
    properties that the object itself does not show (FETCHED). `plain_names` are those of services that allow letters,
    digits, hyphens, dots and underscores only.
    """

    collection: ClassVar[Collection]
    identity: ClassVar[str | None] = "name"
    waits: ClassVar[Waiter | None] = None
    deleting: ClassVar[Waiter | None] = None
    kept_after_failure: ClassVar[bool] = False
    computed: ClassVar[frozenset[str]] = frozenset()
    readers: ClassVar[Mapping[str, Reader]] = {}
    plain_names: ClassVar[bool] = False
    inventory = InventoryLocation("stoker.resources.inventories", "inventory_of")
    id_is_new = True
    recovery = Recovery(
        RecoveryMethod.NAME,
        "The physical name is searched in the project's list. A name that the template gives is not sufficient: "
        "the object must also have been created since the action began, have the requested properties, and "
        "belong to no other resource.",
        own_name_without="name",
    )

    def __init_subclass__(cls, **arguments: object) -> None:
        super().__init_subclass__(**arguments)
        accept_former_overrides(cls, _FORMER_METHODS)
        if "collection" in cls.__dict__ and "service" not in cls.__dict__:
            cls.service = cls.collection.service
        if hasattr(cls, "collection") and cls.identity is not None and "named_in" not in cls.__dict__:
            cls.named_in = (cls.collection.service, cls.collection.path, cls.identity)
        if hasattr(cls, "collection") and "listed" not in cls.__dict__:
            cls.listed = cls.collection.listing(cls.identity) if cls.id_is_new else None
        if hasattr(cls, "collection"):
            own = "collection" in cls.__dict__ and "shared_lists" not in cls.__dict__
            if own:
                is_whole = cls.collection.whole and "{" not in cls.collection.path
                cls.shared_lists = (cls.collection.shared(),) if is_whole else ()
            sent = {name for name, prop in cls.properties.items() if prop.wire != NOT_SENT}
            cls.derived_live = dict.fromkeys(sent | _placed_by(cls.collection.path, cls.properties), LISTED)

    # -- paths and bodies -------------------------------------------------------------------------------------

    def member_path(self, call: Call) -> str:
        """Return the object's path."""
        return f"{self.collection.path_for(call)}/{quote(str(call.physical_id), safe='')}"

    async def create_body(self, call: Call) -> dict[str, object]:
        """Return the body of the creation request: every property that has a value, and the identity field."""
        body = without_nulls(to_wire(self.properties, call.properties))
        if self.identity is not None and not body.get(self.identity):
            body[self.identity] = generated_name(self, call)
        return body

    async def update_body(self, call: Call) -> dict[str, object]:
        """Return the body of the update request: the changed properties, null for those that were removed."""
        body = to_wire(self.properties, call.changed)
        if self.identity in body and not body[self.identity]:
            body[self.identity] = generated_name(self, call)
        return body

    async def show(self, call: Call) -> dict[str, Any] | None:
        """Return the object as the service shows it now; None when it does not exist."""
        answer = await call.cloud.request("GET", self.collection.service, self.member_path(call), ok=(404,))
        shown = None if answer.status == 404 else self.collection.unwrap(answer.body)
        index_object(call, shown, self.identity, self.addresses_at)
        return shown

    # -- creating ---------------------------------------------------------------------------------------------

    async def find(self, call: Call) -> str | None:
        body = await self.create_body(call)
        name = body.get(self.identity) if self.identity else None
        collection = self.collection
        params: dict[str, object] = {}
        if collection.owner:
            params[collection.owner] = body.get("tenant_id") or body.get(collection.owner) or call.cloud.project_id
        if self.identity and name is not None and collection.filters_names:
            params[self.identity] = name
        path = collection.list_path_for(call)
        listed = await _filtered(call, collection, path, params)
        if name is not None:
            listed = [item for item in listed if item.get(self.identity) == name]
        if name is None or name != generated_name(self, call):
            listed = [item for item in listed if self.made_by(call, body, item)]
        return await first_unowned(call, collection, listed)

    def made_by(self, call: Call, body: Mapping[str, object], item: Mapping[str, object]) -> bool:
        """Return whether a listed object can be the one that this action created from `body`."""
        field = self.collection.created_field
        moment = _moment(item.get(field)) if field else None
        if moment is not None and moment < call.resource.created_at - CLOCK_SKEW:
            return False
        return all(same(value, item[key]) for key, value in body.items() if key in item)

    async def create(self, call: Call) -> Outcome:
        if call.physical_id is None:
            return await _started(self, call)
        if not call.progress.get("extras"):
            await self.add_extras(call)
            call.progress["extras"] = True
        if call.progress.get("ready"):
            return Done()
        return _ready(self, call, await self.show(call))

    async def begin(self, call: Call) -> dict[str, Any]:
        """Request the object's creation; return the object as the service shows it, `id_field` included."""
        body = self.collection.wrap(await self.create_body(call))
        made = await call.cloud.post(self.collection.service, self.collection.path_for(call), body)
        return self.collection.unwrap(made)

    def status_outcome(self, call: Call, shown: Mapping[str, object] | None) -> Outcome:
        """Evaluate whether an object that is being created or updated is ready."""
        if shown is None:
            return Failed(
                f"{self.collection.service} has no object {call.physical_id}: it was deleted after its creation",
                "NotFound",
            )
        if self.waits is None:
            return Done()
        return self.watched(call, shown, self.waits)

    def watched(self, call: Call, shown: Mapping[str, Any], waiter: Waiter) -> Outcome:
        """Evaluate the object's status while `waiter` waits; the returned watch lets one list serve many objects."""
        collection = self.collection
        status = shown.get(collection.status_field)
        outcome = waiter.outcome(status, self.why(shown))
        if not isinstance(outcome, InProgress):
            return outcome
        pause = waiter.pause(call.elapsed)
        if not collection.members:
            return InProgress(pause)
        path = collection.list_path_for(call)
        fields = (collection.id_field, collection.status_field)
        return InProgress(pause, watch=Watch(collection.service, path, collection.members, *fields, status))

    def why(self, shown: Mapping[str, object]) -> str | None:
        """Return the service's reason for the object's status."""
        reason = value_at(shown, self.collection.reason_field.split("."))
        return str(reason) if reason else None

    def created(self, call: Call, shown: Mapping[str, object]) -> None:
        """Record in `call.data` what is needed of a new object later."""

    def needs_extras(self, call: Call) -> bool:
        """Return whether `add_extras` has anything to do for this resource."""
        return False

    async def add_extras(self, call: Call) -> None:
        """Set on a new object what the service accepts only in separate requests; must be idempotent."""

    # -- updating -------------------------------------------------------------------------------------------

    async def update(self, call: Call) -> Outcome:
        if call.progress.get("sent"):
            return self.status_outcome(call, await self.show(call))
        body = await self.update_body(call)
        shown = await self.send_update(call, body) if body else None
        index_object(call, shown, self.identity, self.addresses_at)
        await self.change_extras(call)
        call.progress["sent"] = True
        if not body or self.waits is None:
            return Done()
        return self.status_outcome(call, shown) if shown else InProgress(after=self.waits.pause(call.elapsed))

    async def send_update(self, call: Call, body: Mapping[str, object]) -> dict[str, object]:
        """Request the update; return the object as the service shows it, {} when it does not show it."""
        answer = await call.cloud.request(
            self.collection.update, self.collection.service, self.member_path(call), json=self.collection.wrap(body)
        )
        return self.collection.unwrap(answer.body)

    async def change_extras(self, call: Call) -> None:
        """Apply those of `call.changed` that the service accepts only in separate requests; must be idempotent."""

    # -- deleting -------------------------------------------------------------------------------------------

    async def delete(self, call: Call) -> Outcome:
        if call.physical_id is None:
            return Done()
        if not call.progress.get("sent"):
            try:
                await self.remove(call)
            except CloudError as error:
                if error.not_found:
                    return Done()
                raise
            call.progress["sent"] = True
            return Done() if self.deleting is None else InProgress(after=self.deleting.pause(call.elapsed))
        shown = await self.show(call) if self.deleting is not None else None
        if shown is None or self.deleting is None:
            return Done()
        return self.watched(call, shown, self.deleting)

    async def remove(self, call: Call) -> None:
        """Request the object's deletion."""
        await call.cloud.delete(self.collection.service, self.member_path(call))

    async def needs_replacement_after_failure(self, call: Call) -> bool:
        return not self.kept_after_failure or call.physical_id is None or await self.show(call) is None

    # -- reading --------------------------------------------------------------------------------------------

    async def adopt(self, call: Call) -> Outcome:
        if await self.show(call) is None:
            return Failed(f"{self.collection.service} has no object {call.physical_id}", "NotFound")
        return Done()

    async def observe(self, call: Call) -> Mapping[str, object] | None:
        shown = await self.show(call) if call.physical_id is not None else None
        if shown is None:
            return None
        return {**self.differences(call, shown), **await read_differences(self, self.readers, call, shown)}

    def differences(self, call: Call, shown: Mapping[str, object]) -> dict[str, object]:
        """Return the properties whose live value, a field of the object, differs from the recorded one.

        The live value of a property with a nested schema is returned in the form of templates; one that no template
        could give is returned as None.
        """
        older, known = older_spellings(self.properties), live_values(self)
        found: dict[str, object] = {}
        for name, prop in self.properties.items():
            field = name if prop.wire is None else prop.wire
            value = call.properties.get(name)
            live = known.get(name)
            if (
                value is None
                or name in older
                or name in self.readers
                or live is None
                or live.how is not LiveSource.LISTED
            ):
                continue
            if field == NOT_SENT or (field == self.identity and not value):
                call.report.compared.add(name)  # a part of the path, or a name that Stoker has chosen
            elif field in shown:
                call.report.compared.add(name)
                if has_drifted(prop, live, wire_value(prop, value), shown[field]):
                    built = prop.schema is not None or (prop.items is not None and prop.items.schema is not None)
                    found[name] = from_wire(prop, value, shown[field]) if built else shown[field]
        return found

    async def read_attributes(self, call: Call, keys: Several[AttributeKey]) -> dict[AttributeKey, object]:
        if call.physical_id is None:
            return dict.fromkeys(keys)
        shown = await self.show(call) if any(key[0] not in self.computed for key in keys) else None
        return {key: await _attribute(self, call, key, shown) for key in keys}

    async def computed_attribute(self, call: Call, name: str) -> object:
        """Return the value of an attribute listed in `computed`; None when it is not available."""
        raise NotImplementedError(f"{self.type_name} declares the computed attribute {name!r} without implementing it")


def _placed_by(path: str, properties: Mapping[str, Property]) -> set[str]:
    """Return the properties that name what the object is in: one that is found there belongs to it."""
    return {name for name in properties if f"{{{name}}}" in path}


accept_former_overrides(RestResource, _FORMER_METHODS)


def generated_name(kind: RestResource, call: Call) -> str:
    """Return the object's name if the template gives none: the physical name, in characters that the service allows."""
    return plain_name(call.physical_name) if kind.plain_names else call.physical_name


async def _filtered(call: Call, collection: Collection, path: str, params: dict[str, object]) -> list[Any]:
    """Return the objects with these values; a list whose filters the service refuses is read as a whole."""
    try:
        return await call.cloud.list(collection.service, path, collection.members, params)
    except CloudError as error:
        if error.status != 400 or not params:
            raise
    listed = await call.cloud.list(collection.service, path, collection.members)
    return [item for item in listed if all(item.get(field, value) == value for field, value in params.items())]


async def _started(kind: RestResource, call: Call) -> Outcome:
    """Begin the creation; it is done when the response shows an object that is ready."""
    made = await kind.begin(call)
    index_object(call, made, kind.identity, kind.addresses_at)
    identifier = made.get(kind.collection.id_field)
    if identifier is None:
        service = kind.collection.service
        raise CloudError(service, 0, f"{service} created resource {call.resource.name} but its response has no ID")
    identifier = str(identifier)
    outcome = _ready(kind, call, made)
    call.progress["ready"] = isinstance(outcome, Done)
    call.progress["extras"] = not kind.needs_extras(call)
    if isinstance(outcome, Done | InProgress) and call.progress["extras"]:
        return replace(outcome, physical_id=identifier)
    return InProgress(after=0.0, physical_id=identifier)


def _ready(kind: RestResource, call: Call, shown: Mapping[str, object] | None) -> Outcome:
    """Evaluate whether the object is ready; call `created` when it is."""
    outcome = kind.status_outcome(call, shown)
    if isinstance(outcome, Done) and shown is not None:
        kind.created(call, shown)
    return outcome


async def _attribute(kind: RestResource, call: Call, key: AttributeKey, shown: Mapping[str, object] | None) -> object:
    """Return the value of an attribute: computed, or from the object as the service shows it."""
    name = str(key[0])
    if name in kind.computed:
        return value_at(await kind.computed_attribute(call, name), key[1:])
    if shown is None or name == "show":
        return value_at(shown, key[1:])
    declared = kind.attributes.get(name)
    path = declared.path.split(".") if declared is not None and declared.path else [name]
    return value_at(shown, [*path, *key[1:]])


async def found_well(kind: RestResource, call: Call) -> Outcome:
    """Implement `check` for types whose service shows the state: the object exists, in a healthy status."""
    shown = await kind.show(call) if call.physical_id is not None else None
    if shown is None:
        return Failed("the object does not exist", "NotFound")
    if kind.waits is None:
        return Done()
    status = shown.get(kind.collection.status_field)
    return Done() if status in kind.waits.done else Failed(f"the object is in status {status}", "Error")


def _filled(path: str, properties: Mapping[str, object]) -> str:
    """Return a path with the values of the properties that it names in braces."""
    if "{" not in path:
        return path
    return path.format_map({name: quote(str(value), safe="") for name, value in properties.items()})


async def unrecorded(call: Call, identifiers: list[str]) -> set[str]:
    """Return those of the IDs that belong to no recorded resource."""
    if call.engine.unrecorded is None or not identifiers:
        return set(identifiers)
    return await call.engine.unrecorded(identifiers)


async def first_unowned(call: Call, collection: Collection, listed: Iterable[Mapping[str, object]]) -> str | None:
    """Return the ID of the listed object that was created first of those that belong to no recorded resource.

    The later of two objects was created for an engine that has lost its operation. If that engine runs, it deletes its
    own object, provided that this is not the one which is returned here.
    """
    created = {str(item[collection.id_field]): item.get(collection.created_field or "") for item in listed}
    free = await unrecorded(call, list(created))
    return min(free, key=lambda identifier: (_moment(created[identifier]) or 0.0, identifier), default=None)


def value_at(value: object, path: Several[str | int]) -> object:
    """Return the value at a path of keys and indexes; None when there is none, unknown below an unknown value."""
    for part in path:
        if is_unknown(value):
            return value
        if isinstance(value, Mapping):
            value = value.get(part)
        elif isinstance(value, list) and str(part).isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            return None
    return value


def _moment(timestamp: object) -> float | None:
    """Return a service's timestamp as seconds since the epoch; it is in UTC unless it names an offset."""
    if not isinstance(timestamp, str):
        return None
    try:
        moment = datetime.fromisoformat(timestamp)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
