"""Hosts and leases as resources, on the emulated reservation service."""

from __future__ import annotations

from typing import Any

import pytest

from openstack_emulator.testing import ServedCloud
from stoker.base.errors import CloudError
from stoker.cloud.session import Cloud
from stoker.resources.blazar.host import Host
from stoker.resources.blazar.lease import Lease
from tests.resources.crash_support import run_crashing
from tests.resources.resource_harness import BadProperties, Bench

GPU = {"gpu": "True", "name": "is ignored", "racks": 2}
ONE_HOST = {"resource_type": "physical:host", "min": 1, "max": 1, "resource_properties": '["==", "$gpu", "True"]'}
SERVERS = {
    "resource_type": "virtual:instance",
    "amount": 2,
    "vcpus": 2,
    "memory_mb": 512,
    "disk_gb": 1,
    "affinity": True,
}
# The clock of the served cloud begins at 2023-11-14 22:13:20.
LEASE = {"name": "l", "start_date": "2023-11-15 08:00", "end_date": "2023-11-16 08:00", "reservations": [ONE_HOST]}


@pytest.fixture
def hosts(admin: Cloud, clock: Any, served: ServedCloud) -> Bench:
    return Bench(Host, admin, clock, served.advance)


async def test_host_lifecycle(hosts: Bench, admin: Cloud) -> None:
    host = await hosts.create({"name": "compute-1", "extra_capability": GPU})
    found = await hosts.attributes(host, [("extra_capability",), ("cpu_info",), ("vcpus",), ("show", "id")])
    assert list(found.values()) == [{"gpu": "True", "racks": "2"}, {}, 512, host.physical_id]
    assert await hosts.attribute(host, "reservable") is True
    await admin.put("blazar", f"/os-hosts/{host.physical_id}", {"gpu": "False"})
    live = await hosts.kind.observe(hosts.call(host, "CHECK", host.properties))
    assert live == {"extra_capability": {"gpu": "False", "racks": "2"}}
    await hosts.run("adopt", host)
    await hosts.delete(host)
    await hosts.delete(host)
    assert await admin.list("blazar", "/os-hosts", "hosts") == []
    with pytest.raises(CloudError, match="Host 'no' not found!"):
        await hosts.create({"name": "no"})


async def test_a_host_is_replaced_by_the_same_hypervisor(hosts: Bench, admin: Cloud) -> None:
    old = await hosts.create({"name": "compute-1", "extra_capability": GPU})
    new = await hosts.replaced(old, {"name": "compute-1"})
    assert new.physical_id == old.physical_id
    [live] = await admin.list("blazar", "/os-hosts", "hosts")
    assert (live["id"], live.get("gpu")) == (old.physical_id, None)


async def test_a_reserved_host_is_not_removed_for_a_replacement(hosts: Bench, admin: Cloud) -> None:
    host = await hosts.create({"name": "compute-1", "extra_capability": GPU})
    await admin.post("blazar", "/leases", {**LEASE, "reservations": [{**ONE_HOST, "hypervisor_properties": ""}]})
    with pytest.raises(CloudError, match="Can't delete host 1"):
        await hosts.replaced(host, {"name": "compute-1"})
    assert len(await admin.list("blazar", "/os-hosts", "hosts")) == 1


async def test_lease_lifecycle(bench: Any, hosts: Bench, cloud: Cloud, served: ServedCloud) -> None:
    leases: Bench = bench(Lease)
    with pytest.raises(CloudError) as refused:
        await leases.create({**LEASE, "reservations": [{**ONE_HOST, "resource_properties": ""}]})
    assert refused.value.conflict
    await hosts.create({"name": "compute-1", "extra_capability": GPU})
    events = [{"event_type": "before_end_lease", "time": "2023-11-15 09:00"}]
    body = {**LEASE, "start_date": "2023-11-14 22:30"}
    lease = await leases.create({**body, "before_end_date": "2023-11-16 07:30", "events": events})
    found = await leases.attributes(
        lease, [("status",), ("degraded",), ("reservations", 0, "resource_type"), ("name",)]
    )
    assert list(found.values()) == ["PENDING", False, "physical:host", "l"]
    times = [event["time"] for event in await leases.attribute(lease, "events")]
    assert "2023-11-16T07:30:00.000000" in times
    assert "2023-11-15T09:00:00.000000" in times
    await cloud.put("blazar", f"/leases/{lease.physical_id}", {"name": "n", "end_date": "2023-11-17 08:00"})
    assert await leases.kind.observe(leases.call(lease, "CHECK", lease.properties)) == {
        "name": "n",
        "end_date": "2023-11-17T08:00:00.000000",
    }
    served.advance(1200)
    assert await leases.attribute(lease, "status") == "ACTIVE"
    await leases.delete(lease)
    await leases.delete(lease)
    assert await leases.kind.observe(leases.call(lease, "CHECK", lease.properties)) is None


async def test_a_lease_is_created_once_despite_crashes(bench: Any, hosts: Bench, cloud: Cloud) -> None:
    await hosts.create({"name": "compute-1"})
    leases: Bench = bench(Lease)
    body = {**LEASE, "reservations": [SERVERS]}
    resource = leases.resource()
    resource.properties = await leases.finalized(body)
    await run_crashing(leases, "create", resource)
    assert [one["id"] for one in await cloud.list("blazar", "/leases", "leases")] == [resource.physical_id]
    other = await leases.crash_after_create({**body, "end_date": "2023-11-16 09:00"})
    assert other.physical_id not in (None, resource.physical_id)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"end_date": "2023-11-15 08:00"}, "end_date must be later than start_date"),
        ({"start_date": "2023-11-15"}, "does not match"),
        ({"reservations": [{"resource_type": "physical:host", "min": 1}]}, "requires max"),
        ({"reservations": [{**ONE_HOST, "min": 2}]}, "min must not be greater than max"),
        (
            {"reservations": [{"resource_type": "virtual:instance", "amount": 1}]},
            "requires vcpus and memory_mb and disk_gb",
        ),
        ({"reservations": [{"resource_type": "virtual:floatingip"}]}, "virtual:floatingip"),
    ],
)
async def test_invalid_leases_are_refused_before_any_request(bench: Any, change: dict[str, Any], message: str) -> None:
    with pytest.raises(BadProperties, match=message):
        await bench(Lease).finalized({**LEASE, **change})
