"""Hypervisors choose the device names of attached volumes, whatever name Nova was asked for."""

from __future__ import annotations

from typing import Any

import pytest

from tests.harness import World

TEMPLATE: dict[str, Any] = {
    "heat_template_version": "2021-04-16",
    "resources": {
        "volume": {"type": "OS::Cinder::Volume", "properties": {"size": 1}},
        "server": {
            "type": "OS::Nova::Server",
            "properties": {"image": "cirros", "flavor": "m1.tiny", "networks": [{"allocate_network": "none"}]},
        },
    },
}
REFERENCES = ({"get_resource": "server"}, {"get_resource": "volume"})


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("OS::Cinder::VolumeAttachment", ("instance_uuid", "volume_id", "mountpoint")),
        ("AWS::EC2::VolumeAttachment", ("InstanceId", "VolumeId", "Device")),
    ],
)
async def test_other_device_name_is_not_drift(world: World, name: str, keys: tuple[str, str, str]) -> None:
    attachment = {"type": name, "properties": dict(zip(keys, (*REFERENCES, "/dev/vdc"), strict=True))}
    made = {**TEMPLATE, "resources": {**TEMPLATE["resources"], "thing": attachment}}
    await world.create("web", made)
    rows = await world.resources("web")
    server, volume = rows["server"]["physical_id"], rows["volume"]["physical_id"]
    path = f"/compute/v2.1/servers/{server}/os-volume_attachments"
    token = world.served.token("demo", "demo")
    ref = {"name": "web", "id": None}
    assert (await world.call("drift_detect_resource", ref=ref, name="thing"))["status"] == "IN_SYNC"
    assert world.served.call("DELETE", f"{path}/{volume}", None, token).status == 202
    elsewhere = {"volumeAttachment": {"volumeId": volume, "device": "/dev/vdd"}}
    await world.until(lambda: bool(world.served.call("POST", path, elsewhere, token).status == 200))  # once detached
    report = await world.call("drift_detect_resource", ref=ref, name="thing")
    assert (report["status"], report["differences"]) == ("UNKNOWN", [])
    assert f"{keys[2]} (the server has it as /dev/vdd" in report["reason"]
    found = await world.call("stack_patch_preview", ref=ref, converge=True)
    assert {step["kind"] for step in found["plan"]["steps"]} == {"keep"}
