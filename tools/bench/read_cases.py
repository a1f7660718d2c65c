"""How quickly one API process answers those who only look, at 1 and at 8 clients.

There are 1000 stacks of 10 resources, and one of 1000 resources whose creation left 2000 events. Clients keep their
connections and send one request after the other.
"""

from __future__ import annotations

import asyncio
import http.client
import statistics
import threading
import time
from typing import Any
from urllib.parse import urlsplit

import aiohttp

from tools.bench.lifecycle_cases import Client, cpu_seconds, peak_memory

STACKS = 1000
RESOURCES = 10
LARGE = 1000
MAKERS = 8
REQUESTS = 400
LONGEST_SECONDS = 20.0
WARMING = 10
CLIENTS = (1, 8)


def _template(resources: int) -> dict[str, Any]:
    made = {f"word{number}": {"type": "OS::Heat::RandomString"} for number in range(resources)}
    first = {"first": {"value": {"get_attr": ["word0", "value"]}}}
    return {"heat_template_version": "2021-04-16", "resources": made, "outputs": first}


async def reads(place: dict[str, Any]) -> list[dict[str, Any]]:
    """Page of 100 stacks, one stack, 1000 resources, 1000 events."""
    async with aiohttp.ClientSession() as session:
        client = Client(session, place)
        await client.log_in()
        await _fill(client)
        token = session.headers["X-Auth-Token"]
        few = (await client.call("GET", "orchestration", "/stacks/small500"))["stack"]["id"]
        many = (await client.call("GET", "orchestration", "/stacks/large"))["stack"]["id"]
    requests = {
        "list stacks limit=100 (of 1000)": "/stacks?limit=100",
        "show stack (10 resources)": f"/stacks/small500/{few}",
        "list resources (1000)": f"/stacks/large/{many}/resources",
        "list events limit=1000": f"/stacks/large/{many}/events?limit=1000",
    }
    return [
        _measured(place, label, client.urls["orchestration"] + path, token, clients)
        for clients in CLIENTS
        for label, path in requests.items()
    ]


async def _fill(client: Client) -> None:
    numbers = iter(range(STACKS))

    async def make() -> None:
        for number in numbers:
            name = f"small{number}"
            await client.act("POST", "/stacks", {"stack_name": name, "template": _template(RESOURCES)}, name)

    await asyncio.gather(*(make() for _ in range(MAKERS)))
    await client.act("POST", "/stacks", {"stack_name": "large", "template": _template(LARGE)}, "large")


def _measured(place: dict[str, Any], label: str, url: str, token: str, clients: int) -> dict[str, Any]:
    """One request, sent by so many clients at a time: milliseconds, and computing time of the service."""
    _send(url, token, WARMING, 0.0)
    process = place["pids"]["engine"]
    before, began = cpu_seconds(process), time.perf_counter()
    taken: list[float] = []
    share = REQUESTS // clients

    def work() -> None:
        taken.extend(_send(url, token, share, LONGEST_SECONDS))

    threads = [threading.Thread(target=work) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wall, used = time.perf_counter() - began, cpu_seconds(process) - before
    rate, p95 = len(taken) / wall, statistics.quantiles(taken, n=20)[-1] * 1000
    return {
        "case": "reads",
        "phase": label,
        "n": clients,
        "p50_ms": round(statistics.median(taken) * 1000, 1),
        "p95_ms": round(p95, 1),
        "req_s": round(rate, 1),
        "cpu_total_s": round(used, 2),
        "rss_max_mb": {"engine": peak_memory(process)},
        "note": f"p95 {p95:.1f} ms, {rate:.0f} a second, {used / len(taken) * 1000:.1f} ms CPU each",
    }


def _send(url: str, token: str, count: int, seconds: float) -> list[float]:
    """Seconds that each of `count` requests took; after `seconds` (0: never) no more are sent."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc)
    path = f"{parts.path}?{parts.query}" if parts.query else parts.path
    taken: list[float] = []
    end = time.perf_counter() + seconds if seconds else float("inf")
    while len(taken) < count and time.perf_counter() < end:
        began = time.perf_counter()
        connection.request("GET", path, headers={"X-Auth-Token": token})
        answer = connection.getresponse()
        body = answer.read()
        taken.append(time.perf_counter() - began)
        if answer.status != http.client.OK:
            raise RuntimeError(f"{url}: {answer.status} {body[:500]!r}")
    connection.close()
    return taken
