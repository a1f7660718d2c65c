"""Networks, subnets and ports over HTTP: what is made, what is refused and how."""

from __future__ import annotations

from typing import Any

import pytest

from openstack_emulator.testing import Answer, ServedCloud
from tests.emulator.network.network_client import Client, named, refusal


def test_a_new_cloud_has_the_networks_of_devstack(demo: Client) -> None:
    assert {network["name"] for network in demo.get("/networks")["networks"]} == {"public", "private"}
    assert named(demo, "subnets", "private-subnet")["cidr"] == "10.0.0.0/26"
    router = named(demo, "routers", "router1")
    assert router["external_gateway_info"]["network_id"] == named(demo, "networks", "public")["id"]
    owners = {port["device_owner"] for port in demo.get(f"/ports?device_id={router['id']}")["ports"]}
    assert owners == {"network:router_interface"}


def test_discovery_needs_no_token_but_everything_else_does(served: ServedCloud) -> None:
    assert served.call("GET", "/network/").json["versions"][0]["id"] == "v2.0"
    refused = served.call("GET", "/network/v2.0/networks")
    assert refused.status == 401 and "error" in refused.json


def test_a_network_hides_its_provider_attributes_from_its_project(demo: Client, admin: Client) -> None:
    network = demo.network()
    assert network["status"] == "ACTIVE" and network["tenant_id"] == network["project_id"]
    assert not any(name.startswith("provider:") for name in network)
    seen = admin.get(f"/networks/{network['id']}")["network"]
    assert seen["provider:network_type"] == "vxlan" and seen["provider:segmentation_id"] > 0


@pytest.mark.parametrize(
    ("fields", "status", "kind"),
    [
        ({"nmae": "x"}, 400, "HTTPBadRequest"),
        ({"id": "x"}, 400, "HTTPBadRequest"),
        ({"admin_state_up": "maybe"}, 400, "InvalidInput"),
        ({"shared": True}, 403, "PolicyNotAuthorized"),
        ({"router:external": True}, 403, "PolicyNotAuthorized"),
        ({"provider:network_type": "vlan"}, 403, "PolicyNotAuthorized"),
        ({"tenant_id": "another"}, 400, "HTTPBadRequest"),
        ({"qos_policy_id": "11111111-1111-1111-1111-111111111111"}, 404, "QosPolicyNotFound"),
    ],
)
def test_a_network_with_bad_attributes_is_refused(demo: Client, fields: dict[str, Any], status: int, kind: str) -> None:
    assert refusal(demo.call("POST", "/networks", {"network": fields})) == (status, kind)


def test_network_is_hidden_from_other_projects_until_shared(demo: Client, admin: Client) -> None:
    network = admin.network()
    path = f"/networks/{network['id']}"
    assert refusal(demo.call("GET", path)) == (404, "NetworkNotFound")
    admin.call("PUT", path, {"network": {"shared": True}})
    assert demo.get(path)["network"]["shared"] is True
    assert refusal(demo.call("DELETE", path)) == (403, "PolicyNotAuthorized")


def test_an_rbac_policy_shares_with_one_project(demo: Client, admin: Client) -> None:
    network = admin.network()
    project = demo.network()["project_id"]
    policy = admin.make(
        "/rbac-policies",
        "rbac_policy",
        object_type="network",
        object_id=network["id"],
        action="access_as_shared",
        target_tenant=project,
    )
    assert demo.get(f"/networks/{network['id']}")["network"]["shared"] is True
    admin.subnet(network)
    demo.port(network)
    assert refusal(admin.call("DELETE", f"/rbac-policies/{policy['id']}")) == (409, "RbacPolicyInUse")


def test_there_is_one_default_external_network(admin: Client) -> None:
    body = {"network": {"router:external": True, "is_default": True}}
    assert refusal(admin.call("POST", "/networks", body)) == (409, "DefaultExternalNetworkExists")


def test_subnet_is_updated_within_its_cidr(demo: Client) -> None:
    subnet = demo.subnet(demo.network(), allocation_pools=[{"start": "192.168.0.10", "end": "192.168.0.20"}])
    path = f"/subnets/{subnet['id']}"
    changed = demo.call("PUT", path, {"subnet": {"gateway_ip": "192.168.0.2", "dns_nameservers": ["9.9.9.9"]}})
    assert changed.json["subnet"]["gateway_ip"] == "192.168.0.2"
    inside = demo.call("PUT", path, {"subnet": {"gateway_ip": "192.168.0.15"}})
    assert refusal(inside) == (409, "GatewayConflictWithAllocationPools")
    assert refusal(demo.call("PUT", path, {"subnet": {"cidr": "10.0.0.0/24"}})) == (400, "HTTPBadRequest")
    assert refusal(demo.call("PUT", path, {"subnet": {"dns_nameservers": ["fd00::1"]}})) == (400, "InvalidInput")


def test_vlan_ids_are_unique(admin: Client) -> None:
    vlan = {"provider:network_type": "vlan", "provider:physical_network": "p", "provider:segmentation_id": 7}
    network = admin.network(**vlan)
    assert refusal(admin.call("POST", "/networks", {"network": vlan})) == (409, "VlanIdInUse")
    assert admin.call("DELETE", f"/networks/{network['id']}").status == 204
    admin.network(**vlan)


def test_network_is_deleted_with_subnets_but_not_with_ports_in_use(demo: Client, served: ServedCloud) -> None:
    network = demo.network()
    subnet = demo.subnet(network)
    port = demo.port(network)
    served.advance(1)
    assert [p["device_owner"] for p in demo.get(f"/ports?network_id={network['id']}")["ports"]] == ["", "network:dhcp"]
    assert refusal(demo.call("DELETE", f"/networks/{network['id']}")) == (409, "NetworkInUse")
    assert refusal(demo.call("DELETE", f"/subnets/{subnet['id']}")) == (409, "SubnetInUse")
    assert demo.call("DELETE", f"/ports/{port['id']}").status == 204
    assert demo.call("DELETE", f"/networks/{network['id']}").status == 204
    assert demo.call("GET", f"/subnets/{subnet['id']}").status == 404
    assert demo.get(f"/ports?network_id={network['id']}")["ports"] == []


def test_a_subnet_gets_gateway_and_pool_by_default(demo: Client) -> None:
    subnet = demo.subnet(demo.network(), "192.168.5.77/24")
    assert (subnet["cidr"], subnet["gateway_ip"]) == ("192.168.5.0/24", "192.168.5.1")
    assert subnet["allocation_pools"] == [{"start": "192.168.5.2", "end": "192.168.5.254"}]
    bare = demo.subnet(demo.network(), gateway_ip=None)
    assert bare["gateway_ip"] is None
    assert bare["allocation_pools"] == [{"start": "192.168.0.1", "end": "192.168.0.254"}]
    middle = demo.subnet(demo.network(), "10.1.0.0/29", gateway_ip="10.1.0.4")
    assert middle["allocation_pools"] == [
        {"start": "10.1.0.1", "end": "10.1.0.3"},
        {"start": "10.1.0.5", "end": "10.1.0.6"},
    ]
    place = f"/subnets/{middle['id']}"
    changes: tuple[dict[str, Any], ...] = ({"allocation_pools": []}, {"gateway_ip": "10.1.0.5"})
    for change in changes:
        assert demo.call("PUT", place, {"subnet": change}).json["subnet"]["allocation_pools"] == []


@pytest.mark.parametrize(
    ("fields", "status", "kind"),
    [
        ({"cidr": "192.168.0.128/25"}, 400, "InvalidInput"),
        ({"cidr": "nonsense"}, 400, "InvalidInput"),
        ({"cidr": "fd00::/64"}, 400, "InvalidInput"),
        ({"cidr": None}, 400, "BadRequest"),
        ({"gateway_ip": "10.9.0.1"}, 400, "InvalidInput"),
        ({"gateway_ip": "10.8.0.0"}, 400, "InvalidInput"),
        ({"allocation_pools": [{"start": "10.8.0.9", "end": "10.8.0.5"}]}, 400, "InvalidAllocationPool"),
        ({"allocation_pools": [{"start": "10.8.0.9", "end": "10.8.1.5"}]}, 400, "OutOfBoundsAllocationPool"),
        ({"allocation_pools": [{"start": "10.8.0.1", "end": "10.8.0.5"}]}, 409, "GatewayConflictWithAllocationPools"),
        (
            {"allocation_pools": [{"start": "10.8.0.2", "end": "10.8.0.5"}, {"start": "10.8.0.5", "end": "10.8.0.9"}]},
            409,
            "OverlappingAllocationPools",
        ),
        ({"ipv6_ra_mode": "slaac"}, 400, "InvalidInput"),
        ({"ip_version": 5}, 400, "HTTPBadRequest"),
        ({"dns_nameservers": ["nobody"]}, 400, "HTTPBadRequest"),
        ({"dns_nameservers": ["fe80::1%eth0"]}, 400, "HTTPBadRequest"),
        ({"host_routes": [{"destination": "fd00::/64", "nexthop": "fe80::1%a\nlink"}]}, 400, "HTTPBadRequest"),
        ({"dns_nameservers": [f"1.1.1.{n}" for n in range(1, 7)]}, 400, "DNSNameServersExhausted"),
    ],
)
def test_a_bad_subnet_is_refused(demo: Client, fields: dict[str, Any], status: int, kind: str) -> None:
    network = demo.network()
    demo.subnet(network)
    body = {"network_id": network["id"], "ip_version": 4, "cidr": "10.8.0.0/24", **fields}
    assert refusal(demo.call("POST", "/subnets", {"subnet": body})) == (status, kind)
    assert len(demo.get(f"/subnets?network_id={network['id']}")["subnets"]) == 1


def test_ports_take_free_addresses_of_the_pool_until_none_is_left(demo: Client) -> None:
    network = demo.network()
    demo.subnet(network, "10.1.0.0/29", enable_dhcp=False)
    ports = [demo.port(network) for _ in range(5)]
    assert [p["fixed_ips"][0]["ip_address"] for p in ports] == [f"10.1.0.{n}" for n in range(2, 7)]
    assert len({p["mac_address"] for p in ports}) == 5
    full = demo.call("POST", "/ports", {"port": {"network_id": network["id"]}})
    assert refusal(full) == (409, "IpAddressGenerationFailure")
    demo.call("DELETE", f"/ports/{ports[2]['id']}")
    assert demo.port(network)["fixed_ips"][0]["ip_address"] == "10.1.0.4"


def test_port_gets_the_requested_address(demo: Client) -> None:
    network = demo.network()
    subnet = demo.subnet(network)
    port = demo.port(network, fixed_ips=[{"ip_address": "192.168.0.77"}], mac_address="FA-16-3E-00-00-01")
    assert port["fixed_ips"] == [{"subnet_id": subnet["id"], "ip_address": "192.168.0.77"}]
    assert port["mac_address"] == "fa:16:3e:00:00:01"
    other = demo.subnet(demo.network(), "10.5.0.0/24")

    def wish(**fields: Any) -> tuple[int, str]:
        return refusal(demo.call("POST", "/ports", {"port": {"network_id": network["id"], **fields}}))

    assert wish(fixed_ips=[{"ip_address": "192.168.0.77"}]) == (409, "IpAddressAlreadyAllocated")
    assert wish(fixed_ips=[{"ip_address": "10.0.0.1"}]) == (400, "InvalidIpForNetwork")
    assert wish(fixed_ips=[{"subnet_id": subnet["id"], "ip_address": "10.0.0.1"}]) == (400, "InvalidIpForSubnet")
    assert wish(fixed_ips=[{"ip_address": "192.168.0.255"}]) == (400, "InvalidIpForSubnet")
    assert wish(fixed_ips=[{"subnet_id": other["id"]}]) == (400, "InvalidInput")
    assert wish(mac_address="fa:16:3e:00:00:01") == (409, "MacAddressInUse")


def test_port_on_foreign_network_may_not_choose_its_address(demo: Client, admin: Client) -> None:
    network = admin.network(shared=True)
    admin.subnet(network)
    demo.port(network)
    for fields in ({"fixed_ips": [{"ip_address": "192.168.0.9"}]}, {"mac_address": "fa:16:3e:00:00:01"}):
        body = {"port": {"network_id": network["id"], **fields}}
        assert refusal(demo.call("POST", "/ports", body)) == (403, "PolicyNotAuthorized")


def test_slaac_addresses_come_from_the_mac_address(demo: Client) -> None:
    network = demo.network()
    early = demo.port(network, mac_address="fa:16:3e:00:00:01")
    demo.subnet(network, "fd00:1::/64", ipv6_ra_mode="slaac", ipv6_address_mode="slaac")
    addresses = demo.get(f"/ports/{early['id']}")["port"]["fixed_ips"]
    assert [fixed["ip_address"] for fixed in addresses] == ["fd00:1::f816:3eff:fe00:1"]


def test_port_has_an_address_of_each_slaac_subnet(demo: Client) -> None:
    network = demo.network()
    fourth = demo.subnet(network)
    slaac = demo.subnet(network, "fd00:1::/64", ipv6_ra_mode="slaac", ipv6_address_mode="slaac")
    for asked in ([], [{"subnet_id": fourth["id"]}], [{"ip_address": "192.168.0.77"}]):
        port = demo.port(network, fixed_ips=asked)
        assert [fixed["subnet_id"] for fixed in port["fixed_ips"]] == [*[fourth["id"]][: len(asked)], slaac["id"]]
    changed = demo.call("PUT", f"/ports/{port['id']}", {"port": {"fixed_ips": []}}).json["port"]
    assert [fixed["subnet_id"] for fixed in changed["fixed_ips"]] == [slaac["id"]]
    wish = {"network_id": network["id"], "fixed_ips": [{"subnet_id": slaac["id"], "ip_address": "fd00:1::9"}]}
    assert refusal(demo.call("POST", "/ports", {"port": wish})) == (400, "AllocationOnAutoAddressSubnet")


def test_a_port_changes_its_addresses(demo: Client) -> None:
    network = demo.network()
    demo.subnet(network)
    port = demo.port(network)
    path = f"/ports/{port['id']}"
    changed = demo.call("PUT", path, {"port": {"fixed_ips": [{"ip_address": "192.168.0.50"}]}}).json["port"]
    assert [fixed["ip_address"] for fixed in changed["fixed_ips"]] == ["192.168.0.50"]
    assert changed["revision_number"] == port["revision_number"] + 1
    assert demo.call("PUT", path, {"port": {"fixed_ips": []}}).json["port"]["fixed_ips"] == []
    assert demo.port(network)["fixed_ips"][0]["ip_address"] == "192.168.0.2"


def test_port_security_excludes_groups_and_address_pairs(demo: Client) -> None:
    network = demo.network()
    port = demo.port(network, allowed_address_pairs=[{"ip_address": "10.0.0.0/8"}])
    assert port["allowed_address_pairs"] == [{"ip_address": "10.0.0.0/8", "mac_address": port["mac_address"]}]
    path = f"/ports/{port['id']}"
    refused = demo.call("PUT", path, {"port": {"port_security_enabled": False}})
    assert refusal(refused) == (409, "PortSecurityPortHasSecurityGroup")
    body = {"port_security_enabled": False, "security_groups": []}
    assert refusal(demo.call("PUT", path, {"port": body})) == (409, "AddressPairAndPortSecurityRequired")
    assert demo.call("PUT", path, {"port": {**body, "allowed_address_pairs": []}}).status == 200


def test_bulk_create_makes_all_or_none(demo: Client) -> None:
    network = demo.network()
    made = demo.call("POST", "/ports", {"ports": [{"network_id": network["id"], "name": n} for n in ("a", "b")]})
    assert made.status == 201 and [port["name"] for port in made.json["ports"]] == ["a", "b"]
    failing = demo.call("POST", "/networks", {"networks": [{"name": "first"}, {"name": "second", "shared": True}]})
    assert refusal(failing) == (403, "PolicyNotAuthorized")
    assert demo.get("/networks?name=first")["networks"] == []


def test_lists_filter_trim_and_page(demo: Client) -> None:
    for name in ("c", "a", "b"):
        demo.network(name=name, admin_state_up=name != "b")
    found = demo.get("/networks?name=a&name=b&fields=name&sort_key=name&sort_dir=desc")["networks"]
    assert found == [{"name": "b"}, {"name": "a"}]
    down = demo.get("/networks?admin_state_up=False")["networks"]
    assert [network["name"] for network in down] == ["b"]
    assert {n["name"] for n in demo.get("/networks?router:external=TRUE")["networks"]} == {"public"}
    for query in ("unheard_of=x", "sort_key=unheard_of&sort_dir=asc", "sort_key=name", "sort_key=name&sort_dir=up"):
        assert demo.call("GET", f"/networks?{query}").status == 400
    assert demo.get("/subnets?ip_version=7") == {"subnets": []}
    first = demo.get("/networks?sort_key=name&sort_dir=asc&limit=2")
    assert [n["name"] for n in first["networks"]] == ["a", "b"]
    links = {link["rel"]: link["href"].split("/v2.0")[1] for link in first["networks_links"]}
    second = demo.get(links["next"])
    assert [n["name"] for n in second["networks"]] == ["c", "private"]
    back = {link["rel"]: link["href"].split("/v2.0")[1] for link in second["networks_links"]}["previous"]
    assert demo.get(back)["networks"] == first["networks"]
    assert demo.call("GET", "/networks?marker=nobody&limit=1").status == 404


def test_ports_are_found_by_address_and_group(demo: Client) -> None:
    network = demo.network()
    demo.subnet(network)
    port = demo.port(network)
    address = port["fixed_ips"][0]["ip_address"]
    for query in (
        f"fixed_ips=ip_address={address}&network_id={network['id']}",
        f"fixed_ips=subnet_id={port['fixed_ips'][0]['subnet_id']}",
        f"security_groups={port['security_groups'][0]}&network_id={network['id']}",
    ):
        assert [p["id"] for p in demo.get(f"/ports?{query}")["ports"]] == [port["id"]], query
    assert demo.get("/ports?fixed_ips=ip_address=9.9.9.9")["ports"] == []


def test_tags_are_set_and_filter(demo: Client) -> None:
    network = demo.network()
    path = f"/networks/{network['id']}/tags"
    assert demo.call("PUT", path, {"tags": ["red", "blue"]}).json == {"tags": ["red", "blue"]}
    assert demo.call("PUT", f"{path}/green").status == 201
    assert demo.call("DELETE", f"{path}/red").status == 204
    assert refusal(demo.call("GET", f"{path}/red")) == (404, "TagNotFound")
    for query, count in (("tags=blue,green", 1), ("tags=blue,red", 0), ("tags-any=red,blue", 1), ("not-tags=blue", 0)):
        assert len(demo.get(f"/networks?name=net&{query}")["networks"]) == count, query
    group = demo.make("/security-groups", "security_group", name="g")
    assert demo.call("PUT", f"/security_groups/{group['id']}/tags", {"tags": ["x"]}).status == 200
    assert demo.get(f"/security-groups/{group['id']}/tags") == {"tags": ["x"]}


def test_a_stale_revision_is_refused(demo: Client) -> None:
    network = demo.network()
    path = f"/networks/{network['id']}"
    assert demo.call("PUT", path, {"network": {"name": "x"}}, If_Match="revision_number=0").status == 200
    stale = demo.call("PUT", path, {"network": {"name": "y"}}, If_Match="revision_number=0")
    assert refusal(stale) == (412, "RevisionNumberConstraintFailed")


def test_quotas_are_enforced_and_counted(demo: Client, admin: Client) -> None:
    project = demo.network()["project_id"]
    used = demo.get(f"/quotas/{project}/details.json")["quota"]["network"]["used"]
    assert used == 2
    assert admin.call("PUT", f"/quotas/{project}", {"quota": {"network": used}}).json["quota"]["network"] == used
    assert refusal(demo.call("POST", "/networks", {"network": {}})) == (409, "OverQuota")
    assert refusal(demo.call("PUT", f"/quotas/{project}", {"quota": {"network": 9}})) == (403, "PolicyNotAuthorized")
    assert refusal(admin.call("PUT", f"/quotas/{project}", {"quota": {"bananas": 9}})) == (400, "HTTPBadRequest")
    assert admin.call("DELETE", f"/quotas/{project}").status == 204
    demo.network()


def test_subnets_are_cut_from_a_pool(demo: Client) -> None:
    pool = demo.make("/subnetpools", "subnetpool", name="p", prefixes=["10.9.0.0/24"], default_prefixlen=26)
    network = demo.network()

    def cut(**fields: Any) -> Answer:
        body = {"network_id": network["id"], "ip_version": 4, "subnetpool_id": pool["id"], **fields}
        return demo.call("POST", "/subnets", {"subnet": body})

    assert [cut().json["subnet"]["cidr"] for _ in range(2)] == ["10.9.0.0/26", "10.9.0.64/26"]
    assert cut(prefixlen=25).json["subnet"]["cidr"] == "10.9.0.128/25"
    assert refusal(cut()) == (409, "SubnetAllocationError")
    assert refusal(cut(prefixlen=4)) == (400, "MinPrefixSubnetAllocationError")
    assert refusal(demo.call("DELETE", f"/subnetpools/{pool['id']}")) == (400, "SubnetPoolDeleteError")


def test_extensions_agents_and_zones_are_listed(demo: Client, admin: Client) -> None:
    aliases = {extension["alias"] for extension in demo.get("/extensions")["extensions"]}
    assert {"router", "security-group", "qos", "trunk", "extraroute-atomic", "floating-ip-port-forwarding"} <= aliases
    assert refusal(demo.call("GET", "/extensions/nothing")) == (404, "ExtensionNotFound")
    assert {a["agent_type"] for a in admin.get("/agents?alive=True")["agents"]} >= {"DHCP agent", "L3 agent"}
    assert {zone["resource"] for zone in demo.get("/availability_zones")["availability_zones"]} == {"network", "router"}


def test_a_network_moves_between_dhcp_agents(demo: Client, admin: Client) -> None:
    network = demo.network()
    demo.subnet(network)
    (agent,) = admin.get(f"/networks/{network['id']}/dhcp-agents")["agents"]
    twice = admin.call("POST", f"/agents/{agent['id']}/dhcp-networks", {"network_id": network["id"]})
    assert refusal(twice) == (409, "NetworkHostedByDHCPAgent")
    assert admin.call("DELETE", f"/agents/{agent['id']}/dhcp-networks/{network['id']}").status == 204
    assert admin.get(f"/networks/{network['id']}/dhcp-agents")["agents"] == []
    assert refusal(demo.call("GET", f"/networks/{network['id']}/dhcp-agents")) == (403, "PolicyNotAuthorized")


def test_a_network_with_an_injected_fault_is_in_error(demo: Client, served: ServedCloud) -> None:
    rule = {"on": "POST /network/v2.0/networks", "times": 1, "do": "error_state"}
    assert served.call("POST", "/control/faults", rule).status == 201
    assert demo.network()["status"] == "ERROR"
    assert demo.network()["status"] == "ACTIVE"


def test_external_network_is_deleted_with_unassociated_floating_ips(admin: Client) -> None:
    network = admin.network(**{"router:external": True})
    subnet = admin.subnet(network, enable_dhcp=False)
    floating = admin.make("/floatingips", "floatingip", floating_network_id=network["id"])
    router = admin.make("/routers", "router", external_gateway_info={"network_id": network["id"]})
    assert refusal(admin.call("DELETE", f"/networks/{network['id']}")) == (409, "NetworkInUse")
    assert admin.call("DELETE", f"/routers/{router['id']}").status == 204
    assert admin.call("DELETE", f"/networks/{network['id']}").status == 204
    assert admin.call("GET", f"/floatingips/{floating['id']}").status == 404
    assert admin.call("GET", f"/subnets/{subnet['id']}").status == 404
