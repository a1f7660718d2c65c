"""What it takes to look at the cloud: `python -m tools.bench drift`, `python -m tools.bench watch`.

A stack of a thousand servers, ports and volumes each is compared as a whole, and one of 1000 networks, of which one
change is planned. Then the estate grows, in stacks of 20 networks, and the same change is planned in one of these at
each size. With half of the estate, the engine watches for drift for one interval, which `drift` makes 30 seconds long,
and `watch` ten minutes. The computing time is that of the process of Stoker; the emulated cloud runs in another one.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp

from tools.bench.lifecycle_cases import LIMITS, Client, cpu_seconds, measured, peak_memory

LARGE = 1000
SMALL = 20
ESTATES = (1_000, 10_000, 20_000)
"""Numbers of resources in stacks of `SMALL` at which a change is planned."""
WATCHED = 10_000
INTERVALS = {"drift": 30, "watch": 600}
"""Seconds between two looks of the watch, by case."""
_MOST_SECONDS = 2.0
"""The goal for the computing time of a comparison of 1000 objects of several kinds each."""
_MOST_OF_A_CORE = 0.01
"""The goal for the watch, with one look per `_GOAL_INTERVAL` seconds."""
_GOAL_INTERVAL = 600
_MOST_GROWTH = 2.0
"""The goal for the growth of a plan's computing time with the estate: less than this, whatever the estate."""
MAKERS = 8
PLANS = {SMALL: 100, LARGE: 25}
"""How often one change is planned, by the size of the stack."""
_POLLS = 30
"""How often the state of the watch is asked for in an interval."""
_IDLE_SECONDS = 20.0
_SETTLING_SECONDS = 5.0
"""How long a process works on after the estate has grown: it ends operations, and returns memory."""
_ONE_PROCESS = "[engine]\nreaders = 0\n"
"""One process serves everything, so that its processor time is all of Stoker's."""
CONFIGURATIONS = {case: f"{LIMITS}drift_interval = {seconds}\n{_ONE_PROCESS}" for case, seconds in INTERVALS.items()}
_QUOTAS = (
    ("network", "/v2.0/quotas", {"quota": {"network": -1, "port": -1}}),
    ("compute", "/os-quota-sets", {"quota_set": {"instances": -1, "cores": -1, "ram": -1}}),
    ("volumev3", "/os-quota-sets", {"quota_set": {"volumes": -1, "gigabytes": -1}}),
)
_NETWORK = {"get_resource": "net"}
_SERVER = {"image": "cirros", "flavor": "m1.nano", "networks": [{"network": _NETWORK}], "security_groups": ["default"]}
_MIXED: dict[str, dict[str, Any]] = {
    "port": {"type": "OS::Neutron::Port", "properties": {"network": _NETWORK, "tags": ["a"]}},
    "volume": {"type": "OS::Cinder::Volume", "properties": {"size": 1, "metadata": {"a": "b"}}},
    "server": {"type": "OS::Nova::Server", "properties": _SERVER},
}


async def drift(place: dict[str, Any]) -> list[dict[str, Any]]:
    """Drift of large stacks, plans of one change, and a watch for drift with a short interval."""
    async with _client(place) as client:
        await client.act("POST", "/stacks", {"stack_name": "mixed", "template": _mixed_template()}, "mixed")
        await client.act("POST", "/stacks", {"stack_name": "large", "template": _template("large", LARGE)}, "large")
        records = [
            await _drift(place, client, "mixed", "of servers, ports and volumes", LARGE * len(_MIXED)),
            await _drift(place, client, "large", "of networks", LARGE),
            await _plan(place, client, "large", LARGE, LARGE),
        ]
        made, least = 0, None
        for size in ESTATES:
            await _fill(client, range(made // SMALL, size // SMALL))
            made = size
            records.append(await _plan(place, client, "small0", SMALL, size, least))
            least = least or records[-1]["cpu_total_s"]
        return [*records, await _watch(place, client, INTERVALS["drift"])]


async def watch(place: dict[str, Any]) -> list[dict[str, Any]]:
    """A watch for drift with an interval of ten minutes."""
    async with _client(place) as client:
        await _fill(client, range(WATCHED // SMALL))
        return [await _watch(place, client, INTERVALS["watch"])]


@asynccontextmanager
async def _client(place: dict[str, Any]) -> AsyncIterator[Client]:
    """A client whose project has no quotas that matter."""
    async with aiohttp.ClientSession() as session:
        client = Client(session, place)
        await client.log_in()
        for service, path, quota in _QUOTAS:
            await client.call("PUT", service, f"{path}/{client.project}", quota)
        yield client


def _template(name: str, count: int, changed: str = "") -> dict[str, Any]:
    names = {f"net{number}": f"{name}-{number}" for number in range(count)}
    if changed:
        names["net0"] = changed
    resources = {key: {"type": "OS::Neutron::Net", "properties": {"name": value}} for key, value in names.items()}
    return {"heat_template_version": "2021-04-16", "resources": resources}


def _mixed_template() -> dict[str, Any]:
    """Return a template of `LARGE` objects of each of several kinds, in groups."""
    subnet = {"network": _NETWORK, "cidr": "10.0.0.0/16"}
    resources: dict[str, Any] = {
        "net": {"type": "OS::Neutron::Net"},
        "subnet": {"type": "OS::Neutron::Subnet", "properties": subnet},
    }
    for name, member in _MIXED.items():
        group = {"count": LARGE, "resource_def": member}
        resources[name] = {"type": "OS::Heat::ResourceGroup", "properties": group, "depends_on": "subnet"}
    return {"heat_template_version": "2021-04-16", "resources": resources}


async def _fill(client: Client, numbers: range) -> None:
    """Create stacks of `SMALL` networks with these numbers."""
    waiting = iter(numbers)

    async def make() -> None:
        for number in waiting:
            name = f"small{number}"
            await client.act("POST", "/stacks", {"stack_name": name, "template": _template(name, SMALL)}, name)

    await asyncio.gather(*(make() for _ in range(MAKERS)))


async def _small_stacks(client: Client) -> list[str]:
    """Return the paths of all stacks of `SMALL` networks."""
    found: list[str] = []
    marker = ""
    while page := (await client.call("GET", "orchestration", f"/stacks?limit=500{marker}"))["stacks"]:
        marker = f"&marker={page[-1]['id']}"
        found += [f"/stacks/{each['stack_name']}/{each['id']}" for each in page]
    return [path for path in found if path.startswith("/stacks/small")]


async def _drift(place: dict[str, Any], client: Client, name: str, phase: str, count: int) -> dict[str, Any]:
    """Compare a whole stack with the cloud."""
    record: dict[str, Any] = {"case": "drift", "phase": phase, "n": count}
    path = await client.path_of(name)
    await asyncio.sleep(_SETTLING_SECONDS)
    began = time.perf_counter()
    with measured(place, record):
        plan = (await client.call("GET", "orchestration", f"{path}/drift"))["plan"]
    record["wall_s"] = round(time.perf_counter() - began, 2)
    compared = f"{plan['compared']['in_sync']} in sync"
    record["note"] = f"{compared}; {_goal(record['cpu_total_s'], _MOST_SECONDS, f'{_MOST_SECONDS:g} s of computing')}"
    return record


def _goal(value: float, most: float, text: str) -> str:
    return f"goal: at most {text}{'' if value <= most else ': MISSED'}"


async def _plan(
    place: dict[str, Any], client: Client, name: str, count: int, estate: int, least: float | None = None
) -> dict[str, Any]:
    """Plan one change several times; the record has the mean of each. `least` is that of the smallest estate."""
    record: dict[str, Any] = {"case": "plan of one change", "phase": f"in a stack of {count}", "n": estate}
    path = await client.path_of(name)
    body = {"template": _template(name, count, changed="another"), "refresh": "changes"}
    await asyncio.sleep(_SETTLING_SECONDS)
    await client.call("PUT", "orchestration", f"{path}/preview", body)
    began = time.perf_counter()
    with measured(place, record):
        for _ in range(PLANS[count]):
            plan = await client.call("PUT", "orchestration", f"{path}/preview", body)
    record["wall_s"] = round((time.perf_counter() - began) / PLANS[count], 3)
    record["requests"] = PLANS[count]
    compared = plan["resource_changes"]["plan"]["compared"] if "plan" not in plan else plan["plan"]["compared"]
    each = record["cpu_total_s"] / PLANS[count] * 1000
    record["note"] = f"{each:.1f} ms CPU each; {compared['in_sync'] + compared['differing']} objects read"
    if least:
        growth = record["cpu_total_s"] / least
        record["ratio"] = {"to": "that in the smallest estate", "value": growth}
        goal = _goal(growth, _MOST_GROWTH, f"{_MOST_GROWTH:g} x")
        record["note"] += f"; {growth:.2f} x of that in the smallest estate, {goal}"
    return record


async def _watch(place: dict[str, Any], client: Client, interval: int) -> dict[str, Any]:
    """Watch `WATCHED` resources, in stacks of `SMALL`, from one look to the next."""
    await asyncio.sleep(_SETTLING_SECONDS)
    idle = await _part_of_a_core(place, asyncio.sleep(_IDLE_SECONDS))
    watched = (await _small_stacks(client))[: WATCHED // SMALL]
    for path in watched:
        await client.call("PATCH", "orchestration", f"{path}/drift/watch", {"mode": "detect"})
    last = watched[-1]
    before = await _wait_for_check(client, last, None, interval)
    began = time.perf_counter()
    used = await _part_of_a_core(place, _wait_for_check(client, last, before, interval))
    seconds = time.perf_counter() - began
    look = (used - idle) * interval / _GOAL_INTERVAL
    goal = _goal(look, _MOST_OF_A_CORE, f"{_MOST_OF_A_CORE:.0%} for looks each {_GOAL_INTERVAL} s")
    return {
        "case": "drift watch",
        "phase": f"a look each {interval} s",
        "n": WATCHED,
        "wall_s": round(seconds, 1),
        "cpu_total_s": round(used * seconds, 2),
        "rss_max_mb": {"engine": peak_memory(place["pids"]["engine"])},
        "note": f"{used:.2%} of a core, {idle:.2%} of which when idle; {goal}",
    }


async def _part_of_a_core(place: dict[str, Any], waiting: Awaitable[Any]) -> float:
    """Wait for something, and return how much of a core the engine has used meanwhile."""
    at, before = time.perf_counter(), cpu_seconds(place["pids"]["engine"])
    await waiting
    return (cpu_seconds(place["pids"]["engine"]) - before) / (time.perf_counter() - at)


async def _wait_for_check(client: Client, path: str, former: float | str | None, interval: int) -> float | str:
    """Wait for a look after the `former` one, and return its time."""
    while True:
        shown = (await client.call("GET", "orchestration", f"{path}/drift/watch"))["drift_watch"]
        if shown["time"] is not None and shown["time"] != former:
            found: float | str = shown["time"]
            return found
        await asyncio.sleep(interval / _POLLS)
