"""Images of a server, for snapshots of stacks and for the deletion policy Snapshot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.plugins.outcome import Again, Done, Failed, Outcome
from stoker.plugins.recovery import FoundBy, Recovery
from stoker.plugins.resource import Call, ContentCopy, Snapshot
from stoker.plugins.waiting import Waiter

SAVED = Waiter.until("active", pending=("queued", "saving", "importing"), failed=("error", "deleted", "killed"))
_UPLOADING = ("image_uploading", "image_snapshot_pending", "image_snapshot", "image_pending_upload")
"""Task states of a server whose image is not finished yet, although it may be active already."""


class ServerImage(ContentCopy):
    """The image of a server in a snapshot."""

    type_name = "OS::Nova::Server"
    service = "nova"
    recovery = Recovery(
        FoundBy.NAME,
        "The image must have the physical name and be one of the server, in the project.",
    )

    def of(self, resource: Snapshot) -> Mapping[str, Any]:
        return {"server": resource.physical_id}

    def noted(self, copy: Snapshot) -> Mapping[str, Any]:
        return {"snapshot_image_id": copy.physical_id}

    def restored(self, properties: Mapping[str, Any], copy: Snapshot) -> Mapping[str, Any]:
        """Boot from the image; a server that boots from a volume keeps its content there."""
        return {**properties, "image": copy.physical_id} if properties.get("image") else properties

    async def find(self, call: Call) -> str | None:
        return await _image_of(call, call.properties["server"])

    async def create(self, call: Call) -> Outcome:
        server = call.properties["server"]
        if call.physical_id is None:
            image = await _begin(call, server)
            if image is None:
                return Failed(f"server {server} does not exist; no image can be created of it", "NotFound")
            return Again(after=SAVED.pause(call.elapsed), physical_id=image)
        outcome = await _look(call, call.physical_id)
        if not isinstance(outcome, Done):
            return outcome
        shown = await call.cloud.request("GET", "nova", f"/servers/{server}", ok=(404,))
        busy = shown.status != 404 and shown.body["server"].get("OS-EXT-STS:task_state") in _UPLOADING
        return Again(after=SAVED.pause(call.elapsed)) if busy else outcome

    async def delete(self, call: Call) -> Outcome:
        if call.physical_id is not None:
            await call.cloud.delete("glance", f"/v2/images/{call.physical_id}", ok=(404,))
        return Done()


async def make_image(call: Call) -> Outcome:
    """Create an image of the server, named after the resource, and wait for it, as a step.

    An image that an interrupted call created is found by its name. A server that does not exist has none.
    """
    if "image" not in call.progress:
        image = await _image_of(call, call.physical_id) or await _begin(call, call.physical_id)
        if image is None:
            return Done()
        call.progress["image"] = call.data["snapshot_image_id"] = image
        return Again(after=SAVED.pause(call.elapsed))
    return await _look(call, call.progress["image"])


async def _look(call: Call, image: str) -> Outcome:
    answer = await call.cloud.request("GET", "glance", f"/v2/images/{image}", ok=(404,))
    if answer.status == 404:
        return Failed(f"image {image} of the server was deleted before it was active", "NotFound")
    return SAVED.judge(answer.body["status"], elapsed=call.elapsed)


async def _image_of(call: Call, server: str | None) -> str | None:
    params = {"name": call.physical_name, "instance_uuid": server}
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
