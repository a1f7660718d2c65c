"""Drift by boto3: what somebody has changed in the cloud, and in which stack."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError
from sqlalchemy import update

from openstack_emulator.core.faults import Fault
from stoker.store.tables import drift_detections
from tests.cfn.query_service import QueryService

FAST = {"Delay": 0.05, "MaxAttempts": 2000}

TEMPLATE = """
AWSTemplateFormatVersion: '2010-09-09'
Parameters:
  Word: {Type: String, NoEcho: true}
Resources:
  Quiet: {Type: OS::Neutron::Net, Properties: {name: quiet}}
  Net: {Type: OS::Neutron::Net, Properties: {name: one, admin_state_up: true, tags: [blue]}}
  Group: {Type: OS::Neutron::SecurityGroup, Properties: {name: group, description: {Ref: Word}}}
  Text: {Type: OS::Heat::RandomString}
"""


@pytest.fixture
def stack(boto: Any, clean: None) -> str:
    parameters = [{"ParameterKey": "Word", "ParameterValue": "swordfish"}]
    made = boto.create_stack(StackName="drifting", TemplateBody=TEMPLATE, Parameters=parameters)
    boto.get_waiter("stack_create_complete").wait(StackName="drifting", WaiterConfig=FAST)
    return str(made["StackId"])


def physical_id(boto: Any, name: str, stack: str = "drifting") -> str:
    found = boto.describe_stack_resource(StackName=stack, LogicalResourceId=name)
    return str(found["StackResourceDetail"]["PhysicalResourceId"])


def in_cloud(world: QueryService, method: str, path: str, body: Any = None) -> None:
    answer = world.served.call(method, f"/network/v2.0/{path}", body, world.served.token("demo", "demo"))
    assert answer.status < 300, answer.content


def detected(world: QueryService, boto: Any, **arguments: Any) -> dict[str, Any]:
    """The answer about a look at the stack, once it has been taken."""
    identifier = boto.detect_stack_drift(**{"StackName": "drifting", **arguments})["StackDriftDetectionId"]

    def ended() -> Any:
        found = boto.describe_stack_drift_detection_status(StackDriftDetectionId=identifier)
        return None if found["DetectionStatus"] == "DETECTION_IN_PROGRESS" else found

    return dict(world.until(ended))


def drifts(boto: Any, *statuses: str) -> dict[str, dict[str, Any]]:
    filters = {"StackResourceDriftStatusFilters": list(statuses)} if statuses else {}
    found = boto.describe_stack_resource_drifts(StackName="drifting", **filters)["StackResourceDrifts"]
    return {each["LogicalResourceId"]: each for each in found}


def of_stack(boto: Any) -> dict[str, Any]:
    return dict(boto.describe_stacks(StackName="drifting")["Stacks"][0]["DriftInformation"])


def test_unchanged_stack_is_in_sync(world: QueryService, boto: Any, stack: str) -> None:
    assert of_stack(boto) == {"StackDriftStatus": "NOT_CHECKED"}
    assert drifts(boto) == {}
    found = detected(world, boto)
    assert (found["DetectionStatus"], found["StackDriftStatus"]) == ("DETECTION_COMPLETE", "IN_SYNC")
    assert (found["StackId"], found["DriftedStackResourceCount"]) == (stack, 0)
    assert of_stack(boto)["StackDriftStatus"] == "IN_SYNC"
    assert {name: each["StackResourceDriftStatus"] for name, each in drifts(boto).items()} == {
        "Quiet": "IN_SYNC",
        "Net": "IN_SYNC",
        "Group": "IN_SYNC",
    }
    assert set(drifts(boto, "NOT_CHECKED")) == {"Text"}


def test_modified_and_deleted_resources_are_detected(world: QueryService, boto: Any, stack: str) -> None:
    changes = {"network": {"name": "renamed", "admin_state_up": False}}
    in_cloud(world, "PUT", f"networks/{physical_id(boto, 'Net')}", changes)
    in_cloud(world, "DELETE", f"networks/{physical_id(boto, 'Quiet')}")
    found = detected(world, boto)
    assert (found["StackDriftStatus"], found["DriftedStackResourceCount"]) == ("DRIFTED", 2)
    status = boto.describe_stacks(StackName="drifting")["Stacks"][0]["StackStatus"]
    assert status == "CREATE_COMPLETE", "looking changes nothing"
    assert {name: each["StackResourceDriftStatus"] for name, each in drifts(boto, "MODIFIED", "DELETED").items()} == {
        "Quiet": "DELETED",
        "Net": "MODIFIED",
    }
    listed = boto.list_stack_resources(StackName="drifting")["StackResourceSummaries"]
    reported = {each["LogicalResourceId"]: each["DriftInformation"]["StackResourceDriftStatus"] for each in listed}
    assert reported == {"Quiet": "DELETED", "Net": "MODIFIED", "Group": "IN_SYNC", "Text": "NOT_CHECKED"}
    for each in listed:
        name = each["LogicalResourceId"]
        one = boto.describe_stack_resource(StackName="drifting", LogicalResourceId=name)["StackResourceDetail"]
        assert one["DriftInformation"] == each["DriftInformation"]
    net = drifts(boto)["Net"]
    assert net["StackId"] == stack
    assert sorted((each["PropertyPath"], each["ExpectedValue"], each["ActualValue"], each["DifferenceType"])
                  for each in net["PropertyDifferences"]) == [
        ("/admin_state_up", "true", "false", "NOT_EQUAL"),
        ("/name", "one", "renamed", "NOT_EQUAL"),
    ]  # fmt: skip
    assert json.loads(net["ExpectedProperties"])["name"] == "one"
    assert json.loads(net["ActualProperties"])["name"] == "renamed"


def test_drift_of_one_resource(world: QueryService, boto: Any, stack: str) -> None:
    detected(world, boto)
    in_cloud(world, "PUT", f"networks/{physical_id(boto, 'Net')}", {"network": {"name": "other"}})
    found = boto.detect_stack_resource_drift(StackName="drifting", LogicalResourceId="Net")["StackResourceDrift"]
    assert found["StackResourceDriftStatus"] == "MODIFIED"
    assert set(drifts(boto)) == {"Quiet", "Net", "Group"}, "what was known of the others is still known"
    assert of_stack(boto)["StackDriftStatus"] == "DRIFTED"
    in_cloud(world, "PUT", f"networks/{physical_id(boto, 'Net')}", {"network": {"name": "one"}})
    assert detected(world, boto, LogicalResourceIds=["Net"])["StackDriftStatus"] == "IN_SYNC"


def test_a_partial_check_does_not_clear_the_drift_status(world: QueryService, boto: Any, stack: str) -> None:
    assert detected(world, boto, LogicalResourceIds=["Net"])["StackDriftStatus"] == "UNKNOWN", "others were not seen"
    assert of_stack(boto)["StackDriftStatus"] == "UNKNOWN"
    assert set(drifts(boto)) == {"Net"}
    for name in ("Quiet", "Group"):
        assert drifts(boto, "NOT_CHECKED")[name]["DriftStatusReason"] == "nobody has looked at it yet"
    detected(world, boto)
    looked = of_stack(boto)
    assert looked["StackDriftStatus"] == "IN_SYNC"
    world.until(lambda: datetime.now(UTC) - looked["LastCheckTimestamp"] > timedelta(seconds=1))
    boto.detect_stack_resource_drift(StackName="drifting", LogicalResourceId="Net")
    assert of_stack(boto) == looked, "the others were seen then"


def test_hidden_values_are_not_shown(world: QueryService, boto: Any, stack: str) -> None:
    group = {"security_group": {"description": "swordfish, and more"}}
    in_cloud(world, "PUT", f"security-groups/{physical_id(boto, 'Group')}", group)
    detected(world, boto)
    found = drifts(boto)["Group"]
    assert found["StackResourceDriftStatus"] == "MODIFIED"
    assert "swordfish" not in json.dumps(found, default=str)


def test_drift_detection_of_dead_engine_is_continued(world: QueryService, boto: Any, stack: str) -> None:
    identifier = boto.detect_stack_drift(StackName="drifting")["StackDriftDetectionId"]
    world.until(lambda: of_stack(boto)["StackDriftStatus"] == "IN_SYNC")
    forgotten = {"status": "IN_PROGRESS", "engine": "gone"}
    with world.engine.services.database.engine.begin() as connection:
        connection.execute(update(drift_detections).where(drift_detections.c.id == identifier).values(forgotten))

    def status() -> str:
        return str(boto.describe_stack_drift_detection_status(StackDriftDetectionId=identifier)["DetectionStatus"])

    assert status() == "DETECTION_IN_PROGRESS"
    world.until(lambda: status() == "DETECTION_COMPLETE")


RULES = """
heat_template_version: 2021-04-16
resources:
  group:
    type: OS::Neutron::SecurityGroup
    properties: {rules: [{protocol: tcp, port_range_min: 80, port_range_max: 80}]}
  rule:
    type: OS::Neutron::SecurityGroupRule
    properties: {security_group: {get_resource: group}, protocol: udp, port_range_min: 53, port_range_max: 53}
  secret:
    type: OS::Barbican::Secret
    properties: {name: word, payload: swordfish}
  user: {type: AWS::IAM::User}
  text: {type: OS::Heat::RandomString}
"""


@pytest.fixture
def rules(boto: Any, clean: None) -> str:
    made = boto.create_stack(StackName="rules", TemplateBody=RULES, Capabilities=["CAPABILITY_IAM"])
    boto.get_waiter("stack_create_complete").wait(StackName="rules", WaiterConfig=FAST)
    return str(made["StackId"])


def reasons(world: QueryService, boto: Any) -> dict[str, tuple[str, str]]:
    """The status and the reason of each resource of the stack of rules, after a look at it."""
    detected(world, boto, StackName="rules")
    every = ["IN_SYNC", "MODIFIED", "DELETED", "NOT_CHECKED", "UNKNOWN", "UNSUPPORTED"]
    found = boto.describe_stack_resource_drifts(StackName="rules", StackResourceDriftStatusFilters=every)
    return {
        each["LogicalResourceId"]: (each["StackResourceDriftStatus"], each.get("DriftStatusReason", ""))
        for each in found["StackResourceDrifts"]
    }


def test_foreign_security_group_rule_is_drift(world: QueryService, boto: Any, rules: str) -> None:
    assert reasons(world, boto)["group"] == ("IN_SYNC", "")
    group = physical_id(boto, "group", "rules")
    ssh = {"security_group_id": group, "direction": "ingress", "protocol": "tcp", "remote_ip_prefix": "0.0.0.0/0"}
    opened = {"security_group_rule": {**ssh, "port_range_min": 22, "port_range_max": 22}}
    in_cloud(world, "POST", "security-group-rules", opened)
    found = boto.detect_stack_resource_drift(StackName="rules", LogicalResourceId="group")["StackResourceDrift"]
    assert found["StackResourceDriftStatus"] == "MODIFIED"
    assert {each["DifferenceType"] for each in found["PropertyDifferences"]} == {"ADD"}
    reported = {each["PropertyPath"]: each["ActualValue"] for each in found["PropertyDifferences"]}
    assert reported["/rules/1/port_range_min"] == "22"
    assert not any(path.startswith("/rules/0") for path in reported)


def test_uncompared_resource_is_not_in_sync(world: QueryService, boto: Any, rules: str) -> None:
    found = reasons(world, boto)
    assert found == {
        "group": ("IN_SYNC", ""),
        "rule": ("IN_SYNC", ""),
        "secret": ("UNKNOWN", "not compared: payload (the service does not show it with the object)"),
        "user": ("UNSUPPORTED", "objects of this type cannot be compared"),
        "text": ("NOT_CHECKED", "the resource has no object in the cloud"),
    }
    assert boto.describe_stacks(StackName="rules")["Stacks"][0]["DriftInformation"]["StackDriftStatus"] == "UNKNOWN"


@pytest.mark.parametrize("status", [403, 404, 503])
def test_a_service_that_does_not_answer_makes_its_resources_unknown(
    world: QueryService, boto: Any, rules: str, status: int
) -> None:
    fault = Fault(on="GET /network/*", do="fail", status=status, message="Not Found")
    world.served.cloud.faults.add(fault)
    try:
        found = reasons(world, boto)
    finally:
        world.served.cloud.faults.clear()
    assert {name: found[name][0] for name in ("group", "rule")} == {"group": "UNKNOWN", "rule": "UNKNOWN"}
    assert found["group"][1], "the reason is that of the service"
    assert found["user"][0] == "UNSUPPORTED"


@pytest.mark.parametrize(
    ("action", "arguments"),
    [
        ("detect_stack_drift", {"StackName": "nothing"}),
        ("detect_stack_drift", {"StackName": "drifting", "LogicalResourceIds": ["Nobody"]}),
        ("detect_stack_resource_drift", {"StackName": "drifting", "LogicalResourceId": "Nobody"}),
        ("describe_stack_drift_detection_status", {"StackDriftDetectionId": "nothing"}),
        ("describe_stack_resource_drifts", {"StackName": "drifting", "StackResourceDriftStatusFilters": ["HAPPY"]}),
    ],
)
def test_bad_requests_about_drift(boto: Any, stack: str, action: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(ClientError) as refused:
        getattr(boto, action)(**arguments)
    assert refused.value.response["ResponseMetadata"]["HTTPStatusCode"] in (400, 404)


def test_ignored_drift_is_named_in_the_reason(world: QueryService, boto: Any, clean: None) -> None:
    body = """
    AWSTemplateFormatVersion: '2010-09-09'
    Resources:
      Net: {Type: OS::Neutron::Net, Properties: {name: one, tags: [a]}, IgnoreDrift: [name, tags]}
    """
    boto.create_stack(StackName="drifting", TemplateBody=body)
    boto.get_waiter("stack_create_complete").wait(StackName="drifting", WaiterConfig=FAST)
    in_cloud(world, "PUT", f"networks/{physical_id(boto, 'Net')}", {"network": {"name": "two"}})
    assert detected(world, boto)["StackDriftStatus"] == "IN_SYNC"
    found = drifts(boto)["Net"]
    assert (found["StackResourceDriftStatus"], found["PropertyDifferences"]) == ("IN_SYNC", [])
    assert found["DriftStatusReason"] == "ignored, as the template says: name (differs), tags"


def test_drift_is_hidden_from_other_projects(world: QueryService, boto: Any, stack: str) -> None:
    identifier = boto.detect_stack_drift(StackName="drifting")["StackDriftDetectionId"]
    stranger = world.client(world.stranger())
    with pytest.raises(ClientError) as refused:
        stranger.describe_stack_drift_detection_status(StackDriftDetectionId=identifier)
    assert "no drift detection" in refused.value.response["Error"]["Message"]
    with pytest.raises(ClientError):
        stranger.detect_stack_drift(StackName=stack)
