"""CloudFormation's types for networks, addresses, volumes and buckets, through the engine."""

from __future__ import annotations

from base64 import b64decode
from email import message_from_bytes
from typing import Any

import pytest
import yaml

from openstack_emulator.testing import ServedCloud
from stoker.base.errors import TemplateInvalid
from testing.harness import World

NETWORK, COMPUTE = "/network/v2.0", "/compute/v2.1"
VPC: dict[str, Any] = {
    "vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16"}},
    "subnet": {
        "Type": "AWS::EC2::Subnet",
        "Properties": {"VpcId": {"Ref": "vpc"}, "CidrBlock": "10.0.0.0/24", "AvailabilityZone": "nova"},
    },
}
ROUTES: dict[str, Any] = {
    "table": {"Type": "AWS::EC2::RouteTable", "Properties": {"VpcId": {"Ref": "vpc"}}},
    "use": {
        "Type": "AWS::EC2::SubnetRouteTableAssociation",
        "Properties": {"RouteTableId": {"Ref": "table"}, "SubnetId": {"Ref": "subnet"}},
    },
    "internet": {"Type": "AWS::EC2::InternetGateway"},
    "attachment": {
        "Type": "AWS::EC2::VPCGatewayAttachment",
        "Properties": {"VpcId": {"Ref": "vpc"}, "InternetGatewayId": {"Ref": "internet"}},
    },
}
INSTANCE: dict[str, Any] = {
    "Type": "AWS::EC2::Instance",
    "Properties": {"ImageId": "cirros", "InstanceType": "m1.tiny", "SubnetId": {"Ref": "subnet"}},
}


def template(outputs: dict[str, Any] | None = None, **resources: Any) -> dict[str, Any]:
    shown = {name: {"Value": value} for name, value in (outputs or {}).items()}
    return {"AWSTemplateFormatVersion": "2010-09-09", "Resources": resources, "Outputs": shown}


def listed(served: ServedCloud, path: str, key: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = served.call("GET", path, token=served.token("demo", "demo")).json[key]
    return found


def routers(served: ServedCloud) -> dict[str, dict[str, Any]]:
    """The routers by the names of their resources, with the subnets that they have interfaces in."""
    ports = listed(served, f"{NETWORK}/ports?device_owner=network:router_interface", "ports")
    return {
        router["name"].split("-")[1]: {
            "gateway": router["external_gateway_info"] is not None,
            "subnets": [a["subnet_id"] for p in ports if p["device_id"] == router["id"] for a in p["fixed_ips"]],
        }
        for router in listed(served, f"{NETWORK}/routers", "routers")
        if router["name"].startswith("web-")
    }


async def complete(world: World, definition: dict[str, Any], action: str = "create") -> dict[str, Any]:
    stack: dict[str, Any] = await getattr(world, action)("web", definition)
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    return stack


async def delete_without_leftovers(world: World) -> None:
    """Delete the stack; nothing of it may be left."""
    assert (await world.delete("web"))["status"] == "COMPLETE"
    served = world.served
    for key in ("routers", "ports", "networks", "subnets", "security_groups"):
        path = key.replace("_", "-")
        assert [one["name"] for one in listed(served, f"{NETWORK}/{path}", key) if one["name"].startswith("web-")] == []
    assert listed(served, f"{NETWORK}/floatingips", "floatingips") == []


# -- networks -------------------------------------------------------------------------------------------------------


async def test_a_subnet_is_behind_the_router_of_its_vpc(world: World) -> None:
    made = await complete(world, template({"zone": {"Fn::GetAtt": ["subnet", "AvailabilityZone"]}}, **VPC))
    assert world.outputs(made) == {"zone": "nova"}
    (subnet,) = (
        one["id"] for one in listed(world.served, f"{NETWORK}/subnets", "subnets") if one["name"].startswith("web-")
    )
    assert routers(world.served) == {"vpc": {"gateway": False, "subnets": [subnet]}}
    await delete_without_leftovers(world)


async def test_route_table_association_is_reverted_on_deletion(world: World) -> None:
    await complete(world, template(**VPC, **ROUTES))
    found = routers(world.served)
    assert (found["vpc"]["subnets"], len(found["table"]["subnets"])) == ([], 1)
    assert (found["vpc"]["gateway"], found["table"]["gateway"]) == (False, True)
    await complete(world, template(**VPC), "update")
    found = routers(world.served)
    assert list(found) == ["vpc"]
    assert len(found["vpc"]["subnets"]) == 1
    await delete_without_leftovers(world)


async def test_a_subnet_moves_from_one_route_table_to_another(world: World) -> None:
    two = {**ROUTES, "other": ROUTES["table"]}
    await complete(world, template(**VPC, **two))
    moved = {
        "Type": ROUTES["use"]["Type"],
        "Properties": {**ROUTES["use"]["Properties"], "RouteTableId": {"Ref": "other"}},
    }
    await complete(world, template(**VPC, **{**two, "use": moved}), "update")
    assert {name: len(router["subnets"]) for name, router in routers(world.served).items()} == {
        "vpc": 0,
        "table": 0,
        "other": 1,
    }
    await delete_without_leftovers(world)


async def test_failed_update_restores_route_table_association(world: World) -> None:
    two = {**ROUTES, "other": ROUTES["table"]}
    await complete(world, template(**VPC, **two))
    moved = {
        "Type": ROUTES["use"]["Type"],
        "Properties": {**ROUTES["use"]["Properties"], "RouteTableId": {"Ref": "other"}},
    }
    bad = {"Type": "OS::Heat::TestResource", "Properties": {"fail": True}, "DependsOn": "use"}
    stack = await world.update("web", template(**VPC, **{**two, "use": moved}, bad=bad), disable_rollback=False)
    assert (stack["action"], stack["status"]) == ("ROLLBACK", "COMPLETE")
    assert {name: len(router["subnets"]) for name, router in routers(world.served).items()} == {
        "vpc": 0,
        "table": 1,
        "other": 0,
    }
    await delete_without_leftovers(world)


async def test_replaced_gateway_attachment_keeps_the_gateway(world: World) -> None:
    await complete(world, template(**VPC, **ROUTES))
    other = {**ROUTES["attachment"], "Properties": {**ROUTES["attachment"]["Properties"], "InternetGatewayId": "other"}}
    await complete(world, template(**VPC, **{**ROUTES, "attachment": other}), "update")
    assert routers(world.served)["table"]["gateway"]
    await delete_without_leftovers(world)


# -- addresses ------------------------------------------------------------------------------------------------------


async def test_an_address_moves_between_instances(world: World) -> None:
    routed = {**VPC, **ROUTES}
    servers = {name: {**INSTANCE, "DependsOn": ["use", "attachment"]} for name in ("one", "two")}

    def definition(instance: str | None) -> dict[str, Any]:
        properties = {} if instance is None else {"InstanceId": {"Ref": instance}}
        address = {"Type": "AWS::EC2::EIP", "Properties": properties, "DependsOn": ["one", "two"]}
        outputs = {"ip": {"Ref": "address"}, "id": {"Fn::GetAtt": ["address", "AllocationId"]}}
        return template(outputs, **routed, **servers, address=address)

    def holder() -> str | None:
        (floating,) = listed(world.served, f"{NETWORK}/floatingips", "floatingips")
        ports = {port["id"]: port["device_id"] for port in listed(world.served, f"{NETWORK}/ports", "ports")}
        return None if floating["port_id"] is None else ports[floating["port_id"]]

    outputs = world.outputs(await complete(world, definition("one")))
    ids = {name: row["physical_id"] for name, row in (await world.resources("web")).items()}
    (floating,) = listed(world.served, f"{NETWORK}/floatingips", "floatingips")
    assert outputs == {"ip": floating["floating_ip_address"], "id": floating["id"]}
    assert holder() == ids["one"]
    await complete(world, definition("two"), "update")
    assert holder() == ids["two"]
    await complete(world, definition(None), "update")
    assert holder() is None
    await delete_without_leftovers(world)


async def test_users_log_in_to_instances_as_ec2_user(world: World) -> None:
    script = "#!/bin/sh\ntrue\n"
    instance = {**INSTANCE, "Properties": {"ImageId": "cirros", "InstanceType": "m1.tiny", "UserData": script}}
    await complete(world, template(instance=instance))
    path, admin = f"{COMPUTE}/servers/detail?all_tenants=1", world.served.token("admin", "admin")
    headers = {"X-OpenStack-Nova-API-Version": "2.3"}
    (shown,) = world.served.call("GET", path, token=admin, headers=headers).json["servers"]
    message = message_from_bytes(b64decode(shown["OS-EXT-SRV-ATTR:user_data"]))
    (cloud_config,) = (part for part in message.walk() if part.get_content_subtype() == "cloud-config")
    assert yaml.safe_load(str(cloud_config.get_payload()))["user"] == "ec2-user"


async def test_an_association_follows_the_instance_and_leaves_the_address(world: World) -> None:
    routed = {**VPC, **ROUTES, "address": {"Type": "AWS::EC2::EIP"}}
    servers = {name: {**INSTANCE, "DependsOn": ["use", "attachment"]} for name in ("one", "two")}

    def definition(**properties: Any) -> dict[str, Any]:
        link = {"Type": "AWS::EC2::EIPAssociation", "Properties": properties}
        return template(**routed, **servers, **({"link": link} if properties else {}))

    def address() -> dict[str, Any]:
        (floating,) = listed(world.served, f"{NETWORK}/floatingips", "floatingips")
        return floating

    await complete(world, definition(EIP={"Ref": "address"}, InstanceId={"Ref": "one"}))
    first = address()["port_id"]
    assert first is not None
    await complete(world, definition(EIP={"Ref": "address"}, InstanceId={"Ref": "two"}), "update")
    assert address()["port_id"] not in (None, first)
    by_id = {"AllocationId": {"Fn::GetAtt": ["address", "AllocationId"]}, "InstanceId": {"Ref": "one"}}
    await complete(world, definition(**by_id), "update")
    assert address()["port_id"] == first
    await complete(world, definition(), "update")
    assert address()["port_id"] is None
    await delete_without_leftovers(world)


@pytest.mark.parametrize(
    ("properties", "why"),
    [
        ({"InstanceId": "x"}, "exactly one of EIP and AllocationId"),
        ({"EIP": "10.0.0.1", "AllocationId": "y", "InstanceId": "x"}, "exactly one of EIP and AllocationId"),
        ({"EIP": "10.0.0.1", "NetworkInterfaceId": "x"}, "EIP requires InstanceId"),
        ({"AllocationId": "y"}, "InstanceId or NetworkInterfaceId"),
    ],
)
async def test_incomplete_association_is_refused(world: World, properties: dict[str, str], why: str) -> None:
    with pytest.raises(TemplateInvalid, match=why):
        await world.create("web", template(link={"Type": "AWS::EC2::EIPAssociation", "Properties": properties}))


async def test_a_network_interface_has_the_address_and_groups(world: World) -> None:
    group = {"Type": "AWS::EC2::SecurityGroup", "Properties": {"GroupDescription": "web"}}
    given = {"SubnetId": {"Ref": "subnet"}, "PrivateIpAddress": "10.0.0.7"}

    def definition(**more: Any) -> dict[str, Any]:
        card = {"Type": "AWS::EC2::NetworkInterface", "Properties": {**given, **more}}
        return template({"ip": {"Fn::GetAtt": ["card", "PrivateIpAddress"]}}, **VPC, group=group, card=card)

    made = await complete(world, definition(GroupSet=[{"Ref": "group"}]))
    assert world.outputs(made) == {"ip": "10.0.0.7"}
    ids = {name: row["physical_id"] for name, row in (await world.resources("web")).items()}

    def groups() -> list[str]:
        shown = listed(world.served, f"{NETWORK}/ports?id={ids['card']}", "ports")
        found: list[str] = shown[0]["security_groups"]
        return found

    assert groups() == [ids["group"]]
    await complete(world, definition(), "update")
    assert groups() != [ids["group"]]
    assert (await world.resources("web"))["card"]["physical_id"] == ids["card"]
    await delete_without_leftovers(world)


# -- security groups ------------------------------------------------------------------------------------------------


async def test_rules_in_the_form_of_cloudformation(world: World) -> None:
    ingress: list[dict[str, Any]] = [
        {"IpProtocol": "tcp", "FromPort": "80", "ToPort": 81, "CidrIp": "10.0.0.0/8"},
        {"IpProtocol": "-1", "CidrIp": "10.1.0.0/16"},
        {"IpProtocol": "icmp", "FromPort": "-1", "ToPort": "-1", "SourceSecurityGroupId": {"Ref": "other"}},
        {"IpProtocol": "udp", "FromPort": "53", "ToPort": "53", "SourceSecurityGroupName": "default"},
    ]
    other = {"Type": "AWS::EC2::SecurityGroup", "Properties": {"GroupDescription": "other"}}

    def definition(**rules: Any) -> dict[str, Any]:
        group = {"Type": "AWS::EC2::SecurityGroup", "Properties": {"GroupDescription": "web", **rules}}
        return template(group=group, other=other)

    async def shown(direction: str) -> list[tuple[Any, ...]]:
        ids = {name: row["physical_id"] for name, row in (await world.resources("web")).items()}
        rules = listed(
            world.served, f"{NETWORK}/security-group-rules?security_group_id={ids['group']}", "security_group_rules"
        )
        names = {ids["other"]: "other", None: None}
        fields = ("protocol", "port_range_min", "port_range_max", "remote_ip_prefix")
        return sorted(
            (*(str(rule[f]) for f in fields), names.get(rule["remote_group_id"], "default"))
            for rule in rules
            if rule["direction"] == direction
        )

    await complete(world, definition(SecurityGroupIngress=ingress))
    assert await shown("ingress") == [
        ("None", "None", "None", "10.1.0.0/16", None),
        ("icmp", "None", "None", "None", "other"),
        ("tcp", "80", "81", "10.0.0.0/8", None),
        ("udp", "53", "53", "None", "default"),
    ]
    assert [rule[:4] for rule in await shown("egress")] == [("None",) * 4] * 2
    egress = [{"IpProtocol": "tcp", "FromPort": "443", "ToPort": "443", "CidrIp": "0.0.0.0/0"}]
    await complete(world, definition(SecurityGroupIngress=ingress[:1], SecurityGroupEgress=egress), "update")
    assert await shown("ingress") == [("tcp", "80", "81", "10.0.0.0/8", None)]
    assert await shown("egress") == [("tcp", "443", "443", "0.0.0.0/0", None)]
    await delete_without_leftovers(world)


# -- storage --------------------------------------------------------------------------------------------------------


async def test_a_volume_is_attached_and_detached(world: World) -> None:
    volume: dict[str, Any] = {
        "Type": "AWS::EC2::Volume",
        "Properties": {"AvailabilityZone": "nova", "Size": 1, "Tags": [{"Key": "role", "Value": "data"}]},
    }
    instance = {"Type": "AWS::EC2::Instance", "Properties": {"ImageId": "cirros", "InstanceType": "m1.tiny"}}
    link = {
        "Type": "AWS::EC2::VolumeAttachment",
        "Properties": {"InstanceId": {"Ref": "instance"}, "VolumeId": {"Ref": "volume"}, "Device": "/dev/vdc"},
    }
    await complete(world, template(volume=volume, instance=instance, link=link))
    (shown,) = listed(world.served, "/volume/v3/volumes/detail", "volumes")
    assert (shown["status"], shown["metadata"]) == ("in-use", {"role": "data"})
    await complete(world, template(volume=volume, instance=instance), "update")
    (shown,) = listed(world.served, "/volume/v3/volumes/detail", "volumes")
    assert shown["status"] == "available"
    changed = {**volume, "Properties": {**volume["Properties"], "Size": 2}}
    stack = await world.update("web", template(volume=changed, instance=instance))
    assert (stack["status"], "Size" in stack["status_reason"]) == ("FAILED", True)


async def test_a_bucket_has_tags_pages_and_readers(world: World) -> None:
    bucket = {
        "Type": "AWS::S3::Bucket",
        "Properties": {
            "AccessControl": "PublicRead",
            "WebsiteConfiguration": {"IndexDocument": "index.html", "ErrorDocument": "error.html"},
            "Tags": [{"Key": "role", "Value": "site"}],
        },
    }
    outputs = {"url": {"Fn::GetAtt": ["bucket", "WebsiteURL"]}, "name": {"Ref": "bucket"}}
    shown = world.outputs(await complete(world, template(outputs, bucket=bucket)))
    token = world.served.token("demo", "demo")
    path = shown["url"].removeprefix(world.served.url)
    headers = world.served.call("HEAD", path, token=token).headers
    found = {name.lower(): value for name, value in headers.items()}
    assert found["x-container-read"] == ".r:*"
    assert found["x-container-meta-web-index"] == "index.html"
    assert found["x-container-meta-web-error"] == "error.html"
    assert found["x-container-meta-s3-tag-role"] == "site"
    assert world.served.call("GET", path).status == 301  # anybody may read: the static web site
    await delete_without_leftovers(world)


# -- the older spelling of floating IPs ---------------------------------------------------------------------------


async def test_a_floating_ip_in_novas_former_form(world: World) -> None:
    address = {"Type": "OS::Nova::FloatingIP", "Properties": {"pool": "public"}}
    link = {
        "Type": "OS::Nova::FloatingIPAssociation",
        "Properties": {"floating_ip": {"Ref": "address"}, "server_id": {"Ref": "instance"}},
    }
    instance = {**INSTANCE, "DependsOn": ["use", "attachment"]}
    outputs = {"ip": {"Fn::GetAtt": ["address", "ip"]}}
    definition = template(outputs, **VPC, **ROUTES, instance=instance, address=address, link=link)
    made = await complete(world, definition)
    (floating,) = listed(world.served, f"{NETWORK}/floatingips", "floatingips")
    assert world.outputs(made) == {"ip": floating["floating_ip_address"]}
    assert floating["port_id"] is not None
    await delete_without_leftovers(world)


@pytest.mark.parametrize("kind", ["AWS::EC2::EIP", "OS::Nova::FloatingIP"])
async def test_an_address_of_unclear_origin_is_refused_and_can_be_deleted(world: World, kind: str) -> None:
    """With a second external network it is unclear which one is meant; nothing was created, so deleting succeeds."""
    network = {"network": {"name": "second", "router:external": True}}
    path, admin = f"{NETWORK}/networks", world.served.token("admin", "admin")
    made = world.served.call("POST", path, network, admin).json["network"]
    stack = await world.create("web", template(address={"Type": kind}))
    assert stack["status"] == "FAILED" and "exactly one external network is required" in stack["status_reason"]
    await delete_without_leftovers(world)
    world.served.call("DELETE", f"{path}/{made['id']}", token=admin)
    await complete(world, template(address={"Type": kind}))
    await delete_without_leftovers(world)
