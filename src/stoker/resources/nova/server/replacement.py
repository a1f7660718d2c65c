"""Places on networks that a server hands to its replacement, and takes back.

Only what two servers cannot have at the same time is handed over: ports that the template names, and addresses that it
asks for by value. Nothing of it has to be remembered, for `networks` says where the server belongs, and the cloud
where it is. A refusal of Nova's means: later. So conflicts never leave this module.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from stoker.base.errors import CloudError
from stoker.plugins.outcome import Again, Done, Failed, Outcome
from stoker.plugins.resource import Call
from stoker.resources.nova.server.body import associate
from stoker.resources.nova.server.interfaces import cards_of, join, plan
from stoker.resources.nova.server.ports import delete_ports, made_here, network_of, port_name
from stoker.resources.nova.server.states import status_of
from stoker.resources.replacing import is_recorded

Entry = Mapping[str, Any]
Port = Mapping[str, Any]

_PAUSE = 2.0
_TRIES = 30


async def hand_over(call: Call) -> Outcome:
    """Have the server let go of what its replacement may ask for."""
    return await _patiently(call, _hand_over, "InterfaceDetachFailed")


async def take_over(call: Call) -> Outcome:
    """Put the server where its template says, taking from its replacement what that holds."""
    return await _patiently(call, _take_over, "InterfaceAttachFailed")


async def _patiently(call: Call, step: Callable[[Call], Awaitable[Outcome]], kind: str) -> Outcome:
    """Enter a step; a service that refuses because something else is still going on is asked again."""
    try:
        return await step(call)
    except CloudError as error:
        if not error.conflict:
            raise
        return _later(call, "refused", f"server {call.physical_id} and its networks: {error.message}", kind)


def _later(call: Call, what: str, reason: str, kind: str = "InterfaceDetachFailed") -> Outcome:
    """Once more, unless it has been tried too often."""
    tries = call.progress[what] = call.progress.get(what, 0) + 1
    return Again(after=_PAUSE) if tries < _TRIES else Failed(reason, kind)


# -- what is asked for by value -------------------------------------------------------------------------------


def _entries(call: Call) -> list[Entry]:
    return call.properties.get("networks") or []


def _asked(entry: Entry) -> dict[str, Any]:
    """What the entry asks for that only one server can have, as filters for Neutron's list of ports."""
    extra = entry.get("port_extra_properties") or {}
    asked = {
        "id": entry.get("port"),
        "fixed_ips": None if entry.get("fixed_ip") is None else f"ip_address={entry['fixed_ip']}",
        "mac_address": extra.get("mac_address"),
    }
    return {name: value for name, value in asked.items() if value is not None}


def _is_asked_for(entries: Sequence[Entry], card: Mapping[str, Any]) -> bool:
    """Whether a card has something that an entry asks for by value."""
    has = {("id", card["port_id"]), ("mac_address", card["mac_addr"])}
    has |= {("fixed_ips", f"ip_address={row['ip_address']}") for row in card.get("fixed_ips") or []}
    return any(pair in has for entry in entries for pair in _asked(entry).items())


# -- handing over ---------------------------------------------------------------------------------------------


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
        if _is_asked_for(entries, card):
            return await _release(call, str(call.physical_id), str(card["port_id"]))
    loose = made_here(call) - {str(card["port_id"]) for card in cards}
    if loose:
        await delete_ports(call, *loose)
    return Done()


async def _release(call: Call, server: str, port: str) -> Outcome:
    """Ask a server for a port. Nova answers before it is done, so this is entered until nobody finds it there."""
    answer = await call.cloud.request("DELETE", "nova", f"/servers/{server}/os-interface/{port}", ok=(404, 409))
    if answer.status in (404, 409):
        shown = await call.cloud.request("GET", "nova", f"/servers/{server}", ok=(404,))
        if shown.status == 404:
            free = {"port": {"device_id": "", "device_owner": ""}}
            await call.cloud.put("neutron", f"/v2.0/ports/{port}", free, ok=(404,))
            return Again(after=0.0)
        if status_of(shown.body["server"]) == "BUILD":
            return Again(after=_PAUSE)
        if status_of(shown.body["server"]) == "ERROR":
            await _calm(call, shown.body["server"])
    return _later(call, port, f"port {port} does not come off server {server}")


async def _calm(call: Call, server: Mapping[str, Any]) -> None:
    """Bring a server in error, which Nova takes no port from, into a state in which it does.

    One that has never run has nothing to lose: it goes, and its ports are free.
    """
    path = f"/servers/{server['id']}"
    if server.get("OS-SRV-USG:launched_at") is None:
        await call.cloud.delete("nova", path, ok=(404,))
    else:
        await call.cloud.post("nova", f"{path}/action", {"os-stop": None})


# -- taking over ----------------------------------------------------------------------------------------------


async def _take_over(call: Call) -> Outcome:
    entries = _entries(call)
    if not any(_asked(entry) or entry.get("floating_ip") for entry in entries):
        return Done()
    for index, entry in enumerate(entries):
        for port in await _held_elsewhere(call, entry):
            return await _take(call, index, entry, port)
    cards = await cards_of(call)
    todo = plan(entries, entries, cards, made_here(call))
    if todo["join"]:
        there = [str(card["port_id"]) for card in cards]
        await join(call, {"join": todo["join"], "entries": entries, "have": there})
        return Again(after=0.0)
    for index, port in todo["keep"]:
        await associate(call, entries[index], port)
    return Done()


async def _held_elsewhere(call: Call, entry: Entry) -> list[Port]:
    """Ports that keep from the server what the entry asks for."""
    found: list[Port] = []
    for name, value in _asked(entry).items():
        where = {} if name == "id" else {"network_id": await network_of(call, entry)}
        ports = await call.cloud.list("neutron", "/v2.0/ports", "ports", {name: value, **where})
        free = "" if name == "id" else None
        found += [port for port in ports if port["device_id"] not in (call.physical_id, free)]
    mine = made_here(call)
    return [port for port in found if port["device_id"] or port["id"] not in mine]


async def _take(call: Call, index: int, entry: Entry, port: Port) -> Outcome:
    """Get a port, or its address, from the server that has it: the replacement, or one that a resource moved it to."""
    holder = port["device_id"]
    if holder and await is_recorded(call, holder):
        return await _release(call, holder, port["id"])
    if not holder and entry.get("port") is None and port["name"] == port_name(call, index):
        await call.cloud.delete("neutron", f"/v2.0/ports/{port['id']}", ok=(404,))
        return Again(after=0.0)
    asked = ", ".join(f"{name} {value}" for name, value in _asked(entry).items())
    return Failed(
        f"server {call.physical_id} cannot have {asked} back: port {port['id']} has it"
        + (f", which is in {holder}" if holder else "")
        + ". Free it, then update the stack again.",
        "InterfaceAttachFailed",
    )
