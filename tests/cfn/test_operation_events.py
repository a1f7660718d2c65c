"""Operations and their events by boto3, with what checks of plans have found before the first change."""

from __future__ import annotations

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.cfn.query_service import QueryService
from tests.cfn.test_change_sets import FAST, propose, template

TAKEN = """
AWSTemplateFormatVersion: '2010-09-09'
Resources:
  One: {Type: OS::Nova::KeyPair, Properties: {name: same, public_key: ssh-rsa AAAA}}
  Two: {Type: OS::Nova::KeyPair, Properties: {name: same, public_key: ssh-rsa AAAA}}
"""
VALIDATION = {
    "EventType": "VALIDATION_ERROR",
    "ResourceType": "OS::Nova::KeyPair",
    "ValidationName": "name-taken",
    "ValidationFailureMode": "FAIL",
    "ValidationStatus": "FAILED",
}


def events(boto: Any, **fields: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    more: dict[str, str] = {}
    while True:
        page = boto.describe_events(**fields, **more)
        found += page["OperationEvents"]
        if "NextToken" not in page:
            return found
        more = {"NextToken": page["NextToken"]}


def short(found: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    names = ("EventType", "OperationStatus", "LogicalResourceId", "ResourceStatus")
    return [tuple(each.get(name) for name in names) for each in found]


def rolled_back(world: QueryService, boto: Any) -> None:
    world.until(lambda: boto.describe_stacks(StackName="sets")["Stacks"][0]["StackStatus"] == "ROLLBACK_COMPLETE", 30)


def status(boto: Any, stack: str) -> str:
    return str(boto.describe_stacks(StackName=stack)["Stacks"][0]["StackStatus"])


def last_operations(boto: Any, stack: str) -> list[tuple[str, str]]:
    (found,) = boto.describe_stacks(StackName=stack)["Stacks"]
    return [(each["OperationType"], each["OperationId"]) for each in found["LastOperations"]]


@pytest.mark.usefixtures("clean")
def test_each_operation_has_an_id_and_its_events(boto: Any) -> None:
    made = boto.create_stack(StackName="sets", TemplateBody=template(One="a"))
    boto.get_waiter("stack_create_complete").wait(StackName="sets", WaiterConfig=FAST)
    changed = boto.update_stack(StackName="sets", TemplateBody=template(One="b"))
    boto.get_waiter("stack_update_complete").wait(StackName="sets", WaiterConfig=FAST)
    assert last_operations(boto, "sets") == [
        ("UPDATE_STACK", changed["OperationId"]),
        ("CREATE_STACK", made["OperationId"]),
    ]
    found = events(boto, OperationId=made["OperationId"])
    assert short(found) == [
        ("STACK_EVENT", "SUCCEEDED", "sets", "CREATE_COMPLETE"),
        ("PROGRESS_EVENT", None, "One", "CREATE_COMPLETE"),
        ("PROGRESS_EVENT", None, "One", "CREATE_IN_PROGRESS"),
        ("STACK_EVENT", "IN_PROGRESS", "sets", "CREATE_IN_PROGRESS"),
    ]
    assert {(each["OperationType"], each["StackId"]) for each in found} == {("CREATE_STACK", made["StackId"])}
    assert found[0]["StartTime"] <= found[0]["EndTime"]
    assert "EndTime" not in found[-1]
    every = events(boto, StackName="sets")
    assert every[len(every) - len(found) :] == found
    assert {each["OperationId"] for each in every} == {made["OperationId"], changed["OperationId"]}
    assert events(boto, StackName="sets", Filters={"FailedEvents": True}) == []

    identifier = made["StackId"]
    boto.delete_stack(StackName="sets")
    boto.get_waiter("stack_delete_complete").wait(StackName=identifier, WaiterConfig=FAST)
    (kind, deletion), *_ = last_operations(boto, identifier)
    assert kind == "DELETE_STACK"
    assert short(events(boto, OperationId=deletion))[0] == ("STACK_EVENT", "SUCCEEDED", "sets", "DELETE_COMPLETE")


@pytest.mark.usefixtures("clean")
def test_client_request_token_is_in_all_events(world: QueryService, boto: Any) -> None:
    made = boto.create_stack(StackName="sets", TemplateBody=template(One="a"), ClientRequestToken="making")
    boto.get_waiter("stack_create_complete").wait(StackName="sets", WaiterConfig=FAST)
    changed = boto.update_stack(StackName="sets", TemplateBody=template(One="b"))
    boto.get_waiter("stack_update_complete").wait(StackName="sets", WaiterConfig=FAST)
    failing = json.loads(template(One="c"))
    failing["Resources"]["One"]["Properties"]["fail"] = True
    boto.update_stack(StackName="sets", TemplateBody=json.dumps(failing), ClientRequestToken="changing")
    with pytest.raises(Exception, match="Waiter"):
        boto.get_waiter("stack_update_complete").wait(StackName="sets", WaiterConfig=FAST)
    world.until(lambda: status(boto, "sets").endswith("ROLLBACK_COMPLETE"), 30)
    boto.delete_stack(StackName="sets", ClientRequestToken="removing")
    boto.get_waiter("stack_delete_complete").wait(StackName=made["StackId"], WaiterConfig=FAST)

    listed = boto.describe_stack_events(StackName=made["StackId"])["StackEvents"]
    tokens = {each["OperationId"]: each.get("ClientRequestToken") for each in listed}
    assert tokens.pop(made["OperationId"]) == "making"
    assert tokens.pop(changed["OperationId"]) is None
    assert sorted(filter(None, tokens.values())) == ["changing", "changing", "removing"]
    every = {each["EventId"]: each for each in events(boto, StackName=made["StackId"])}
    for event in listed:
        same = every[event["EventId"]]
        assert (same["OperationId"], same.get("ClientRequestToken")) == (
            event["OperationId"],
            event.get("ClientRequestToken"),
        )


@pytest.mark.usefixtures("clean")
def test_lists_of_stacks_have_the_latest_operations_and_the_drift(world: QueryService, boto: Any) -> None:
    def summary(stack_id: str) -> dict[str, Any]:
        (found,) = (each for each in boto.list_stacks()["StackSummaries"] if each["StackId"] == stack_id)
        return dict(found)

    made = boto.create_stack(StackName="sets", TemplateBody=template(One="a"))
    boto.get_waiter("stack_create_complete").wait(StackName="sets", WaiterConfig=FAST)
    found = summary(made["StackId"])
    assert found["LastOperations"] == [{"OperationType": "CREATE_STACK", "OperationId": made["OperationId"]}]
    assert found["DriftInformation"] == {"StackDriftStatus": "NOT_CHECKED"}
    detection = boto.detect_stack_drift(StackName="sets")["StackDriftDetectionId"]
    world.until(
        lambda: (
            boto.describe_stack_drift_detection_status(StackDriftDetectionId=detection)["DetectionStatus"]
            == "DETECTION_COMPLETE"
        )
    )
    found = summary(made["StackId"])
    assert found["DriftInformation"] == boto.describe_stacks(StackName="sets")["Stacks"][0]["DriftInformation"]
    assert "LastCheckTimestamp" in found["DriftInformation"]


@pytest.mark.usefixtures("clean")
def test_a_creation_that_fails_and_its_rollback(world: QueryService, boto: Any) -> None:
    failing = json.loads(template(One="a", Two="b"))
    failing["Resources"]["Two"]["Properties"]["fail"] = True
    failing["Resources"]["Two"]["DependsOn"] = "One"
    made = boto.create_stack(StackName="sets", TemplateBody=json.dumps(failing), DisableRollback=True)
    with pytest.raises(Exception, match="Waiter"):
        boto.get_waiter("stack_create_complete").wait(StackName="sets", WaiterConfig=FAST)
    failed = events(boto, StackName="sets", Filters={"FailedEvents": True})
    assert short(failed) == [
        ("STACK_EVENT", "FAILED", "sets", "CREATE_FAILED"),
        ("PROVISIONING_ERROR", None, "Two", "CREATE_FAILED"),
    ]
    assert failed[1]["ResourceStatusReason"]
    back = boto.rollback_stack(StackName="sets")
    rolled_back(world, boto)
    assert last_operations(boto, "sets") == [("ROLLBACK", back["OperationId"]), ("CREATE_STACK", made["OperationId"])]
    assert short(events(boto, OperationId=back["OperationId"]))[-1][1:] == (
        "IN_PROGRESS",
        "sets",
        "ROLLBACK_IN_PROGRESS",
    )


@pytest.mark.usefixtures("clean")
def test_the_failure_of_an_operation_is_not_one_of_its_rollback(world: QueryService, boto: Any) -> None:
    failing = json.loads(template(One="a"))
    failing["Resources"]["One"]["Properties"]["fail"] = True
    made = boto.create_stack(StackName="sets", TemplateBody=json.dumps(failing))
    rolled_back(world, boto)
    found = short(events(boto, OperationId=made["OperationId"]))
    assert found[0] == ("STACK_EVENT", "FAILED", "sets", "CREATE_FAILED")
    assert found[-1] == ("STACK_EVENT", "IN_PROGRESS", "sets", "CREATE_IN_PROGRESS")
    (rollback, _) = last_operations(boto, "sets")
    assert {each[3].rpartition("_")[0].partition("_")[0] for each in short(events(boto, OperationId=rollback[1]))} <= {
        "ROLLBACK",
        "DELETE",
    }


@pytest.mark.usefixtures("clean")
def test_preflight_findings_of_an_update(boto: Any) -> None:
    made = boto.create_stack(StackName="sets", TemplateBody=TAKEN)
    with pytest.raises(Exception, match="Waiter"):
        boto.get_waiter("stack_create_complete").wait(StackName="sets", WaiterConfig=FAST)
    found = events(boto, OperationId=made["OperationId"])
    assert [each["EventType"] for each in found] == ["STACK_EVENT", "VALIDATION_ERROR", "STACK_EVENT"]
    validation = found[1]
    assert validation.items() >= VALIDATION.items()
    assert validation["ValidationPath"].startswith("/Resources/")
    assert "same" in validation["ValidationStatusReason"]
    assert validation["OperationId"] == made["OperationId"]
    failed = events(boto, StackName="sets", Filters={"FailedEvents": True})
    assert [each["EventType"] for each in failed] == ["STACK_EVENT", "VALIDATION_ERROR"]


def test_preflight_findings_of_a_change_set(boto: Any) -> None:
    made = propose(boto, "first", "CREATE", TAKEN, StackName="planned")
    fine = propose(boto, "second", "CREATE", template(One="a"), StackName="planned")
    created, found = events(boto, ChangeSetName="first", StackName="planned")
    assert (
        created.items()
        >= {
            "OperationType": "CREATE_CHANGESET",
            "OperationStatus": "FAILED",
            "EventType": "STACK_EVENT",
            "StackId": made["StackId"],
        }.items()
    )
    assert found.items() >= VALIDATION.items()
    assert events(boto, ChangeSetName=made["Id"]) == [created, found]
    assert events(boto, OperationId=created["OperationId"], Filters={"FailedEvents": True}) == [created, found]
    (succeeded,) = events(boto, ChangeSetName=fine["Id"])
    assert succeeded["OperationStatus"] == "SUCCEEDED"
    assert events(boto, ChangeSetName=fine["Id"], Filters={"FailedEvents": True}) == []
    assert events(boto, StackName="planned") == [succeeded, created, found]
    boto.delete_stack(StackName="planned")


@pytest.mark.usefixtures("clean")
def test_events_of_other_projects_and_unknown_operations(world: QueryService, boto: Any) -> None:
    made = boto.create_stack(StackName="sets", TemplateBody=template(One="a"))
    boto.get_waiter("stack_create_complete").wait(StackName="sets", WaiterConfig=FAST)
    proposed = propose(boto, "private", "UPDATE", template(One="b"))
    stranger = world.client(world.stranger())
    for client, arguments in (
        (boto, {}),
        (boto, {"ChangeSetName": "private"}),
        (boto, {"StackName": "nothing"}),
        (boto, {"OperationId": "nothing"}),
        (boto, {"OperationId": made["OperationId"], "ChangeSetName": proposed["Id"]}),
        (stranger, {"StackName": made["StackId"]}),
        (stranger, {"OperationId": made["OperationId"]}),
        (stranger, {"ChangeSetName": proposed["Id"]}),
    ):
        with pytest.raises(ClientError) as refused:
            client.describe_events(**arguments)
        assert refused.value.response["Error"]["Code"] in ("ValidationError", "InvalidParameterCombination")
