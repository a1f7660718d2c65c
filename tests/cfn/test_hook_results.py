"""What policies on plans say, as boto3 shows the results of hooks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.contract.approvals import Outcome
from stoker.engine.plan_policies.policy import Source
from stoker.engine.plan_policies.policy_files import read_policies
from stoker.operations import policy_results
from stoker_foundation.clock import SystemClock
from tests.cfn.query_service import QueryService
from tests.cfn.test_change_sets import FAST
from tests.cfn.test_operation_events import events

POLICIES = """
policies:
- name: short-words
  types: [OS::Heat::RandomString]
  expression: step.properties.length <= 16
  message: the word is too long
  hint: use 16 characters at most
- name: few-words
  for: plan
  verdict: warn
  expression: plan.steps.size() <= 1
  message: too many words
- name: broken
  verdict: warn
  types: [OS::Heat::Value]
  expression: step.properties.nothing == 1
"""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[QueryService]:
    policies = read_policies([("policies.yaml", POLICIES)], Source.OPERATOR)
    with (
        ServedCloud(new_cloud(clock=SystemClock(), pace=0.02)) as served,
        QueryService(tmp_path_factory.mktemp("query"), served, plan_policies=policies) as world,
    ):
        yield world


def words(*lengths: int, **more: Any) -> str:
    resources = {
        f"Word{number}": {"Type": "OS::Heat::RandomString", "Properties": {"length": length}}
        for number, length in enumerate(lengths)
    }
    return json.dumps({"AWSTemplateFormatVersion": "2010-09-09", "Resources": {**resources, **more}})


def results(boto: Any, **fields: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    more: dict[str, str] = {}
    while True:
        page = boto.list_hook_results(**fields, **more)
        found += page["HookResults"]
        if "NextToken" not in page:
            return found
        more = {"NextToken": page["NextToken"]}


def short(found: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return sorted((each["TypeName"], each["TargetType"], each["TargetId"], each["Status"]) for each in found)


def created(boto: Any, name: str, body: str) -> str:
    identifier = str(boto.create_stack(StackName=name, TemplateBody=body)["StackId"])
    boto.get_waiter("stack_create_complete").wait(StackName=name, WaiterConfig=FAST)
    return identifier


@pytest.mark.usefixtures("clean")
def test_the_results_of_an_operation(boto: Any) -> None:
    stack = created(boto, "good", words(8))
    assert short(results(boto, TargetType="STACK", TargetId="good")) == [
        ("Operator::Policy::few-words", "STACK", stack, "HOOK_COMPLETE_SUCCEEDED"),
        ("Operator::Policy::short-words", "RESOURCE", "Word0", "HOOK_COMPLETE_SUCCEEDED"),
    ]
    assert results(boto, TargetType="STACK", TargetId=stack) == results(boto, TargetType="STACK", TargetId="good")
    (word,) = results(boto, TargetType="RESOURCE", TargetId="Word0")
    assert (word["InvocationPoint"], word["FailureMode"]) == ("PRE_PROVISION", "FAIL")
    shown = boto.get_hook_result(HookResultId=word["HookResultId"])
    assert shown["Target"] == {
        "TargetType": "RESOURCE",
        "TargetTypeName": "OS::Heat::RandomString",
        "TargetId": "Word0",
        "Action": "CREATE",
    }
    assert shown["Annotations"] == [{"AnnotationName": "short-words", "Status": "PASSED", "SeverityLevel": "HIGH"}]
    assert (shown["TypeName"], shown["Status"]) == (word["TypeName"], word["Status"])
    assert shown["InvokedAt"] == word["InvokedAt"]


@pytest.mark.usefixtures("clean")
def test_a_denied_operation_with_its_events(world: QueryService, boto: Any) -> None:
    stack = boto.create_stack(StackName="bad", TemplateBody=words(20, 8), OnFailure="DO_NOTHING")["StackId"]
    world.until(lambda: boto.describe_stacks(StackName="bad")["Stacks"][0]["StackStatus"] == "CREATE_FAILED", 30)
    found = results(boto, TargetType="STACK", TargetId="bad")
    assert short(found) == [
        ("Operator::Policy::few-words", "STACK", stack, "HOOK_COMPLETE_FAILED"),
        ("Operator::Policy::short-words", "RESOURCE", "Word0", "HOOK_COMPLETE_FAILED"),
        ("Operator::Policy::short-words", "RESOURCE", "Word1", "HOOK_COMPLETE_SUCCEEDED"),
    ]
    (denied,) = (each for each in found if each["TargetId"] == "Word0")
    assert denied["HookStatusReason"] == "the word is too long; use 16 characters at most"
    assert boto.get_hook_result(HookResultId=denied["HookResultId"])["Annotations"] == [
        {
            "AnnotationName": "short-words",
            "Status": "FAILED",
            "StatusMessage": "the word is too long",
            "RemediationMessage": "use 16 characters at most",
            "SeverityLevel": "HIGH",
        }
    ]
    listed = boto.describe_stack_events(StackName="bad")["StackEvents"]
    hooks = [each for each in listed if "HookType" in each]
    assert sorted((each["LogicalResourceId"], each["HookStatus"], each["HookFailureMode"]) for each in hooks) == [
        ("Word0", "HOOK_COMPLETE_FAILED", "FAIL"),
        ("Word1", "HOOK_COMPLETE_SUCCEEDED", "FAIL"),
        ("bad", "HOOK_COMPLETE_FAILED", "WARN"),
    ]
    assert {each["HookInvocationId"] for each in hooks} == {each["HookResultId"] for each in found}
    assert {each["HookInvocationPoint"] for each in hooks} == {"PRE_PROVISION"}
    assert listed[-1]["ResourceStatus"] == "CREATE_IN_PROGRESS", "they come after the beginning"
    assert "HookType" not in listed[0] and "HookType" not in listed[-1]
    of_operation = [each for each in events(boto, StackName="bad") if each["EventType"] == "HOOK_INVOCATION_ERROR"]
    assert sorted((each["HookType"], each["HookFailureMode"]) for each in of_operation) == [
        ("Operator::Policy::few-words", "WARN"),
        ("Operator::Policy::short-words", "FAIL"),
    ]
    failed = events(boto, StackName="bad", Filters={"FailedEvents": True})
    assert [each.get("HookType") for each in failed] == [None, "Operator::Policy::short-words"]


@pytest.mark.usefixtures("clean")
@pytest.mark.parametrize(("length", "status"), [(20, "HOOK_COMPLETE_FAILED"), (8, "HOOK_COMPLETE_SUCCEEDED")])
def test_late_policy_decision_has_its_own_result(world: QueryService, boto: Any, length: int, status: str) -> None:
    """The length is known only when another resource is there; the operation fails later for another reason."""
    name, size = f"Late{length}", {"Type": "OS::Heat::TestResource", "Properties": {"value": length}}
    late = {"Type": "OS::Heat::RandomString", "Properties": {"length": {"Fn::GetAtt": ["Size", "output"]}}}
    bad = {"Type": "OS::Heat::TestResource", "Properties": {"fail": True}, "DependsOn": name}
    body = words(Size=size, Bad=bad, **{name: late})
    boto.create_stack(StackName="late", TemplateBody=body, OnFailure="DO_NOTHING")
    world.until(lambda: boto.describe_stacks(StackName="late")["Stacks"][0]["StackStatus"] == "CREATE_FAILED", 30)
    (found,) = results(boto, TargetType="RESOURCE", TargetId=name)
    assert found["Status"] == status
    shown = boto.get_hook_result(HookResultId=found["HookResultId"])
    assert shown["Status"] == status
    (note,) = shown["Annotations"]
    assert note.get("StatusMessage") == ("the word is too long" if length > 16 else None)


@pytest.mark.usefixtures("clean")
@pytest.mark.parametrize(("length", "status"), [(20, "HOOK_COMPLETE_FAILED"), (8, "HOOK_COMPLETE_SUCCEEDED")])
def test_late_policy_decision_of_nested_stack(world: QueryService, boto: Any, length: int, status: str) -> None:
    """What is decided there is the result of the operation on the root stack, which fails for whatever reason."""
    name, size = f"Group{length}", {"Type": "OS::Heat::TestResource", "Properties": {"value": length}}
    word = {"type": "OS::Heat::RandomString", "properties": {"length": {"Fn::GetAtt": ["Size", "output"]}}}
    group = {"Type": "OS::Heat::ResourceGroup", "Properties": {"count": 1, "resource_def": word}}
    bad = {"Type": "OS::Heat::TestResource", "Properties": {"fail": True}, "DependsOn": name}
    stack = boto.create_stack(StackName="late", TemplateBody=words(Size=size, Bad=bad, **{name: group}))["StackId"]
    world.until(lambda: boto.describe_stacks(StackName=stack)["Stacks"][0]["StackStatus"] == "ROLLBACK_COMPLETE", 30)
    (found,) = results(boto, TargetType="RESOURCE", TargetId=f"{name}.0")
    assert found["Status"] == status
    shown = boto.get_hook_result(HookResultId=found["HookResultId"])
    says = "the word is too long" if length > 16 else None
    assert [each.get("StatusMessage") for each in shown["Annotations"]] == [says]


def propose(boto: Any, body: str, expected: str) -> str:
    identifier = str(
        boto.create_change_set(StackName="sets", ChangeSetName="one", ChangeSetType="CREATE", TemplateBody=body)["Id"]
    )
    assert boto.describe_change_set(ChangeSetName=identifier)["Status"] == expected
    return identifier


@pytest.mark.usefixtures("clean")
def test_the_hooks_of_a_change_set(boto: Any) -> None:
    odd = {"Type": "OS::Heat::Value", "Properties": {"value": "x"}}
    identifier = propose(boto, words(20, Odd=odd), "FAILED")
    described = boto.describe_change_set_hooks(StackName="sets", ChangeSetName="one")
    assert (described["ChangeSetId"], described["ChangeSetName"], described["Status"]) == (identifier, "one", "PLANNED")
    targets = {each["TypeName"]: each["TargetDetails"] for each in described["Hooks"]}
    assert targets == {
        "Operator::Policy::few-words": {"TargetType": "STACK"},
        "Operator::Policy::broken": resource("Odd", "OS::Heat::Value"),
        "Operator::Policy::short-words": resource("Word0", "OS::Heat::RandomString"),
    }
    (only,) = boto.describe_change_set_hooks(ChangeSetName=identifier, LogicalResourceId="Word0")["Hooks"]
    assert (only["TypeName"], only["FailureMode"]) == ("Operator::Policy::short-words", "FAIL")
    statuses = {
        each["TypeName"]: each["Status"] for each in results(boto, TargetType="CHANGE_SET", TargetId=identifier)
    }
    assert statuses == {
        "Operator::Policy::few-words": "HOOK_COMPLETE_FAILED",
        "Operator::Policy::broken": "HOOK_FAILED",
        "Operator::Policy::short-words": "HOOK_COMPLETE_FAILED",
    }
    refused = [each["HookType"] for each in events(boto, ChangeSetName=identifier, Filters={"FailedEvents": True})[1:]]
    assert refused == ["Operator::Policy::short-words"]
    boto.delete_change_set(ChangeSetName=identifier)
    with pytest.raises(ClientError, match="ChangeSetNotFound"):
        boto.describe_change_set_hooks(ChangeSetName=identifier)


def resource(name: str, kind: str) -> dict[str, Any]:
    details = {"LogicalResourceId": name, "ResourceType": kind, "ResourceAction": "Add"}
    return {"TargetType": "RESOURCE", "ResourceTargetDetails": details}


@pytest.mark.usefixtures("clean")
def test_all_results_of_the_project_by_pages(boto: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    created(boto, "one", words(8))
    created(boto, "two", words(9))
    identifier = propose(boto, words(20), "FAILED")
    every = results(boto)
    monkeypatch.setattr(policy_results, "_PLANS_OF_PAGE", 1)
    assert results(boto) == every, "pages of one plan have the same results"
    assert {each["HookExecutionTarget"] for each in every} >= {identifier}
    assert [each["InvokedAt"] for each in every] == sorted((each["InvokedAt"] for each in every), reverse=True)
    kind = next(each["TypeArn"] for each in every if each["TypeName"].endswith("short-words"))
    failed = results(boto, TypeArn=kind, Status="HOOK_COMPLETE_FAILED")
    assert identifier in {each["HookExecutionTarget"] for each in failed}
    assert {(each["TypeArn"], each["Status"]) for each in failed} == {(kind, "HOOK_COMPLETE_FAILED")}
    boto.delete_change_set(ChangeSetName=identifier)


@pytest.mark.usefixtures("clean")
def test_another_project_sees_nothing(world: QueryService, boto: Any) -> None:
    created(boto, "mine", words(8))
    (mine, *_) = results(boto, TargetType="STACK", TargetId="mine")
    other = world.client(world.stranger())
    assert results(other) == []
    with pytest.raises(ClientError, match="HookResultNotFound"):
        other.get_hook_result(HookResultId=mine["HookResultId"])
    with pytest.raises(ClientError, match="does not exist"):
        other.list_hook_results(TargetType="STACK", TargetId="mine")


def test_wrong_requests_are_refused(boto: Any) -> None:
    for arguments, message in (
        ({"TargetType": "STACK"}, "together"),
        ({"TargetType": "CLOUD_CONTROL", "TargetId": "x"}, "CHANGE_SET"),
        ({"TargetType": "CHANGE_SET", "TargetId": "nothing"}, "HookResultNotFound"),
        ({"NextToken": "eA=="}, "marker"),
    ):
        with pytest.raises(ClientError, match=message):
            boto.list_hook_results(**arguments)
    with pytest.raises(ClientError, match="HookResultNotFound"):
        boto.get_hook_result(HookResultId="00000000-0000-4000-8000-000000000000")


def test_every_outcome_has_a_status() -> None:
    from stoker.api.cfn import hooks

    assert {*hooks._STATUSES} == {*Outcome}
    assert {*hooks._STATUSES.values()} == {*hooks.STATUSES}
