"""A server's attributes."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any

from stoker.base.errors import CloudError
from stoker.plugins.resource import AttributeKey, Call
from stoker.resources.base import value_at
from stoker.resources.nova.server.states import path_of

CONSOLES = {
    "novnc": "vnc",
    "xvpvnc": "vnc",
    "spice-html5": "spice",
    "rdp-html5": "rdp",
    "serial": "serial",
    "webmks": "mks",
}
"""Kinds of console, and the protocol of each."""

_FIELDS = {
    "instance_name": "OS-EXT-SRV-ATTR:instance_name",
    "accessIPv4": "accessIPv4",
    "accessIPv6": "accessIPv6",
    "tags": "tags",
}
"""Attributes that are fields of the server."""

_OF_SERVER = frozenset({*_FIELDS, "show", "networks", "first_address"})


async def read_attributes(call: Call, keys: Collection[AttributeKey]) -> dict[AttributeKey, object]:
    """Return the values, reading the server once at most. They are empty strings if the server does not exist."""
    if call.physical_id is None:
        return {key: _name(call) if key == ("name",) else None for key in keys}
    names = {str(key[0]) for key in keys}
    shown = await _shown(call) if names & _OF_SERVER else None
    values = {name: await _value(call, name, shown) for name in names - {"console_urls"}}
    return {
        key: await _consoles(call, key) if key[0] == "console_urls" else value_at(values[str(key[0])], key[1:])
        for key in keys
    }


async def _shown(call: Call) -> dict[str, object] | None:
    answer = await call.cloud.request("GET", "nova", path_of(call), ok=(404,))
    return None if answer.status == 404 else answer.body["server"]


async def _value(call: Call, name: str, shown: dict[str, object] | None) -> object:
    if name in _ELSEWHERE:
        return await _ELSEWHERE[name](call)
    if name == "show":
        return shown and {**shown, "os_collect_config": _agent_config(call)}
    if shown is None:
        return ""
    if name == "networks":
        return await _networks(call, shown)
    if name == "first_address":
        return _first_address(shown)
    return shown.get(_FIELDS.get(name, name))


def _name(call: Call) -> str:
    return str(call.properties.get("name") or call.physical_name)


def _agent_config(call: Call) -> object:
    return call.metadata.get("os-collect-config", {})


def _plain_addresses(shown: Mapping[str, Any]) -> dict[str, list[str]]:
    return {name: [row["addr"] for row in rows] for name, rows in shown["addresses"].items()}


def _first_address(shown: Mapping[str, object]) -> str:
    named = _plain_addresses(shown)
    return next((named[name][0] for name in sorted(named, reverse=True) if named[name]), "")


async def _networks(call: Call, shown: Mapping[str, object]) -> dict[str, list[str]]:
    """Return addresses by network name, and by network ID where the name is unique."""
    named = _plain_addresses(shown)
    if not named:
        return {}
    params = {"name": sorted(named), "fields": ["id", "name"]}
    known: dict[str, list[str]] = {}
    for network in await call.cloud.list("neutron", "/v2.0/networks", "networks", params):
        known.setdefault(network["name"], []).append(network["id"])
    identified = {known[name][0]: addresses for name, addresses in named.items() if len(known.get(name, ())) == 1}
    return {**named, **identified}


# -- addresses with ports, subnets and networks ------------------------------------------------------------------


async def _addresses(call: Call) -> object:
    """Return the addresses per network, by name and by ID, each floating one before its fixed one."""
    ports = await call.cloud.list("neutron", "/v2.0/ports", "ports", {"device_id": call.physical_id})
    networks = await _by_id(call, "networks", {port["network_id"] for port in ports})
    subnets = await _by_id(call, "subnets", {row["subnet_id"] for port in ports for row in port["fixed_ips"]})
    floating = await _floating(call, ports)
    found: dict[str, list[dict[str, object]]] = {}
    for port in ports:
        network = networks.get(port["network_id"])
        rows = found.setdefault(port["network_id"], [])
        if network is not None:
            found[network["name"]] = rows
        for fixed in port["fixed_ips"]:
            rows += [
                _row(port, above["floating_ip_address"], "floating")
                for above in floating
                if above["port_id"] == port["id"] and above["fixed_ip_address"] == fixed["ip_address"]
            ]
            rows.append(
                _row(port, fixed["ip_address"], "fixed")
                | {"port": port["id"], "subnets": _only(subnets.get(fixed["subnet_id"])), "network": network}
            )
    return found


def _only(value: dict[str, object] | None) -> list[dict[str, object]]:
    return [] if value is None else [value]


def _row(port: Mapping[str, object], address: str, kind: str) -> dict[str, object]:
    return {
        "addr": address,
        "version": ipaddress.ip_address(address).version,
        "OS-EXT-IPS-MAC:mac_addr": port["mac_address"],
        "OS-EXT-IPS:type": kind,
        "port": None,
    }


async def _by_id(call: Call, kind: str, identifiers: set[str]) -> dict[str, dict[str, Any]]:
    if not identifiers:
        return {}
    listed = await call.cloud.list("neutron", f"/v2.0/{kind}", kind, {"id": sorted(identifiers)})
    return {item["id"]: item for item in listed}


async def _floating(call: Call, ports: list[dict[str, object]]) -> list[dict[str, Any]]:
    if not ports:
        return []
    params = {"port_id": [port["id"] for port in ports]}
    return await call.cloud.list("neutron", "/v2.0/floatingips", "floatingips", params)


# -- consoles -------------------------------------------------------------------------------------------------


async def _consoles(call: Call, key: AttributeKey) -> object:
    """Return the URL of the console that the key names, else of every kind; Nova's error message if it refuses."""
    if len(key) > 1:
        return await _console(call, str(key[1]))
    urls = await asyncio.gather(*(_console(call, kind) for kind in CONSOLES))
    return dict(zip(CONSOLES, urls, strict=True))


async def _console(call: Call, kind: str) -> str:
    if kind not in CONSOLES:
        return f"unknown kind of console {kind!r}; the kinds are {', '.join(CONSOLES)}"
    body = {"remote_console": {"protocol": CONSOLES[kind], "type": kind}}
    try:
        made = await call.cloud.post("nova", path_of(call, "/remote-consoles"), body)
    except CloudError as error:
        return error.message
    return str(made["remote_console"]["url"])


async def _given_name(call: Call) -> object:
    return _name(call)


async def _config(call: Call) -> object:
    return _agent_config(call)


_ELSEWHERE: Mapping[str, Callable[[Call], Awaitable[object]]] = {
    "name": _given_name,
    "addresses": _addresses,
    "os_collect_config": _config,
}
"""Attributes that do not need the server's own representation."""
