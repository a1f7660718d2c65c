"""EC2 credentials, and tokens for requests that are signed with them (by keystoneclient's signer)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from typing import Any

import pytest
from keystoneclient.contrib.ec2.utils import Ec2Signer

from openstack_emulator.testing import Answer, ServedCloud

DATE = "20231114T221320Z"
"""When the manual clock starts."""


@pytest.fixture
def key(identity: Any) -> dict[str, str]:
    """An EC2 credential of demo in its project."""
    user, project = identity.find("users", "demo"), identity.find("projects", "demo")
    token = identity.served.token("demo", "demo")
    made: dict[str, str] = identity.ok("POST", f"/users/{user}/credentials/OS-EC2", {"tenant_id": project}, token)[
        "credential"
    ]
    return made


def exchange(served: ServedCloud, signed: dict[str, Any], name: str = "credentials") -> Answer:
    """As a service does, such as the CloudFormation API."""
    return served.call("POST", "/identity/v3/ec2tokens", {name: signed}, served.token())


def version_2(key: dict[str, str], method: str = "HmacSHA256", **more: str) -> dict[str, Any]:
    signed: dict[str, Any] = {
        "access": key["access"],
        "host": "cfn.example.org:8000",
        "verb": "POST",
        "path": "/v1/signal/arn:openstack:heat::x:stacks/a b/resources/c",
        "params": {
            "SignatureVersion": "2",
            "SignatureMethod": method,
            "AWSAccessKeyId": key["access"],
            "Note": "a/b=c d~é",
            **more,
        },
    }
    signed["signature"] = Ec2Signer(key["secret"]).generate({**signed, "host": "cfn.example.org:8000"})
    return signed


@pytest.mark.parametrize("method", ["HmacSHA256", "HmacSHA1"])
@pytest.mark.parametrize("name", ["credentials", "ec2Credentials"])
def test_ec2_signature_version_2_gives_a_token(
    served: ServedCloud, key: dict[str, str], method: str, name: str
) -> None:
    answer = exchange(served, version_2(key, method), name)
    assert answer.status == 200, answer.content
    token = answer.json["token"]
    assert (token["user"]["id"], token["project"]["id"]) == (key["user_id"], key["tenant_id"])
    assert token["methods"] == ["ec2credential"]
    mine = served.call("GET", "/identity/v3/auth/projects", token=answer.headers["x-subject-token"])
    assert mine.status == 200


@pytest.mark.parametrize(
    "change",
    [
        {"verb": "PUT"},
        {"host": "other.example.org"},
        {"path": "/v1"},
        {"signature": "AAAA"},
        {"signature": ""},
        {"params": {}},
        {"params": {"SignatureVersion": "1"}},
        {"params": "none"},
    ],
)
def test_altered_signed_request_is_unauthorized(
    served: ServedCloud, key: dict[str, str], change: dict[str, Any]
) -> None:
    assert exchange(served, {**version_2(key), **change}).status == 401


def test_only_services_may_validate_signatures(served: ServedCloud, key: dict[str, str]) -> None:
    given = {"credentials": version_2(key)}
    for path in ("/identity/v3/ec2tokens", "/identity/v3/s3tokens"):
        assert served.call("POST", path, given).status == 401
        assert served.call("POST", path, given, served.token("demo", "demo")).status == 403
    for access in ("unknown", None):
        assert exchange(served, {**version_2(key), "access": access}).status == 404


def test_a_proxy_may_have_added_the_port(served: ServedCloud, key: dict[str, str]) -> None:
    signed = version_2(key)
    signed["signature"] = Ec2Signer(key["secret"]).generate({**signed, "host": "cfn.example.org"})
    assert exchange(served, signed).status == 200


def test_signature_expires_by_timestamp(served: ServedCloud, key: dict[str, str]) -> None:
    dated, undated = version_2(key, Timestamp="2023-11-14T22:13:20Z"), version_2(key)
    served.advance(900)
    assert exchange(served, dated).status == 200
    served.advance(1)
    assert exchange(served, dated).status == 401
    assert exchange(served, undated).status == 200
    assert exchange(served, version_2(key, Timestamp="2023-12-31T00:00:00Z")).status == 200


def version_4(key: dict[str, str], **changes: Any) -> dict[str, Any]:
    scope = f"{key['access']}/20231114/RegionOne/cloudformation/aws4_request"
    signed: dict[str, Any] = {
        "host": "cfn.example.org",
        "verb": "POST",
        "path": "/v1/",
        "params": {"Action": "ListStacks", "Version": "2010-05-15"},
        "headers": {
            "Host": "cfn.example.org",
            "X-Amz-Date": DATE,
            "Authorization": f"AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders=host;x-amz-date, Signature=unknown",
        },
        "body_hash": hashlib.sha256(b"a=b").hexdigest(),
        **changes,
    }
    signature = Ec2Signer(key["secret"]).generate({**signed, "access": key["access"]})
    signed["headers"]["Authorization"] = signed["headers"]["Authorization"].replace("unknown", signature)
    return signed


@pytest.mark.parametrize("verb", ["GET", "POST"])
def test_ec2_signature_version_4_gives_a_token(served: ServedCloud, key: dict[str, str], verb: str) -> None:
    signed = version_4(key, verb=verb)
    assert exchange(served, signed).status == 200
    assert exchange(served, {**signed, "body_hash": hashlib.sha256(b"other").hexdigest()}).status == 401
    assert exchange(served, {**signed, "path": "/v2/"}).status == 401
    served.advance(901)
    assert exchange(served, signed).status == 401


def test_the_published_example_of_version_4(served: ServedCloud, identity: Any) -> None:
    """AWS's own worked example (`Action=ListUsers` on IAM), with its well-known keys and signature."""
    blob = {"access": "AKIDEXAMPLE", "secret": "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"}
    project = identity.find("projects", "admin")
    identity.make("credentials", type="ec2", blob=json.dumps(blob), project_id=project)
    signed = {
        "access": "AKIDEXAMPLE",
        "signature": "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7",
        "host": "iam.amazonaws.com",
        "verb": "GET",
        "path": "/",
        "params": {"Action": "ListUsers", "Version": "2010-05-08"},
        "headers": {
            "Content-Type": "application/x-www-form-urlencoded; charset=utf-8",
            "Host": "iam.amazonaws.com",
            "X-Amz-Date": "20150830T123600Z",
            "Authorization": "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, "
            "SignedHeaders=content-type;host;x-amz-date, "
            "Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7",
        },
        "body_hash": hashlib.sha256(b"").hexdigest(),
    }
    served.do(lambda: setattr(served.cloud.clock, "_now", 1_440_938_160.0))
    assert exchange(served, signed).status == 200
    assert exchange(served, {**signed, "verb": "POST"}).status == 401


def s3(key: dict[str, str], text: str, signature: str) -> dict[str, Any]:
    token = base64.urlsafe_b64encode(text.encode()).decode()
    return {"credentials": {"access": key["access"], "token": token, "signature": signature}}


def test_s3_signatures(served: ServedCloud, key: dict[str, str]) -> None:
    path, secret = "/identity/v3/s3tokens", key["secret"].encode()
    old = "GET\n\n\nTue, 14 Nov 2023 22:13:20 +0000\n/bucket/thing"
    right = base64.b64encode(hmac.digest(secret, old.encode(), "sha1")).decode()
    answer = served.call("POST", path, s3(key, old, right), served.token())
    assert answer.json["token"]["project"]["id"] == key["tenant_id"]
    assert served.call("POST", path, s3(key, old + "x", right), served.token()).status == 401
    new = f"AWS4-HMAC-SHA256\n{DATE}\n20231114/r/s3/aws4_request\n{hashlib.sha256(b'').hexdigest()}"
    signing = b"AWS4" + secret
    for part in ("20231114", "r", "s3", "aws4_request"):
        signing = hmac.digest(signing, part.encode(), "sha256")
    right = hmac.digest(signing, new.encode(), "sha256").hex()
    assert served.call("POST", path, s3(key, new, right), served.token()).status == 200
    assert served.call("POST", path, s3(key, new, right[::-1]), served.token()).status == 401
    bad = {"credentials": {"access": key["access"], "token": "%%%", "signature": right}}
    assert served.call("POST", path, bad, served.token()).status == 401


def test_both_apis_show_the_same_credentials(identity: Any, key: dict[str, str]) -> None:
    made_id = hashlib.sha256(key["access"].encode()).hexdigest()
    generic = identity.ok("GET", f"/credentials/{made_id}")["credential"]
    assert json.loads(generic["blob"]) == {"access": key["access"], "secret": key["secret"], "trust_id": None}
    assert (generic["type"], generic["project_id"]) == ("ec2", key["tenant_id"])
    blob = json.dumps({"access": "mine", "secret": "hidden"})
    project = key["tenant_id"]
    other = identity.make("credentials", type="ec2", blob=blob, user_id=key["user_id"], project_id=project)
    assert other["id"] == hashlib.sha256(b"mine").hexdigest()
    listed = identity.ok("GET", f"/users/{key['user_id']}/credentials/OS-EC2")["credentials"]
    assert [each["access"] for each in listed] == [key["access"], "mine"]
    identity.ok("DELETE", f"/users/{key['user_id']}/credentials/OS-EC2/mine")
    assert identity.call("GET", f"/credentials/{other['id']}").status == 404


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"blob": "no json"}, 400),
        ({"blob": '{"access": "a"}'}, 400),
        ({"blob": None}, 400),
        ({"project_id": None}, 400),
        ({"type": ""}, 400),
    ],
)
def test_refused_credentials(identity: Any, changes: dict[str, Any], status: int) -> None:
    blob = json.dumps({"access": "mine", "secret": "hidden"})
    body = {"type": "ec2", "blob": blob, "project_id": identity.find("projects", "admin"), **changes}
    assert identity.call("POST", "/credentials", {"credential": body}).status == status


def test_access_keys_are_unique(identity: Any) -> None:
    blob, project = json.dumps({"access": "mine", "secret": "hidden"}), identity.find("projects", "admin")
    identity.make("credentials", type="ec2", blob=blob, project_id=project)
    again = {"type": "ec2", "blob": blob, "project_id": project}
    assert identity.call("POST", "/credentials", {"credential": again}).status == 409


def test_credentials_of_other_users_are_hidden(identity: Any, key: dict[str, str]) -> None:
    stranger = identity.token(identity.make("users", name="stranger", password="secret"))
    path = f"/users/{key['user_id']}/credentials/OS-EC2"
    assert identity.call("GET", f"{path}/{key['access']}", token=stranger).status == 403
    assert identity.call("DELETE", f"{path}/{key['access']}", token=stranger).status == 403
    assert identity.ok("GET", "/credentials", token=stranger)["credentials"] == []


def test_a_credential_that_names_a_trust_acts_through_it(identity: Any, served: ServedCloud) -> None:
    trustor, project = identity.find("users", "demo"), identity.find("projects", "demo")
    trustee = identity.make("users", name="helper", password="secret")
    trust = _trusted(identity, served, trustor, trustee, project)
    blob = {"access": "mine", "secret": "hidden", "trust_id": trust["id"]}
    body = {"type": "ec2", "blob": json.dumps(blob), "user_id": trustor, "project_id": project}
    identity.ok("POST", "/credentials", {"credential": body}, served.token("demo", "demo"))
    got = exchange(served, version_2(blob)).json["token"]
    assert got["OS-TRUST:trust"]["id"] == trust["id"]
    assert [role["name"] for role in got["roles"]] == ["reader"]
    identity.ok("DELETE", f"/OS-TRUST/trusts/{trust['id']}", token=served.token("demo", "demo"))
    assert exchange(served, version_2(blob)).status == 401


def test_delegated_tokens_do_not_see_credentials(identity: Any, served: ServedCloud) -> None:
    user, project, own = identity.find("users", "demo"), identity.find("projects", "demo"), served.token("demo", "demo")
    trustee = identity.make("users", name="helper", password="secret")
    trust = _trusted(identity, served, user, trustee, project)
    path = f"/users/{user}/credentials/OS-EC2"
    access = identity.ok("POST", path, {"tenant_id": project}, own)["credential"]["access"]
    body = {"application_credential": {"name": "free", "unrestricted": True}}
    robot = identity.ok("POST", f"/users/{user}/application_credentials", body, own)["application_credential"]
    given = {"id": robot["id"], "secret": robot["secret"]}
    request_body = {"credential": {"type": "totp", "blob": "words", "user_id": user}}
    one = f"/credentials/{hashlib.sha256(access.encode()).hexdigest()}"
    for token in (
        identity.token(trustee, {"OS-TRUST:trust": {"id": trust["id"]}}),
        identity.log_in({"application_credential": given}).headers["x-subject-token"],
    ):
        assert identity.ok("GET", "/credentials", token=token)["credentials"] == []
        for method, where, sent in (
            ("POST", "/credentials", request_body),
            ("GET", one, None),
            ("PATCH", one, {"credential": {"blob": "{}"}}),
            ("DELETE", one, None),
            ("GET", path, None),
            ("POST", path, {"tenant_id": project}),
            ("GET", f"{path}/{access}", None),
            ("DELETE", f"{path}/{access}", None),
        ):
            refused = identity.call(method, where, sent, token)
            assert (refused.status, refused.json["error"]["message"].rpartition(": ")[2]) == (
                403,
                "Delegated tokens cannot access credentials directly.",
            )
    assert len(identity.ok("GET", path, token=own)["credentials"]) == 1


def _trusted(identity: Any, served: ServedCloud, trustor: str, trustee: dict[str, Any], project: str) -> dict[str, Any]:
    """A trust of the user demo with the role reader."""
    trust = {
        "trustor_user_id": trustor,
        "trustee_user_id": trustee["id"],
        "project_id": project,
        "impersonation": True,
        "roles": [{"name": "reader"}],
    }
    made: dict[str, Any] = identity.ok("POST", "/OS-TRUST/trusts", {"trust": trust}, served.token("demo", "demo"))[
        "trust"
    ]
    return made
