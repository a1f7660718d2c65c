"""A webhook that tests serve."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

SECRET = "a secret of at least thirty-two characters"
LOCAL = ("127.0.0.0/8",)


@dataclass
class Hook:
    """What a webhook has been sent; `status` is its answer."""

    url: str = ""
    status: int = 200
    answer: bytes = b"{}"
    delay: float = 0.0
    requests: list[tuple[dict[str, str], bytes]] = field(default_factory=list)

    async def serve(self, request: web.Request) -> web.Response:
        self.requests.append((dict(request.headers), await request.read()))
        await asyncio.sleep(self.delay)
        return web.Response(status=self.status, body=self.answer, headers={"Location": self.url})

    def sent(self) -> list[dict[str, Any]]:
        return [json.loads(body) for _, body in self.requests]


@asynccontextmanager
async def served_hook() -> AsyncIterator[Hook]:
    """A webhook on the loopback address."""
    found = Hook()
    app = web.Application(client_max_size=2**26)
    app.router.add_post("/hook", found.serve)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    found.url = f"http://127.0.0.1:{runner.addresses[0][1]}/hook"
    yield found
    await runner.cleanup()


async def until(condition: Any) -> None:
    """Wait for what is sent beside the engine's virtual time."""
    for _ in range(1000):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it was not sent")
