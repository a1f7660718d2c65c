"""Trove's types on the emulated database service: created, changed in place, deleted, found after a crash."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from openstack_emulator.core.faults import Fault
from openstack_emulator.testing import ServedCloud
from stoker.base.errors import CloudError, NotSupported
from stoker.cloud.session import Cloud
from stoker.plugins import capabilities
from stoker.plugins.resource import NoSources, ResourceType
from stoker.resources.neutron.net import Net
from stoker.resources.neutron.port import Port
from stoker.resources.neutron.subnet import Subnet
from stoker.resources.trove.cluster import Cluster
from stoker.resources.trove.instance import Instance
from tests.resources.resource_harness import ActionFailed, BadProperties, Bench, Resource

MakeBench = Callable[[type[ResourceType]], Bench]
SMALL = {"flavor": "m1.micro", "size": 2}
CLERK = {"name": "clerk", "password": "open_sesame", "databases": ["shop"]}
OWNER = {"name": "owner", "password": "first_word", "databases": ["shop"]}
FULL = {
    **SMALL,
    "datastore_type": "mysql",
    "datastore_version": "8.0.29",
    "databases": [{"name": "shop"}],
    "users": [CLERK, OWNER],
}
MEMBER = {"flavor": "84", "volume_size": 1}
GALERA = {"datastore_type": "mariadb", "datastore_version": "10.4.18", "instances": [MEMBER] * 3}


async def shown(bench: Bench, resource: Resource) -> dict[str, Any]:
    kind: Any = bench.kind
    found: dict[str, Any] | None = await kind.show(bench.call(resource, "CHECK", resource.properties))
    assert found is not None, "the object does not exist"
    return found


async def users(cloud: Cloud, resource: Resource) -> dict[str, tuple[str, list[str]]]:
    listed = await cloud.list("trove", f"/instances/{resource.physical_id}/users", "users")
    return {one["name"]: (one["host"], sorted(entry["name"] for entry in one["databases"])) for one in listed}


async def databases(cloud: Cloud, resource: Resource) -> list[str]:
    return [
        one["name"] for one in await cloud.list("trove", f"/instances/{resource.physical_id}/databases", "databases")
    ]


async def test_an_instance_on_a_network(bench: MakeBench, cloud: Cloud) -> None:
    net = await bench(Net).create({"name": "db"}, "net")
    subnet = await bench(Subnet).create({"network": net.physical_id, "cidr": "10.70.0.0/24"}, "subnet")
    port = await bench(Port).create({"network": net.physical_id}, "port")
    instances = bench(Instance)
    places = [{"network": "db", "fixed_ip": "10.70.0.50"}, {"port": port.physical_id}]
    made = await instances.create({**FULL, "networks": places})
    found = await shown(instances, made)
    assert (found["flavor"]["id"], found["volume"]["size"], found["datastore"]["version"]) == ("84", 2, "8.0.29")
    assert "10.70.0.50" in found["ip"] and len(found["ip"]) == 2
    assert await databases(cloud, made) == ["shop"]
    assert await users(cloud, made) == {"clerk": ("%", ["shop"]), "owner": ("%", ["shop"])}
    assert await instances.attribute(made, "hostname") == found["hostname"]
    assert str(await instances.attribute(made, "href")).endswith(f"/{cloud.project_id}/instances/{made.physical_id}")
    assert instances.reference(made) == made.physical_id
    await instances.run("check", made)
    await instances.run("adopt", made)
    await instances.delete(made)
    await instances.delete(made)
    with pytest.raises(ActionFailed, match="does not exist"):
        await instances.run("check", made)
    with pytest.raises(ActionFailed, match="no object"):
        await instances.run("adopt", made)
    await bench(Port).delete(port)
    await bench(Subnet).delete(subnet)
    await bench(Net).delete(net)


async def test_the_id_of_a_flavor_need_not_be_a_number(bench: MakeBench) -> None:
    instances = bench(Instance)
    made = await instances.create({**SMALL, "flavor": "ds1G"})
    assert (await shown(instances, made))["flavor"]["id"] == "d2"


async def test_an_instance_is_changed_in_place(bench: MakeBench, cloud: Cloud) -> None:
    instances = bench(Instance)
    made = await instances.create(FULL)
    path = f"/instances/{made.physical_id}"
    await cloud.post("trove", f"{path}/databases", {"databases": [{"name": "by_hand"}]})
    await cloud.post("trove", f"{path}/users", {"users": [{"name": "guest", "password": "by_hand"}]})
    second = {
        **FULL,
        "name": "orders",
        "flavor": "d1",
        "size": 3,
        "databases": [{"name": "blog"}, {"name": "wiki"}],
        "users": [
            {"name": "owner", "password": "second_word", "host": "10.0.0.1", "databases": ["wiki", "blog"]},
            {"name": "editor", "password": "open_sesame", "databases": ["blog"]},
        ],
    }
    await instances.update(made, second)
    found = await shown(instances, made)
    assert (found["name"], found["flavor"]["id"], found["volume"]["size"]) == ("orders", "d1", 3)
    assert sorted(await databases(cloud, made)) == ["blog", "by_hand", "wiki"]
    assert await users(cloud, made) == {
        "owner": ("10.0.0.1", ["blog", "wiki"]), "editor": ("%", ["blog"]), "guest": ("%", [])
    }  # fmt: skip
    with pytest.raises(NotSupported, match="decreased from 3 to 1"):
        await instances.update(made, {**second, "size": 1})
    await instances.update(made, {**second, "users": [], "databases": []})
    assert (await databases(cloud, made), list(await users(cloud, made))) == (["by_hand"], ["guest"])


async def test_a_password_is_sent_only_when_it_changes(bench: MakeBench, calls: list[str]) -> None:
    instances = bench(Instance)
    made = await instances.create(FULL)
    calls.clear()
    await instances.update(made, {**FULL, "users": [CLERK, {**OWNER, "password": "second_word"}]})
    changes = [call.rpartition("/")[2] for call in calls if not call.startswith("GET")]
    assert changes == ["owner"]


async def test_updates_wait_until_the_instance_is_ready(bench: MakeBench, cloud: Cloud, served: ServedCloud) -> None:
    instances = bench(Instance)
    made = await instances.create(SMALL)
    await cloud.post("trove", f"/instances/{made.physical_id}/action", {"restart": {}})
    await instances.update(made, {**SMALL, "databases": [{"name": "shop"}]})
    await cloud.post("trove", f"/instances/{made.physical_id}/action", {"restart": {}})
    await instances.delete(made)
    broken = await instances.create(SMALL)
    served.do(lambda: served.cloud.faults.add(Fault(on="POST /database/*/action", do="error_state")))
    with pytest.raises(ActionFailed, match="A fault rule"):
        await instances.update(broken, {**SMALL, "size": 4})
    assert await instances.kind.needs_replacement_after_failure(instances.call(broken, "UPDATE", SMALL))


async def test_failed_creations(bench: MakeBench, served: ServedCloud) -> None:
    served.do(lambda: served.cloud.faults.add(Fault(on="POST *", do="error_state", message="no host")))
    for kind, given, problem in ((Instance, SMALL, "no host"), (Cluster, GALERA, "the last operation failed")):
        with pytest.raises(ActionFailed, match=problem) as caught:
            await bench(kind).create(given)
        assert caught.value.failed.in_error
    served.do(lambda: served.cloud.faults.clear())
    with pytest.raises(CloudError, match="Quota exceeded") as refused:
        await bench(Instance).create({**SMALL, "size": 150})
    assert (refused.value.status, refused.value.transient) == (413, False)


async def test_replicas_and_restored_instances(bench: MakeBench, cloud: Cloud, served: ServedCloud) -> None:
    instances = bench(Instance)
    source = await instances.create(FULL, "source")
    body = {"backup": {"name": "nightly", "instance": source.physical_id}}
    backup = (await cloud.post("trove", "/backups", body))["backup"]["id"]
    served.advance(10)
    restored = await instances.create({**FULL, "databases": [], "users": [], "restore_point": backup}, "restored")
    assert await databases(cloud, restored) == ["shop"]
    replicas = await instances.create({**SMALL, "replica_of": source.physical_id, "replica_count": 3}, "copies")
    listed = (await shown(instances, source))["replicas"]
    assert {one["id"] for one in listed} == {replicas.physical_id, *replicas.data["replicas"]}
    assert len(listed) == 3
    assert await databases(cloud, replicas) == ["shop"]
    await instances.delete(replicas)
    served.advance(5)
    assert "replicas" not in await shown(instances, source)
    await instances.delete(source)


async def test_a_cluster(bench: MakeBench, cloud: Cloud) -> None:
    net = await bench(Net).create({}, "net")
    await bench(Subnet).create({"network": net.physical_id, "cidr": "10.71.0.0/24"}, "subnet")
    clusters = bench(Cluster)
    given = {**GALERA, "name": "books", "instances": [{**MEMBER, "networks": [{"network": net.physical_id}]}] * 3}
    made = await clusters.create(given)
    found = await shown(clusters, made)
    assert await clusters.attribute(made, "instances") == [one["id"] for one in found["instances"]]
    assert sorted(await clusters.attribute(made, "ip")) == ["10.71.0.2", "10.71.0.3", "10.71.0.4"]
    await clusters.run("adopt", made)
    grow = {"grow": [{"flavorRef": "84", "volume": {"size": 1}}]}
    await cloud.post("trove", f"/clusters/{made.physical_id}", grow)
    await clusters.delete(made)
    await clusters.delete(made)
    assert await cloud.list("trove", "/instances?include_clustered=true", "instances") == []


async def test_objects_are_found_after_a_crash(bench: MakeBench) -> None:
    for kind, given in (
        (Instance, SMALL),
        (Instance, {**SMALL, "name": "orders"}),
        (Cluster, {**GALERA, "name": "books"}),
    ):
        other = await bench(kind).create({**given, "name": "orders-2"}, "other")
        found = await bench(kind).crash_after_create(given, "found")
        assert found.physical_id not in (None, other.physical_id)


@pytest.mark.parametrize(
    ("kind", "given", "problem"),
    [
        (Instance, {**SMALL, "datastore_version": "8.0.29"}, "datastore_version requires datastore_type"),
        (Instance, {**SMALL, "users": [CLERK]}, "users require databases"),
        (
            Instance,
            {**SMALL, "users": [CLERK], "databases": [{"name": "blog"}]},
            "'shop' of a user is not in databases",
        ),
        (Instance, {**SMALL, "networks": [{"fixed_ip": "10.0.0.1"}]}, r"networks\[0\] must have network or port"),
        (Instance, {**SMALL, "networks": [{"network": "a", "port": "b"}]}, "must not have both network and port"),
        (Cluster, {**GALERA, "instances": [{**MEMBER, "networks": [{}]}]}, r"instances\[0\].networks\[0\] must have"),
    ],
)
async def test_contradictory_properties_are_refused(
    bench: MakeBench, kind: type[ResourceType], given: dict[str, Any], problem: str
) -> None:
    with pytest.raises(BadProperties, match=problem):
        await bench(kind).create(given)


@pytest.mark.parametrize("kind", [Instance, Cluster])
async def test_datastores_are_checked_before_any_change(kind: type[ResourceType], cloud: Cloud) -> None:
    for given, problem in (
        ({"datastore_type": "mysql", "datastore_version": "8.0.29"}, ""),
        ({"datastore_type": "mysql", "datastore_version": "1"}, "its versions are 8.0.29, 5.7.29"),
        ({"datastore_type": "oracle", "datastore_version": "1"}, "no datastore 'oracle'"),
    ):
        found = list(await capabilities.consult(kind(), given, cloud, NoSources()))
        assert [problem in one for one in found] == ([True] if problem else [])
