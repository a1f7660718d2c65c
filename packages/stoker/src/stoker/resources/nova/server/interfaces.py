"""Changing the networks that a server is connected to.

`plan` compares the old and the new `networks` with the server's interfaces; `change_networks` is the step that carries
the plan out, one interface after the other. `call.progress["cards"]` holds the plan until all of it is done.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.base.errors import Invalid
from stoker.plugins.outcome import Done, Failed, InProgress, Outcome
from stoker.plugins.resource import Call
from stoker.resources.nova.server.body import associate
from stoker.resources.nova.server.ports import (
    created_port_ids,
    delete_ports,
    delete_unused,
    ensure_port,
    extra_fields,
    mark_used,
    needs_own_port,
    record_unlisted_ports,
    security_group_ids,
    unused_port,
)
from stoker.resources.nova.server.schema import PORT_EXTRA
from stoker.resources.nova.server.states import path_of
from stoker.resources.wire import without_nulls
from stoker.schema.property import Change


class UnableToAutoAllocateNetwork(Invalid):
    """There are several networks that the server could use, and the template names none."""


Entry = Mapping[str, Any]
Card = Mapping[str, Any]
"""A network interface as `GET /servers/{id}/os-interface` shows it."""

ANY_NETWORK: Entry = {}
"""An entry that leaves the choice of the network to Nova."""

_PLACES = ("port", "network", "subnet", "fixed_ip")
_TRIES = 10
_SOONEST, _LATEST = 0.5, 12.0


# -- planning -----------------------------------------------------------------------------------------------


def plan(old: Sequence[Entry], new: Sequence[Entry], cards: Sequence[Card], own: frozenset[str]) -> dict[str, Any]:
    """Return the plan as data: which ports are detached, which entries are attached, which ports stay.

    `own` are the ports that the resource has created. In the plan, `leave` lists ports to detach, `join` indexes of
    `new` to attach, `keep` pairs of an index of `new` and a port, `unlink` floating IPs to disassociate, and `have` the
    ports that stay.
    """
    ports = [str(card["port_id"]) for card in cards]
    kept: dict[int, str] = {}
    if old and not _allocated(old) and all(new):
        kept = _kept(old, new, cards, own)
    floating = {entry["floating_ip"] for entry in old if entry.get("floating_ip")}
    return {
        "leave": [port for port in ports if port not in kept.values()],
        "join": [index for index in range(len(new)) if index not in kept],
        "keep": [[index, port] for index, port in sorted(kept.items())],
        "unlink": sorted(floating - {entry.get("floating_ip") for entry in new}),
        "have": sorted(kept.values()),
    }


def _allocated(entries: Sequence[Entry]) -> bool:
    return any(entry.get("allocate_network") is not None for entry in entries)


def _kept(old: Sequence[Entry], new: Sequence[Entry], cards: Sequence[Card], own: frozenset[str]) -> dict[int, str]:
    """Return the port that each new entry keeps: {index in `new`: port}."""
    used = [(old[at], cards[card]) for at, card in _pairs(old, cards, fit).items()]

    def score(entry: Entry, candidate: tuple[Entry, Card]) -> int | None:
        before, card = candidate
        if before.get("port") not in (None, entry.get("port")):
            return None
        if not _extra_changeable(before, entry, str(card["port_id"]) in own):
            return None
        matches = fit(entry, card)
        return None if matches is None else 10 * matches + sum(entry.get(key) == before.get(key) for key in _PLACES)

    return {index: str(used[at][1]["port_id"]) for index, at in _pairs(new, used, score).items()}


def _pairs(entries: Sequence[Entry], others: Sequence[object], score: Any) -> dict[int, int]:
    """Assign greedily: the highest score first, then in order."""
    rated = [
        (-rating, at, other)
        for at, entry in enumerate(entries)
        for other, item in enumerate(others)
        if (rating := score(entry, item)) is not None
    ]
    found: dict[int, int] = {}
    for _, at, other in sorted(rated):
        if at not in found and other not in found.values():
            found[at] = other
    return found


def fit(entry: Entry, card: Card) -> int | None:
    """Return how many values of the entry the interface matches; None when one does not match."""
    addresses = card.get("fixed_ips") or []
    holds = {
        "port": {card["port_id"]},
        "network": {card["net_id"]},
        "subnet": {row["subnet_id"] for row in addresses},
        "fixed_ip": {row["ip_address"] for row in addresses},
    }
    requested = [key for key in _PLACES if entry.get(key) is not None]
    return len(requested) if all(entry[key] in holds[key] for key in requested) else None


def _extra_changeable(before: Entry, after: Entry, own: bool) -> bool:
    """Return whether a port can be updated to the new `port_extra_properties`."""
    old, new = before.get("port_extra_properties"), after.get("port_extra_properties")
    if old == new:
        return True
    if not own or new is None:
        return False
    differing = {key for key in PORT_EXTRA if (old or {}).get(key) != new.get(key)}
    return all(PORT_EXTRA[key].change is Change.UPDATE and key != "no_fixed_ips" for key in differing)


# -- execution -----------------------------------------------------------------------------------------------------


async def change_networks(call: Call) -> Outcome:
    """Connect the server to its new networks, as a step."""
    cards = call.progress.get("cards")
    if not (call.previous or {}).get("networks") and not call.properties.get("networks"):
        return Done()
    if cards is None:
        call.progress["cards"] = await _planned(call)
        return InProgress(after=0.0)
    if cards["leave"]:
        return await _leave(call, cards)
    if cards["join"]:
        await join(call, cards)
        return InProgress(after=0.0)
    del call.progress["cards"]
    return Done()


async def _planned(call: Call) -> dict[str, Any]:
    """Return the plan, having updated the ports that stay and disassociated floating IPs."""
    await delete_unused(call)
    old = (call.previous or {}).get("networks") or []
    new = await _entries(call)
    own = created_port_ids(call)
    todo = plan(old, new, await cards_of(call), own)
    todo["entries"] = new
    for address in todo.pop("unlink"):
        body = {"floatingip": {"port_id": None}}
        await call.cloud.put("neutron", f"/v2.0/floatingips/{address}", body, ok=(404,))
    for index, port in todo.pop("keep"):
        extra = new[index].get("port_extra_properties")
        if extra is not None and port in own:
            await call.cloud.put("neutron", f"/v2.0/ports/{port}", {"port": extra_fields(extra)})
        await associate(call, new[index], port)
    return todo


async def _entries(call: Call) -> list[Entry]:
    """Return the entries to attach, with `allocate_network` resolved."""
    new: list[Entry] = call.properties.get("networks") or []
    if not new:
        return [ANY_NETWORK]
    if not _allocated(new):
        return new
    return [] if new[0]["allocate_network"] == "none" else [{"network": await _automatic_network(call)}]


async def _automatic_network(call: Call) -> str:
    """Return the project's only network, shared ones included, or one that Neutron allocates."""
    up = {"admin_state_up": True, "fields": "id"}
    mine = {**up, "tenant_id": call.cloud.project_id, "shared": False}
    found = await call.cloud.list("neutron", "/v2.0/networks", "networks", mine)
    found += await call.cloud.list("neutron", "/v2.0/networks", "networks", {**up, "shared": True})
    if len(found) > 1:
        raise UnableToAutoAllocateNetwork(
            f"allocate_network is auto, and there are {len(found)} networks to choose from; name one in networks"
        )
    if found:
        return str(found[0]["id"])
    made = await call.cloud.get("neutron", f"/v2.0/auto-allocated-topology/{call.cloud.project_id}")
    return str(made["auto_allocated_topology"]["id"])


async def cards_of(call: Call) -> list[dict[str, object]]:
    shown = await call.cloud.get("nova", path_of(call, "/os-interface"))
    cards: list[dict[str, object]] = shown["interfaceAttachments"]
    return cards


async def _leave(call: Call, cards: dict[str, Any]) -> Outcome:
    """Detach the first interface of the plan; delete its port once it is free if the resource created it."""
    port, tries = cards["leave"][0], cards.get("tries", 0)
    if not tries:
        await call.cloud.delete("nova", path_of(call, f"/os-interface/{port}"), ok=(404,))
    elif await _free(call, port):
        await delete_ports(call, port)
        cards["leave"], cards["tries"] = cards["leave"][1:], 0
        return InProgress(after=0.0)
    elif tries >= call.stack.options.get("max_interface_check_attempts", _TRIES):
        return Failed(f"Nova has not detached port {port} from the server", "InterfaceDetachFailed")
    cards["tries"] = tries + 1
    return InProgress(after=min(_LATEST, _SOONEST * 2**tries))


async def _free(call: Call, port: str) -> bool:
    answer = await call.cloud.request("GET", "neutron", f"/v2.0/ports/{port}", ok=(404,))
    return answer.status == 404 or answer.body["port"]["device_id"] != call.physical_id


async def join(call: Call, cards: dict[str, Any]) -> None:
    """Attach the first interface of the plan, unless an interrupted call has attached it.

    A port that is created for it is recorded before it is used, because Nova then overwrites the port's mark.
    """
    index = cards["join"][0]
    entry = cards["entries"][index]
    requested_port = entry.get("port")
    if needs_own_port(entry):
        requested_port = unused_port(call, index)
        if requested_port is None:
            await record_unlisted_ports(call)
            await ensure_port(call, index, entry)
            return
    arrived = await _already_attached(call, cards, requested_port)
    port = arrived or await _attach(call, entry, requested_port)
    mark_used(call, port)
    if requested_port is None and (groups := await security_group_ids(call)):
        await call.cloud.put("neutron", f"/v2.0/ports/{port}", {"port": {"security_groups": groups}})
    await associate(call, entry, port)
    cards["join"], cards["have"] = cards["join"][1:], [*cards["have"], port]


async def _already_attached(call: Call, cards: Mapping[str, Any], port: str | None) -> str | None:
    """Return the port that is attached already: the requested one, or a new one if Nova chooses the port."""
    there = {str(card["port_id"]) for card in await cards_of(call)} - set(cards["have"])
    return port if port in there else next(iter(there), None) if port is None else None


async def _attach(call: Call, entry: Entry, port: str | None) -> str:
    body: dict[str, object] = {"port_id": port} if port is not None else {"net_id": entry.get("network")}
    if port is None and entry.get("fixed_ip") is not None:
        body["fixed_ips"] = [{"ip_address": entry["fixed_ip"]}]
    made = await call.cloud.post("nova", path_of(call, "/os-interface"), {"interfaceAttachment": without_nulls(body)})
    return str(made["interfaceAttachment"]["port_id"])
