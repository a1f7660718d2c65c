"""Servers that run (`stoker up --guests namespace`): twenty guests in one stack, and a deployment to one guest.

The twenty guests run the programs of this machine (the image `host`). The deployment needs OpenStack's agents, which
are in the image that `stoker guests build` has built; it is left out without that image.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from pathlib import Path
from statistics import median
from typing import Any

import aiohttp

from openstack_emulator.core.guests.driver import GuestsUnavailable
from openstack_emulator.guests.images import DEFAULT, HOST, find_image
from tools.bench.lifecycle_cases import Client

GUESTS = 20
CHANGES = 5
POLL_SECONDS = 1

NETWORK = {
    "net": {"type": "OS::Neutron::Net"},
    "subnet": {
        "type": "OS::Neutron::Subnet",
        "properties": {"network": {"get_resource": "net"}, "cidr": "10.9.0.0/24"},
    },
}
SERVER: dict[str, Any] = {
    "type": "OS::Nova::Server",
    "depends_on": "subnet",
    "properties": {"image": "cirros", "flavor": "m1.nano", "networks": [{"network": {"get_resource": "net"}}]},
}
SERVERS = {
    "heat_template_version": "2021-04-16",
    "resources": {**NETWORK, **{f"server{number}": SERVER for number in range(GUESTS)}},
}
DEPLOYMENT = {
    "heat_template_version": "2021-04-16",
    "parameters": {"word": {"type": "string"}},
    "resources": {
        **NETWORK,
        "server": {
            **SERVER,
            "properties": {
                **SERVER["properties"],
                "user_data_format": "SOFTWARE_CONFIG",
                "software_config_transport": "POLL_SERVER_HEAT",
            },
            "metadata": {"os-collect-config": {"polling_interval": POLL_SECONDS}},
        },
        "config": {
            "type": "OS::Heat::SoftwareConfig",
            "properties": {
                "group": "script",
                "inputs": [{"name": "word"}],
                "outputs": [{"name": "said"}],
                "config": '#!/bin/sh\nprintf %s "$word" > "$heat_outputs_path.said"\n',
            },
        },
        "deployment": {
            "type": "OS::Heat::SoftwareDeployment",
            "properties": {
                "server": {"get_resource": "server"},
                "config": {"get_resource": "config"},
                "input_values": {"word": {"get_param": "word"}},
                "signal_transport": "HEAT_SIGNAL",
            },
        },
    },
}

Embedded = Callable[..., AbstractContextManager[dict[str, Any]]]
"""Starts an embedded Stoker in a directory, with options of `stoker up`, and yields its endpoints."""


def measure(embedded: Embedded) -> list[dict[str, Any]]:
    """The records of both cases, as far as this machine can run guests."""
    records: list[dict[str, Any]] = []
    cases: dict[str, Callable[[Client, dict[str, Any]], Awaitable[dict[str, Any]]]] = {HOST: _boot, DEFAULT: _deploy}
    for image, case in cases.items():
        try:
            find_image(image)
        except GuestsUnavailable as error:
            print(f"Left out of the case guests: {error}", file=sys.stderr)
            continue
        with (
            tempfile.TemporaryDirectory(prefix="stoker-bench-") as directory,
            embedded(directory, "--cloud-port", "0", "--guests", "namespace", "--guest-image", image) as place,
        ):
            records.append(asyncio.run(_with_client(case, place)))
    return records


async def _with_client(
    case: Callable[[Client, dict[str, Any]], Awaitable[dict[str, Any]]], place: dict[str, Any]
) -> dict[str, Any]:
    async with aiohttp.ClientSession() as session:
        client = Client(session, place)
        await client.log_in()
        return await case(client, place)


async def _boot(client: Client, place: dict[str, Any]) -> dict[str, Any]:
    """The wall time from the request to twenty ACTIVE servers on a network, and the memory of an idle guest."""
    quotas = {"quota_set": {"instances": GUESTS, "cores": GUESTS}}
    await client.call("PUT", "compute", f"/os-quota-sets/{client.project}", quotas)
    seconds = await client.act("POST", "/stacks", {"stack_name": "guests", "template": SERVERS}, "guests")
    guests = _descendants(place["pids"]["cloud"])
    memory = sum(_proportional_memory(process) for process in guests) / GUESTS
    return {
        "case": "guests",
        "phase": "boot",
        "n": GUESTS,
        "wall_s": round(seconds, 2),
        "note": f"{memory / 2**20:.0f} MB each",
    }


async def _deploy(client: Client, _place: dict[str, Any]) -> dict[str, Any]:
    """The wall time of an update that changes one deployment: the agent polls, the hook runs, the signal arrives."""

    def body(word: str) -> dict[str, Any]:
        return {"stack_name": "deployed", "template": DEPLOYMENT, "parameters": {"word": word}}

    created = await client.act("POST", "/stacks", body("created"), "deployed")
    changes = [await client.act("PUT", "/stacks/deployed", body(f"w{n}"), "deployed") for n in range(CHANGES)]
    return {
        "case": "guests",
        "phase": "deploy",
        "n": 1,
        "wall_s": round(median(changes), 2),
        "note": f"agent polls each {POLL_SECONDS} s; {created:.0f} s with the boot of the guest",
    }


def _descendants(process: int) -> list[int]:
    """The process IDs of everything that a process has started."""
    listed = subprocess.run(["ps", "-e", "-o", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    parents = {int(pid): int(parent) for pid, parent in (line.split() for line in listed.splitlines())}
    found = [process]
    for one in found:
        found += [pid for pid, parent in parents.items() if parent == one]
    return found[1:]


def _proportional_memory(process: int) -> int:
    """Bytes of a process, shared pages divided by the number of their users; 0 if it has ended."""
    try:
        rows = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(row.split()[1]) * 1024 for row in rows if row.startswith("Pss:")), 0)
