"""What other services call in process, and what survives a restart."""

from __future__ import annotations

from pathlib import Path

import pytest

from openstack_emulator.core.cloud import Cloud
from openstack_emulator.core.errors import ApiError
from openstack_emulator.core.typed import to_plain
from openstack_emulator.identity.rules.composition import Identity
from openstack_emulator.network.records.core import Network
from openstack_emulator.network.rules.composition import NetworkService
from openstack_emulator.network.rules.kinds.kind import Actor
from openstack_emulator.services import new_cloud
from stoker_foundation.clock import ManualClock


def project_of(cloud: Cloud, name: str = "demo") -> str:
    project = cloud.of(Identity).projects.rows.first(name=name)
    assert project is not None
    return project.id


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def cloud(clock: ManualClock) -> Cloud:
    made = new_cloud(clock=clock)
    made.start()
    return made


@pytest.fixture
def network(cloud: Cloud) -> NetworkService:
    return cloud.of(NetworkService)


@pytest.fixture
def private(network: NetworkService) -> Network:
    found = network.networks.rows.first(name="private")
    assert found is not None
    return found


async def test_a_port_of_a_server_is_bound_plugged_and_freed() -> None:
    clock = ManualClock()
    cloud = new_cloud(clock=clock)
    cloud.start()
    network = cloud.of(NetworkService)
    demo = project_of(cloud)
    (private,) = network.default_network_for(demo)
    port = network.create_port(demo, {"network_id": private.id})
    network.bind_port(port.id, "server-1", "compute:nova", "compute-1")
    assert (port.status, port.vif_type) == ("BUILD", "ovs")
    clock.advance(1)
    assert port.status == "ACTIVE"
    assert network.ports_of_device("server-1") == [port]
    with pytest.raises(ApiError) as refused:
        network.bind_port(port.id, "server-2", "compute:nova", "compute-1")
    assert (refused.value.status, refused.value.kind) == (409, "PortInUse")
    network.unbind_port(port.id)
    assert (port.status, port.device_id, port.host_id) == ("DOWN", "", "")
    network.delete_port(port.id)
    network.delete_port(port.id)
    assert network.ports_of_device("server-1") == []


async def test_networks_of_a_server_without_a_choice(cloud: Cloud, network: NetworkService, private: Network) -> None:
    demo, other = project_of(cloud), project_of(cloud, "service")
    assert network.default_network_for(demo) == [private]
    assert network.default_network_for(other) == []
    shared = network.networks.create(Actor(project_of(cloud, "admin"), admin=True), {"name": "s", "shared": True})
    assert network.default_network_for(other) == [shared]
    with pytest.raises(ApiError) as refused:
        network.network_for(other, private.id)
    assert refused.value.kind == "NetworkNotFound"


async def test_security_groups_by_name_or_id(network: NetworkService) -> None:
    (default,) = network.security_groups_by_name_or_id("p", "default")
    assert network.security_groups_by_name_or_id("p", default.id) == [default]
    assert network.security_groups_by_name_or_id("q", default.id) == []
    for _ in range(2):
        network.security_groups.create(Actor("p"), {"name": "twin"})
    assert len(network.security_groups_by_name_or_id("p", "twin")) == 2


async def test_force_deletes_objects_in_use(network: NetworkService) -> None:
    router = network.routers.rows.first(name="router1")
    assert router is not None
    interface = network.ports_of_device(router.id)[-1]
    with pytest.raises(ApiError):
        network.delete_port(interface.id)
    network.delete_port(interface.id, force=True)
    assert network.ports.rows.get(interface.id) is None


async def test_address_allocations_survive_restart(tmp_path: Path) -> None:
    path = tmp_path / "cloud.db"
    before = new_cloud(clock=ManualClock(), state_path=path)
    demo = project_of(before)
    network = before.of(NetworkService)
    (private,) = network.default_network_for(demo)
    port = network.create_port(demo, {"network_id": private.id})
    used = network.state.usage[demo, "port"]
    before.close()
    after = new_cloud(clock=ManualClock(), state_path=path)
    network = after.of(NetworkService)
    assert network.state.usage[demo, "port"] == used
    second = network.create_port(demo, {"network_id": private.id})
    assert second.fixed_ips != port.fixed_ips
    with pytest.raises(ApiError) as refused:
        network.create_port(demo, {"network_id": private.id, "fixed_ips": [to_plain(one) for one in port.fixed_ips]})
    assert refused.value.kind == "IpAddressAlreadyAllocated"
    after.close()


async def test_a_trunk_goes_with_its_parent_when_forced(
    cloud: Cloud, network: NetworkService, private: Network
) -> None:
    demo = Actor(project_of(cloud))
    parent, child, other = (network.ports.create(demo, {"network_id": private.id}) for _ in range(3))
    for port, carried in ((parent, child), (other, None)):
        subs = [{"port_id": carried.id, "segmentation_type": "vlan", "segmentation_id": 5}] if carried else []
        network.trunks.create(demo, {"port_id": port.id, "sub_ports": subs})
    network.delete_port(parent.id, force=True)
    assert [trunk.port_id for trunk in network.trunks.rows] == [other.id]
    assert child.device_owner == ""
