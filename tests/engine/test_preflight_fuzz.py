"""What the checks before the first change say about quotas is what a deployment without them finds out.

A creation is known to fail exactly if its deployment fails. An update is known to fail only if it does, and one about
whose quotas nothing is said does not fail; what depends on the order of its steps is a warning.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.base.errors import CloudError
from stoker.cloud.credentials import TokenCredential
from stoker.cloud.session import Cloud
from stoker_foundation.clock import SystemClock
from testing.harness import World

Result = TypeVar("Result")
DATABASE = {
    "flavor": "m1.small",
    "datastore_type": "mysql",
    "datastore_version": "8.0.29",
    "networks": [{"network": "private"}],
}
TEMPLATE_OF_CLUSTERS = {
    "type": "OS::Magnum::ClusterTemplate",
    "properties": {
        "name": "fuzz",
        "coe": "kubernetes",
        "docker_volume_size": 10,
        "image": "fedora-coreos",
        "flavor": "m1.small",
        "external_network": "public",
    },
}
CLUSTER = {"datastore_type": "mariadb", "datastore_version": "10.4.18"}
FLAVORS = ("m1.nano", "m1.tiny", "m1.small", "m1.medium")


class Loop:
    """A world on an event loop that runs only while the test waits for it; its clock moves with it."""

    def __init__(self, directory: Path, served: ServedCloud) -> None:
        self._loop = asyncio.new_event_loop()
        self.served = served
        self.world = World(directory / "stoker.db", served)
        self._limits: dict[str, Mapping[str, Any]] = {}
        self.run(self.world.start())

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Return the result of a coroutine; requests that are repeated wait by the world's clock, which moves."""
        return self._loop.run_until_complete(self.world.ended(work))

    def differ(self, services: str, limits: Mapping[str, Any]) -> bool:
        """Record new quotas of services; return whether the ones before were others."""
        before = self._limits.get(services)
        self._limits[services] = limits
        return before != limits

    def stop(self) -> None:
        """Stop the engine."""
        self.run(self.world.stop())
        self._loop.close()


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Loop]:
    with ServedCloud(new_cloud(clock=SystemClock(), pace=0.001)) as served:
        world = Loop(tmp_path_factory.mktemp("fuzz"), served)
        port = {"type": "OS::Neutron::Port", "properties": {"network": "private"}}
        deploy(world, "first", {"port": port})  # from now on the project has its default security group
        world.run(world.world.delete("first"))
        made = deploy(world, "templates", {"fuzz": TEMPLATE_OF_CLUSTERS})
        assert made["status"] == "COMPLETE", made["status_reason"]
        yield world
        world.stop()


def deploy(beside: Loop, name: str, resources: Mapping[str, Any], *, update: bool = False) -> Any:
    """Deploy without the checks; return the stack as it ends."""
    world = beside.world
    work = (world.update if update else world.create)(name, template(resources), preflight=False)
    return beside.run(work)


def template(resources: Mapping[str, Any]) -> dict[str, Any]:
    return {"heat_template_version": "2021-04-16", "resources": dict(resources)}


def codes(beside: Loop, name: str, resources: Mapping[str, Any], *, update: bool = False) -> set[str]:
    world, body = beside.world, template(resources)
    if update:
        asked = world.call("stack_update_preview", ref={"name": name, "id": None}, template=body)
    else:
        asked = world.call("stack_preview", name=name, template=body)
    return {each["code"] for each in beside.run(asked)["plan"]["preflight"]["results"]}


def members(sizes: Sequence[int]) -> list[dict[str, Any]]:
    networks = [{"network": "private"}]
    return [{"flavor": "m1.small", "volume_size": size, "networks": networks} for size in sizes]


DATABASES = st.one_of(
    st.builds(
        lambda size: {"type": "OS::Trove::Instance", "properties": {**DATABASE, "size": size}}, st.integers(1, 10)
    ),
    st.builds(
        lambda sizes: {"type": "OS::Trove::Cluster", "properties": {**CLUSTER, "instances": members(sizes)}},
        st.lists(st.integers(1, 5), min_size=3, max_size=4),
    ),
)
RESOURCES = st.one_of(
    st.builds(
        lambda size, hint: {
            "type": "OS::Cinder::Volume",
            "properties": {"size": size, "scheduler_hints": {"hint": hint}},
        },
        st.integers(1, 30),
        st.sampled_from(["a", "b"]),
    ),
    st.builds(
        lambda flavor, number: {
            "type": "OS::Nova::Server",
            "properties": {"image": "cirros", "flavor": flavor, "networks": [{"network": "private"}] * number},
        },
        st.sampled_from(FLAVORS),
        st.integers(1, 2),
    ),
    st.builds(
        lambda number, size: {
            "type": "OS::Heat::ResourceGroup",
            "properties": {
                "count": number,
                "resource_def": {"type": "OS::Cinder::Volume", "properties": {"size": size}},
            },
        },
        st.integers(0, 3),
        st.integers(1, 20),
    ),
    st.builds(
        lambda number: {
            "type": "OS::Neutron::SecurityGroup",
            "properties": {
                "rules": [{"protocol": "tcp", "port_range_min": n, "port_range_max": n} for n in range(1, number + 1)]
            },
        },
        st.integers(1, 3),
    ),
    st.just({"type": "OS::Neutron::Net"}),
    st.just({"type": "OS::Neutron::Router"}),
    st.just({"type": "OS::Neutron::Port", "properties": {"network": "private"}}),
    st.just({"type": "OS::Neutron::FloatingIP", "properties": {"floating_network": "public"}}),
    st.just({"type": "OS::Nova::ServerGroup"}),
    st.builds(
        lambda size: {"type": "OS::Manila::Share", "properties": {"share_protocol": "NFS", "size": size}},
        st.integers(1, 10),
    ),
    st.just({"type": "OS::Manila::ShareNetwork"}),
    st.just({"type": "OS::Barbican::Secret", "properties": {"payload": "x", "payload_content_type": "text/plain"}}),
    st.just({"type": "OS::Barbican::GenericContainer"}),
    st.builds(
        lambda name: {"type": "OS::Designate::Zone", "properties": {"name": name, "email": "a@example.com"}},
        st.uuids().map(lambda unique: f"{unique}.example."),
    ),
    st.just({"type": "OS::Octavia::LoadBalancer", "properties": {"vip_subnet": "private-subnet"}}),
    DATABASES,
    st.just({"type": "OS::Magnum::Cluster", "properties": {"cluster_template": "fuzz"}}),
    st.just({"type": "OS::Heat::SwiftSignalHandle"}),
)
CONNECTED = st.one_of(
    DATABASES,
    st.builds(
        lambda number: {
            "type": "OS::Nova::Server",
            "properties": {"image": "cirros", "flavor": "m1.nano", "networks": [{"network": "private"}] * number},
        },
        st.integers(1, 2),
    ),
    st.builds(
        lambda networks: {"type": "OS::Zun::Container", "properties": {"image": "cirros", "networks": networks}},
        st.lists(st.just({"network": "private"}), min_size=1, max_size=2),
    ),
    st.just({"type": "OS::Neutron::Port", "properties": {"network": "private"}}),
    st.just({"type": "AWS::EC2::Instance", "properties": {"ImageId": "cirros", "InstanceType": "m1.nano"}}),
    st.just({"type": "OS::Octavia::LoadBalancer", "properties": {"vip_subnet": "private-subnet"}}),
)
"""Resources for which somebody makes ports."""
STACKS = st.dictionaries(st.sampled_from([f"r{number}" for number in range(6)]), RESOURCES, min_size=1, max_size=6)
CONNECTIONS = st.dictionaries(st.sampled_from(["r0", "r1", "r2", "r3"]), CONNECTED, min_size=1, max_size=4)
COMPUTE = st.fixed_dictionaries(
    {
        "instances": st.integers(0, 4),
        "cores": st.integers(0, 6),
        "ram": st.sampled_from([-1, 512, 1024, 4096, 8192]),
        "server_groups": st.integers(0, 2),
    }
)
STORAGE = st.fixed_dictionaries(
    {"volumes": st.integers(0, 6), "gigabytes": st.integers(0, 90), "volumes_lvmdriver-1": st.sampled_from([-1, 2, 4])}
)
NETWORK = st.fixed_dictionaries(
    {
        "network": st.integers(0, 2),
        "router": st.integers(0, 2),
        "port": st.integers(0, 5),
        "floatingip": st.integers(0, 2),
        "security_group": st.integers(1, 3),
        "security_group_rule": st.integers(4, 14),
    }
)
OTHERS = st.fixed_dictionaries(
    {
        "load_balancer": st.integers(0, 2),
        "shares": st.integers(0, 2),
        "gigabytes": st.integers(0, 20),
        "share_networks": st.integers(0, 2),
        "secrets": st.integers(0, 2),
        "containers": st.integers(0, 2),
        "zones": st.integers(0, 2),
        "instances": st.integers(0, 5),
        "volumes": st.integers(0, 30),
        "ram": st.sampled_from([-1, 2048, 4096, 8192]),
        "clusters": st.integers(0, 2),
        "objects": st.integers(0, 2),
        "bytes": st.integers(0, 30),
    }
)
UNLIMITED_NETWORK = dict.fromkeys(
    ("network", "router", "port", "floatingip", "security_group", "security_group_rule"), -1
)
NAMES = count()
NEWEST = {"OpenStack-API-Version": "container-infra latest"}
QUOTA_ERROR = re.compile(r"[Qq]uota|LimitExceeded|[Ll]imit exceeded|Upload exceeds")


def limit(beside: Loop, compute: Any = None, storage: Any = None, network: Any = None, others: Any = None) -> None:
    """Set the quotas of the project; without arguments, none limits anything."""
    world = beside.world
    project = world.context.project_id
    admin = beside.run(world.pool.cloud(TokenCredential(beside.served.token("admin", "admin"))))
    free = {
        "nova": ("instances", "cores", "ram", "server_groups"),
        "cinder": ("volumes", "gigabytes", "volumes_lvmdriver-1"),
    }
    for service, given_limits in (("nova", compute), ("cinder", storage)):
        body = {**dict.fromkeys(free[service], -1), **(given_limits or {})}
        forced = {"force": True} if service == "nova" else {}
        if beside.differ(service, body):
            beside.run(admin.put(service, f"/os-quota-sets/{project}", {"quota_set": {**body, **forced}}))
    limits = network or UNLIMITED_NETWORK
    path = f"/network/v2.0/quotas/{project}"
    if beside.differ("neutron", limits):
        assert beside.served.call("PUT", path, {"quota": limits}, beside.served.token()).status == 200
    if beside.differ("others", others or {}):
        limit_others(admin, beside, others or {})


def limit_others(admin: Cloud, beside: Loop, given_limits: Mapping[str, int]) -> None:
    """Set the quotas of the project in the services that have a few."""
    project = beside.world.context.project_id

    def of(*names: str, unlimited: int = -1) -> dict[str, int]:
        return {name: given_limits.get(name, unlimited) for name in names}

    shares = of("shares", "gigabytes", "share_networks")
    beside.run(admin.put("octavia", f"/lbaas/quotas/{project}", {"quota": of("load_balancer")}))
    beside.run(admin.put("manila", f"/quota-sets/{project}", {"quota_set": {**shares, "force": True}}))
    beside.run(admin.put("barbican", f"/project-quotas/{project}", {"project_quotas": of("secrets", "containers")}))
    everywhere = {"X-Auth-All-Projects": "true"}
    databases = of("instances", "volumes", "ram")
    beside.run(admin.put("trove", f"/mgmt/quotas/{project}", {"quotas": databases}))
    limit_clusters(admin, beside, given_limits.get("clusters", 1000))
    limit_objects(beside, given_limits)
    zones = of("zones", unlimited=1000)
    beside.run(admin.request("PATCH", "designate", f"/v2/quotas/{project}", json=zones, headers=everywhere))


def limit_clusters(admin: Cloud, beside: Loop, limit: int) -> None:
    quota = {"project_id": beside.world.context.project_id, "resource": "Cluster", "hard_limit": limit}
    try:
        beside.run(admin.post("magnum", "/quotas", quota, headers=NEWEST))
    except CloudError:
        beside.run(admin.patch("magnum", f"/quotas/{quota['project_id']}/Cluster", quota, headers=NEWEST))


def limit_objects(beside: Loop, given_limits: Mapping[str, int]) -> None:
    """Set the quotas of the account; without limits, there are none."""
    names = {"X-Account-Quota-Count": "objects", "X-Account-Quota-Bytes": "bytes"}
    headers = {header: str(given_limits[name]) if name in given_limits else "" for header, name in names.items()}
    url = f"/object-store/v1/AUTH_{beside.world.context.project_id}"
    answer = beside.served.call("POST", url, None, beside.served.token("admin", "admin"), headers=headers)
    assert answer.status == 204


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(stack=STACKS, compute=COMPUTE, storage=STORAGE, network=NETWORK, others=OTHERS)
def test_preflight_predicts_creation_failures_exactly(
    beside: Loop, stack: Any, compute: Any, storage: Any, network: Any, others: Any
) -> None:
    name = f"create{next(NAMES)}"
    limit(beside, compute, storage, network, others)
    found = codes(beside, name, stack)
    made = deploy(beside, name, stack)
    limit(beside)
    beside.run(beside.world.delete(name))
    assert found <= {"quota"}
    assert (made["status"] == "FAILED") == bool(found), made["status_reason"]


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(before=STACKS, after=STACKS, compute=COMPUTE, storage=STORAGE, network=NETWORK, others=OTHERS)
def test_preflight_predicts_no_false_update_failures(
    beside: Loop, before: Any, after: Any, compute: Any, storage: Any, network: Any, others: Any
) -> None:
    _check_update(beside, before, after, {"compute": compute, "storage": storage, "network": network, "others": others})


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(before=CONNECTIONS, after=CONNECTIONS, ports=st.integers(0, 14))
def test_preflight_counts_all_implicit_ports(beside: Loop, before: Any, after: Any, ports: int) -> None:
    """A creation and an update with resources that take ports, where nothing but ports is limited."""
    name = f"ports{next(NAMES)}"
    limit(beside, network={**UNLIMITED_NETWORK, "port": ports})
    found = codes(beside, name, before)
    made = deploy(beside, name, before)
    limit(beside)
    beside.run(beside.world.delete(name))
    assert (made["status"] == "FAILED") == ("quota" in found), made["status_reason"]
    _check_update(beside, before, after, {"network": {**UNLIMITED_NETWORK, "port": ports}})


def _check_update(beside: Loop, before: Any, after: Any, limits: Mapping[str, Any]) -> None:
    name = f"update{next(NAMES)}"
    limit(beside)
    assert deploy(beside, name, before)["status"] == "COMPLETE"
    limit(beside, **limits)
    found = codes(beside, name, after, update=True)
    made = deploy(beside, name, after, update=True)
    limit(beside)
    beside.run(beside.world.delete(name))
    if "quota" in found:
        assert made["status"] == "FAILED"
    elif not found:  # it may fail for another reason: a volume cannot become smaller
        assert not QUOTA_ERROR.search(made["status_reason"]), made["status_reason"]
