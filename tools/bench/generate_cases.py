"""How long it takes to generate a template of 1000 objects, and to import them: `python -m tools.bench generate`.

The engine is asked without the API, and the emulated cloud does everything at once.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker_foundation.clock import SystemClock
from testing.harness import ThreadedWorld
from testing.project_objects import CINDER, NEUTRON, NOVA, Objects

COUNT = 1000
_SITE = 10
"""Number of objects that are made together: a network with a subnet, a group, ports, servers and more."""
_SEEDED = 4
"""Number of objects that a new project has."""


def measure(count: int = COUNT) -> list[dict[str, Any]]:
    """The records of the generation and the import of a project with about `count` objects."""
    with (
        ServedCloud(new_cloud(clock=SystemClock(), pace=0.0)) as served,
        tempfile.TemporaryDirectory(prefix="stoker-bench-") as directory,
    ):
        world = ThreadedWorld(Path(directory), served)
        try:
            _fill(served, world.world.context.project_id, (count - _SEEDED) // _SITE)
            began = _now()
            found = world.run(world.world.call("project_generate"))
            generated = _now()
            body = {"name": "all", "template": found["template"], "environment": found["environment"]}
            made = world.run(world.world.call("stack_create", **body))
            world.settle(made["id"])
            imported = _now()
        finally:
            world.stop()
    number = len(found["resources"])
    return [_record("scan", number, began, generated), _record("import", number, generated, imported)]


def _now() -> tuple[float, float]:
    """The time, and the processor time of the engine and the emulated cloud, which are in this process."""
    return time.perf_counter(), time.process_time()


def _record(phase: str, number: int, began: tuple[float, float], ended: tuple[float, float]) -> dict[str, Any]:
    wall, processor = (round(after - before, 2) for before, after in zip(began, ended, strict=True))
    times = {"wall_s": wall, "cpu_total_s": processor}
    return {"case": "generate", "phase": phase, "n": number, **times, "note": "CPU with that of the emulated cloud"}


def _fill(served: ServedCloud, project_id: str, sites: int) -> None:
    objects = Objects(served)
    _lift_quotas(Objects(served, "admin"), project_id)
    for number in range(sites):
        net = objects.net(f"net{number}")
        subnet = objects.subnet(net, f"10.{number + 20}.0.0/24")
        group = objects.group(f"group{number}")
        objects.rule(group, protocol="tcp", port_range_min=443, port_range_max=443)
        ports = [objects.port(net, f"port{number}-{each}", security_groups=[group]) for each in range(3)]
        objects.volume(f"volume{number}")
        for each in range(2):
            objects.server(f"server{number}-{each}", ports[each])
        objects.port(net, fixed_ips=[{"subnet_id": subnet}])


def _lift_quotas(admin: Objects, project_id: str) -> None:
    networks = dict.fromkeys(("network", "subnet", "port", "security_group", "security_group_rule"), -1)
    admin.send("PUT", f"{NEUTRON}/quotas/{project_id}", {"quota": networks})
    volumes = {"volumes": -1, "gigabytes": -1}
    admin.send("PUT", f"{CINDER}/v3/os-quota-sets/{project_id}", {"quota_set": volumes})
    servers = {"instances": -1, "cores": -1, "ram": -1}
    admin.send("PUT", f"{NOVA}/os-quota-sets/{project_id}", {"quota_set": servers})
