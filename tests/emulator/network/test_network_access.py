"""Security groups, QoS, trunks, address groups, and the kinds without rules of their own."""

from __future__ import annotations

from typing import Any

import pytest

from openstack_emulator.testing import ServedCloud
from tests.emulator.network.network_client import Client, refusal


def group_of(demo: Client, **fields: Any) -> dict[str, Any]:
    return demo.make("/security-groups", "security_group", **{"name": "g", **fields})


def test_every_project_has_a_default_group(demo: Client) -> None:
    (default,) = demo.get("/security-groups")["security_groups"]
    assert default["name"] == "default"
    directions = sorted((r["direction"], r["remote_group_id"] or "") for r in default["security_group_rules"])
    assert directions == [("egress", "")] * 2 + [("ingress", default["id"])] * 2
    refused = demo.call("POST", "/security-groups", {"security_group": {"name": "default"}})
    assert refusal(refused) == (409, "SecurityGroupDefaultAlreadyExists")
    deleted = demo.call("DELETE", f"/security-groups/{default['id']}")
    assert refusal(deleted) == (409, "SecurityGroupCannotRemoveDefault")


def test_new_security_group_allows_egress(demo: Client) -> None:
    rules = group_of(demo)["security_group_rules"]
    assert {(r["direction"], r["ethertype"]) for r in rules} == {("egress", "IPv4"), ("egress", "IPv6")}


def test_rules_are_created_in_bulk_and_unique(demo: Client) -> None:
    group = group_of(demo)
    rule = {"security_group_id": group["id"], "direction": "ingress", "protocol": "tcp", "port_range_min": "22",
            "port_range_max": "22"}  # fmt: skip
    other = {**rule, "remote_ip_prefix": "10.0.0.0/8"}
    made = demo.call("POST", "/security-group-rules", {"security_group_rules": [rule, other]})
    assert made.status == 201 and made.json["security_group_rules"][0]["port_range_min"] == 22
    assert made.json["security_group_rules"][1]["normalized_cidr"] == "10.0.0.0/8"
    numbered = {**rule, "protocol": 6}
    for again in (rule, numbered):
        refused = demo.call("POST", "/security-group-rules", {"security_group_rule": again})
        assert refusal(refused) == (409, "SecurityGroupRuleExists")


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"protocol": "bogus"}, "SecurityGroupRuleInvalidProtocol"),
        ({"protocol": "tcp", "port_range_min": 30, "port_range_max": 20}, "SecurityGroupInvalidPortRange"),
        ({"protocol": "tcp", "port_range_min": 30}, "SecurityGroupInvalidPortRange"),
        ({"protocol": "tcp", "port_range_min": -1, "port_range_max": 2}, "SecurityGroupInvalidPortValue"),
        ({"protocol": "udp", "port_range_min": 1, "port_range_max": "x"}, "SecurityGroupInvalidPortValue"),
        ({"port_range_min": 1, "port_range_max": 2}, "SecurityGroupProtocolRequiredWithPorts"),
        ({"protocol": "icmp", "port_range_min": 256}, "SecurityGroupInvalidIcmpValue"),
        ({"protocol": "icmp", "port_range_max": 1}, "SecurityGroupMissingIcmpType"),
        ({"protocol": "icmpv6"}, "SecurityGroupEthertypeConflictWithProtocol"),
        ({"protocol": "esp", "port_range_min": 1, "port_range_max": 1}, "SecurityGroupInvalidProtocolForPort"),
        ({"remote_ip_prefix": "fd00::/8"}, "SecurityGroupRuleParameterConflict"),
        ({"remote_ip_prefix": "rubbish"}, "InvalidCIDR"),
        ({"direction": "sideways"}, "HTTPBadRequest"),
    ],
)
def test_a_bad_rule_is_refused(demo: Client, fields: dict[str, Any], kind: str) -> None:
    body = {"security_group_id": group_of(demo)["id"], "direction": "ingress", **fields}
    assert refusal(demo.call("POST", "/security-group-rules", {"security_group_rule": body})) == (400, kind)


def test_a_group_is_in_use_while_a_port_has_it(demo: Client) -> None:
    group = group_of(demo)
    network = demo.network()
    port = demo.port(network, security_groups=[group["id"]])
    path = f"/security-groups/{group['id']}"
    assert refusal(demo.call("DELETE", path)) == (409, "SecurityGroupInUse")
    stateless = demo.call("PUT", path, {"security_group": {"stateful": False}})
    assert refusal(stateless) == (409, "SecurityGroupInUse")
    demo.call("PUT", f"/ports/{port['id']}", {"port": {"security_groups": []}})
    rule = group["security_group_rules"][0]["id"]
    assert demo.call("DELETE", path).status == 204
    assert refusal(demo.call("GET", f"/security-group-rules/{rule}")) == (404, "SecurityGroupRuleNotFound")


def test_a_port_names_groups_that_exist(demo: Client) -> None:
    nobody = "11111111-1111-1111-1111-111111111111"
    body = {"port": {"network_id": demo.network()["id"], "security_groups": [nobody]}}
    assert refusal(demo.call("POST", "/ports", body)) == (404, "SecurityGroupNotFound")


def test_qos_policies_are_made_by_admins_and_used_by_all(demo: Client, admin: Client) -> None:
    refused = demo.call("POST", "/qos/policies", {"policy": {"name": "p"}})
    assert refusal(refused) == (403, "PolicyNotAuthorized")
    policy = admin.make("/qos/policies", "policy", name="gold", shared=True)
    path = f"/qos/policies/{policy['id']}"
    limit = admin.make(f"{path}/bandwidth_limit_rules", "bandwidth_limit_rule", max_kbps=1000)
    assert (limit["max_burst_kbps"], limit["direction"]) == (0, "egress")
    admin.make(f"{path}/dscp_marking_rules", "dscp_marking_rule", dscp_mark=26)
    admin.make(f"{path}/minimum_bandwidth_rules", "minimum_bandwidth_rule", min_kbps=5)
    again = admin.call("POST", f"{path}/bandwidth_limit_rules", {"bandwidth_limit_rule": {"max_kbps": 1}})
    assert refusal(again) == (409, "QoSRulesConflict")
    bad = admin.call("POST", f"{path}/dscp_marking_rules", {"dscp_marking_rule": {"dscp_mark": 27}})
    assert refusal(bad) == (400, "HTTPBadRequest")
    types = {rule["type"] for rule in demo.get(path)["policy"]["rules"]}
    assert types == {"bandwidth_limit", "dscp_marking", "minimum_bandwidth"}
    port = demo.port(demo.network(), qos_policy_id=policy["id"])
    request = admin.get(f"/ports/{port['id']}")["port"]["resource_request"]
    assert request["request_groups"][0]["resources"] == {"NET_BW_EGR_KILOBIT_PER_SEC": 5}
    assert refusal(admin.call("DELETE", path)) == (409, "QosPolicyInUse")
    demo.call("PUT", f"/ports/{port['id']}", {"port": {"qos_policy_id": None}})
    assert admin.call("DELETE", path).status == 204
    assert admin.call("GET", f"{path}/bandwidth_limit_rules/{limit['id']}").status == 404


def test_trunk_ports_cannot_be_deleted(demo: Client) -> None:
    network = demo.network()
    parent, child = demo.port(network), demo.port(network)
    sub = {"port_id": child["id"], "segmentation_type": "vlan", "segmentation_id": 5}
    trunk = demo.make("/trunks", "trunk", port_id=parent["id"], sub_ports=[sub])
    path = f"/trunks/{trunk['id']}"
    assert demo.get(f"/ports/{child['id']}")["port"]["device_owner"] == "trunk:subport"
    assert demo.get(f"/ports/{parent['id']}")["port"]["trunk_details"]["sub_ports"] == [
        sub | {"mac_address": child["mac_address"]}
    ]
    for port, kind in ((parent, "PortInUseAsTrunkParent"), (child, "PortInUseAsSubPort")):
        assert refusal(demo.call("DELETE", f"/ports/{port['id']}")) == (409, kind)
    clash = {**sub, "port_id": demo.port(network)["id"]}
    refused = demo.call("PUT", f"{path}/add_subports", {"sub_ports": [clash]})
    assert refusal(refused) == (409, "DuplicateSubPort")
    removed = demo.call("PUT", f"{path}/remove_subports", {"sub_ports": [{"port_id": child["id"]}]})
    assert removed.json["sub_ports"] == []
    missing = demo.call("PUT", f"{path}/remove_subports", {"sub_ports": [{"port_id": child["id"]}]})
    assert refusal(missing) == (404, "SubPortNotFound")
    assert demo.call("DELETE", path).status == 204
    assert demo.call("DELETE", f"/ports/{parent['id']}").status == 204


def test_address_groups_are_used_as_remote_of_rules(demo: Client) -> None:
    made = demo.make("/address-groups", "address_group", name="a", addresses=["10.0.0.1/32"])
    assert made["addresses"] == ["10.0.0.1/32"]
    path = f"/address-groups/{made['id']}"
    added = demo.call("PUT", f"{path}/add_addresses", {"addresses": ["10.1.0.0/16"]})
    assert added.json["address_group"]["addresses"] == ["10.0.0.1/32", "10.1.0.0/16"]
    absent = demo.call("PUT", f"{path}/remove_addresses", {"addresses": ["10.9.0.0/16"]})
    assert refusal(absent) == (400, "AddressesNotFound")
    rule = {"security_group_id": group_of(demo)["id"], "direction": "ingress", "remote_address_group_id": made["id"]}
    demo.make("/security-group-rules", "security_group_rule", **rule)
    assert refusal(demo.call("DELETE", path)) == (409, "AddressGroupInUse")


def test_address_scopes_isolate_subnet_pools(demo: Client) -> None:
    scope = demo.make("/address-scopes", "address_scope", name="s", ip_version=4)
    pool = {"name": "p", "prefixes": ["10.0.0.0/16"], "address_scope_id": scope["id"]}
    demo.make("/subnetpools", "subnetpool", **pool)
    again = demo.call("POST", "/subnetpools", {"subnetpool": {**pool, "prefixes": ["10.0.5.0/24"]}})
    assert refusal(again) == (409, "AddressScopePrefixConflict")
    assert refusal(demo.call("DELETE", f"/address-scopes/{scope['id']}")) == (409, "AddressScopeInUse")


def test_vpn_objects_become_active_and_are_in_use(demo: Client, served: ServedCloud) -> None:
    router = demo.make("/routers", "router", name="r")
    service = demo.make("/vpn/vpnservices", "vpnservice", router_id=router["id"])
    assert service["status"] == "PENDING_CREATE"
    ike = demo.make("/vpn/ikepolicies", "ikepolicy", name="i")
    ipsec = demo.make("/vpn/ipsecpolicies", "ipsecpolicy", name="i")
    connection = demo.make(
        "/vpn/ipsec-site-connections",
        "ipsec_site_connection",
        vpnservice_id=service["id"],
        ikepolicy_id=ike["id"],
        ipsecpolicy_id=ipsec["id"],
        peer_id="p",
        peer_address="192.0.2.1",
        peer_cidrs=["10.1.0.0/24"],
        psk="k",
    )
    served.advance(1)
    path = f"/vpn/ipsec-site-connections/{connection['id']}"
    assert demo.get(path)["ipsec_site_connection"]["status"] == "ACTIVE"
    for held in (f"/vpn/ikepolicies/{ike['id']}", f"/vpn/vpnservices/{service['id']}", f"/routers/{router['id']}"):
        assert demo.call("DELETE", held).status == 409, held
    assert demo.call("DELETE", path).status == 204
    assert demo.call("DELETE", f"/vpn/ikepolicies/{ike['id']}").status == 204


def test_deleted_tap_flow_stays_pending(demo: Client, served: ServedCloud) -> None:
    port = demo.port(demo.network())
    service = demo.make("/taas/tap_services", "tap_service", name="t", port_id=port["id"])
    flow = demo.make(
        "/taas/tap_flows",
        "tap_flow",
        name="f",
        tap_service_id=service["id"],
        source_port=port["id"],
        direction="BOTH",
    )
    path = f"/taas/tap_flows/{flow['id']}"
    assert demo.call("DELETE", path).status == 204
    assert demo.get(path)["tap_flow"]["status"] == "PENDING_DELETE"
    served.advance(1)
    assert demo.call("GET", path).status == 404


def test_objects_referenced_in_lists_are_in_use(demo: Client) -> None:
    rule = demo.make("/fw/firewall_rules", "firewall_rule", action="deny")
    demo.make("/fw/firewall_policies", "firewall_policy", name="p", firewall_rules=[rule["id"]])
    assert refusal(demo.call("DELETE", f"/fw/firewall_rules/{rule['id']}")) == (409, "FirewallRuleInUse")
    nobody = {"firewall_policy": {"name": "p", "firewall_rules": ["11111111-1111-1111-1111-111111111111"]}}
    assert refusal(demo.call("POST", "/fw/firewall_policies", nobody)) == (404, "FirewallRuleNotFound")


def test_segments_follow_their_network(admin: Client) -> None:
    network = admin.network()
    (first,) = admin.get(f"/segments?network_id={network['id']}")["segments"]
    assert first["network_type"] == "vxlan"
    assert refusal(admin.call("GET", "/segments?project_id=x")) == (400, "HTTPBadRequest")
    assert refusal(admin.call("GET", "/metering/metering-label-rules?tenant_id=x")) == (400, "HTTPBadRequest")
    bad = {"segment": {"network_id": network["id"], "network_type": "vlan", "segmentation_id": 5}}
    assert refusal(admin.call("POST", "/segments", bad)) == (400, "InvalidInput")
    good = {**bad["segment"], "physical_network": "p", "name": "s"}
    admin.make("/segments", "segment", **good)
    assert refusal(admin.call("POST", "/segments", {"segment": good})) == (409, "VlanIdInUse")
    assert admin.call("DELETE", f"/networks/{network['id']}").status == 204
    assert admin.get(f"/segments?network_id={network['id']}")["segments"] == []
