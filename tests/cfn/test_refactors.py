"""Resources moved between stacks by stack refactorings, with boto3."""

from __future__ import annotations

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError, WaiterError

from tests.cfn.query_service import QueryService
from tests.cfn.signing import send

FAST = {"Delay": 0.05, "MaxAttempts": 2000}
NET = {"Type": "OS::Neutron::Net", "Properties": {"name": "shop"}}
SUBNET = {"Type": "OS::Neutron::Subnet", "Properties": {"cidr": "10.1.0.0/24", "network": {"Ref": "net"}}}
VOLUME = {"Type": "OS::Cinder::Volume", "Properties": {"size": 1}}
HANDLE = {"Type": "OS::Heat::WaitConditionHandle", "Properties": {"signal_transport": "CFN_SIGNAL"}}


def template(resources: dict[str, Any], **sections: Any) -> str:
    return json.dumps({"AWSTemplateFormatVersion": "2010-09-09", "Resources": resources, **sections})


def writes(world: QueryService) -> list[str]:
    entries = world.served.do(lambda: world.served.cloud.journal.select({}))
    return [
        entry["path"] for entry in entries if entry["method"] not in ("GET", "HEAD") and entry["service"] != "keystone"
    ]


def deploy(boto: Any, name: str, resources: dict[str, Any]) -> str:
    made: str = boto.create_stack(StackName=name, TemplateBody=template(resources))["StackId"]
    boto.get_waiter("stack_create_complete").wait(StackName=name, WaiterConfig=FAST)
    return made


def propose(boto: Any, definitions: dict[str, dict[str, Any]], **more: Any) -> str:
    stacks = [
        {"StackName": name, "TemplateBody": each if isinstance(each, str) else template(each)}
        for name, each in definitions.items()
    ]
    made: str = boto.create_stack_refactor(StackDefinitions=stacks, **more)["StackRefactorId"]
    return made


def mapping(source: str, target: str) -> dict[str, Any]:
    places = [dict(zip(("StackName", "LogicalResourceId"), each.split("/"), strict=True)) for each in (source, target)]
    return {"Source": places[0], "Destination": places[1]}


def execute(boto: Any, identifier: str) -> None:
    boto.get_waiter("stack_refactor_create_complete").wait(StackRefactorId=identifier, WaiterConfig=FAST)
    boto.execute_stack_refactor(StackRefactorId=identifier)
    boto.get_waiter("stack_refactor_execute_complete").wait(StackRefactorId=identifier, WaiterConfig=FAST)


def objects(boto: Any, name: str) -> dict[str, str]:
    found = boto.describe_stack_resources(StackName=name)["StackResources"]
    return {each["LogicalResourceId"]: each["PhysicalResourceId"] for each in found}


def no_changes(boto: Any, name: str, resources: dict[str, Any]) -> bool:
    with pytest.raises(ClientError, match="No updates are to be performed"):
        boto.update_stack(StackName=name, TemplateBody=template(resources))
    return True


@pytest.mark.usefixtures("clean")
def test_refactor_splits_and_merges_stacks_without_cloud_writes(boto: Any, world: QueryService) -> None:
    deploy(boto, "shop", {"net": NET, "subnet": SUBNET, "volume": VOLUME})
    before, written = objects(boto, "shop"), writes(world)
    split = propose(
        boto,
        {"shop": {"volume": VOLUME}, "network": {"net": NET, "sub": SUBNET}},
        EnableStackCreation=True,
        ResourceMappings=[mapping("shop/subnet", "network/sub")],
        Description="the network apart",
    )
    shown = boto.describe_stack_refactor(StackRefactorId=split)
    assert (shown["Status"], shown["ExecutionStatus"]) == ("CREATE_COMPLETE", "AVAILABLE")
    actions = boto.list_stack_refactor_actions(StackRefactorId=split)["StackRefactorActions"]
    assert [(each["Action"], each["Entity"], each.get("Detection")) for each in actions] == [
        ("CREATE", "STACK", None),
        ("MOVE", "RESOURCE", "MANUAL"),
        ("MOVE", "RESOURCE", "AUTO"),
    ]
    assert {each.get("PhysicalResourceId") for each in actions} == {None, before["net"], before["subnet"]}
    execute(boto, split)
    assert objects(boto, "shop") == {"volume": before["volume"]}
    assert objects(boto, "network") == {"net": before["net"], "sub": before["subnet"]}
    assert no_changes(boto, "shop", {"volume": VOLUME})
    assert no_changes(boto, "network", {"net": NET, "sub": SUBNET})
    listed = boto.list_stack_refactors(ExecutionStatusFilter=["EXECUTE_COMPLETE"])["StackRefactorSummaries"]
    assert [each["StackRefactorId"] for each in listed] == [split]
    with pytest.raises(ClientError, match="EXECUTE_COMPLETE"):
        boto.execute_stack_refactor(StackRefactorId=split)

    events = boto.describe_stack_events(StackName="network")["StackEvents"]
    reported = {(each["LogicalResourceId"], each["ResourceStatus"]) for each in events}
    assert {("net", "CREATE_COMPLETE"), ("sub", "CREATE_COMPLETE"), ("sub", "MOVE_COMPLETE")} <= reported
    merged = {"net": NET, "subnet": SUBNET, "volume": VOLUME}
    back = propose(
        boto,
        {"shop": merged, "network": {"other": VOLUME}},
        ResourceMappings=[mapping("network/sub", "shop/subnet"), mapping("shop/volume", "network/other")],
    )
    with pytest.raises(WaiterError):
        boto.get_waiter("stack_refactor_create_complete").wait(StackRefactorId=back, WaiterConfig=FAST)
    last = propose(
        boto,
        {"shop": merged | {"other": VOLUME}, "network": {}},
        ResourceMappings=[mapping("network/sub", "shop/subnet")],
    )
    assert boto.describe_stack_refactor(StackRefactorId=last)["StatusReason"] == "It would create shop/other."
    assert writes(world) == written


@pytest.mark.usefixtures("clean")
def test_refactor_with_other_changes_fails(boto: Any) -> None:
    deploy(boto, "shop", {"net": NET, "volume": VOLUME})
    bigger = {**VOLUME, "Properties": {"size": 2}}
    failed = propose(boto, {"shop": {"extra": NET}, "network": {"volume": bigger}}, EnableStackCreation=True)
    shown = boto.describe_stack_refactor(StackRefactorId=failed)
    assert (shown["Status"], shown["ExecutionStatus"]) == ("CREATE_FAILED", "UNAVAILABLE")
    assert shown["StatusReason"] == (
        "It would create shop/extra. It would delete shop/net. It would change network/volume (size)."
    )
    with pytest.raises(ClientError, match="UNAVAILABLE"):
        boto.execute_stack_refactor(StackRefactorId=failed)
    assert {each["StackName"] for each in boto.describe_stacks()["Stacks"]} == {"shop"}


@pytest.mark.usefixtures("clean")
def test_refactor_is_obsolete_after_stack_change(boto: Any) -> None:
    deploy(boto, "shop", {"net": NET, "volume": VOLUME})
    identifier = propose(boto, {"shop": {"net": NET}, "data": {"volume": VOLUME}}, EnableStackCreation=True)
    boto.update_stack(StackName="shop", TemplateBody=template({"net": NET, "volume": VOLUME, "other": VOLUME}))
    boto.get_waiter("stack_update_complete").wait(StackName="shop", WaiterConfig=FAST)
    assert boto.describe_stack_refactor(StackRefactorId=identifier)["ExecutionStatus"] == "OBSOLETE"
    with pytest.raises(ClientError, match="OBSOLETE"):
        boto.execute_stack_refactor(StackRefactorId=identifier)


@pytest.mark.usefixtures("clean")
def test_impossible_requests_are_refused(boto: Any) -> None:
    deploy(boto, "shop", {"net": NET, "volume": VOLUME})
    apart: dict[str, Any] = {"shop": {"net": NET}, "data": {"volume": VOLUME}}
    with pytest.raises(ClientError, match="data"):
        propose(boto, apart)
    with pytest.raises(ClientError) as missing:
        boto.describe_stack_refactor(StackRefactorId="none")
    assert missing.value.response["Error"]["Code"] == "StackRefactorNotFoundException"
    identifier = propose(boto, apart, EnableStackCreation=True)
    boto.update_termination_protection(StackName="shop", EnableTerminationProtection=True)
    with pytest.raises(ClientError, match="termination protection"):
        boto.execute_stack_refactor(StackRefactorId=identifier)
    with pytest.raises(ClientError, match="termination protection"):
        propose(boto, apart, EnableStackCreation=True)


@pytest.mark.usefixtures("clean")
def test_signal_urls_survive_deletion_of_the_source_stack(boto: Any, world: QueryService) -> None:
    shop = deploy(boto, "shop", {"handle": HANDLE, "volume": VOLUME})
    url = objects(boto, "shop")["handle"]
    waits = {"waiter": HANDLE}
    moved = mapping("shop/handle", "waits/waiter")
    execute(
        boto,
        propose(boto, {"shop": {"volume": VOLUME}, "waits": waits}, EnableStackCreation=True, ResourceMappings=[moved]),
    )
    assert objects(boto, "waits") == {"waiter": url}
    boto.delete_stack(StackName="shop")
    boto.get_waiter("stack_delete_complete").wait(StackName=shop, WaiterConfig=FAST)
    shown = boto.describe_stack_resource(StackName=shop, LogicalResourceId="handle")["StackResourceDetail"]
    assert (shown["StackName"], shown["LogicalResourceId"]) == ("waits", "waiter")
    signal = {"status": "SUCCESS", "id": "one", "data": "up", "reason": ""}
    address = signed(boto)
    assert "/shop/" in address
    assert send(world, "PUT", address.removeprefix(world.url), json.dumps(signal), {"Content-Type": ""}).status == 200


def signed(boto: Any) -> str:
    """The signed URL of the handle."""
    body = template({"waiter": HANDLE}, Outputs={"url": {"Value": {"Fn::GetAtt": ["waiter", "signal"]}}})
    boto.update_stack(StackName="waits", TemplateBody=body)
    boto.get_waiter("stack_update_complete").wait(StackName="waits", WaiterConfig=FAST)
    found = json.loads(boto.describe_stacks(StackName="waits")["Stacks"][0]["Outputs"][0]["OutputValue"])
    return str(found["alarm_url"])


@pytest.mark.usefixtures("clean")
def test_refactor_is_hidden_from_other_projects(boto: Any, world: QueryService) -> None:
    deploy(boto, "shop", {"net": NET, "volume": VOLUME})
    identifier = propose(boto, {"shop": {"net": NET}, "data": {"volume": VOLUME}}, EnableStackCreation=True)
    stranger = world.client(world.stranger())
    for ask in (
        stranger.describe_stack_refactor,
        stranger.list_stack_refactor_actions,
        stranger.execute_stack_refactor,
    ):
        with pytest.raises(ClientError) as refused:
            ask(StackRefactorId=identifier)
        assert refused.value.response["Error"]["Code"] == "StackRefactorNotFoundException"
    assert stranger.list_stack_refactors()["StackRefactorSummaries"] == []
    arn = boto.describe_stacks(StackName="shop")["Stacks"][0]["StackId"]
    for stack in ("shop", arn):
        with pytest.raises(ClientError, match="could not be found"):
            propose(stranger, {stack: {"net": NET}})
    assert set(objects(boto, "shop")) == {"net", "volume"}
