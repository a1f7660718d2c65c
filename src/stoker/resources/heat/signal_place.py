"""Where signals are kept that reach this service by way of another one: an object in Swift, a queue in Zaqar.

Both stay as they are until the resource is removed, so that no signal is lost when a process ends before it has
recorded one. Facts: heat.yaml, common.signal_responder.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Mapping
from typing import Any

from stoker.base.errors import BadValue, CloudError
from stoker.cloud import messaging
from stoker.cloud.session import Cloud
from stoker.cloud.transport import Answer
from stoker.plugins.agents import as_stack_user
from stoker.plugins.resource import Call
from stoker.resources.heat.stack_user import user_project
from stoker.resources.swift.temp_url import delete_object, object_path, put_object, temp_url

LOG = logging.getLogger(__name__)

OBJECT_URL = "swift_signal_url"
"""The key of `Call.data` for the signed URL of the object that signals are written to."""

QUEUE = "zaqar_signal_queue_id"
"""The key of `Call.data` for the queue that signals are sent to."""

_LARGEST = 1_048_576
"""Bytes that a signal may have: anybody with the URL may write, and it is read into memory."""

_NOTHING_YET = b"in progress"
"""What an object whose versions are kept has in it at first."""


async def choose(call: Call, transport: str) -> bool:
    """Note where signals are to be kept, before anything is there; False when that has been recorded already."""
    if transport == "TEMP_URL_SIGNAL" and OBJECT_URL not in call.data:
        call.data[OBJECT_URL] = await temp_url(call.cloud, "PUT", _path(call))
        return True
    if transport == "ZAQAR_SIGNAL" and QUEUE not in call.data:
        call.data[QUEUE] = call.physical_name
        return True
    return False


async def empty_object(call: Call) -> None:
    """Have an object without content, for one signal at a time."""
    await put_object(call.cloud, _path(call), None)


async def versioned_object(call: Call) -> None:
    """Have an object that keeps everything that is ever written to it."""
    container = call.stack.id
    await call.cloud.put("swift", f"/{container}", headers={"X-Versions-Location": container})
    await call.cloud.put("swift", _path(call), data=_NOTHING_YET, headers={"Content-Type": "text/plain"})


async def signal_in_object(call: Call) -> Mapping[str, Any] | None:
    """The signal in the object; None while nothing has been written. Raises BadValue for what is no signal."""
    shown = await call.cloud.request("HEAD", "swift", _path(call), ok=(404,))
    if shown.status == 404 or not _size(shown):
        return None
    return _signal((await call.cloud.request("GET", "swift", _path(call))).content)


async def signals_in_versions(call: Call, known: Collection[str]) -> dict[str, Mapping[str, Any]]:
    """The signals among an object's versions by the times of their writing; those `known` are left out.

    An older version is an object too, named after the time at which it was written. Raises BadValue for what is no
    signal.
    """
    latest = await _read(call, call.physical_name)
    prefix = f"{len(call.physical_name):03x}{call.physical_name}/"
    listed = await call.cloud.list("swift", f"/{call.stack.id}", "", {"format": "json", "prefix": prefix})
    times = sorted(str(entry["name"]).removeprefix(prefix) for entry in listed)
    # What has been written since then comes next time, so that all are taken in their order.
    older = [time for time in times if time < latest.headers["X-Timestamp"] and time not in known]
    written = {time: (await _read(call, prefix + time)).content for time in older}
    if latest.headers["X-Timestamp"] not in known:
        written[str(latest.headers["X-Timestamp"])] = latest.content
    return {time: _signal(content) if content else {} for time, content in written.items() if content != _NOTHING_YET}


async def _read(call: Call, name: str) -> Answer:
    """An object of the stack, looked at before it is read."""
    path = object_path(call.stack.id, name)
    _size(await call.cloud.request("HEAD", "swift", path))
    return await call.cloud.request("GET", "swift", path)


def _size(shown: Answer) -> int:
    """The size of an object. Raises BadValue for one that is too large for a signal."""
    size = int(shown.headers["Content-Length"])
    if size > _LARGEST:
        raise BadValue(f"what was written as a signal has {size} bytes; it may have {_LARGEST}")
    return size


async def empty_queue(call: Call) -> None:
    """Have no messages in the queue, which an earlier action may have left there."""
    await messaging.delete_queue(await _user(call), call.data[QUEUE])


async def signals_in_queue(call: Call) -> dict[str, Mapping[str, Any]]:
    """The signals in the queue by the ids of their messages, the oldest first. Raises BadValue for what is none."""
    messages = await messaging.read(await _user(call), call.data[QUEUE])
    return {identifier: _map(body) for identifier, body in messages.items()}


async def remove_places(call: Call) -> None:
    """Remove the object and the queue, whichever there is."""
    if call.data.pop(OBJECT_URL, None) is not None:
        await delete_object(call.cloud, _path(call))
    queue = call.data.pop(QUEUE, None)
    if queue is not None and "user_id" in call.data:
        try:
            await messaging.delete_queue(await _user(call), queue)
        except CloudError as error:
            if error.status != 401:
                raise
            LOG.info("the queue %s is left: its user %s is gone", queue, call.data["user_id"])


def sender(call: Call) -> dict[str, Any]:
    """What one needs to know to send a signal as the resource's user."""
    return {
        "auth_url": call.cloud.server_auth_url,
        "username": call.physical_name,
        "user_id": call.data["user_id"],
        "password": call.data["password"],
        "project_id": user_project(call),
        "region_name": call.stack.region or call.cloud.region,
    }


async def _user(call: Call) -> Cloud:
    """Calls as the resource's user, to whose project the queue belongs."""
    return await as_stack_user(call.cloud, call.data, user_project(call))


def _path(call: Call) -> str:
    return object_path(call.stack.id, call.physical_name)


def _signal(content: bytes) -> Mapping[str, Any]:
    try:
        return _map(json.loads(content))
    except ValueError as error:
        raise BadValue("what was written as a signal is not JSON") from error


def _map(said: Any) -> Mapping[str, Any]:
    if not isinstance(said, Mapping):
        raise BadValue("what was sent as a signal is not a JSON object")
    return said
