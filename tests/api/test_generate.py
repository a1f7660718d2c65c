"""Templates that are generated from the objects of a project, over HTTP: their deployment writes nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from openstack_emulator.core.faults import Fault
from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker_foundation.clock import SystemClock
from testing.project_objects import NEUTRON, Objects
from tests.api.rest_stacks import Stacks, template


@pytest.fixture
def served() -> Iterator[ServedCloud]:
    """An emulated cloud in which everything is done at once."""
    with ServedCloud(new_cloud(clock=SystemClock(), pace=0.0)) as served:
        yield served


def generated(stacks: Stacks, query: str = "") -> dict[str, Any]:
    answer = stacks.send("GET", f"/../generated_template{query}")
    assert answer.ok, answer.text
    found: dict[str, Any] = answer.json()["generated_template"]
    return found


def by_id(found: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The resources of a generated template, by the IDs of their objects."""
    resources = found["template"]["resources"]
    return {each["physical_resource_id"]: resources[each["resource_name"]] for each in found["resources"]}


def reasons(found: Mapping[str, Any]) -> dict[str, str]:
    return {each["physical_resource_id"]: each["reason"] for each in found["left_out"]}


def writes(stacks: Stacks) -> list[str]:
    """What the cloud was asked to change. Manila's list of access rules is an action, and changes nothing."""
    return [each for each in stacks.writes() if not re.fullmatch("POST /share/v2/shares/[^/]+/action", each)]


def deployed(stacks: Stacks, found: Mapping[str, Any], name: str = "web") -> dict[str, Any]:
    """The drift of a new stack of what was generated, whose deployment writes nothing."""
    before = writes(stacks)
    body = {"stack_name": name, "template": found["template"], "environment": found["environment"]}
    made = stacks.send("POST", "", body)
    assert made.status_code == 201, made.text
    stacks.world.settle(made.json()["stack"]["id"])
    shown = stacks.shown(f"/{name}")["stack"]
    assert shown["stack_status"] == "CREATE_COMPLETE", shown["stack_status_reason"]
    assert writes(stacks) == before
    rows = stacks.shown(f"/{name}/resources")["resources"]
    assert {row["resource_status"] for row in rows} <= {"ADOPT_COMPLETE"}
    assert {row["physical_resource_id"] for row in rows} == set(by_id(found))
    plan: dict[str, Any] = stacks.shown(f"/{name}/{shown['id']}/drift")["plan"]
    return plan


def in_sync(plan: Mapping[str, Any], found: Mapping[str, Any]) -> bool:
    """Whether all resources were compared completely and are as the template says."""
    number = len(found["resources"])
    kept = {"keep": number} if number else {}
    return bool(plan["summary"] == kept and plan["compared"]["in_sync"] == number)


def test_existing_project_is_imported_without_cloud_writes(stacks: Stacks, objects: Objects) -> None:
    objects.everything()
    found = generated(stacks)
    plan = deployed(stacks, found)
    assert in_sync(plan, found), plan
    assert found["unread"] == []
    assert found["parameters_without_value"] == []
    types = {each["resource_type"] for each in found["resources"]}
    assert types == set(stacks.shown("/../generated_template/resource_types")["resource_types"])
    assert {each["deletion_policy"] for each in found["template"]["resources"].values()} == {"Retain"}
    again = generated(stacks)
    assert again["template"].get("resources") == {}
    owners = {each["physical_resource_id"]: (each["stack_name"], each["owner"]) for each in again["left_out"]}
    assert {("web", each["resource_name"]) for each in found["resources"]} == {
        owners[identifier] for identifier in by_id(found)
    }


def test_objects_owned_by_stacks_are_not_generated(stacks: Stacks, objects: Objects) -> None:
    net = {"type": "OS::Neutron::Net", "properties": {"name": "made", "tags": ["ours"]}}
    sub = {
        "type": "OS::Neutron::Subnet",
        "properties": {"network": {"get_resource": "net"}, "cidr": "10.9.0.0/24", "name": "made"},
    }
    volume = {"type": "OS::Cinder::Volume", "properties": {"size": 2, "description": "made", "metadata": {"a": "b"}}}
    stacks.create(template(net=net, sub=sub, volume=volume))
    had = stacks.objects()
    free = objects.port(had["net"], "by-hand")

    found = generated(stacks)
    assert found["template"]["resources"].keys() >= {"by_hand_port"}
    assert by_id(found).keys() & set(had.values()) == set()
    assert reasons(found)[had["net"]] == "it belongs to the resource net of the stack web"
    port = by_id(found)[free]["properties"]
    parameter = port["network"]["get_param"]
    assert found["environment"]["parameters"][parameter] == had["net"]
    assert found["template"]["parameters"][parameter]["description"] == "The network made; it belongs to the stack web."

    forgotten = {"removed": [{"from": name, "destroy": False} for name in had]}
    stacks.update(template(), forgotten)
    found = generated(stacks)
    assert set(had.values()) <= by_id(found).keys()
    assert in_sync(deployed(stacks, found, "again"), found)


def test_generation_is_filtered_by_type_tag_and_name(stacks: Stacks, objects: Objects) -> None:
    net = objects.net("web-front")
    objects.send("PUT", f"{NEUTRON}/networks/{net}/tags", {"tags": ["prod", "web"]})
    sub = objects.subnet(net)
    router = objects.router(sub, "web-router")
    volume = objects.volume("web-data", metadata={"env": "prod"})
    zone = objects.zone()
    port = objects.port(net)
    server = objects.server("web-1", port)

    assert set(by_id(generated(stacks, "?type=OS::Cinder::Volume"))) == {volume}
    only_nets = by_id(generated(stacks, "?type=OS::Neutron::Net&name=web-*"))
    assert set(only_nets) == {net}
    assert set(by_id(generated(stacks, "?tag=prod&tag=web"))) == {net}
    assert set(by_id(generated(stacks, "?tag=env=prod"))) == {volume}
    named = by_id(generated(stacks, "?name=web-*"))
    with_others = {port, f"{router}:subnet_id={sub}"}  # they come with the server and the router
    assert set(named) == {net, volume, router, server} | with_others
    assert named[f"{router}:subnet_id={sub}"]["properties"]["subnet"] == {"get_param": "subnet"}
    records = generated(stacks, "?type=OS::Designate::RecordSet")
    [record] = by_id(records).values()
    assert records["environment"]["parameters"][record["properties"]["zone"]["get_param"]] == zone

    for query, output in (
        ("?type=OS::Heat::None", "cannot be generated; those of these can: OS::Cinder::Volume"),
        ("?type=OS::Neutron::Nett", "did you mean OS::Neutron::Net?"),
        ("?name=" + "a" * 300, "longer than 255 characters"),
        ("?names=a", "names"),
    ):
        answer = stacks.send("GET", f"/../generated_template{query}")
        assert answer.status_code == 400, answer.text
        assert output in answer.json()["error"]["message"]


def test_unlisted_objects_are_reported_as_unknown(stacks: Stacks, objects: Objects, served: ServedCloud) -> None:
    net = objects.net()
    for service, status in (("/volume/*/volumes*", 503), ("/dns/v2/zones*", 403)):
        fault = Fault(on=f"GET {service}", do="fail", status=status)
        served.do(partial(served.cloud.faults.add, fault))
    found = generated(stacks)
    assert net in by_id(found)
    unread = {each["service"]: each["resource_types"] for each in found["unread"]}
    assert unread == {
        "cinder": ["OS::Cinder::Volume"],
        "designate": ["OS::Designate::RecordSet", "OS::Designate::Zone"],
    }
    assert all(each["reason"] for each in found["unread"])


def test_hostile_names_and_values_are_escaped(stacks: Stacks, objects: Objects) -> None:
    one = objects.net("{get_resource: x}\n  type: OS::Heat::Stack")
    two = objects.net("  Ünïcode/../x")
    volume = objects.volume("evil", metadata={"get_file": "file:///etc/passwd"})
    same = [objects.port(one, "same") for _ in range(3)]
    found = generated(stacks)
    names = {each["physical_resource_id"]: each["resource_name"] for each in found["resources"]}
    assert names[one] == "get_resource_x_type_OS_Heat_Stack_net"
    assert names[two] == "n_code_x_net"
    assert sorted(names[each] for each in same) == ["same_port", "same_port_2", "same_port_3"]
    assert by_id(found)[volume]["properties"]["metadata"] == {"get_param": "metadata"}
    assert in_sync(deployed(stacks, found), found)


def test_generation_lists_only_objects_of_the_project(stacks: Stacks, objects: Objects, served: ServedCloud) -> None:
    foreign = Objects(served, "admin")
    net = foreign.net("theirs")
    foreign.volume("theirs")
    found = generated(stacks)
    assert net not in by_id(found) | reasons(found)
    assert "theirs" not in str(found)


def test_an_image_that_is_gone_is_left_out_with_the_reason(
    stacks: Stacks, objects: Objects, served: ServedCloud
) -> None:
    image = objects.named("/image/v2/images", "images", "cirros")
    present, gone = objects.volume("with-image", imageRef=image), objects.volume("without", imageRef=image)
    Objects(served, "admin").send("DELETE", f"/image/v2/images/{image}")
    found = generated(stacks)
    assert all("image" not in by_id(found)[each]["properties"] for each in (present, gone))
    assert {(each["resource_name"], each["property"], each["reason"]) for each in found["left_out_properties"]} == {
        (name, "image", f"it refers to what does not exist any more: image {image}")
        for name in ("with_image_volume", "without_volume")
    }
    assert in_sync(deployed(stacks, found), found)


def test_inexpressible_properties_are_omitted_with_reason(
    stacks: Stacks, objects: Objects, served: ServedCloud
) -> None:
    net = objects.net()
    port = objects.port(net, "without-addresses")
    server = objects.server("from-an-old-image", port)
    Objects(served, "admin").send("DELETE", f"/image/v2/images/{objects.named('/image/v2/images', 'images', 'cirros')}")
    closed = objects.group("closed")
    objects.closed(closed)
    using = objects.port(net, "closed", security_groups=[closed])
    found = generated(stacks)
    assert "it refers to what does not exist any more: image" in reasons(found)[server]
    assert reasons(found)[closed] == "it has no rule for outgoing traffic, which a template cannot say"
    assert by_id(found)[port]["properties"]["no_fixed_ips"] is True
    assert by_id(found)[using]["properties"]["security_groups"] == [{"get_param": "security_group_closed"}]
    assert in_sync(deployed(stacks, found), found)


def test_a_server_that_boots_from_a_volume_and_one_with_automatic_ports(stacks: Stacks, objects: Objects) -> None:
    net = objects.net()
    objects.subnet(net)
    root = objects.volume("root", imageRef=objects.named("/image/v2/images", "images", "cirros"))
    disk = {"boot_index": 0, "uuid": root, "source_type": "volume", "destination_type": "volume"}
    booted = objects.server("booted", imageRef="", networks=[{"uuid": net}], block_device_mapping_v2=[disk])
    found = generated(stacks)
    properties = by_id(found)[booted]["properties"]
    assert "image" not in properties
    assert properties["block_device_mapping_v2"] == [{"volume_id": {"get_resource": "root_volume"}, "boot_index": 0}]
    ports = objects.send("GET", f"{NEUTRON}/ports?device_id={booted}")["ports"]
    assert [each["port"]["get_resource"] for each in properties["networks"]] == [
        each["resource_name"] for each in found["resources"] if each["physical_resource_id"] == ports[0]["id"]
    ]
    assert in_sync(deployed(stacks, found), found)


def test_import_of_many_objects_uses_list_requests(stacks: Stacks, objects: Objects, served: ServedCloud) -> None:
    nets = {objects.net(f"net-{number}") for number in range(25)}
    found = generated(stacks, "?type=OS::Neutron::Net&name=net-*")
    assert in_sync(deployed(stacks, found), found)
    entries = served.do(lambda: served.cloud.journal.select({}))
    read = [entry["path"].rpartition("/")[2] for entry in entries if entry["path"].startswith(f"{NEUTRON}/networks/")]
    assert nets.isdisjoint(read)


_NAMES = st.sampled_from(["web", "db", "", "a b", "web.1"])
_PROJECTS = st.fixed_dictionaries(
    {
        "nets": st.lists(
            st.fixed_dictionaries(
                {
                    "name": _NAMES,
                    "admin_state_up": st.booleans(),
                    "port_security_enabled": st.booleans(),
                    "subnets": st.integers(0, 2),
                    "gateway": st.sampled_from(["given", "none", "first"]),
                    "dhcp": st.booleans(),
                    "ports": st.integers(0, 2),
                    "routed": st.booleans(),
                }
            ),
            max_size=3,
        ),
        "groups": st.lists(
            st.lists(
                st.fixed_dictionaries(
                    {
                        "direction": st.sampled_from(["ingress", "egress"]),
                        "ethertype": st.sampled_from(["IPv4", "IPv6"]),
                        "protocol": st.sampled_from([None, "tcp", "udp", "icmp"]),
                        "closed": st.booleans(),
                        "remote": st.sampled_from(["", "prefix", "self", "first"]),
                    }
                ),
                max_size=4,
            ),
            max_size=3,
        ),
        "volumes": st.lists(st.fixed_dictionaries({"name": _NAMES, "description": _NAMES}), max_size=2),
    }
)


_QUOTAS = ("network", "subnet", "port", "router", "security_group", "security_group_rule")


def build(objects: Objects, project: Mapping[str, Any], number: int) -> None:
    """Make the objects of a random project; `number` tells its addresses from those of others."""
    groups = [objects.group(f"group-{index}") for index in range(len(project["groups"]))]
    for group, rules in zip(groups, project["groups"], strict=True):
        if any(rule["closed"] for rule in rules):
            objects.closed(group)
        for rule in rules:
            remote = {
                "": {},
                "prefix": {"remote_ip_prefix": "10.0.0.0/8" if rule["ethertype"] == "IPv4" else "2001:db8::/32"},
                "self": {"remote_group_id": group},
                "first": {"remote_group_id": groups[0]},
            }[rule["remote"]]
            objects.rule(
                group, **{name: value for name, value in rule.items() if name not in ("closed", "remote")}, **remote
            )
    for place, net in enumerate(project["nets"]):
        state = {"admin_state_up": net["admin_state_up"], "port_security_enabled": net["port_security_enabled"]}
        made = objects.net(net["name"], **state)
        for index in range(net["subnets"]):
            begin = f"10.{number}.{place * 8 + index}"
            gateway: dict[str, Any] = {
                "given": {"gateway_ip": f"{begin}.254"},
                "none": {"gateway_ip": None},
                "first": {},
            }
            fields = {**gateway[net["gateway"]], "enable_dhcp": net["dhcp"]}
            sub = objects.subnet(made, f"{begin}.0/24", **fields)
            if net["routed"] and net["gateway"] != "none":
                objects.router(sub)
        for _ in range(net["ports"]):
            secured = {"security_groups": groups[:2]} if groups and net["port_security_enabled"] else {}
            objects.port(made, net["name"], **secured)
    for volume in project["volumes"]:
        objects.volume(**volume)


@settings(
    max_examples=8,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(project=_PROJECTS)
def test_random_projects_are_imported_without_cloud_writes(
    stacks: Stacks, objects: Objects, served: ServedCloud, project: Mapping[str, Any]
) -> None:
    project_id = stacks.world.world.context.project_id
    Objects(served, "admin").send("PUT", f"/volume/v3/os-quota-sets/{project_id}", {"quota_set": {"volumes": -1}})
    Objects(served, "admin").send("PUT", f"{NEUTRON}/quotas/{project_id}", {"quota": dict.fromkeys(_QUOTAS, -1)})
    number = len(stacks.shown("")["stacks"])
    build(objects, project, number + 10)
    found = generated(stacks)
    plan = deployed(stacks, found, f"random-{number}")
    assert in_sync(plan, found), plan
