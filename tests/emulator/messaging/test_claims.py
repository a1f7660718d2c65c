"""Claims over HTTP, and what they mean for messages."""

from __future__ import annotations

import time
from typing import Any

import pytest

from openstack_emulator.testing import Answer, ServedCloud
from tests.emulator.messaging.test_queues import Zaqar, bodies

CLAIMS = "/queues/orders/claims"
MESSAGES = "/queues/orders/messages"


@pytest.fixture
def zaqar(served: ServedCloud) -> Zaqar:
    return Zaqar(served)


def claimed(answer: Answer) -> tuple[str, list[dict[str, Any]]]:
    """The path of a claim that was created, and its messages."""
    assert answer.status == 201, answer.content
    return answer.headers["location"].removeprefix("/v2"), answer.json["messages"]


def test_claimed_messages_require_the_claim(served: ServedCloud, zaqar: Zaqar) -> None:
    assert zaqar.call("POST", CLAIMS, {"ttl": 60, "grace": 60}).status == 204
    first, second, third = zaqar.post("orders", 1, 2, 3)
    claim, messages = claimed(zaqar.call("POST", f"{CLAIMS}?limit=2", {"ttl": 60, "grace": 60}))
    key = claim.rpartition("/")[2]
    assert [message["id"] for message in messages] == [first, second]
    assert messages[0]["href"] == f"/v2{MESSAGES}/{first}?claim_id={key}"
    worker = Zaqar(served)
    assert bodies(worker.call("GET", MESSAGES)) == [3]
    assert bodies(worker.call("GET", f"{MESSAGES}?include_claimed=true")) == [1, 2, 3]
    stats = worker.call("GET", "/queues/orders/stats").json["messages"]
    assert (stats["claimed"], stats["free"], stats["total"]) == (2, 1, 3)
    assert stats["oldest"]["href"] == messages[0]["href"]
    assert [message["id"] for message in claimed(worker.call("POST", CLAIMS, {}))[1]] == [third]
    assert worker.call("DELETE", f"{MESSAGES}?pop=5").json == {"messages": []}
    assert worker.call("DELETE", f"{MESSAGES}/{first}").status == 403
    assert worker.call("DELETE", f"{MESSAGES}/{first}?claim_id=other").status == 400
    assert worker.call("DELETE", f"{MESSAGES}?ids={first}&claim_ids=other").status == 400
    assert zaqar.call("DELETE", messages[0]["href"].removeprefix("/v2")).status == 204
    shown = zaqar.call("GET", claim).json
    assert (shown["ttl"], shown["age"], bodies(Answer(200, {}, zaqar.call("GET", claim).content))) == (60, 0, [2])
    assert zaqar.call("DELETE", f"{MESSAGES}?ids={second}&claim_ids={key}").status == 204
    assert zaqar.call("GET", f"{MESSAGES}/{second}").status == 404


def test_a_claim_ends_unless_it_is_renewed(served: ServedCloud, zaqar: Zaqar) -> None:
    zaqar.post("orders", "job", ttl=60)
    claim, [message] = claimed(zaqar.call("POST", CLAIMS, {"ttl": 100, "grace": 60}))
    assert message["ttl"] == 160
    served.advance(90)
    assert zaqar.call("PATCH", claim, {"ttl": 100, "grace": 60}).status == 204
    served.advance(90)
    assert zaqar.call("GET", claim).json["age"] == 90
    served.advance(10)
    for method in ("GET", "PATCH"):
        assert zaqar.call(method, claim, {}).status == 404
    again, [message] = claimed(zaqar.call("POST", CLAIMS))
    assert message["age"] == 190
    assert zaqar.call("DELETE", again).status == 204
    assert zaqar.call("DELETE", again).status == 204
    [popped] = zaqar.call("DELETE", f"{MESSAGES}?pop=1").json["messages"]
    assert (popped["body"], popped["claim_count"]) == ("job", 2)


def test_messages_over_max_claim_count_move_to_dead_letter_queue(served: ServedCloud, zaqar: Zaqar) -> None:
    zaqar.call("PUT", "/queues/orders", {"_max_claim_count": 2, "_dead_letter_queue": "dead"})
    zaqar.post("orders", "poison")
    for _ in range(2):
        claim, _ = claimed(zaqar.call("POST", CLAIMS))
        zaqar.call("DELETE", claim)
    assert zaqar.call("POST", CLAIMS).status == 204
    assert bodies(zaqar.call("GET", "/queues/dead/messages?echo=true")) == ["poison"]


def test_queues_have_defaults_for_lifetime_and_delay(served: ServedCloud, zaqar: Zaqar) -> None:
    zaqar.call("PUT", "/queues/orders", {"_default_message_ttl": 90, "_default_message_delay": 30})
    answer = zaqar.call("POST", MESSAGES, {"messages": [{"body": "late"}, {"body": "at once", "delay": 0}]})
    assert answer.headers["location"].startswith(f"/v2{MESSAGES}?ids=")
    assert bodies(zaqar.call("DELETE", f"{MESSAGES}?pop=5")) == ["at once"]
    served.advance(30)
    [message] = zaqar.call("GET", f"{MESSAGES}?echo=true").json["messages"]
    assert (message["body"], message["ttl"]) == ("late", 90)


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", CLAIMS, {"ttl": 59}),
        ("POST", CLAIMS, {"grace": 43_201}),
        ("POST", CLAIMS, {"ttl": "60"}),
        ("POST", CLAIMS, []),
        ("POST", f"{CLAIMS}?limit=0", {}),
        ("POST", f"{CLAIMS}?limit=21", {}),
        ("POST", MESSAGES, {"messages": [{"body": 1, "delay": 901}]}),
        ("GET", f"{MESSAGES}?ids={','.join('a' * 21)}", None),
        ("DELETE", f"{MESSAGES}?ids={','.join('a' * 21)}", None),
        ("DELETE", f"{MESSAGES}?pop=1&claim_ids=a", None),
    ],
)
def test_invalid_requests_are_refused(zaqar: Zaqar, method: str, path: str, body: Any) -> None:
    answer = zaqar.call(method, path, body)
    assert (answer.status, set(answer.json)) == (400, {"title", "description"})


def test_claims_belong_to_a_queue_of_a_project(served: ServedCloud, zaqar: Zaqar) -> None:
    zaqar.post("orders", "ours")
    claim, _ = claimed(zaqar.call("POST", CLAIMS))
    assert zaqar.call("GET", claim.replace("orders", "others")).status == 404
    assert Zaqar(served, "admin").call("GET", claim).status == 404
    assert Zaqar(served, "admin").call("DELETE", claim).status == 204
    assert zaqar.call("GET", claim).status == 200
    zaqar.call("DELETE", "/queues/orders")
    assert zaqar.call("GET", claim).status == 404


def test_a_subscriber_with_a_trust_gets_a_token_of_the_user(served: ServedCloud, zaqar: Zaqar) -> None:
    target = f"trust+{served.url}/messaging/v2/queues/target/messages"
    options = {"post_data": '{"messages": ["$zaqar_message$"]}', "post_headers": zaqar.headers}
    made = zaqar.call("POST", "/queues/orders/subscriptions", {"subscriber": target, "options": options})
    path = f"/queues/orders/subscriptions/{made.json['subscription_id']}"
    trust = zaqar.call("GET", path).json["options"]["trust_id"]
    zaqar.post("orders", {"order": 7})
    deadline = time.monotonic() + 30
    while not (found := zaqar.call("GET", "/queues/target/messages?echo=true").json["messages"]):
        assert time.monotonic() < deadline, "the message has not arrived"
        time.sleep(0.01)
    assert found[0]["body"] == {"order": 7}
    assert zaqar.call("DELETE", path).status == 204
    assert served.call("GET", f"/identity/v3/OS-TRUST/trusts/{trust}", token=served.token()).status == 404


def test_other_subscriber_gets_no_trust_token(served: ServedCloud, zaqar: Zaqar) -> None:
    """A member names the trust of another one in the options, or changes the address of the other's subscription."""
    made = zaqar.call("POST", "/queues/orders/subscriptions", {"subscriber": "trust+http://127.0.0.1:9/"})
    path = f"/queues/orders/subscriptions/{made.json['subscription_id']}"
    trust = zaqar.call("GET", path).json["options"]["trust_id"]
    plain = zaqar.call(
        "POST", "/queues/orders/subscriptions", {"subscriber": "http://127.0.0.1:9/", "options": {"trust_id": trust}}
    )
    zaqar.call("PATCH", path, {"options": {"trust_id": "x"}})
    assert zaqar.call("GET", path).json["options"]["trust_id"] == trust
    zaqar.call("DELETE", f"/queues/orders/subscriptions/{plain.json['subscription_id']}")
    assert served.call("GET", f"/identity/v3/OS-TRUST/trusts/{trust}", token=served.token()).status == 200
    assert zaqar.call("PATCH", path, {"subscriber": "trust+http://127.0.0.1:9/theirs"}).status == 204
    assert zaqar.call("GET", path).json["options"]["trust_id"] != trust
    assert served.call("GET", f"/identity/v3/OS-TRUST/trusts/{trust}", token=served.token()).status == 404


@pytest.mark.parametrize(("redelegation", "status"), [(False, 503), (True, 201)])
def test_subscriber_with_redelegated_trust(served: ServedCloud, zaqar: Zaqar, redelegation: bool, status: int) -> None:
    tokens = "/identity/v3/auth/tokens"
    headers = {"X-Subject-Token": str(zaqar.token)}
    caller = served.call("GET", tokens, token=zaqar.token, headers=headers).json["token"]
    [trustee] = served.call("GET", "/identity/v3/users?name=heat", token=served.token()).json["users"]
    trust = {
        "trustor_user_id": caller["user"]["id"],
        "trustee_user_id": trustee["id"],
        "project_id": caller["project"]["id"],
        "impersonation": True,
        "allow_redelegation": redelegation,
        "roles": [{"name": role["name"]} for role in caller["roles"]],
    }
    made = served.call("POST", "/identity/v3/OS-TRUST/trusts", {"trust": trust}, zaqar.token).json["trust"]
    user = {"id": trustee["id"], "password": served.password_of("heat")}
    login = {
        "identity": {"methods": ["password"], "password": {"user": user}},
        "scope": {"OS-TRUST:trust": {"id": made["id"]}},
    }
    zaqar.token = served.call("POST", tokens, {"auth": login}).headers["x-subject-token"]
    answer = zaqar.call("POST", "/queues/orders/subscriptions", {"subscriber": "trust+http://127.0.0.1:9/"})
    assert answer.status == status, answer.content
