"""Networks of guests: interfaces, routers, security groups and floating IPs, with real packets."""

from __future__ import annotations

from collections.abc import Iterator
from http.client import HTTPConnection
from socket import inet_aton
from typing import Any

import pytest

from openstack_emulator.guests.forwarding import local_address, local_port
from openstack_emulator.network.rules.composition import NetworkService
from openstack_emulator.network.views.guests import TopologyView

from .guest_cloud import (
    ASK_METADATA,
    SERVE,
    TRY,
    RealNova,
    asked,
    boot,
    ended,
    group,
    guest_cloud,
    neutron,
    permit,
    program,
    subnetwork,
    tried,
    web,
)

pytestmark = pytest.mark.guests


@pytest.fixture(scope="module")
def cloud() -> Iterator[RealNova]:
    with guest_cloud() as nova:
        yield nova


def page(address: str, port: int) -> bytes:
    connection = HTTPConnection(address, port, timeout=3)
    try:
        connection.request("GET", "/")
        return connection.getresponse().read()
    except OSError:
        return b""
    finally:
        connection.close()


@pytest.mark.xdist_group("guests")
def test_security_groups_floating_ips_and_their_changes(cloud: RealNova) -> None:
    open_group = group(cloud, port_range_min=8000, port_range_max=8001, remote_ip_prefix="0.0.0.0/0")
    port = neutron(cloud, "POST", "/ports", {"port": {"network_id": cloud.network(), "security_groups": [open_group]}})
    key, address = web(cloud, 80, 8000, networks=[{"port": port["id"]}])
    seen = tried(cloud, f"{address}:8000", f"{address}:80")
    client = seen[f"{address}:8000"]
    assert client.startswith("10.0.0."), seen
    assert seen[f"{address}:80"] == "TimeoutError"

    public = neutron(cloud, "GET", "/networks?name=public")[0]["id"]
    body = {"floating_network_id": public, "port_id": port["id"]}
    floating = neutron(cloud, "POST", "/floatingips", {"floatingip": body})
    outer = local_address(floating["floating_ip_address"])
    cloud.until(lambda: page(outer, 8000) == b"web 172.24.4.1\n")
    assert page(outer, local_port(80)) == b""
    rule = permit(cloud, open_group, port_range_min=80, port_range_max=80)
    cloud.until(lambda: page(outer, local_port(80)) == b"web 172.24.4.1\n")
    through = tried(cloud, f"{floating['floating_ip_address']}:80")
    router = neutron(cloud, "GET", "/routers?name=router1")[0]["external_gateway_info"]["external_fixed_ips"][0]
    assert list(through.values()) == [router["ip_address"]], "as if it came from outside"
    neutron(cloud, "DELETE", f"/security-group-rules/{rule}")
    cloud.until(lambda: page(outer, local_port(80)) == b"")
    neutron(cloud, "PUT", f"/floatingips/{floating['id']}", {"floatingip": {"port_id": None}})
    cloud.until(lambda: page(outer, 8000) == b"")
    cloud.call("DELETE", f"/servers/{key}")


def test_remote_groups_and_networks_joined_by_a_router(cloud: RealNova) -> None:
    clients = group(cloud, port_range_min=1, port_range_max=1)
    servers = group(cloud, port_range_min=80, port_range_max=80, remote_group_id=clients)
    permit(cloud, servers, port_range_min=81, port_range_max=81, remote_ip_prefix="10.9.0.0/24")
    routes = [{"destination": "192.0.2.0/24", "nexthop": "10.9.0.9"}]
    far, subnet = subnetwork(cloud, "10.9.0.0/24", dns_nameservers=["192.0.2.53"], host_routes=routes)
    router = neutron(cloud, "GET", "/routers?name=router1")[0]["id"]
    cloud.other("PUT", f"/network/v2.0/routers/{router}/add_router_interface", {"subnet_id": subnet})

    def port(network: str, secured_by: str) -> dict[str, Any]:
        body = {"network_id": network, "security_groups": [secured_by]}
        made: dict[str, Any] = neutron(cloud, "POST", "/ports", {"port": body})
        return made

    key, address = web(cloud, 80, 81, networks=[{"port": port(cloud.network(), servers)["id"]}])
    member, stranger = port(far, clients), port(far, group(cloud, port_range_min=1, port_range_max=1))
    places = f"{address}:80", f"{address}:81"
    own = member["fixed_ips"][0]["ip_address"]
    assert list(tried(cloud, *places, networks=[{"port": member["id"]}]).values()) == [own, own]
    own = stranger["fixed_ips"][0]["ip_address"]
    settings = boot(
        cloud,
        program(TRY, *places),
        "cat /sys/class/net/eth0/address /sys/class/net/eth0/mtu /etc/resolv.conf /proc/net/route",
        networks=[{"port": stranger["id"]}],
    )
    shown = ended(cloud, settings)
    assert f"{places[0]} TimeoutError" in shown
    assert f"{places[1]} {own}" in shown
    assert f"{stranger['mac_address']}\n1450\nnameserver 192.0.2.53\n" in shown
    lines = [line.split()[:3] for line in shown.splitlines() if line.startswith("eth0")]
    assert ["eth0", "000200C0", "0900090A"] in lines, "192.0.2.0/24 by way of 10.9.0.9"
    assert ["eth0", "00000000", "0100090A"] in lines, "the gateway"
    for one in (key, settings):
        cloud.call("DELETE", f"/servers/{one}")


def test_interfaces_are_plugged_while_a_guest_runs(cloud: RealNova) -> None:
    network, _ = subnetwork(cloud, "10.0.0.0/26")  # the range of another network
    wait = "for i in $(seq 50); do {} grep -q eth1 /proc/net/route && break; sleep 0.2; done"
    key = boot(cloud, "echo READY", wait.format(""), "cat /proc/net/fib_trie", wait.format("!"), "ls /sys/class/net")
    cloud.until(lambda: "READY" in cloud.console(key))
    answer = cloud.call("POST", f"/servers/{key}/os-interface", {"interfaceAttachment": {"net_id": network}})
    assert answer.status == 200, answer.content
    attached = answer.json["interfaceAttachment"]
    cloud.until(lambda: attached["fixed_ips"][0]["ip_address"] in cloud.console(key))
    cloud.call("DELETE", f"/servers/{key}/os-interface/{attached['port_id']}")
    assert ended(cloud, key).split("END OF SCRIPT")[0].split()[-2:] == ["eth0", "lo"]
    cloud.call("DELETE", f"/servers/{key}")


@pytest.mark.xdist_group("guests")
def test_ipv6_address_pairs_and_port_forwardings(cloud: RealNova) -> None:
    network, subnet = subnetwork(cloud, "10.8.0.0/24")
    six = {"network_id": network, "cidr": "fd00:8::/64", "ip_version": 6, "ipv6_ra_mode": "slaac"}
    neutron(cloud, "POST", "/subnets", {"subnet": {**six, "ipv6_address_mode": "slaac"}})
    opened = group(cloud, port_range_min=80, port_range_max=80)
    permit(cloud, opened, ethertype="IPv6", port_range_min=80, port_range_max=80)
    body = {"network_id": network, "security_groups": [opened]}
    pairs = {"allowed_address_pairs": [{"ip_address": "10.8.0.200"}]}
    port = neutron(cloud, "POST", "/ports", {"port": {**body, **pairs}})
    fixed = {(":" in one["ip_address"]): one["ip_address"] for one in port["fixed_ips"]}
    key = boot(
        cloud,
        "ip address add 10.8.0.200/24 dev eth0; ip address add 10.8.0.201/24 dev eth0",
        program(SERVE, 80) + " &",
        networks=[{"port": port["id"]}],
    )
    cloud.until(lambda: "SERVING" in cloud.console(key))
    seen = tried(cloud, "10.8.0.200:80", "10.8.0.201:80", f"{fixed[True]}:80", networks=[{"uuid": network}])
    assert seen["10.8.0.200:80"].startswith("10.8.0."), seen
    assert seen["10.8.0.201:80"] in ("TimeoutError", "OSError"), "an address that the port may not have"
    assert seen[f"{fixed[True]}:80"].startswith("fd00:8::"), seen

    router = neutron(cloud, "GET", "/routers?name=router1")[0]["id"]
    cloud.other("PUT", f"/network/v2.0/routers/{router}/add_router_interface", {"subnet_id": subnet})
    public = neutron(cloud, "GET", "/networks?name=public")[0]["id"]
    floating = neutron(cloud, "POST", "/floatingips", {"floatingip": {"floating_network_id": public}})
    rule = {"protocol": "tcp", "external_port": 8090, "internal_port": 80, "internal_port_id": port["id"]}
    rule["internal_ip_address"] = fixed[False]
    neutron(cloud, "POST", f"/floatingips/{floating['id']}/port_forwardings", {"port_forwarding": rule})
    outer = local_address(floating["floating_ip_address"])
    cloud.until(lambda: page(outer, 8090) == b"web 172.24.4.1\n")
    cloud.call("DELETE", f"/servers/{key}")


CLIENT = """
import socket, struct, sys
mac = bytes.fromhex(open("/sys/class/net/eth0/address").read().strip().replace(":", ""))
client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
client.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
client.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"eth0")
client.bind(("", 68))
client.settimeout(3)
def ask(kind, options=b"", sender=mac):
    head = struct.pack("!BBBBIHH16x16s192x", 1, 1, 6, 0, 4711, 0, 0x8000, sender)
    message = head + bytes([0x63, 0x82, 0x53, 0x63, 53, 1, kind]) + options + bytes([255])
    client.sendto(message, ("255.255.255.255", 67))
    try:
        data = client.recv(2000)
    except TimeoutError:
        return print("ANSWER none")
    found, at = {}, 240
    while data[at] != 255:
        found[data[at]] = data[at + 2 : at + 2 + data[at + 1]].hex()
        at += 2 + data[at + 1]
    shown = [f"{key}={found.get(key)}" for key in (1, 3, 6, 26, 121)]
    print("ANSWER", found[53], socket.inet_ntoa(data[16:20]), *shown)
ask(1)
ask(3, bytes([50, 4]) + socket.inet_aton(sys.argv[1]))
ask(3, bytes([50, 4]) + socket.inet_aton("10.6.0.99"))
ask(3, bytes([54, 4]) + socket.inet_aton("10.6.0.98"))
ask(1, sender=bytes(6))
"""


def test_guests_get_addresses_by_dhcp(cloud: RealNova) -> None:
    routes = [{"destination": "192.0.2.0/25", "nexthop": "10.6.0.9"}]
    network, _ = subnetwork(cloud, "10.6.0.0/24", dns_nameservers=["192.0.2.53"], host_routes=routes)
    port = neutron(cloud, "POST", "/ports", {"port": {"network_id": network}})
    own = port["fixed_ips"][0]["ip_address"]
    server_port = f"/ports?network_id={network}&device_owner=network:dhcp"
    cloud.until(lambda: bool(neutron(cloud, "GET", server_port)))
    served = neutron(cloud, "GET", server_port)[0]["fixed_ips"]
    server = inet_aton(served[0]["ip_address"]).hex()
    shown = ended(cloud, boot(cloud, program(CLIENT, own), networks=[{"port": port["id"]}]))
    answers = [line.removeprefix("ANSWER ") for line in shown.splitlines() if line.startswith("ANSWER")]
    given = f"{own} 1=ffffff00 3=0a060001 6=c0000235 26=05aa 121=19c00002000a06000920a9fea9fe{server}000a060001"
    nothing = "1=None 3=None 6=None 26=None 121=None"
    assert answers == [f"02 {given}", f"05 {given}", f"06 0.0.0.0 {nothing}", "none", "none"], shown


def test_guests_read_metadata_through_their_networks(cloud: RealNova) -> None:
    """Routers answer, and networks without one whose subnet has DHCP; a guest is found by its network and address."""
    address = "10.5.0.50"
    isolated = [subnetwork(cloud, "10.5.0.0/24")[0] for _ in range(2)]
    silent, _ = subnetwork(cloud, "10.5.0.0/24", enable_dhcp=False)
    lines = (program(ASK_METADATA, address), "cat /proc/net/route")
    places = [{"uuid": network, "fixed_ip": address} for network in (*isolated, silent)]
    keys = [boot(cloud, *lines, networks=[place]) for place in places]
    routed = boot(cloud, "own=$(hostname -I)", program(ASK_METADATA, "$own"), "cat /proc/net/route")
    for key in keys[:2]:
        shown = ended(cloud, key)
        assert asked(shown) == {address: key}, "addresses of different networks overlap"
        assert "FEA9FEA9" in shown, "the route is by way of the DHCP server"
    shown = ended(cloud, routed)
    assert list(asked(shown).values()) == [routed]
    assert "FEA9FEA9" not in shown
    assert asked(ended(cloud, keys[2])).keys() == {address}, "it has its config drive"
    assert asked(cloud.console(keys[2]))[address] in ("TimeoutError", "OSError")
    for key in (*keys, routed):
        cloud.call("DELETE", f"/servers/{key}")


def test_interfaces_are_in_the_order_of_the_ports_of_the_server(cloud: RealNova) -> None:
    """The order is that in which the server got its ports, whenever these were made."""
    networks = [subnetwork(cloud, f"10.{41 + at}.0.0/24")[0] for at in range(3)]
    made = [neutron(cloud, "POST", "/ports", {"port": {"network_id": one}}) for one in reversed(networks)]
    ports = made[::-1]
    key = boot(
        cloud,
        "for at in 0 1; do echo MAC $(cat /sys/class/net/eth$at/address); done",
        "until [ -e /sys/class/net/eth2 ]; do sleep 0.1; done; echo MAC $(cat /sys/class/net/eth2/address)",
        "ip route | sed -n 's/^default/DEFAULT/p'",
        networks=[{"port": port["id"]} for port in ports[:2]],
    )
    cloud.until(lambda: cloud.console(key).count("MAC") == 2)
    added = {"interfaceAttachment": {"port_id": ports[2]["id"]}}
    assert cloud.call("POST", f"/servers/{key}/os-interface", added).status == 200
    shown = [line.split() for line in ended(cloud, key).splitlines()]
    assert [words[1] for words in shown if words[:1] == ["MAC"]] == [port["mac_address"] for port in ports]
    routes = [words for words in shown if words[:1] == ["DEFAULT"]]
    assert "eth0" in routes[0], "the first interface has the default route"
    listed = cloud.call("GET", f"/servers/{key}/os-interface").json["interfaceAttachments"]
    assert [one["port_id"] for one in listed] == [port["id"] for port in ports]
    found = cloud.served.do(lambda: list(TopologyView(cloud.served.cloud.of(NetworkService)).topology().ports.values()))
    assert [port.id for port in found if port.guest_id == key] == [port["id"] for port in ports], "for each driver"
    cloud.call("DELETE", f"/servers/{key}")
    cloud.until(lambda: not any(neutron(cloud, "GET", f"/ports/{port['id']}")["device_id"] for port in ports))
    again = boot(cloud, networks=[{"port": ports[1]["id"]}, {"port": ports[0]["id"]}])
    cloud.until(lambda: cloud.status(again) == "ACTIVE")
    listed = cloud.call("GET", f"/servers/{again}/os-interface").json["interfaceAttachments"]
    assert [one["port_id"] for one in listed] == [ports[1]["id"], ports[0]["id"]], "an earlier place is forgotten"
    cloud.call("DELETE", f"/servers/{again}")
