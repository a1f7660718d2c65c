"""Queues, messages, subscriptions and signed URLs over HTTP."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any
from uuid import uuid4

import pytest

from openstack_emulator.testing import Answer, ServedCloud

PATCH = {"Content-Type": "application/openstack-messaging-v2.0-json-patch"}


class Zaqar:
    """A client of the messaging service."""

    def __init__(self, served: ServedCloud, user: str = "demo") -> None:
        self.served = served
        self.token: str | None = served.token(user, user)
        self.headers = {"Client-ID": str(uuid4())}

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        return self.served.call(method, f"/messaging/v2{path}", body, self.token, {**self.headers, **headers})

    def post(self, queue: str, *bodies: Any, ttl: int = 300) -> list[str]:
        messages = [{"body": body, "ttl": ttl} for body in bodies]
        answer = self.call("POST", f"/queues/{queue}/messages", {"messages": messages})
        assert answer.status == 201, answer.content
        return [path.rpartition("/")[2] for path in answer.json["resources"]]


@pytest.fixture
def zaqar(served: ServedCloud) -> Zaqar:
    return Zaqar(served)


def bodies(answer: Answer) -> list[Any]:
    return [message["body"] for message in answer.json["messages"]]


def test_queues_and_their_metadata(zaqar: Zaqar) -> None:
    assert zaqar.call("PUT", "/queues/orders", {"colour": "blue"}).status == 201
    assert zaqar.call("PUT", "/queues/orders").status == 204
    shown = zaqar.call("GET", "/queues/orders").json
    assert (shown["colour"], shown["_default_message_ttl"]) == ("blue", 3600)
    changes = [
        {"op": "replace", "path": "/metadata/colour", "value": "red"},
        {"op": "add", "path": "/metadata/size", "value": 3},
    ]
    assert zaqar.call("PATCH", "/queues/orders", changes, **PATCH).json["colour"] == "red"
    gone = zaqar.call("PATCH", "/queues/orders", [{"op": "remove", "path": "/metadata/nothing"}], **PATCH)
    assert (gone.status, set(gone.json)) == (409, {"title", "description"})
    zaqar.call("PUT", "/queues/another")
    assert [queue["name"] for queue in zaqar.call("GET", "/queues").json["queues"]] == ["another", "orders"]
    wrong = [{"op": "add", "path": "/metadata/_max_claim_count", "value": "red"}]
    refused = zaqar.call("PATCH", "/queues/orders", wrong, **PATCH)
    assert refused.status == 400, "the value is no integer"
    assert zaqar.call("DELETE", "/queues/orders").status == 204
    assert zaqar.call("DELETE", "/queues/orders").status == 204
    assert "colour" not in zaqar.call("GET", "/queues/orders").json
    assert zaqar.call("PATCH", "/queues/orders", changes, **PATCH).status == 404


def test_messages_come_in_order_and_are_popped_once(served: ServedCloud, zaqar: Zaqar) -> None:
    identifiers = zaqar.post("orders", 1, {"two": 2}, "three")
    assert zaqar.call("GET", "/queues/orders/messages").json["messages"] == [], "one's own are left out"
    assert bodies(zaqar.call("GET", "/queues/orders/messages?echo=true")) == [1, {"two": 2}, "three"]
    other = Zaqar(served)
    first = other.call("GET", "/queues/orders/messages?limit=2")
    assert bodies(first) == [1, {"two": 2}]
    following = first.json["links"][0]["href"].removeprefix("/v2")
    assert other.call("DELETE", f"/queues/orders/messages/{identifiers[1]}").status == 204
    assert bodies(other.call("GET", following)) == ["three"]
    assert bodies(other.call("DELETE", "/queues/orders/messages?pop=20")) == [1, "three"]
    assert other.call("DELETE", "/queues/orders/messages?pop=1").json == {"messages": []}
    assert other.call("GET", f"/queues/orders/messages/{identifiers[0]}").status == 404


def test_a_queue_limits_the_size_of_messages(zaqar: Zaqar) -> None:
    zaqar.call("PUT", "/queues/orders", {"_max_messages_post_size": 100})
    too_large = {"messages": [{"body": "x" * 100, "ttl": 300}]}
    assert zaqar.call("POST", "/queues/orders/messages", too_large).status == 400
    assert zaqar.post("orders", "x")


def test_messages_expire(served: ServedCloud, zaqar: Zaqar) -> None:
    zaqar.post("orders", "brief", ttl=60)
    zaqar.post("orders", "longer", ttl=600)
    served.advance(61)
    (message,) = zaqar.call("GET", "/queues/orders/messages?echo=true").json["messages"]
    assert (message["body"], message["age"]) == ("longer", 61)


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", "/queues/not%20good", {}),
        ("PUT", "/queues/orders", {"_default_message_delay": 901}),
        ("PUT", "/queues/orders", {"_default_message_ttl": None}),
        ("PUT", "/queues/orders", {"_max_claim_count": 0}),
        ("PUT", "/queues/orders", {"_enable_encrypt_messages": "no"}),
        ("POST", "/queues/orders/messages", {"messages": {}}),
        ("DELETE", "/queues/orders/messages?pop=one", None),
        ("DELETE", "/queues/orders/messages?pop=1&ids=1", None),
        ("POST", "/queues/orders/share", {"methods": [7]}),
        ("POST", "/queues/orders/messages", {"messages": []}),
        ("POST", "/queues/orders/messages", {"messages": [{"ttl": 300}]}),
        ("POST", "/queues/orders/messages", {"messages": [{"body": 1, "ttl": 1}]}),
        ("POST", "/queues/orders/messages", {"messages": [{"body": 1}] * 21}),
        ("DELETE", "/queues/orders/messages", None),
        ("DELETE", "/queues/orders/messages?pop=0", None),
        ("POST", "/queues/orders/subscriptions", {"subscriber": "gopher://x"}),
        ("POST", "/queues/orders/subscriptions", {"subscriber": "http://x", "ttl": 5}),
        ("POST", "/queues/orders/share", {"paths": ["secrets"]}),
        ("POST", "/queues/orders/share", {"expires": "yesterday"}),
    ],
)
def test_contradictory_requests_are_refused(zaqar: Zaqar, method: str, path: str, body: Any) -> None:
    answer = zaqar.call(method, path, body)
    assert (answer.status, set(answer.json)) == (400, {"title", "description"})


def test_clients_must_name_themselves_and_log_in(served: ServedCloud, zaqar: Zaqar) -> None:
    zaqar.headers = {}
    assert zaqar.call("GET", "/queues").status == 400
    nobody = Zaqar(served)
    nobody.token = None
    assert nobody.call("GET", "/queues").status == 401


def test_projects_have_queues_of_their_own(served: ServedCloud, zaqar: Zaqar) -> None:
    zaqar.post("orders", "ours")
    other = Zaqar(served, "admin")
    assert other.call("DELETE", "/queues/orders/messages?pop=1").json == {"messages": []}


def test_a_signed_url_permits_its_methods_until_it_expires(served: ServedCloud, zaqar: Zaqar) -> None:
    zaqar.post("orders", "one")
    shared = zaqar.call("POST", "/queues/orders/share", {"paths": ["messages"], "methods": ["GET", "DELETE"]}).json
    holder = Zaqar(served)
    holder.token = None
    holder.headers |= {
        "URL-Signature": shared["signature"],
        "URL-Expires": shared["expires"],
        "URL-Methods": ",".join(shared["methods"]),
        "URL-Paths": ",".join(shared["paths"]),
        "X-Project-Id": shared["project"],
    }
    assert bodies(holder.call("GET", "/queues/orders/messages")) == ["one"]
    assert bodies(holder.call("DELETE", "/queues/orders/messages?pop=1")) == ["one"]
    assert holder.call("POST", "/queues/orders/messages", {"messages": [{"body": 1, "ttl": 60}]}).status == 404
    assert holder.call("GET", "/queues/orders").status == 404
    assert holder.call("GET", "/queues/others/messages").status == 404
    assert holder.call("POST", "/queues/orders/share", {}).status == 401, "signing takes a token"
    assert holder.call("GET", "/queues/orders/messages", **{"URL-Methods": "GET,POST,DELETE"}).status == 404
    served.advance(2 * 86400)
    assert holder.call("GET", "/queues/orders/messages").status == 404


# -- subscriptions ---------------------------------------------------------------------------------------------


class Hook:
    """A web server that keeps what is posted to it."""

    def __init__(self) -> None:
        self.got: list[Any] = []
        self.arrived = threading.Semaphore(0)
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                hook.got.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(204)
                self.end_headers()
                hook.arrived.release()

            def log_message(self, *arguments: Any) -> None:
                """Say nothing."""

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/hook"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def hook() -> Iterator[Hook]:
    hook = Hook()
    yield hook
    hook.stop()


def test_subscribers_get_messages_in_the_form_they_want(zaqar: Zaqar, hook: Hook) -> None:
    plain = {"subscriber": hook.url, "ttl": 600}
    formed = {"subscriber": f"{hook.url}?2", "options": {"post_data": '{"run": {"it": "$zaqar_message$"}}'}}
    for form in (plain, formed):
        assert zaqar.call("POST", "/queues/orders/subscriptions", form).status == 201
    again = zaqar.call("POST", "/queues/orders/subscriptions", plain)
    key = again.json["subscription_id"]
    assert again.headers["location"] == f"/v2/queues/orders/subscriptions/{key}"
    assert len(zaqar.call("GET", "/queues/orders/subscriptions").json["subscriptions"]) == 2
    assert zaqar.call("PUT", f"/queues/orders/subscriptions/{key}/confirm", {"confirmed": 1}).status == 400
    assert zaqar.call("PUT", f"/queues/orders/subscriptions/{key}/confirm", {"confirmed": True}).status == 204
    assert zaqar.call("POST", "/queues/orders/subscriptions", plain).status == 409
    zaqar.post("orders", {"order": 7})
    for _ in range(2):
        assert hook.arrived.acquire(timeout=30)
    first, second = sorted(hook.got, key=len, reverse=True)
    assert (first["body"], first["queue_name"]) == ({"order": 7}, "orders")
    assert second["run"]["it"]["body"] == {"order": 7}


def test_the_life_of_a_subscription(served: ServedCloud, zaqar: Zaqar) -> None:
    made = zaqar.call("POST", "/queues/orders/subscriptions", {"subscriber": "mailto:us@example.org", "ttl": 600}).json
    path = f"/queues/orders/subscriptions/{made['subscription_id']}"
    shown = zaqar.call("GET", path).json
    assert (shown["subscriber"], shown["source"], shown["ttl"]) == ("mailto:us@example.org", "orders", 600)
    assert zaqar.call("PATCH", path, {"ttl": 1200, "options": {"subject": "x"}}).status == 204
    (listed,) = zaqar.call("GET", "/queues/orders/subscriptions").json["subscriptions"]
    assert (listed["ttl"], listed["options"]) == (1200, {"subject": "x"})
    served.advance(1300)
    assert zaqar.call("GET", path).status == 404
    assert zaqar.call("DELETE", path).status == 204
