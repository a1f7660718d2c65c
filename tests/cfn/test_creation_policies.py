"""CreationPolicy over the Query API: SignalResource as AWS's own helper programs call it, and signed URLs."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

import pytest
from botocore.exceptions import ClientError

from tests.cfn.query_service import Keys, QueryService
from tests.cfn.signing import send, version_2

TEMPLATE = """
AWSTemplateFormatVersion: 2010-09-09
Parameters:
  Count: {Type: Number, Default: 2}
Resources:
  Agent: {Type: AWS::IAM::User}
  Keys: {Type: AWS::IAM::AccessKey, Properties: {UserName: !Ref Agent}}
  Ready:
    Type: AWS::CloudFormation::WaitCondition
    DependsOn: Keys
    CreationPolicy: {ResourceSignal: {Count: !Ref Count, Timeout: PT15M}}
Outputs:
  Access: {Value: !Ref Keys}
  Secret: {Value: !GetAtt Keys.SecretAccessKey}
"""


def begin(world: QueryService, boto: Any) -> str:
    made = str(boto.create_stack(StackName="signalled", TemplateBody=TEMPLATE, DisableRollback=True)["StackId"])

    def waits() -> bool:
        run = world.engine.runs.get(made.rpartition("/")[2])
        state = run.current.get("Ready") if run is not None else None
        return state is not None and "creation_signals" in state.stored.data

    world.until(waits)
    return made


def status(boto: Any) -> str:
    return str(boto.describe_stacks(StackName="signalled")["Stacks"][0]["StackStatus"])


def signal(client: Any, identifier: str, status: str = "SUCCESS") -> None:
    client.signal_resource(StackName="signalled", LogicalResourceId="Ready", UniqueId=identifier, Status=status)


@pytest.mark.usefixtures("clean")
def test_creation_policy_signals_of_owner_and_stack_user(world: QueryService, boto: Any) -> None:
    """The servers of such templates sign with the keys of a user that the template makes."""
    begin(world, boto)
    outputs = {
        each["OutputKey"]: each["OutputValue"]
        for each in boto.describe_stacks(StackName="signalled")["Stacks"][0]["Outputs"]
    }
    signal(boto, "i-1")
    signal(boto, "i-1")
    assert status(boto) == "CREATE_IN_PROGRESS"
    signal(world.client(Keys(outputs["Access"], outputs["Secret"], "", "")), "i-2")
    world.until(lambda: status(boto) == "CREATE_COMPLETE")
    with pytest.raises(ClientError, match="is not being created") as refused:
        signal(boto, "i-3")
    assert refused.value.response["Error"]["Code"] == "ValidationError"
    shown = boto.describe_stack_resource(StackName="signalled", LogicalResourceId="Ready")["StackResourceDetail"]
    assert json.loads(shown["Metadata"]) == {}


@pytest.mark.usefixtures("clean")
def test_a_signed_url_with_a_reason(world: QueryService, boto: Any) -> None:
    """The body that heat-cfntools' cfn-signal puts to a handle's URL, put to the resource's."""
    made = begin(world, boto)
    outputs = {
        each["OutputKey"]: each["OutputValue"]
        for each in boto.describe_stacks(StackName="signalled")["Stacks"][0]["Outputs"]
    }
    agent = Keys(outputs["Access"], outputs["Secret"], "", "")
    path = f"/v1/waitcondition/{made}/resources/Ready"
    signed = urlencode(version_2(agent, world.host, {}, "PUT", path, timed=False))
    body = {"Status": "FAILURE", "Reason": "disk full", "Data": "", "UniqueId": "i-1"}
    answer = send(world, "PUT", f"{path}?{signed}", json.dumps(body), {"Content-Type": ""})
    assert answer.status == 200, answer.content
    world.until(lambda: status(boto) == "CREATE_FAILED")
    assert "i-1: disk full" in boto.describe_stacks(StackName="signalled")["Stacks"][0]["StackStatusReason"]
