"""Attaching volumes to servers and detaching them: calls to Nova, watched in Cinder.

An attachment's ID is the volume's ID; newer versions of Nova show it as `volumeId` only. Every function is idempotent;
none waits.
"""

from __future__ import annotations

from typing import Any

from stoker.base.errors import CloudError
from stoker.plugins.outcome import Done, Failed, InProgress, Outcome
from stoker.plugins.resource import Call, Waiter

ATTACHED = Waiter.until("in-use", pending=("available", "attaching", "reserved"), failed=("error", "error_attaching"))
DETACHED = Waiter.until(
    "available", "deleting", pending=("in-use", "detaching", "reserved"), failed=("error", "error_detaching")
)
_BUSY = 2.0
"""Seconds before a request to a busy server is retried."""


def _path(server: str) -> str:
    return f"/servers/{server}/os-volume_attachments"


async def attach(call: Call, server: str, volume: str, device: str | None = None) -> str | None:
    """Request the attachment; return its ID, or None when the server is busy."""
    body = {"volumeId": volume} | ({"device": device} if device else {})
    answer = await call.cloud.request("POST", "nova", _path(server), json={"volumeAttachment": body}, ok=(409,))
    return None if answer.status == 409 else str(answer.body["volumeAttachment"]["volumeId"])


async def attachment_of(call: Call, server: str, volume: str) -> str | None:
    """Return the ID of the volume's attachment to the server; None when it is not attached."""
    shown = await attachment_shown(call, server, volume)
    return None if shown is None else str(shown["volumeId"])


async def attachment_shown(call: Call, server: str, volume: str) -> dict[str, object] | None:
    """Return the volume's attachment to the server as Nova shows it; None when it is not attached."""
    answer = await call.cloud.request("GET", "nova", f"{_path(server)}/{volume}", ok=(404,))
    shown: dict[str, object] | None = None if answer.status == 404 else answer.body["volumeAttachment"]
    return shown


async def attached(call: Call, server: str, volume: str) -> Outcome:
    """Evaluate whether the volume is attached to its server.

    Nova records an attachment before it responds, so an available volume without one means that Nova gave up.
    """
    shown = await volume_shown(call, volume)
    if shown is None:
        return Failed(f"volume {volume} no longer exists", "NotFound")
    if shown["status"] == "available" and await attachment_of(call, server, volume) is None:
        return Failed(f"Nova gave up attaching volume {volume} to server {server}", in_error=True)
    return ATTACHED.outcome(shown["status"], elapsed=call.elapsed)


async def detach(call: Call, server: str, attachment: str) -> bool:
    """Request the detachment; return False when the server is busy and the request must be retried.

    Nova answers 400 while the volume is being detached already, and for the volume that the server boots from. Raises
    CloudError for the latter.
    """
    try:
        answer = await call.cloud.request("DELETE", "nova", f"{_path(server)}/{attachment}", ok=(404, 409))
    except CloudError as error:
        if error.status == 400 and not await boots_from(call, server, attachment):
            return True
        raise
    return answer.status != 409


async def boots_from(call: Call, server: str, volume: str) -> bool:
    """Return whether a server boots from a volume, which cannot be detached from it.

    Nova shows this to administrators only: a server without an image boots from the first of its devices.
    """
    answer = await call.cloud.request("GET", "nova", f"/servers/{server}", ok=(404,))
    if answer.status == 404 or answer.body["server"].get("image"):
        return False
    listed = (await call.cloud.get("nova", _path(server)))["volumeAttachments"]
    devices = sorted((len(row.get("device") or ""), row.get("device") or "", row["volumeId"]) for row in listed)
    return bool(devices) and devices[0][2] == volume


async def detached(call: Call, server: str, volume: str) -> Outcome:
    """Evaluate whether neither Cinder nor Nova lists the attachment any more."""
    shown = await volume_shown(call, volume)
    if shown is not None and any(row.get("server_id") == server for row in shown["attachments"]):
        outcome = DETACHED.outcome(shown["status"], elapsed=call.elapsed)
        if not isinstance(outcome, Done):
            return outcome
    if await attachment_of(call, server, volume) is not None:
        return InProgress(after=DETACHED.pause(call.elapsed))
    return Done()


async def detach_completely(call: Call, server: str, attachment: str, volume: str) -> Outcome:
    """Detach and wait, as a step."""
    if not call.progress.get("sent"):
        if not await detach(call, server, attachment):
            return InProgress(after=_BUSY)
        call.progress["sent"] = True
        return InProgress(after=DETACHED.pause(call.elapsed))
    return await detached(call, server, volume)


async def attach_completely(call: Call, server: str, volume: str, device: str | None) -> Outcome:
    """Attach and wait, as a step; an existing attachment counts as the requested one."""
    if not call.progress.get("sent"):
        if await attachment_of(call, server, volume) is None and await attach(call, server, volume, device) is None:
            return InProgress(after=_BUSY)
        call.progress["sent"] = True
        return InProgress(after=ATTACHED.pause(call.elapsed))
    return await attached(call, server, volume)


async def volume_shown(call: Call, volume: str) -> dict[str, Any] | None:
    """Return the volume as Cinder shows it; None when it does not exist."""
    answer = await call.cloud.request("GET", "cinder", f"/volumes/{volume}", ok=(404,))
    if answer.status == 404:
        return None
    if not isinstance(answer.body, dict):
        raise CloudError("cinder", 0, f"Cinder's response to GET /volumes/{volume} is not a JSON object")
    shown: dict[str, object] = answer.body["volume"]
    return shown
