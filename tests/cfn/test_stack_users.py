"""Users that a template makes (`AWS::IAM::AccessKey`), as boto3 in a server uses their keys."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from stoker.api.cfn.actions import ACTIONS
from tests.cfn.query_service import Keys, QueryService
from tests.cfn.signing import query

TEMPLATE = """
AWSTemplateFormatVersion: '2010-09-09'
Resources:
  policy: {Type: 'OS::Heat::AccessPolicy', Properties: {AllowedResources: [word]}}
  user: {Type: 'AWS::IAM::User', Properties: {Policies: [{Ref: policy}]}}
  key: {Type: 'AWS::IAM::AccessKey', Properties: {UserName: {Ref: user}}}
  word: {Type: 'OS::Heat::Value', Properties: {value: w}, Metadata: {greeting: hello}}
  other: {Type: 'OS::Heat::Value', Properties: {value: w}, Metadata: {greeting: psst}}
Outputs:
  access: {Value: {Ref: key}}
  secret: {Value: {'Fn::GetAtt': [key, SecretAccessKey]}}
"""
OPEN = ("DescribeStackResource", "SignalResource")
"""What the policy allows to users of stacks; the resource decides then."""
STACKS = ("own", "another")
LISTS = {
    "Resources": {
        "ResourceType": "OS::Neutron::Net",
        "ResourceIdentifier.entry.1.key": "Id",
        "ResourceIdentifier.entry.1.value": "own",
    },
    "StackDefinitions": {"StackName": "own", "TemplateBody": "{}"},
}
"""The first member of parameters that are lists of structures."""


@pytest.fixture(scope="module")
def stacks(boto: Any) -> Iterator[dict[str, dict[str, Any]]]:
    for name in STACKS:
        boto.create_stack(StackName=name, TemplateBody=TEMPLATE, Capabilities=["CAPABILITY_IAM"])
    for name in STACKS:
        waited = {"Delay": 0.05, "MaxAttempts": 1000}
        boto.get_waiter("stack_create_complete").wait(StackName=name, WaiterConfig=waited)
    yield {name: boto.describe_stacks(StackName=name)["Stacks"][0] for name in STACKS}
    for name in STACKS:
        boto.delete_stack(StackName=name)


@pytest.fixture(scope="module")
def own_keys(stacks: dict[str, dict[str, Any]]) -> Keys:
    outputs = {output["OutputKey"]: output["OutputValue"] for output in stacks["own"]["Outputs"]}
    return Keys(outputs["access"], outputs["secret"], "", "")


def references(stack: dict[str, Any]) -> tuple[str, str, str]:
    """Name, UUID and ARN."""
    return stack["StackName"], stack["StackId"].rpartition("/")[2], stack["StackId"]


def code_of(error: pytest.ExceptionInfo[ClientError]) -> str:
    return str(error.value.response["Error"]["Code"])


@pytest.mark.parametrize("reference", [0, 1, 2], ids=["name", "uuid", "arn"])
def test_access_to_the_own_resource(
    world: QueryService, stacks: dict[str, Any], own_keys: Keys, reference: int
) -> None:
    """What its policies allow, however the stack is named."""
    client = world.client(own_keys)
    name = references(stacks["own"])[reference]
    found = client.describe_stack_resource(StackName=name, LogicalResourceId="word")["StackResourceDetail"]
    assert found["StackId"] == stacks["own"]["StackId"]
    assert json.loads(found["Metadata"]) == {"greeting": "hello"}
    for resource in ("other", "user", "key"):
        with pytest.raises(ClientError) as refused:
            client.describe_stack_resource(StackName=name, LogicalResourceId=resource)
        assert code_of(refused) == "AccessDenied"
        with pytest.raises(ClientError) as refused:
            client.signal_resource(StackName=name, LogicalResourceId=resource, UniqueId="i", Status="SUCCESS")
        assert code_of(refused) == "AccessDenied"


@pytest.mark.parametrize("reference", [0, 1, 2], ids=["name", "uuid", "arn"])
def test_a_resource_of_another_stack(
    world: QueryService, stacks: dict[str, Any], own_keys: Keys, reference: int
) -> None:
    """Another stack of the same owner is as one that does not exist."""
    client = world.client(own_keys)
    name = references(stacks["another"])[reference]
    messages = []
    for stack in (name, "nowhere"):
        with pytest.raises(ClientError) as refused:
            client.describe_stack_resource(StackName=stack, LogicalResourceId="word")
        assert code_of(refused) == "ValidationError"
        messages.append(refused.value.response["Error"]["Message"].replace(stack, "…"))
    assert messages[0] == messages[1]


@pytest.mark.parametrize("action", sorted(set(ACTIONS) - set(OPEN)))
def test_other_actions_are_refused_to_stack_users(
    world: QueryService, stacks: dict[str, Any], own_keys: Keys, action: str
) -> None:
    """No other action is for users of stacks, on their own stack neither."""
    values = {"EnableTerminationProtection": "true", "UniqueId": "i", "Status": "SUCCESS"}
    required = [name for name, one in ACTIONS[action].parameters.items() if one.required]
    given = {name: values.get(name, "own") for name in required if name not in LISTS}
    for name in set(required) & set(LISTS):
        given |= {f"{name}.member.1.{field}": value for field, value in LISTS[name].items()}
    if action in ("DescribeStackResources", "DescribeStacks", "GetTemplate"):
        given["StackName"] = "own"
    assert query(world, own_keys, Action=action, **given).code == "AccessDenied"
