"""Calls of the messaging service, with the headers that it requires."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, quote, urlsplit

from stoker.base.errors import BadValue

if TYPE_CHECKING:
    from stoker.cloud.session import Cloud
    from stoker.cloud.transport import Answer


CLIENT_ID = "5f0a9d3e-6d0b-5c8c-9a53-0f6d1b7c2e41"
"""The client ID of Stoker's messages, by which clients omit their own messages from lists."""

PATCH = "application/openstack-messaging-v2.0-json-patch"
QUEUE_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
AT_ONCE = 20
"""The maximum of messages per request that every installation of the service accepts."""
LONGEST_TTL = 1_209_600
"""The longest lifetime of a message, in seconds."""


def queue_name(name: str) -> str:
    """Return a valid name of a queue for an object of a resource: the end of its physical name, which is unique."""
    return re.sub(r"[^A-Za-z0-9_-]", "-", name)[-64:]


def queue_path(name: str, tail: str = "") -> str:
    """Return the path of a queue, or of something below it."""
    return f"/queues/{quote(name, safe='')}{tail}"


async def request(
    cloud: Cloud, method: str, path: str, *, headers: Mapping[str, str] | None = None, **options: Any
) -> Answer:
    """Call `Cloud.request` for this service."""
    sent = {"Client-ID": CLIENT_ID, "X-Project-Id": cloud.project_id or "", **(headers or {})}
    return await cloud.request(method, "zaqar", path, headers=sent, **options)


async def pop(cloud: Cloud, queue: str) -> list[Any]:
    """Remove the oldest messages from a queue, and return their bodies."""
    answer = await request(cloud, "DELETE", queue_path(queue, "/messages"), params={"pop": AT_ONCE}, ok=(404,))
    messages = answer.body.get("messages", []) if isinstance(answer.body, dict) else []
    return [message["body"] for message in messages]


async def read(cloud: Cloud, queue: str, most: int) -> dict[str, Any]:
    """Return the messages of a queue without removing them: the body of each by its ID, oldest first.

    Raises BadValue if they have more than `most` bytes.
    """
    bodies: dict[str, object] = {}
    size = 0
    params: dict[str, object] = {"echo": "true", "limit": AT_ONCE}
    while True:
        answer = await request(cloud, "GET", queue_path(queue, "/messages"), params=params, ok=(204, 404))
        page = answer.body.get("messages", []) if isinstance(answer.body, dict) else []
        bodies |= {message["id"]: message["body"] for message in page}
        size += len(answer.content)
        if size > most:
            raise BadValue(f"the messages of the queue {queue} have more than {most} bytes")
        if len(page) < AT_ONCE:
            return bodies
        params["marker"] = _marker(answer.body["links"])


def _marker(links: list[dict[str, str]]) -> str:
    """Return the marker of the next page."""
    following = next(link["href"] for link in links if link["rel"] == "next")
    return parse_qs(urlsplit(following).query)["marker"][0]


async def post(cloud: Cloud, queue: str, messages: list[dict[str, object]]) -> None:
    """Put messages (`body` and `ttl`) into a queue."""
    await request(cloud, "POST", queue_path(queue, "/messages"), json={"messages": messages})


async def delete_queue(cloud: Cloud, queue: str) -> None:
    """Delete a queue with its messages; no effect when it does not exist."""
    await request(cloud, "DELETE", queue_path(queue), ok=(404,))


async def share(cloud: Cloud, queue: str, permissions: Mapping[str, object]) -> dict[str, object]:
    """Return the parts of a signed URL of a queue: paths, methods, expires, project, signature."""
    answer = await request(cloud, "POST", queue_path(queue, "/share"), json=permissions)
    shared: dict[str, object] = answer.body
    return shared
