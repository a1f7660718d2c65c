"""Make the state of a release: run with that release's own packages, in a directory that receives the files.

`python -m tests.upgrades.state_maker DIRECTORY POSTGRESQL_URL MARIADB_URL`, started by `make_state`. Stacks at rest,
and operations in flight when the process is killed, are recorded in `stoker.db` and in the two databases; `cloud.db` is
the emulated cloud, and `about.json` lists what there is.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

from sqlalchemy import insert, select

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.store import tables
from stoker.store.database import Database
from stoker_foundation.clock import SystemClock
from testing.harness import World

QUICK, SLOW = 0.01, 300.0

CHILD = """
heat_template_version: 2021-04-16
parameters: {label: {type: string}}
resources:
  net: {type: "OS::Neutron::Net", properties: {name: {get_param: label}}}
  volume: {type: "OS::Cinder::Volume", properties: {size: 1}}
outputs: {net_id: {value: {get_resource: net}}}
"""
FILES = {"child.yaml": CHILD}

AT_REST = """
heat_template_version: 2021-04-16
description: Stacks at rest
parameters: {word: {type: string, hidden: true, default: secret-word}}
resources:
  net: {type: "OS::Neutron::Net"}
  subnet: {type: "OS::Neutron::Subnet", properties: {network: {get_resource: net}, cidr: 10.80.1.0/24}}
  server:
    type: OS::Nova::Server
    depends_on: subnet
    properties:
      image: cirros
      flavor: m1.tiny
      user_data_format: SOFTWARE_CONFIG
      software_config_transport: POLL_SERVER_HEAT
      networks: [{network: {get_resource: net}}]
  value: {type: "OS::Heat::Value", properties: {value: {get_param: word}}}
  random: {type: "OS::Heat::RandomString"}
  nested: {type: child.yaml, properties: {label: first}}
  members:
    type: OS::Heat::ResourceGroup
    properties: {count: 2, resource_def: {type: child.yaml, properties: {label: member-%index%}}}
  script: {type: "OS::Heat::SoftwareConfig", properties: {group: script, config: "echo done"}}
  deployed:
    type: OS::Heat::SoftwareDeployment
    properties:
      config: {get_resource: script}
      server: {get_resource: server}
      signal_transport: NO_SIGNAL
outputs:
  net_id: {value: {get_attr: [nested, net_id]}}
  random: {value: {get_attr: [random, value]}}
"""
UPDATED = AT_REST.replace("label: first", "label: second")

SIMPLE = """
heat_template_version: 2021-04-16
resources:
  net: {type: "OS::Neutron::Net"}
  volume: {type: "OS::Cinder::Volume", properties: {size: 1}}
"""
GROWN = (
    SIMPLE
    + """
  server:
    type: OS::Nova::Server
    properties: {image: cirros, flavor: m1.tiny, networks: [{port: {get_resource: port}}]}
  subnet: {type: "OS::Neutron::Subnet", properties: {network: {get_resource: net}, cidr: 10.81.1.0/24}}
  port: {type: "OS::Neutron::Port", properties: {network: {get_resource: net}}, depends_on: subnet}
"""
)
RISING = """
heat_template_version: 2021-04-16
resources:
  nested: {type: child.yaml, properties: {label: rising}}
  later: {type: "OS::Neutron::Net", depends_on: nested}
outputs: {net_id: {value: {get_attr: [nested, net_id]}}}
"""


def ref(name: str) -> dict[str, Any]:
    return {"name": name, "id": None}


async def at_rest(world: World) -> dict[str, Any]:
    """Stacks on which nothing runs, with a history, events, a snapshot and deployments."""
    parameters = {"parameters": {"word": "another-secret"}}
    for stack in (
        await world.create("resting", AT_REST, files=FILES, environment=parameters),
        await world.update("resting", UPDATED, files=FILES, environment=parameters),
        await world.create("changing", SIMPLE),
        await world.create("falling", SIMPLE),
        await world.create("kept", SIMPLE),
        await world.create("gone", SIMPLE),
    ):
        assert stack["status"] == "COMPLETE", stack
    taken = await world.call("snapshot_create", ref=ref("kept"), name="before")
    await world.settle(taken["stack_id"])
    gone = await world.call("stack_identify", ref=ref("gone"))
    await world.delete("gone")
    return {"snapshot": taken["id"], "gone": gone["id"]}


async def in_flight(world: World) -> None:
    """Operations that wait for the cloud, which has become slow."""
    await world.call("stack_create", name="rising", template=RISING, files=FILES)
    await world.call("stack_update", ref=ref("changing"), template=GROWN)
    await world.call("stack_delete", ref=ref("falling"))
    await world.call("snapshot_create", ref=ref("kept"), name="after")
    volumes = tables.resources.c.type == "OS::Cinder::Volume"
    busy = volumes & (tables.resources.c.status == "IN_PROGRESS") & tables.resources.c.physical_id.is_not(None)
    servers = (tables.resources.c.type == "OS::Nova::Server") & tables.resources.c.physical_id.is_not(None)
    for _ in range(1000):
        await asyncio.sleep(0.02)
        found = await world.database.read(lambda c: c.execute(select(tables.resources.c.name).where(busy)).all())
        built = await world.database.read(lambda c: c.execute(select(tables.resources.c.uuid).where(servers)).all())
        if len(found) >= 3 and len(built) == 2:
            running = {run.stack.name for run in world.engine.runs.all() if run.stack.parent_id is None}
            assert running == {"rising", "changing", "falling", "kept"}, running
            return
    raise AssertionError(f"the operations have not come as far as they should: {found} {built}")


def copied(source: Database, url: str) -> None:
    """The same rows in another database, made by the same release."""
    target = Database(url)
    target.migrate()
    with source.engine.connect() as reading, target.writing() as writing:
        for table in tables.metadata.sorted_tables:
            order = [table.c.sequence] if "sequence" in table.c else []
            found = reading.execute(select(table).order_by(*order)).mappings()
            # Numbers that the database itself gives are given again, so that it knows which one is next.
            if rows := [{key: row[key] for key in row if key != "sequence"} for row in found]:
                writing.execute(insert(table), rows)
    target.close()


def frozen(directory: Path) -> None:
    """Copy the files while they are in use, as a crash would leave them."""
    target = directory / "frozen"
    target.mkdir()
    for path in directory.glob("*.db*"):
        shutil.copy(path, target)


async def make(directory: Path, *urls: str) -> None:
    with ServedCloud(new_cloud(clock=SystemClock(), pace=QUICK, state_path=directory / "cloud.db")) as served:
        world = await World(directory / "stoker.db", served, clock=SystemClock()).start()
        about = await at_rest(world)
        served.do(lambda: setattr(served.cloud, "pace", SLOW))
        await in_flight(world)
        served.do(served.cloud.store.flush)
        for url in urls:
            await asyncio.to_thread(copied, world.database, url)
        about |= {"now": world.clock.now(), "cloud": served.url, "project": world.context.project_id}
        (directory / "about.json").write_text(json.dumps(about, indent=1) + "\n")
        frozen(directory)
        os._exit(0)  # as a machine that is gone: no engine says goodbye


if __name__ == "__main__":
    asyncio.run(make(Path(sys.argv[1]), *sys.argv[2:]))
