"""Networks with subnets in one stack, against a bare script that makes the same calls side by side."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from functools import partial
from statistics import median
from typing import Any

import aiohttp

from tools.realcloud.scenarios.trials import Failed, Place, Trial

COUNT = 50
ROUNDS = 3
ALLOWED = 1.2
"""How many times as long as the script a stack may take."""


def speed(place: Place) -> Iterator[Trial]:
    """Networks with subnets, a few times each way in turn."""
    yield Trial(f"{COUNT} networks with subnets", partial(_compared, place))


def _compared(place: Place) -> str:
    bare, ours = [], []
    for number in range(ROUNDS):
        bare.append(asyncio.run(_bare(place)))
        ours.append(_stack(place, number))
    ratio = median(ours) / median(bare)
    text = (
        f"{ratio:.2f} times the time of the bare calls: {_seconds(ours)} s in a stack, {_seconds(bare)} s without; "
        f"{ALLOWED} times is allowed."
    )
    if ratio > ALLOWED:
        raise Failed(text)
    return text


def _seconds(values: list[float]) -> str:
    return ", ".join(f"{value:.1f}" for value in sorted(values))


def _stack(place: Place, number: int) -> float:
    resources: dict[str, Any] = {}
    for index in range(COUNT):
        resources[f"net{index}"] = {"type": "OS::Neutron::Net"}
        resources[f"subnet{index}"] = {
            "type": "OS::Neutron::Subnet",
            "properties": {"network": {"get_resource": f"net{index}"}, "cidr": "10.50.0.0/24"},
        }
    began = time.perf_counter()
    stack = place.create(f"speed-{number}", {"heat_template_version": "2021-04-16", "resources": resources})
    while (status := place.engine.show(stack)["stack_status"]) == "CREATE_IN_PROGRESS":
        time.sleep(0.05)
    spent = time.perf_counter() - began
    if status != "CREATE_COMPLETE":
        raise Failed(status)
    place.delete(stack)
    return spent


async def _bare(place: Place) -> float:
    """Return the seconds of the same POSTs without an orchestrator; what was made is removed again."""
    token, url = place.account.token, place.account.endpoint("network")
    headers = {"X-Auth-Token": token}
    async with aiohttp.ClientSession(headers=headers, connector=aiohttp.TCPConnector(limit=100)) as session:

        async def send(path: str, body: dict[str, Any]) -> Any:
            async with session.post(f"{url}/v2.0/{path}", json=body) as answer:
                answer.raise_for_status()
                return next(iter((await answer.json()).values()))

        async def make(number: int) -> str:
            network = await send("networks", {"network": {"name": f"rc-bare-{number}"}})
            subnet = {"network_id": network["id"], "cidr": "10.50.0.0/24", "ip_version": 4}
            await send("subnets", {"subnet": subnet})
            return str(network["id"])

        began = time.perf_counter()
        made = await asyncio.gather(*(make(number) for number in range(COUNT)))
        spent = time.perf_counter() - began
        await asyncio.gather(*(_removed(session, f"{url}/v2.0/networks/{identifier}") for identifier in made))
    return spent


async def _removed(session: aiohttp.ClientSession, url: str) -> None:
    async with session.delete(url) as answer:
        answer.raise_for_status()
