"""Dependencies that plug-ins add."""

from __future__ import annotations

from typing import Any

import pytest

from stoker.base.errors import BadValue
from tests.heat_plugins import appliance
from tests.heat_plugins.conftest import Begin


def template(fault: str | None = None) -> dict[str, Any]:
    network = {"get_resource": "network"}
    return {
        "heat_template_version": "2021-04-16",
        "resources": {
            "uplink": {"type": "Vendor::Net::Uplink", "properties": {"network": network, "fault": fault}},
            "spare": {"type": "Vendor::Net::Uplink", "properties": {"network": "elsewhere"}},
            "network": {"type": "OS::Neutron::Net"},
            "mine": {"type": "OS::Neutron::Subnet", "properties": {"network": network, "cidr": "10.0.0.0/24"}},
            "other_network": {"type": "OS::Neutron::Net"},
            "other": {
                "type": "OS::Neutron::Subnet",
                "properties": {"network": {"get_resource": "other_network"}, "cidr": "10.0.1.0/24"},
            },
            "device": {"type": "Vendor::Net::Device", "properties": {"ip": "192.0.2.1"}},
            "other_device": {"type": "Vendor::Net::Device", "properties": {"ip": "192.0.2.2"}},
        },
    }


async def test_dependencies_added_by_plug_in_order_creation_and_deletion(begin: Begin) -> None:
    """References that are equal before anything exists are to the same network; built-in types are seen, too."""
    world = await begin()
    stack = await world.create("net", template())
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    rows = await world.resources("net")
    required = {name for name, row in rows.items() if "uplink" in row["required_by"]}
    assert required == {"network", "mine", "device"}
    assert (await world.delete("net"))["status"] == "COMPLETE"
    assert appliance.CALLS[-1] == "delete uplink"


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("reversed", "add_dependencies of the plug-in .* 'uplink': ValueError: .* own resource only, not of 'spare'"),
        ("client", "add_dependencies of the plug-in .* without services, so there is no context.keystone_session"),
    ],
)
async def test_invalid_additions_of_plug_ins_are_refused(begin: Begin, fault: str, reason: str) -> None:
    world = await begin()
    with pytest.raises(BadValue, match=reason):
        await world.create("net", template(fault))
