"""Ports that a server's resource creates, and the record of them.

`call.data["internal_ports"]` lists them in JSON, as `{id}`; one that no server uses yet also has its `name`. Until Nova
binds a port, its device owner is a mark of the resource, by which a port is found whose creation was interrupted; Nova
overwrites the mark.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from stoker.cloud.finders import is_uuid
from stoker.plugins.resource import Call
from stoker.resources.nova.server.schema import PORT_EXTRA
from stoker.resources.wire import to_wire, without_nulls

_BOOKS = "internal_ports"
_APART = frozenset({"value_specs", "no_fixed_ips", "allowed_address_pairs"})
"""Keys of port_extra_properties that are not sent unchanged."""


def created_ports(call: Call) -> list[dict[str, str]]:
    """Return the ports that the resource has created."""
    ports: list[dict[str, str]] = json.loads(call.data.get(_BOOKS) or "[]")
    return ports


def _write(call: Call, ports: list[dict[str, str]]) -> None:
    if ports:
        call.data[_BOOKS] = json.dumps(ports)
    else:
        call.data.pop(_BOOKS, None)


def created_port_ids(call: Call) -> frozenset[str]:
    """Return the IDs of the ports that the resource has created."""
    return frozenset(port["id"] for port in created_ports(call))


def mark_used(call: Call, *identifiers: str) -> None:
    """Record that the server uses these ports; without arguments, that it uses all."""
    _write(
        call,
        [{"id": port["id"]} if not identifiers or port["id"] in identifiers else port for port in created_ports(call)],
    )


def needs_own_port(entry: Mapping[str, object]) -> bool:
    """Return whether the resource creates the port of an entry of `networks`."""
    return entry.get("port") is None and (
        entry.get("subnet") is not None or entry.get("port_extra_properties") is not None
    )


def unused_port(call: Call, index: int) -> str | None:
    """Return the port created for the entry at `index` if no server uses it yet."""
    return next((port["id"] for port in created_ports(call) if port.get("name") == port_name(call, index)), None)


async def ensure_port(call: Call, index: int, entry: Mapping[str, object]) -> str:
    """Return the port for an entry of `networks`; create it unless there is one."""
    known = unused_port(call, index)
    if known is not None:
        return known
    body = await _new_port(call, index, entry)
    made = await call.cloud.post("neutron", "/v2.0/ports", {"port": body})
    identifier = str(made["port"]["id"])
    _write(call, [*created_ports(call), {"id": identifier, "name": body["name"]}])
    return identifier


async def record_unlisted_ports(call: Call) -> None:
    """Record ports that an interrupted call created without recording them."""
    listed = await call.cloud.list("neutron", "/v2.0/ports", "ports", {"device_owner": _mark(call)})
    known = created_ports(call)
    unlisted = [{"id": port["id"], "name": port["name"]} for port in listed if port["id"] not in known]
    _write(call, [*created_ports(call), *unlisted])


async def delete_ports(call: Call, *identifiers: str) -> None:
    """Delete ports that the resource has created: these, or all if none are given."""
    for port in created_ports(call):
        if not identifiers or port["id"] in identifiers:
            await call.cloud.delete("neutron", f"/v2.0/ports/{port['id']}", ok=(404,))
            _write(call, [other for other in created_ports(call) if other["id"] != port["id"]])


async def delete_unused(call: Call) -> None:
    """Delete ports that an earlier action created and did not use."""
    unused = [port["id"] for port in created_ports(call) if "name" in port]
    if unused:
        await delete_ports(call, *unused)


async def network_of(call: Call, entry: Mapping[str, Any]) -> str | None:
    """Return the network of an entry: its own, or its subnet's."""
    if entry.get("network") is not None or entry.get("subnet") is None:
        return entry.get("network")
    shown = await call.cloud.get("neutron", f"/v2.0/subnets/{entry['subnet']}")
    return str(shown["subnet"]["network_id"])


def extra_fields(extra: Mapping[str, Any]) -> dict[str, object]:
    """Return the fields of a port for `port_extra_properties`."""
    fields = {key: value for key, value in extra.items() if key not in _APART}
    body = without_nulls(to_wire(PORT_EXTRA, fields))
    if extra.get("allowed_address_pairs") is not None:
        body["allowed_address_pairs"] = [without_nulls(pair) for pair in extra["allowed_address_pairs"]]
    return body | dict(extra.get("value_specs") or {})


async def security_group_ids(call: Call) -> list[str]:
    """Return the IDs of the server's security groups."""
    given = [str(group) for group in call.properties.get("security_groups") or []]
    return [group if is_uuid(group) else await call.cloud.find("neutron.security_group", group) for group in given]


async def _new_port(call: Call, index: int, entry: Mapping[str, Any]) -> dict[str, Any]:
    extra = entry.get("port_extra_properties") or {}
    body: dict[str, Any] = {"name": port_name(call, index), "network_id": await network_of(call, entry)}
    address = without_nulls({"ip_address": entry.get("fixed_ip"), "subnet_id": entry.get("subnet")})
    if extra.get("no_fixed_ips"):
        body["fixed_ips"] = []
    elif address:
        body["fixed_ips"] = [address]
    if groups := await security_group_ids(call):
        body["security_groups"] = groups
    return body | extra_fields(extra) | {"device_owner": _mark(call)}


def port_name(call: Call, index: int) -> str:
    """Return the name of the port that is created for the entry at `index`."""
    return f"{call.resource.name}-port-{index}"


def _mark(call: Call) -> str:
    return f"stoker:{call.resource.uuid}"
