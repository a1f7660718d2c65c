"""Signed URLs and stacks' own users: what servers may do, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest

from tests.cfn.query_service import Keys, QueryService
from tests.cfn.signing import Answer, query, send, time_text, version_2

TEMPLATE = """
heat_template_version: 2021-04-16
resources:
  handle: {type: OS::Heat::WaitConditionHandle, properties: {signal_transport: CFN_SIGNAL}}
  other: {type: OS::Heat::WaitConditionHandle, properties: {signal_transport: CFN_SIGNAL}}
  condition:
    type: OS::Heat::WaitCondition
    properties: {handle: {get_resource: handle}, count: 2, timeout: 600}
outputs:
  url: {value: {get_attr: [handle, signal]}}
  data: {value: {get_attr: [condition, data]}}
"""


@dataclass
class Waiting:
    """A stack that waits for two signals at `url`."""

    world: QueryService
    boto: Any
    stack_id: str
    url: str

    @property
    def path(self) -> str:
        return self.url.removeprefix(self.world.url)

    def put(self, path: str = "", **details: Any) -> Answer:
        return send(self.world, "PUT", path or self.path, json.dumps(details), {"Content-Type": ""})

    def status(self) -> str:
        return str(self.boto.describe_stacks(StackName=self.stack_id)["Stacks"][0]["StackStatus"])

    def user_keys(self, name: str = "handle") -> Keys:
        """The keys of the user that belongs to a resource, as the server that it is for has them."""

        async def read() -> Keys:
            run = self.world.engine.runs[self.stack_id.rpartition("/")[2]]
            data = run.current[name].stored.data
            return Keys(data["access_key"], data["secret_key"], "", data["user_id"])

        keys: Keys = self.world.run(read())
        return keys


@pytest.fixture
def waiting(world: QueryService, boto: Any) -> Iterator[Waiting]:
    made = boto.create_stack(StackName="waiting", TemplateBody=TEMPLATE, DisableRollback=True)["StackId"]

    def url() -> str:
        resources = boto.list_stack_resources(StackName=made)["StackResourceSummaries"]
        if len([each for each in resources if each["ResourceStatus"] == "CREATE_COMPLETE"]) < 2:
            return ""
        (stack,) = boto.describe_stacks(StackName=made)["Stacks"]
        outputs = {each["OutputKey"]: each["OutputValue"] for each in stack["Outputs"]}
        return str(json.loads(outputs["url"])["alarm_url"])

    try:
        yield Waiting(world, boto, made, world.until(url))
    finally:
        boto.delete_stack(StackName=made)
        boto.get_waiter("stack_delete_complete").wait(StackName=made, WaiterConfig={"Delay": 0.05, "MaxAttempts": 2000})


def test_wait_condition_signals(waiting: Waiting) -> None:
    first = waiting.put(id="one", data="a", reason="ready", status="SUCCESS")
    assert first.status == 200
    assert json.loads(first.content) == {
        "resource": "handle",
        "metadata": {"one": {"data": "a", "reason": "ready", "status": "SUCCESS"}},
    }
    assert waiting.put(id="two", data="b").status == 200
    waiting.world.until(lambda: waiting.status() == "CREATE_COMPLETE")
    (stack,) = waiting.boto.describe_stacks(StackName=waiting.stack_id)["Stacks"]
    outputs = {each["OutputKey"]: each["OutputValue"] for each in stack["Outputs"]}
    assert json.loads(outputs["data"]) == {"one": "a", "two": "b"}


def test_a_signal_by_post(waiting: Waiting) -> None:
    """The same keys sign a URL of the other kind, as deployments and alarms use it."""
    keys = waiting.user_keys()
    path = urlsplit(waiting.url).path.replace("/waitcondition/", "/signal/")
    unquoted = path.replace("%3A", ":")
    signed = urlencode(version_2(keys, waiting.world.host, {}, "POST", unquoted, timed=False))
    answer = send(waiting.world, "POST", f"{path}?{signed}", '{"id": "posted"}', {"Content-Type": "application/json"})
    assert (answer.status, answer.content) == (200, b"null")
    again = waiting.put(id="put")
    assert set(json.loads(again.content)["metadata"]) == {"posted", "put"}


def test_signal_url_is_valid_for_its_resource_only(waiting: Waiting) -> None:
    keys, place = waiting.user_keys(), urlsplit(waiting.url)
    assert waiting.put(waiting.path.replace("/resources/handle", "/resources/other"), id="x").status == 403
    other = place.path.replace("/resources/handle", "/resources/other")
    signed = urlencode(version_2(keys, waiting.world.host, {}, "PUT", other.replace("%3A", ":"), timed=False))
    assert waiting.put(f"{other}?{signed}", id="x").code == "AccessDenied"


def test_invalid_urls(waiting: Waiting) -> None:
    assert waiting.put(waiting.path.replace("Signature=", "Signature=x"), id="x").code == "SignatureDoesNotMatch"
    parameters = dict(parse_qsl(urlsplit(waiting.url).query))
    del parameters["Signature"]
    bare = urlsplit(waiting.url).path
    assert waiting.put(f"{bare}?{urlencode(parameters)}", id="x").code == "IncompleteSignature"
    assert waiting.put(bare, id="x").code == "MissingAuthenticationToken"
    assert send(waiting.world, "GET", waiting.path).status in (400, 403)
    assert send(waiting.world, "POST", waiting.path).status in (400, 403)
    for body in ("[1]", "not JSON", '{"unknown": 1}', '{"status": "MAYBE"}', '"text"'):
        answer = send(waiting.world, "PUT", waiting.path, body)
        assert (answer.status, answer.code) == (400, "ValidationError")
    assert send(waiting.world, "PUT", "/v1/waitcondition/nothing").status == 403


def test_an_expired_url(waiting: Waiting) -> None:
    """The identity service does not say why it refuses a signature; its time does."""
    keys, place = waiting.user_keys(), urlsplit(waiting.url)
    unquoted = place.path.replace("%3A", ":")
    timestamp = {"Timestamp": time_text(ago=3600)}
    signed = urlencode(version_2(keys, waiting.world.host, timestamp, "PUT", unquoted, timed=False))
    refused = waiting.put(f"{place.path}?{signed}", id="x")
    assert refused.code == "RequestExpired"
    message = refused.xml.findtext("Error/Message") or ""
    assert "has expired" in message and "seconds ago" in message
    assert "secret key" not in message


def test_an_agent_reads_its_own_metadata(waiting: Waiting) -> None:
    """os-collect-config asks by a GET that is signed with version 2 and has no time."""
    keys = waiting.user_keys()
    question = {"Action": "DescribeStackResource", "StackName": "waiting", "LogicalResourceId": "handle"}
    waiting.put(id="seen")
    by_arn = {**question, "StackName": waiting.stack_id}
    signed = urlencode(version_2(keys, waiting.world.host, by_arn, timed=False))
    answer = send(waiting.world, "GET", f"/v1/?{signed}", headers={"Content-Type": "application/json"})
    assert answer.status == 200
    metadata = answer.xml.findtext("DescribeStackResourceResult/StackResourceDetail/Metadata") or ""
    assert json.loads(metadata)["seen"]["status"] == "SUCCESS"

    assert query(waiting.world, keys, **{**by_arn, "LogicalResourceId": "other"}).code == "AccessDenied"
    for action in ("DescribeStacks", "DescribeStackEvents", "ListStackResources", "DeleteStack", "GetTemplate"):
        assert query(waiting.world, keys, Action=action, StackName=waiting.stack_id).code == "AccessDenied"


def test_signal_resource(waiting: Waiting) -> None:
    for number in ("one", "two"):
        waiting.boto.signal_resource(StackName="waiting", LogicalResourceId="handle", UniqueId=number, Status="SUCCESS")
    waiting.world.until(lambda: waiting.status() == "CREATE_COMPLETE")
