"""Events as a stream, over real sockets: what was, what is new, coming back, leaving, and how many may listen."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import requests

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.api.server import Server
from stoker.api.v1.event_feed import EventFeed
from stoker.base.context import RequestContext
from stoker.contract.request import Request
from stoker.rpc.dispatch import DirectClient
from stoker_foundation.clock import SystemClock
from testing.harness import ThreadedWorld, serve_rest
from testing.servers import wait_until

NESTED = {
    "heat_template_version": "2021-04-16",
    "resources": {
        "group": {
            "type": "OS::Heat::ResourceGroup",
            "properties": {"count": 1, "resource_def": {"type": "OS::Heat::RandomString"}},
        }
    },
}


@pytest.fixture(scope="module")
def served() -> Iterator[ServedCloud]:
    with ServedCloud(new_cloud(clock=SystemClock(), pace=0.02)) as served:
        _add_user(served)
        yield served


def _add_user(served: ServedCloud) -> None:
    """A user `other` with a project `other`, both as an operator makes them."""
    token = served.token("admin", "admin")

    def make(method: str, path: str, body: Any = None) -> Any:
        answer = served.call(method, f"/identity/v3{path}", body, token)
        assert answer.status < 300, answer.content
        return answer.json if answer.content else None

    project = make("POST", "/projects", {"project": {"name": "other", "domain_id": "default"}})["project"]["id"]
    secret = served.cloud.password_of("other")
    user = make("POST", "/users", {"user": {"name": "other", "domain_id": "default", "password": secret}})["user"]["id"]
    (role,) = make("GET", "/roles?name=member")["roles"]
    make("PUT", f"/projects/{project}/users/{user}/roles/{role['id']}")


@pytest.fixture(scope="module")
def running(served: ServedCloud, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ThreadedWorld]:
    running = ThreadedWorld(tmp_path_factory.mktemp("engine"), served)
    yield running
    running.stop()


@pytest.fixture(scope="module")
def server(served: ServedCloud, running: ThreadedWorld, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = serve_rest(running, tmp_path_factory.mktemp("api"), streams=16, threads=24)
    yield server
    server.stop()


class Caller:
    """A user of the API."""

    def __init__(self, served: ServedCloud, server: Server, user: str) -> None:
        token = served.token(user, user)
        details = served.call("GET", "/identity/v3/auth/tokens", token=token, headers={"X-Subject-Token": token}).json
        self.base = f"{server.url}/v1/{details['token']['project']['id']}"
        self.headers = {"X-Auth-Token": token}

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> requests.Response:
        return requests.request(
            method, self.base + path, json=body, headers={**self.headers, **headers}, timeout=60, stream=True
        )

    def create(self, name: str, template: Mapping[str, Any] = NESTED) -> str:
        answer = self.send("POST", "/stacks", {"stack_name": name, "template": template})
        assert answer.status_code == 201, answer.text
        return f"/stacks/{name}/{answer.json()['stack']['id']}"

    def listen(self, stack: str, query: str = "", **headers: str) -> Stream:
        return Stream(self.send("GET", f"{stack}/events{query}", Accept="text/event-stream", **headers))


class Stream:
    """A stream of events as a client reads it."""

    def __init__(self, response: requests.Response) -> None:
        assert response.status_code == 200, response.text
        assert response.headers["Content-Type"] == "text/event-stream"
        self.response = response
        self._lines = response.iter_lines(chunk_size=1)
        self.retry: int | None = None

    def __iter__(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """The events with their ids, until the stream ends."""
        identifier = ""
        for line in self._lines:
            name, _, value = line.decode().partition(": ")
            match name:
                case "retry":
                    self.retry = int(value)
                case "id":
                    identifier = value
                case "data":
                    yield identifier, json.loads(value)

    def until(self, name: str, state: str) -> list[tuple[str, dict[str, Any]]]:
        """Return the events up to the one that reports this state."""
        found = []
        for identifier, event in self:
            found.append((identifier, event))
            if (event["resource_name"], event["resource_status"]) == (name, state):
                return found
        raise AssertionError(f"the stream ended with {found}")

    def close(self) -> None:
        self.response.close()


@pytest.fixture
def demo(served: ServedCloud, server: Server) -> Caller:
    return Caller(served, server, "demo")


def brief(events: list[tuple[str, dict[str, Any]]]) -> list[tuple[str, str]]:
    return [(event["resource_name"], event["resource_status"]) for _, event in events]


def test_changes_show_old_and_new_values(demo: Caller) -> None:
    stack = demo.create("streamed")
    stream = demo.listen(stack)
    created = stream.until("streamed", "CREATE_COMPLETE")
    listed = demo.send("GET", f"{stack}/events").json()["events"]
    assert [event for _, event in created] == listed
    assert [identifier for identifier, _ in created] == [event["id"] for event in listed]
    assert stream.retry == 2000
    demo.send("POST", f"{stack}/actions", {"suspend": None})
    assert brief(stream.until("streamed", "SUSPEND_COMPLETE")) == [
        ("streamed", "SUSPEND_IN_PROGRESS"),
        ("group", "SUSPEND_IN_PROGRESS"),
        ("group", "SUSPEND_COMPLETE"),
        ("streamed", "SUSPEND_COMPLETE"),
    ]
    stream.close()


@pytest.mark.parametrize("way", ["header", "query"])
def test_reconnected_client_resumes_after_last_event(demo: Caller, way: str) -> None:
    stack = demo.create(f"back-{way}")
    first = demo.listen(stack)
    seen = first.until(f"back-{way}", "CREATE_COMPLETE")
    first.close()
    last = seen[1][0]
    again = demo.listen(stack, f"?marker={last}") if way == "query" else demo.listen(stack, **{"Last-Event-ID": last})
    assert again.until(f"back-{way}", "CREATE_COMPLETE") == seen[2:]
    again.close()


def test_nested_stack_events_are_streamed_on_request(demo: Caller) -> None:
    stack = demo.create("deep")
    shallow, deep = demo.listen(stack), demo.listen(stack, "?nested_depth=2")
    assert {name for name, _ in brief(shallow.until("deep", "CREATE_COMPLETE"))} == {"deep", "group"}
    assert "0" in {name for name, _ in brief(deep.until("deep", "CREATE_COMPLETE"))}
    demo.send("POST", f"{stack}/actions", {"suspend": None})
    assert "0" not in {name for name, _ in brief(shallow.until("deep", "SUSPEND_COMPLETE"))}
    events = deep.until("deep", "SUSPEND_COMPLETE")
    assert "0" in {name for name, _ in brief(events)}
    assert {link["rel"] for _, event in events for link in event["links"]} >= {"root_stack"}
    for stream in (shallow, deep):
        stream.close()


def test_event_stream_is_filtered(demo: Caller) -> None:
    stack = demo.create("chosen")
    stream = demo.listen(stack, "?resource_name=chosen&resource_status=COMPLETE")
    assert brief(stream.until("chosen", "CREATE_COMPLETE")) == [("chosen", "CREATE_COMPLETE")]
    demo.send("POST", f"{stack}/actions", {"suspend": None})
    assert brief(stream.until("chosen", "SUSPEND_COMPLETE")) == [("chosen", "SUSPEND_COMPLETE")]
    stream.close()


def test_event_stream_is_refused_to_other_projects(served: ServedCloud, server: Server, demo: Caller) -> None:
    stack = demo.create("private")
    other = Caller(served, server, "other")
    answer = other.send("GET", f"{stack}/events", Accept="text/event-stream")
    assert answer.status_code == 404
    assert answer.json()["error"]["type"] == "EntityNotFound"
    assert (
        requests.get(f"{demo.base}{stack}/events", headers={"Accept": "text/event-stream"}, timeout=60).status_code
        == 401
    )
    refused = demo.send("GET", f"{stack}/events?limit=3", Accept="text/event-stream")
    assert refused.status_code == 400


def test_streams_over_the_limit_end_and_free_slots_are_reused(
    served: ServedCloud, running: ThreadedWorld, tmp_path: Path
) -> None:
    server = serve_rest(running, tmp_path, streams=1)
    demo = Caller(served, server, "demo")
    stack = demo.create("crowded")
    held = demo.listen(stack)
    held.until("crowded", "CREATE_COMPLETE")
    assert brief(list(demo.listen(stack)))[-1] == ("crowded", "CREATE_COMPLETE")
    held.close()

    def held_open() -> bool:
        """Whether a stream continues with new events."""
        stream = demo.listen(stack)
        list(itertools.islice(stream, len(demo.send("GET", f"{stack}/events").json()["events"])))
        demo.send("POST", f"{stack}/actions", {"check": None})
        return next(iter(stream), None) is not None

    wait_until(held_open, "the place is free again")
    server.stop()


def test_server_shutdown_ends_streams(served: ServedCloud, running: ThreadedWorld, tmp_path: Path) -> None:
    server = serve_rest(running, tmp_path)
    demo = Caller(served, server, "demo")
    stack = demo.create("ending")
    stream = demo.listen(stack)
    stream.until("ending", "CREATE_COMPLETE")
    stopping = threading.Thread(target=server.stop)
    stopping.start()
    assert list(stream) == []
    stopping.join()


# -- the feed ---------------------------------------------------------------------------------------------------


class Script:
    """An engine whose events become visible in the order of `rounds`, not in that of their numbers."""

    def __init__(self, rounds: list[list[int]]) -> None:
        self.rounds = rounds
        self.visible: list[int] = []
        self.begun = False

    def call(self, context: RequestContext, request: Request[Any], timeout: float = 60.0) -> Any:
        assert request.method == "event_news"
        arguments = request.arguments()
        if arguments.get("after") is None:
            return {"events": [], "last": 0, "more": False}
        if self.begun and self.rounds:
            self.visible += self.rounds.pop(0)
        found = sorted(number for number in self.visible if number > arguments["after"])
        events = [{"id": str(number), "stack_id": "s", "above": ["top"], "within": ["group"]} for number in found]
        return {"events": events, "last": found[-1] if found else arguments["after"], "more": False}


def test_events_committed_late_are_streamed_once() -> None:
    script = Script([[1], [4], [2, 3], [], [5]])
    feed = EventFeed(script, seconds=0.001)
    notified = threading.Semaphore(0)
    with (
        feed.listening("s", 0, notified.release) as listener,
        feed.listening("top", 1, notified.release) as above,
        feed.listening("top", 0, notified.release) as top,
    ):
        script.begun = True
        assert all(notified.acquire(timeout=30) for _ in range(10))
        received = [listener.next() for _ in range(5)]
        assert [above.next() for _ in range(5)] == [view and {**view, "within": ["group"]} for view in received]
        assert top.next() is None
    assert [view["id"] for view in received if view] == ["1", "4", "2", "3", "5"]
    assert all(view["within"] == [] for view in received if view)
    assert listener.next() is None


def test_streams_share_database_queries(demo: Caller, running: ThreadedWorld) -> None:
    """However many listen, one question at a time is asked, and none when the last one has left."""
    asked: list[Mapping[str, int]] = []
    gate = threading.Semaphore(0)

    class Service:
        async def dispatch(
            self,
            context: RequestContext,
            method: str,
            arguments: Mapping[str, Any],
            sender: str = "",
            seconds: float | None = None,
        ) -> Any:
            if arguments.get("after") is not None:
                asked.append(arguments["watched"])
                gate.release()
            return {"events": [], "last": 7, "more": False}

    feed = EventFeed(DirectClient(running.loop, Service()), seconds=0.01)
    with (
        feed.listening("one", 0, gate.release),
        feed.listening("one", 2, gate.release),
        feed.listening("two", 1, gate.release),
    ):
        while asked[-1:] != [{"one": 2, "two": 1}]:
            assert gate.acquire(timeout=30)
    wait_until(lambda: "event-feed" not in {thread.name for thread in threading.enumerate()}, "nobody asks any more")
