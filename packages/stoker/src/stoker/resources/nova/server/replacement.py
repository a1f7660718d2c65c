"""Ports and addresses that pass from a server to its replacement, and back in a rollback.

Only what two servers cannot have at the same time is passed on: ports that the template names, and addresses that it
requests by value. Nothing has to be recorded for it: `networks` states what the server should have, and the cloud what
it has. A conflict in Nova is retried, and so never leaves this module.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from stoker.base.errors import CloudError
from stoker.plugins.outcome import Done, Failed, InProgress, Outcome
from stoker.plugins.resource import Call
from stoker.resources.nova.server.body import associate
from stoker.resources.nova.server.interfaces import cards_of, join, plan
from stoker.resources.nova.server.ports import created_port_ids, delete_ports, network_of, port_name
from stoker.resources.nova.server.states import status_of
from stoker.resources.replacement import is_recorded

Entry = Mapping[str, Any]
Port = Mapping[str, Any]

_PAUSE = 2.0
_TRIES = 30


async def hand_over(call: Call) -> Outcome:
    """Release the ports and addresses that the replacement may request."""
    return await _with_retries(call, _hand_over, "InterfaceDetachFailed")


async def reconnect(call: Call) -> Outcome:
    """Connect the server as its template states, taking its ports and addresses from the replacement."""
    return await _with_retries(call, _reconnect, "InterfaceAttachFailed")


async def _with_retries(call: Call, step: Callable[[Call], Awaitable[Outcome]], kind: str) -> Outcome:
    """Call a step; retry when a service refuses because another operation is still in progress."""
    try:
        return await step(call)
    except CloudError as error:
        if not error.conflict:
            raise
        return _later(call, "refused", f"server {call.physical_id} and its networks: {error.message}", kind)


def _later(call: Call, what: str, reason: str, kind: str = "InterfaceDetachFailed") -> Outcome:
    """Retry, unless the maximum number of tries is reached."""
    tries = call.progress[what] = call.progress.get(what, 0) + 1
    return InProgress(after=_PAUSE) if tries < _TRIES else Failed(reason, kind)


# -- requested addresses ----------------------------------------------------------------------------


def _entries(call: Call) -> list[Entry]:
    return call.properties.get("networks") or []


def _asked(entry: Entry) -> dict[str, Any]:
    """Return what the entry requests that only one server can have, as filters for Neutron's list of ports."""
    extra = entry.get("port_extra_properties") or {}
    requested = {
        "id": entry.get("port"),
        "fixed_ips": None if entry.get("fixed_ip") is None else f"ip_address={entry['fixed_ip']}",
        "mac_address": extra.get("mac_address"),
    }
    return {name: value for name, value in requested.items() if value is not None}


def _is_requested(entries: Sequence[Entry], card: Mapping[str, Any]) -> bool:
    """Return whether an interface has something that an entry requests by value."""
    has = {("id", card["port_id"]), ("mac_address", card["mac_addr"])}
    has |= {("fixed_ips", f"ip_address={row['ip_address']}") for row in card.get("fixed_ips") or []}
    return any(pair in has for entry in entries for pair in _asked(entry).items())


# -- handover -------------------------------------------------------------------------------------------------


async def _hand_over(call: Call) -> Outcome:
    entries = _entries(call)
    if not any(_asked(entry) for entry in entries):
        return Done()
    try:
        cards = await cards_of(call)
    except CloudError as error:
        if not error.not_found:
            raise
        cards = []
    for card in cards:
        if _is_requested(entries, card):
            return await _release(call, str(call.physical_id), str(card["port_id"]))
    loose = created_port_ids(call) - {str(card["port_id"]) for card in cards}
    if loose:
        await delete_ports(call, *loose)
    return Done()


async def _release(call: Call, server: str, port: str) -> Outcome:
    """Detach a port from a server. Nova responds before it is done: this is called until the port is not found."""
    answer = await call.cloud.request("DELETE", "nova", f"/servers/{server}/os-interface/{port}", ok=(404, 409))
    if answer.status in (404, 409):
        shown = await call.cloud.request("GET", "nova", f"/servers/{server}", ok=(404,))
        if shown.status == 404:
            free = {"port": {"device_id": "", "device_owner": ""}}
            await call.cloud.put("neutron", f"/v2.0/ports/{port}", free, ok=(404,))
            return InProgress(after=0.0)
        if status_of(shown.body["server"]) == "BUILD":
            return InProgress(after=_PAUSE)
        if status_of(shown.body["server"]) == "ERROR":
            await _leave_error(call, shown.body["server"])
    return _later(call, port, f"Nova has not detached port {port} from server {server}")


async def _leave_error(call: Call, server: Mapping[str, object]) -> None:
    """Bring a server in status ERROR, from which Nova detaches no port, into a status in which it does.

    A server that has never run has no data: it is deleted, which frees its ports.
    """
    path = f"/servers/{server['id']}"
    if server.get("OS-SRV-USG:launched_at") is None:
        await call.cloud.delete("nova", path, ok=(404,))
    else:
        await call.cloud.post("nova", f"{path}/action", {"os-stop": None})


# -- takeover -------------------------------------------------------------------------------------------------


async def _reconnect(call: Call) -> Outcome:
    entries = _entries(call)
    if not any(_asked(entry) or entry.get("floating_ip") for entry in entries):
        return Done()
    for index, entry in enumerate(entries):
        for port in await _held_elsewhere(call, entry):
            return await _take(call, index, entry, port)
    cards = await cards_of(call)
    todo = plan(entries, entries, cards, created_port_ids(call))
    if todo["join"]:
        there = [str(card["port_id"]) for card in cards]
        await join(call, {"join": todo["join"], "entries": entries, "have": there})
        return InProgress(after=0.0)
    for index, port in todo["keep"]:
        await associate(call, entries[index], port)
    return Done()


async def _held_elsewhere(call: Call, entry: Entry) -> list[Port]:
    """Return the ports elsewhere that hold what the entry requests."""
    found: list[Port] = []
    for name, value in _asked(entry).items():
        where = {} if name == "id" else {"network_id": await network_of(call, entry)}
        ports = await call.cloud.list("neutron", "/v2.0/ports", "ports", {name: value, **where})
        free = "" if name == "id" else None
        found += [port for port in ports if port["device_id"] not in (call.physical_id, free)]
    mine = created_port_ids(call)
    return [port for port in found if port["device_id"] or port["id"] not in mine]


async def _take(call: Call, index: int, entry: Entry, port: Port) -> Outcome:
    """Take a port, or its address, from the server that has it: the replacement, or one that a resource moved it to."""
    holder = port["device_id"]
    if holder and await is_recorded(call, holder):
        return await _release(call, holder, port["id"])
    if not holder and entry.get("port") is None and port["name"] == port_name(call, index):
        await call.cloud.delete("neutron", f"/v2.0/ports/{port['id']}", ok=(404,))
        return InProgress(after=0.0)
    requested = ", ".join(f"{name} {value}" for name, value in _asked(entry).items())
    return Failed(
        f"server {call.physical_id} cannot get {requested} back: port {port['id']} uses it"
        + (f", which is attached to {holder}" if holder else "")
        + ". Free it, then update the stack again.",
        "InterfaceAttachFailed",
    )
