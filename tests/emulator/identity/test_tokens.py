"""Tokens: who gets one, what it says, when it ends."""

from __future__ import annotations

from typing import Any

import pytest

from openstack_emulator.testing import Answer, ServedCloud

TOKENS = "/identity/v3/auth/tokens"
DEFAULT = {"id": "default"}


def log_in(served: ServedCloud, user: dict[str, Any], scope: Any = None) -> Answer:
    auth: dict[str, Any] = {"identity": {"methods": ["password"], "password": {"user": user}}}
    if scope is not None:
        auth["scope"] = scope
    return served.call("POST", TOKENS, {"auth": auth})


def demo(**changes: Any) -> dict[str, Any]:
    return {"name": "demo", "domain": DEFAULT, "password": "secret", **changes}


def check(served: ServedCloud, subject: str, token: str | None = None, method: str = "GET") -> Answer:
    return served.call(method, TOKENS, token=token or served.token(), headers={"X-Subject-Token": subject})


def test_a_project_token_has_user_roles_and_catalog(served: ServedCloud) -> None:
    answer = log_in(served, demo(), {"project": {"name": "demo", "domain": {"name": "Default"}}})
    assert answer.status == 201
    token = answer.json["token"]
    assert token["user"]["domain"] == {"id": "default", "name": "Default"}
    assert token["project"]["name"] == "demo"
    assert {role["name"] for role in token["roles"]} == {"member", "reader", "heat_stack_owner"}
    [identity] = [entry for entry in token["catalog"] if entry["type"] == "identity"]
    assert {e["interface"]: e["url"] for e in identity["endpoints"]}["public"] == f"{served.url}/identity"


def test_admin_has_the_implied_roles(served: ServedCloud) -> None:
    token = check(served, served.token()).json["token"]
    assert {"admin", "manager", "member", "reader"} <= {role["name"] for role in token["roles"]}


@pytest.mark.parametrize(
    ("user", "scope"),
    [
        ({"password": "wrong"}, None),
        ({"name": "nobody"}, None),
        ({}, {"project": {"name": "admin", "domain": DEFAULT}}),
        ({}, {"project": {"id": "none"}}),
        ({}, {"system": {"all": True}}),
        ({"domain": {"name": "none"}}, None),
    ],
)
def test_wrong_credentials_and_inaccessible_scopes_get_the_same_401(
    served: ServedCloud, user: dict[str, Any], scope: Any
) -> None:
    answer = log_in(served, demo(**user), scope)
    assert answer.status == 401
    message = "The request you have made requires authentication."
    assert answer.json == {"error": {"code": 401, "title": "Unauthorized", "message": message}}
    assert "www-authenticate" in answer.headers


@pytest.mark.parametrize(
    "auth",
    [
        {},
        {"identity": {"methods": ["password"]}},
        {"identity": {"methods": ["password"], "password": {"user": {"id": "x", "password": 1}}}},
        {"identity": {"methods": ["token"], "token": {}}},
    ],
)
def test_a_malformed_request_is_a_400(served: ServedCloud, auth: dict[str, Any]) -> None:
    assert served.call("POST", TOKENS, {"auth": auth}).status == 400


def test_system_and_domain_scope(served: ServedCloud) -> None:
    admin = demo(name="admin")
    assert log_in(served, admin, {"system": {"all": True}}).json["token"]["system"] == {"all": True}
    scoped = log_in(served, admin, {"domain": {"name": "Default"}}).json["token"]
    assert scoped["domain"] == {"id": "default", "name": "Default"}


def test_an_unscoped_token_can_be_scoped_and_does_not_live_longer(served: ServedCloud) -> None:
    first = log_in(served, demo())
    assert "catalog" not in first.json["token"]
    served.advance(60)
    identity = {"methods": ["token"], "token": {"id": first.headers["x-subject-token"]}}
    scope = {"project": {"name": "demo", "domain": DEFAULT}}
    second = served.call("POST", TOKENS, {"auth": {"identity": identity, "scope": scope}})
    assert second.json["token"]["expires_at"] == first.json["token"]["expires_at"]
    assert second.json["token"]["methods"] == ["token", "password"]
    assert second.json["token"]["audit_ids"][1:] == first.json["token"]["audit_ids"]


def test_a_token_ends_when_revoked(served: ServedCloud) -> None:
    subject = log_in(served, demo()).headers["x-subject-token"]
    assert check(served, subject, method="HEAD").status == 200
    assert check(served, subject, method="DELETE").status == 204
    assert check(served, subject).status == 404


def test_a_token_ends_with_its_time(served: ServedCloud) -> None:
    subject = log_in(served, demo()).headers["x-subject-token"]
    served.advance(3599)
    assert check(served, subject).status == 200
    served.advance(1)
    assert check(served, subject).status == 404


def test_tokens_of_others_are_validated_by_admins_and_services(served: ServedCloud) -> None:
    mine = served.token("demo", "demo")
    assert check(served, mine, mine).status == 200
    assert check(served, served.token(), mine).status == 403
    assert check(served, mine, served.token("heat", "service")).status == 200


def test_projects_available_to_the_token(served: ServedCloud) -> None:
    answer = served.call("GET", "/identity/v3/auth/projects", token=served.token())
    assert [project["name"] for project in answer.json["projects"]] == ["admin", "demo"]


def test_discovery_needs_no_token(served: ServedCloud) -> None:
    [version] = served.call("GET", "/identity").json["versions"]["values"]
    assert version["links"] == [{"rel": "self", "href": f"{served.url}/identity/v3/"}]
    assert served.call("GET", "/identity").status == 300
    assert served.call("GET", "/identity/v3/").json["version"]["id"] == version["id"]
