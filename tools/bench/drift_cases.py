"""What it takes to look at the cloud: `python -m tools.bench drift`.

A stack of 1000 networks is compared as a whole, and one change of it is planned. Then the estate grows, in stacks of 20
networks, and the same change is planned in one of these at each size. At last the engine watches half of the estate for
drift, for one whole interval of ten minutes. The computing time is that of the process of Stoker; the emulated cloud
runs in another one.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

import aiohttp

from tools.bench.lifecycle_cases import LIMITS, Client, cpu_seconds, measured, peak_memory

LARGE = 1000
SMALL = 20
ESTATES = (1_000, 10_000, 20_000)
"""Numbers of resources in stacks of `SMALL` at which a change is planned."""
WATCHED = 10_000
INTERVAL = 600
MAKERS = 8
PLANS = 100
_POLL_SECONDS = 10.0
_SETTLING_SECONDS = 10.0
"""How long a process works on after the estate has grown: it ends operations, and returns memory."""
CONFIGURATION = f"{LIMITS}drift_interval = {INTERVAL}\n"
_QUOTA = {"quota": {"network": -1}}


async def drift(place: dict[str, Any]) -> list[dict[str, Any]]:
    """Drift of a large stack, plans of one change, and a watch for drift."""
    async with aiohttp.ClientSession() as session:
        client = Client(session, place)
        await client.log_in()
        await client.call("PUT", "network", f"/v2.0/quotas/{client.project}", _QUOTA)
        await client.act("POST", "/stacks", {"stack_name": "large", "template": _template("large", LARGE)}, "large")
        records = [await _drift(place, client), await _plan(place, client, "large", LARGE, LARGE)]
        made = 0
        for size in ESTATES:
            await _fill(client, range(made // SMALL, size // SMALL))
            made = size
            records.append(await _plan(place, client, "small0", SMALL, size))
            if size == WATCHED:
                records.append(await _watch(place, client))
        return records


def _template(name: str, count: int, changed: str = "") -> dict[str, Any]:
    names = {f"net{number}": f"{name}-{number}" for number in range(count)}
    if changed:
        names["net0"] = changed
    resources = {key: {"type": "OS::Neutron::Net", "properties": {"name": value}} for key, value in names.items()}
    return {"heat_template_version": "2021-04-16", "resources": resources}


async def _fill(client: Client, numbers: range) -> None:
    """Create stacks of `SMALL` networks with these numbers."""
    waiting = iter(numbers)

    async def make() -> None:
        for number in waiting:
            name = f"small{number}"
            await client.act("POST", "/stacks", {"stack_name": name, "template": _template(name, SMALL)}, name)

    await asyncio.gather(*(make() for _ in range(MAKERS)))


async def _path(client: Client, name: str) -> str:
    found = (await client.call("GET", "orchestration", f"/stacks/{name}?resolve_outputs=false"))["stack"]
    return f"/stacks/{name}/{found['id']}"


async def _drift(place: dict[str, Any], client: Client) -> dict[str, Any]:
    record: dict[str, Any] = {"case": "drift", "phase": "of a stack", "n": LARGE}
    path = await _path(client, "large")
    began = time.perf_counter()
    with measured(place, record):
        plan = (await client.call("GET", "orchestration", f"{path}/drift"))["plan"]
    record["wall_s"] = round(time.perf_counter() - began, 2)
    record["note"] = f"{plan['compared']['in_sync']} in sync"
    return record


async def _plan(place: dict[str, Any], client: Client, name: str, count: int, estate: int) -> dict[str, Any]:
    """Plan one change several times; the record has the mean of each."""
    record: dict[str, Any] = {"case": "plan of one change", "phase": f"in a stack of {count}", "n": estate}
    path = await _path(client, name)
    body = {"template": _template(name, count, changed="another"), "refresh": "changes"}
    await asyncio.sleep(_SETTLING_SECONDS)
    await client.call("PUT", "orchestration", f"{path}/preview", body)
    began = time.perf_counter()
    with measured(place, record):
        for _ in range(PLANS):
            plan = await client.call("PUT", "orchestration", f"{path}/preview", body)
    record["wall_s"] = round((time.perf_counter() - began) / PLANS, 3)
    record["cpu_total_s"] = round(record["cpu_total_s"] / PLANS, 4)
    compared = plan["resource_changes"]["plan"]["compared"] if "plan" not in plan else plan["plan"]["compared"]
    record["note"] = f"{compared['in_sync'] + compared['differing']} objects read"
    return record


async def _watch(place: dict[str, Any], client: Client) -> dict[str, Any]:
    """Watch `WATCHED` resources from one look to the next."""
    for number in range(WATCHED // SMALL):
        path = await _path(client, f"small{number}")
        await client.call("PATCH", "orchestration", f"{path}/drift/watch", {"mode": "detect"})
    last = await _path(client, "small0")
    began = await _looked(client, last, None)
    at, before = time.perf_counter(), cpu_seconds(place["pids"]["engine"])
    await _looked(client, last, began)
    seconds, used = time.perf_counter() - at, cpu_seconds(place["pids"]["engine"]) - before
    return {
        "case": "drift watch",
        "phase": "one interval",
        "n": WATCHED,
        "wall_s": round(seconds, 1),
        "cpu_total_s": round(used, 2),
        "rss_max_mb": {"engine": peak_memory(place["pids"]["engine"])},
        "note": f"{used / seconds:.2%} of a core, with everything else that the engine does",
    }


async def _looked(client: Client, path: str, former: float | str | None) -> float | str:
    """Wait for a look after the `former` one, and return its time."""
    while True:
        shown = (await client.call("GET", "orchestration", f"{path}/drift/watch"))["drift_watch"]
        if shown["time"] is not None and shown["time"] != former:
            found: float | str = shown["time"]
            return found
        await asyncio.sleep(_POLL_SECONDS)
