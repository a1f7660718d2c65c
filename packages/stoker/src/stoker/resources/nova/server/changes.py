"""Updating a server in place: which requests are sent, in which order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.base.errors import CloudError
from stoker.plugins.outcome import Done, Failed, InProgress, Outcome
from stoker.plugins.resource import Call, index_object
from stoker.resources.nova.server.body import encoded, nova_metadata, personality
from stoker.resources.nova.server.interfaces import change_networks
from stoker.resources.nova.server.states import (
    ACTIVE,
    CONFIRMED,
    RESIZED,
    act,
    fault_of,
    path_of,
    read_server,
    status_of,
    status_outcome,
)
from stoker.resources.nova.software_config import is_configured, reconfigure
from stoker.resources.nova.user_data import boot_data
from stoker.resources.nova.volume_attachments import volume_shown
from stoker.resources.steps import Step

_REPLACING = {
    "flavor": "flavor_update_policy",
    "image": "image_update_policy",
    "user_data": "user_data_update_policy",
}
"""Properties whose change may replace the server, and the property with the policy."""

_BUSY = 2.0
"""Seconds after which volumes that are being attached or detached are looked at again."""

_RESIZE_STARTS = 30.0
"""Seconds after which an idle server counts as not resizing."""


def replacement_reason(after: Mapping[str, object], changed: Mapping[str, object]) -> str | None:
    """Return why the changed properties need a new server; None if they do not."""
    for name, policy in _REPLACING.items():
        if name in changed and after.get(policy) == "REPLACE":
            return f"{name} changes and {policy} is REPLACE"
    if "image" in changed and not after.get("image"):
        return "the server no longer boots from an image"
    return None


def change_steps(call: Call) -> list[Step]:
    """Return the steps that apply `call.changed`."""
    changed = call.changed
    user_data = "user_data" in changed and call.properties["user_data_update_policy"] == "REBUILD"
    table: list[tuple[bool, tuple[Step, ...]]] = [
        (is_configured(call), (reconfigure,)),
        ("metadata" in changed, (_set_metadata,)),
        ("tags" in changed, (_set_tags,)),
        ("name" in changed, (_set_name,)),
        ("networks" in changed, (change_networks, _read_again)),
        ("flavor" in changed, (_resize, _confirm)),
        (user_data or "image" in changed, (_rebuild,)),
        ("admin_pass" in changed and "image" not in changed, (_set_password,)),
    ]
    return [step for is_changed, steps in table if is_changed for step in steps]


async def _read_again(call: Call) -> Outcome:
    """Read the server once more, since its addresses are others now."""
    await read_server(call)
    return Done()


async def _set_metadata(call: Call) -> Outcome:
    body = {"metadata": nova_metadata(call.properties.get("metadata"))}
    await call.cloud.put("nova", path_of(call, "/metadata"), body)
    return Done()


async def _set_tags(call: Call) -> Outcome:
    await call.cloud.put("nova", path_of(call, "/tags"), {"tags": call.properties.get("tags") or []})
    return Done()


async def _set_name(call: Call) -> Outcome:
    name = call.properties.get("name") or call.physical_name
    await call.cloud.put("nova", path_of(call), {"server": {"name": name}})
    index_object(call, {"name": name}, "name", ())
    return Done()


async def _set_password(call: Call) -> Outcome:
    if call.properties.get("admin_pass"):
        await act(call, "changePassword", {"adminPass": call.properties["admin_pass"]})
    return Done()


# -- changing the flavor -----------------------------------------------------------------------------------------


async def _resize(call: Call) -> Outcome:
    if "sent" not in call.progress:
        await _begin(call, "resize", {"flavorRef": call.properties["flavor"]}, ("RESIZE", "VERIFY_RESIZE"))
        call.progress["sent"] = call.elapsed
        return InProgress(after=RESIZED.every / 5)
    shown = await read_server(call)
    if shown is not None and _idle(shown) and call.elapsed - call.progress["sent"] > _RESIZE_STARTS:
        return await _resized_already(call, shown)
    return status_outcome(call, shown, RESIZED)


def _idle(shown: Mapping[str, object]) -> bool:
    return status_of(shown) == "ACTIVE" and shown.get("OS-EXT-STS:task_state") is None


async def _resized_already(call: Call, shown: Mapping[str, Any]) -> Outcome:
    """Evaluate a server back in ACTIVE: Nova has confirmed the resize itself, or could not resize it."""
    flavor = call.properties["flavor"]
    if "original_name" in shown["flavor"]:
        flavor = (await call.cloud.get("nova", f"/flavors/{flavor}"))["flavor"]["name"]
    if flavor in (shown["flavor"].get("original_name"), shown["flavor"].get("id")):
        return Done()
    return Failed("Nova could not resize the server and left it unchanged; see its instance actions for the reason")


async def _confirm(call: Call) -> Outcome:
    shown = await read_server(call)
    if shown is None or "resize" in (shown.get("OS-EXT-STS:task_state") or ""):
        return InProgress(after=CONFIRMED.pause(call.elapsed))
    if "sent" not in call.progress:
        if status_of(shown) == "VERIFY_RESIZE":
            await act(call, "confirmResize")
        call.progress["sent"] = True
        return InProgress(after=CONFIRMED.pause(call.elapsed))
    return status_outcome(call, shown, CONFIRMED)


# -- changing the image or user data -------------------------------------------------------------------------


async def _rebuild(call: Call) -> Outcome:
    if not call.progress.get("sent"):
        if await _is_connecting(call):
            return InProgress(after=_BUSY)
        await _begin(call, "rebuild", await _rebuilt(call), ("REBUILD",))
        call.progress["sent"] = True
        return InProgress(after=ACTIVE.pause(call.elapsed))
    shown = await read_server(call)
    if shown is None or status_of(shown) == "REBUILD":
        return InProgress(after=ACTIVE.pause(call.elapsed))
    if status_of(shown) == "ERROR":
        return Failed(f"the server could not be rebuilt: {fault_of(shown) or 'Nova gives no reason'}")
    return Done()


async def _is_connecting(call: Call) -> bool:
    """Return whether a volume of the server is being attached or detached.

    A rebuild attaches all volumes again, so Nova refuses it then, or loses a volume that it does not see in time.
    """
    shown = await read_server(call) or {}
    for volume in shown.get("os-extended-volumes:volumes_attached", ()):
        found = await volume_shown(call, volume["id"])
        if found is not None and found["status"] in ("attaching", "detaching"):
            return True
    return False


async def _rebuilt(call: Call) -> dict[str, object]:
    """Return the body of the rebuild action."""
    given = call.properties
    body: dict[str, object] = {"imageRef": given["image"]}
    if given.get("admin_pass"):
        body["adminPass"] = given["admin_pass"]
    if given["image_update_policy"] == "REBUILD_PRESERVE_EPHEMERAL":
        body["preserve_ephemeral"] = True
    if metadata := nova_metadata(given.get("metadata")):
        body["metadata"] = metadata
    if files := await personality(call):
        body["personality"] = files
    if "user_data" in call.changed and given["user_data_update_policy"] == "REBUILD":
        body["user_data"] = encoded(await boot_data(call))
    return body


async def _begin(call: Call, action: str, arguments: Mapping[str, object], under_way: tuple[str, ...]) -> None:
    """Request an action that Nova refuses to do twice; accept a conflict if an interrupted call has requested it."""
    try:
        await act(call, action, arguments)
    except CloudError as error:
        if not error.conflict:
            raise
        shown = await read_server(call)
        if shown is None or status_of(shown) not in under_way:
            raise
