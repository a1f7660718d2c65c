"""Changing a volume in place: what is asked for in which order (facts: cinder.yaml, OS::Cinder::Volume, update).

Some changes need a volume that no server has: it is taken from its server before and given back afterwards.
"""

from __future__ import annotations

from stoker.plugins.outcome import Again, Done, Failed, Outcome
from stoker.plugins.resource import Call
from stoker.plugins.waiting import Waiter
from stoker.resources.nova.volume_attachments import attach_completely, detach_completely, volume_shown
from stoker.resources.steps import Step

GROWS_IN_USE = "3.42"
"""From this microversion on a volume can grow while a server has it."""

RESTORED = Waiter.until("available", pending=("restoring-backup",), failed=("error", "error_restoring"))
GROWN = Waiter.until("available", "in-use", pending=("extending",), failed=("error", "error_extending"))
GROWABLE = Waiter.until("available", pending=("in-use", "detaching", "retyping", "backing-up"), failed=("error",))


def change_steps(call: Call) -> list[Step]:
    """The steps that bring `call.changed` about."""
    changed = call.changed.keys()
    steps: list[Step] = []
    if changed & {"name", "description"}:
        steps.append(describe)
    if "metadata" in changed:
        steps.append(_set_metadata)
    if call.changed.get("volume_type"):
        steps.append(_retype)
    work: list[Step] = []
    if call.changed.get("backup_id"):
        work.append(_restore)
    if call.changed.get("size"):
        work.append(_grow)
    if "read_only" in changed:
        work.append(set_read_only)
    return [*steps, _release, *work, _give_back] if work else steps


def _path(call: Call, below: str = "") -> str:
    return f"/volumes/{call.physical_id}{below}"


async def _act(call: Call, action: str, **arguments: object) -> None:
    await call.cloud.post("cinder", _path(call, "/action"), {action: arguments})


async def describe(call: Call) -> Outcome:
    """The step that sets name and description; a restored volume bears those of the one that was backed up."""
    name = call.properties.get("name") or call.physical_name
    body = {"name": name, "description": call.properties.get("description")}
    await call.cloud.put("cinder", _path(call), {"volume": body})
    return Done()


async def _set_metadata(call: Call) -> Outcome:
    await call.cloud.put("cinder", _path(call, "/metadata"), {"metadata": call.properties.get("metadata") or {}})
    return Done()


async def _retype(call: Call) -> Outcome:
    """Cinder goes on by itself; it refuses data that would have to move."""
    await _act(call, "os-retype", new_type=call.properties["volume_type"], migration_policy="never")
    return Done()


async def _release(call: Call) -> Outcome:
    """Take the volume from the server that has it, and remember which; one that only grows may stay."""
    held = call.progress.get("held")
    if held is None:
        heavy = call.changed.get("backup_id") or "read_only" in call.changed
        if not heavy and await call.cloud.supports("cinder", GROWS_IN_USE):
            return Done()
        shown = await volume_shown(call, str(call.physical_id))
        attachments = shown["attachments"] if shown else []
        if not attachments:
            return Done()
        call.progress["held"] = [attachments[0]["server_id"], attachments[0].get("device")]
        return Again(after=0.0)
    return await detach_completely(call, held[0], str(call.physical_id), str(call.physical_id))


async def _give_back(call: Call) -> Outcome:
    if "held" not in call.progress:
        return Done()
    server, device = call.progress["held"]
    return await attach_completely(call, server, str(call.physical_id), device)


async def _restore(call: Call) -> Outcome:
    shown = await volume_shown(call, str(call.physical_id))
    if shown is None:
        return _gone(call)
    if call.progress.get("sent") or shown["status"] == "restoring-backup":
        return RESTORED.judge(shown["status"], elapsed=call.elapsed)
    body = {"restore": {"volume_id": call.physical_id}}
    await call.cloud.post("cinder", f"/backups/{call.properties['backup_id']}/restore", body)
    call.progress["sent"] = True
    return Again(after=RESTORED.pause(call.elapsed))


async def _grow(call: Call) -> Outcome:
    shown = await volume_shown(call, str(call.physical_id))
    if shown is None:
        return _gone(call)
    size = call.properties["size"]
    if call.progress.get("sent") or shown["status"] == "extending" or shown["size"] >= size:
        return GROWN.judge(shown["status"], elapsed=call.elapsed)
    if shown["status"] != "in-use" or not await call.cloud.supports("cinder", GROWS_IN_USE):
        outcome = GROWABLE.judge(shown["status"], elapsed=call.elapsed)
        if not isinstance(outcome, Done):
            return outcome
    await _act(call, "os-extend", new_size=size)
    call.progress["sent"] = True
    return Again(after=GROWN.pause(call.elapsed))


async def set_read_only(call: Call) -> Outcome:
    """The step that sets what servers may do with the volume."""
    await _act(call, "os-update_readonly_flag", readonly=bool(call.properties.get("read_only")))
    return Done()


def _gone(call: Call) -> Failed:
    return Failed(f"volume {call.physical_id} is gone", "NotFound")
