"""Ports that a server's resource makes by itself, and the books kept of them.

Ports stand in `call.data["internal_ports"]` as JSON text, a list of `{id}`; one that no server has yet has its `name`
there too. Until Nova binds a port it bears a mark of its resource as its device owner, by which one is found whose
making was interrupted; Nova writes over the mark.
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
"""Keys of port_extra_properties that are not sent as they are."""


def books(call: Call) -> list[dict[str, str]]:
    """The ports that the resource has made."""
    ports: list[dict[str, str]] = json.loads(call.data.get(_BOOKS) or "[]")
    return ports


def _write(call: Call, ports: list[dict[str, str]]) -> None:
    if ports:
        call.data[_BOOKS] = json.dumps(ports)
    else:
        call.data.pop(_BOOKS, None)


def made_here(call: Call) -> frozenset[str]:
    """Ids of the ports that the resource has made."""
    return frozenset(port["id"] for port in books(call))


def mark_used(call: Call, *identifiers: str) -> None:
    """Note that the server has these ports; without any, that it has all."""
    _write(
        call,
        [{"id": port["id"]} if not identifiers or port["id"] in identifiers else port for port in books(call)],
    )


def needs_own_port(entry: Mapping[str, Any]) -> bool:
    """Whether an entry of `networks` takes a port that the resource makes."""
    return entry.get("port") is None and (
        entry.get("subnet") is not None or entry.get("port_extra_properties") is not None
    )


def unused_port(call: Call, index: int) -> str | None:
    """The port made for the entry at `index` that no server has yet."""
    return next((port["id"] for port in books(call) if port.get("name") == port_name(call, index)), None)


async def ensure_port(call: Call, index: int, entry: Mapping[str, Any]) -> str:
    """The port for an entry of `networks`: made, unless one waits already."""
    known = unused_port(call, index)
    if known is not None:
        return known
    body = await _new_port(call, index, entry)
    made = await call.cloud.post("neutron", "/v2.0/ports", {"port": body})
    identifier = str(made["port"]["id"])
    _write(call, [*books(call), {"id": identifier, "name": body["name"]}])
    return identifier


async def find_strays(call: Call) -> None:
    """Take into the books what was made and, for an interruption, not recorded."""
    listed = await call.cloud.list("neutron", "/v2.0/ports", "ports", {"device_owner": _mark(call)})
    known = made_here(call)
    strays = [{"id": port["id"], "name": port["name"]} for port in listed if port["id"] not in known]
    _write(call, [*books(call), *strays])


async def delete_ports(call: Call, *identifiers: str) -> None:
    """Remove ports that the resource has made: these, or without any all."""
    for port in books(call):
        if not identifiers or port["id"] in identifiers:
            await call.cloud.delete("neutron", f"/v2.0/ports/{port['id']}", ok=(404,))
            _write(call, [other for other in books(call) if other["id"] != port["id"]])


async def delete_unused(call: Call) -> None:
    """Remove ports that an earlier action made and did not come to use."""
    unused = [port["id"] for port in books(call) if "name" in port]
    if unused:
        await delete_ports(call, *unused)


async def network_of(call: Call, entry: Mapping[str, Any]) -> str | None:
    """The network that an entry leads to: its own, or its subnet's."""
    if entry.get("network") is not None or entry.get("subnet") is None:
        return entry.get("network")
    shown = await call.cloud.get("neutron", f"/v2.0/subnets/{entry['subnet']}")
    return str(shown["subnet"]["network_id"])


def extra_fields(extra: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a port that `port_extra_properties` ask for."""
    fields = {key: value for key, value in extra.items() if key not in _APART}
    body = without_nulls(to_wire(PORT_EXTRA, fields))
    if extra.get("allowed_address_pairs") is not None:
        body["allowed_address_pairs"] = [without_nulls(pair) for pair in extra["allowed_address_pairs"]]
    return body | dict(extra.get("value_specs") or {})


async def security_group_ids(call: Call) -> list[str]:
    """Ids of the server's security groups."""
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
    """What a port that is made for the entry at `index` is called."""
    return f"{call.name}-port-{index}"


def _mark(call: Call) -> str:
    return f"stoker:{call.uuid}"
