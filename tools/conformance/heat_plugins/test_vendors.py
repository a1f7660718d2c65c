"""Stacks with the resource types of vendors' packages."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from openstack_emulator.network.routes.extensions import EXTENSIONS
from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.base.extensions import PluginInvalid
from stoker.engine.settings import EngineSettings
from stoker.plugins.registry import Registry
from stoker.plugins.resource import ResourceType
from stoker_foundation.clock import SystemClock
from testing.harness import World
from tools.conformance.heat_plugins.vendors import BIG_IP, NETMRI, Vendors

SITE = Path(next(place for place in sys.path if place.endswith("site-packages")))
UNPACKED = Path(os.environ["UNPACKED_PLUGINS"])
INSTALLED = {
    "gbpautomation": SITE / "gbpautomation" / "heat",
    "openstack-heat-plugin-venafi": SITE / "openstack-heat-plugin-venafi",
    "networking_bgpvpn_heat": SITE / "networking_bgpvpn_heat",
    "netmri_job.py": SITE / "heat_infoblox" / "resources" / "netmri_job.py",
    "netmri_managed_resource.py": SITE / "heat_infoblox" / "resources" / "netmri_managed_resource.py",
    "f5_heat": UNPACKED / "f5-openstack-heat-plugins-10.0.0" / "f5_heat",
}
COUNTS = {
    "OS::GroupBasedPolicy::": 15,
    "OS::Nova::VenafiCertificate": 1,
    "OS::Neutron::BGPVPN": 4,
    "F5::": 10,
    "Infoblox::NetMRI::": 2,
}


@pytest.fixture(scope="session")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory of `plugin_dirs` with links to the packages, as their manuals describe it."""
    made = tmp_path_factory.mktemp("heat")
    for name, target in INSTALLED.items():
        (made / name).symlink_to(target)
    return made


@pytest.fixture
def vendors() -> Iterator[Vendors]:
    made = Vendors()
    restore = made.install()
    yield made
    restore()


@pytest.fixture
async def world(directory: Path, tmp_path: Path, vendors: Vendors) -> AsyncIterator[World]:
    """A Stoker whose cloud has the extension `bgpvpn`."""
    EXTENSIONS["bgpvpn"] = "BGP VPN"
    with ServedCloud(new_cloud(clock=SystemClock(), pace=0.02)) as served:
        settings = EngineSettings(type_options={"plugin_dirs": [str(directory)]})
        made = await World(tmp_path / "stoker.db", served, settings=settings).start()
        yield made
        await made.stop()


def stack_of(**resources: Any) -> dict[str, Any]:
    return {"heat_template_version": "2021-04-16", "resources": resources}


async def created(world: World, template: dict[str, Any]) -> dict[str, Any]:
    stack = await world.create("vendors", template)
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    return stack


def test_all_types_are_loaded(directory: Path) -> None:
    types: dict[str, ResourceType] = dict(Registry.from_entry_points({"plugin_dirs": [str(directory)]}).types)
    for prefix, count in COUNTS.items():
        found = [name for name in types if name.startswith(prefix)]
        assert len(found) == count, found
        assert all(types[name].properties for name in found)


def test_a_type_derived_from_one_of_heats_own_is_refused(tmp_path: Path) -> None:
    """cobalt-heat derives from AWS::EC2::Instance of a release of 2013."""
    source = UNPACKED / "cobalt-heat-0.1"
    shutil.copytree(source / "cobalt_heat", tmp_path / "cobalt")
    with pytest.raises(PluginInvalid) as caught:
        Registry.from_entry_points({"plugin_dirs": [str(tmp_path)]})
    (problem,) = caught.value.problems
    assert "cobalt/instance.py" in problem
    assert "stoker-heat-plugins does not offer what the module imports" in problem
    assert "heat.engine" in problem


async def test_venafi_enrolls_a_certificate(world: World) -> None:
    template = stack_of(
        certificate={
            "type": "OS::Nova::VenafiCertificate",
            "properties": {
                "name": "web",
                "common_name": "www.example.com",
                "zone": "Default",
                "fake": True,
                "sans": ["DNS:a.example.com"],
            },
        }
    )
    template["outputs"] = {"certificate": {"value": {"get_attr": ["certificate", "certificate"]}}}
    stack = await created(world, template)
    assert world.outputs(stack)["certificate"].startswith("-----BEGIN CERTIFICATE-----")
    assert (await world.delete("vendors"))["status"] == "COMPLETE"


async def test_a_virtual_server_on_a_big_ip(world: World, vendors: Vendors) -> None:
    """Types refer to each other's objects: the pool asks the device for its connection, the partition for its name."""
    template = stack_of(
        device={"type": "F5::BigIP::Device", "properties": {"ip": BIG_IP, "username": "admin", "password": "secret"}},
        partition={
            "type": "F5::Sys::Partition",
            "properties": {"name": "blue", "bigip_server": {"get_resource": "device"}},
        },
        pool={
            "type": "F5::LTM::Pool",
            "properties": {
                "name": "web",
                "bigip_server": {"get_resource": "device"},
                "partition": {"get_resource": "partition"},
            },
            "depends_on": ["device", "partition"],
        },
        save={
            "type": "F5::Sys::Save",
            "properties": {"bigip_server": {"get_resource": "device"}},
            "depends_on": "pool",
        },
    )
    await created(world, template)
    assert len(vendors.objects) == 2, vendors.objects
    (pool,) = [made for place, made in vendors.objects.items() if "/pool/" in place]
    assert (pool["name"], pool["partition"]) == ("web", "blue")
    assert (await world.delete("vendors"))["status"] == "COMPLETE"
    assert vendors.objects == {}, vendors.requests


async def test_group_based_policies(world: World, vendors: Vendors) -> None:
    """The client is that of the package's entry point in `heat.clients`; a change is made in place."""
    template = stack_of(
        l3={
            "type": "OS::GroupBasedPolicy::L3Policy",
            "properties": {"name": "l3", "ip_pool": "10.0.0.0/8", "shared": False},
        },
        l2={
            "type": "OS::GroupBasedPolicy::L2Policy",
            "properties": {"name": "l2", "l3_policy_id": {"get_resource": "l3"}, "shared": False},
        },
        group={
            "type": "OS::GroupBasedPolicy::PolicyTargetGroup",
            "properties": {"name": "group", "l2_policy_id": {"get_resource": "l2"}, "shared": False},
        },
    )
    template["outputs"] = {"shown": {"value": {"get_attr": ["l2", "show"]}}}
    stack = await created(world, template)
    names = {made["name"]: made for made in vendors.objects.values()}
    assert names["l2"]["l3_policy_id"] == names["l3"]["id"]
    assert world.outputs(stack)["shown"]["name"] == "l2"
    template["resources"]["l2"]["properties"]["name"] = "renamed"
    stack = await world.update("vendors", template)
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    assert names["l2"]["name"] == "renamed"
    assert (await world.delete("vendors"))["status"] == "COMPLETE"
    assert vendors.objects == {}, vendors.requests


async def test_bgp_vpns(world: World, vendors: Vendors) -> None:
    """Types derived from NeutronResource, with a constraint of the package, and names that are resolved."""
    template = stack_of(
        vpn={"type": "OS::Neutron::BGPVPN", "properties": {"name": "vpn", "route_targets": ["64512:1"]}},
        network={"type": "OS::Neutron::Net"},
        association={
            "type": "OS::Neutron::BGPVPN-NET-ASSOCIATION",
            "properties": {"bgpvpn_id": {"get_resource": "vpn"}, "network_id": {"get_resource": "network"}},
        },
    )
    await created(world, template)
    (association,) = [made for place, made in vendors.objects.items() if "network_associations" in place]
    assert len(association["network_id"]) == 36
    assert (await world.delete("vendors"))["status"] == "COMPLETE"
    assert vendors.objects == {}, vendors.requests


async def test_netmri_runs_jobs(world: World, vendors: Vendors) -> None:
    """The creation and the deletion wait for a job each; the handler of the deletion records its job as metadata."""
    connection = {"host": NETMRI, "api_version": "3", "username": "admin", "password": "secret"}
    device = {"device_ip_address": "192.0.2.5", "network_view": "Network 1"}
    jobs = {
        f"{action}_job": {"source": {"script": f"{action} VLAN"}, "inputs": {"vlan": 7}, "targets": [device]}
        for action in ("create", "delete")
    }
    template = stack_of(
        vlan={"type": "Infoblox::NetMRI::ManagedResource", "properties": {"connection": connection, **jobs}}
    )
    template["outputs"] = {"job": {"value": {"get_attr": ["vlan", "job"]}}}
    stack = await created(world, template)
    assert world.outputs(stack)["job"]["completed_at"]
    assert (await world.delete("vendors"))["status"] == "COMPLETE"
    created_by, deleted_by = vendors.objects.values()
    assert (created_by["name"], deleted_by["name"]) == ("create VLAN", "delete VLAN")
    assert created_by["device_ids"] == [5] and created_by["$vlan"] == 7
    assert created_by["completed_at"] and deleted_by["completed_at"]
