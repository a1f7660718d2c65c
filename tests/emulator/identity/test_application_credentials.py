"""Application credentials: what they may do, how long, and what their access rules keep them from."""

from __future__ import annotations

from typing import Any

import pytest

from openstack_emulator.testing import Answer

TRUST = {"trustor_user_id": "a", "trustee_user_id": "b", "impersonation": True}


@pytest.fixture
def path(identity: Any) -> str:
    return f"/users/{identity.find('users', 'demo')}/application_credentials"


def make(identity: Any, path: str, **fields: Any) -> dict[str, Any]:
    body = {"application_credential": {"name": "robot", **fields}}
    made: dict[str, Any] = identity.ok("POST", path, body, identity.served.token("demo", "demo"))[
        "application_credential"
    ]
    return made


def log_in(identity: Any, credential: dict[str, Any], scope: Any = None) -> Answer:
    given = {"id": credential["id"], "secret": credential["secret"]}
    answer: Answer = identity.log_in({"application_credential": given}, scope)
    return answer


def test_application_credential_authenticates_with_its_roles(identity: Any, path: str) -> None:
    made = make(identity, path, roles=[{"name": "reader"}], description="d")
    assert len(made["secret"]) > 40
    token = log_in(identity, made).json["token"]
    assert [role["name"] for role in token["roles"]] == ["reader"]
    assert token["application_credential"] == {"id": made["id"], "name": "robot", "restricted": True}
    shown = identity.ok("GET", f"{path}/{made['id']}")["application_credential"]
    assert shown == {key: value for key, value in made.items() if key != "secret"}
    user = {"name": "demo", "domain": {"id": "default"}}
    named = {"name": "robot", "user": user, "secret": made["secret"]}
    assert identity.log_in({"application_credential": named}).status == 201
    assert log_in(identity, {**made, "secret": "wrong"}).status == 401
    assert log_in(identity, made, {"project": {"id": identity.find("projects", "admin")}}).status == 401


def test_application_credential_defaults_to_token_roles(identity: Any, path: str) -> None:
    made = make(identity, path, secret="mine")
    assert made["secret"] == "mine"
    assert {role["name"] for role in made["roles"]} == {"member", "reader", "heat_stack_owner"}


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"roles": [{"name": "admin"}]}, 400),
        ({"roles": [{}]}, 400),
        ({"expires_at": "2001-01-01T00:00:00"}, 400),
        ({"expires_at": "soon"}, 400),
        ({"name": ""}, 400),
        ({"unknown": 1}, 400),
        ({"project_id": "another"}, 403),
        ({"access_rules": [{"path": "/v3/users", "method": "GET"}]}, 400),
        ({"access_rules": [{"path": "/v3/users", "method": "EAT", "service": "identity"}]}, 400),
        ({"access_rules": [{"id": "unknown"}]}, 404),
    ],
)
def test_refused(identity: Any, path: str, fields: dict[str, Any], status: int) -> None:
    body = {"application_credential": {"name": "robot", **fields}}
    assert identity.call("POST", path, body, identity.served.token("demo", "demo")).status == status
    assert identity.ok("GET", path)["application_credentials"] == []


def test_names_are_unique_and_creation_for_others_is_refused(identity: Any, path: str) -> None:
    make(identity, path)
    again = {"application_credential": {"name": "robot"}}
    assert identity.call("POST", path, again, identity.served.token("demo", "demo")).status == 409
    assert identity.call("POST", path, {"application_credential": {"name": "x"}}).status == 403


def test_only_unrestricted_credentials_manage_credentials(identity: Any, path: str) -> None:
    new = {"application_credential": {"name": "next"}}
    restricted = log_in(identity, make(identity, path)).headers["x-subject-token"]
    assert identity.call("POST", path, new, restricted).status == 403
    free = log_in(identity, make(identity, path, name="free", unrestricted=True)).headers["x-subject-token"]
    for token in (restricted, free):
        assert identity.call("POST", "/OS-TRUST/trusts", {"trust": TRUST}, token).status == 403
    assert identity.call("POST", path, new, free).status == 201


def test_rescoped_token_stays_restricted(identity: Any, path: str) -> None:
    first = log_in(identity, make(identity, path, roles=[{"name": "reader"}])).headers["x-subject-token"]
    second = identity.log_in({"token": {"id": first}})
    assert [role["name"] for role in second.json["token"]["roles"]] == ["reader"]
    new = {"application_credential": {"name": "next"}}
    assert identity.call("POST", path, new, second.headers["x-subject-token"]).status == 403


def test_application_credential_ends_by_expiry_role_loss_or_deletion(identity: Any, path: str) -> None:
    timed = make(identity, path, name="timed", expires_at="2023-11-14T22:14:20.000000")
    assert timed["expires_at"] == "2023-11-14T22:14:20.000000"
    token = log_in(identity, timed)
    assert token.json["token"]["expires_at"] == "2023-11-14T22:14:20.000000Z"
    deleted = make(identity, path, name="deleted")
    held = log_in(identity, deleted).headers["x-subject-token"]
    identity.ok("DELETE", f"{path}/{deleted['id']}")
    assert identity.call("GET", "/auth/projects", token=held).status == 401
    identity.served.advance(60)
    assert log_in(identity, timed).status == 401
    rested = make(identity, path, name="rested", roles=[{"name": "heat_stack_owner"}])
    user, project = path.split("/")[2], identity.find("projects", "demo")
    owner = identity.find("roles", "heat_stack_owner")
    identity.ok("DELETE", f"/projects/{project}/users/{user}/roles/{owner}")
    assert identity.call("GET", f"{path}/{rested['id']}").status == 404


def test_access_rules_are_enforced(identity: Any, path: str) -> None:
    user = path.split("/")[2]
    rules = [
        {"service": "identity", "method": "GET", "path": "/v3/users/*"},
        {"service": "identity", "method": "GET", "path": "/v3/auth/**"},
        {"service": "compute", "method": "GET", "path": "/v3/regions"},
    ]
    made = make(identity, path, access_rules=rules)
    token = log_in(identity, made).headers["x-subject-token"]
    for rule, status in (
        (f"/users/{user}", 200),
        ("/auth/projects", 200),
        (f"/users/{user}/projects", 403),
        ("/regions", 403),
    ):
        assert identity.call("GET", rule, token=token).status == status, rule
    subject = {"X-Subject-Token": token}
    tokens = "/identity/v3/auth/tokens"
    admin = identity.served.token()
    assert identity.served.call("GET", tokens, token=admin, headers=subject).status == 404
    aware = {**subject, "OpenStack-Identity-Access-Rules": "1.0"}
    seen = identity.served.call("GET", tokens, token=admin, headers=aware).json["token"]
    assert len(seen["application_credential"]["access_rules"]) == 3


def test_access_rules_are_matched_in_linear_time(identity: Any, path: str) -> None:
    for name, wild in (("any", "**"), ("segment", "*"), ("named", "{a}")):
        rules = [{"service": "identity", "method": "GET", "path": "/v3/**" + f"a{wild}" * 30 + "c"}]
        token = log_in(identity, make(identity, path, name=name, access_rules=rules)).headers["x-subject-token"]
        assert identity.call("GET", "/users/" + "a" * 4_000, token=token).status == 403


def test_access_rules_are_shared_and_kept_while_used(identity: Any, path: str) -> None:
    rule = {"service": "identity", "method": "GET", "path": "/v3/regions"}
    first = make(identity, path, access_rules=[rule])
    [kept] = first["access_rules"]
    make(identity, path, name="second", access_rules=[{"id": kept["id"]}])
    third = make(identity, path, name="third", access_rules=[rule])
    assert third["access_rules"] == [kept]
    rules = f"{path.removesuffix('application_credentials')}access_rules"
    [listed] = identity.ok("GET", rules)["access_rules"]
    assert listed.pop("links")["self"].endswith(kept["id"])
    assert listed == kept
    assert identity.call("DELETE", f"{rules}/{kept['id']}").status == 403
    for credential in identity.ok("GET", path)["application_credentials"]:
        identity.ok("DELETE", f"{path}/{credential['id']}")
    assert identity.call("DELETE", f"{rules}/{kept['id']}").status == 204
    assert identity.call("GET", f"{rules}/{kept['id']}").status == 404
