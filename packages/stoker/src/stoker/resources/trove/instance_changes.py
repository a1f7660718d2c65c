"""Updating a database server in place: one change after the other, each when the instance is ready.

Every step compares the present state with the declared one, so that a repeated step requests nothing twice.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import quote

from stoker.plugins.outcome import Done, Failed, InProgress, Outcome
from stoker.plugins.resource import Call
from stoker.resources.steps import Step
from stoker.resources.trove.base import READY, SERVICE, ready

Change = Callable[[Call, Mapping[str, Any]], Awaitable[bool]]
"""Requests what is still to be changed of an instance as it is shown; returns whether anything was."""
_ANY_HOST = "%"


def _path(call: Call, *parts: str) -> str:
    return "/".join((f"/instances/{call.physical_id}", *(quote(part, safe="") for part in parts)))


def _when_ready(change: Change) -> Step:
    """Return a step that makes a change when the instance is ready, and is done when nothing is left to change."""

    async def step(call: Call) -> Outcome:
        answer = await call.cloud.request("GET", SERVICE, _path(call), ok=(404,))
        if answer.status == 404:
            return Failed(f"{SERVICE} has no object {call.physical_id}: it was deleted after its creation", "NotFound")
        shown = answer.body["instance"]
        outcome = ready(shown, call.elapsed)
        if not isinstance(outcome, Done):
            return outcome
        return InProgress(after=READY.pause(call.elapsed)) if await change(call, shown) else Done()

    return step


async def _rename(call: Call, shown: Mapping[str, object]) -> bool:
    name = call.properties.get("name") or call.physical_name
    if shown["name"] == name:
        return False
    await call.cloud.request("PATCH", SERVICE, _path(call), json={"instance": {"name": name}})
    return True


async def _resize_flavor(call: Call, shown: Mapping[str, Any]) -> bool:
    flavor = call.properties["flavor"]
    if str(shown["flavor"]["id"]) == str(flavor):
        return False
    await call.cloud.post(SERVICE, _path(call, "action"), {"resize": {"flavorRef": flavor}})
    return True


async def _resize_volume(call: Call, shown: Mapping[str, Any]) -> bool:
    size = call.properties["size"]
    if shown["volume"]["size"] == size:
        return False
    await call.cloud.post(SERVICE, _path(call, "action"), {"resize": {"volume": {"size": size}}})
    return True


def _former(call: Call, name: str) -> list[dict[str, Any]]:
    return (call.previous or {}).get(name) or []


async def _change_databases(call: Call, shown: Mapping[str, object]) -> bool:
    """Create the databases that are missing, and delete those that the template no longer has.

    Databases that were created in another way are kept.
    """
    declared = {one["name"]: one for one in call.properties.get("databases") or ()}
    present = {one["name"] for one in await call.cloud.list(SERVICE, _path(call, "databases"), "databases")}
    if new := [one for name, one in declared.items() if name not in present]:
        await call.cloud.post(SERVICE, _path(call, "databases"), {"databases": new})
    for name in sorted({one["name"] for one in _former(call, "databases")} & present - declared.keys()):
        await call.cloud.request("DELETE", SERVICE, _path(call, "databases", name), ok=(404,))
    return False


async def _change_users(call: Call, shown: Mapping[str, object]) -> bool:
    """Create, change and delete users; those that were created in another way are kept.

    A user is identified by name and host. One whose host alone differs is changed.
    """
    listed = await call.cloud.list(SERVICE, _path(call, "users"), "users")
    present = {_identity(one): [entry["name"] for entry in one.get("databases") or ()] for one in listed}
    declared = {_identity(one): one for one in call.properties.get("users") or ()}
    former = {_identity(one): one for one in _former(call, "users")}
    leaving = {identity: one for identity, one in former.items() if identity not in declared}
    for identity, user in declared.items():
        moved = next((other for other in leaving if other[0] == identity[0] and other in present), None)
        if identity in present:
            await _change_user(call, identity, user, former.get(identity), present[identity])
        elif moved is not None:
            await _change_user(call, moved, user, leaving.pop(moved), present.pop(moved))
        else:
            body = {**user, "databases": [{"name": name} for name in user["databases"]]}
            await call.cloud.post(SERVICE, _path(call, "users"), {"users": [body]})
    for identity in leaving.keys() & present.keys():
        await call.cloud.request("DELETE", SERVICE, _user_path(call, identity), ok=(404,))
    return False


async def _change_user(
    call: Call,
    identity: tuple[str, str],
    user: Mapping[str, Any],
    former: Mapping[str, object] | None,
    granted: list[str],
) -> None:
    """Set a user's host and password where they differ, and the databases that the user may access.

    The present password cannot be read: it is set unless it is known to be the same.
    """
    changes = {}
    if user["host"] != identity[1]:
        changes["host"] = user["host"]
    if former is None or former["password"] != user["password"]:
        changes["password"] = user["password"]
    if changes:
        await call.cloud.put(SERVICE, _user_path(call, identity), {"user": changes})
    path = _user_path(call, _identity(user), "databases")
    if new := [name for name in user["databases"] if name not in granted]:
        await call.cloud.put(SERVICE, path, {"databases": [{"name": name} for name in new]})
    for name in granted:
        if name not in user["databases"]:
            await call.cloud.request("DELETE", SERVICE, f"{path}/{quote(name, safe='')}", ok=(404,))


def _identity(user: Mapping[str, object]) -> tuple[str, str]:
    return str(user["name"]), str(user.get("host") or _ANY_HOST)


def _user_path(call: Call, identity: tuple[str, str], *more: str) -> str:
    name, host = identity
    return _path(call, "users", name if host == _ANY_HOST else f"{name}@{host}", *more)


UPDATE_STEPS: Mapping[str, Step] = {
    "name": _when_ready(_rename),
    "flavor": _when_ready(_resize_flavor),
    "size": _when_ready(_resize_volume),
    "databases": _when_ready(_change_databases),
    "users": _when_ready(_change_users),
}
"""The steps by the property that requires them, in the order in which they are taken."""
