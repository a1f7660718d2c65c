"""Types for administrators: the catalog, role assignments, quotas, aggregates and QoS specs, on the emulated cloud."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from openstack_emulator.testing import ServedCloud
from stoker.base.errors import BadValue, CloudError
from stoker.cloud.session import Cloud
from stoker.plugins.resource import ResourceType
from stoker.resources import cinder, keystone, neutron, nova
from stoker.resources.cinder.volume import Volume
from stoker.resources.cinder.volume_type import VolumeType
from stoker_foundation.clock import ManualClock
from tests.resources.resource_harness import BadProperties, Bench

MakeBench = Callable[[type[ResourceType]], Bench]
TYPES = {kind.type_name: kind for family in (cinder, keystone, neutron, nova) for kind in family.TYPES}


@pytest.fixture
def bench(admin: Cloud, clock: ManualClock, served: ServedCloud) -> MakeBench:
    """Creates a bench for a type, as the administrator."""
    return lambda kind: Bench(kind, admin, clock, served.advance)


async def shown(cloud: Cloud, service: str, path: str, key: str) -> Any:
    return (await cloud.get(service, path))[key]


@pytest.mark.parametrize(
    ("name", "path", "first", "second", "fields"),
    [
        (
            "OS::Keystone::Domain",
            "/domains",
            {"name": "garden", "description": "old"},
            {"name": "garden2", "description": "new", "enabled": False},
            {"name": "garden2", "description": "new", "enabled": False},
        ),
        (
            "OS::Keystone::Service",
            "/services",
            {"type": "gardening"},
            {"type": "gardening2", "name": "mower", "enabled": False},
            {"type": "gardening2", "name": "mower", "enabled": False},
        ),
        (
            "OS::Keystone::Region",
            "/regions",
            {"id": "north"},
            {"id": "north", "parent_region": "RegionOne", "description": "cold"},
            {"id": "north", "parent_region_id": "RegionOne", "description": "cold"},
        ),
    ],
)
async def test_a_catalog_object_is_created_changed_and_deleted(
    bench: MakeBench, admin: Cloud, name: str, path: str, first: Any, second: Any, fields: Any
) -> None:
    kind = bench(TYPES[name])
    made = await kind.create(first)
    await kind.update(made, second)
    found = await shown(admin, "keystone", f"{path}/{made.physical_id}", path[1:-1])
    assert {key: found[key] for key in fields} == fields
    await kind.delete(made)
    with pytest.raises(CloudError, match="404"):
        await admin.get("keystone", f"{path}/{made.physical_id}")


async def test_an_endpoint_of_a_service_in_a_region(bench: MakeBench, admin: Cloud) -> None:
    service = await bench(TYPES["OS::Keystone::Service"]).create({"type": "gardening", "name": "mower"})
    await bench(TYPES["OS::Keystone::Region"]).create({"id": "north"})
    kind = bench(TYPES["OS::Keystone::Endpoint"])
    given = {"service": "mower", "region": "north", "interface": "public", "url": "http://one.example.com"}
    made = await kind.create(given)
    await kind.update(made, {**given, "url": "http://two.example.com", "interface": "admin", "enabled": False})
    found = await shown(admin, "keystone", f"/endpoints/{made.physical_id}", "endpoint")
    body = {"service_id": service.physical_id, "region_id": "north", "interface": "admin", "enabled": False}
    assert {key: found[key] for key in body} == body
    assert found["url"] == "http://two.example.com"
    await kind.delete(made)
    assert await admin.list("keystone", "/endpoints", "endpoints", {"service_id": service.physical_id}) == []


@pytest.mark.parametrize("bearer", ["User", "Group"])
async def test_roles_of_an_existing_user_or_group(bench: MakeBench, admin: Cloud, bearer: str) -> None:
    holder = TYPES[f"OS::Keystone::{bearer}"]
    one, two = [await bench(holder).create({"name": name}) for name in ("ann", "ben")]
    kind = bench(TYPES[f"OS::Keystone::{bearer}RoleAssignment"])

    async def held(who: Any) -> set[str]:
        params = {f"{bearer.lower()}.id": who.physical_id, "include_names": True}
        listed = await admin.list("keystone", "/role_assignments", "role_assignments", params)
        return {row["role"]["name"] for row in listed}

    member, reader = {"role": "member", "project": "demo"}, {"role": "reader", "domain": "default"}
    made = await kind.create({bearer.lower(): "ann", "roles": [member, reader]})
    assert await held(one) == {"member", "reader"}
    await kind.update(made, {bearer.lower(): "ann", "roles": [reader]})
    assert await held(one) == {"reader"}
    await kind.update(made, {bearer.lower(): "ben", "roles": [reader]})
    assert (await held(one), await held(two)) == (set(), {"reader"})
    await admin.delete("keystone", kind.kind.grants(kind.call(made, "CHECK", made.properties), made.properties)[0])  # type: ignore[attr-defined]
    assert await kind.kind.observe(kind.call(made, "CHECK", made.properties)) == {"roles": []}
    await kind.delete(made)
    assert await held(two) == set()
    with pytest.raises(BadProperties, match="either project or domain"):
        await kind.finalized({bearer.lower(): "ann", "roles": [{**member, "domain": "default"}]})


@pytest.mark.parametrize(
    ("service", "path", "key", "first", "second"),
    [
        ("nova", "/os-quota-sets/{}", "quota_set", {"cores": 7, "ram": -1}, {"cores": 8, "instances": 3}),
        ("cinder", "/os-quota-sets/{}", "quota_set", {"volumes": 7, "gigabytes": -1}, {"volumes": 8, "snapshots": 3}),
        ("neutron", "/v2.0/quotas/{}", "quota", {"network": 7, "port": -1}, {"network": 8, "router": 3}),
    ],
)
async def test_quotas_are_set_changed_and_reset(
    bench: MakeBench, admin: Cloud, service: str, path: str, key: str, first: Any, second: Any
) -> None:
    project = (await bench(TYPES["OS::Keystone::Project"]).create({"name": "garden"})).physical_id
    kind = bench(TYPES[f"OS::{service.capitalize()}::Quota"])
    before = await shown(admin, service, path.format(project), key)
    made = await kind.create({"project": "garden", **first})
    now = await shown(admin, service, path.format(project), key)
    assert now == {**before, **first}
    await kind.update(made, {"project": "garden", **second})
    assert await shown(admin, service, path.format(project), key) == {**before, **second}
    await kind.delete(made)
    assert await shown(admin, service, path.format(project), key) == before
    with pytest.raises(BadProperties, match="at least one quota"):
        await kind.finalized({"project": "garden"})


async def test_a_quota_below_what_is_in_use_is_refused(
    bench: MakeBench, admin: Cloud, cloud: Cloud, clock: ManualClock, served: ServedCloud
) -> None:
    volumes = Bench(Volume, cloud, clock, served.advance)
    for name in ("one", "two"):
        await volumes.create({"size": 3}, name)
    kind = bench(TYPES["OS::Cinder::Quota"])
    with pytest.raises(BadValue, match=r"gigabytes 5 \(in use: 6\), volumes 1 \(in use: 2\)"):
        await kind.create({"project": "demo", "volumes": 1, "gigabytes": 5})
    await kind.create({"project": "demo", "volumes": 2, "gigabytes": 6})


async def test_an_aggregate_with_hosts_and_metadata(bench: MakeBench, admin: Cloud) -> None:
    kind = bench(TYPES["OS::Nova::HostAggregate"])
    made = await kind.create(
        {"name": "fast", "hosts": ["compute-1", "compute-2"], "metadata": {"ssd": "true", "a": "b"}}
    )
    await kind.update(
        made,
        {
            "name": "faster",
            "availability_zone": "north",
            "hosts": ["compute-2", "compute-3"],
            "metadata": {"ssd": "no"},
        },
    )
    found = await shown(admin, "nova", f"/os-aggregates/{made.physical_id}", "aggregate")
    assert (found["name"], found["availability_zone"]) == ("faster", "north")
    assert (found["hosts"], found["metadata"]) == (
        ["compute-2", "compute-3"],
        {"ssd": "no", "availability_zone": "north"},
    )
    await kind.delete(made)
    await kind.delete(made)
    with pytest.raises(CloudError, match="404"):
        await admin.get("nova", f"/os-aggregates/{made.physical_id}")


async def test_an_aggregate_is_replaced_by_one_of_the_same_name(bench: MakeBench, admin: Cloud) -> None:
    kind = bench(TYPES["OS::Nova::HostAggregate"])
    old = await kind.create({"name": "fast", "hosts": ["compute-1"]})
    await kind.run("prepare_for_replacement", old)
    new = await kind.create({"name": "fast", "hosts": ["compute-1"]})
    await kind.run("revert_replacement", old)
    names = [
        (await shown(admin, "nova", f"/os-aggregates/{one.physical_id}", "aggregate"))["name"] for one in (old, new)
    ]
    assert names == ["fast", new.physical_id]


async def test_qos_specs_and_their_volume_types(bench: MakeBench, admin: Cloud) -> None:
    specs = bench(TYPES["OS::Cinder::QoSSpecs"])
    made = await specs.create({"name": "quick", "specs": {"consumer": "front-end", "read_iops_sec": "10", "a": "b"}})
    await specs.update(made, {"name": "quick", "specs": {"consumer": "back-end", "read_iops_sec": "20"}})
    found = await shown(admin, "cinder", f"/qos-specs/{made.physical_id}", "qos_specs")
    assert (found["consumer"], found["specs"]) == ("back-end", {"read_iops_sec": "20"})
    kinds = {name: (await bench(VolumeType).create({"name": name}, name)).physical_id for name in ("a", "b")}

    async def associated() -> set[str]:
        path = f"/qos-specs/{made.physical_id}/associations"
        return {row["id"] for row in await shown(admin, "cinder", path, "qos_associations")}

    link = bench(TYPES["OS::Cinder::QoSAssociation"])
    linked = await link.create({"qos_specs": "quick", "volume_types": ["a"]})
    assert await associated() == {kinds["a"]}
    await link.update(linked, {"qos_specs": "quick", "volume_types": ["b"]})
    assert await associated() == {kinds["b"]}
    await link.delete(linked)
    assert await associated() == set()
    await link.create({"qos_specs": "quick", "volume_types": ["a"]}, "again")
    await specs.delete(made)
    with pytest.raises(CloudError, match="404"):
        await admin.get("cinder", f"/qos-specs/{made.physical_id}")
