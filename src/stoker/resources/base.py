"""`RestResource`: a resource type made of declarations, for objects that a REST collection keeps.

A type says where its objects live (`collection`), what its properties are called on the wire (`Property.wire`), which
statuses to wait for (`waits`, `deleting`), and overrides a method only where its service is odd. What an odd type
usually overrides, from the least to the most:

* `create_body`, `update_body`: the body is not just the properties;
* `needs_extras`, `add_extras`, `change_extras`: some things are set by calls of their own (tags);
* `created`: something must be remembered of a new object;
* `computed_attribute`: an attribute is not a field of the object;
* `begin`, `send_update`, `remove`: the call itself is another one.
"""

from __future__ import annotations

from collections.abc import Collection as Several
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, ClassVar
from urllib.parse import quote

from stoker.base.errors import CloudError
from stoker.plugins.outcome import Again, Done, Failed, Outcome, Watch
from stoker.plugins.recovery import FoundBy, Recovery
from stoker.plugins.resource import AttributeKey, Call, ResourceType
from stoker.plugins.waiting import Waiter
from stoker.resources.wire import older_spellings, to_wire, wire_value, without_nulls
from stoker.schema.unknown import is_unknown

CLOCK_SKEW = 60.0
"""Seconds that a service's clock may be behind ours."""


@dataclass(frozen=True, slots=True)
class Collection:
    """Where objects of a type live.

    `path` may name properties in braces (`/v2.0/floatingips/{floating_ip}/port_forwardings`). `member` is the key
    around one object in bodies and `members` the key of lists, both "" where the service has none. `list_path` is where
    lists show objects in full, if that is another path (`/servers/detail`). `update` is the method of changes. The rest
    are fields of an object: `id_field`, its status, why it is in it (a dotted path), when it was made (None if the
    service does not say). `owner` is the query parameter that keeps a list to one project.
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

    def wrap(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """A body as the service wants it around an object."""
        return {self.member: body} if self.member else body

    def unwrap(self, body: Any) -> dict[str, Any]:
        """The object inside an answer; {} when there is none."""
        found = body.get(self.member) if self.member and isinstance(body, dict) else body
        return found if isinstance(found, dict) else {}


class RestResource(ResourceType):
    """Create, find, update, delete, check and read from the declarations.

    `identity` is the field by which an object is found again after a crash. A property feeds it or not: unless the
    template gives a value, the physical name is sent, which is unique. None means that objects of this kind bear no
    text of ours, and are compared as a whole.
    `waits` judges an object while it is made and changed, `deleting` while it goes (None: gone when the call
    returns). `computed` names the attributes that `computed_attribute` reads. `unobserved` are properties that the
    object may rightly show otherwise than the template has them.
    """

    collection: ClassVar[Collection]
    identity: ClassVar[str | None] = "name"
    waits: ClassVar[Waiter | None] = None
    deleting: ClassVar[Waiter | None] = None
    computed: ClassVar[frozenset[str]] = frozenset()
    unobserved: ClassVar[frozenset[str]] = frozenset()
    id_is_new = True
    recovery = Recovery(
        FoundBy.NAME,
        "The physical name is looked for in the project's list. A name given in the template is not proof "
        "enough: the object must also have been made since the action began, be as it was asked for, and "
        "belong to no other resource.",
    )

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        if "collection" in cls.__dict__:
            cls.service = cls.collection.service
        if hasattr(cls, "collection") and cls.identity is not None:
            cls.named_in = (cls.collection.service, cls.collection.path, cls.identity)

    # -- where and what ---------------------------------------------------------------------------------------

    def collection_path(self, call: Call) -> str:
        """The collection's path, property values filled in."""
        return _filled(self.collection.path, call.properties)

    def member_path(self, call: Call) -> str:
        """The object's path."""
        return f"{self.collection_path(call)}/{quote(str(call.physical_id), safe='')}"

    async def create_body(self, call: Call) -> dict[str, Any]:
        """What is sent to make the object: every property that has a value, and what it can be found by."""
        body = without_nulls(to_wire(self.properties, call.properties))
        if self.identity is not None and not body.get(self.identity):
            body[self.identity] = call.physical_name
        return body

    async def update_body(self, call: Call) -> dict[str, Any]:
        """What is sent to change the object: the changed properties, null for those that were removed."""
        body = to_wire(self.properties, call.changed)
        if self.identity in body and not body[self.identity]:
            body[self.identity] = call.physical_name
        return body

    async def show(self, call: Call) -> dict[str, Any] | None:
        """The object as the service has it now; None when it is gone."""
        answer = await call.cloud.request("GET", self.collection.service, self.member_path(call), ok=(404,))
        return None if answer.status == 404 else self.collection.unwrap(answer.body)

    # -- making -----------------------------------------------------------------------------------------------

    async def find(self, call: Call) -> str | None:
        body = await self.create_body(call)
        name = body.get(self.identity) if self.identity else None
        collection = self.collection
        params: dict[str, Any] = {}
        if collection.owner:
            params[collection.owner] = body.get("tenant_id") or body.get(collection.owner) or call.cloud.project_id
        if self.identity and name is not None:
            params[self.identity] = name
        path = _filled(collection.list_path, call.properties) or self.collection_path(call)
        listed = await call.cloud.list(collection.service, path, collection.members, params)
        if name is not None:
            listed = [item for item in listed if item.get(self.identity) == name]
        if name is None or name != call.physical_name:
            listed = [item for item in listed if self.made_by(call, body, item)]
        free = await unrecorded(call, [str(item[collection.id_field]) for item in listed])
        return min(free, default=None)

    def made_by(self, call: Call, body: Mapping[str, Any], item: Mapping[str, Any]) -> bool:
        """Whether a listed object can be the one that `body` made in this action."""
        field = self.collection.created_field
        moment = _moment(item.get(field)) if field else None
        if moment is not None and moment < call.created_at - CLOCK_SKEW:
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
        """Ask the service for the object; what it answers, `id_field` included."""
        body = self.collection.wrap(await self.create_body(call))
        made = await call.cloud.post(self.collection.service, self.collection_path(call), body)
        return self.collection.unwrap(made)

    def judge(self, call: Call, shown: Mapping[str, Any] | None) -> Outcome:
        """Whether an object that is made or changed is ready."""
        if shown is None:
            return Failed(
                f"{self.collection.service} has lost {call.physical_id}: it was made, and is gone", "NotFound"
            )
        if self.waits is None:
            return Done()
        return self.watched(call, shown, self.waits)

    def watched(self, call: Call, shown: Mapping[str, Any], waiter: Waiter) -> Outcome:
        """What the object's status means while `waiter` waits for it; others may be waited for with the same call."""
        collection = self.collection
        status = shown.get(collection.status_field)
        outcome = waiter.judge(status, self.why(shown), call.elapsed)
        if not isinstance(outcome, Again) or not collection.members:
            return outcome
        path = _filled(collection.list_path, call.properties) or self.collection_path(call)
        fields = (collection.id_field, collection.status_field)
        return replace(outcome, watch=Watch(collection.service, path, collection.members, *fields, status))

    def why(self, shown: Mapping[str, Any]) -> str | None:
        """The service's reason for the object's status."""
        reason = dig(shown, self.collection.reason_field.split("."))
        return str(reason) if reason else None

    def created(self, call: Call, shown: Mapping[str, Any]) -> None:
        """Remember, in `call.data`, what must be known of a new object later."""

    def needs_extras(self, call: Call) -> bool:
        """Whether `add_extras` has anything to do for this resource."""
        return False

    async def add_extras(self, call: Call) -> None:
        """Set on a new object what the service takes only in calls of their own; may be repeated."""

    # -- changing ---------------------------------------------------------------------------------------------

    async def update(self, call: Call) -> Outcome:
        if call.progress.get("sent"):
            return self.judge(call, await self.show(call))
        body = await self.update_body(call)
        shown = await self.send_update(call, body) if body else None
        await self.change_extras(call)
        call.progress["sent"] = True
        if not body or self.waits is None:
            return Done()
        return self.judge(call, shown) if shown else Again(after=self.waits.pause(call.elapsed))

    async def send_update(self, call: Call, body: Mapping[str, Any]) -> dict[str, Any]:
        """Ask the service for the change; the object as it answers, {} when it does not show it."""
        answer = await call.cloud.request(
            self.collection.update, self.collection.service, self.member_path(call), json=self.collection.wrap(body)
        )
        return self.collection.unwrap(answer.body)

    async def change_extras(self, call: Call) -> None:
        """Bring about those of `call.changed` that the service takes only in calls of their own; may be repeated."""

    # -- removing ---------------------------------------------------------------------------------------------

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
            return Done() if self.deleting is None else Again(after=self.deleting.pause(call.elapsed))
        shown = await self.show(call) if self.deleting is not None else None
        if shown is None or self.deleting is None:
            return Done()
        return self.watched(call, shown, self.deleting)

    async def remove(self, call: Call) -> None:
        """Ask the service to remove the object."""
        await call.cloud.delete(self.collection.service, self.member_path(call))

    # -- looking ----------------------------------------------------------------------------------------------

    async def adopt(self, call: Call) -> Outcome:
        if await self.show(call) is None:
            return Failed(f"{self.collection.service} has no object {call.physical_id}", "NotFound")
        return Done()

    async def observe(self, call: Call) -> Mapping[str, Any] | None:
        shown = await self.show(call) if call.physical_id is not None else None
        return None if shown is None else self.differences(call, shown)

    def differences(self, call: Call, shown: Mapping[str, Any]) -> dict[str, Any]:
        """Properties that the object shows otherwise than they are recorded.

        The value of one that is built of declared parts is in the service's own form, and so comes as None.
        """
        older = older_spellings(self.properties)
        found: dict[str, Any] = {}
        for name, prop in self.properties.items():
            field = name if prop.wire is None else prop.wire
            value = call.properties.get(name)
            if value is None or name in older or name in self.unobserved or field not in shown:
                continue
            if not same(wire_value(prop, value), shown[field]):
                built = prop.schema is not None or (prop.items is not None and prop.items.schema is not None)
                found[name] = None if built else shown[field]
        return found

    async def read_attributes(self, call: Call, keys: Several[AttributeKey]) -> dict[AttributeKey, Any]:
        if call.physical_id is None:
            return dict.fromkeys(keys)
        shown = await self.show(call) if any(key[0] not in self.computed for key in keys) else None
        return {key: await _attribute(self, call, key, shown) for key in keys}

    async def computed_attribute(self, call: Call, name: str) -> Any:
        """The value of an attribute listed in `computed`; None when it cannot be had."""
        raise NotImplementedError(f"{self.type_name} lists {name!r} as computed and does not say how")


async def _started(kind: RestResource, call: Call) -> Outcome:
    """Begin the creation; done at once when the answer shows an object that is ready."""
    made = await kind.begin(call)
    identifier = made.get(kind.collection.id_field)
    if identifier is None:
        service = kind.collection.service
        raise CloudError(service, 0, f"{service} answered the creation of {call.name} without an id")
    identifier = str(identifier)
    outcome = _ready(kind, call, made)
    call.progress["ready"] = isinstance(outcome, Done)
    call.progress["extras"] = not kind.needs_extras(call)
    if isinstance(outcome, Done | Again) and call.progress["extras"]:
        return replace(outcome, physical_id=identifier)
    return Again(after=0.0, physical_id=identifier)


def _ready(kind: RestResource, call: Call, shown: dict[str, Any] | None) -> Outcome:
    """Whether the object is ready; one that is has `created` called."""
    outcome = kind.judge(call, shown)
    if isinstance(outcome, Done) and shown is not None:
        kind.created(call, shown)
    return outcome


async def _attribute(kind: RestResource, call: Call, key: AttributeKey, shown: Mapping[str, Any] | None) -> Any:
    """The value of an attribute, of the object as the service shows it or a computed one."""
    name = str(key[0])
    if name in kind.computed:
        return dig(await kind.computed_attribute(call, name), key[1:])
    if shown is None or name == "show":
        return dig(shown, key[1:])
    declared = kind.attributes.get(name)
    path = declared.path.split(".") if declared is not None and declared.path else [name]
    return dig(shown, [*path, *key[1:]])


async def found_well(kind: RestResource, call: Call) -> Outcome:
    """A `check` for types whose service shows all that there is to see: the object is there, in a good status."""
    shown = await kind.show(call) if call.physical_id is not None else None
    if shown is None:
        return Failed("the object is not there", "NotFound")
    if kind.waits is None:
        return Done()
    status = shown.get(kind.collection.status_field)
    return Done() if status in kind.waits.done else Failed(f"the object is in status {status}", "Error")


def _filled(path: str, properties: Mapping[str, Any]) -> str:
    """A path with the values of the properties that it names in braces."""
    return path.format_map({name: quote(str(value), safe="") for name, value in properties.items()})


async def unrecorded(call: Call, identifiers: list[str]) -> set[str]:
    """Those of the ids that belong to no recorded resource."""
    if call.unrecorded is None or not identifiers:
        return set(identifiers)
    return await call.unrecorded(identifiers)


def dig(value: Any, path: Several[str | int]) -> Any:
    """What stands at the end of a path of keys and indexes; None when it leads nowhere, unknown below an unknown."""
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


def same(sent: Any, shown: Any) -> bool:
    """Whether a service shows what it was sent: keys that it adds do not count, nor does the order of a list.

    Nothing is shown in several ways.
    """
    if shown is None and sent in ("", [], {}):
        return True
    if isinstance(sent, Mapping) and isinstance(shown, Mapping):
        return all(key in shown and same(value, shown[key]) for key, value in sent.items())
    if isinstance(sent, list) and isinstance(shown, list):
        return len(sent) == len(shown) and all(any(same(item, other) for other in shown) for item in sent)
    return bool(sent == shown) or str(sent) == str(shown)


def _moment(text: Any) -> float | None:
    """Seconds since the epoch of a service's timestamp, which is in UTC unless it says otherwise."""
    if not isinstance(text, str):
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
