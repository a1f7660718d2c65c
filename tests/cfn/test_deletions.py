"""DeleteStack with resources to retain, and by force: only what has failed to be deleted, as with AWS."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from openstack_emulator.core.faults import Fault
from tests.cfn.query_service import QueryService

pytestmark = [pytest.mark.usefixtures("clean")]

FAST = {"Delay": 0.05, "MaxAttempts": 1000}
VOLUME = {"Type": "OS::Cinder::Volume", "Properties": {"size": 1}}
TEMPLATE = json.dumps(
    {"AWSTemplateFormatVersion": "2010-09-09", "Resources": {"One": VOLUME, "Two": {**VOLUME, "DependsOn": "One"}}}
)


@pytest.fixture
def stuck(world: QueryService) -> Iterator[Any]:
    """A fault that lets Cinder delete no volume; the fixture is what removes it."""
    fault = world.served.cloud.faults.add(Fault(on="DELETE /volume/v3/*/volumes/*", do="fail", status=400))

    def remove_fault() -> None:
        world.served.cloud.faults.remove(fault.id)

    yield remove_fault
    remove_fault()


def create(boto: Any, name: str) -> str:
    made: str = boto.create_stack(StackName=name, TemplateBody=TEMPLATE)["StackId"]
    boto.get_waiter("stack_create_complete").wait(StackName=name, WaiterConfig=FAST)
    return made


def ends(boto: Any, stack_id: str) -> dict[str, Any]:
    """The stack when its deletion has ended."""
    while True:
        stack: dict[str, Any] = boto.describe_stacks(StackName=stack_id)["Stacks"][0]
        if stack["StackStatus"] != "DELETE_IN_PROGRESS":
            return stack


def volumes(world: QueryService) -> set[str]:
    listed = world.served.call("GET", "/volume/v3/volumes", token=world.served.token("demo", "demo"))
    return {volume["id"] for volume in listed.json["volumes"]}


def identifiers(boto: Any, name: str) -> dict[str, str]:
    listed = boto.list_stack_resources(StackName=name)["StackResourceSummaries"]
    return {each["LogicalResourceId"]: each["PhysicalResourceId"] for each in listed}


def test_retain_and_force_require_failed_deletion(boto: Any) -> None:
    create(boto, "fine")
    for how in ({"RetainResources": ["One"]}, {"DeletionMode": "FORCE_DELETE_STACK"}):
        with pytest.raises(ClientError) as refused:
            boto.delete_stack(StackName="fine", **how)
        assert refused.value.response["Error"]["Code"] == "ValidationError"
        assert "DELETE_FAILED" in refused.value.response["Error"]["Message"]
    assert boto.describe_stacks(StackName="fine")["Stacks"][0]["StackStatus"] == "CREATE_COMPLETE"
    with pytest.raises(ClientError):
        boto.delete_stack(StackName="absent", RetainResources=["One"])


def test_resources_that_cannot_be_deleted_are_retained(boto: Any, world: QueryService, stuck: Any) -> None:
    stack_id = create(boto, "kept")
    made = identifiers(boto, "kept")
    boto.delete_stack(StackName="kept", DeletionMode="STANDARD")
    assert ends(boto, stack_id)["StackStatus"] == "DELETE_FAILED"
    with pytest.raises(ClientError) as refused:
        boto.delete_stack(StackName="kept", RetainResources=["Three"])
    assert refused.value.response["Error"]["Code"] == "ValidationError"
    stuck()
    boto.delete_stack(StackName="kept", RetainResources=["Two"])
    assert ends(boto, stack_id)["StackStatus"] == "DELETE_COMPLETE"
    assert made["Two"] in volumes(world) and made["One"] not in volumes(world)


@pytest.mark.usefixtures("stuck")
def test_forced_deletion_skips_undeletable_objects(boto: Any, world: QueryService) -> None:
    stack_id = create(boto, "forced")
    made = identifiers(boto, "forced")
    boto.delete_stack(StackName="forced")
    assert ends(boto, stack_id)["StackStatus"] == "DELETE_FAILED"
    boto.delete_stack(StackName="forced", DeletionMode="FORCE_DELETE_STACK")
    gone = ends(boto, stack_id)
    assert gone["StackStatus"] == "DELETE_COMPLETE"
    assert all(identifier in gone["StackStatusReason"] for identifier in made.values())
    assert set(made.values()) <= volumes(world)
    events = boto.describe_stack_events(StackName=stack_id)["StackEvents"]
    message = [each.get("ResourceStatusReason", "") for each in events if each["LogicalResourceId"] == "Two"]
    assert any("left behind" in reason for reason in message)


def test_retain_except_on_create_policy(boto: Any, world: QueryService) -> None:
    policy = {"DeletionPolicy": "RetainExceptOnCreate"}
    template = json.dumps({"AWSTemplateFormatVersion": "2010-09-09", "Resources": {"One": {**VOLUME, **policy}}})
    stack_id = boto.create_stack(StackName="excepted", TemplateBody=template)["StackId"]
    boto.get_waiter("stack_create_complete").wait(StackName="excepted", WaiterConfig=FAST)
    made = identifiers(boto, "excepted")
    boto.delete_stack(StackName="excepted")
    assert ends(boto, stack_id)["StackStatus"] == "DELETE_COMPLETE" and made["One"] in volumes(world)
    for wrong in ({"UpdateReplacePolicy": "RetainExceptOnCreate"}, {"DeletionPolicy": "RetainExcept"}):
        bad = json.dumps({"AWSTemplateFormatVersion": "2010-09-09", "Resources": {"One": {**VOLUME, **wrong}}})
        with pytest.raises(ClientError):
            boto.validate_template(TemplateBody=bad)
