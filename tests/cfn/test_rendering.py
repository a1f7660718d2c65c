"""Answers to the letter: XML and JSON, of results and of errors."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import urlencode

import pytest
from falcon import testing
from oslo_config import cfg

from stoker.api.auth import Credentials
from stoker.api.cfn import rendering
from stoker.api.cfn.app import make_cfn_app
from stoker.api.cfn.faults import STATUSES, QueryError, code_of, fault_document
from stoker.api.cfn.identity import Caller, SignatureCheck
from stoker.api.cfn.rendering import JsonText
from stoker.api.cfn.signatures import Signed
from stoker.base import errors
from stoker.base.config import load_config
from stoker.contract.request import Request
from stoker.rpc.contract import EngineUnavailable, RequestContext
from stoker_foundation.clock import ManualClock

NOW = 1_700_000_000.0
SIGNED = {
    "AWSAccessKeyId": "key",
    "SignatureVersion": "2",
    "SignatureMethod": "HmacSHA256",
    "Signature": "right",
    "Timestamp": "2023-11-14T22:13:20Z",
}
STACK = {
    "id": "2f1d9d4f-6b86-4ee1-8d6f-3a37be4d4e6b",
    "name": "web",
    "project_id": "p1",
    "description": 'A <web> & "more"',
    "action": "UPDATE",
    "status": "COMPLETE",
    "status_reason": "Stack UPDATE completed\u0007",
    "created_at": NOW,
    "updated_at": NOW + 60,
    "deleted_at": None,
}
LISTED = """\
<ListStacksResponse><ListStacksResult><StackSummaries><member>\
<StackId>arn:openstack:heat::p1:stacks/web/2f1d9d4f-6b86-4ee1-8d6f-3a37be4d4e6b</StackId>\
<StackName>web</StackName>\
<TemplateDescription>A &lt;web&gt; &amp; "more"</TemplateDescription>\
<CreationTime>2023-11-14T22:13:20Z</CreationTime>\
<LastUpdatedTime>2023-11-14T22:14:20Z</LastUpdatedTime>\
<StackStatus>UPDATE_COMPLETE</StackStatus>\
<StackStatusReason>Stack UPDATE completed\ufffd</StackStatusReason>\
<LastOperations></LastOperations></member></StackSummaries></ListStacksResult>\
<ResponseMetadata><RequestId>REQUEST</RequestId></ResponseMetadata></ListStacksResponse>"""
REFUSED = """\
<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code>\
<Message>Stack with id gone does not exist</Message></Error>\
<RequestId>REQUEST</RequestId></ErrorResponse>"""


class Engine:
    """An `EngineClient` with one stack."""

    def call(self, context: RequestContext, request: Request[Any], timeout: float = 60.0) -> Any:
        match request.method:
            case "stack_list":
                return {"stacks": [STACK]}
            case "stack_to_be":
                return []
            case "stack_template":
                return {"AWSTemplateFormatVersion": "2010-09-09", "Resources": {}}
        raise errors.EntityNotFound("The Stack (gone) could not be found.")


class Trusting(SignatureCheck):
    """Takes every signature to be that of one reader."""

    def __init__(self) -> None:
        self.asked: list[Signed] = []

    def caller(self, signed: Signed) -> Caller:
        self.asked.append(signed)
        return Caller(Credentials("u1", "p1", ("reader",)), "alice", "demo", None, "token")


@pytest.fixture
def config() -> cfg.ConfigOpts:
    return load_config([], [])


@pytest.fixture
def client(config: cfg.ConfigOpts) -> testing.TestClient:
    return testing.TestClient(make_cfn_app(config, Engine(), Trusting(), ManualClock(NOW)))


def ask(client: testing.TestClient, **params: str) -> testing.Result:
    return client.simulate_get("/v1/", query_string=urlencode({**SIGNED, **params}))


def golden(answer: testing.Result) -> str:
    """The body of a response, with its request ID replaced by a constant."""
    return re.sub(r"req-[-0-9a-f]{36}", "REQUEST", answer.text)


def test_a_result_in_xml(client: testing.TestClient) -> None:
    answer = ask(client, Action="ListStacks")
    assert answer.headers["content-type"] == "application/xml"
    assert answer.headers["x-amzn-requestid"] in answer.text
    assert golden(answer) == LISTED


def test_an_error_in_xml(client: testing.TestClient) -> None:
    answer = ask(client, Action="GetStackPolicy", StackName="gone")
    assert answer.status_code == 400
    assert golden(answer) == REFUSED


def test_a_result_in_json(client: testing.TestClient) -> None:
    answer = ask(client, Action="GetTemplate", StackName="web", ContentType="JSON")
    assert answer.headers["content-type"] == "application/json"
    found = json.loads(golden(answer))
    assert found == {
        "GetTemplateResponse": {
            "GetTemplateResult": {
                "TemplateBody": {"AWSTemplateFormatVersion": "2010-09-09", "Resources": {}},
                "StagesAvailable": ["Original"],
            },
            "ResponseMetadata": {"RequestId": "REQUEST"},
        }
    }


def test_an_error_in_json(client: testing.TestClient) -> None:
    answer = ask(client, Action="GetStackPolicy", StackName="gone", ContentType="JSON")
    assert json.loads(golden(answer)) == {
        "ErrorResponse": {
            "Error": {"Type": "Sender", "Code": "ValidationError", "Message": "Stack with id gone does not exist"},
            "RequestId": "REQUEST",
        }
    }


def test_an_action_without_a_result_has_an_empty_one() -> None:
    assert rendering.xml({"R": {"Empty": {}, "List": [], "None": None, "Yes": True, "Number": 5}}).endswith(
        b"<R><Empty></Empty><List></List><Yes>true</Yes><Number>5</Number></R>"
    )


def test_documents_within_answers() -> None:
    document = {"Metadata": JsonText({"a": ["<", "\u00e9"]})}
    assert rendering.xml(document).decode().endswith('<Metadata>{"a":["&lt;","\u00e9"]}</Metadata>')
    assert rendering.json(document) == '{"Metadata":{"a":["<","\u00e9"]}}'.encode()


def test_policy_rule_is_enforced(client: testing.TestClient) -> None:
    answer = ask(client, Action="DeleteStack", StackName="web")
    assert (answer.status_code, "<Code>AccessDenied</Code>" in answer.text) == (403, True)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.StackExists("x"), "AlreadyExistsException"),
        (errors.RequestLimitExceeded("x"), "LimitExceededException"),
        (errors.Forbidden("x"), "AccessDenied"),
        (errors.ActionInProgress("x"), "ValidationError"),
        (errors.CloudError("nova", 503, "x", transient=True), "ServiceUnavailable"),
        (errors.CloudError("nova", 500, "x"), "ServiceUnavailable"),
        (errors.CloudError("nova", 0, "x"), "ServiceUnavailable"),
        (errors.CloudError("nova", 404, "x"), "ValidationError"),
        (errors.CloudError("nova", 409, "x"), "ValidationError"),
        (errors.CloudError("nova", 403, "x"), "AccessDenied"),
        (EngineUnavailable("x"), "ServiceUnavailable"),
        (errors.Bug("x"), "InternalFailure"),
        (QueryError("Throttling", "x"), "Throttling"),
    ],
)
def test_codes_of_errors(error: errors.StokerError, code: str) -> None:
    assert code_of(error) == code
    assert code in STATUSES


def test_internal_error_has_a_reference_only() -> None:
    status, document = fault_document(RuntimeError("the secret"), "req-1")
    assert status == 500
    reported = document["ErrorResponse"]["Error"]
    assert (reported["Type"], reported["Code"]) == ("Server", "InternalFailure")
    assert "secret" not in reported["Message"]
