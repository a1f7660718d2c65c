"""Images of a server, for snapshots of stacks and for the deletion policy Snapshot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from stoker.plugins.outcome import Done, Failed, InProgress, Outcome
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import Call, ContentCopy, Snapshot, Waiter
from stoker.resources.nova.server.body import boots_from_volume

SAVED = Waiter.until("active", pending=("queued", "saving", "importing"), failed=("error", "deleted", "killed"))
_DELETED = Waiter.until("deleted", pending=("deleting", "available"), failed=("error", "error_deleting"))
_SNAPSHOTS = "volume_snapshots"
_UPLOADING = ("image_uploading", "image_snapshot_pending", "image_snapshot", "image_pending_upload")
"""Task states of a server whose image is not finished yet, although it may be active already."""


class ServerImage(ContentCopy):
    """The image of a server in a snapshot."""

    type_name = "OS::Nova::Server"
    service = "nova"
    noted_as = "snapshot_image_id"
    recovery = Recovery(
        RecoveryMethod.NAME,
        "The image must have the physical name, which is unique, and belong to the project.",
    )

    def has_content(self, resource: Snapshot) -> bool:
        """A volume that a server boots from is copied as the resource that it is; an image of the server would consist
        of a snapshot of it, and prevent its deletion.
        """
        return not boots_from_volume(resource.properties)

    def of(self, resource: Snapshot) -> Mapping[str, object]:
        return {"server": resource.physical_id}

    def restored(self, properties: Mapping[str, object], copy: Snapshot) -> Mapping[str, object]:
        """Boot from the image; a server that boots from a volume keeps its content there."""
        return {**properties, "image": copy.physical_id} if properties.get("image") else properties

    async def find(self, call: Call) -> str | None:
        return await _image_of(call)

    async def create(self, call: Call) -> Outcome:
        server = call.properties["server"]
        if call.physical_id is None:
            image = await _begin(call, server)
            if image is None:
                return Failed(f"server {server} does not exist; no image can be created of it", "NotFound")
            return InProgress(after=SAVED.pause(call.elapsed), physical_id=image)
        shown = await _show(call, call.physical_id)
        outcome = _status_outcome(call, shown)
        if not isinstance(outcome, Done):
            return outcome
        call.data[_SNAPSHOTS] = _volume_snapshots(shown)
        answer = await call.cloud.request("GET", "nova", f"/servers/{server}", ok=(404,))
        busy = answer.status != 404 and answer.body["server"].get("OS-EXT-STS:task_state") in _UPLOADING
        return InProgress(after=SAVED.pause(call.elapsed)) if busy else outcome

    async def delete(self, call: Call) -> Outcome:
        """Delete the image and the snapshots of volumes that it names: those prevent the deletion of the volumes.

        The snapshots are recorded before the image is deleted, which alone names them.
        """
        if call.physical_id is None:
            return Done()
        if _SNAPSHOTS not in call.progress:
            named = _volume_snapshots(await _show(call, call.physical_id))
            call.progress[_SNAPSHOTS] = sorted({*named, *call.data.get(_SNAPSHOTS, ())})
            return InProgress(after=0.0)
        await call.cloud.delete("glance", f"/v2/images/{call.physical_id}", ok=(404,))
        outcomes = [await _delete_snapshot(call, snapshot) for snapshot in call.progress[_SNAPSHOTS]]
        return next((outcome for outcome in outcomes if not isinstance(outcome, Done)), Done())


async def make_image(call: Call) -> Outcome:
    """Create an image of the server, named after the resource, and wait for it, as a step.

    An image that an interrupted call created is found by its name. A server that does not exist has none.
    """
    if "image" not in call.progress:
        image = await _image_of(call) or await _begin(call, call.physical_id)
        if image is None:
            return Done()
        call.progress["image"] = call.data["snapshot_image_id"] = image
        return InProgress(after=SAVED.pause(call.elapsed))
    return _status_outcome(call, await _show(call, call.progress["image"]))


async def _show(call: Call, image: str) -> Mapping[str, Any] | None:
    """Return an image; None when it does not exist."""
    answer = await call.cloud.request("GET", "glance", f"/v2/images/{image}", ok=(404,))
    return None if answer.status == 404 else answer.body


def _status_outcome(call: Call, image: Mapping[str, Any] | None) -> Outcome:
    if image is None:
        return Failed("the image of the server was deleted before it was active", "NotFound")
    return SAVED.outcome(image["status"], elapsed=call.elapsed)


def _volume_snapshots(image: Mapping[str, Any] | None) -> list[str]:
    """Return the IDs of the snapshots of volumes that the image of a server with volumes consists of."""
    try:
        devices = orjson.loads((image or {}).get("block_device_mapping") or "[]")
    except orjson.JSONDecodeError:
        return []
    return [str(device["snapshot_id"]) for device in devices if device.get("snapshot_id")]


async def _delete_snapshot(call: Call, snapshot: str) -> Outcome:
    """Request the deletion of a snapshot of a volume until it does not exist."""
    path = f"/snapshots/{snapshot}"
    answer = await call.cloud.request("GET", "cinder", path, ok=(404,))
    if answer.status == 404:
        return Done()
    requested = call.progress.setdefault("requested", [])
    if snapshot not in requested:
        requested.append(snapshot)
        await call.cloud.delete("cinder", path, ok=(404,))
        return InProgress(after=_DELETED.pause(call.elapsed))
    return _DELETED.outcome(answer.body["snapshot"]["status"], elapsed=call.elapsed)


async def _image_of(call: Call) -> str | None:
    """Return the image with the physical name; images of servers that boot from volumes do not tell the server."""
    params = {"name": call.physical_name, "owner": call.cloud.project_id}
    listed = await call.cloud.list("glance", "/v2/images", "images", params)
    return next((str(item["id"]) for item in listed if item["name"] == call.physical_name), None)


async def _begin(call: Call, server: str | None) -> str | None:
    """Request the image; return its ID, or None when the server does not exist."""
    body = {"createImage": {"name": call.physical_name, "metadata": {}}}
    answer = await call.cloud.request("POST", "nova", f"/servers/{server}/action", json=body, ok=(404,))
    if answer.status == 404:
        return None
    if isinstance(answer.body, dict) and "image_id" in answer.body:
        return str(answer.body["image_id"])
    return str(answer.headers["Location"]).rstrip("/").rpartition("/")[2]
