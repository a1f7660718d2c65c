"""Tenants that keep the threads of the API busy, and what is left to others."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from stoker.api.auth import identified
from stoker.api.server import Server
from stoker.api.serving.shares import CallerShares, Share, address_share, credential_of
from stoker.api.serving.workers import Workers

THREADS = 8


class Held:
    """Jobs that run until they are released."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._changed = threading.Condition()
        self.running: dict[str, int] = {}
        self._released: dict[str, int] = {}

    def submit(self, share: str, count: int) -> None:
        for _ in range(count):
            self._workers.submit(Share(True, share), lambda: self._hold(share))

    def _hold(self, share: str) -> None:
        with self._changed:
            self.running[share] = self.running.get(share, 0) + 1
            self._changed.notify_all()
            assert self._changed.wait_for(lambda: self._released.get(share, 0) > 0, 30)
            self._released[share] -= 1
            self.running[share] -= 1
            self._changed.notify_all()

    def release(self, share: str, count: int) -> None:
        with self._changed:
            self._released[share] = self._released.get(share, 0) + count
            self._changed.notify_all()

    def reach(self, share: str, count: int) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: self.running.get(share, 0) == count, 10), self.running


def test_two_projects_with_slow_requests_leave_a_thread_to_a_third() -> None:
    """Two projects together hold all threads of the API while the engine answers slowly."""
    workers = Workers(THREADS)
    held = Held(workers)
    held.submit("hostile", 50)
    held.reach("hostile", 6)
    held.submit("accomplice", 50)
    held.reach("accomplice", 1)
    answered = threading.Event()
    workers.submit(Share(True, "neighbour"), answered.set)
    assert answered.wait(10)
    assert (held.running["hostile"], held.running["accomplice"]) == (6, 1)
    for share in ("hostile", "accomplice"):
        held.release(share, 50)
    assert workers.stop(30)


@pytest.mark.parametrize("projects", [2, 3, 5])
def test_a_thread_that_becomes_free_goes_to_the_project_that_has_fewest(projects: int) -> None:
    """Several projects hold all threads, and send on without end."""
    workers = Workers(THREADS)
    held = Held(workers)
    names = [f"hostile{number}" for number in range(projects)]
    held.submit(names[0], 100)
    held.reach(names[0], 6)
    for name in names[1:]:
        held.submit(name, 100)
    answered = threading.Event()
    workers.submit(Share(True, "neighbour"), answered.set)
    held.release(names[0], 3)
    assert answered.wait(10)
    for name in names:
        held.release(name, 100)
    assert workers.stop(30)


def test_single_active_project_regains_all_threads() -> None:
    """One project keeps the share of others small indefinitely by having been there at the same time."""
    workers = Workers(THREADS)
    held = Held(workers)
    held.submit("one", 20)
    held.reach("one", 6)
    held.submit("other", 1)
    held.reach("other", 1)
    held.release("one", 2)
    held.reach("one", 4)
    held.release("other", 1)
    held.reach("one", 6)
    held.release("one", 20)
    assert workers.stop(30)


def test_a_project_with_large_answers_has_two_threads_until_they_are_small() -> None:
    """Requests whose answers are large take the memory of all threads at once."""
    workers = Workers(THREADS)
    held = Held(workers)
    large = Share(True, "large")
    workers.answered(large, 400_000)
    workers.answered(Share(True, "other"), 1_000)
    held.submit("large", 10)
    held.reach("large", 2)
    held.submit("other", 10)
    held.reach("other", 3)
    assert held.running["large"] == 2
    for _ in range(2):
        workers.answered(large, 1_000)
    held.release("other", 10)
    held.reach("other", 0)
    held.reach("large", 6)
    held.release("large", 10)
    assert workers.stop(30)


def test_unauthenticated_clients_share_a_quarter_of_the_threads() -> None:
    """Clients without a valid token, each from an address of its own, hold all threads of the API."""
    workers = Workers(THREADS)
    held = Held(workers)
    for number in range(50):
        workers.submit(address_share(f"192.0.2.{number}"), lambda: held._hold("strangers"))
    held.reach("strangers", 2)
    held.submit("known", 50)
    held.reach("known", 3)
    answered = threading.Event()
    workers.submit(Share(True, "neighbour"), answered.set)
    assert answered.wait(10)
    assert held.running["strangers"] == 2
    held.release("known", 50)
    held.release("strangers", 50)
    assert workers.stop(30)


@pytest.mark.parametrize("size", [1, 2])
def test_unauthenticated_and_authenticated_clients_alternate(size: int) -> None:
    """Strangers send so many requests that one thread never comes to those with a token."""
    workers = Workers(size)
    held = Held(workers)
    workers.submit(address_share("192.0.2.1"), lambda: held._hold("strangers"))
    held.reach("strangers", 1)
    order: list[str] = []
    for _ in range(3):
        workers.submit(address_share("192.0.2.1"), lambda: order.append("stranger"))
        workers.submit(address_share("192.0.2.2"), lambda: order.append("stranger"))
    done = threading.Event()
    workers.submit(Share(True, "known"), lambda: order.append("known"))
    workers.submit(Share(True, "known"), done.set)
    held.release("strangers", 1)
    assert done.wait(10)
    assert workers.stop(30)
    assert "known" in order[:2]


class Slow:
    """An application that is asked with the project as its token, and whose requests end when they are released.

    One without a known token is checked as long as the others work.
    """

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.inside: dict[str, int] = {}
        self.released = False

    def __call__(self, environ: dict[str, Any], start_response: Any) -> list[bytes]:
        token = environ.get("HTTP_X_AUTH_TOKEN", "")
        if token not in ("hostile", "neighbour"):
            self._work("strangers")
            start_response("401 Unauthorized", [])
            return []
        identified(environ, token, "u")
        if token == "hostile":
            self._work(token)
        start_response("200 OK", [])
        return [b"done"]

    def _work(self, who: str) -> None:
        with self.changed:
            self.inside[who] = self.inside.get(who, 0) + 1
            self.changed.notify_all()
            assert self.changed.wait_for(lambda: self.released, 60)
            self.inside[who] -= 1

    def reach(self, who: str, count: int) -> None:
        with self.changed:
            assert self.changed.wait_for(lambda: self.inside.get(who, 0) >= count, 20), self.inside

    def release(self) -> None:
        with self.changed:
            self.released = True
            self.changed.notify_all()


@pytest.fixture
def slow() -> Iterator[Slow]:
    application = Slow()
    yield application
    application.release()


@pytest.fixture
def server(slow: Slow) -> Iterator[Server]:
    server = Server(slow, "127.0.0.1", 0, THREADS)
    server.start()
    yield server
    slow.release()
    server.stop()


def ask(server: Server, path: str, **headers: str) -> int:
    """The status of one request on a connection of its own."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    try:
        connection.request("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        return connection.getresponse().status
    finally:
        connection.close()


@contextmanager
def flood(server: Server, slow: Slow, requests: list[tuple[str, dict[str, str]]]) -> Iterator[None]:
    """Meanwhile the requests are sent, each by a client of its own."""
    threads = [
        threading.Thread(target=ask, args=(server, path), kwargs=headers, daemon=True) for path, headers in requests
    ]
    for thread in threads:
        thread.start()
    yield
    slow.release()
    for thread in threads:
        thread.join(60)


PROJECT = "a" * 32
SPELLINGS = [
    *((f"/v1/{'%61' * number}{'a' * (32 - number)}/stacks", {}) for number in range(10)),
    *((f"/v1/{PROJECT}/stacks?AWSAccessKeyId={number}", {}) for number in range(5)),
    *((f"/v1/?AWSAccessKeyId={number}", {}) for number in range(5)),
    *((f"/v1/{number}/stacks", {}) for number in range(5)),
    *((f"/v1/{PROJECT}/stacks", {"Authorization": f"AWS4-HMAC-SHA256 Credential={number}/"}) for number in range(5)),
    *((f"/v1/{PROJECT}/stacks", {"X_Forwarded_For": f"192.0.2.{number}"}) for number in range(5)),
    *((f"/v1/{PROJECT}/stacks", {"X_Project_Id": f"{number}", "X_Tenant_Id": f"{number}"}) for number in range(5)),
    *((f"/v1/{PROJECT}/stacks", {"Cookie": f"session={number}"}) for number in range(5)),
]


@pytest.mark.parametrize("known", [False, True], ids=["new token", "known token"])
def test_request_spelling_does_not_create_new_share(server: Server, slow: Slow, known: bool) -> None:
    """A member spells each request differently, to get a share of threads for each."""
    if known:
        slow.released = True
        assert ask(server, "/", X_Auth_Token="hostile") == 200
        slow.released = False
    assert ask(server, "/", X_Auth_Token="neighbour") == 200
    requests = [(path, {"X_Auth_Token": "hostile", **headers}) for path, headers in SPELLINGS]
    with flood(server, slow, requests):
        slow.reach("hostile", 6)
        for _ in range(5):
            assert ask(server, f"/v1/{PROJECT}/stacks", X_Auth_Token="neighbour") == 200
        assert slow.inside["hostile"] == 6


def test_invalid_tokens_take_no_share_of_a_project(server: Server, slow: Slow) -> None:
    """Strangers send invalid tokens to a victim's URL, in all spellings."""
    assert ask(server, "/", X_Auth_Token="neighbour") == 200
    requests = [
        (path, {"X_Auth_Token": f"invalid {number}", **headers}) for number, (path, headers) in enumerate(SPELLINGS)
    ]
    with flood(server, slow, requests):
        slow.reach("strangers", 2)
        for _ in range(5):
            assert ask(server, f"/v1/{PROJECT}/stacks", X_Auth_Token="neighbour") == 200
        assert slow.inside["strangers"] == 2


def test_a_refused_token_is_forgotten(server: Server, slow: Slow) -> None:
    """A token that was valid once still uses the project's share."""
    token = credential_of([(b"x-auth-token", b"hostile")])
    slow.released = True
    assert ask(server, "/", X_Auth_Token="hostile") == 200
    callers = server._state.callers
    assert callers.of(token) == Share(True, "project hostile")
    other = credential_of([(b"x-auth-token", b"revoked")])
    callers.remember(other, Share(True, "project hostile"))
    assert ask(server, "/", X_Auth_Token="revoked") == 401
    assert (callers.of(other), callers.of(token)) == (None, Share(True, "project hostile"))


def test_one_user_cannot_evict_the_tokens_of_others() -> None:
    """A member with very many valid tokens makes the server forget those of others."""
    callers, hostile, neighbour = CallerShares(limit=100), Share(True, "hostile"), Share(True, "neighbour")
    for number in range(10):
        callers.remember(b"neighbour %d" % number, neighbour)
    for number in range(1_000):
        callers.remember(b"hostile %d" % number, hostile)
    assert [callers.of(b"neighbour %d" % number) for number in range(10)] == [neighbour] * 10
    assert sum(callers.of(b"hostile %d" % number) is not None for number in range(1_000)) == 90


def test_an_ipv6_network_counts_as_one_client() -> None:
    """A client with 2**64 addresses gets a share for each."""
    assert address_share("2001:db8::1") == address_share("2001:db8::ffff:1%eth0") != address_share("2001:db8:0:1::1")
    assert address_share("192.0.2.1") != address_share("192.0.2.2")
