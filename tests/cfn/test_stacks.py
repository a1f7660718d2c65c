"""Stacks by boto3: made, changed, looked at, deleted."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

import pytest
from botocore.exceptions import ClientError

from openstack_emulator.core.faults import Fault
from stoker.base.context import RequestContext
from stoker.base.ids import new_request_id
from stoker.contract.catalog import ClaimRequestToken
from stoker.operations.request_tokens import request_token_claim
from stoker.store import request_tokens
from stoker.store.sealing import Sealer
from testing.harness import KEY
from tests.cfn.query_service import Keys, QueryService

FAST = {"Delay": 0.05, "MaxAttempts": 2000}

TEMPLATE = """
AWSTemplateFormatVersion: '2010-09-09'
Description: A value that comes back
Parameters:
  Greeting: {Type: String, Default: hello, Description: What to say}
  Secret: {Type: String, Default: swordfish, NoEcho: true}
Resources:
  Said:
    Type: OS::Heat::Value
    Metadata: {reader: agent}
    Properties: {type: string, value: {Ref: Greeting}}
Outputs:
  Said: {Value: {Fn::GetAtt: [Said, value]}, Description: What was said, Export: {Name: said}}
"""


def wait(boto: Any, what: str, name: str) -> None:
    boto.get_waiter(what).wait(StackName=name, WaiterConfig=FAST)


def error(expected: Any) -> dict[str, Any]:
    return dict(expected.value.response["Error"])


def ended(world: QueryService, boto: Any, name: str) -> str:
    """The status of a stack once nothing is in progress any more."""

    def status() -> str:
        found = str(boto.describe_stacks(StackName=name)["Stacks"][0]["StackStatus"])
        return "" if "IN_PROGRESS" in found else found

    return str(world.until(status))


def own_statuses(boto: Any, name: str) -> list[str]:
    """What the stack's own events tell, the last first."""
    events = boto.describe_stack_events(StackName=name)["StackEvents"]
    return [each["ResourceStatus"] for each in events if each["LogicalResourceId"] == name]


def parameters(**values: str) -> list[dict[str, str]]:
    return [{"ParameterKey": name, "ParameterValue": value} for name, value in values.items()]


def plain(**more: Any) -> str:
    """A template of one resource, without a description."""
    one = {"Type": "OS::Heat::TestResource", "Properties": {"value": "a"}}
    return json.dumps({"AWSTemplateFormatVersion": "2010-09-09", "Resources": {"One": one}, **more})


@pytest.mark.usefixtures("clean")
def test_stack_lifecycle(boto: Any) -> None:
    made = boto.create_stack(
        StackName="web",
        TemplateBody=TEMPLATE,
        Parameters=parameters(Greeting="good day"),
        Tags=[{"Key": "owner", "Value": "ops"}],
        Capabilities=["CAPABILITY_IAM"],
        NotificationARNs=["arn:aws:sns:x:1:topic"],
        TimeoutInMinutes=5,
    )
    assert made["StackId"].startswith("arn:openstack:heat::")
    wait(boto, "stack_create_complete", "web")
    (stack,) = boto.describe_stacks(StackName="web")["Stacks"]
    assert stack["StackId"] == made["StackId"]
    assert stack["StackStatus"] == "CREATE_COMPLETE"
    assert stack["Description"] == "A value that comes back"
    assert {each["ParameterKey"]: each["ParameterValue"] for each in stack["Parameters"]} == {
        "Greeting": "good day",
        "Secret": "******",
    }
    assert stack["Outputs"] == [
        {"OutputKey": "Said", "OutputValue": "good day", "Description": "What was said", "ExportName": "said"}
    ]
    assert stack["Tags"] == [{"Key": "owner", "Value": "ops"}]
    assert stack["Capabilities"] == ["CAPABILITY_IAM"]
    assert stack["NotificationARNs"] == ["arn:aws:sns:x:1:topic"]
    assert stack["TimeoutInMinutes"] == 5
    assert stack["DisableRollback"] is False
    assert stack["EnableTerminationProtection"] is False
    assert boto.describe_stacks(StackName=made["StackId"])["Stacks"][0]["StackName"] == "web"

    boto.update_stack(
        StackName="web",
        UsePreviousTemplate=True,
        Parameters=[*parameters(Greeting="bye"), {"ParameterKey": "Secret", "UsePreviousValue": True}],
    )
    wait(boto, "stack_update_complete", "web")
    (stack,) = boto.describe_stacks(StackName="web")["Stacks"]
    assert stack["StackStatus"] == "UPDATE_COMPLETE"
    assert stack["Outputs"][0]["OutputValue"] == "bye"
    assert stack["Tags"] == [{"Key": "owner", "Value": "ops"}]

    boto.delete_stack(StackName="web")
    wait(boto, "stack_delete_complete", "web")
    assert boto.describe_stacks(StackName=made["StackId"])["Stacks"][0]["StackStatus"] == "DELETE_COMPLETE"
    with pytest.raises(ClientError) as gone:
        boto.describe_stacks(StackName="web")
    assert error(gone) == {"Type": "Sender", "Code": "ValidationError", "Message": "Stack with id web does not exist"}


@pytest.mark.usefixtures("clean")
def test_stack_resources_are_listed(boto: Any) -> None:
    made = boto.create_stack(StackName="held", TemplateBody=TEMPLATE)
    wait(boto, "stack_create_complete", "held")
    (resource,) = boto.describe_stack_resources(StackName="held")["StackResources"]
    assert resource["LogicalResourceId"] == "Said"
    assert resource["ResourceType"] == "OS::Heat::Value"
    assert resource["ResourceStatus"] == "CREATE_COMPLETE"
    assert resource["StackId"] == made["StackId"]
    same = boto.describe_stack_resources(PhysicalResourceId=resource["PhysicalResourceId"])["StackResources"]
    assert same == [resource]
    with pytest.raises(ClientError) as unknown:
        boto.describe_stack_resources(StackName="held", LogicalResourceId="Other")
    assert error(unknown)["Message"] == "Resource Other does not exist for stack held"
    (summary,) = boto.list_stack_resources(StackName="held")["StackResourceSummaries"]
    assert summary["DriftInformation"] == resource["DriftInformation"] == {"StackResourceDriftStatus": "NOT_CHECKED"}
    assert summary["PhysicalResourceId"] == resource["PhysicalResourceId"]
    detail = boto.describe_stack_resource(StackName="held", LogicalResourceId="Said")["StackResourceDetail"]
    assert json.loads(detail["Metadata"]) == {"reader": "agent"}
    events = boto.describe_stack_events(StackName="held")["StackEvents"]
    assert [(each["LogicalResourceId"], each["ResourceStatus"]) for each in events] == [
        ("held", "CREATE_COMPLETE"),
        ("Said", "CREATE_COMPLETE"),
        ("Said", "CREATE_IN_PROGRESS"),
        ("held", "CREATE_IN_PROGRESS"),
    ]
    assert events[0]["ResourceType"] == "AWS::CloudFormation::Stack"
    assert events[0]["PhysicalResourceId"] == made["StackId"]
    assert json.loads(events[1]["ResourceProperties"])["value"] == "hello"
    template = boto.get_template(StackName="held")["TemplateBody"]
    assert template["Resources"]["Said"]["Type"] == "OS::Heat::Value"
    (exported,) = boto.list_exports()["Exports"]
    assert exported == {"ExportingStackId": made["StackId"], "Name": "said", "Value": "hello"}


@pytest.mark.usefixtures("clean")
def test_an_output_whose_condition_does_not_hold_is_left_out(boto: Any) -> None:
    outputs = {"Always": {"Value": "here"}, "Never": {"Value": "gone", "Condition": "No"}}
    conditions = {"No": {"Fn::Equals": ["a", "b"]}}
    boto.create_stack(StackName="partly", TemplateBody=plain(Conditions=conditions, Outputs=outputs))
    wait(boto, "stack_create_complete", "partly")
    (stack,) = boto.describe_stacks(StackName="partly")["Stacks"]
    assert stack["Outputs"] == [{"OutputKey": "Always", "OutputValue": "here"}]


@pytest.mark.usefixtures("clean")
def test_descriptions_are_reported_where_there_are_any(boto: Any) -> None:
    boto.create_stack(StackName="silent", TemplateBody=plain())
    boto.create_stack(StackName="told", TemplateBody=plain(Description="Tells"))
    wait(boto, "stack_create_complete", "silent")
    wait(boto, "stack_create_complete", "told")
    descriptions = {each["StackName"]: each.get("Description") for each in boto.describe_stacks()["Stacks"]}
    assert descriptions == {"silent": None, "told": "Tells"}
    listed = boto.list_stacks(StackStatusFilter=["CREATE_COMPLETE"])["StackSummaries"]
    assert {each["StackName"]: each.get("TemplateDescription") for each in listed} == descriptions
    assert "Description" not in boto.validate_template(TemplateBody=plain())
    assert "Description" not in boto.get_template_summary(TemplateBody=plain())
    with pytest.raises(ClientError) as computed:
        boto.validate_template(TemplateBody=plain(Outputs={"Out": {"Value": "1", "Description": {"Fn::Sub": "x"}}}))
    assert error(computed)["Code"] == "ValidationError"
    assert "a description must be a string, not a map" in error(computed)["Message"]


@pytest.mark.usefixtures("clean")
def test_an_update_that_changes_nothing_is_refused(boto: Any) -> None:
    boto.create_stack(StackName="same", TemplateBody=TEMPLATE, NotificationARNs=["arn:aws:sns:x:1:topic"])
    wait(boto, "stack_create_complete", "same")
    acknowledged = {"NotificationARNs": ["arn:aws:sns:x:1:topic"], "Capabilities": ["CAPABILITY_IAM"]}
    for more in ({}, acknowledged):
        with pytest.raises(ClientError) as refused:
            boto.update_stack(StackName="same", TemplateBody=TEMPLATE, **more)
        assert error(refused)["Message"] == "No updates are to be performed."
    boto.update_stack(StackName="same", TemplateBody=TEMPLATE, NotificationARNs=["arn:aws:sns:x:1:other"])
    wait(boto, "stack_update_complete", "same")
    assert boto.describe_stacks(StackName="same")["Stacks"][0]["NotificationARNs"] == ["arn:aws:sns:x:1:other"]
    changed = TEMPLATE.replace("What was said", "What has been said")
    boto.update_stack(StackName="same", TemplateBody=changed)
    wait(boto, "stack_update_complete", "same")


@pytest.mark.usefixtures("clean")
def test_the_first_outputs_are_a_change(boto: Any) -> None:
    bare: dict[str, Any] = {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Resources": {"Drawn": {"Type": "OS::Heat::RandomString"}},
    }
    boto.create_stack(StackName="bare", TemplateBody=json.dumps(bare))
    wait(boto, "stack_create_complete", "bare")
    with pytest.raises(ClientError) as refused:
        boto.update_stack(StackName="bare", TemplateBody=json.dumps({**bare, "Outputs": {}}))
    assert error(refused)["Message"] == "No updates are to be performed."
    drawn = {"Value": {"Fn::GetAtt": ["Drawn", "value"]}, "Export": {"Name": "drawn"}}
    boto.update_stack(StackName="bare", TemplateBody=json.dumps({**bare, "Outputs": {"Drawn": drawn}}))
    wait(boto, "stack_update_complete", "bare")
    (output,) = boto.describe_stacks(StackName="bare")["Stacks"][0]["Outputs"]
    assert output["ExportName"] == "drawn"
    (exported,) = boto.list_exports()["Exports"]
    assert exported["Value"] == output["OutputValue"] != ""


@pytest.mark.usefixtures("clean")
def test_a_parameter_that_is_neither_given_nor_kept_has_its_default(boto: Any) -> None:
    boto.create_stack(StackName="plain", TemplateBody=TEMPLATE, Parameters=parameters(Greeting="once"))
    wait(boto, "stack_create_complete", "plain")
    boto.update_stack(StackName="plain", UsePreviousTemplate=True)
    wait(boto, "stack_update_complete", "plain")
    (stack,) = boto.describe_stacks(StackName="plain")["Stacks"]
    assert stack["Outputs"][0]["OutputValue"] == "hello"


@pytest.mark.usefixtures("clean")
def test_previous_values_of_parameters_that_are_not_there(boto: Any) -> None:
    boto.create_stack(StackName="plain", TemplateBody=TEMPLATE, Parameters=parameters(Greeting="once"))
    wait(boto, "stack_create_complete", "plain")
    with_another = TEMPLATE.replace("Parameters:", "Parameters:\n  Another: {Type: String, Default: x}")
    for template, name in (({"UsePreviousTemplate": True}, "Q"), ({"TemplateBody": with_another}, "Another")):
        kept = [{"ParameterKey": name, "UsePreviousValue": True}]
        for ask, more in ((boto.update_stack, {}), (boto.create_change_set, {"ChangeSetName": "none"})):
            with pytest.raises(ClientError) as refused:
                ask(StackName="plain", Parameters=kept, **template, **more)
            assert error(refused)["Code"] == "ValidationError"
            assert f"Cannot keep the previous values of {name}" in error(refused)["Message"]
    (stack,) = boto.describe_stacks(StackName="plain")["Stacks"]
    assert stack["StackStatus"] == "CREATE_COMPLETE"
    assert stack["Outputs"][0]["OutputValue"] == "once"


@pytest.mark.usefixtures("clean")
def test_a_parameter_that_is_given_twice(boto: Any) -> None:
    twice = [*parameters(Greeting="a"), *parameters(Greeting="b")]
    change_set = {"ChangeSetName": "twice", "ChangeSetType": "CREATE"}
    for ask, more in ((boto.create_stack, {}), (boto.create_change_set, change_set)):
        with pytest.raises(ClientError) as refused:
            ask(StackName="twice", TemplateBody=TEMPLATE, Parameters=twice, **more)
        assert error(refused)["Code"] == "ValidationError"
        assert "Greeting is given more than once" in error(refused)["Message"]
    boto.create_stack(StackName="once", TemplateBody=TEMPLATE)
    wait(boto, "stack_create_complete", "once")
    with pytest.raises(ClientError) as refused:
        boto.update_stack(StackName="once", UsePreviousTemplate=True, Parameters=twice)
    assert "Greeting is given more than once" in error(refused)["Message"]


@pytest.mark.usefixtures("clean")
def test_a_new_stack_has_no_previous_values(boto: Any) -> None:
    given = [{"ParameterKey": "Greeting", "ParameterValue": "hi", "UsePreviousValue": False}]
    boto.create_stack(StackName="new", TemplateBody=TEMPLATE, Parameters=given)
    wait(boto, "stack_create_complete", "new")
    assert boto.describe_stacks(StackName="new")["Stacks"][0]["Outputs"][0]["OutputValue"] == "hi"
    kept = [{"ParameterKey": "Greeting", "UsePreviousValue": True}]
    change_set = {"ChangeSetName": "newer", "ChangeSetType": "CREATE"}
    for ask, more in ((boto.create_stack, {}), (boto.create_change_set, change_set)):
        with pytest.raises(ClientError) as refused:
            ask(StackName="newer", TemplateBody=TEMPLATE, Parameters=kept, **more)
        assert error(refused)["Code"] == "ValidationError"
        assert "no previous values for Greeting" in error(refused)["Message"]


def tags(*pairs: tuple[str, str]) -> list[dict[str, str]]:
    return [{"Key": key, "Value": value} for key, value in pairs]


@pytest.mark.usefixtures("clean")
def test_tags_in_another_order_are_no_change(boto: Any) -> None:
    first, second = ("owner", "ops"), ("stage", "test=1")
    boto.create_stack(StackName="tagged", TemplateBody=TEMPLATE, Tags=tags(first, second))
    wait(boto, "stack_create_complete", "tagged")
    with pytest.raises(ClientError) as refused:
        boto.update_stack(StackName="tagged", TemplateBody=TEMPLATE, Tags=tags(second, first))
    assert error(refused)["Message"] == "No updates are to be performed."
    boto.update_stack(StackName="tagged", TemplateBody=TEMPLATE, Tags=tags(second))
    wait(boto, "stack_update_complete", "tagged")
    assert boto.describe_stacks(StackName="tagged")["Stacks"][0]["Tags"] == tags(second)


@pytest.mark.parametrize(
    ("refused_tags", "problem"),
    [
        (tags(("k=x", "a")), "contains '='"),
        (tags(("", "a")), "is empty"),
        (tags(("k", "a"), ("k", "b")), "2 times"),
        (tags(("aws:k", "a")), "reserved"),
        (tags(*((f"k{number}", "a") for number in range(51))), "50 tags, not 51"),
    ],
)
def test_tags_that_are_refused(world: QueryService, keys: Keys, refused_tags: Any, problem: str) -> None:
    unchecked = world.client(keys, parameter_validation=False)
    change_set = {"ChangeSetName": "tagging", "ChangeSetType": "CREATE"}
    for ask, more in ((unchecked.create_stack, {}), (unchecked.create_change_set, change_set)):
        with pytest.raises(ClientError) as refused:
            ask(StackName="tagged", TemplateBody=TEMPLATE, Tags=refused_tags, **more)
        assert error(refused)["Code"] == "ValidationError"
        assert problem in error(refused)["Message"]


@pytest.mark.usefixtures("clean")
def test_failed_creation_is_rolled_back_unless_disabled(world: QueryService, boto: Any) -> None:
    failing = json.dumps(
        {
            "AWSTemplateFormatVersion": "2010-09-09",
            "Resources": {"Bad": {"Type": "OS::Heat::TestResource", "Properties": {"fail": True}}},
        }
    )
    boto.create_stack(StackName="back", TemplateBody=failing)
    boto.create_stack(StackName="stays", TemplateBody=failing, OnFailure="DO_NOTHING")

    assert ended(world, boto, "back") == "ROLLBACK_COMPLETE"
    assert ended(world, boto, "stays") == "CREATE_FAILED"
    boto.rollback_stack(StackName="stays")
    assert ended(world, boto, "stays") == "ROLLBACK_COMPLETE"
    with pytest.raises(ClientError) as refused:
        boto.continue_update_rollback(StackName="stays")
    assert error(refused)["Code"] == "ValidationError"


@pytest.mark.usefixtures("clean")
def test_a_rollback_is_continued_without_the_resources_to_skip(world: QueryService, boto: Any) -> None:
    def body(name: str, *further: str) -> str:
        net = {"Type": "OS::Neutron::Net", "Properties": {"name": name}}
        bad = {"Type": "OS::Heat::TestResource", "Properties": {"fail": True}, "DependsOn": "Net"}
        resources = {"Net": net, **dict.fromkeys(further, bad)}
        return json.dumps({"AWSTemplateFormatVersion": "2010-09-09", "Resources": resources})

    boto.create_stack(StackName="stuck", TemplateBody=body("before"))
    assert ended(world, boto, "stuck") == "CREATE_COMPLETE"
    boto.update_stack(StackName="stuck", TemplateBody=body("after", "Bad"), DisableRollback=True)
    assert ended(world, boto, "stuck") == "UPDATE_FAILED"
    fault = world.served.cloud.faults.add(Fault(on="PUT /network/v2.0/networks/*", do="fail", status=400))
    try:
        boto.rollback_stack(StackName="stuck")
        assert ended(world, boto, "stuck") == "UPDATE_ROLLBACK_FAILED"
        with pytest.raises(ClientError) as refused:
            boto.continue_update_rollback(StackName="stuck", ResourcesToSkip=["Bad"])
        assert (
            error(refused)["Code"] == "ValidationError" and "resource Bad of stack stuck" in error(refused)["Message"]
        )
        boto.continue_update_rollback(StackName="stuck", ResourcesToSkip=["Net"])
        assert ended(world, boto, "stuck") == "UPDATE_ROLLBACK_COMPLETE"
    finally:
        world.served.cloud.faults.remove(fault.id)
    shown = boto.describe_stack_resource(StackName="stuck", LogicalResourceId="Net")["StackResourceDetail"]
    assert shown["ResourceStatus"] == "UPDATE_COMPLETE" and "skipped" in shown["ResourceStatusReason"]
    boto.update_stack(StackName="stuck", TemplateBody=body("after"))
    assert ended(world, boto, "stuck") == "UPDATE_COMPLETE", "the template says what the skipped resource has"
    with pytest.raises(ClientError, match="No updates are to be performed"):
        boto.update_stack(StackName="stuck", TemplateBody=body("after"))


@pytest.mark.usefixtures("clean")
def test_a_failed_update_is_an_update_rollback(world: QueryService, boto: Any) -> None:
    good = {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Resources": {"One": {"Type": "OS::Heat::TestResource", "Properties": {"value": "a"}}},
    }
    boto.create_stack(StackName="undone", TemplateBody=json.dumps(good))
    wait(boto, "stack_create_complete", "undone")
    bad = json.loads(json.dumps(good))
    bad["Resources"]["Two"] = {"Type": "OS::Heat::TestResource", "Properties": {"fail": True}}
    boto.update_stack(StackName="undone", TemplateBody=json.dumps(bad))
    assert ended(world, boto, "undone") == "UPDATE_ROLLBACK_COMPLETE"
    boto.get_waiter("stack_rollback_complete").wait(StackName="undone", WaiterConfig=FAST)
    assert own_statuses(boto, "undone")[:2] == ["UPDATE_ROLLBACK_COMPLETE", "UPDATE_ROLLBACK_IN_PROGRESS"]


@pytest.mark.usefixtures("clean")
def test_the_rollback_of_a_creation_keeps_its_name_after_an_update(world: QueryService, boto: Any) -> None:
    bad = {"Resources": {"Bad": {"Type": "OS::Heat::TestResource", "Properties": {"fail": True}}}}
    boto.create_stack(StackName="again", TemplateBody=plain(**bad))
    assert ended(world, boto, "again") == "ROLLBACK_COMPLETE"
    boto.update_stack(StackName="again", TemplateBody=plain())
    wait(boto, "stack_update_complete", "again")
    boto.update_stack(StackName="again", TemplateBody=plain(**bad))
    assert ended(world, boto, "again") == "UPDATE_ROLLBACK_COMPLETE"
    assert [status for status in own_statuses(boto, "again") if status.endswith("ROLLBACK_COMPLETE")] == [
        "UPDATE_ROLLBACK_COMPLETE",
        "ROLLBACK_COMPLETE",
    ]


@pytest.mark.usefixtures("clean")
def test_pages_of_stacks(boto: Any) -> None:
    names = {f"page-{index:02}" for index in range(30)}
    for name in names:
        boto.create_stack(StackName=name, TemplateBody='{"AWSTemplateFormatVersion": "2010-09-09", "Resources": {}}')
    pages = list(boto.get_paginator("describe_stacks").paginate())
    assert len(pages) > 1
    assert {stack["StackName"] for page in pages for stack in page["Stacks"]} == names
    for name in names:
        wait(boto, "stack_create_complete", name)
    listed = boto.get_paginator("list_stacks").paginate(StackStatusFilter=["CREATE_COMPLETE"])
    assert {stack["StackName"] for page in listed for stack in page["StackSummaries"]} == names
    assert boto.list_stacks(StackStatusFilter=["UPDATE_FAILED"])["StackSummaries"] == []


def test_an_unknown_token(boto: Any) -> None:
    with pytest.raises(ClientError) as refused:
        boto.list_stack_resources(StackName="x", NextToken="not ours")
    assert error(refused)["Code"] == "ValidationError"


def test_unknown_status_filter(boto: Any) -> None:
    assert boto.list_stacks(StackStatusFilter=["IMPORT_ROLLBACK_FAILED"])["StackSummaries"] == []
    with pytest.raises(ClientError) as refused:
        boto.list_stacks(StackStatusFilter=["CREATE_COMPLETE", "COMPLETED"])
    assert error(refused)["Code"] == "InvalidParameterValue"
    assert "CREATE_COMPLETE" in error(refused)["Message"]


@pytest.mark.usefixtures("clean")
def test_a_repeated_request_is_carried_out_once(boto: Any) -> None:
    request = {"StackName": "once", "TemplateBody": TEMPLATE, "ClientRequestToken": "token-1"}
    first = boto.create_stack(**request)
    assert boto.create_stack(**request)["StackId"] == first["StackId"]
    with pytest.raises(ClientError) as refused:
        boto.create_stack(**{**request, "StackName": "twice"})
    assert error(refused)["Code"] == "TokenAlreadyExistsException"
    with pytest.raises(ClientError) as taken:
        boto.create_stack(StackName="once", TemplateBody=TEMPLATE)
    assert error(taken)["Code"] == "AlreadyExistsException"


def test_stored_requests_disclose_nothing_without_the_key(world: QueryService) -> None:
    context = RequestContext(new_request_id(), user_id="u", user_name="demo", project_id="p")
    plain = sha256(b"a request with a password").hexdigest()
    claim = ClaimRequestToken(token="kept", digest=plain)
    assert world.run(request_token_claim(world.engine.services, context, claim))["state"] == "claimed"
    assert world.run(request_token_claim(world.engine.services, context, claim))["state"] == "unanswered"
    known = world.run(world.engine.services.database.read(request_tokens.find, "p", "kept"))
    assert known is not None
    assert known.digest == Sealer([KEY]).digest(plain)
    assert known.digest != Sealer(["another key"]).digest(plain)


def test_a_request_that_failed_may_be_repeated(boto: Any) -> None:
    for _ in range(2):
        with pytest.raises(ClientError) as refused:
            boto.create_stack(StackName="bad", TemplateBody="no: template", ClientRequestToken="token-2")
        assert error(refused)["Code"] == "ValidationError"


@pytest.mark.usefixtures("clean")
def test_another_project_sees_nothing(world: QueryService, boto: Any) -> None:
    made = boto.create_stack(StackName="mine", TemplateBody=TEMPLATE)
    wait(boto, "stack_create_complete", "mine")
    stranger = world.client(world.stranger())
    for name in ("mine", made["StackId"]):
        with pytest.raises(ClientError) as refused:
            stranger.describe_stacks(StackName=name)
        assert error(refused)["Code"] == "ValidationError"
        with pytest.raises(ClientError) as refused:
            stranger.delete_stack(StackName=name)
        assert error(refused)["Code"] == "ValidationError"
    assert stranger.list_stacks()["StackSummaries"] == []
    assert stranger.list_exports()["Exports"] == []
