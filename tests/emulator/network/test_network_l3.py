"""Routers, floating IPs and port forwardings over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from openstack_emulator.testing import ServedCloud
from tests.emulator.network.network_client import Client, named, refusal


class Site:
    """A network of demo with a subnet behind a router that leads to the public network."""

    def __init__(self, demo: Client) -> None:
        self.public = named(demo, "networks", "public")["id"]
        self.network = demo.network(name="site")
        self.subnet = demo.subnet(self.network, "10.77.0.0/24")
        gateway = {"network_id": self.public}
        self.router = demo.make("/routers", "router", name="r", external_gateway_info=gateway)
        self.router_path = f"/routers/{self.router['id']}"
        answer = demo.call("PUT", f"{self.router_path}/add_router_interface", {"subnet_id": self.subnet["id"]})
        assert answer.status == 200, answer.content
        self.interface = answer.json


@pytest.fixture
def site(demo: Client) -> Site:
    return Site(demo)


def test_an_interface_has_the_gateway_address(demo: Client, site: Site) -> None:
    assert site.interface["id"] == site.router["id"]
    assert site.interface["subnet_ids"] == [site.interface["subnet_id"]] == [site.subnet["id"]]
    port = demo.get(f"/ports/{site.interface['port_id']}")["port"]
    assert port["fixed_ips"][0]["ip_address"] == "10.77.0.1"
    assert (port["device_owner"], port["status"]) == ("network:router_interface", "ACTIVE")


def test_invalid_router_interfaces_are_refused(demo: Client, site: Site) -> None:
    def add(**body: Any) -> tuple[int, str]:
        return refusal(demo.call("PUT", f"{site.router_path}/add_router_interface", body))

    assert add() == (400, "BadRequest")
    assert add(subnet_id=site.subnet["id"]) == (400, "BadRequest")
    overlapping = demo.subnet(demo.network(), "10.77.0.0/25")
    assert add(subnet_id=overlapping["id"]) == (400, "BadRequest")
    headless = demo.subnet(demo.network(), "10.78.0.0/24", gateway_ip=None)
    assert add(subnet_id=headless["id"]) == (400, "BadRequest")
    taken = demo.network()
    subnet = demo.subnet(taken, "10.79.0.0/24")
    demo.port(taken, fixed_ips=[{"ip_address": "10.79.0.1"}])
    assert add(subnet_id=subnet["id"]) == (409, "IpAddressAlreadyAllocated")
    assert add(port_id=site.interface["port_id"]) == (409, "PortInUse")
    assert add(subnet_id="11111111-1111-1111-1111-111111111111") == (404, "SubnetNotFound")


def test_given_port_becomes_router_interface_and_is_deleted_with_it(demo: Client, site: Site) -> None:
    other = demo.network()
    demo.subnet(other, "10.80.0.0/24")
    port = demo.port(other, name="mine")
    answer = demo.call("PUT", f"{site.router_path}/add_router_interface", {"port_id": port["id"]})
    assert answer.json["port_id"] == port["id"]
    assert refusal(demo.call("DELETE", f"/ports/{port['id']}")) == (409, "ServicePortInUse")
    removed = demo.call("PUT", f"{site.router_path}/remove_router_interface", {"port_id": port["id"]})
    assert removed.status == 200
    assert demo.call("GET", f"/ports/{port['id']}").status == 404
    again = demo.call("PUT", f"{site.router_path}/remove_router_interface", {"port_id": port["id"]})
    assert refusal(again) == (404, "RouterInterfaceNotFound")


def test_a_router_is_in_use_while_it_has_interfaces(demo: Client, site: Site) -> None:
    assert refusal(demo.call("DELETE", site.router_path)) == (409, "RouterInUse")
    assert refusal(demo.call("DELETE", f"/subnets/{site.subnet['id']}")) == (409, "SubnetInUse")
    body = {"subnet_id": site.subnet["id"]}
    assert demo.call("PUT", f"{site.router_path}/remove_router_interface", body).status == 200
    missing = demo.call("PUT", f"{site.router_path}/remove_router_interface", body)
    assert refusal(missing) == (404, "RouterInterfaceNotFoundForSubnet")
    assert demo.call("DELETE", site.router_path).status == 204


def test_gateway_allocates_and_releases_external_address(demo: Client, admin: Client, site: Site) -> None:
    def held() -> list[str]:
        ports = admin.get(f"/ports?device_id={site.router['id']}&device_owner=network:router_gateway")["ports"]
        return [fixed["ip_address"] for port in ports for fixed in port["fixed_ips"]]

    (address,) = site.router["external_gateway_info"]["external_fixed_ips"]
    assert held() == [address["ip_address"]]
    cleared = demo.call("PUT", site.router_path, {"router": {"external_gateway_info": {}}})
    assert cleared.json["router"]["external_gateway_info"] is None
    assert held() == []
    snat = {"external_gateway_info": {"network_id": site.public, "enable_snat": False}}
    assert refusal(demo.call("PUT", site.router_path, {"router": snat})) == (403, "PolicyNotAuthorized")
    assert (
        admin.call("PUT", site.router_path, {"router": snat}).json["router"]["external_gateway_info"]["enable_snat"]
        is False
    )
    inside = {"external_gateway_info": {"network_id": site.network["id"]}}
    assert refusal(demo.call("PUT", site.router_path, {"router": inside})) == (400, "BadRequest")


def test_routes_require_connected_next_hops(demo: Client, site: Site) -> None:
    good = {"destination": "192.0.2.0/24", "nexthop": "10.77.0.9"}
    for bad in ({**good, "nexthop": "10.99.0.1"}, {**good, "nexthop": "10.77.0.1"}):
        answer = demo.call("PUT", site.router_path, {"router": {"routes": [bad]}})
        assert refusal(answer) == (400, "InvalidRoutes")
    twice = demo.call("PUT", site.router_path, {"router": {"routes": [good, good]}})
    assert refusal(twice) == (400, "HTTPBadRequest")
    added = demo.call("PUT", f"{site.router_path}/add_extraroutes", {"router": {"routes": [good]}})
    assert added.json["router"]["routes"] == [good]
    body = {"subnet_id": site.subnet["id"]}
    refused = demo.call("PUT", f"{site.router_path}/remove_router_interface", body)
    assert refusal(refused) == (409, "RouterInterfaceInUseByRoute")
    removed = demo.call("PUT", f"{site.router_path}/remove_extraroutes", {"router": {"routes": [good]}})
    assert removed.json["router"]["routes"] == []


def test_a_floating_ip_follows_its_port(demo: Client, site: Site) -> None:
    port = demo.port(site.network)
    floating = demo.make("/floatingips", "floatingip", floating_network_id=site.public)
    path = f"/floatingips/{floating['id']}"
    assert floating["status"] == "DOWN" and floating["floating_ip_address"].startswith("172.24.4.")
    tied = demo.call("PUT", path, {"floatingip": {"port_id": port["id"]}}).json["floatingip"]
    assert tied["status"] == "DOWN" and tied["router_id"] == site.router["id"]
    demo.served.advance(1)
    assert demo.get(path)["floatingip"]["status"] == "ACTIVE"
    assert tied["fixed_ip_address"] == port["fixed_ips"][0]["ip_address"]
    assert tied["port_details"]["mac_address"] == port["mac_address"]
    second = {"floatingip": {"floating_network_id": site.public, "port_id": port["id"]}}
    assert refusal(demo.call("POST", "/floatingips", second)) == (409, "FloatingIPPortAlreadyAssociated")
    body = {"subnet_id": site.subnet["id"]}
    needed = demo.call("PUT", f"{site.router_path}/remove_router_interface", body)
    assert refusal(needed) == (409, "RouterInterfaceInUseByFloatingIP")
    gateway = demo.call("PUT", site.router_path, {"router": {"external_gateway_info": None}})
    assert refusal(gateway) == (409, "RouterExternalGatewayInUseByFloatingIp")
    assert demo.call("DELETE", f"/ports/{port['id']}").status == 204
    demo.served.advance(1)
    left = demo.get(path)["floatingip"]
    assert (left["port_id"], left["router_id"], left["status"]) == (None, None, "DOWN")


def test_a_floating_ip_needs_a_route_and_an_unambiguous_target(demo: Client, site: Site) -> None:
    def wish(**fields: Any) -> tuple[int, str]:
        body = {"floatingip": {"floating_network_id": site.public, **fields}}
        return refusal(demo.call("POST", "/floatingips", body))

    lonely = demo.network()
    demo.subnet(lonely, "10.90.0.0/24")
    assert wish(port_id=demo.port(lonely)["id"]) == (404, "ExternalGatewayForFloatingIPNotFound")
    assert wish(port_id=demo.port(demo.network())["id"]) == (400, "BadRequest")
    two = demo.port(site.network, fixed_ips=[{"subnet_id": site.subnet["id"]}, {"subnet_id": site.subnet["id"]}])
    assert wish(port_id=two["id"]) == (400, "BadRequest")
    assert wish(port_id=two["id"], fixed_ip_address="10.77.0.200") == (400, "BadRequest")
    assert wish(fixed_ip_address="10.77.0.9") == (400, "BadRequest")
    assert wish(floating_network_id=site.network["id"]) == (400, "BadRequest")
    assert wish(floating_ip_address="172.24.4.99") == (403, "PolicyNotAuthorized")
    address = two["fixed_ips"][1]["ip_address"]
    made = demo.make(
        "/floatingips", "floatingip", floating_network_id=site.public, port_id=two["id"], fixed_ip_address=address
    )
    assert made["fixed_ip_address"] == address


def test_external_addresses_run_out(demo: Client, admin: Client) -> None:
    network = admin.network(**{"router:external": True})
    admin.subnet(network, "203.0.113.0/30", enable_dhcp=False)
    first = demo.make("/floatingips", "floatingip", floating_network_id=network["id"])
    body = {"floatingip": {"floating_network_id": network["id"]}}
    assert refusal(demo.call("POST", "/floatingips", body)) == (409, "ExternalIpAddressExhausted")
    assert demo.call("DELETE", f"/floatingips/{first['id']}").status == 204
    assert demo.call("POST", "/floatingips", body).json["floatingip"]["floating_ip_address"] == "203.0.113.2"


def test_port_forwardings_share_a_floating_ip(demo: Client, site: Site) -> None:
    port = demo.port(site.network)
    floating = demo.make("/floatingips", "floatingip", floating_network_id=site.public)
    path = f"/floatingips/{floating['id']}/port_forwardings"
    fields = {"internal_port_id": port["id"], "internal_port": 80, "external_port": 8080, "protocol": "tcp"}
    made = demo.make(path, "port_forwarding", **fields)
    assert made["internal_ip_address"] == port["fixed_ips"][0]["ip_address"]
    assert demo.get(path)["port_forwardings"] == [made]
    assert refusal(demo.call("POST", path, {"port_forwarding": fields})) == (400, "BadRequest")
    seen = demo.get(f"/floatingips/{floating['id']}")["floatingip"]
    assert seen["router_id"] == site.router["id"] and len(seen["port_forwardings"]) == 1
    tie = demo.call("PUT", f"/floatingips/{floating['id']}", {"floatingip": {"port_id": port["id"]}})
    assert refusal(tie) == (409, "FipInUseByPortForwarding")
    changed = demo.call("PUT", f"{path}/{made['id']}", {"port_forwarding": {"external_port": 8081}})
    assert changed.json["port_forwarding"]["external_port"] == 8081
    assert demo.call("DELETE", f"{path}/{made['id']}").status == 204
    assert demo.get(f"/floatingips/{floating['id']}")["floatingip"]["status"] == "DOWN"


def test_auto_allocated_topology_is_created_once(demo: Client, admin: Client) -> None:
    project = demo.network()["project_id"]
    path = f"/auto-allocated-topology/{project}"
    [preset] = admin.get("/subnetpools")["subnetpools"]
    admin.call("PUT", f"/subnetpools/{preset['id']}", {"subnetpool": {"is_default": False}})
    assert refusal(demo.call("GET", path)) == (400, "AutoAllocationFailure")
    admin.make("/subnetpools", "subnetpool", name="d", prefixes=["10.50.0.0/16"], is_default=True, shared=True,
               default_prefixlen=24)  # fmt: skip
    first, second = (demo.get(path)["auto_allocated_topology"]["id"] for _ in range(2))
    assert first == second
    assert demo.get(f"/networks/{first}")["network"]["project_id"] == project
    assert demo.call("DELETE", path).status == 204
    assert demo.call("GET", f"/networks/{first}").status == 404


def test_the_service_port_of_a_gateway_is_hidden_from_projects(served: ServedCloud, demo: Client, site: Site) -> None:
    assert demo.get("/ports?device_owner=network:router_gateway")["ports"] == []
    assert served.call("GET", "/network/v2.0/routers", token=served.token()).status == 200
