"""Updating a volume in place: which requests are sent, in which order.

Some changes require a volume that is not in use: it is detached from its server before and attached again afterwards.
"""

from __future__ import annotations

from stoker.plugins.outcome import Done, Failed, InProgress, Outcome, Replace
from stoker.plugins.resource import Call, Waiter
from stoker.resources.nova.volume_attachments import attach_completely, boots_from, detach_completely, volume_shown
from stoker.resources.steps import Step

EXTENDS_IN_USE = "3.42"
"""From this microversion on a volume can be extended while it is in use."""

RESTORED = Waiter.until("available", pending=("restoring-backup",), failed=("error", "error_restoring"))
EXTENDED = Waiter.until("available", "in-use", pending=("extending",), failed=("error", "error_extending"))
RETYPED = Waiter.until("available", "in-use", pending=("retyping",), failed=("error",))
EXTENDABLE = Waiter.until("available", pending=("in-use", "detaching", "retyping", "backing-up"), failed=("error",))


def change_steps(call: Call) -> list[Step]:
    """Return the steps that apply `call.changed`."""
    changed = call.changed.keys()
    steps: list[Step] = []
    if changed & {"name", "description"}:
        steps.append(describe)
    if "metadata" in changed:
        steps.append(set_metadata)
    if call.changed.get("volume_type"):
        steps.append(_retype)
    work: list[Step] = []
    if call.changed.get("backup_id"):
        work += [_restore, set_metadata]
    if call.changed.get("size"):
        work.append(_extend)
    if "read_only" in changed:
        work.append(set_read_only)
    return [*steps, _detach, *work, _reattach] if work else steps


def _path(call: Call, below: str = "") -> str:
    return f"/volumes/{call.physical_id}{below}"


async def _act(call: Call, action: str, **arguments: object) -> None:
    await call.cloud.post("cinder", _path(call, "/action"), {action: arguments})


async def describe(call: Call) -> Outcome:
    """Set name and description, as a step; a restored volume has those of the one that was backed up."""
    name = call.properties.get("name") or call.physical_name
    body = {"name": name, "description": call.properties.get("description")}
    await call.cloud.put("cinder", _path(call), {"volume": body})
    return Done()


async def set_metadata(call: Call) -> Outcome:
    """Set the metadata, as a step; a restored volume has those of the one that was backed up."""
    await call.cloud.put("cinder", _path(call, "/metadata"), {"metadata": call.properties.get("metadata") or {}})
    return Done()


async def _retype(call: Call) -> Outcome:
    """Change the type. Cinder accepts the request, and leaves the type as it is if data would have to be moved."""
    new_type = call.properties["volume_type"]
    if call.progress.get("sent") is None:
        await _act(call, "os-retype", new_type=new_type, migration_policy="never")
        call.progress["sent"] = True
        return InProgress(after=RETYPED.pause(call.elapsed))
    shown = await volume_shown(call, str(call.physical_id))
    if shown is None:
        return _gone(call)
    outcome = RETYPED.outcome(shown["status"], elapsed=call.elapsed)
    kept_type = shown["volume_type"]
    if isinstance(outcome, Done) and not await _has_type(call, kept_type, new_type):
        return Failed(
            f"the volume has kept the type {kept_type}: Cinder cannot change it to {new_type} without moving "
            "the data to another back end",
            "Error",
        )
    return outcome


async def _has_type(call: Call, shown: str | None, declared: str) -> bool:
    """Return whether the name of a type that a volume shows is the declared one, which may be given by its ID."""
    if shown == declared:
        return True
    types = await call.cloud.list("cinder", "/types", "volume_types")
    return any(one["name"] == shown and one["id"] == declared for one in types)


async def _detach(call: Call) -> Outcome:
    """Detach the volume and record its server; one that is only extended may stay attached."""
    held = call.progress.get("held")
    if held is None:
        heavy = call.changed.get("backup_id") or "read_only" in call.changed
        if not heavy and await call.cloud.supports("cinder", EXTENDS_IN_USE):
            return Done()
        shown = await volume_shown(call, str(call.physical_id))
        attachments = shown["attachments"] if shown else []
        if not attachments:
            return Done()
        server = attachments[0]["server_id"]
        if await boots_from(call, server, str(call.physical_id)):
            why = bound_to(server)
            return Replace(why) if call.changed.get("backup_id") else Failed(why, "Conflict")
        call.progress["held"] = [server, attachments[0].get("device")]
        return InProgress(after=0.0)
    return await detach_completely(call, held[0], str(call.physical_id), str(call.physical_id))


def bound_to(server: str) -> str:
    """Say why a volume cannot be detached."""
    return f"server {server} boots from the volume, which cannot be detached from it"


async def _reattach(call: Call) -> Outcome:
    if "held" not in call.progress:
        return Done()
    server, device = call.progress["held"]
    return await attach_completely(call, server, str(call.physical_id), device)


async def _restore(call: Call) -> Outcome:
    shown = await volume_shown(call, str(call.physical_id))
    if shown is None:
        return _gone(call)
    if call.progress.get("sent") or shown["status"] == "restoring-backup":
        return RESTORED.outcome(shown["status"], elapsed=call.elapsed)
    body = {"restore": {"volume_id": call.physical_id}}
    await call.cloud.post("cinder", f"/backups/{call.properties['backup_id']}/restore", body)
    call.progress["sent"] = True
    return InProgress(after=RESTORED.pause(call.elapsed))


async def _extend(call: Call) -> Outcome:
    shown = await volume_shown(call, str(call.physical_id))
    if shown is None:
        return _gone(call)
    size = call.properties["size"]
    if call.progress.get("sent") or shown["status"] == "extending" or shown["size"] >= size:
        return EXTENDED.outcome(shown["status"], elapsed=call.elapsed)
    if shown["status"] != "in-use" or not await call.cloud.supports("cinder", EXTENDS_IN_USE):
        outcome = EXTENDABLE.outcome(shown["status"], elapsed=call.elapsed)
        if not isinstance(outcome, Done):
            return outcome
    await _act(call, "os-extend", new_size=size)
    call.progress["sent"] = True
    return InProgress(after=EXTENDED.pause(call.elapsed))


async def set_read_only(call: Call) -> Outcome:
    """Set whether the volume is read-only, as a step."""
    await _act(call, "os-update_readonly_flag", readonly=bool(call.properties.get("read_only")))
    return Done()


def _gone(call: Call) -> Failed:
    return Failed(f"volume {call.physical_id} no longer exists", "NotFound")
