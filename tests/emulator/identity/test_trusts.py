"""Trusts: what they give, to whom, and when they end."""

from __future__ import annotations

from typing import Any

import pytest
from keystoneauth1 import session
from keystoneauth1.identity import v3

from openstack_emulator.testing import Answer, ServedCloud

TRUSTS = "/OS-TRUST/trusts"


class TrustScenario:
    """demo is the trustor; a new user with no role anywhere is the trustee."""

    def __init__(self, identity: Any) -> None:
        self.identity = identity
        self.trustor = identity.find("users", "demo")
        self.project = identity.find("projects", "demo")
        self.trustee = identity.make("users", name="helper", password="secret")

    @property
    def token(self) -> str:
        return str(self.identity.served.token("demo", "demo"))

    def offer(self, token: str | None = None, **changes: Any) -> Answer:
        trust = {
            "trustor_user_id": self.trustor,
            "trustee_user_id": self.trustee["id"],
            "project_id": self.project,
            "impersonation": True,
            "roles": [{"name": "member"}],
            **changes,
        }
        answer: Answer = self.identity.call("POST", TRUSTS, {"trust": trust}, token or self.token)
        return answer

    def trust(self, **changes: Any) -> dict[str, Any]:
        answer = self.offer(**changes)
        assert answer.status == 201, answer.content
        made: dict[str, Any] = answer.json["trust"]
        return made

    def use(self, trust: dict[str, Any], user: dict[str, Any] | None = None) -> Answer:
        password = {"user": {"id": (user or self.trustee)["id"], "password": "secret"}}
        answer: Answer = self.identity.log_in({"password": password}, {"OS-TRUST:trust": {"id": trust["id"]}})
        return answer


@pytest.fixture
def scenario(identity: Any) -> TrustScenario:
    return TrustScenario(identity)


@pytest.mark.parametrize("impersonation", [True, False])
def test_trustee_gets_the_roles_of_the_trustor(scenario: TrustScenario, impersonation: bool) -> None:
    trust = scenario.trust(impersonation=impersonation)
    token = scenario.use(trust).json["token"]
    assert token["user"]["id"] == (scenario.trustor if impersonation else scenario.trustee["id"])
    assert token["project"]["id"] == scenario.project
    assert {role["name"] for role in token["roles"]} == {"member", "reader"}
    assert token["OS-TRUST:trust"] == {
        "id": trust["id"],
        "impersonation": impersonation,
        "trustor_user": {"id": scenario.trustor},
        "trustee_user": {"id": scenario.trustee["id"]},
    }


def test_impersonating_token_belongs_to_trustee(scenario: TrustScenario, served: ServedCloud) -> None:
    def status(method: str, asking: str, subject: str) -> int:
        headers = {"X-Subject-Token": subject}
        return served.call(method, "/identity/v3/auth/tokens", token=asking, headers=headers).status

    used = scenario.use(scenario.trust()).headers["x-subject-token"]
    for method in ("GET", "HEAD", "DELETE"):
        assert {status(method, asking, used) for asking in (used, scenario.token)} == {403}
    assert status("GET", used, scenario.token) == 200
    assert scenario.identity.call("GET", "/auth/catalog", token=used).status == 200
    as_itself = scenario.use(scenario.trust(impersonation=False)).headers["x-subject-token"]
    assert status("GET", as_itself, as_itself) == 200


def test_keystoneauth_logs_in_through_a_trust(scenario: TrustScenario, served: ServedCloud) -> None:
    auth = v3.Password(
        f"{served.url}/identity/v3", user_id=scenario.trustee["id"], password="secret", trust_id=scenario.trust()["id"]
    )
    access = auth.get_access(session.Session())
    assert (access.trustor_user_id, access.user_id, access.project_id) == (
        scenario.trustor,
        scenario.trustor,
        scenario.project,
    )


def test_trust_view(scenario: TrustScenario) -> None:
    trust = scenario.trust(expires_at="2024-01-01T00:00:00.000000Z", remaining_uses=3)
    path = f"{TRUSTS}/{trust['id']}"
    assert scenario.identity.ok("GET", path, token=scenario.token)["trust"] == trust
    assert (trust["expires_at"], trust["remaining_uses"]) == ("2024-01-01T00:00:00.000000Z", 3)
    assert (trust["redelegation_count"], trust["deleted_at"]) == (0, None)
    [role] = scenario.identity.ok("GET", f"{path}/roles")["roles"]
    assert role["name"] == "member"
    assert scenario.identity.ok("GET", f"{path}/roles/{role['id']}")["role"]["id"] == role["id"]
    assert scenario.identity.call("HEAD", f"{path}/roles/{role['id']}").status == 200
    reader = scenario.identity.find("roles", "reader")
    assert scenario.identity.call("GET", f"{path}/roles/{reader}").status == 404


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"roles": []}, 403),
        ({"roles": [{"name": "service"}]}, 404),
        ({"roles": [{"name": "no-such"}]}, 404),
        ({"roles": [{}]}, 400),
        ({"roles": "member"}, 400),
        ({"trustee_user_id": "nobody"}, 404),
        ({"trustor_user_id": "someone-else"}, 403),
        ({"impersonation": "yes"}, 400),
        ({"expires_at": "soon"}, 400),
        ({"expires_at": "2001-01-01T00:00:00Z"}, 400),
        ({"remaining_uses": 0}, 400),
        ({"remaining_uses": 1, "allow_redelegation": True}, 400),
        ({"project_id": None}, 400),
        ({"redelegation_count": 9, "allow_redelegation": True}, 403),
    ],
)
def test_refused_trusts(scenario: TrustScenario, changes: dict[str, Any], status: int) -> None:
    answer = scenario.offer(**changes)
    assert answer.status == status, answer.content
    assert scenario.identity.ok("GET", TRUSTS)["trusts"] == []


def test_only_the_trustee_can_use_it(scenario: TrustScenario) -> None:
    other = scenario.identity.make("users", name="other", password="secret")
    assert scenario.use(scenario.trust(), other).status == 403


def test_expired_trust_revokes_its_tokens(scenario: TrustScenario, served: ServedCloud) -> None:
    trust = scenario.trust(expires_at="2023-11-14T22:14:20Z")
    used = scenario.use(trust)
    assert used.json["token"]["expires_at"] == "2023-11-14T22:14:20.000000Z"
    served.advance(60)
    assert scenario.use(trust).status == 404
    assert scenario.identity.call("GET", "/auth/projects", token=used.headers["x-subject-token"]).status == 401


def test_trust_without_remaining_uses_is_gone_but_its_last_token_is_valid(scenario: TrustScenario) -> None:
    trust = scenario.trust(remaining_uses=2)
    assert scenario.use(trust).status == 201
    last = scenario.use(trust).headers["x-subject-token"]
    assert scenario.use(trust).status == 404
    assert scenario.identity.call("GET", "/auth/projects", token=last).status == 200


def test_deleted_trust_revokes_its_tokens(scenario: TrustScenario) -> None:
    trust = scenario.trust()
    token = scenario.use(trust).headers["x-subject-token"]
    stranger = scenario.identity.token(scenario.trustee)
    assert scenario.identity.call("DELETE", f"{TRUSTS}/{trust['id']}", token=stranger).status == 403
    assert scenario.identity.call("DELETE", f"{TRUSTS}/{trust['id']}", token=scenario.token).status == 204
    assert scenario.identity.call("GET", f"{TRUSTS}/{trust['id']}", token=scenario.token).status == 404
    assert scenario.identity.call("GET", "/auth/projects", token=token).status == 401


def test_a_trust_is_invalid_when_the_trustor_loses_a_role(scenario: TrustScenario) -> None:
    trust = scenario.trust()
    token = scenario.use(trust).headers["x-subject-token"]
    member = scenario.identity.find("roles", "member")
    scenario.identity.ok("DELETE", f"/projects/{scenario.project}/users/{scenario.trustor}/roles/{member}")
    assert scenario.use(trust).status == 403
    assert scenario.identity.call("GET", "/auth/projects", token=token).status == 401


def test_a_trust_is_invalid_while_the_trustor_is_disabled(scenario: TrustScenario) -> None:
    trust = scenario.trust()
    scenario.identity.ok("PATCH", f"/users/{scenario.trustor}", {"user": {"enabled": False}})
    assert scenario.use(trust).status == 403


def test_a_trusts_token_cannot_be_scoped_again(scenario: TrustScenario) -> None:
    token = scenario.use(scenario.trust()).headers["x-subject-token"]
    again = scenario.identity.log_in({"token": {"id": token}}, {"project": {"id": scenario.project}})
    assert again.status == 403


def test_trust_lists_contain_own_trusts(scenario: TrustScenario) -> None:
    trust = scenario.trust()
    mine = scenario.identity.ok("GET", f"{TRUSTS}?trustor_user_id={scenario.trustor}", token=scenario.token)["trusts"]
    assert [each["id"] for each in mine] == [trust["id"]]
    assert "roles" not in mine[0]
    assert scenario.identity.call("GET", TRUSTS, token=scenario.token).status == 403
    given = scenario.identity.call("GET", f"{TRUSTS}?trustor_user_id={scenario.trustee['id']}", token=scenario.token)
    assert given.status == 403
    assert len(scenario.identity.ok("GET", TRUSTS)["trusts"]) == 1


def test_redelegation_only_reduces_rights(scenario: TrustScenario) -> None:
    first = scenario.trust(
        allow_redelegation=True, redelegation_count=1, expires_at="2023-11-14T23:00:00Z", roles=[{"name": "member"}]
    )
    delegated = scenario.use(first).headers["x-subject-token"]
    last = scenario.identity.make("users", name="last", password="secret")
    onward: dict[str, Any] = {"token": delegated, "trustee_user_id": last["id"]}
    assert scenario.offer(**onward, expires_at="2023-11-15T23:00:00Z").status == 403
    assert scenario.offer(**onward, roles=[{"name": "heat_stack_owner"}]).status == 403
    second = scenario.trust(**onward)
    assert second["redelegated_trust_id"] == first["id"]
    assert second["redelegation_count"] == 0
    assert second["expires_at"] == first["expires_at"]
    used = scenario.use(second, last)
    assert used.json["token"]["user"]["id"] == scenario.trustor
    third = scenario.offer(token=used.headers["x-subject-token"], trustee_user_id=scenario.trustee["id"])
    assert third.status == 403
    scenario.identity.ok("DELETE", f"{TRUSTS}/{first['id']}", token=scenario.token)
    assert scenario.use(second, last).status == 404
