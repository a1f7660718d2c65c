"""A member of another project reads, lists, changes and signals nothing through the Query API: every action."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from stoker.api.cfn.actions import ACTIONS
from tests.cfn.query_service import Keys, QueryService
from tests.cfn.signing import query

MARK = "nobody-else-may-see-this"
TEMPLATE = json.dumps(
    {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Description": MARK,
        "Resources": {"Thing": {"Type": "OS::Heat::Value", "Properties": {"value": MARK}}},
        "Outputs": {"Said": {"Value": MARK, "Export": {"Name": MARK}}},
    }
)
NEEDED = {
    "LogicalResourceId": "Thing",
    "ChangeSetName": "proposed",
    "TemplateBody": TEMPLATE.replace(MARK, "x"),
    "EnableTerminationProtection": "true",
    "StackPolicyBody": json.dumps(
        {"Statement": [{"Effect": "Allow", "Action": "Update:*", "Principal": "*", "Resource": "*"}]}
    ),
    "UniqueId": "one",
    "Status": "SUCCESS",
    "ChangeSetType": "UPDATE",
    "GeneratedTemplateName": "generated",
}
"""What actions need besides the stack, so that they are refused for whose it is and for nothing else."""

MAKES = "CreateStack"
OF_ONE_STACK = [name for name, action in ACTIONS.items() if "StackName" in action.parameters and name != MAKES]
INSTEAD = {("GetTemplateSummary", "TemplateBody")}
"""What stands in for a stack."""

OF_NO_STACK = [name for name in ACTIONS if name not in OF_ONE_STACK and name != MAKES]


@pytest.fixture(scope="module")
def private(world: QueryService, boto: Any) -> Iterator[str]:
    """The ARN of the owner's stack."""
    boto.create_stack(StackName="private", TemplateBody=TEMPLATE)
    boto.get_waiter("stack_create_complete").wait(
        StackName="private", WaiterConfig={"Delay": 0.05, "MaxAttempts": 2000}
    )
    change = TEMPLATE.replace('"value"', '"value" ').replace("Thing", "Other")
    boto.create_change_set(StackName="private", ChangeSetName="proposed", TemplateBody=change)
    (found,) = boto.describe_stacks(StackName="private")["Stacks"]
    yield found["StackId"]


@pytest.fixture(scope="module")
def stranger(world: QueryService) -> Keys:
    return world.stranger()


@pytest.mark.parametrize("by", ["name", "ARN", "id"])
@pytest.mark.parametrize("action", OF_ONE_STACK)
def test_stack_of_another_project_is_not_found(
    world: QueryService, private: str, stranger: Keys, action: str, by: str
) -> None:
    name = {"name": "private", "ARN": private, "id": private.rpartition("/")[2]}[by]
    takes = [key for key in ACTIONS[action].parameters if (action, key) not in INSTEAD]
    needed = {key: value for key, value in NEEDED.items() if key in takes}
    answer = query(world, stranger, Action=action, StackName=name, **needed)
    assert 400 <= answer.status < 500, answer.content
    assert b"exist" in answer.content or b"found" in answer.content, answer.content
    assert MARK.encode() not in answer.content


@pytest.mark.parametrize("action", OF_NO_STACK)
def test_lists_show_the_callers_own_project_only(
    world: QueryService, private: str, stranger: Keys, action: str
) -> None:
    needed = {key: value for key, value in NEEDED.items() if key in ACTIONS[action].parameters}
    answer = query(world, stranger, Action=action, **needed)
    assert answer.status < 500
    assert MARK.encode() not in answer.content
    assert private.rpartition("/")[2].encode() not in answer.content
