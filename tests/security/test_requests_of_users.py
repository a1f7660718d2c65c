"""Requests that a user has the emulated cloud send: by workflows, alarms and subscriptions of queues."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from uuid import uuid4

import pytest

from openstack_emulator.core import outgoing, posting
from openstack_emulator.core.guests.driver import NoGuests
from openstack_emulator.core.guests.selection import Selection
from openstack_emulator.core.outgoing import PermittedAddresses, RequestSender, SendFailed
from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud

SERVICES = ("workflow", "alarming", "messaging", "metric")


class Private:
    """A service of this machine, which nobody but its users can reach; it notes what it is asked."""

    def __init__(self, status: int = 200, headers: dict[str, str] | None = None) -> None:
        self.asked: list[str] = []
        self.arrived = threading.Event()
        private = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                private.asked.append(f"{self.command} {self.path}")
                self.send_response(status)
                for name, value in (headers or {}).items():
                    self.send_header(name, value)
                self.send_header("Content-Length", "7")
                self.end_headers()
                self.wfile.write(b"private")
                private.arrived.set()

            do_GET = do_POST = answer  # noqa: N815  the names that the class calls

            def log_message(self, *arguments: Any) -> None:
                """Print nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]

    def __enter__(self) -> Private:
        threading.Thread(target=self.server.serve_forever, args=[0.02], daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def private() -> Iterator[Private]:
    with Private() as service:
        yield service


@contextmanager
def cloud(guests: bool = True, **options: Any) -> Iterator[ServedCloud]:
    """A cloud whose servers have guests, as far as it knows, or have none."""
    driver = NoGuests(Selection("namespace" if guests else "none"))
    with ServedCloud(new_cloud(SERVICES, guests=driver, **options)) as served:
        yield served


def workflow(served: ServedCloud, url: str, **given: Any) -> str:
    """What the action `std.http` gives for a URL."""
    body = {"name": "std.http", "input": {"url": url, **given}}
    answer = served.call("POST", "/workflow/v2/action_executions", body, served.token("demo", "demo"))
    assert answer.status == 201, answer.content
    return str(json.loads(answer.json["output"])["result"])


def alarm(served: ServedCloud, url: str) -> None:
    """Have an alarm call a URL."""
    body = {"name": f"a-{uuid4()}", "type": "event", "event_rule": {}, "alarm_actions": [url]}
    token = served.token("demo", "demo")
    key = served.call("POST", "/alarming/v2/alarms", body, token).json["alarm_id"]
    assert served.call("PUT", f"/alarming/v2/alarms/{key}/state", b'"alarm"', token).status == 200


def subscription(served: ServedCloud, url: str) -> None:
    """Have a queue deliver a message to a URL."""
    token, queue, client = served.token("demo", "demo"), f"/messaging/v2/queues/{uuid4()}", {"Client-ID": str(uuid4())}
    made = served.call("POST", f"{queue}/subscriptions", {"subscriber": url}, token, client)
    assert made.status == 201, made.content
    served.call("POST", f"{queue}/messages", {"messages": [{"body": 1, "ttl": 300}]}, token, client)


WAYS: list[Callable[[ServedCloud, str], Any]] = [workflow, alarm, subscription]


def sent(served: ServedCloud, way: Callable[[ServedCloud, str], Any], url: str) -> None:
    """Have a URL called, and wait until it has been or not: deliveries are made in their order."""
    way(served, url)
    with Private() as end:
        extra = served.cloud.extra_endpoints
        extra["end"] = f"http://127.0.0.1:{end.port}"
        way(served, f"http://127.0.0.1:{end.port}/")
        assert end.arrived.wait(30), "the delivery continues"
        del extra["end"]


@pytest.mark.parametrize("way", WAYS)
def test_services_of_this_machine(way: Callable[[ServedCloud, str], Any], private: Private) -> None:
    """A user of a cloud with guests calls a service of this machine, under the names that its address has."""
    names = (
        "127.0.0.1",
        "localhost",
        "127.0.0.2",
        "127.1",
        "0x7f000001",
        "0.0.0.0",
        "[::ffff:127.0.0.1]",
        "[::1]",
        "[::]",
    )
    with cloud() as served:
        for name in names:
            sent(served, way, f"http://{name}:{private.port}/")
    assert private.asked == []


@pytest.mark.parametrize("way", WAYS)
def test_services_of_this_machine_by_redirect(way: Callable[[ServedCloud, str], Any], private: Private) -> None:
    """A host that may be reached redirects to a service of this machine."""
    with Private(307, {"Location": f"http://127.0.0.1:{private.port}/"}) as other, cloud() as served:
        served.cloud.extra_endpoints["other"] = f"http://127.0.0.1:{other.port}"
        sent(served, way, f"http://127.0.0.1:{other.port}/")
        assert len(other.asked) == 1
    assert private.asked == []


@pytest.mark.parametrize("guests", [True, False])
def test_the_control_api(guests: bool) -> None:
    """A user asks for the objects of all projects, and sets a fault rule, by way of the cloud's own requests."""
    fault = {"on": "GET /identity/v3", "do": "fail"}
    paths = ("/control/objects", "//control/objects", "/%63ontrol/objects", "/identity/../control/objects")
    with cloud(guests) as served:
        for path in paths:
            assert "loopback only" in (output := workflow(served, served.url + path)) or "404" in output, output
        assert "loopback only" in workflow(served, f"{served.url}/control/faults", method="POST", json=fault)
        for way in (alarm, subscription):
            sent(served, way, f"{served.url}/control/evaluations")
        assert "200" in workflow(served, f"{served.url}/identity/v3"), "services are reached"
        assert served.call("GET", "/control/faults").json == {"faults": []}


def test_a_second_request_in_the_first_one(private: Private) -> None:
    """A user adds headers and a body, a method or a path that contain a further request."""
    hidden = "GET /control/objects HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with cloud() as served:
        url = f"{served.url}/identity/v3"
        for headers in (
            {"Content-Length": "0"},
            {"Transfer-Encoding": "chunked"},
            {"content-length": "0", "Connection": "x"},
        ):
            output = workflow(served, url, method="POST", body=hidden, headers=headers)
            assert "objects" not in output.replace("/control/objects", "")
        for more in (
            {"method": f"GET /control/objects HTTP/1.1\r\n{hidden}"},
            {"headers": {"X": f"y\r\n\r\n{hidden}"}},
        ):
            assert "Failed to send" in workflow(served, url, **more)
        journal = served.call("GET", "/control/journal").json["requests"]
        assert not [one for one in journal if one["path"].startswith("/control")]


def test_addresses_that_the_operator_permits_are_reached(private: Private) -> None:
    """A user calls the one service of this machine that the operator has permitted, and its neighbour."""
    with Private() as other, cloud(permitted=[PermittedAddresses.parse(f"127.0.0.1:{private.port}")]) as served:
        for place, expected in ((private, "private"), (other, "may have requests sent to")):
            assert expected in workflow(served, f"http://127.0.0.1:{place.port}/")
            for way in (alarm, subscription):
                sent(served, way, f"http://127.0.0.1:{place.port}/{way.__name__}")
        assert other.asked == []
    assert private.asked == ["GET /", "POST /alarm", "POST /subscription"]


def test_a_cloud_without_guests_reaches_this_machine(private: Private) -> None:
    """A workflow, an alarm and a subscription of a cloud without guests call a service of this machine."""
    with cloud(guests=False) as served:
        assert "private" in workflow(served, f"http://127.0.0.1:{private.port}/")
        for way in (alarm, subscription):
            sent(served, way, f"http://localhost:{private.port}/{way.__name__}")
    assert private.asked == ["GET /", "POST /alarm", "POST /subscription"]


PUBLIC, OWN = "93.184.216.34", ["http://127.0.0.1:5000", "http://localhost:8004/v1/%(project_id)s"]


@pytest.mark.parametrize(
    ("address", "guarded", "expected"),
    [
        *(
            (address, True, False)
            for address in ("10.0.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "fd00::1")
        ),
        *((address, True, False) for address in ("::ffff:10.0.0.1", "64:ff9b::a00:1", "fe80::1%1", "224.0.0.1")),
        (PUBLIC, True, True),
        ("10.0.0.1", False, True),
    ],
)
def test_addresses_of_the_network(address: str, guarded: bool, expected: bool) -> None:
    """A user has a delivery made to an address of the network that this machine is in."""
    sending = RequestSender(lambda: OWN, guarded)
    assert (sending._place((address, 80), True) is not None) is expected
    assert sending._place((address, 80), False) is None, "workflows reach this machine only"


def test_guests_reach_the_cloud_at_its_public_address() -> None:
    """A user names the cloud before it serves users' requests, and other ports of its address."""
    sending = RequestSender(lambda: OWN, True)
    assert sending._place(("127.0.0.1", 5000), True) is None
    sending.listening_address = ("127.0.0.1", 5999)
    assert sending._place(("127.0.0.1", 5000), True) == ("127.0.0.1", 5999)
    assert [sending._place((host, 8004), True) for host in ("127.0.0.1", "::1")] == [("127.0.0.1", 8004), ("::1", 8004)]
    assert sending._place(("127.0.0.1", 8005), True) is None


def test_a_server_that_answers_without_end() -> None:
    """A web hook answers one byte after the other, to keep the deliveries of others waiting."""
    over = threading.Event()

    def drip() -> None:
        with suppress(OSError), listener.accept()[0] as peer:
            while not over.wait(0.02):
                peer.sendall(b"H")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        dripping = threading.Thread(target=drip)
        dripping.start()
        with pytest.raises(SendFailed):
            RequestSender(lambda: OWN, False).send(
                f"http://127.0.0.1:{listener.getsockname()[1]}/", "POST", b"x", {}, 0.3
            )
        over.set()
        dripping.join()


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:80x/", "http://[::1/", "http:///x", "http://a b/", "http://\x00/", "http://é.é../"]
)
def test_invalid_addresses(url: str) -> None:
    """A web hook is no valid URL: the thread of the deliveries must not end of it."""
    with pytest.raises(SendFailed):
        RequestSender(lambda: OWN, False).send(url, "POST", b"", {}, 1)
    with cloud() as served:
        poster = posting.Poster("test", served.cloud.request_sender)
        poster.post(url, b"", {})
        with Private() as end:
            served.cloud.extra_endpoints["end"] = f"http://127.0.0.1:{end.port}"
            poster.post(f"http://127.0.0.1:{end.port}/", b"", {})
            assert end.arrived.wait(30)


@pytest.mark.parametrize(
    "text", ["", "localhost", "10.0.0.0/33", "127.0.0.1:0", "127.0.0.1:x", "::1:99999", "127.0.0.1:"]
)
def test_invalid_permissions(text: str) -> None:
    """The operator's permission is not an address, so that it could permit more than is meant."""
    with pytest.raises(ValueError, match="is not an address or a network"):
        PermittedAddresses.parse(text)


def test_permissions() -> None:
    """Addresses and networks of both IP versions, with a port and without."""
    assert PermittedAddresses.parse("10.0.0.0/8").contains(("10.1.2.3", 99))
    assert PermittedAddresses.parse("[::1]:80").contains(("::1", 80))
    assert not PermittedAddresses.parse("[::1]:80").contains(("::1", 81))
    assert PermittedAddresses.parse("[fd00::]/8:80").contains(("fd12::1", 80))
    assert PermittedAddresses.parse("::1").contains(("::1", 1))
    assert outgoing.LARGEST_ANSWER <= 1 << 20
