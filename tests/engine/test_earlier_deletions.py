"""Deletions that a development version has begun, which recorded their effect otherwise, are completed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sqlalchemy import select, update

from openstack_emulator.core.faults import Fault
from openstack_emulator.testing import ServedCloud
from stoker.store.sealing import Sealer
from stoker.store.tables import resources
from testing.harness import KEY, World

NETWORK = {
    "heat_template_version": "2021-04-16",
    "resources": {
        "net": {"type": "OS::Neutron::Net"},
        "kept": {"type": "OS::Neutron::Net", "deletion_policy": "Retain"},
    },
}


@pytest.mark.parametrize("written", ["removal_effect", None])
async def test_a_deletion_of_an_earlier_development_version_is_completed(
    served: ServedCloud, tmp_path: Path, written: str | None
) -> None:
    path = tmp_path / "stoker.db"
    world = await World(path, served).start()
    await world.create("web", NETWORK)
    ids = {name: row["physical_id"] for name, row in (await world.resources("web")).items()}
    world.in_cloud(lambda: served.cloud.faults.add(Fault(on="DELETE /network/*", do="fail", status=503)))
    await world.call("stack_delete", ref={"name": "web", "id": None})
    recorded = select(resources.c.uuid, resources.c.state).where(resources.c.action == "DELETE")
    await world.until(lambda: world.database.read_now(lambda connection: connection.execute(recorded).first()))
    await world.stop()

    sealer = Sealer([KEY])
    with world.database.writing() as connection:
        for row in connection.execute(recorded).all():
            text = json.dumps(sealer.open(row.state))
            assert '"parting"' in text
            state = json.loads(text.replace('"parting"', json.dumps(written or "nothing")))
            change = update(resources).where(resources.c.uuid == row.uuid)
            connection.execute(change.values(state=sealer.seal(state)))
    world.database.close()

    world.in_cloud(served.cloud.faults.clear)
    world = await World(path, served).start()
    await world.until(lambda: not world.engine.runs.all())
    assert (await world.call("stack_list"))["stacks"] == []
    left = {item["id"] for item in served.call("GET", "/network/v2.0/networks", token=served.token()).json["networks"]}
    assert ids["net"] not in left and ids["kept"] in left
    await world.stop()
