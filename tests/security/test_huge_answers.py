"""Services of the operator's own cloud that answer too much: a broken proxy, or a service that was taken over."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker_foundation.clock import SystemClock
from testing.harness import World

MIB = 1024 * 1024
HOT = {
    "heat_template_version": "2021-04-16",
    "resources": {"net": {"type": "OS::Neutron::Net"}},
    "outputs": {"show": {"value": {"get_attr": ["net", "show"]}}},
}


class Proxy:
    """Stands before the network service, and can answer in its place: `answers` are by method and path."""

    def __init__(self, served: ServedCloud) -> None:
        self._served = served
        self.answers: dict[tuple[str, str], tuple[bytes, dict[str, str]]] = {}
        self.asked: list[str] = []

    async def serve(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(f"{request.method} {request.path}")
        known = self.answers.get((request.method, request.path))
        if known is not None:
            content, headers = known
            status = 201 if request.method == "POST" else 200
            return web.Response(body=content, status=status, content_type="application/json", headers=headers)
        url = f"{self._served.url}{request.path_qs}"
        kept = {
            name: value for name, value in request.headers.items() if name.lower() not in ("host", "content-length")
        }
        async with (
            aiohttp.ClientSession(auto_decompress=False) as session,
            session.request(request.method, url, data=await request.read(), headers=kept) as answer,
        ):
            return web.Response(body=await answer.read(), status=answer.status, content_type=answer.content_type)


@pytest.fixture
async def proxy() -> AsyncIterator[Proxy]:
    with ServedCloud(new_cloud(clock=SystemClock(), pace=0.02)) as served:
        proxy = Proxy(served)
        app = web.Application(client_max_size=64 * MIB)
        app.router.add_route("*", "/{tail:.*}", proxy.serve)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port = runner.addresses[0][1]
        token = served.token("admin", "admin")
        services = served.call("GET", "/identity/v3/services", None, token).json["services"]
        network = next(service["id"] for service in services if service["type"] == "network")
        for endpoint in served.call("GET", "/identity/v3/endpoints", None, token).json["endpoints"]:
            if endpoint["service_id"] == network:
                body = {"endpoint": {"url": f"http://127.0.0.1:{port}/network"}}
                path = f"/identity/v3/endpoints/{endpoint['id']}"
                assert served.call("PATCH", path, body, token).status == 200
        yield proxy
        await runner.cleanup()


@pytest.fixture
async def world(proxy: Proxy, tmp_path: Path) -> AsyncIterator[World]:
    world = await World(tmp_path / "stoker.db", proxy._served).start()
    yield world
    await world.stop()


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


def network(identifier: str, **more: Any) -> bytes:
    return json.dumps({"network": {"id": identifier, "status": "ACTIVE", "name": "n", **more}}).encode()


@pytest.mark.parametrize(
    ("length", "compressed", "reason"),
    [
        (40 * MIB, False, "cloud_answer_size"),
        (15 * MIB, False, "an ID has 255 at most"),
        (256, False, "an ID has 255 at most"),
        (40 * MIB, True, ""),
    ],
    ids=["beyond the limit", "a long ID", "an ID that is one character too long", "a bomb"],
)
async def test_an_object_is_created(
    world: World, proxy: Proxy, tmp_path: Path, length: int, compressed: bool, reason: str
) -> None:
    """A service answers a creation with megabytes, which the engine reads, keeps and records."""
    content = network("a" * length)
    answer = (gzip.compress(content), {"Content-Encoding": "gzip"}) if compressed else (content, {})
    proxy.answers["POST", "/network/v2.0/networks"] = answer
    tracemalloc.start()
    stack = await world.create("web", HOT)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (stack["action"], stack["status"]) == ("CREATE", "FAILED")
    assert reason in stack["status_reason"] and len(stack["status_reason"]) < 2000
    assert peak < 256 * MIB  # what the proxy sends included
    [resource] = await world.listed({"name": "web", "id": None})
    assert resource["physical_id"] is None
    assert size_of(tmp_path) < 8 * MIB


async def test_a_list_is_read(world: World, proxy: Proxy) -> None:
    """A service answers a look at an object with megabytes."""
    assert (await world.create("web", HOT))["status"] == "COMPLETE"
    [resource] = await world.listed({"name": "web", "id": None})
    path = f"/network/v2.0/networks/{resource['physical_id']}"
    proxy.answers["GET", path] = (network(resource["physical_id"], description="x" * 40 * MIB), {})
    tracemalloc.start()
    shown = await world.call("resource_show", ref={"name": "web", "id": None}, name="net")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "x" * 1000 not in json.dumps(shown)
    assert peak < 160 * MIB  # the proxy's own answer included
    assert f"GET {path}" in proxy.asked
