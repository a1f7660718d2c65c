"""OS::Nova::Server: creation, suspension, resumption and deletion."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import pytest

from openstack_emulator.core.faults import Fault
from openstack_emulator.testing import ServedCloud
from stoker.base.errors import CloudError, NotSupported
from stoker.cloud.session import Cloud
from stoker.plugins.outcome import Done, InProgress
from stoker.schema.unknown import Unknown
from tests.resources.resource_harness import ActionFailed, BadProperties, Bench, Resource

Given = Callable[..., dict[str, Any]]
PRIVATE = {"network": "private"}


async def shown(cloud: Cloud, server: Resource) -> dict[str, Any]:
    """The server as Nova has it."""
    body: dict[str, Any] = await cloud.get("nova", f"/servers/{server.physical_id}")
    return dict(body["server"])


async def ports(cloud: Cloud) -> list[dict[str, Any]]:
    """Ports that do not belong to a network service."""
    listed = await cloud.list("neutron", "/v2.0/ports", "ports")
    return [port for port in listed if not port["device_owner"].startswith("network:")]


async def test_lifecycle_of_a_server(servers: Bench, cloud: Cloud, given: Given) -> None:
    server = await servers.create(given(PRIVATE, metadata={"a": "1", "b": [1, True]}, tags=["x", "y"]))

    made = await shown(cloud, server)
    assert made["status"] == "ACTIVE"
    assert made["name"].startswith("web-thing-")
    assert made["metadata"] == {"a": "1", "b": "[1, true]"}
    assert sorted(made["tags"]) == ["x", "y"]
    await servers.run("check", server)
    await servers.run("suspend", server)
    assert (await shown(cloud, server))["status"] == "SUSPENDED"
    with pytest.raises(ActionFailed, match="SUSPENDED"):
        await servers.run("check", server)
    await servers.run("suspend", server)
    await servers.run("resume", server)
    assert (await shown(cloud, server))["status"] == "ACTIVE"
    await servers.delete(server)
    assert await cloud.list("nova", "/servers", "servers") == []
    assert await ports(cloud) == []


async def test_creation_is_one_request_and_polls_until_active(servers: Bench, given: Given, calls: list[str]) -> None:
    await servers.finalized(given(PRIVATE))
    await servers.cloud.supports("nova", "2.1")
    calls.clear()

    await servers.create(given(PRIVATE, tags=["x"]))

    assert [call.partition(" ")[0] for call in calls] == ["POST", *["GET"] * (len(calls) - 1)]
    assert len(calls) <= 4


async def test_without_networks_nova_chooses(servers: Bench, cloud: Cloud, given: Given) -> None:
    server = await servers.create(given())

    assert len((await shown(cloud, server))["addresses"]) == 1


async def test_allocate_network_none(servers: Bench, cloud: Cloud, given: Given) -> None:
    server = await servers.create(given({"allocate_network": "none"}))

    assert (await shown(cloud, server))["addresses"] == {}


async def test_a_server_in_error_shows_the_reason_and_can_be_retried(
    servers: Bench, given: Given, served: ServedCloud
) -> None:
    served.do(lambda: served.cloud.faults.add(Fault(on="POST /compute/v2.1/servers", do="error_state", times=1)))
    server = servers.resource()
    server.properties = await servers.finalized(given(PRIVATE))

    with pytest.raises(ActionFailed, match=r"status ERROR: .+ \(code 500\)") as caught:
        await servers.run("create", server)

    assert caught.value.failed.in_error
    assert await servers.kind.needs_replacement_after_failure(servers.call(server, "UPDATE", server.properties))
    await servers.delete(server)


async def test_temporary_failures_while_waiting_are_ignored(servers: Bench, given: Given, served: ServedCloud) -> None:
    fault = Fault(on="GET /compute/v2.1/servers/*", do="fail", status=500, times=2)
    served.do(lambda: served.cloud.faults.add(fault))

    assert (await servers.create(given(PRIVATE))).physical_id is not None


# -- ports that the resource makes ------------------------------------------------------------------------------


async def test_a_subnet_gets_its_own_port(servers: Bench, cloud: Cloud, given: Given, subnet: str) -> None:
    extra = {"port_security_enabled": True, "value_specs": {"description": "mine"}}
    entry = {"subnet": subnet, "port_extra_properties": extra}

    server = await servers.create(given(entry, security_groups=["default"]))

    [port] = await ports(cloud)
    assert (port["name"], port["device_id"], port["description"]) == ("thing-port-0", server.physical_id, "mine")
    assert port["fixed_ips"][0]["subnet_id"] == subnet
    assert len(port["security_groups"]) == 1
    assert server.data == {"internal_ports": f'[{{"id": "{port["id"]}"}}]'}
    await servers.delete(server)
    assert await ports(cloud) == []
    assert server.data == {}


async def test_ports_are_recorded_before_the_server_is_requested(
    servers: Bench, cloud: Cloud, given: Given, subnet: str
) -> None:
    server = servers.resource()
    server.properties = await servers.finalized(given({"subnet": subnet}, {"subnet": subnet}))
    call = servers.call(server, "CREATE", server.properties)

    assert await servers.kind.create(call) == InProgress(after=0.0)

    assert len(await ports(cloud)) == 2
    assert await cloud.list("nova", "/servers", "servers") == []


async def crash_over_ports(servers: Bench, properties: dict[str, Any]) -> Resource:
    """A resource whose ports were created and not recorded, after `find`."""
    server = servers.resource()
    server.properties = await servers.finalized(properties)
    lost = servers.call(server, "CREATE", server.properties)
    lost.data = {}
    await servers.kind.create(lost)
    assert server.data == {}
    assert await servers.kind.find(servers.call(server, "CREATE", server.properties)) is None
    return server


async def test_ports_of_an_interrupted_creation_are_found_and_used(
    servers: Bench, cloud: Cloud, given: Given, subnet: str
) -> None:
    server = await crash_over_ports(servers, given({"subnet": subnet}))
    found = await ports(cloud)

    await servers.run("create", server)

    assert [port["id"] for port in await ports(cloud)] == [port["id"] for port in found]
    await servers.delete(server)
    assert await ports(cloud) == []


async def test_ports_of_an_abandoned_creation_are_deleted(
    servers: Bench, cloud: Cloud, given: Given, subnet: str
) -> None:
    server = await crash_over_ports(servers, given({"subnet": subnet}))

    await servers.delete(server)

    assert await ports(cloud) == []


async def test_a_server_that_nova_refuses_keeps_its_port_for_the_retry(
    servers: Bench, cloud: Cloud, given: Given, subnet: str, served: ServedCloud
) -> None:
    served.do(lambda: served.cloud.faults.add(Fault(on="POST /compute/v2.1/servers", do="fail", status=409, times=1)))
    server = servers.resource()
    server.properties = await servers.finalized(given({"subnet": subnet}))

    with pytest.raises(CloudError):
        await servers.run("create", server)
    await servers.run("create", server)

    assert len(await ports(cloud)) == 1


async def test_an_address_and_a_floating_ip(servers: Bench, cloud: Cloud, given: Given, subnet: str) -> None:
    public = await cloud.find("neutron.network", "public")
    floating = (await cloud.post("neutron", "/v2.0/floatingips", {"floatingip": {"floating_network_id": public}}))[
        "floatingip"
    ]

    server = await servers.create(given({"subnet": subnet, "floating_ip": floating["id"]}))

    addresses = await servers.attribute(server, "addresses", "private")
    assert [(row["OS-EXT-IPS:type"], row["version"]) for row in addresses] == [("floating", 4), ("fixed", 4)]
    assert addresses[0]["addr"] == floating["floating_ip_address"]


# -- found again --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("more", [{}, {"name": "we(b) 1"}], ids=["physical name", "template's name"])
async def test_an_interrupted_creation_is_found(servers: Bench, cloud: Cloud, given: Given, more: Any) -> None:
    server = await servers.crash_after_create(given(PRIVATE, **more))

    [listed] = await cloud.list("nova", "/servers", "servers")
    assert server.physical_id == listed["id"]


async def test_a_server_of_another_resource_is_not_taken(servers: Bench, given: Given) -> None:
    first = await servers.create(given(PRIVATE, name="web"), "first")

    second = await servers.crash_after_create(given(PRIVATE, name="web"), "second")

    assert second.physical_id not in (None, first.physical_id)


# -- refused ------------------------------------------------------------------------------------------------------

VOLUME = "11111111-2222-3333-4444-555555555555"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"image": None}, "nothing to boot from"),
        ({"reservation_id": "r"}, "reservation_id is not supported"),
        ({"block_device_mapping": [{"device_name": "vdb"}]}, "exactly one of volume_id and snapshot_id"),
        ({"block_device_mapping_v2": [{"volume_id": VOLUME}]}, "several disks to boot from"),
        ({"block_device_mapping_v2": [{"volume_id": VOLUME, "swap_size": 1}]}, "exactly one of volume_id"),
        (
            {
                "block_device_mapping": [{"device_name": "vdb", "volume_id": VOLUME}],
                "block_device_mapping_v2": [{"swap_size": 1}],
            },
            "cannot be used together",
        ),
        ({"networks": [{"fixed_ip": "10.0.0.5"}]}, "one of network, port, subnet"),
        ({"networks": [{"port": VOLUME, "fixed_ip": "10.0.0.5"}]}, "fixed_ip cannot be used with port"),
        ({"networks": [{"port": VOLUME}], "security_groups": ["default"]}, "security_groups cannot be used"),
        ({"networks": [{"network": VOLUME, "floating_ip": VOLUME}]}, "floating_ip needs"),
        ({"networks": [{"network": VOLUME, "uuid": VOLUME}]}, "older name"),
        ({"networks": [{"allocate_network": "auto", "network": VOLUME}]}, "cannot be used with network"),
        ({"networks": [{"allocate_network": "auto"}, {"network": VOLUME}]}, "only entry"),
    ],
)
async def test_values_that_cannot_be_combined(
    servers: Bench, given: Given, change: dict[str, Any], problem: str
) -> None:
    with pytest.raises(BadProperties, match=problem):
        await servers.finalized({**given(), **change})


def test_unknown_values_are_accepted(servers: Bench) -> None:
    later = Unknown.of("other", "attribute")
    image, flavor = "cirros", "m1.nano"
    unclear: list[dict[str, Any]] = [
        {"flavor": flavor, "image": later},
        {"flavor": flavor, "block_device_mapping_v2": later},
        {"flavor": flavor, "block_device_mapping_v2": [later]},
        {"flavor": flavor, "block_device_mapping_v2": [{"volume_id": later, "boot_index": later}]},
        {"flavor": flavor, "image": image, "networks": later},
        {"flavor": flavor, "image": image, "networks": [{"network": later, "fixed_ip": later, "port": later}]},
        {"flavor": flavor, "image": image, "networks": [{"allocate_network": later, "network": VOLUME}]},
    ]

    assert [list(servers.kind.validate(properties)) for properties in unclear] == [[]] * len(unclear)


async def test_files_are_refused_where_nova_takes_none(servers: Bench, given: Given) -> None:
    with pytest.raises(NotSupported, match="personality"):
        await servers.create(given(PRIVATE, personality={"/etc/motd": "hello"}))


# -- disks --------------------------------------------------------------------------------------------------------


async def test_booting_from_a_new_volume(servers: Bench, cloud: Cloud, given: Given) -> None:
    disks = [{"image": "cirros", "volume_size": 2, "delete_on_termination": True}, {"ephemeral_size": 1}]
    body = {**given(PRIVATE), "image": None, "block_device_mapping_v2": disks}

    server = await servers.create(body)

    assert (await shown(cloud, server))["image"] == ""
    assert [volume["size"] for volume in await cloud.list("cinder", "/volumes/detail", "volumes")] == [2]


# -- deletion -----------------------------------------------------------------------------------------------------


async def test_deletion_with_snapshot_leaves_an_image(servers: Bench, cloud: Cloud, given: Given) -> None:
    server = await servers.create(given(PRIVATE))

    await servers.run("snapshot_delete", server)

    assert await cloud.list("nova", "/servers", "servers") == []
    name = servers.call(server, "DELETE", {}).physical_name
    [image] = await cloud.list("glance", "/v2/images", "images", {"name": name})
    assert image["status"] == "active"


async def test_deletion_of_a_missing_server(servers: Bench, cloud: Cloud, given: Given) -> None:
    server = await servers.create(given(PRIVATE))
    await cloud.delete("nova", f"/servers/{server.physical_id}")
    servers.advance(30)

    await servers.delete(server)

    assert servers.entries == [Done()]


# -- attributes ---------------------------------------------------------------------------------------------------


async def test_attributes(servers: Bench, given: Given, calls: list[str], cloud: Cloud) -> None:
    server = await servers.create(given(PRIVATE, name="web", tags=["x"]))
    network = await cloud.find("neutron.network", "private")
    calls.clear()

    names = ("name", "networks", "first_address", "tags", "accessIPv4", "instance_name", "os_collect_config")
    keys: list[Any] = [(name,) for name in names]
    values = await servers.attributes(server, keys)

    assert len(calls) == 2
    networks = values["networks",]
    assert networks["private"] == networks[network]
    assert values["first_address",] == networks["private"][0]
    rest = [values[name,] for name in ("name", "tags", "accessIPv4", "instance_name", "os_collect_config")]
    assert rest == ["web", ["x"], "", None, {}]
    assert await servers.attribute(server, "networks", "private", 0) == networks["private"][0]
    address = (await servers.attribute(server, "addresses", network))[0]
    assert (address["network"]["name"], len(address["subnets"])) == ("private", 1)


async def test_consoles_are_requested_by_kind(servers: Bench, given: Given, calls: list[str]) -> None:
    server = await servers.create(given(PRIVATE))
    calls.clear()

    assert (await servers.attribute(server, "console_urls", "novnc")).startswith("http")
    assert len(calls) == 1
    assert "the kinds are" in await servers.attribute(server, "console_urls", "telepathy")


async def test_attributes_of_a_missing_server(servers: Bench, given: Given) -> None:
    server = await servers.create(given(PRIVATE))
    await servers.delete(server)

    values = await servers.attributes(server, [("networks",), ("show",), ("addresses",)])

    assert values == {("networks",): "", ("show",): None, ("addresses",): {}}


async def test_raw_user_data_is_sent(servers: Bench, admin: Cloud, given: Given) -> None:
    server = await servers.create(given(PRIVATE, user_data="#!/bin/sh\ntrue\n", user_data_format="RAW"))

    seen = (await admin.get("nova", f"/servers/{server.physical_id}"))["server"]["OS-EXT-SRV-ATTR:user_data"]
    assert base64.b64decode(seen) == b"#!/bin/sh\ntrue\n"
