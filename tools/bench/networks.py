"""500 networks in one stack against a bare script that makes the same calls to the same cloud."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import aiohttp

from tools.bench.lifecycle_cases import cpu_seconds, peak_memory

COUNT = 500
RUNS = 5
TEMPLATE = {
    "heat_template_version": "2021-04-16",
    "resources": {f"net{number}": {"type": "OS::Neutron::Net"} for number in range(COUNT)},
}


def measure(place: dict[str, Any]) -> dict[str, Any]:
    """One record: the wall time of the stack's creation, and how much more is computed than by the bare script."""
    return asyncio.run(_measure(place))


async def _measure(place: dict[str, Any]) -> dict[str, Any]:
    """The best of some runs. What the emulator computes is the same on both sides, and not part of the ratio."""
    engine = place["pids"]["engine"]
    walls, spent = [], []
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=100)) as session:
        token, catalog = await _log_in(session, place["identity"])
        headers = {"X-Auth-Token": token}
        for _ in range(RUNS):
            before = time.process_time()
            bare, script = await _bare(session, catalog["network"], headers), time.process_time() - before
            used = cpu_seconds(engine)
            ours = await _stack(session, catalog["orchestration"], headers)
            spent.append((cpu_seconds(engine) - used, script))
            walls.append((ours, bare))
    ours, bare = min(wall[0] for wall in walls), min(wall[1] for wall in walls)
    theirs, script = (sum(each[side] for each in spent) for side in (0, 1))
    return {
        "case": "networks",
        "phase": "create, delete",
        "n": COUNT,
        "wall_s": round(ours, 2),
        "cpu_total_s": round(theirs / RUNS, 2),
        "rss_max_mb": {"engine": peak_memory(engine)},
        "ratio": {"to": "the bare script", "value": theirs / script},
        "note": f"creation: {ours / bare:.1f} times the bare calls ({bare:.2f} s); CPU with the deletion",
    }


async def _log_in(session: aiohttp.ClientSession, url: str) -> tuple[str, dict[str, str]]:
    user = {"name": "admin", "password": "secret", "domain": {"id": "default"}}
    scope = {"project": {"name": "admin", "domain": {"id": "default"}}}
    body = {"auth": {"identity": {"methods": ["password"], "password": {"user": user}}, "scope": scope}}
    async with session.post(f"{url.rstrip('/')}/auth/tokens", json=body) as answer:
        answer.raise_for_status()
        token = (await answer.json())["token"]
        urls = {service["type"]: service["endpoints"][0]["url"] for service in token["catalog"]}
        return answer.headers["X-Subject-Token"], urls


async def _bare(session: aiohttp.ClientSession, network: str, headers: dict[str, str]) -> float:
    """Seconds that the same POSTs take without an orchestrator; what was made is removed again."""
    url = f"{network.rstrip('/')}/v2.0/networks"

    async def make(number: int) -> str:
        async with session.post(url, json={"network": {"name": f"bare{number}"}}, headers=headers) as answer:
            answer.raise_for_status()
            return str((await answer.json())["network"]["id"])

    began = time.perf_counter()
    made = await asyncio.gather(*(make(number) for number in range(COUNT)))
    spent = time.perf_counter() - began
    for identifier in made:
        async with session.delete(f"{url}/{identifier}", headers=headers) as answer:
            answer.raise_for_status()
    return spent


async def _stack(session: aiohttp.ClientSession, orchestration: str, headers: dict[str, str]) -> float:
    """Seconds from the request to CREATE_COMPLETE; the stack is deleted again."""
    url = orchestration.rstrip("/")
    began = time.perf_counter()
    async with session.post(
        f"{url}/stacks", json={"stack_name": "bench-networks", "template": TEMPLATE}, headers=headers
    ) as answer:
        answer.raise_for_status()
        stack = (await answer.json())["stack"]["id"]
    address = f"{url}/stacks/bench-networks/{stack}"
    spent = await _wait(session, address, headers, "CREATE_COMPLETE", began)
    async with session.delete(address, headers=headers) as answer:
        answer.raise_for_status()
    await _wait(session, address, headers, "DELETE_COMPLETE", began)
    return spent


async def _wait(
    session: aiohttp.ClientSession, address: str, headers: dict[str, str], state: str, began: float
) -> float:
    while True:
        async with session.get(f"{address}?resolve_outputs=false", headers=headers) as answer:
            answer.raise_for_status()
            found = (await answer.json())["stack"]
        if found["stack_status"] == state:
            return time.perf_counter() - began
        if found["stack_status"].endswith("FAILED"):
            raise RuntimeError(found["stack_status_reason"])
        await asyncio.sleep(0.02)
