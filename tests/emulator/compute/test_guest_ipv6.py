"""IPv6 addresses of guests that configure themselves: router advertisements and DHCPv6, with real packets."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest

from openstack_emulator.core.guests.topology import Lease6
from openstack_emulator.guests import dhcp6

from .guest_cloud import RealNova, boot, ended, guest_cloud, neutron, program, subnetwork

FORGET = "ip -6 address flush dev eth0 scope global; ip -6 route flush dev eth0"
FOLLOW = "echo 1 >/proc/sys/net/ipv6/conf/eth0/accept_ra; ip link set eth0 down; ip link set eth0 up"
LISTEN = """
import socket
raw = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
raw.settimeout(1)
eth = socket.if_nametoindex("eth0")
raw.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, 255)
raw.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVHOPLIMIT, 1)
while True:
    try:
        raw.sendto(bytes([133, 0, 0, 0, 0, 0, 0, 0]), ("ff02::2", 0, 0, eth))
        while (got := raw.recvmsg(2000, 100))[0][0] != 134:
            pass
        break
    except OSError:
        pass
data, hops, at, options = got[0], got[1][0][2][0], 16, {}
print("FROM", got[3][0][:6], "HOPS", hops, "FLAGS", data[5] >> 6, flush=True)
while at < len(data):
    options[data[at]] = data[at : at + data[at + 1] * 8]
    at += data[at + 1] * 8
print("PREFIX", socket.inet_ntop(socket.AF_INET6, options[3][16:]), options[3][2], "OWN", options[3][3] >> 6)
print("MTU", int.from_bytes(options[5][4:]), "SERVER", socket.inet_ntop(socket.AF_INET6, options[25][8:24]))
"""
"""Asks for a router advertisement, and prints it."""
ASK = """
import os, socket, struct, time
eth = socket.if_nametoindex("eth0")
asking = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
asking.settimeout(1)
asking.bind(("::", 546))
option = lambda code, value: struct.pack("!HH", code, len(value)) + value
client = option(1, b"\\0\\4" + os.urandom(16))
def ask(kind, *options):
    head = bytes([kind]) + os.urandom(3)
    for attempt in range(10):
        try:
            asking.sendto(head + client + b"".join(options), ("ff02::1:2", 547, 0, eth))
            while (data := asking.recv(2000))[1:4] != head[1:]:
                pass
            break
        except OSError:
            time.sleep(0.2)
    found, at = {}, 4
    while at < len(data):
        code, length = struct.unpack_from("!HH", data, at)
        found[code] = data[at + 4 : at + 4 + length]
        at += 4 + length
    return data[0], found
address = lambda found: socket.inet_ntop(socket.AF_INET6, found[3][16:32])
association = option(6, bytes([0, 23])) + option(3, b"eth0" + bytes(8))
kind, offered = ask(1, association)
print("ANSWER", kind, address(offered), flush=True)
kind, given = ask(3, option(2, offered[2]), association)
print("ANSWER", kind, address(given), "SERVER", socket.inet_ntop(socket.AF_INET6, given[23]))
"""
"""Requests an address by DHCPv6, as a client does (RFC 8415, 18.2)."""


@pytest.fixture(scope="module")
def cloud() -> Iterator[RealNova]:
    with guest_cloud() as nova:
        yield nova


def routed(cloud: RealNova, prefix: str, mode: str) -> tuple[str, str]:
    """A port on a network with an IPv6 subnet, which has a router, and its IPv6 address."""
    network, _ = subnetwork(cloud, "10.9.0.0/24")
    six = {"network_id": network, "cidr": f"{prefix}/64", "ip_version": 6, "dns_nameservers": [f"{prefix}53"]}
    modes = {"ipv6_ra_mode": mode, "ipv6_address_mode": mode}
    subnet = neutron(cloud, "POST", "/subnets", {"subnet": {**six, **modes}})["id"]
    router = neutron(cloud, "POST", "/routers", {"router": {"name": "six"}})["id"]
    added = cloud.other("PUT", f"/network/v2.0/routers/{router}/add_router_interface", {"subnet_id": subnet})
    assert added.status == 200, added.content
    port = neutron(cloud, "POST", "/ports", {"port": {"network_id": network}})
    return port["id"], next(one["ip_address"] for one in port["fixed_ips"] if ":" in one["ip_address"])


@pytest.mark.guests
def test_guest_configures_slaac_address_from_router_advertisement(cloud: RealNova) -> None:
    port, address = routed(cloud, "fd00:9::", "slaac")
    key = boot(
        cloud,
        f"{FORGET}; ip -6 address show dev eth0 scope global; echo FORGOTTEN; {FOLLOW}",
        "for i in $(seq 100); do ip -6 route show default | grep -q 'proto ra' && break; sleep 0.1; done",
        "ip -6 address show dev eth0 scope global | grep -o 'inet6 [^ ]*'; ip -6 route show default",
        networks=[{"port": port}],
    )
    before, after = ended(cloud, key).split("FORGOTTEN")
    assert address not in before
    assert f"inet6 {address}/64" in after
    assert "default via fe80::" in after
    assert "proto ra" in after
    cloud.call("DELETE", f"/servers/{key}")


@pytest.mark.guests
def test_dhcpv6_assigns_addresses_in_stateful_mode(cloud: RealNova) -> None:
    port, address = routed(cloud, "fd00:a::", "dhcpv6-stateful")
    shown = ended(cloud, boot(cloud, program(LISTEN), program(ASK), networks=[{"port": port}]))
    assert "FROM fe80:: HOPS 255 FLAGS 3" in shown
    assert "PREFIX fd00:a:: 64 OWN 2" in shown, "on the link, but not for addresses of one's own"
    assert "MTU 1450 SERVER fd00:a::53" in shown
    assert f"ANSWER 2 {address}\n" in shown
    assert f"ANSWER 7 {address} SERVER fd00:a::53" in shown


@pytest.mark.guests
def test_guests_in_namespaces_do_not_follow_announcements(cloud: RealNova) -> None:
    port, _ = routed(cloud, "fd00:b::", "slaac")
    shown = ended(cloud, boot(cloud, program(LISTEN), "ip -6 route show default", networks=[{"port": port}]))
    assert "PREFIX fd00:b:: 64 OWN 3" in shown
    assert "default via fd00:b::" in shown
    assert "dev eth0 metric 100" in shown
    assert "proto ra" not in shown, "they are configured by the cloud"


# -- messages of DHCPv6 ------------------------------------------------------------------------------------------

NETWORK = str(uuid4())
SERVER = dhcp6.server_identifier(NETWORK)
LEASE = Lease6(("fd00::5",), ())
CLIENT = (dhcp6.CLIENT_ID, b"client")
OWN = (dhcp6.SERVER_ID, SERVER)
ADDRESS = bytes.fromhex("fd00") + bytes(13) + b"\5"


def message(kind: int, *options: tuple[int, bytes]) -> bytes:
    return bytes([kind]) + b"xid" + dhcp6._encoded(*options)


def answered(kind: int, *options: tuple[int, bytes], lease: Lease6 | None = LEASE) -> tuple[int, dict[int, bytes]]:
    """The kind and the options of an answer; 0 if there is none."""
    data = dhcp6.answer(message(kind, *options), SERVER, lease)
    if data is None:
        return 0, {}
    assert data[1:4] == b"xid"
    return data[0], dict(dhcp6._options(data[4:]))


def association(address: bytes = b"") -> tuple[int, bytes]:
    inner = dhcp6._encoded((dhcp6.ADDRESS, address + bytes(8))) if address else b""
    return dhcp6.ASSOCIATION, b"eth0" + bytes(8) + inner


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (dhcp6.SOLICIT, [association()]),
        (dhcp6.REQUEST, [CLIENT, association()]),
        (dhcp6.REQUEST, [CLIENT, (dhcp6.SERVER_ID, b"another"), association()]),
        (dhcp6.ADVERTISE, [CLIENT]),
        (12, [CLIENT]),
    ],
)
def test_ignored_dhcpv6_messages(kind: int, options: list[tuple[int, bytes]]) -> None:
    assert answered(kind, *options) == (0, {})


def test_dhcpv6_answers_by_message_type() -> None:
    assert answered(dhcp6.SOLICIT, CLIENT, association(), lease=None) == (0, {})
    assert dhcp6.answer(b"\1", SERVER, LEASE) is None
    for kind, more in ((dhcp6.SOLICIT, []), (dhcp6.REQUEST, [OWN]), (dhcp6.RENEW, [OWN]), (dhcp6.REBIND, [])):
        found, options = answered(kind, CLIENT, *more, association())
        assert found == (dhcp6.ADVERTISE if kind == dhcp6.SOLICIT else dhcp6.REPLY)
        assert options[dhcp6.CLIENT_ID] == b"client"
        assert options[dhcp6.SERVER_ID] == SERVER
        assert options[dhcp6.ASSOCIATION][:4] == b"eth0"
        assert ADDRESS in options[dhcp6.ASSOCIATION]
    refused = dhcp6._encoded((dhcp6.STATUS, b"\0\2"))
    without = Lease6((), ("fd00::53",))
    assert answered(dhcp6.SOLICIT, CLIENT, association(), lease=without)[1][dhcp6.ASSOCIATION].endswith(refused)
    assert answered(dhcp6.CONFIRM, CLIENT, association(ADDRESS))[1][dhcp6.STATUS] == b"\0\0"
    assert answered(dhcp6.CONFIRM, CLIENT, association(bytes(16)))[1][dhcp6.STATUS] == b"\0\4"
    assert answered(dhcp6.RELEASE, CLIENT, OWN, association(ADDRESS))[1][dhcp6.STATUS] == b"\0\0"
    assert dhcp6.NAME_SERVERS not in answered(dhcp6.INFORMATION, lease=without)[1], "they were not asked for"
    kind, options = answered(dhcp6.INFORMATION, (dhcp6.REQUESTED, bytes([0, 24, 0, 23])), lease=without)
    assert (kind, options[dhcp6.NAME_SERVERS][-1]) == (dhcp6.REPLY, 0x53)
