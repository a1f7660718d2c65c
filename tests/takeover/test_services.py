"""What Heat left in other services continues here: the places of signals, images and backups of snapshots."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.base.redaction import REDACTED
from stoker.takeover.copying import Copier, CopyOutcome, TreeReport
from stoker.takeover.decoding import Decoder
from stoker.takeover.heat import HeatDatabase
from stoker_foundation.clock import SystemClock
from testing.harness import World
from tests.engine.test_snapshots import NET, remove, restore, saved, server, take, template, value, volume
from tests.engine.test_stored_signals import SENDERS, stored_signals
from tests.takeover import heat_database
from tests.takeover.heat_rows import rows_of

TRANSPORTS = ("HEAT_SIGNAL", "TEMP_URL_SIGNAL", "ZAQAR_SIGNAL")


class Moved:
    """A world in which stacks are made, and another one that takes them over from a Heat database."""

    def __init__(self, directory: Path, served: ServedCloud) -> None:
        self._directory = directory
        self.heat = World(directory / "heats.db", served)
        self.world = World(directory / "stoker.db", served)

    async def take_over(
        self, name: str, change: Callable[[heat_database.Rows], None] = lambda rows: None, **columns: Any
    ) -> TreeReport:
        """Take over a stack after a change of its rows, of which that of the stack also gets the given columns."""
        kept: heat_database.Rows = {}
        heat_database.make(self._directory / "none.db", "none", lambda rows: kept.update(rows))
        rows = await rows_of(self.heat, name, kept)
        rows["stack"][0].update(columns)
        change(rows)

        def instead(every: heat_database.Rows) -> None:
            every.clear()
            every.update(rows)

        heat = HeatDatabase(heat_database.make(self._directory / "heat.db", self.world.context.project_id, instead))
        reports: list[TreeReport] = []
        await Copier(self.world.engine.services, heat, Decoder([]), project=None, write=True).trees(reports.append)
        heat.close()
        assert [report.fate for report in reports] == [CopyOutcome.COPY], reports[0].why
        return reports[0]

    async def unchanged(self, name: str, wanted: Any) -> bool:
        """Return whether an update with a template changes nothing."""
        given = {"ref": {"name": name, "id": None}, "template": wanted}
        changes = (await self.world.call("stack_update_preview", **given))["resource_changes"]
        return not any(found for kind, found in changes.items() if kind != "unchanged")


@pytest.fixture
def served() -> Iterator[ServedCloud]:
    """The emulated cloud, whose catalog also has orchestration."""
    endpoints = {"orchestration": "http://orchestration.test:8004/v1/%(project_id)s"}
    with ServedCloud(new_cloud(clock=SystemClock(), pace=0.02, extra_endpoints=endpoints)) as running:
        yield running


@pytest.fixture
async def moved(tmp_path: Path, served: ServedCloud) -> Any:
    found = Moved(tmp_path, served)
    await found.heat.start()
    await found.world.start()
    yield found
    await found.heat.stop()
    await found.world.stop()


def handles(*waiting: str) -> dict[str, Any]:
    kind = {"type": "OS::Heat::WaitConditionHandle"}
    resources = {name: {**kind, "properties": {"signal_transport": name}} for name in TRANSPORTS}
    for name in waiting:
        given = {"handle": {"get_resource": name}, "timeout": 600, "count": 2}
        resources[f"wait-{name}"] = {"type": "OS::Heat::WaitCondition", "properties": given}
    return template(**resources)


async def senders(world: World) -> dict[str, dict[str, Any]]:
    ref = {"name": "web", "id": None}
    shown = {name: await world.call("resource_show", ref=ref, name=name) for name in TRANSPORTS}
    return {name: json.loads(each["attributes"]["signal"]) for name, each in shown.items()}


async def test_signals_reach_their_old_addresses(moved: Moved) -> None:
    world, ref = moved.world, {"name": "web", "id": None}
    await moved.heat.create("web", handles())
    before = await senders(moved.heat)
    await moved.take_over("web")
    assert await moved.unchanged("web", handles())
    after = await senders(world)
    names = [each.pop("username", None) for reported in (before, after) for each in reported.values()]
    assert len(names) == 2 * len(TRANSPORTS)
    assert after == before

    for name in ("TEMP_URL_SIGNAL", "ZAQAR_SIGNAL"):
        SENDERS[name](world, before[name])(b'{"data": "one", "id": "1"}')
    updated = await world.call("stack_update", ref=ref, template=handles(*TRANSPORTS))
    for name in ("TEMP_URL_SIGNAL", "ZAQAR_SIGNAL"):
        SENDERS[name](world, before[name])(b'{"data": "two", "id": "2"}')
    user = before["HEAT_SIGNAL"]
    assert urlsplit(user["alarm_url"]).path == (
        f"/v1/{user['project_id']}/stacks/web/{updated['id']}/resources/HEAT_SIGNAL/signal"
    )
    context = replace(world.context, project_id=user["project_id"], user_id=user["user_id"], roles=("heat_stack_user",))
    world.context, owner = context, world.context
    for number in ("one", "two"):
        sent = asyncio.create_task(world.call("resource_signal", ref=ref, name="HEAT_SIGNAL", details={"data": number}))
        await world.until(sent.done)
        await sent
    world.context = owner
    settled = await world.settle(updated["id"])
    assert settled["status"] == "COMPLETE", settled["status_reason"]
    found = await world.resources("web")
    assert {found[name]["status"] for name in found} == {"COMPLETE"}
    for name in TRANSPORTS:
        stored = await world.call("resource_metadata", ref=ref, name=name)
        assert [each["data"] for each in stored.values()] == ["one", "two"]

    assert (await world.delete("web"))["status"] == "COMPLETE"
    assert world.in_cloud(lambda: stored_signals(world)) == ([], [])


async def test_images_and_backups_of_snapshots_are_restored_and_deleted(moved: Moved) -> None:
    handle = {"type": "OS::Heat::WaitConditionHandle"}
    world, wanted = moved.world, template(**NET, web=server(), disk=volume(), word=value("before"), handle=handle)
    wanted["parameters"] = {"hidden": {"type": "string", "hidden": True, "default": "a hidden word"}}
    await moved.heat.create("full", wanted)
    kept = await take(moved.heat, "full", "kept")
    other = await take(moved.heat, "full", "other")
    copies = saved(world)
    await moved.take_over("full")
    assert await moved.unchanged("full", wanted)
    shown = await world.call("snapshot_show", ref={"name": "full", "id": None}, snapshot_id=kept["id"])
    assert shown["data"] == kept["data"]
    assert shown["data"]["resources"]["handle"]["resource_data"]["password"] == REDACTED
    assert shown["data"]["template"]["parameters"]["hidden"]["default"] == REDACTED
    await world.update("full", {**wanted, **template(**NET, web=server(), disk=volume(), word=value("after"))})

    restored = await restore(world, "full", kept)
    assert (restored["action"], restored["status"]) == ("RESTORE", "COMPLETE"), restored["status_reason"]
    image = kept["data"]["resources"]["web"]["resource_data"]["snapshot_image_id"]
    identifier = (await world.resources("full"))["web"]["physical_id"]
    rebuilt = world.served.call("GET", f"/compute/v2.1/servers/{identifier}", token=world.served.token()).json
    assert rebuilt["server"]["image"]["id"] == image
    await remove(world, "full", other)
    assert len(copies["images"]) == len(copies["backups"]) == 2
    assert [each["id"] for each in saved(world)["images"]] == [image]
    assert (await world.delete("full"))["status"] == "COMPLETE"
    assert saved(world) == {"images": [], "backups": []}


def _of_heat(name: str) -> str:
    """The physical name that Heat has given to a launch configuration."""
    return f"web-{name}-abcdefghijkl"


async def test_launch_configuration_references_are_unchanged(moved: Moved) -> None:
    """Heat records no physical ID of a launch configuration, and refers to it by its physical name."""
    body = {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Resources": {
            "launch": {
                "Type": "AWS::AutoScaling::LaunchConfiguration",
                "Properties": {"ImageId": "cirros", "InstanceType": "m1.tiny"},
            },
            "group": {"Type": "OS::Heat::Value", "Properties": {"value": {"Ref": "launch"}}},
        },
    }
    made = await moved.heat.create("web", body)
    assert made["status"] == "COMPLETE", made["status_reason"]

    def as_in_heat(rows: heat_database.Rows) -> None:
        numbers = {row["name"]: row["id"] for row in rows["resource"]}
        for row in rows["resource"]:
            if row["name"] == "launch":
                row["nova_instance"] = None
        for row in rows["resource_properties_data"]:
            if row["id"] == numbers["group"]:
                row["data"] = json.dumps({**json.loads(row["data"]), "value": _of_heat("launch")})

    await moved.take_over("web", change=as_in_heat)
    assert await moved.unchanged("web", body)
    rows = await moved.world.resources("web")
    assert rows["launch"]["physical_id"] == _of_heat("launch")


@pytest.mark.parametrize("associated", ["floating_ip", "EIP"])
async def test_an_association_continues_whose_ends_heat_has_not_recorded(moved: Moved, associated: str) -> None:
    """Heat records nothing of an association but its properties."""
    outside = {"external_gateway_info": {"network": "public"}}
    inside = {"router": {"get_resource": "router"}, "subnet": {"get_resource": "subnet"}}
    resources = {
        **NET,
        "router": {"type": "OS::Neutron::Router", "properties": outside},
        "interface": {"type": "OS::Neutron::RouterInterface", "properties": inside},
        "web": server(),
        "address": {"type": "OS::Nova::FloatingIP", "depends_on": "interface", "properties": {"pool": "public"}},
    }
    ends = {
        "floating_ip": {"floating_ip": {"get_resource": "address"}, "server_id": {"get_resource": "web"}},
        "EIP": {"EIP": {"get_attr": ["address", "ip"]}, "InstanceId": {"get_resource": "web"}},
    }[associated]
    kind = {"floating_ip": "OS::Nova::FloatingIPAssociation", "EIP": "AWS::EC2::EIPAssociation"}[associated]
    definition = template(**resources, association={"type": kind, "properties": ends})
    made = await moved.heat.create("web", definition)
    assert made["status"] == "COMPLETE", made["status_reason"]
    token = moved.world.served.token("demo", "demo")

    def port() -> str | None:
        [found] = moved.world.served.call("GET", "/network/v2.0/floatingips", token=token).json["floatingips"]
        return str(found["port_id"]) if found["port_id"] else None

    def as_in_heat(rows: heat_database.Rows) -> None:
        assert "ends" in [row["key"] for row in rows["resource_data"]]
        rows["resource_data"] = [row for row in rows["resource_data"] if row["key"] != "ends"]

    await moved.take_over("web", change=as_in_heat)
    assert port() is not None
    await moved.world.call("stack_action", ref={"name": "web", "id": None}, action="check")
    checked = await moved.world.settle(made["id"])
    assert (checked["action"], checked["status"]) == ("CHECK", "COMPLETE"), checked["status_reason"]
    assert await moved.unchanged("web", definition)
    updated = await moved.world.update("web", template(**resources))
    assert updated["status"] == "COMPLETE", updated["status_reason"]
    assert port() is None
    assert (await moved.world.delete("web"))["status"] == "COMPLETE"


async def test_the_port_of_an_instance_is_deleted_with_it(moved: Moved) -> None:
    resources = {
        **NET,
        "instance": {
            "type": "AWS::EC2::Instance",
            "properties": {"ImageId": "cirros", "InstanceType": "m1.tiny", "SubnetId": {"get_resource": "subnet"}},
        },
    }
    token = moved.world.served.token("demo", "demo")

    def ports() -> set[str]:
        listed = moved.world.served.call("GET", "/network/v2.0/ports", token=token).json["ports"]
        return {port["id"] for port in listed if port["device_owner"] != "network:dhcp"}

    before = ports()
    made = await moved.heat.create("web", template(**resources))
    assert made["status"] == "COMPLETE", made["status_reason"]

    def as_in_heat(rows: heat_database.Rows) -> None:
        for row in rows["resource_data"]:
            if row["key"] == "internal_ports":
                row |= {"key": "port_id", "value": json.loads(row["value"])[0]["id"]}
        assert "port_id" in [row["key"] for row in rows["resource_data"]]

    await moved.take_over("web", change=as_in_heat)
    assert len(ports()) > len(before)
    assert (await moved.world.delete("web"))["status"] == "COMPLETE"
    assert ports() == before
    left = moved.world.served.call("GET", "/network/v2.0/networks", token=token).json["networks"]
    assert sorted(network["name"] for network in left) == ["private", "public"]
