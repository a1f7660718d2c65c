"""Signatures of requests: valid ones are accepted, and those of altered requests are refused."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import botocore.auth
import pytest
from botocore.exceptions import ClientError

from tests.cfn.query_service import REGION, Keys, QueryService
from tests.cfn.signing import FORM, query, send, time_text, version_2, version_4

LIST = "Action=ListStacks&Version=2010-05-15"


def test_signature_of_version_2_is_accepted_by_get_and_post(world: QueryService, keys: Keys) -> None:
    assert query(world, keys, Action="ListStacks").status == 200
    form = urlencode(version_2(keys, world.host, {"Action": "ListStacks"}, "POST"))
    assert send(world, "POST", "/v1/", form, {"Content-Type": FORM}).status == 200


def test_signature_of_version_4_is_accepted(world: QueryService, keys: Keys) -> None:
    assert send(world, "POST", "/v1/", LIST, version_4(keys, world.host, LIST)).status == 200


@pytest.mark.parametrize("path", ["/", "/v1", "/v1/"])
def test_signature_of_boto3_is_accepted(world: QueryService, keys: Keys, path: str) -> None:
    assert world.client(keys, path=path).list_stacks()["StackSummaries"] == []


def test_signed_url_of_version_4_is_accepted(world: QueryService, boto: Any) -> None:
    url = boto.generate_presigned_url("list_stacks", HttpMethod="GET")
    path = url.removeprefix(world.url)
    assert send(world, "GET", path).status == 200
    assert send(world, "GET", path.replace("ListStacks", "ListExports")).code == "SignatureDoesNotMatch"


@pytest.mark.parametrize(("expires", "code"), [(1, "RequestExpired"), (1000, ""), (0, "IncompleteSignature")])
def test_signed_url_with_expiry(
    world: QueryService, boto: Any, monkeypatch: pytest.MonkeyPatch, expires: int, code: str
) -> None:
    """Signed 30 seconds ago: well within the time for which clocks may differ."""
    now = datetime.now(UTC) - timedelta(seconds=30)
    monkeypatch.setattr(botocore.auth, "get_current_datetime", lambda remove_tzinfo=True: now.replace(tzinfo=None))
    url = boto.generate_presigned_url("list_stacks", HttpMethod="GET", ExpiresIn=expires)
    answer = send(world, "GET", url.removeprefix(world.url))
    assert (answer.status == 200) if not code else (answer.code == code)


def refusal(world: QueryService, method: str, path: str, body: str = "", **headers: str) -> str:
    answer = send(world, method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
    assert 400 <= answer.status < 500
    return answer.code


def test_request_without_signature_is_refused(world: QueryService) -> None:
    assert refusal(world, "GET", "/v1/?Action=ListStacks") == "MissingAuthenticationToken"
    assert refusal(world, "GET", "/v1/?Action=ListStacks&AWSAccessKeyId=x") == "IncompleteSignature"


@pytest.mark.parametrize(
    "change",
    [
        {"Action": "DescribeAccountLimits"},
        {"NextToken": "more"},
        {"Signature": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="},
        {"AWSAccessKeyId": "somebody"},
        {"Timestamp": "in 30 seconds"},
    ],
)
def test_altered_request_of_version_2_is_refused(world: QueryService, keys: Keys, change: dict[str, str]) -> None:
    signed = version_2(keys, world.host, {"Action": "ListStacks"})
    if "Timestamp" in change:
        change = {"Timestamp": time_text(30.0)}
    assert refusal(world, "GET", f"/v1/?{urlencode({**signed, **change})}") == "SignatureDoesNotMatch"


def test_the_path_and_the_method_are_signed(world: QueryService, keys: Keys) -> None:
    signed = urlencode(version_2(keys, world.host, {"Action": "ListStacks"}))
    assert refusal(world, "GET", f"/?{signed}") == "SignatureDoesNotMatch"
    assert refusal(world, "POST", "/v1/", signed, Content_Type=FORM) == "SignatureDoesNotMatch"


def test_altered_body_of_version_4_is_refused(world: QueryService, keys: Keys) -> None:
    headers = version_4(keys, world.host, LIST)
    assert (
        send(world, "POST", "/v1/", LIST.replace("ListStacks", "ListExports"), headers).code == "SignatureDoesNotMatch"
    )


def test_parameters_in_the_url_of_a_post_are_refused(world: QueryService, keys: Keys) -> None:
    headers = version_4(keys, world.host, LIST)
    assert send(world, "POST", "/v1/?Action=DeleteStack", LIST, headers).code == "MalformedQueryString"


def test_repeated_parameter_is_refused(world: QueryService, keys: Keys) -> None:
    signed = urlencode(version_2(keys, world.host, {"Action": "ListStacks"}))
    assert refusal(world, "GET", f"/v1/?{signed}&Action=DeleteStack") == "InvalidQueryParameter"


@pytest.mark.parametrize("ago", [1000.0, -1000.0])
def test_request_with_wrong_time_is_refused(world: QueryService, keys: Keys, ago: float) -> None:
    """A recorded signed request cannot be replayed later, nor one that was signed in the future."""
    assert query(world, keys, Action="ListStacks", Timestamp=time_text(ago)).code == "RequestExpired"
    headers = version_4(keys, world.host, LIST, ago=ago)
    assert send(world, "POST", "/v1/", LIST, headers).code == "RequestExpired"


def test_request_without_timestamp_is_refused(world: QueryService, keys: Keys) -> None:
    signed = version_2(keys, world.host, {"Action": "ListStacks"}, timed=False)
    assert refusal(world, "GET", f"/v1/?{urlencode(signed)}") == "IncompleteSignature"


def test_a_wrong_secret_is_refused_on_the_wire(world: QueryService, keys: Keys) -> None:
    wrong = replace(keys, secret="0" * 32)
    assert query(world, wrong, Action="ListStacks").code == "SignatureDoesNotMatch"
    with pytest.raises(ClientError) as refused:
        world.client(wrong).list_stacks()
    assert refused.value.response["Error"]["Code"] == "SignatureDoesNotMatch"
    assert refused.value.response["ResponseMetadata"]["HTTPStatusCode"] == 403


def test_wrong_region_and_wrong_service_are_refused(world: QueryService, keys: Keys) -> None:
    """A request that was signed for another place is not accepted here, though the secret is right."""
    for region, service in (("elsewhere", "cloudformation"), (REGION, "s3")):
        answer = send(world, "POST", "/v1/", LIST, version_4(keys, world.host, LIST, region=region, service=service))
        assert (answer.status, answer.code) == (403, "SignatureDoesNotMatch")
    with pytest.raises(ClientError) as refused:
        world.client(keys, region="us-east-1").list_stacks()
    assert "RegionOne" in refused.value.response["Error"]["Message"]


@pytest.mark.parametrize("region", ["0", "None"])
def test_credential_scope_from_host_name_is_accepted(world: QueryService, keys: Keys, region: str) -> None:
    """boto 2, in heat-cfntools, knows no other name of the service than its host's."""
    answer = send(world, "POST", "/v1/", LIST, version_4(keys, world.host, LIST, region=region, service="127"))
    assert answer.status == 200, answer.content


def test_the_signature_must_cover_the_host_and_the_date(world: QueryService, keys: Keys) -> None:
    for covered in (("host",), ("x-amz-date",)):
        headers = version_4(keys, world.host, LIST, signed_headers=covered)
        assert send(world, "POST", "/v1/", LIST, headers).code == "IncompleteSignature"


def test_request_for_another_host_is_refused(world: QueryService, keys: Keys) -> None:
    headers = {**version_4(keys, world.host, LIST), "Host": "elsewhere.example"}
    assert send(world, "POST", "/v1/", LIST, headers).code == "SignatureDoesNotMatch"


def test_two_signatures_are_refused(world: QueryService, keys: Keys) -> None:
    signed = urlencode(version_2(keys, world.host, {"Action": "ListStacks"}))
    headers = version_4(keys, world.host, "")
    del headers["Content-Type"]
    assert send(world, "GET", f"/v1/?{signed}", headers=headers).code == "IncompleteSignature"


@pytest.mark.parametrize(
    "header",
    [
        "AWS4-HMAC-SHA256",
        "AWS4-HMAC-SHA256 Credential=a, SignedHeaders=host, Signature=x",
        "AWS4-HMAC-SHA256 Credential=a/b/c/d/e, SignedHeaders=host;x-amz-date, Signature=x",
        "Basic YTpi",
        "\u00e9",
    ],
)
def test_malformed_authorization_header_is_refused(world: QueryService, header: str) -> None:
    headers = {"Authorization": header, "X-Amz-Date": "20260101T000000Z", "Content-Type": FORM}
    answer = send(world, "POST", "/v1/", LIST, headers)
    assert (answer.status, answer.code) == (400, "IncompleteSignature")


def test_malformed_timestamps_are_refused(world: QueryService, keys: Keys) -> None:
    assert query(world, keys, Action="ListStacks", Timestamp="yesterday").code == "IncompleteSignature"


def test_deleted_keys_are_refused(world: QueryService) -> None:
    keys = world.keys()
    assert query(world, keys, Action="ListStacks").status == 200
    world.forget(keys)
    assert query(world, keys, Action="ListStacks").code == "SignatureDoesNotMatch"
