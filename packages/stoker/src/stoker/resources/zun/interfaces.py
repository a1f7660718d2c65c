"""Changing the networks that a container is connected to, one interface after the other.

`call.progress["interfaces"]` holds the plan until all of it is done: `leave` lists the ports to detach, `join` the
indexes of entries to attach, and `have` the ports that stay.
"""

from __future__ import annotations

from typing import Any

from stoker.plugins.outcome import Done, Failed, InProgress, Outcome
from stoker.plugins.resource import Call
from stoker.resources.nova.server.interfaces import fit, plan
from stoker.resources.wire import without_nulls
from stoker.resources.zun.paths import path_of

VERSION = "1.18"
"""The microversion of lists of interfaces, as they are read here."""
_TRIES = 10
_SOONEST, _LATEST = 0.5, 12.0


async def change_networks(call: Call) -> Outcome:
    """Connect the container to its new networks, as a step."""
    if "networks" not in call.changed:
        return Done()
    todo = call.progress.get("interfaces")
    if todo is None:
        old = (call.previous or {}).get("networks") or []
        new = call.properties["networks"]
        call.progress["interfaces"] = plan(old, new, await _interfaces(call), frozenset())
        return InProgress(after=0.0)
    if todo["leave"]:
        return await _leave(call, todo)
    if todo["join"]:
        return await _join(call, todo)
    del call.progress["interfaces"]
    return Done()


async def _interfaces(call: Call) -> list[dict[str, object]]:
    shown = await call.cloud.get("zun", path_of(call, "/network_list"), microversion=VERSION)
    found: list[dict[str, object]] = shown["networks"]
    return found


async def _leave(call: Call, todo: dict[str, Any]) -> Outcome:
    """Detach the first interface of the plan, and wait until Zun does not list it any more."""
    port, tries = todo["leave"][0], todo.get("tries", 0)
    if not tries:
        await _post(call, "network_detach", {"port": port})
    elif all(entry["port_id"] != port for entry in await _interfaces(call)):
        todo.update(leave=todo["leave"][1:], tries=0)
        return InProgress(after=0.0)
    elif tries >= _most_tries(call):
        return Failed(f"Zun has not detached port {port} from the container", "ContainerInterfaceDetachFailed")
    return _later(todo, tries)


async def _join(call: Call, todo: dict[str, Any]) -> Outcome:
    """Attach the first entry of the plan, unless an interrupted call has attached it, and wait until it is listed."""
    entry, tries = call.properties["networks"][todo["join"][0]], todo.get("tries", 0)
    added = [one for one in await _interfaces(call) if one["port_id"] not in todo["have"]]
    found = next((str(one["port_id"]) for one in added if fit(entry, one) is not None), None)
    if found is not None:
        todo.update(join=todo["join"][1:], have=[*todo["have"], found], tries=0)
        return InProgress(after=0.0)
    if not tries:
        await _post(call, "network_attach", without_nulls({key: entry.get(key) for key in _PARAMETERS}))
    elif tries >= _most_tries(call):
        place = entry.get("port") or entry.get("network")
        return Failed(f"Zun has not attached {place} to the container", "ContainerInterfaceAttachFailed")
    return _later(todo, tries)


_PARAMETERS = ("network", "port", "fixed_ip")


async def _post(call: Call, action: str, params: dict[str, object]) -> None:
    ok = (404,) if action == "network_detach" else ()
    await call.cloud.request("POST", "zun", path_of(call, f"/{action}"), params=params, microversion=VERSION, ok=ok)


def _most_tries(call: Call) -> int:
    most: int = call.stack.options.get("max_interface_check_attempts", _TRIES)
    return most


def _later(todo: dict[str, object], tries: int) -> Outcome:
    todo["tries"] = tries + 1
    return InProgress(after=min(_LATEST, _SOONEST * 2**tries))
