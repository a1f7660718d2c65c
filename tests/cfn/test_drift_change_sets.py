"""Change sets that look at the cloud, by boto3: they show what differs there, and bring it back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.cfn.query_service import QueryService
from tests.cfn.test_drift import FAST, detected, in_cloud, physical_id

TEMPLATE = """
AWSTemplateFormatVersion: '2010-09-09'
Parameters:
  Word: {Type: String, NoEcho: true}
Resources:
  Quiet: {Type: OS::Neutron::Net, Properties: {name: quiet}}
  Net: {Type: OS::Neutron::Net, Properties: {name: one, admin_state_up: true, tags: [blue]}}
  Group: {Type: OS::Neutron::SecurityGroup, Properties: {name: group, description: {Ref: Word}}}
"""
KEPT = [{"ParameterKey": "Word", "UsePreviousValue": True}]


@pytest.fixture
def stack(boto: Any, clean: None) -> str:
    parameters = [{"ParameterKey": "Word", "ParameterValue": "swordfish"}]
    made = boto.create_stack(StackName="drifting", TemplateBody=TEMPLATE, Parameters=parameters)
    boto.get_waiter("stack_create_complete").wait(StackName="drifting", WaiterConfig=FAST)
    return str(made["StackId"])


def propose(boto: Any, name: str = "back", **more: Any) -> None:
    given = {"UsePreviousTemplate": True} if "TemplateBody" not in more else {}
    boto.create_change_set(
        StackName="drifting", ChangeSetName=name, DeploymentMode="REVERT_DRIFT", Parameters=KEPT, **given, **more
    )


def described(boto: Any, name: str = "back", **more: Any) -> dict[str, Any]:
    """The description of a change set, with its resource changes by name instead of the changes."""
    shown = dict(boto.describe_change_set(StackName="drifting", ChangeSetName=name, **more))
    changes = [each["ResourceChange"] for each in shown["Changes"]]
    return {**shown, "Changes": {each["LogicalResourceId"]: each for each in changes}}


def execute(boto: Any, name: str = "back") -> None:
    boto.execute_change_set(StackName="drifting", ChangeSetName=name)
    boto.get_waiter("stack_update_complete").wait(StackName="drifting", WaiterConfig=FAST)


def live(world: QueryService, boto: Any, name: str = "Net") -> dict[str, Any]:
    path = f"/network/v2.0/networks/{physical_id(boto, name)}"
    return dict(world.served.call("GET", path, None, world.served.token("demo", "demo")).json["network"])


def rename(world: QueryService, boto: Any, name: str) -> None:
    in_cloud(world, "PUT", f"networks/{physical_id(boto, 'Net')}", {"network": {"name": name}})


def test_drift_is_shown_and_reverted(world: QueryService, boto: Any, stack: str) -> None:
    rename(world, boto, "other")
    propose(boto)
    plain = described(boto)
    assert (plain["Status"], plain["DeploymentMode"], plain["StackDriftStatus"]) == (
        "CREATE_COMPLETE",
        "REVERT_DRIFT",
        "DRIFTED",
    )
    (change,) = plain["Changes"].values()
    assert (change["Action"], change["LogicalResourceId"], change["Replacement"]) == ("Modify", "Net", "False")
    assert (change["ResourceDriftStatus"], change["ResourceDriftIgnoredAttributes"]) == ("MODIFIED", [])
    assert change["Details"][0]["Target"] == {
        "Attribute": "Properties",
        "Name": "name",
        "RequiresRecreation": "Never",
    }
    assert "BeforeContext" not in change

    change = described(boto, IncludePropertyValues=True)["Changes"]["Net"]
    target = change["Details"][0]["Target"]
    assert target["Drift"].pop("DriftDetectionTimestamp")
    assert target == {
        "Attribute": "Properties",
        "Name": "name",
        "RequiresRecreation": "Never",
        "Path": "/Properties/name",
        "BeforeValue": "other",
        "AfterValue": "one",
        "BeforeValueFrom": "ACTUAL_STATE",
        "AfterValueFrom": "TEMPLATE",
        "Drift": {"PreviousValue": "one", "ActualValue": "other"},
        "AttributeChangeType": "Modify",
    }
    names = ("BeforeContext", "AfterContext", "PreviousDeploymentContext")
    contexts = [json.loads(change[name])["Properties"] for name in names]
    assert [each["name"] for each in contexts] == ["other", "one", "one"]
    assert all(each["tags"] == ["blue"] for each in contexts)

    execute(boto)
    assert live(world, boto)["name"] == "one"
    assert detected(world, boto)["StackDriftStatus"] == "IN_SYNC"


def test_a_missing_object_is_created_again(world: QueryService, boto: Any, stack: str) -> None:
    in_cloud(world, "DELETE", f"networks/{physical_id(boto, 'Quiet')}")
    propose(boto)
    (change,) = described(boto, IncludePropertyValues=True)["Changes"].values()
    assert (change["Action"], change["LogicalResourceId"]) == ("Add", "Quiet")
    assert change["ResourceDriftStatus"] == "DELETED"
    assert "BeforeContext" not in change
    assert json.loads(change["PreviousDeploymentContext"])["Properties"] == {"name": "quiet"}
    execute(boto)
    assert live(world, boto, "Quiet")["name"] == "quiet"


def test_template_equal_to_drift_updates_record_only(world: QueryService, boto: Any, stack: str) -> None:
    rename(world, boto, "other")
    propose(boto, TemplateBody=TEMPLATE.replace("name: one", "name: other"))
    (change,) = described(boto, IncludePropertyValues=True)["Changes"].values()
    assert (change["Action"], change["LogicalResourceId"]) == ("SyncWithActual", "Net")
    (detail,) = change["Details"]
    assert detail["Target"]["AttributeChangeType"] == "SyncWithActual"
    assert (detail["Target"]["BeforeValue"], detail["Target"]["AfterValue"]) == ("other", "other")
    assert detail["Target"]["Drift"]["PreviousValue"] == "one"
    assert json.loads(change["PreviousDeploymentContext"])["Properties"]["name"] == "one"
    (plain,) = described(boto)["Changes"].values()
    assert [each["Target"]["Name"] for each in plain["Details"]] == ["name"]
    execute(boto)
    assert live(world, boto)["name"] == "other"
    assert detected(world, boto)["StackDriftStatus"] == "IN_SYNC"


def test_a_stack_without_drift_has_no_change_set_that_reverts_it(boto: Any, stack: str) -> None:
    propose(boto)
    found = described(boto)
    assert (found["Status"], found["StackDriftStatus"], found["Changes"]) == ("FAILED", "IN_SYNC", {})
    assert "didn't contain changes" in found["StatusReason"]


def test_failed_stack_is_not_in_sync(world: QueryService, boto: Any, stack: str) -> None:
    broken = TEMPLATE + "  Key: {Type: OS::Nova::KeyPair, Properties: {name: odd, public_key: ssh-rsa AAAA}}\n"
    boto.update_stack(StackName="drifting", TemplateBody=broken, Parameters=KEPT, DisableRollback=True)
    world.until(lambda: boto.describe_stacks(StackName="drifting")["Stacks"][0]["StackStatus"] == "UPDATE_FAILED")
    assert detected(world, boto)["StackDriftStatus"] == "UNKNOWN"
    propose(boto, TemplateBody=TEMPLATE)
    assert described(boto)["StackDriftStatus"] == "UNKNOWN"
    rename(world, boto, "theirs")
    propose(boto, "again", TemplateBody=TEMPLATE)
    assert described(boto, "again")["StackDriftStatus"] == "DRIFTED"


def test_later_drift_is_not_reverted_by_earlier_change_set(world: QueryService, boto: Any, stack: str) -> None:
    rename(world, boto, "other")
    propose(boto)
    rename(world, boto, "third")
    with pytest.raises(ClientError) as refused:
        execute(boto)
    error = refused.value.response["Error"]
    assert error["Code"] == "InvalidChangeSetStatus"
    assert "objects in the cloud have changed" in error["Message"]
    assert live(world, boto)["name"] == "third"


def test_hidden_values_are_in_neither_side_of_the_difference(world: QueryService, boto: Any, stack: str) -> None:
    group = {"security_group": {"description": "in place of the word"}}
    in_cloud(world, "PUT", f"security-groups/{physical_id(boto, 'Group')}", group)
    propose(boto)
    found = described(boto, IncludePropertyValues=True)
    text = json.dumps(found, default=str)
    assert "swordfish" not in text
    assert "in place of the word" not in text
    target = found["Changes"]["Group"]["Details"][0]["Target"]
    assert (target["Name"], target["BeforeValue"], target["AfterValue"]) == ("description", "******", "******")
    assert target["Drift"]["ActualValue"] == target["Drift"]["PreviousValue"] == "******"


PARTLY_HIDDEN = """
AWSTemplateFormatVersion: '2010-09-09'
Parameters:
  Word: {Type: String, NoEcho: true}
Resources:
  Net: {Type: OS::Neutron::Net, Properties: {name: one, tags: [blue, {Ref: Word}]}}
"""


def test_a_value_with_a_hidden_part_is_modified_and_not_synchronized(
    world: QueryService, boto: Any, clean: None
) -> None:
    parameters = [{"ParameterKey": "Word", "ParameterValue": "swordfish"}]
    boto.create_stack(StackName="drifting", TemplateBody=PARTLY_HIDDEN, Parameters=parameters)
    boto.get_waiter("stack_create_complete").wait(StackName="drifting", WaiterConfig=FAST)
    in_cloud(world, "PUT", f"networks/{physical_id(boto, 'Net')}/tags", {"tags": ["blue", "herring"]})
    propose(boto)
    details = described(boto, IncludePropertyValues=True)["Changes"]["Net"]["Details"]
    assert details and {each["Target"]["AttributeChangeType"] for each in details} <= {"Modify", "Add", "Remove"}
    assert all("Drift" in each["Target"] for each in details)
    assert "swordfish" not in str(details)
    execute(boto)
    assert sorted(live(world, boto)["tags"]) == ["blue", "swordfish"]


def test_properties_without_comparison_are_named_with_the_reason(world: QueryService, boto: Any, clean: None) -> None:
    body = """
    AWSTemplateFormatVersion: '2010-09-09'
    Resources:
      Net: {Type: OS::Neutron::Net, Properties: {name: one, tags: [a]}, IgnoreDrift: [tags]}
      Key: {Type: OS::Barbican::Secret, Properties: {name: key, payload: swordfish}}
    """
    boto.create_stack(StackName="drifting", TemplateBody=body)
    boto.get_waiter("stack_create_complete").wait(StackName="drifting", WaiterConfig=FAST)
    rename(world, boto, "other")
    boto.create_change_set(
        StackName="drifting",
        ChangeSetName="back",
        DeploymentMode="REVERT_DRIFT",
        TemplateBody=body.replace("name: key", "name: lock"),
    )
    found = described(boto, IncludePropertyValues=True)
    ignored = {name: change["ResourceDriftIgnoredAttributes"] for name, change in found["Changes"].items()}
    assert ignored["Net"] == [{"Path": "/Properties/tags", "Reason": "IGNORED_IN_TEMPLATE"}]
    assert {"Path": "/Properties/payload", "Reason": "SENSITIVE_PROPERTY"} in ignored["Key"]
    assert found["Changes"]["Key"]["ResourceDriftStatus"] == "UNKNOWN"
    assert "swordfish" not in json.dumps(found, default=str)


def test_values_of_an_ordinary_change_set(boto: Any, stack: str) -> None:
    body = TEMPLATE.replace("tags: [blue]", "tags: [blue, green]") + (
        "  Sub: {Type: OS::Neutron::Subnet, Properties: {network_id: {Ref: New}, cidr: 10.0.0.0/24}}\n"
        "  New: {Type: OS::Neutron::Net, DeletionPolicy: Retain}\n"
    ).replace("  Quiet: {Type: OS::Neutron::Net, Properties: {name: quiet}}\n", "")
    boto.create_change_set(StackName="drifting", ChangeSetName="more", TemplateBody=body, Parameters=KEPT)
    found = described(boto, "more", IncludePropertyValues=True)
    assert "DeploymentMode" not in found
    assert "StackDriftStatus" not in found
    net = found["Changes"]["Net"]
    assert net["Details"][0]["Target"] == {
        "Attribute": "Properties",
        "Name": "tags",
        "RequiresRecreation": "Never",
        "Path": "/Properties/tags/1",
        "AfterValue": "green",
        "BeforeValueFrom": "ACTUAL_STATE",
        "AfterValueFrom": "TEMPLATE",
        "AttributeChangeType": "Add",
    }
    assert json.loads(net["BeforeContext"])["Properties"]["tags"] == ["blue"]
    assert json.loads(net["AfterContext"])["Properties"]["tags"] == ["blue", "green"]
    assert "PreviousDeploymentContext" not in net
    assert json.loads(found["Changes"]["New"]["AfterContext"])["DeletionPolicy"] == "Retain"
    new = json.loads(found["Changes"]["Sub"]["AfterContext"])["Properties"]
    assert new == {"network_id": "{{changeSet:KNOWN_AFTER_APPLY}}", "cidr": "10.0.0.0/24"}


def test_drift_of_nested_stacks_is_compared(world: QueryService, boto: Any, clean: None) -> None:
    body = """
    heat_template_version: 2021-04-16
    resources:
      nets: {type: OS::Heat::ResourceGroup, properties: {count: 2, resource_def: {type: OS::Neutron::Net}}}
    """
    boto.create_stack(StackName="drifting", TemplateBody=body)
    boto.get_waiter("stack_create_complete").wait(StackName="drifting", WaiterConfig=FAST)
    inside = boto.describe_stack_resources(StackName=physical_id(boto, "nets"))["StackResources"]
    in_cloud(world, "DELETE", f"networks/{inside[0]['PhysicalResourceId']}")
    mode = {"DeploymentMode": "REVERT_DRIFT", "IncludeNestedStacks": True, "UsePreviousTemplate": True}
    boto.create_change_set(StackName="drifting", ChangeSetName="back", **mode)
    found = described(boto)
    assert found["StackDriftStatus"] == "DRIFTED"
    member = found["Changes"]["nets." + inside[0]["LogicalResourceId"]]
    assert (member["Action"], member["ResourceDriftStatus"]) == ("Add", "DELETED")
    execute(boto)
    assert detected(world, boto)["StackDriftStatus"] == "IN_SYNC"


@pytest.mark.parametrize(
    "arguments",
    [
        {"DeploymentMode": "REVERT_DRIFT", "ChangeSetType": "CREATE", "StackName": "other"},
        {"DeploymentMode": "KEEP_DRIFT", "StackName": "drifting"},
    ],
)
def test_bad_deployment_modes(boto: Any, stack: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(ClientError) as refused:
        boto.create_change_set(ChangeSetName="bad", TemplateBody=TEMPLATE, **arguments)
    assert refused.value.response["ResponseMetadata"]["HTTPStatusCode"] == 400
