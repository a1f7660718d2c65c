"""Storage of signals that arrive through another service: an object in Swift, a queue in Zaqar.

Both stay until the resource is deleted, so that no signal is lost when a process ends before it has recorded one.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from stoker.base.errors import BadValue, CloudError
from stoker.base.json_text import read_json
from stoker.cloud import messaging
from stoker.plugins.agents import as_stack_user
from stoker.plugins.resource import Call
from stoker.resources.heat.users.stack_user import user_project
from stoker.resources.swift.temp_url import delete_object, object_path, put_object, temp_url

if TYPE_CHECKING:
    from stoker.cloud.session import Cloud
    from stoker.cloud.transport import Answer

LOG = logging.getLogger(__name__)

OBJECT_URL = "swift_signal_url"
"""The key of `Call.data` for the signed URL of the object that signals are written to."""

OBJECT_NAME = "swift_signal_object_name"
"""The key of `Call.data` for the name of that object, if Heat created it; here it is the resource's physical name."""

QUEUE = "zaqar_signal_queue_id"
"""The key of `Call.data` for the queue that signals are sent to."""

_LARGEST = 1_048_576
"""Maximum size of a signal in bytes: the URL's holders may write any amount, and it is read into memory."""

MOST_TOGETHER = 2 * _LARGEST
"""Maximum size in bytes of the signals that are read for one resource at once."""

_MOST_VERSIONS = 10_000
"""Maximum number of versions of an object; as many as Swift lists at once."""

NOTHING_YET = b"in progress"
"""Initial content of an object whose versions are kept."""


async def choose_object(call: Call) -> bool:
    """Record the URL of the object, before it is created; return False when it is recorded already."""
    if OBJECT_URL in call.data:
        return False
    call.data[OBJECT_URL] = await temp_url(call.cloud, "PUT", _path(call))
    return True


def choose_queue(call: Call) -> bool:
    """Record the name of the queue, before it is created; return False when it is recorded already."""
    if QUEUE in call.data:
        return False
    call.data[QUEUE] = messaging.queue_name(call.physical_name)
    return True


async def empty_object(call: Call) -> None:
    """Create an empty object, for one signal at a time."""
    await put_object(call.cloud, _path(call), None)


async def versioned_object(call: Call) -> None:
    """Create an object that keeps all versions."""
    container = call.stack.id
    await call.cloud.put("swift", f"/{container}", headers={"X-Versions-Location": container})
    if (await call.cloud.request("HEAD", "swift", _path(call), ok=(404,))).status == 404:
        await call.cloud.put("swift", _path(call), data=NOTHING_YET, headers={"Content-Type": "text/plain"})


async def signal_in_object(call: Call) -> Mapping[str, object] | None:
    """Return the signal in the object; None if nothing has been written. Raises BadValue if it is not a signal."""
    shown = await call.cloud.request("HEAD", "swift", _path(call), ok=(404,))
    if shown.status == 404 or not _size(shown):
        return None
    return _signal((await call.cloud.request("GET", "swift", _path(call))).content)


async def signals_in_versions(call: Call, known: Collection[str]) -> dict[str, Mapping[str, object]]:
    """Return the signals among an object's versions by the time they were written, without those `known`.

    An older version is an object named after the time it was written. Raises BadValue if one is not a signal.
    """
    name = _name(call)
    latest = await _read(call, name)
    if latest is None:  # Heat deletes what it has read
        return {}
    prefix = f"{len(name):03x}{name}/"
    params = {"format": "json", "prefix": prefix, "limit": _MOST_VERSIONS}
    listed = await call.cloud.get("swift", f"/{call.stack.id}", params=params)
    if len(listed) >= _MOST_VERSIONS:
        raise BadValue(f"there are {len(listed)} signals or more; the maximum is {_MOST_VERSIONS - 1}")
    sizes = {str(entry["name"]).removeprefix(prefix): int(entry["bytes"]) for entry in listed}
    # Versions written since then are left for the next call, so that signals are handled in order.
    older = [time for time in sorted(sizes) if time < latest.headers["X-Timestamp"] and time not in known]
    if (together := sum(sizes[time] for time in older)) > MOST_TOGETHER:
        raise BadValue(f"the signals have {together} bytes together; the maximum is {MOST_TOGETHER}")
    written = {time: await _read(call, prefix + time) for time in older}
    if latest.headers["X-Timestamp"] not in known:
        written[str(latest.headers["X-Timestamp"])] = latest
    found = {time: answer.content for time, answer in written.items() if answer is not None}
    return {time: _signal(content) if content else {} for time, content in found.items() if content != NOTHING_YET}


async def _read(call: Call, name: str) -> Answer | None:
    """Read an object of the stack after checking its size; None if it does not exist."""
    path = object_path(call.stack.id, name)
    shown = await call.cloud.request("HEAD", "swift", path, ok=(404,))
    if shown.status == 404:
        return None
    _size(shown)
    return await call.cloud.request("GET", "swift", path)


def _size(shown: Answer) -> int:
    """Return the size of an object in bytes. Raises BadValue if it is too large for a signal."""
    size = int(shown.headers["Content-Length"])
    if size > _LARGEST:
        raise BadValue(f"the signal has {size} bytes; the maximum is {_LARGEST}")
    return size


async def empty_queue(call: Call) -> None:
    """Delete the messages that an earlier action may have left in the queue."""
    await messaging.delete_queue(await _user(call), call.data[QUEUE])


async def signals_in_queue(call: Call) -> dict[str, Mapping[str, object]]:
    """Return the signals in the queue by message ID, oldest first. Raises BadValue if one is not a signal."""
    messages = await messaging.read(await _user(call), call.data[QUEUE], MOST_TOGETHER)
    return {identifier: _map(body) for identifier, body in messages.items()}


async def remove_object(call: Call) -> None:
    """Delete the object; what is recorded of it is kept until then, so that a failed attempt can be repeated."""
    await delete_object(call.cloud, _path(call))
    del call.data[OBJECT_URL]
    call.data.pop(OBJECT_NAME, None)


async def remove_queue(call: Call) -> None:
    """Delete the queue, which only its user can; its name is kept until then, so that a failed attempt can be
    repeated."""
    if "user_id" in call.data:
        try:
            await messaging.delete_queue(await _user(call), call.data[QUEUE])
        except CloudError as error:
            if error.status != 401:
                raise
            gone = call.data["user_id"]
            LOG.info("queue %s is not deleted, because its user %s no longer exists", call.data[QUEUE], gone)
    del call.data[QUEUE]


def sender(call: Call) -> dict[str, object]:
    """Return the credentials for sending a signal as the resource's user, in the order in which Heat shows them."""
    return {
        "auth_url": call.cloud.server_auth_url,
        "username": call.physical_name,
        "user_id": call.data["user_id"],
        "password": call.data["password"],
        "project_id": user_project(call),
        "region_name": call.stack.region or call.cloud.region,
    }


async def _user(call: Call) -> Cloud:
    """Return the cloud as the resource's user, to whose project the queue belongs."""
    return await as_stack_user(call.cloud, call.data, user_project(call))


def _name(call: Call) -> str:
    return str(call.data.get(OBJECT_NAME) or call.physical_name)


def _path(call: Call) -> str:
    return object_path(call.stack.id, _name(call))


def _signal(content: bytes) -> Mapping[str, object]:
    try:
        return _map(read_json(content))
    except ValueError as error:
        raise BadValue("the signal is not JSON") from error


def _map(signal: object) -> Mapping[str, object]:
    if not isinstance(signal, Mapping):
        raise BadValue("the signal is not a JSON object")
    return signal
