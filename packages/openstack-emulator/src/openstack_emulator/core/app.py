"""A cloud on HTTP: one aiohttp application, one port."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

from aiohttp import web

from openstack_emulator.core.cloud import Cloud
from openstack_emulator.core.dispatch import dispatch
from openstack_emulator.core.http import Request, Response

LARGEST_BODY = 1 << 30
"""Bytes of an upload (an image, an object); a body is held in memory."""
LOOPBACK = "127.0.0.1"
USER = "user"
"""In place of a server's ID, for requests that a user has the cloud send to itself."""


def runner(cloud: Cloud, grace: float = 60.0) -> web.AppRunner:
    """The server of the application; bodies are not decompressed: Swift stores them as they are sent.

    A server that stops waits at most `grace` seconds for its answers in progress.
    """
    return web.AppRunner(application(cloud), access_log=None, auto_decompress=False, shutdown_timeout=grace)


def application(cloud: Cloud) -> web.Application:
    """The aiohttp application that serves the cloud; starting it starts pending state changes."""

    async def started(app: web.Application) -> AsyncIterator[None]:
        cloud.start()
        yield
        cloud.store.flush()

    async def serve_users(app: web.Application) -> AsyncIterator[None]:
        requests_of_users = guest_runner(cloud, lambda address: USER)
        await requests_of_users.setup()
        await web.TCPSite(requests_of_users, LOOPBACK, 0).start()
        cloud.request_sender.listening_address = (LOOPBACK, requests_of_users.addresses[0][1])
        yield
        await requests_of_users.cleanup()

    app = _serving(cloud)
    app.cleanup_ctx.extend((serve_users, started))
    return app


def _no_guest(address: str) -> str:
    return ""


def guest_runner(cloud: Cloud, guest: Callable[[str], str], below: str = "") -> web.AppRunner:
    """The server of an application that serves the cloud, or the service at the mount `below`, to guests.

    guest: returns the ID of the server whose guest sends requests from an address.
    """
    return web.AppRunner(_serving(cloud, guest, below), access_log=None, auto_decompress=False)


def _serving(cloud: Cloud, guest: Callable[[str], str] = _no_guest, below: str = "") -> web.Application:
    async def serve(incoming: web.Request) -> web.StreamResponse:
        request = Request(
            incoming.method,
            below + incoming.rel_url.raw_path,
            incoming.rel_url.raw_query_string,
            incoming.headers,
            await incoming.read(),
            incoming.remote or "",
            guest(incoming.remote or ""),
        )
        fault = None if _is_control(request.path) else cloud.faults.take(request)
        if fault is not None and fault.do == "delay":
            await _wait(cloud, fault.seconds)
        response = dispatch(cloud, request, fault)
        if response is None:
            return _hang_up(incoming)
        if response.later is not None:
            response.body = await response.later
            cloud.store.flush()
        return _rendered(response)

    app = web.Application(client_max_size=LARGEST_BODY)
    app.router.add_route("*", "/{path:.*}", serve)
    return app


def _is_control(path: str) -> bool:
    """Whether a request is for the control API, which no fault rule may lock out."""
    return path.lstrip("/").partition("/")[0] == "control"


def _rendered(response: Response) -> web.Response:
    payload = response.payload()
    headers = dict(response.headers)
    if (content_type := response.content_type) is not None:
        headers["Content-Type"] = content_type
    return web.Response(status=response.status, body=payload or None, headers=headers)


def _hang_up(incoming: web.Request) -> web.Response:
    if incoming.transport is not None:
        incoming.transport.abort()
    return web.Response()


async def _wait(cloud: Cloud, seconds: float) -> None:
    passed = asyncio.Event()
    timer = cloud.clock.call_later(seconds, passed.set)
    try:
        await passed.wait()
    finally:
        timer.cancel()
