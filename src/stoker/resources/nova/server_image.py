"""Keeping a server's disk as an image before the server goes (deletion policy Snapshot)."""

from __future__ import annotations

from stoker.plugins.outcome import Again, Done, Failed, Outcome
from stoker.plugins.resource import Call
from stoker.plugins.waiting import Waiter
from stoker.resources.nova.server_states import path_of

SAVED = Waiter.until("active", pending=("queued", "saving", "importing"), failed=("error", "deleted", "killed"))


async def make_image(call: Call) -> Outcome:
    """The step that makes an image of the server, named after the resource, and waits for it.

    An image of an interrupted entry is found by its name.
    """
    if "image" not in call.progress:
        image = await _begun(call) or await _begin(call)
        if image is None:
            return Done()
        call.progress["image"] = call.data["snapshot_image_id"] = image
        return Again(after=SAVED.pause(call.elapsed))
    image = call.progress["image"]
    answer = await call.cloud.request("GET", "glance", f"/v2/images/{image}", ok=(404,))
    if answer.status == 404:
        return Failed(f"image {image} of the server is gone before it was made", "NotFound")
    return SAVED.judge(answer.body["status"], elapsed=call.elapsed)


async def _begun(call: Call) -> str | None:
    params = {"name": call.physical_name, "instance_uuid": call.physical_id}
    listed = await call.cloud.list("glance", "/v2/images", "images", params)
    return next((str(item["id"]) for item in listed if item["name"] == call.physical_name), None)


async def _begin(call: Call) -> str | None:
    """The image's id; None when there is no server to make it of."""
    body = {"createImage": {"name": call.physical_name, "metadata": {}}}
    answer = await call.cloud.request("POST", "nova", path_of(call, "/action"), json=body, ok=(404,))
    if answer.status == 404:
        return None
    if isinstance(answer.body, dict) and "image_id" in answer.body:
        return str(answer.body["image_id"])
    return str(answer.headers["Location"]).rstrip("/").rpartition("/")[2]
