"""Another key for what is stored: after `stoker db reseal` the old one is needed for nothing."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import oslo_messaging  # noqa: F401 - it imports Eventlet, and a thread that imports that first never ends
from click.testing import CliRunner
from cryptography.fernet import Fernet
from sqlalchemy import Text, select

from openstack_emulator.testing import ServedCloud
from stoker.cli.commands.database import database as db
from stoker.store import tables
from stoker.store.database import Database
from stoker.store.sealing import Sealer
from stoker_foundation.clock import ManualClock, SystemClock
from testing.harness import KEY, World

NEW = "n" * 32
REF = {"name": "web", "id": None}
LIKE_SEALED = Fernet(Fernet.generate_key()).encrypt(b"")[:5].decode()
"""What every sealed text begins with."""


def template(word: str) -> dict[str, Any]:
    """Something for every table: a hidden parameter, properties, a nested stack, a deployment, an export."""
    return {
        "heat_template_version": "2021-04-16",
        "parameters": {"password": {"type": "string", "hidden": True}},
        "resources": {
            "value": {"type": "OS::Heat::TestResource", "properties": {"value": {"get_param": "password"}}},
            "word": {"type": "OS::Heat::Value", "properties": {"value": word}},
            "group": {
                "type": "OS::Heat::ResourceGroup",
                "properties": {"count": 1, "resource_def": {"type": "member.yaml"}},
            },
            "config": {"type": "OS::Heat::SoftwareConfig", "properties": {"config": "true"}},
            "deployment": {
                "type": "OS::Heat::SoftwareDeployment",
                "properties": {
                    "config": {"get_resource": "config"},
                    "server": "elsewhere",
                    "signal_transport": "NO_SIGNAL",
                },
            },
        },
        "outputs": {"word": {"value": {"get_attr": ["value", "output"]}}},
    }


FILES = {"member.yaml": "heat_template_version: 2021-04-16\nresources: {r: {type: OS::Heat::TestResource}}\n"}


def sealed_with(path: Path, sealer: Sealer) -> tuple[int, int]:
    """Count the strings that look sealed, in any column, and those of them that the sealer opens."""
    database = Database(f"sqlite:///{path}")
    texts = [
        value
        for table in tables.metadata.sorted_tables
        for column in table.columns
        if isinstance(column.type, Text)
        for value in database.read_now(
            lambda connection, column=column: connection.execute(select(column)).scalars().all()
        )
        if isinstance(value, str) and value.startswith(LIKE_SEALED)
    ]
    database.close()
    return len(texts), sum(sealer.renew(text) == text for text in texts)


async def test_old_key_is_unused_after_resealing(served: ServedCloud, tmp_path: Path) -> None:
    path, clock = tmp_path / "stoker.db", ManualClock(SystemClock().now())
    world = await World(path, served, clock=clock).start()
    await world.create("web", template("first"), files=FILES, parameters={"password": "s3cr3t"})
    await world.call("snapshot_create", ref=REF, name="kept")
    await world.settle((await world.call("stack_identify", ref=REF))["id"])
    await world.stop()

    configuration = tmp_path / "heat.conf"
    configuration.write_text(
        f"[DEFAULT]\nauth_encryption_key = {NEW},{KEY}\n[database]\nconnection = sqlite:///{path}\n"
    )
    number, renewed = sealed_with(path, Sealer([NEW, KEY]))
    assert number > 20 and not renewed
    command = ["reseal", "--config-file", str(configuration)]
    output = [await asyncio.to_thread(CliRunner().invoke, db, command) for _ in range(2)]
    assert [done.output for done in output] == [f"Resealed {number} values.\n", "Resealed 0 values.\n"]
    assert sealed_with(path, Sealer([NEW])) == (number, number)

    world = await World(path, served, clock=clock, keys=[NEW]).start()
    before = await world.resources("web", depth=2)
    changed = await world.update("web", template("second"), files=FILES, parameters={"password": "s3cr3t"})
    assert (changed["status"], world.outputs(changed)) == ("COMPLETE", {"word": "s3cr3t"})
    after = await world.resources("web", depth=2)
    assert {name: row["physical_id"] for name, row in before.items()} == {
        name: row["physical_id"] for name, row in after.items()
    }
    assert (await world.delete("web"))["status"] == "COMPLETE"
    await world.stop()
