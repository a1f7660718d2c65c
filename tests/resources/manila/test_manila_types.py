"""Manila's types on the emulated shared file systems service: created, changed in place, and deleted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from openstack_emulator.testing import ServedCloud
from stoker.base.errors import CloudError
from stoker.cloud.session import Cloud
from stoker.plugins import capabilities
from stoker.plugins.resource import ResourceType
from stoker.resources.manila import TYPES
from stoker.resources.neutron.net import Net
from stoker.resources.neutron.subnet import Subnet
from stoker_foundation.clock import ManualClock
from tests.resources.resource_harness import ActionFailed, BadProperties, Bench, Resource

KINDS = {kind.type_name.removeprefix("OS::Manila::"): kind for kind in TYPES}
MakeBench = Callable[[type[ResourceType]], Bench]


class Scenario:
    """Benches of one user, and what the tested types need."""

    def __init__(self, cloud: Cloud, clock: ManualClock, served: ServedCloud) -> None:
        self.cloud, self._clock, self._served = cloud, clock, served

    def bench(self, kind: str) -> Bench:
        return Bench(KINDS[kind], self.cloud, self._clock, self._served.advance)

    async def show(self, path: str, member: str) -> dict[str, Any]:
        found: dict[str, Any] = (await self.cloud.get("manila", path))[member]
        return found

    async def subnet(self, cidr: str = "10.60.0.0/24") -> tuple[str, str]:
        """A network and its subnet."""
        network = await Bench(Net, self.cloud, self._clock, self._served.advance).create({})
        subnets = Bench(Subnet, self.cloud, self._clock, self._served.advance)
        made = await subnets.create({"network": network.physical_id, "cidr": cidr})
        return str(network.physical_id), str(made.physical_id)

    async def rules(self, share: Resource) -> set[tuple[str, str, str]]:
        path = f"/shares/{share.physical_id}/action"
        listed = (await self.cloud.post("manila", path, {"access_list": None}))["access_list"]
        return {(one["access_type"], one["access_to"], one["access_level"]) for one in listed}


@pytest.fixture
def rig(cloud: Cloud, clock: ManualClock, served: ServedCloud) -> Scenario:
    """As the user `demo`."""
    return Scenario(cloud, clock, served)


@pytest.fixture
def operator(admin: Cloud, clock: ManualClock, served: ServedCloud) -> Scenario:
    """As the administrator."""
    return Scenario(admin, clock, served)


async def is_deleted(cloud: Cloud, path: str) -> bool:
    return bool((await cloud.request("GET", "manila", path, ok=(404,))).status == 404)


async def test_a_security_service(rig: Scenario) -> None:
    kind = rig.bench("SecurityService")
    first = {"type": "ldap", "name": "people", "dns_ip": "10.0.0.2", "user": "ann", "password": "pw", "server": "s"}
    made = await kind.create(first)
    await kind.update(made, {"type": "ldap", "domain": "garden", "user": "ben", "server": "s", "description": "d"})
    shown = await rig.show(f"/security-services/{made.physical_id}", "security_service")
    assert {key: shown[key] for key in ("type", "domain", "user", "server", "description", "dns_ip")} == {
        "type": "ldap", "domain": "garden", "user": "ben", "server": "s", "description": "d", "dns_ip": None,
    }  # fmt: skip
    assert shown["name"].startswith("web-thing-")
    await kind.delete(made)
    await kind.delete(made)
    assert await is_deleted(rig.cloud, f"/security-services/{made.physical_id}")
    with pytest.raises(BadProperties, match="is not one of"):
        await kind.create({"type": "nis"})


async def test_a_share_network_and_its_security_services(rig: Scenario) -> None:
    network, subnet = await rig.subnet()
    services = rig.bench("SecurityService")
    one = await services.create({"type": "ldap", "name": "one"}, "one")
    two = await services.create({"type": "ldap", "name": "two"}, "two")
    kind = rig.bench("ShareNetwork")
    made = await kind.create({"neutron_subnet": subnet, "security_services": ["one"], "name": "files"})
    path = f"/share-networks/{made.physical_id}"
    shown = await rig.show(path, "share_network")
    assert (shown["neutron_net_id"], shown["neutron_subnet_id"]) == (network, subnet)
    assert await kind.attribute(made, "cidr") is None

    other, subnet2 = await rig.subnet("10.61.0.0/24")
    await kind.update(made, {"neutron_subnet": subnet2, "security_services": [two.physical_id], "description": "d"})
    shown = await rig.show(path, "share_network")
    assert (shown["neutron_net_id"], shown["neutron_subnet_id"]) == (other, subnet2)
    assert (shown["name"].startswith("web-thing-"), shown["description"]) == (True, "d")
    params = {"share_network_id": made.physical_id}
    listed = await rig.cloud.list("manila", "/security-services", "security_services", params)
    assert [item["id"] for item in listed] == [two.physical_id]

    await rig.cloud.post("manila", f"{path}/action", {"add_security_service": {"security_service_id": (
        await services.create({"type": "kerberos"}, "three")).physical_id}})  # fmt: skip
    observed = await kind.kind.observe(kind.call(made, "CHECK", made.properties))
    assert observed is not None
    members = observed["security_services"]
    assert isinstance(members, list) and len(members) == 2

    shares = rig.bench("Share")
    share = await shares.create(
        {"share_protocol": "NFS", "size": 1, "share_network": made.physical_id, "share_type": "dhss_true"}
    )
    keys = [("cidr",), ("ip_version",), ("network_type",), ("segmentation_id",)]
    found = await kind.attributes(made, keys)
    assert (found[("cidr",)], found[("ip_version",)], found[("network_type",)]) == ("10.61.0.0/24", 4, "vxlan")
    with pytest.raises(CloudError, match="1 share"):
        await kind.delete(made)
    await shares.delete(share)
    await kind.delete(made)
    await kind.delete(made)
    assert await is_deleted(rig.cloud, path)
    await services.delete(one)


async def test_contradictions_in_a_share_network(rig: Scenario) -> None:
    kind = rig.bench("ShareNetwork")
    for given, problem in (
        ({"nova_network": "n"}, "nova_network is not supported"),
        ({"neutron_network": "private"}, "without neutron_subnet"),
    ):
        with pytest.raises(BadProperties, match=problem):
            await kind.finalized(given)
    _, subnet = await rig.subnet()
    given = {"neutron_network": "private", "neutron_subnet": subnet}
    problems = await capabilities.consult(kind.kind, given, rig.cloud, None)  # type: ignore[arg-type]
    assert list(problems) == [f"the subnet {subnet} is not in the network private"]
    fitting = {"neutron_network": "private", "neutron_subnet": "private-subnet"}
    assert list(await capabilities.consult(kind.kind, fitting, rig.cloud, None)) == []  # type: ignore[arg-type]


async def test_a_share_type(operator: Scenario, rig: Scenario) -> None:
    kind = operator.bench("ShareType")
    first = {
        "name": "gold",
        "driver_handles_share_servers": False,
        "is_public": False,
        "snapshot_support": False,
        "extra_specs": {"tier": "1", "old": "x"},
    }
    made = await kind.create(first)
    await kind.update(made, {**first, "extra_specs": {"tier": "2", "new key": True}})
    shown = await operator.show(f"/types/{made.physical_id}", "share_type")
    assert shown["extra_specs"] == {
        "driver_handles_share_servers": "False", "snapshot_support": "False", "tier": "2", "new key": "True",
    }  # fmt: skip
    assert shown["share_type_access:is_public"] is False
    assert await operator.cloud.find("manila.share_type", "gold") == made.physical_id
    path = f"/types/{made.physical_id}/extra_specs"
    await operator.cloud.post("manila", path, {"extra_specs": {"tier": "3", "snapshot_support": "True"}})
    assert await kind.kind.observe(kind.call(made, "CHECK", made.properties)) == {
        "snapshot_support": "True",
        "extra_specs": {"tier": "3", "new key": "True"},
    }
    with pytest.raises(CloudError, match="already exists"):
        await kind.create(first, "again")
    await kind.delete(made)
    await kind.delete(made)
    assert await is_deleted(operator.cloud, f"/types/{made.physical_id}")
    with pytest.raises(CloudError, match="403"):
        await rig.bench("ShareType").create(first)


async def test_a_share_type_is_replaced_by_one_of_the_same_name(operator: Scenario) -> None:
    kind = operator.bench("ShareType")
    given = {"name": "gold", "driver_handles_share_servers": False}
    old = await kind.create(given)
    await kind.run("prepare_for_replacement", old)
    assert (await operator.show(f"/types/{old.physical_id}", "share_type"))["name"].startswith("web-thing-")
    new = await kind.create({**given, "driver_handles_share_servers": True})
    await kind.run("revert_replacement", old)
    names = [(await operator.show(f"/types/{one.physical_id}", "share_type"))["name"] for one in (old, new)]
    assert names == ["gold", new.physical_id]


async def test_a_share_with_access_rules(rig: Scenario) -> None:
    kind = rig.bench("Share")
    first = {
        "share_protocol": "GlusterFS",
        "size": 2,
        "metadata": {"a": "b", "n": 1},
        "share_type": "default",
        "access_rules": [
            {"access_type": "ip", "access_to": "10.0.0.0/24", "access_level": "ro"},
            {"access_type": "ip", "access_to": "10.1.0.1"},
        ],
    }
    made = await kind.create(first)
    assert await rig.rules(made) == {("ip", "10.0.0.0/24", "ro"), ("ip", "10.1.0.1", "rw")}
    second = {
        **first,
        "name": "docs",
        "description": "new",
        "metadata": {"c": "d"},
        "access_rules": [
            {"access_type": "ip", "access_to": "10.0.0.0/24", "access_level": "rw"},
            {"access_type": "user", "access_to": "gardener"},
        ],
    }
    await kind.update(made, second)
    assert await rig.rules(made) == {("ip", "10.0.0.0/24", "rw"), ("user", "gardener", "rw")}
    shown = await rig.show(f"/shares/{made.physical_id}", "share")
    assert (shown["name"], shown["description"], shown["metadata"]) == ("docs", "new", {"c": "d"})

    keys: list[tuple[str | int, ...]] = [("export_locations",), ("status",), ("host",), ("availability_zone",),
                                         ("project_id",), ("export_locations", 0)]  # fmt: skip
    found = await kind.attributes(made, keys)
    assert found[("export_locations",)] == [f"10.254.0.3:/share-{made.physical_id}"]
    assert found[("export_locations", 0)] == f"10.254.0.3:/share-{made.physical_id}"
    assert (found[("status",)], found[("host",)], found[("availability_zone",)]) == ("available", None, "nova")
    assert found[("project_id",)] == rig.cloud.project_id
    await kind.run("check", made)

    rule = {"allow_access": {"access_type": "ip", "access_to": "10.9.9.9"}}
    await rig.cloud.post("manila", f"/shares/{made.physical_id}/action", rule)
    observed = await kind.kind.observe(kind.call(made, "CHECK", made.properties))
    added = {"access_type": "ip", "access_to": "10.9.9.9", "access_level": "rw"}
    assert observed == {"access_rules": [*made.properties["access_rules"], added]}
    await kind.update(made, {"share_protocol": "GlusterFS", "size": 2, "share_type": "default"})
    assert await rig.rules(made) == set()
    shown = await rig.show(f"/shares/{made.physical_id}", "share")
    assert (shown["name"].startswith("web-thing-"), shown["metadata"]) == (True, {})

    await kind.delete(made)
    await kind.delete(made)
    with pytest.raises(ActionFailed, match="NotFound"):
        await kind.run("check", made)


async def test_a_share_that_fails(rig: Scenario, served: ServedCloud) -> None:
    kind = rig.bench("Share")
    given = {"share_protocol": "NFS", "size": 1}
    fault = {"on": "POST /share/v2/shares", "do": "error_state", "times": 1}
    assert served.call("POST", "/control/faults", fault).status in (200, 201)
    with pytest.raises(ActionFailed, match="status error"):
        await kind.create(given)
    for properties, problem in (
        ({**given, "size": 5000}, "gigabytes quota"),
        ({**given, "is_public": True}, "403"),
        ({**given, "share_network": None, "share_type": "dhss_true"}, "Share network must be set"),
    ):
        with pytest.raises(CloudError, match=problem):
            await kind.create(properties)

    refused = kind.resource("refused")
    refused.properties = await kind.finalized(
        {**given, "access_rules": [{"access_type": "ip", "access_to": "10.0.0.900"}]}
    )
    with pytest.raises(CloudError, match=r"10\.0\.0\.900"):
        await kind.run("create", refused)
    assert not await kind.kind.needs_replacement_after_failure(kind.call(refused, "UPDATE", refused.properties))
    rules = [{"access_type": "ip", "access_to": "10.0.0.9"}]
    for method in ("update", "create"):
        fault = {"on": "POST /share/v2/shares/*/action", "match": {"access_to": "*"}, "do": "error_state", "times": 1}
        served.call("POST", "/control/faults", fault)
        with pytest.raises(ActionFailed, match=r"access rules: ip 10\.0\.0\.9"):
            if method == "update":
                await kind.update(refused, {**given, "access_rules": rules})
            else:
                await kind.create({**given, "access_rules": rules}, "other")
    fault = {"on": "DELETE /share/v2/shares/*", "do": "error_state", "times": 1}
    served.call("POST", "/control/faults", fault)
    with pytest.raises(ActionFailed, match="error_deleting"):
        await kind.delete(refused)
    assert await kind.kind.needs_replacement_after_failure(kind.call(refused, "UPDATE", refused.properties))
    await kind.delete(refused)


async def test_a_share_from_a_snapshot(rig: Scenario) -> None:
    kind = rig.bench("Share")
    first = await kind.create({"share_protocol": "NFS", "size": 2}, "first")
    body = {"snapshot": {"share_id": first.physical_id, "name": "monday"}}
    snapshot = (await rig.cloud.post("manila", "/snapshots", body))["snapshot"]
    kind.advance(1)
    second = await kind.create({"share_protocol": "NFS", "size": 3, "snapshot": "monday"}, "second")
    shown = await rig.show(f"/shares/{second.physical_id}", "share")
    assert (shown["snapshot_id"], shown["size"]) == (snapshot["id"], 3)
    with pytest.raises(CloudError, match="dependent snapshots"):
        await kind.delete(first)
