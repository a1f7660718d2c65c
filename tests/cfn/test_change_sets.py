"""Change sets by boto3: planned, looked at, carried out, forgotten."""

from __future__ import annotations

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError, WaiterError

from tests.cfn.query_service import QueryService

FAST = {"Delay": 0.05, "MaxAttempts": 2000}


def template(**values: str) -> str:
    """A template of test resources with these values."""
    resources = {
        name: {"Type": "OS::Heat::TestResource", "Properties": {"value": value}} for name, value in values.items()
    }
    return json.dumps({"AWSTemplateFormatVersion": "2010-09-09", "Resources": resources})


def propose(boto: Any, name: str, kind: str, body: str, **more: Any) -> dict[str, Any]:
    made: dict[str, Any] = boto.create_change_set(
        StackName=more.pop("StackName", "sets"), ChangeSetName=name, ChangeSetType=kind, TemplateBody=body, **more
    )
    return made


def code(refused: Any) -> str:
    return str(refused.value.response["Error"]["Code"])


@pytest.mark.usefixtures("clean")
def test_stack_is_created_and_updated_by_change_sets(boto: Any) -> None:
    made = propose(boto, "first", "CREATE", template(One="a"), Tags=[{"Key": "by", "Value": "set"}])
    boto.get_waiter("change_set_create_complete").wait(ChangeSetName=made["Id"], WaiterConfig=FAST)
    (stack,) = boto.describe_stacks(StackName="sets")["Stacks"]
    assert (stack["StackId"], stack["StackStatus"]) == (made["StackId"], "REVIEW_IN_PROGRESS")
    assert stack["DriftInformation"] == {"StackDriftStatus": "NOT_CHECKED"}
    (listed,) = boto.list_stacks(StackStatusFilter=["REVIEW_IN_PROGRESS"])["StackSummaries"]
    assert (listed["StackName"], listed["DriftInformation"]) == ("sets", {"StackDriftStatus": "NOT_CHECKED"})
    shown = boto.describe_change_set(ChangeSetName="first", StackName="sets")
    assert shown["ExecutionStatus"] == "AVAILABLE"
    (change,) = [each["ResourceChange"] for each in shown["Changes"]]
    assert (change["Action"], change["LogicalResourceId"]) == ("Add", "One")

    boto.execute_change_set(ChangeSetName="first", StackName="sets")
    boto.get_waiter("stack_create_complete").wait(StackName="sets", WaiterConfig=FAST)
    (stack,) = boto.describe_stacks(StackName="sets")["Stacks"]
    assert stack["StackId"] == made["StackId"]
    assert stack["Tags"] == [{"Key": "by", "Value": "set"}]
    assert boto.describe_change_set(ChangeSetName=made["Id"])["ExecutionStatus"] == "EXECUTE_COMPLETE"

    second = propose(boto, "second", "UPDATE", template(One="b", Two="c"))
    changes = boto.describe_change_set(ChangeSetName=second["Id"])["Changes"]
    found = {each["ResourceChange"]["LogicalResourceId"]: each["ResourceChange"] for each in changes}
    assert (found["One"]["Action"], found["One"]["Replacement"]) == ("Modify", "False")
    assert found["One"]["PhysicalResourceId"]
    assert found["One"]["Details"][0]["Target"] == {
        "Attribute": "Properties",
        "Name": "value",
        "RequiresRecreation": "Never",
    }
    assert found["Two"]["Action"] == "Add"
    assert json.loads(json.dumps(boto.get_template(StackName="sets", ChangeSetName="second")["TemplateBody"]))
    boto.execute_change_set(ChangeSetName="second", StackName="sets")
    boto.get_waiter("stack_update_complete").wait(StackName="sets", WaiterConfig=FAST)
    assert len(boto.list_stack_resources(StackName="sets")["StackResourceSummaries"]) == 2
    summaries = boto.list_change_sets(StackName="sets")["Summaries"]
    assert [(each["ChangeSetName"], each["ExecutionStatus"]) for each in summaries] == [
        ("first", "EXECUTE_COMPLETE"),
        ("second", "EXECUTE_COMPLETE"),
    ]


@pytest.mark.usefixtures("clean")
def test_change_set_without_changes_fails_with_aws_message(boto: Any) -> None:
    boto.create_stack(StackName="sets", TemplateBody=template(One="a"))
    boto.get_waiter("stack_create_complete").wait(StackName="sets", WaiterConfig=FAST)
    made = propose(boto, "empty", "UPDATE", template(One="a"), Capabilities=["CAPABILITY_IAM"])
    with pytest.raises(WaiterError):
        boto.get_waiter("change_set_create_complete").wait(ChangeSetName=made["Id"], WaiterConfig=FAST)
    shown = boto.describe_change_set(ChangeSetName=made["Id"])
    assert (shown["Status"], shown["ExecutionStatus"]) == ("FAILED", "UNAVAILABLE")
    assert "The submitted information didn't contain changes." in shown["StatusReason"]
    with pytest.raises(ClientError) as refused:
        boto.execute_change_set(ChangeSetName=made["Id"])
    assert code(refused) == "InvalidChangeSetStatus"


@pytest.mark.usefixtures("clean")
def test_change_set_is_obsolete_after_stack_change(boto: Any) -> None:
    boto.create_stack(StackName="sets", TemplateBody=template(One="a"))
    boto.get_waiter("stack_create_complete").wait(StackName="sets", WaiterConfig=FAST)
    made = propose(boto, "late", "UPDATE", template(One="b"))
    boto.update_stack(StackName="sets", TemplateBody=template(One="c"))
    boto.get_waiter("stack_update_complete").wait(StackName="sets", WaiterConfig=FAST)
    assert boto.describe_change_set(ChangeSetName=made["Id"])["ExecutionStatus"] == "OBSOLETE"
    with pytest.raises(ClientError) as refused:
        boto.execute_change_set(ChangeSetName=made["Id"])
    assert code(refused) == "InvalidChangeSetStatus"
    boto.delete_change_set(ChangeSetName=made["Id"])
    with pytest.raises(ClientError) as gone:
        boto.describe_change_set(ChangeSetName=made["Id"])
    assert code(gone) == "ChangeSetNotFound"


def test_deleting_stack_in_review_deletes_its_change_sets(boto: Any) -> None:
    propose(boto, "never", "CREATE", template(One="a"), StackName="not-created")
    with pytest.raises(ClientError) as taken:
        propose(boto, "never", "CREATE", template(One="a"), StackName="not-created")
    assert code(taken) == "AlreadyExistsException"
    boto.delete_stack(StackName="not-created")
    for ask in (boto.describe_stacks, boto.list_change_sets, boto.delete_stack):
        with pytest.raises(ClientError) as gone:
            ask(StackName="not-created")
        assert code(gone) == "ValidationError"


@pytest.mark.usefixtures("clean")
def test_stack_in_review_reserves_its_name(boto: Any) -> None:
    made = propose(boto, "first", "CREATE", template(One="a"))
    with pytest.raises(ClientError) as taken:
        boto.create_stack(StackName="sets", TemplateBody=template(One="a"))
    assert code(taken) == "AlreadyExistsException"
    assert [each["StackId"] for each in boto.describe_stacks(StackName="sets")["Stacks"]] == [made["StackId"]]
    assert boto.list_stack_resources(StackName="sets")["StackResourceSummaries"] == []
    assert boto.describe_stack_resources(StackName="sets")["StackResources"] == []
    assert boto.describe_stack_events(StackName="sets")["StackEvents"] == []
    boto.execute_change_set(ChangeSetName="first", StackName="sets")
    boto.get_waiter("stack_create_complete").wait(StackName="sets", WaiterConfig=FAST)
    assert boto.describe_stack_events(StackName="sets")["StackEvents"]
    assert [each["StackId"] for each in boto.describe_stacks(StackName="sets")["Stacks"]] == [made["StackId"]]


def test_on_stack_failure_delete_applies_to_new_stacks_only(boto: Any) -> None:
    with pytest.raises(ClientError) as refused:
        propose(boto, "change", "UPDATE", template(One="a"), OnStackFailure="DELETE")
    assert code(refused) == "ValidationError"
    assert "CREATE" in refused.value.response["Error"]["Message"]


def test_change_set_is_hidden_from_other_projects(world: QueryService, boto: Any) -> None:
    made = propose(boto, "private", "CREATE", template(One="a"), StackName="hidden")
    stranger = world.client(world.stranger())
    for ask in (stranger.describe_change_set, stranger.execute_change_set, stranger.delete_change_set):
        with pytest.raises(ClientError) as refused:
            ask(ChangeSetName=made["Id"])
        assert code(refused) == "ChangeSetNotFound"
    with pytest.raises(ClientError) as refused:
        stranger.list_change_sets(StackName=made["StackId"])
    assert code(refused) == "ValidationError"
    boto.delete_stack(StackName="hidden")


@pytest.mark.usefixtures("clean")
def test_nested_changes_are_reported_on_request(boto: Any) -> None:
    def members(count: int) -> str:
        member = {"type": "OS::Heat::TestResource", "properties": {"value": "a"}}
        group = {"Type": "OS::Heat::ResourceGroup", "Properties": {"count": count, "resource_def": member}}
        return json.dumps({"AWSTemplateFormatVersion": "2010-09-09", "Resources": {"Group": group}})

    def changes(name: str, kind: str, count: int, nested: bool) -> dict[str, dict[str, Any]]:
        propose(boto, name, kind, members(count), IncludeNestedStacks=nested)
        shown = boto.describe_change_set(ChangeSetName=name, StackName="sets")
        assert shown["IncludeNestedStacks"] is nested
        return {each["ResourceChange"]["LogicalResourceId"]: each["ResourceChange"] for each in shown["Changes"]}

    assert set(changes("plain", "CREATE", 1, False)) == {"Group"}
    assert set(changes("whole", "CREATE", 1, True)) == {"Group", "Group.0"}
    boto.execute_change_set(ChangeSetName="whole", StackName="sets")
    boto.get_waiter("stack_create_complete").wait(StackName="sets", WaiterConfig=FAST)
    (group,) = boto.describe_stack_resources(StackName="sets")["StackResources"]
    (nested,) = boto.describe_stacks(StackName=group["PhysicalResourceId"])["Stacks"]
    assert nested["ParentId"] == nested["RootId"] == group["StackId"]
    assert "ParentId" not in boto.describe_stacks(StackName="sets")["Stacks"][0]
    assert {name: each["Action"] for name, each in changes("more", "UPDATE", 2, False).items()} == {"Group": "Modify"}
    assert {name: each["Action"] for name, each in changes("all", "UPDATE", 2, True).items()} == {
        "Group": "Modify",
        "Group.1": "Add",
    }
    removed = changes("fewer", "UPDATE", 0, True)
    assert removed["Group.0"]["Action"] == "Remove"
    assert removed["Group.0"]["PhysicalResourceId"]


@pytest.mark.usefixtures("clean")
def test_change_set_reports_preflight_failures_unless_disabled(boto: Any) -> None:
    volume = {"Type": "AWS::EC2::Volume", "Properties": {"AvailabilityZone": "nova", "Size": 999999}}
    body = json.dumps({"AWSTemplateFormatVersion": "2010-09-09", "Resources": {"Volume": volume}})
    made = propose(boto, "beyond", "CREATE", body)
    shown = boto.describe_change_set(ChangeSetName=made["Id"])
    assert (shown["Status"], shown["ExecutionStatus"]) == ("FAILED", "UNAVAILABLE")
    assert "the quota of the project is 1000" in shown["StatusReason"]
    boto.delete_change_set(ChangeSetName=made["Id"])
    request = {"StackName": "beyond", "TemplateBody": body, "DisableRollback": True}
    boto.create_stack(**request)
    with pytest.raises(WaiterError, match="CREATE_FAILED"):
        boto.get_waiter("stack_create_complete").wait(StackName="beyond", WaiterConfig=FAST)
    assert boto.list_stack_resources(StackName="beyond")["StackResourceSummaries"] == []

    def without_validation(params: Any, **_: Any) -> None:
        params["body"]["DisableValidation"] = "true"  # boto3 of this version does not know it

    event = "before-call.cloudformation.CreateStack"
    boto.meta.events.register(event, without_validation)
    try:
        boto.create_stack(**{**request, "StackName": "unchecked"})
    finally:
        boto.meta.events.unregister(event, without_validation)
    with pytest.raises(WaiterError, match="CREATE_FAILED"):
        boto.get_waiter("stack_create_complete").wait(StackName="unchecked", WaiterConfig=FAST)
    (tried,) = boto.list_stack_resources(StackName="unchecked")["StackResourceSummaries"]
    assert "VolumeSizeExceedsAvailableQuota" in tried["ResourceStatusReason"]
