"""How quickly an embedded Stoker answers those who only look, at 1 and at 8 clients.

There are 1000 stacks of 10 resources, and one of 1000 resources whose creation left 2000 events. Clients keep their
connections and send one request after the other. The processor time is that of the
engine's process and of the processes beside it (`[engine] readers`).

One client alone starts no process beside the engine. The clients that create the stacks do, so that the first
measurement waits until it has ended.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp

from tools.bench.lifecycle_cases import LIMITS, Client, cpu_seconds, peak_memory

STACKS = 1000
RESOURCES = 10
LARGE = 1000
MAKERS = 8
REQUESTS = 400
LONGEST_SECONDS = 20.0
LONGEST_READER_SECONDS = 300.0
WARMING = (10, 0.0)
LONG_WARMING = (10_000, 8.0)
"""Requests and seconds; several clients warm up for long enough that processes beside the engine start."""

CLIENTS = (1, 8)
ALONE = f"{LIMITS}[engine]\nreaders = 0\n"
"""The configuration of the case `alone`: one process serves everything."""


def _template(resources: int) -> dict[str, Any]:
    made = {f"word{number}": {"type": "OS::Heat::RandomString"} for number in range(resources)}
    first = {"first": {"value": {"get_attr": ["word0", "value"]}}}
    return {"heat_template_version": "2021-04-16", "resources": made, "outputs": first}


async def reads(place: dict[str, Any]) -> list[dict[str, Any]]:
    """Page of 100 stacks, one stack, 1000 resources, 1000 events; validation of 1000 resources, and a preview."""
    async with aiohttp.ClientSession() as session:
        client = Client(session, place)
        await client.log_in()
        await _fill(client)
        token = session.headers["X-Auth-Token"]
        few = (await client.call("GET", "orchestration", "/stacks/small500"))["stack"]["id"]
        many = (await client.call("GET", "orchestration", "/stacks/large"))["stack"]["id"]
    await _until_alone(place["pids"]["engine"])
    template = _template(LARGE)
    requests = {
        "list stacks limit=100 (of 1000)": ("/stacks?limit=100", None),
        "show stack (10 resources)": (f"/stacks/small500/{few}", None),
        "list resources (1000)": (f"/stacks/large/{many}/resources", None),
        "list events limit=1000": (f"/stacks/large/{many}/events?limit=1000", None),
        "validate (1000)": ("/validate", {"template": template}),
        "preview (1000)": ("/stacks/preview", {"stack_name": "imagined", "template": template}),
    }
    return [
        _measured(place, label, ReadRequest(client.urls["orchestration"] + path, token, body), clients)
        for clients in CLIENTS
        for label, (path, body) in requests.items()
    ]


async def _until_alone(process: int) -> None:
    """Return when a process has no others beside it: the engine ends them a minute after two requests at a time."""
    end = time.monotonic() + LONGEST_READER_SECONDS
    while _children(process):
        if time.monotonic() > end:
            raise RuntimeError(f"the processes {_children(process)} beside the engine do not end")
        await asyncio.sleep(1.0)


async def _fill(client: Client) -> None:
    numbers = iter(range(STACKS))

    async def make() -> None:
        for number in numbers:
            name = f"small{number}"
            await client.act("POST", "/stacks", {"stack_name": name, "template": _template(RESOURCES)}, name)

    await asyncio.gather(*(make() for _ in range(MAKERS)))
    await client.act("POST", "/stacks", {"stack_name": "large", "template": _template(LARGE)}, "large")


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """A request; without a body, a GET."""

    url: str
    token: str
    body: dict[str, Any] | None = None


def _measured(place: dict[str, Any], label: str, asked: ReadRequest, clients: int) -> dict[str, Any]:
    """One request, sent by so many clients at a time: milliseconds, and computing time of the service."""
    _by_clients(asked, clients, *(WARMING if clients == 1 else LONG_WARMING))
    process = place["pids"]["engine"]
    before, began = (cpu_seconds(process), _cpu_seconds_of_children(process)), time.perf_counter()
    taken = _by_clients(asked, clients, REQUESTS, LONGEST_SECONDS)
    wall = time.perf_counter() - began
    engine, beside = cpu_seconds(process) - before[0], _cpu_seconds_of_children(process) - before[1]
    rate, p95 = len(taken) / wall, statistics.quantiles(taken, n=20)[-1] * 1000
    return {
        "case": "reads",
        "phase": label,
        "n": clients,
        "p50_ms": round(statistics.median(taken) * 1000, 1),
        "p95_ms": round(p95, 1),
        "req_s": round(rate, 1),
        "cpu_total_s": round(engine + beside, 2),
        "requests": len(taken),
        "rss_max_mb": {"engine": peak_memory(process)},
        "note": f"p95 {p95:.1f} ms, {rate:.0f} a second, ms CPU each: engine {engine / len(taken) * 1000:.1f}, "
        f"beside it {beside / len(taken) * 1000:.1f}",
    }


def _by_clients(asked: ReadRequest, clients: int, count: int, seconds: float) -> list[float]:
    """Seconds that each of `count` requests took, sent by so many clients at a time."""
    with ThreadPoolExecutor(clients) as threads:
        shares = threads.map(lambda _: _send(asked, count // clients, seconds), range(clients))
        return [taken for share in shares for taken in share]


def _cpu_seconds_of_children(process: int) -> float:
    """Computing time of the processes that a process has started and that still run."""
    return sum(map(cpu_seconds, _children(process)))


def _children(process: int) -> list[int]:
    """The processes that a process has started and that still run."""
    tasks = Path(f"/proc/{process}/task").glob("*/children")
    return [int(child) for each in tasks for child in each.read_text().split()]


def _send(asked: ReadRequest, count: int, seconds: float) -> list[float]:
    """Seconds that each of `count` requests took; after `seconds` (0: never) no more are sent."""
    parts = urlsplit(asked.url)
    connection = http.client.HTTPConnection(parts.netloc)
    path = f"{parts.path}?{parts.query}" if parts.query else parts.path
    body = json.dumps(asked.body) if asked.body is not None else None
    method = "GET" if body is None else "POST"
    headers = {"X-Auth-Token": asked.token, "Content-Type": "application/json"}
    taken: list[float] = []
    end = time.perf_counter() + seconds if seconds else float("inf")
    while len(taken) < count and time.perf_counter() < end:
        began = time.perf_counter()
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        received = answer.read()
        taken.append(time.perf_counter() - began)
        if answer.status != http.client.OK:
            raise RuntimeError(f"{asked.url}: {answer.status} {received[:500]!r}")
    connection.close()
    return taken
