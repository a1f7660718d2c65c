"""A service with scripted responses, and a catalog that contains it."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web


@dataclass
class Seen:
    """A request as the service received it."""

    method: str
    path: str
    query: list[tuple[str, str]]
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Script:
    """Answers each request with the next reply for its method and path; the last reply is repeated."""

    replies: dict[str, list[Any]] = field(default_factory=dict)
    seen: list[Seen] = field(default_factory=list)
    url: str = ""
    pause: float = 0.0
    most_at_once: int = 0
    _at_once: int = 0

    def on(self, call: str, *replies: Any) -> None:
        """Each reply is a body, a `(status, body)`, a `(status, body, headers)`, or "hang up"."""
        self.replies[call] = list(replies)

    def calls(self) -> list[str]:
        return [f"{request.method} {request.path}" for request in self.seen]

    async def serve(self, request: web.Request) -> web.StreamResponse:
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            await asyncio.sleep(self.pause)
            return await self._answer(request)
        finally:
            self._at_once -= 1

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        content = await request.read()
        path = request.rel_url.raw_path
        self.seen.append(Seen(request.method, path, list(request.query.items()), dict(request.headers), content))
        queue = self.replies.get(f"{request.method} {path}")
        reply = (404, "nothing here") if not queue else queue[0] if len(queue) == 1 else queue.pop(0)
        if reply == "hang up":
            assert request.transport is not None
            request.transport.abort()
            return web.Response()
        status, body, headers = ((*reply, {}))[:3] if isinstance(reply, tuple) else (200, reply, {})
        if isinstance(body, str | bytes):
            kind = headers.get("Content-Type", "text/plain")
            content = body.encode() if isinstance(body, str) else body
            return web.Response(status=status, body=content, headers={**headers, "Content-Type": kind})
        return web.json_response(body, status=status, headers=headers)


SERVICES = {
    "block-storage": "/volume/v3/p1",
    "compute": "/compute/v2.1",
    "image": "/image",
    "key-manager": "/key-manager",
    "load-balancer": "/load-balancer",
    "network": "/network",
    "object-store": "/swift/v1/AUTH_p1",
    "sharev2": "/share/v2/p1",
    "baremetal": "/baremetal",
    "dns": "/dns",
    "identity": "/identity",
}


def catalog(url: str) -> list[dict[str, Any]]:
    """A catalog in Keystone's format: all services public in RegionOne, the network service internal elsewhere."""

    def endpoint(interface: str, region: str, path: str) -> dict[str, str]:
        return {"id": "e", "interface": interface, "region": region, "region_id": region, "url": url + path}

    entries: list[dict[str, Any]] = [
        {"type": kind, "name": kind, "id": kind, "endpoints": [endpoint("public", "RegionOne", path)]}
        for kind, path in SERVICES.items()
    ]
    network = next(entry for entry in entries if entry["type"] == "network")
    network["endpoints"].append(endpoint("internal", "RegionOne", "/internal-network"))
    network["endpoints"].append(endpoint("public", "RegionTwo", "/network-two"))
    return entries
