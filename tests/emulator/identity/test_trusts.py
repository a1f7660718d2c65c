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
def deal(identity: Any) -> TrustScenario:
    return TrustScenario(identity)


@pytest.mark.parametrize("impersonation", [True, False])
def test_trustee_gets_the_roles_of_the_trustor(deal: TrustScenario, impersonation: bool) -> None:
    trust = deal.trust(impersonation=impersonation)
    token = deal.use(trust).json["token"]
    assert token["user"]["id"] == (deal.trustor if impersonation else deal.trustee["id"])
    assert token["project"]["id"] == deal.project
    assert {role["name"] for role in token["roles"]} == {"member", "reader"}
    assert token["OS-TRUST:trust"] == {
        "id": trust["id"],
        "impersonation": impersonation,
        "trustor_user": {"id": deal.trustor},
        "trustee_user": {"id": deal.trustee["id"]},
    }


def test_impersonating_token_belongs_to_trustee(deal: TrustScenario, served: ServedCloud) -> None:
    def status(method: str, asking: str, subject: str) -> int:
        headers = {"X-Subject-Token": subject}
        return served.call(method, "/identity/v3/auth/tokens", token=asking, headers=headers).status

    used = deal.use(deal.trust()).headers["x-subject-token"]
    for method in ("GET", "HEAD", "DELETE"):
        assert {status(method, asking, used) for asking in (used, deal.token)} == {403}
    assert status("GET", used, deal.token) == 200
    assert deal.identity.call("GET", "/auth/catalog", token=used).status == 200
    as_itself = deal.use(deal.trust(impersonation=False)).headers["x-subject-token"]
    assert status("GET", as_itself, as_itself) == 200


def test_keystoneauth_logs_in_through_a_trust(deal: TrustScenario, served: ServedCloud) -> None:
    auth = v3.Password(
        f"{served.url}/identity/v3", user_id=deal.trustee["id"], password="secret", trust_id=deal.trust()["id"]
    )
    access = auth.get_access(session.Session())
    assert (access.trustor_user_id, access.user_id, access.project_id) == (deal.trustor, deal.trustor, deal.project)


def test_trust_view(deal: TrustScenario) -> None:
    trust = deal.trust(expires_at="2024-01-01T00:00:00.000000Z", remaining_uses=3)
    path = f"{TRUSTS}/{trust['id']}"
    assert deal.identity.ok("GET", path, token=deal.token)["trust"] == trust
    assert (trust["expires_at"], trust["remaining_uses"]) == ("2024-01-01T00:00:00.000000Z", 3)
    assert (trust["redelegation_count"], trust["deleted_at"]) == (0, None)
    [role] = deal.identity.ok("GET", f"{path}/roles")["roles"]
    assert role["name"] == "member"
    assert deal.identity.ok("GET", f"{path}/roles/{role['id']}")["role"]["id"] == role["id"]
    assert deal.identity.call("HEAD", f"{path}/roles/{role['id']}").status == 200
    reader = deal.identity.find("roles", "reader")
    assert deal.identity.call("GET", f"{path}/roles/{reader}").status == 404


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
def test_refused_trusts(deal: TrustScenario, changes: dict[str, Any], status: int) -> None:
    answer = deal.offer(**changes)
    assert answer.status == status, answer.content
    assert deal.identity.ok("GET", TRUSTS)["trusts"] == []


def test_only_the_trustee_can_use_it(deal: TrustScenario) -> None:
    other = deal.identity.make("users", name="other", password="secret")
    assert deal.use(deal.trust(), other).status == 403


def test_expired_trust_revokes_its_tokens(deal: TrustScenario, served: ServedCloud) -> None:
    trust = deal.trust(expires_at="2023-11-14T22:14:20Z")
    used = deal.use(trust)
    assert used.json["token"]["expires_at"] == "2023-11-14T22:14:20.000000Z"
    served.advance(60)
    assert deal.use(trust).status == 404
    assert deal.identity.call("GET", "/auth/projects", token=used.headers["x-subject-token"]).status == 401


def test_trust_without_remaining_uses_is_gone_but_its_last_token_is_valid(deal: TrustScenario) -> None:
    trust = deal.trust(remaining_uses=2)
    assert deal.use(trust).status == 201
    last = deal.use(trust).headers["x-subject-token"]
    assert deal.use(trust).status == 404
    assert deal.identity.call("GET", "/auth/projects", token=last).status == 200


def test_deleted_trust_revokes_its_tokens(deal: TrustScenario) -> None:
    trust = deal.trust()
    token = deal.use(trust).headers["x-subject-token"]
    stranger = deal.identity.token(deal.trustee)
    assert deal.identity.call("DELETE", f"{TRUSTS}/{trust['id']}", token=stranger).status == 403
    assert deal.identity.call("DELETE", f"{TRUSTS}/{trust['id']}", token=deal.token).status == 204
    assert deal.identity.call("GET", f"{TRUSTS}/{trust['id']}", token=deal.token).status == 404
    assert deal.identity.call("GET", "/auth/projects", token=token).status == 401


def test_a_trust_is_invalid_when_the_trustor_loses_a_role(deal: TrustScenario) -> None:
    trust = deal.trust()
    token = deal.use(trust).headers["x-subject-token"]
    member = deal.identity.find("roles", "member")
    deal.identity.ok("DELETE", f"/projects/{deal.project}/users/{deal.trustor}/roles/{member}")
    assert deal.use(trust).status == 403
    assert deal.identity.call("GET", "/auth/projects", token=token).status == 401


def test_a_trust_is_invalid_while_the_trustor_is_disabled(deal: TrustScenario) -> None:
    trust = deal.trust()
    deal.identity.ok("PATCH", f"/users/{deal.trustor}", {"user": {"enabled": False}})
    assert deal.use(trust).status == 403


def test_a_trusts_token_cannot_be_scoped_again(deal: TrustScenario) -> None:
    token = deal.use(deal.trust()).headers["x-subject-token"]
    again = deal.identity.log_in({"token": {"id": token}}, {"project": {"id": deal.project}})
    assert again.status == 403


def test_trust_lists_contain_own_trusts(deal: TrustScenario) -> None:
    trust = deal.trust()
    mine = deal.identity.ok("GET", f"{TRUSTS}?trustor_user_id={deal.trustor}", token=deal.token)["trusts"]
    assert [each["id"] for each in mine] == [trust["id"]]
    assert "roles" not in mine[0]
    assert deal.identity.call("GET", TRUSTS, token=deal.token).status == 403
    given = deal.identity.call("GET", f"{TRUSTS}?trustor_user_id={deal.trustee['id']}", token=deal.token)
    assert given.status == 403
    assert len(deal.identity.ok("GET", TRUSTS)["trusts"]) == 1


def test_redelegation_only_reduces_rights(deal: TrustScenario) -> None:
    first = deal.trust(
        allow_redelegation=True, redelegation_count=1, expires_at="2023-11-14T23:00:00Z", roles=[{"name": "member"}]
    )
    delegated = deal.use(first).headers["x-subject-token"]
    last = deal.identity.make("users", name="last", password="secret")
    onward: dict[str, Any] = {"token": delegated, "trustee_user_id": last["id"]}
    assert deal.offer(**onward, expires_at="2023-11-15T23:00:00Z").status == 403
    assert deal.offer(**onward, roles=[{"name": "heat_stack_owner"}]).status == 403
    second = deal.trust(**onward)
    assert second["redelegated_trust_id"] == first["id"]
    assert second["redelegation_count"] == 0
    assert second["expires_at"] == first["expires_at"]
    used = deal.use(second, last)
    assert used.json["token"]["user"]["id"] == deal.trustor
    third = deal.offer(token=used.headers["x-subject-token"], trustee_user_id=deal.trustee["id"])
    assert third.status == 403
    deal.identity.ok("DELETE", f"{TRUSTS}/{first['id']}", token=deal.token)
    assert deal.use(second, last).status == 404
