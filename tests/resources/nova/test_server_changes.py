"""OS::Nova::Server changed in place."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from openstack_emulator.core.faults import Fault
from openstack_emulator.testing import ServedCloud
from stoker.base.errors import CloudError
from stoker.cloud.session import Cloud
from stoker.plugins.outcome import Replace
from stoker.resources.nova.server.interfaces import plan
from tests.resources.crash_support import run_crashing
from tests.resources.resource_harness import ActionFailed, Bench, Resource

Given = Callable[..., dict[str, Any]]
PRIVATE = {"network": "private"}


async def shown(cloud: Cloud, server: Resource) -> dict[str, Any]:
    """The server as Nova has it."""
    body: dict[str, Any] = await cloud.get("nova", f"/servers/{server.physical_id}")
    return dict(body["server"])


async def cards(cloud: Cloud, server: Resource) -> list[dict[str, Any]]:
    """The ports that the server has."""
    return await cloud.list("neutron", "/v2.0/ports", "ports", {"device_id": server.physical_id})


@pytest.fixture
async def server(servers: Bench, given: Given) -> Resource:
    """A small server on the network `private`, with metadata."""
    return await servers.create(given(PRIVATE, metadata={"a": "1"}))


async def test_small_changes_are_one_request_each(
    servers: Bench, cloud: Cloud, server: Resource, given: Given, calls: list[str]
) -> None:
    changed_properties = given(PRIVATE, metadata={"b": "2"}, name="new", tags=["x"], admin_pass="secret")
    await servers.finalized(changed_properties)
    calls.clear()

    await servers.update(server, changed_properties)

    assert [call.partition(" ")[0] for call in calls] == ["PUT", "PUT", "PUT", "POST"]
    changed = await shown(cloud, server)
    assert (changed["metadata"], changed["name"], changed["tags"]) == ({"b": "2"}, "new", ["x"])


async def test_tags_that_were_changed_outside_differ(servers: Bench, cloud: Cloud, given: Given) -> None:
    server = await servers.create(given(PRIVATE, tags=["b", "a"]))
    plain = await servers.create(given(PRIVATE), "plain")
    for one, tags in ((server, ["a", "c"]), (plain, ["c"])):
        await cloud.put("nova", f"/servers/{one.physical_id}/tags", {"tags": tags})
    assert await servers.kind.observe(servers.call(server, "CHECK", server.properties)) == {"tags": ["a", "c"]}
    assert await servers.kind.observe(servers.call(plain, "CHECK", plain.properties)) == {}, "the template sets no tags"


async def test_a_removed_name_restores_the_physical_name(
    servers: Bench, cloud: Cloud, server: Resource, given: Given
) -> None:
    await servers.update(server, given(PRIVATE, name="new"))
    await servers.update(server, given(PRIVATE))

    assert (await shown(cloud, server))["name"].startswith("web-thing-")


async def test_a_changed_flavor_resizes_and_confirms(
    servers: Bench, cloud: Cloud, server: Resource, given: Given
) -> None:
    await servers.update(server, {**given(PRIVATE, metadata={"a": "1"}), "flavor": "m1.tiny"})

    changed = await shown(cloud, server)
    assert (changed["status"], changed["flavor"]["original_name"]) == ("ACTIVE", "m1.tiny")


async def test_a_resize_requested_before_a_crash_is_waited_for(
    servers: Bench, cloud: Cloud, server: Resource, given: Given
) -> None:
    """The engine died between the request and its record."""
    await cloud.post("nova", f"/servers/{server.physical_id}/action", {"resize": {"flavorRef": "1"}})

    await servers.update(server, {**given(PRIVATE, metadata={"a": "1"}), "flavor": "m1.tiny"})

    assert (await shown(cloud, server))["flavor"]["original_name"] == "m1.tiny"


async def test_a_resize_that_nova_gives_up_fails(
    servers: Bench, server: Resource, given: Given, served: ServedCloud
) -> None:
    changed_properties = await servers.finalized({**given(PRIVATE), "flavor": "m1.tiny"})
    call = servers.call(server, "UPDATE", changed_properties)
    call = replace(call, previous=server.properties, changed={"flavor": changed_properties["flavor"]})
    call.resource = replace(call.resource, started_at=call.now - 60)
    call.progress["sent"] = 0.0

    outcome = await servers.kind.update(call)

    assert "could not resize" in outcome.reason  # type: ignore[union-attr]


async def test_a_changed_image_rebuilds(servers: Bench, cloud: Cloud, server: Resource, given: Given) -> None:
    body = {**given(PRIVATE, metadata={"a": "1"}), "image": "cirros-0.6.2-x86_64-disk"}

    await servers.update(server, body)

    changed = await shown(cloud, server)
    image = await cloud.find("glance.image", "cirros-0.6.2-x86_64-disk")
    assert (changed["status"], changed["image"]["id"]) == ("ACTIVE", image)


async def test_a_rebuild_waits_until_a_volume_is_detached(
    servers: Bench, cloud: Cloud, server: Resource, given: Given
) -> None:
    """Nova would refuse it, or lose the volume."""
    volume = (await cloud.post("cinder", "/volumes", {"volume": {"size": 1}}))["volume"]["id"]
    servers.advance(5.0)
    path = f"/servers/{server.physical_id}/os-volume_attachments"
    await cloud.post("nova", path, {"volumeAttachment": {"volumeId": volume}})
    servers.advance(5.0)
    await cloud.delete("nova", f"{path}/{volume}")

    await servers.update(server, {**given(PRIVATE, metadata={"a": "1"}), "image": "cirros-0.6.2-x86_64-disk"})

    image = await cloud.find("glance.image", "cirros-0.6.2-x86_64-disk")
    changed = await shown(cloud, server)
    assert (changed["status"], changed["image"]["id"]) == ("ACTIVE", image)
    assert (await cloud.get("cinder", f"/volumes/{volume}"))["volume"]["status"] == "available"


@pytest.mark.parametrize("name", ["flavor", "image", "user_data"])
async def test_policy_replace(servers: Bench, server: Resource, given: Given, name: str) -> None:
    other = {"flavor": "m1.tiny", "image": "cirros-0.6.2-x86_64-disk", "user_data": "#!/bin/sh"}[name]

    outcome = await servers.update(server, {**given(PRIVATE), name: other, f"{name}_update_policy": "REPLACE"})

    assert isinstance(outcome, Replace)


async def test_ignored_user_data_needs_no_request(
    servers: Bench, server: Resource, given: Given, calls: list[str]
) -> None:
    changed_properties = given(PRIVATE, metadata={"a": "1"}, user_data="#!/bin/sh", user_data_update_policy="IGNORE")
    await servers.finalized(changed_properties)
    calls.clear()

    await servers.update(server, changed_properties)

    assert calls == []


async def test_user_data_rebuild(servers: Bench, admin: Cloud, server: Resource, given: Given) -> None:
    before = (await admin.get("nova", f"/servers/{server.physical_id}"))["server"]["OS-EXT-SRV-ATTR:user_data"]
    changed_properties = given(PRIVATE, metadata={"a": "1"}, user_data="#!/bin/sh", user_data_update_policy="REBUILD")

    await servers.update(server, changed_properties)

    after = (await admin.get("nova", f"/servers/{server.physical_id}"))["server"]
    assert (after["status"], after["OS-EXT-SRV-ATTR:user_data"] != before) == ("ACTIVE", True)


async def test_a_rebuild_that_fails(servers: Bench, server: Resource, given: Given, served: ServedCloud) -> None:
    fault = Fault(on="POST /compute/v2.1/servers/*/action", do="error_state", times=1)
    served.do(lambda: served.cloud.faults.add(fault))

    with pytest.raises(ActionFailed, match="could not be rebuilt"):
        await servers.update(server, {**given(PRIVATE, metadata={"a": "1"}), "image": "cirros-0.6.2-x86_64-disk"})


# -- networks -----------------------------------------------------------------------------------------------------


async def test_networks_are_attached_and_detached(
    servers: Bench, cloud: Cloud, server: Resource, given: Given, subnet: str
) -> None:
    [first] = await cards(cloud, server)
    metadata = {"a": "1"}

    await servers.update(server, given(PRIVATE, {"subnet": subnet}, metadata=metadata))
    now = await cards(cloud, server)
    assert first["id"] in {port["id"] for port in now}
    [own] = [port for port in now if port["name"] == "thing-port-1"]
    assert own["id"] in server.data["internal_ports"]

    await servers.update(server, given(PRIVATE, metadata=metadata))
    assert [port["id"] for port in await cards(cloud, server)] == [first["id"]]
    assert "internal_ports" not in server.data
    gone = await cloud.request("GET", "neutron", f"/v2.0/ports/{own['id']}", ok=(404,))
    assert gone.status == 404


async def test_a_port_of_the_template_is_detached_and_kept(
    servers: Bench, cloud: Cloud, server: Resource, given: Given
) -> None:
    network = await cloud.find("neutron.network", "private")
    port = (await cloud.post("neutron", "/v2.0/ports", {"port": {"network_id": network}}))["port"]["id"]
    metadata = {"a": "1"}

    await servers.update(server, given({"port": port}, metadata=metadata))
    assert [card["id"] for card in await cards(cloud, server)] == [port]

    await servers.update(server, given(PRIVATE, metadata=metadata))
    assert [card["id"] for card in await cards(cloud, server)] != [port]
    assert (await cloud.get("neutron", f"/v2.0/ports/{port}"))["port"]["device_id"] == ""


async def test_extra_properties_change_the_port_in_place(
    servers: Bench, cloud: Cloud, given: Given, subnet: str
) -> None:
    def entry(**extra: Any) -> dict[str, Any]:
        return {"subnet": subnet, "port_extra_properties": extra}

    server = await servers.create(given(entry()), "other")
    [before] = await cards(cloud, server)

    await servers.update(server, given(entry(admin_state_up=False)))
    [after] = await cards(cloud, server)
    assert (after["id"], after["admin_state_up"]) == (before["id"], False)

    await servers.update(server, given(entry(mac_address="fa:16:3e:00:00:01")))
    [other] = await cards(cloud, server)
    assert (other["id"] != before["id"], other["mac_address"]) == (True, "fa:16:3e:00:00:01")


async def test_without_networks_nova_chooses_again(
    servers: Bench, cloud: Cloud, server: Resource, given: Given
) -> None:
    [before] = await cards(cloud, server)

    await servers.update(server, {**given(metadata={"a": "1"}), "networks": None})

    [after] = await cards(cloud, server)
    assert after["id"] != before["id"]


async def test_allocate_network(servers: Bench, cloud: Cloud, server: Resource, given: Given) -> None:
    metadata = {"a": "1"}

    await servers.update(server, given({"allocate_network": "none"}, metadata=metadata))
    assert await cards(cloud, server) == []

    await servers.update(server, given({"allocate_network": "auto"}, metadata=metadata))
    assert len(await cards(cloud, server)) == 1


async def test_port_of_failed_change_is_not_reused(
    servers: Bench, cloud: Cloud, server: Resource, given: Given, subnet: str, served: ServedCloud
) -> None:
    fault = Fault(on="POST /compute/v2.1/servers/*/os-interface", do="fail", status=400, times=1)
    served.do(lambda: served.cloud.faults.add(fault))
    with pytest.raises(CloudError):
        await servers.update(server, given(PRIVATE, {"subnet": subnet}, metadata={"a": "1"}))
    left = json.loads(server.data["internal_ports"])[0]["id"]

    extra = {"subnet": subnet, "port_extra_properties": {"mac_address": "fa:16:3e:00:00:02"}}
    await servers.update(server, given(PRIVATE, extra, metadata={"a": "1"}))

    assert "fa:16:3e:00:00:02" in {card["mac_address"] for card in await cards(cloud, server)}
    assert (await cloud.request("GET", "neutron", f"/v2.0/ports/{left}", ok=(404,))).status == 404


async def test_crashes_at_every_step_leave_nothing_behind(
    servers: Bench, cloud: Cloud, given: Given, subnet: str
) -> None:
    server = servers.resource()
    server.properties = await servers.finalized(given({"subnet": subnet}, PRIVATE))
    await run_crashing(servers, "create", server)
    assert len(await cards(cloud, server)) == 2

    extra = {"subnet": subnet, "port_extra_properties": {"binding:vnic_type": "normal"}}
    body = {**given(extra, PRIVATE, PRIVATE), "flavor": "m1.tiny", "image": "cirros-0.6.2-x86_64-disk"}
    await run_crashing(servers, "update", server, body)
    assert len(await cards(cloud, server)) == 3
    assert (await shown(cloud, server))["flavor"]["original_name"] == "m1.tiny"

    await run_crashing(servers, "delete", server)
    assert await cloud.list("nova", "/servers", "servers") == []
    owners = {port["device_owner"] for port in await cloud.list("neutron", "/v2.0/ports", "ports")}
    assert [owner for owner in owners if not owner.startswith("network:")] == []


async def test_a_floating_ip_moves_between_interfaces(servers: Bench, cloud: Cloud, given: Given, subnet: str) -> None:
    public = await cloud.find("neutron.network", "public")
    body = {"floatingip": {"floating_network_id": public}}
    floating = (await cloud.post("neutron", "/v2.0/floatingips", body))["floatingip"]["id"]
    one, two = {"subnet": subnet}, {"subnet": subnet, "port_extra_properties": {"binding:vnic_type": "normal"}}
    server = await servers.create(given({**one, "floating_ip": floating}, two), "other")

    async def home() -> Any:
        return (await cloud.get("neutron", f"/v2.0/floatingips/{floating}"))["floatingip"]["port_id"]

    before = await home()
    await servers.update(server, given(one, {**two, "floating_ip": floating}))
    assert await home() not in (None, before)
    await servers.update(server, given(one, two))
    assert await home() is None


def test_plan_keeps_matching_interfaces() -> None:
    has: list[dict[str, Any]] = [
        {"port_id": "p1", "net_id": "n1", "fixed_ips": [{"ip_address": "10.0.0.1", "subnet_id": "s1"}]},
        {"port_id": "p2", "net_id": "n1", "fixed_ips": [{"ip_address": "10.0.0.2", "subnet_id": "s1"}]},
        {"port_id": "p3", "net_id": "n2", "fixed_ips": []},
    ]
    old: list[dict[str, Any]] = [{"network": "n1"}, {"network": "n1", "fixed_ip": "10.0.0.2"}, {"port": "p3"}]
    new: list[dict[str, Any]] = [{"network": "n1", "fixed_ip": "10.0.0.2"}, {"port": "p4"}, {"subnet": "s1"}]

    assert plan(old, new, has, frozenset()) == {
        "leave": ["p3"],
        "join": [1],
        "keep": [[0, "p2"], [2, "p1"]],
        "unlink": [],
        "have": ["p1", "p2"],
    }
