"""A cloud with real guests for tests: they have the programs of this machine."""

from __future__ import annotations

import base64
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from openstack_emulator.core.guests.driver import GuestsUnavailable
from openstack_emulator.core.guests.selection import Selection
from openstack_emulator.guests.choices import guest_driver
from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud

from .conftest import Nova

PRIVATE_UMASK = 0o077
"""That of the processes in which clouds run."""


class RealNova(Nova):
    """The compute service in a cloud on the real clock."""

    def wait(self, seconds: float = 2) -> None:
        pass

    def until(self, what: Callable[[], bool], seconds: float = 20) -> None:
        end = time.monotonic() + seconds
        while not what():
            assert time.monotonic() < end, "This did not happen in time."
            time.sleep(0.02)

    def console(self, key: str) -> str:
        answer = self.act(key, "os-getConsoleOutput", {})
        return str(answer.json["output"]) if answer.status == 200 else ""

    def script(self, *lines: str) -> str:
        """A new server that runs a script at its first boot; when the script has ended."""
        text = "\n".join(("#!/bin/sh", *lines, "echo END OF SCRIPT", ""))
        key = self.boot(user_data=base64.b64encode(text.encode()).decode(), hostname="web")
        self.until(lambda: "END OF SCRIPT" in self.console(key) or self.status(key) == "ERROR")
        return key


@contextmanager
def guest_cloud() -> Iterator[RealNova]:
    """A cloud in which guests run; the test is skipped, with the reason, where they cannot."""
    if not Path("/usr/bin/python3").exists():
        pytest.skip("The guests need /usr/bin/python3.")
    try:
        driver = guest_driver(Selection("namespace"), "host")
    except GuestsUnavailable as error:
        pytest.skip(str(error))
    before = os.umask(PRIVATE_UMASK)
    try:
        with ServedCloud(new_cloud(pace=0.1, guests=driver)) as served:
            nova = RealNova(served)
            nova.call("GET", "/servers")  # the first request opens the guests; the command does it at its start
            yield nova
    finally:
        os.umask(before)


SERVE = """
import socket, sys, threading
def serve(port):
    listener = socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True)
    while True:
        peer, (address, *_) = listener.accept()
        address = address.removeprefix("::ffff:")
        peer.sendall(f"HTTP/1.0 200 OK\\r\\n\\r\\nweb {address}\\n".encode())
        peer.close()
for port in map(int, sys.argv[1:]):
    threading.Thread(target=serve, args=[port]).start()
print("SERVING", flush=True)
"""
TRY = """
import socket, sys
for place in sys.argv[1:]:
    address, _, port = place.rpartition(":")
    try:
        with socket.create_connection((address, int(port)), 1) as one:
            words = one.recv(100).split() or [b"closed"]
            print("TRIED", place, words[-1].decode())
    except OSError as error:
        print("TRIED", place, type(error).__name__)
"""
"""Prints the address that each server has seen."""
ASK_METADATA = """
import http.client, json, sys
for source in sys.argv[1:]:
    try:
        asking = http.client.HTTPConnection("169.254.169.254", timeout=2, source_address=(source, 0))
        asking.request("GET", "/openstack/latest/meta_data.json")
        answer = asking.getresponse()
        print("ASKED", source, json.load(answer)["uuid"] if answer.status == 200 else answer.status)
    except OSError as error:
        print("ASKED", source, type(error).__name__)
"""
"""Prints the ID that the metadata service gives at requests from addresses."""


def neutron(cloud: RealNova, method: str, path: str, body: Any = None) -> Any:
    """Call the network service, and return the object of its answer."""
    answer = cloud.other(method, f"/network/v2.0{path}", body)
    assert answer.status < 300, answer.content
    return next(iter(answer.json.values())) if answer.content else None


def program(text: str, *arguments: object) -> str:
    """A line of a script that runs a program in Python."""
    encoded = base64.b64encode(text.encode()).decode()
    words = " ".join(map(str, arguments))
    return f"echo {encoded} | base64 -d >/tmp/p$$.py; /usr/bin/python3 -I /tmp/p$$.py {words}"


def boot(cloud: RealNova, *lines: str, **fields: Any) -> str:
    """A new server that runs a script."""
    text = "\n".join(("#!/bin/sh", *lines, "echo END OF SCRIPT", ""))
    return cloud.boot(user_data=base64.b64encode(text.encode()).decode(), **fields)


def ended(cloud: RealNova, key: str) -> str:
    """The console of a server when its script has ended."""
    cloud.until(lambda: "END OF SCRIPT" in cloud.console(key) or cloud.status(key) == "ERROR")
    return cloud.console(key)


def delete_servers(cloud: RealNova) -> None:
    """Delete all servers, and wait until they are gone."""
    for server in cloud.call("GET", "/servers").json["servers"]:
        cloud.call("DELETE", f"/servers/{server['id']}")
    cloud.until(lambda: not cloud.call("GET", "/servers").json["servers"])


def tried(cloud: RealNova, *places: str, **fields: Any) -> dict[str, str]:
    """What a new guest sees at addresses and ports."""
    shown = ended(cloud, boot(cloud, program(TRY, *places), **fields))
    return dict(line.split()[1:] for line in shown.splitlines() if line.startswith("TRIED"))


def asked(console: str) -> dict[str, str]:
    """What a guest that has run `ASK_METADATA` was answered at each of its addresses."""
    return dict(line.split()[1:] for line in console.splitlines() if line.startswith("ASKED"))


def web(cloud: RealNova, *ports: int, **fields: Any) -> tuple[str, str]:
    """A new server whose guest serves on ports, and its address."""
    key = boot(cloud, program(SERVE, *ports) + " &", **fields)
    cloud.until(lambda: "SERVING" in cloud.console(key))
    return key, address_of(cloud, key)


def address_of(cloud: RealNova, key: str) -> str:
    return str(next(iter(cloud.server(key)["addresses"].values()))[0]["addr"])


def group(cloud: RealNova, **rule: Any) -> str:
    """A new security group with an ingress rule."""
    key = str(neutron(cloud, "POST", "/security-groups", {"security_group": {"name": "g"}})["id"])
    permit(cloud, key, **rule)
    return key


def permit(cloud: RealNova, key: str, **rule: Any) -> str:
    body = {"security_group_id": key, "direction": "ingress", "ethertype": "IPv4", "protocol": "tcp", **rule}
    return str(neutron(cloud, "POST", "/security-group-rules", {"security_group_rule": body})["id"])


def subnetwork(cloud: RealNova, cidr: str, **subnet: Any) -> tuple[str, str]:
    """A new network with a subnet; their IDs."""
    network = neutron(cloud, "POST", "/networks", {"network": {"name": "n"}})["id"]
    body = {"network_id": network, "cidr": cidr, "ip_version": 4, **subnet}
    return str(network), str(neutron(cloud, "POST", "/subnets", {"subnet": body})["id"])


class Octavia:
    """The load-balancer service in a cloud on the real clock."""

    def __init__(self, cloud: RealNova) -> None:
        self._cloud = cloud

    def call(self, method: str, path: str, body: Any = None) -> Any:
        answer = self._cloud.other(method, f"/load-balancer/v2/lbaas{path}", body)
        assert answer.status < 300, answer.content
        return next(iter(answer.json.values())) if answer.content else None

    def make(self, path: str, kind: str, balancer: str, **fields: Any) -> str:
        key = str(self.call("POST", path, {kind: fields})["id"])
        self.settled(balancer or key)
        return key

    def settled(self, balancer: str) -> None:
        place = f"/loadbalancers/{balancer}"
        self._cloud.until(lambda: self.call("GET", place)["provisioning_status"] == "ACTIVE")

    def health(self, pool: str) -> list[str]:
        return sorted(member["operating_status"] for member in self.call("GET", f"/pools/{pool}/members"))
