"""Base of Neutron's resource types: value_specs, tags, and when a failed object can be kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, NamedTuple

from stoker.plugins.capabilities import UsageReporter
from stoker.plugins.listing import SharedList
from stoker.plugins.resource import Call, Snapshot, Waiter
from stoker.resources.base import Collection, RestResource, unrecorded
from stoker.resources.declare import custom
from stoker.resources.live_values import NotShown, Reader
from stoker.resources.wire import NOT_SENT
from stoker.schema.live import LISTED, Live, LiveSource
from stoker.schema.property import Change, Property, Support, Type

BUILT = Waiter.until("ACTIVE", "DOWN", pending=("BUILD",), failed=("ERROR", "DEGRADED"))
"""Statuses of networks, ports and routers during creation."""


def collection(member: str, path: str = "", **rest: Any) -> Collection:
    """Declare a collection of Neutron; give `path` only where it is not the member's plural."""
    lists = {"whole": True, "selects": True, **rest}
    return Collection("neutron", path or f"/v2.0/{member}s", member, f"{member}s", **lists)


PORTS_OF_DEVICES = SharedList(
    "neutron", "/v2.0/ports", "/v2.0/ports", "ports", field="device_id", of_others=True, selects=True
)
"""The ports of servers, each list of which is limited to one device otherwise."""


def ip_address(description: str, **rest: Any) -> Property:
    """Declare a property whose value is an IP address."""
    return Property(description=description, constraints=custom("ip_addr"), **rest)


VALUE_SPECS = Property(
    Type.MAP,
    "Further fields of the request, passed to Neutron unchanged, for extensions without a property.",
    default={},
    change=Change.UPDATE,
    wire=NOT_SENT,
    live=Live(LiveSource.LISTED, shared=True),
)

TAGS = Property(
    Type.LIST,
    "Tags of the object.",
    items=Property(Type.STRING, "A tag."),
    change=Change.UPDATE,
    support=Support(version="9.0.0"),
    wire=NOT_SENT,
    live=LISTED,
)

TENANT_ID = Property(description="The project that owns the object, by default the stack's own; for administrators.")

UNTOUCHABLE_SPECS = frozenset({"shared", "tenant_id"})
"""Fields that `value_specs` must not set, besides those that properties set."""

CLEARED: Mapping[str, object] = {
    "allocation_pools": [],
    "allowed_address_pairs": [],
    "description": "",
    "dns_domain": "",
    "dns_name": "",
}
"""Values that clear fields for which Neutron does not accept null."""


_DELETED_BY_NEUTRON = frozenset({"network:dhcp", "network:distributed", "network:router_gateway"})
"""Owners of ports that Neutron deletes itself, with the object that they belong to."""


class Holders(NamedTuple):
    """Objects that prevent the deletion of another one: those of a member whose `field` is the other one's ID."""

    member: str
    field: str


def _port_description(port: Mapping[str, object], project_id: str) -> str:
    """Return the name, ID and user of a port, and its project if that is not `project_id`."""
    owner = f", {port['device_owner']} {port['device_id']}" if port.get("device_owner") else ""
    return f"{_description('port', port, project_id)}{owner}"


def _description(member: str, item: Mapping[str, object], project_id: str) -> str:
    name = f" {item['name']!r}" if item.get("name") else ""
    other = f" of project {item['project_id']}" if item.get("project_id") not in (None, "", project_id) else ""
    return f"{member}{name} {item['id']}{other}"


async def _tags(kind: NeutronResource, call: Call, shown: Mapping[str, object]) -> object:
    """Return the object's tags."""
    if "tags" in shown:
        return shown["tags"]
    return (await call.cloud.get("neutron", f"{kind.member_path(call)}/tags"))["tags"]


async def _value_specs(kind: NeutronResource, call: Call, shown: Mapping[str, object]) -> object:
    """Return the fields that `value_specs` sets, as the object has them."""
    given = call.properties["value_specs"]
    if hidden := sorted(given.keys() - shown.keys()):
        raise NotShown(f"the network service does not show {', '.join(hidden)}")
    return {name: shown[name] for name in given}


async def shared(kind: NeutronResource, call: Call, shown: Mapping[str, object]) -> object:
    """Return whether the object is shared with every project other than by a permission that a stack has given."""
    is_shared = call.properties["shared"]
    if not shown["shared"] or is_shared:
        return shown["shared"]
    params = {"object_id": call.physical_id, "action": "access_as_shared", "target_tenant": "*"}
    policies = await call.cloud.list("neutron", "/v2.0/rbac-policies", "rbac_policies", params)
    return bool(await unrecorded(call, [policy["id"] for policy in policies])) or not policies


async def agents(kind: NeutronResource, call: Call, path: str, names: Iterable[str]) -> list[str]:
    """Return the agents that serve the object, from the list `path` below it, those with these `names` first."""
    listed = await call.cloud.list("neutron", f"{kind.member_path(call)}/{path}", "agents")
    return sorted((agent["id"] for agent in listed), key=lambda agent: agent not in names)


async def _set_tags(kind: NeutronResource, call: Call, tags: list[str]) -> None:
    await call.cloud.put("neutron", f"{kind.member_path(call)}/tags", {"tags": tags})


def users_among(call: Call, ports: Iterable[Mapping[str, Any]]) -> Mapping[str, str]:
    """Return descriptions of those of the ports that Neutron does not delete itself, by their IDs."""
    return {
        port["id"]: _port_description(port, call.stack.project_id)
        for port in ports
        if port["device_owner"] not in _DELETED_BY_NEUTRON
    }


class NeutronResource(RestResource, UsageReporter):
    """A resource type of Neutron: `value_specs` are merged into the body, `tags` are set by a separate request.

    `strict_value_specs` refuses value_specs that name a property. What prevents an object's deletion are the ports of
    the query `ports_by`, with `{id}` in it, and `holders`.
    """

    strict_value_specs: ClassVar[bool] = False
    ports_by: ClassVar[str] = ""
    holders: ClassVar[tuple[Holders, ...]] = ()
    readers: ClassVar[Mapping[str, Reader]] = {"tags": _tags, "value_specs": _value_specs}

    def validate(self, properties: Mapping[str, object]) -> Iterable[str]:
        specs = properties.get("value_specs")
        if self.strict_value_specs and isinstance(specs, Mapping):
            banned = sorted((UNTOUCHABLE_SPECS | self.properties.keys()) & specs.keys())
            if banned:
                yield f"value_specs must not set {', '.join(banned)}; use the properties with these names"

    def reference_id(self, resource: Snapshot) -> object:
        return resource.physical_id

    async def create_body(self, call: Call) -> dict[str, object]:
        body = await super().create_body(call)
        return {**body, **(call.properties.get("value_specs") or {})}

    async def update_body(self, call: Call) -> dict[str, object]:
        body = await super().update_body(call)
        body = {name: CLEARED.get(name) if value is None else value for name, value in body.items()}
        before = (call.previous or {}).get("value_specs") or {}
        after = call.changed.get("value_specs") or {}
        return {**body, **{key: value for key, value in after.items() if key not in before or before[key] != value}}

    def needs_extras(self, call: Call) -> bool:
        return bool(call.properties.get("tags"))

    async def add_extras(self, call: Call) -> None:
        if call.properties.get("tags"):
            await _set_tags(self, call, call.properties["tags"])

    async def change_extras(self, call: Call) -> None:
        if "tags" in call.changed:
            await _set_tags(self, call, call.changed["tags"] or [])

    async def used_by(self, call: Call) -> Mapping[str, str]:
        found: dict[str, str] = {}
        if call.physical_id is None:
            return found
        if self.ports_by:
            name, _, value = self.ports_by.format(id=call.physical_id).partition("=")
            found |= users_among(call, await call.cloud.list("neutron", "/v2.0/ports", "ports", {name: value}))
        for member, field in self.holders:
            path, query = f"/v2.0/{member}s", {field: call.physical_id}
            listed = await call.cloud.list("neutron", path, f"{member}s", query)
            held = [each for each in listed if each.get(field) == call.physical_id]
            found |= {each["id"]: _description(member, each, call.stack.project_id) for each in held}
        return found

    async def needs_replacement_after_failure(self, call: Call) -> bool:
        """Replace an object that is in error or does not exist; update any other."""
        shown = await self.show(call) if call.physical_id is not None else None
        return shown is None or shown.get("status") == "ERROR"
