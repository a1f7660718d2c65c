"""OS::Neutron::Port on the emulated network service."""

from __future__ import annotations

from typing import Any

import pytest

from openstack_emulator.core.faults import Fault
from openstack_emulator.testing import ServedCloud
from stoker.base.errors import CloudError
from stoker.cloud.session import Cloud
from stoker.plugins.outcome import Done, Replace
from stoker.resources.neutron.port import Port
from stoker.schema.unknown import Unknown
from tests.resources.neutron.neutron_graphs import Definition
from tests.resources.resource_harness import BadProperties, Bench


@pytest.fixture
def ports(bench: Any) -> Bench:
    made: Bench = bench(Port)
    return made


async def shown(ports: Bench, identifier: str | None) -> dict[str, Any]:
    body: dict[str, Any] = (await ports.cloud.get("neutron", f"/v2.0/ports/{identifier}"))["port"]
    return body


async def test_one_request_creates_a_port(ports: Bench, site: Any, calls: list[str]) -> None:
    calls.clear()
    port = await ports.create({"network": site.network})
    assert len(calls) == 1
    assert ports.entries == [Done(physical_id=port.physical_id)]
    made = await shown(ports, port.physical_id)
    assert made["network_id"] == site.network
    assert made["name"].startswith("web-thing-")
    assert made["fixed_ips"][0]["subnet_id"] == site.subnet
    assert len(made["security_groups"]) == 1
    assert port.data == {"port_security_enabled": True, "binding:vnic_type": "normal"}
    assert ports.reference(port) == port.physical_id


async def test_names_are_resolved_to_ids(ports: Bench, site: Any, cloud: Cloud) -> None:
    group = await cloud.post("neutron", "/v2.0/security-groups", {"security_group": {"name": "web"}})
    subnet = (await cloud.get("neutron", f"/v2.0/subnets/{site.subnet}"))["subnet"]["name"]
    port = await ports.create(
        {
            "network_id": "site",
            "fixed_ips": [{"subnet": subnet, "ip_address": "10.1.0.9"}, {"subnet_id": site.subnet}],
            "security_groups": ["web"],
            "allowed_address_pairs": [{"ip_address": "10.9.0.0/24"}],
            "tags": ["blue"],
        }
    )
    made = await shown(ports, port.physical_id)
    assert made["fixed_ips"][0] == {"subnet_id": site.subnet, "ip_address": "10.1.0.9"}
    assert len(made["fixed_ips"]) == 2
    assert made["security_groups"] == [group["security_group"]["id"]]
    assert made["allowed_address_pairs"][0]["ip_address"] == "10.9.0.0/24"
    assert made["tags"] == ["blue"]


async def test_without_addresses(ports: Bench, site: Any) -> None:
    port = await ports.create({"network": site.network, "no_fixed_ips": True, "security_groups": []})
    made = await shown(ports, port.physical_id)
    assert made["fixed_ips"] == []
    assert made["security_groups"] == []


async def test_fixed_ips_and_no_fixed_ips_exclude_each_other(ports: Bench) -> None:
    with pytest.raises(BadProperties, match="no_fixed_ips"):
        await ports.finalized({"network": "n", "no_fixed_ips": True, "fixed_ips": [{"ip_address": "10.1.0.9"}]})


async def test_changes_in_place(ports: Bench, site: Any, cloud: Cloud, calls: list[str]) -> None:
    before = {"network": site.network, "security_groups": [], "allowed_address_pairs": [{"ip_address": "10.9.0.1"}]}
    port = await ports.create({**before, "dns_name": "one"})
    calls.clear()
    outcome = await ports.update(
        port, {"network": site.network, "fixed_ips": [{"ip_address": "10.1.0.77"}], "name": "new", "tags": ["red"]}
    )
    assert outcome == Done()
    assert [call.split()[0] for call in calls] == ["GET", "PUT", "PUT"]  # the default group, the port, its tags
    made = await shown(ports, port.physical_id)
    default = await cloud.find("neutron.security_group", "default")
    assert made["security_groups"] == [default]
    assert made["allowed_address_pairs"] == []
    assert made["fixed_ips"][0]["ip_address"] == "10.1.0.77"
    assert (made["name"], made["dns_name"], made["tags"]) == ("new", "", ["red"])
    await ports.update(port, {"network": site.network, "no_fixed_ips": True})
    assert (await shown(ports, port.physical_id))["fixed_ips"] == []
    assert (await shown(ports, port.physical_id))["tags"] == []


async def test_other_keys_of_the_profile_stay(admin: Cloud, bench: Any, site: Any, clock: Any) -> None:
    ports = Bench(Port, admin, clock)
    properties = {"network": site.network, "value_specs": {"binding:profile": {"ours": "1", "old": "x"}}}
    port = await ports.create(properties)
    theirs = {"ours": "1", "old": "x", "nova": "n"}
    await admin.put("neutron", f"/v2.0/ports/{port.physical_id}", {"port": {"binding:profile": theirs}})
    await ports.update(port, {**properties, "value_specs": {"binding:profile": {"ours": "2"}}})
    assert (await shown(ports, port.physical_id))["binding:profile"] == {"ours": "2", "nova": "n"}


async def test_replacement(ports: Bench, site: Any) -> None:
    port = await ports.create({"network": site.network})
    replaced = await ports.update(port, {"network": site.network, "replacement_policy": "REPLACE_ALWAYS"})
    assert isinstance(replaced, Replace)
    call = ports.call(port, "UPDATE", port.properties)
    assert not await Port().needs_replacement_after_failure(call)
    await ports.delete(port)
    assert await Port().needs_replacement_after_failure(call)


async def test_an_interrupted_creation_is_found(ports: Bench, site: Any) -> None:
    first = await ports.crash_after_create({"network": site.network, "fixed_ips": [{"subnet": site.subnet}]})
    assert first.physical_id is not None
    named = {"network": site.network, "name": "twin"}
    await ports.create(named)
    second = await ports.crash_after_create(named)
    assert second.physical_id is not None
    assert second.physical_id not in ports.recorded
    missing = ports.resource()
    missing.properties = await ports.finalized({"network": site.network})
    assert await Port().find(ports.call(missing, "CREATE", missing.properties)) is None


async def test_deleting(ports: Bench, site: Any, calls: list[str]) -> None:
    port = await ports.create({"network": site.network})
    calls.clear()
    await ports.delete(port)
    await ports.delete(port)
    assert [call.split()[0] for call in calls] == ["DELETE", "DELETE"]
    with pytest.raises(CloudError, match="404"):
        await shown(ports, port.physical_id)


async def test_a_refused_deletion_is_left_to_the_engine(ports: Bench, site: Any, served: ServedCloud) -> None:
    port = await ports.create({"network": site.network})
    served.do(lambda: served.cloud.faults.add(Fault(on="DELETE /network/v2.0/ports/*", do="fail", status=409)))
    with pytest.raises(CloudError) as caught:
        await ports.delete(port)
    assert caught.value.conflict


async def test_attributes(ports: Bench, site: Any) -> None:
    port = await ports.create({"network": site.network})
    values = await ports.attributes(
        port, [("subnets", 0, "cidr"), ("network", "name"), ("fixed_ips", 0, "ip_address"), ("status",), ("show", "id")]
    )
    assert values["subnets", 0, "cidr"] == "10.1.0.0/24"
    assert values["network", "name"] == "site"
    assert str(values["fixed_ips", 0, "ip_address"]).startswith("10.1.0.")
    assert values[("status",)] == "DOWN"
    assert values["show", "id"] == port.physical_id
    bare = await ports.create({"network": site.network, "no_fixed_ips": True}, "bare")
    assert await ports.attribute(bare, "subnets") == []


def test_subnets_of_its_network_come_first() -> None:
    ours, other = Unknown.of("net"), Unknown.of("other")
    definition = Definition(
        near=("OS::Neutron::Subnet", {"network": ours}),
        far=("OS::Neutron::Subnet", {"network": other}),
        port=("OS::Neutron::Port", {"network": ours}),
    )
    assert definition.requirements(Port, "port") == {"near"}
