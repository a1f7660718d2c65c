"""Who may use the load-balancer service, when objects were last changed, and strict transport security."""

from __future__ import annotations

import pytest

from openstack_emulator.testing import ServedCloud
from tests.emulator.loadbalancer.test_load_balancers import Octavia
from tests.emulator.users import token_with_role

LBAAS = "/load-balancer/v2/lbaas"


@pytest.mark.parametrize(
    "path", ["loadbalancers", "listeners", "pools", "flavors", "availabilityzones", "providers", "quotas/defaults"]
)
def test_a_caller_without_a_role_of_the_service_is_refused(served: ServedCloud, path: str) -> None:
    outsider, reader = (token_with_role(served, role) for role in ("heat_stack_user", "reader"))
    assert served.call("GET", f"{LBAAS}/{path}", token=outsider).status == 403
    assert served.call("GET", f"{LBAAS}/{path}", token=reader).status == 200


def test_built_object_has_updated_at(served: ServedCloud) -> None:
    octavia = Octavia(served)
    balancer = octavia.balancer()
    assert balancer["updated_at"] is None
    shown = octavia.show(f"/loadbalancers/{balancer['id']}")
    assert shown["updated_at"] > shown["created_at"]


def test_strict_transport_security_needs_a_listener_that_ends_tls(served: ServedCloud) -> None:
    octavia = Octavia(served)
    fields = {"loadbalancer_id": octavia.balancer()["id"], "protocol_port": 443}
    tls = {**fields, "protocol": "TERMINATED_HTTPS", "default_tls_container_ref": "http://127.0.0.1:1/v1/secrets/x"}
    for wrong in ({**fields, "protocol": "HTTP", "hsts_max_age": 60}, {**tls, "hsts_preload": True}):
        status, why = octavia.refused("POST", "/listeners", {"listener": wrong})
        assert status == 400 and "HSTS" in why
    made = octavia.make("/listeners", "listener", {**tls, "hsts_max_age": 60, "hsts_preload": True})
    shown = octavia.show(f"/listeners/{made['id']}")
    assert (shown["hsts_max_age"], shown["hsts_include_subdomains"], shown["hsts_preload"]) == (60, False, True)


def test_allowed_networks_have_the_version_of_the_address(served: ServedCloud) -> None:
    octavia = Octavia(served)
    fields = {"loadbalancer_id": octavia.balancer()["id"], "protocol": "HTTP", "protocol_port": 80}
    status, why = octavia.refused("POST", "/listeners", {"listener": {**fields, "allowed_cidrs": ["fd00::/8"]}})
    assert status == 400 and "allowed_cidrs" in why
    made = octavia.make("/listeners", "listener", {**fields, "allowed_cidrs": ["10.0.0.0/8"]})
    assert octavia.refused("PUT", f"/listeners/{made['id']}", {"listener": {"allowed_cidrs": ["fd00::/8"]}})[0] == 400

    network = octavia.network("/networks", "network", {"name": "both"})["id"]
    for version, cidr in ((6, "fd00:60::/64"), (4, "10.61.0.0/24")):
        subnet = {"network_id": network, "cidr": cidr, "ip_version": version}
        octavia.network("/subnets", "subnet", subnet)
    listener = {"protocol": "HTTP", "protocol_port": 80}
    body = {"vip_network_id": network, "listeners": [{**listener, "allowed_cidrs": ["fd00::/8"]}]}
    status, why = octavia.refused("POST", "/loadbalancers", {"loadbalancer": body})
    assert status == 400 and "allowed_cidrs" in why
    ports = octavia.call("GET", f"/ports?network_id={network}", None, "/network/v2.0").json["ports"]
    assert not [port for port in ports if port["device_owner"] == "Octavia"]
    balancer = octavia.make("/loadbalancers", "loadbalancer", {"vip_network_id": network})
    assert balancer["vip_address"].startswith("10.61.0.")
    six = octavia.make("/loadbalancers", "loadbalancer", {**body, "vip_address": "fd00:60::77"})
    assert (six["vip_address"], len(six["listeners"])) == ("fd00:60::77", 1)
    body = {"vip_network_id": network, "vip_address": "192.0.2.1"}
    assert octavia.refused("POST", "/loadbalancers", {"loadbalancer": body})[0] == 400


def test_parts_are_found_by_their_parents_and_flavors_are_sorted(served: ServedCloud) -> None:
    octavia, admin = Octavia(served), Octavia(served, "admin")
    fields = {"protocol": "HTTP", "protocol_port": 80}
    balancers = [octavia.balancer()["id"] for _ in range(2)]
    made = [octavia.make("/listeners", "listener", {**fields, "loadbalancer_id": one})["id"] for one in balancers]
    pool = {"protocol": "HTTP", "lb_algorithm": "ROUND_ROBIN"}
    of_first = octavia.make("/pools", "pool", {**pool, "listener_id": made[0]})["id"]
    octavia.make("/pools", "pool", {**pool, "loadbalancer_id": balancers[1]})
    listed = octavia.call("GET", f"/listeners?loadbalancer_id={balancers[1]}").json["listeners"]
    assert [one["id"] for one in listed] == [made[1]]
    for query in (f"listener_id={made[0]}", f"loadbalancer_id={balancers[0]}"):
        assert [one["id"] for one in octavia.call("GET", f"/pools?{query}").json["pools"]] == [of_first]
    profile = {"name": "p", "provider_name": "amphora", "flavor_data": "{}"}
    profile_id = admin.make("/flavorprofiles", "flavorprofile", profile)["id"]
    for name in "abcdef":
        admin.make("/flavors", "flavor", {"name": name, "flavor_profile_id": profile_id}, wait=False)
    ids = [flavor["id"] for flavor in octavia.call("GET", "/flavors").json["flavors"]]
    assert len(ids) == 6 and ids == sorted(ids)


def test_a_failover_replaces_the_amphora(served: ServedCloud) -> None:
    octavia, admin = Octavia(served), Octavia(served, "admin")
    profile = {"name": "p", "provider_name": "amphora", "flavor_data": '{"compute_flavor": "42"}'}
    profile_id = admin.make("/flavorprofiles", "flavorprofile", profile)["id"]
    flavor = admin.make("/flavors", "flavor", {"name": "small", "flavor_profile_id": profile_id})
    balancer = octavia.balancer(flavor_id=flavor["id"])

    def amphora() -> dict[str, str]:
        [found] = admin.call("GET", "/amphorae", mount="/load-balancer/v2/octavia").json["amphorae"]
        return dict(found)

    first = amphora()
    assert (first["compute_flavor"], first["cached_zone"]) == ("42", "nova")
    assert octavia.call("PUT", f"/amphorae/{first['id']}/failover", mount="/load-balancer/v2/octavia").status == 403
    assert admin.call("PUT", f"/amphorae/{first['id']}/config", mount="/load-balancer/v2/octavia").status == 202
    assert admin.call("PUT", f"/amphorae/{first['id']}/failover", mount="/load-balancer/v2/octavia").status == 202
    served.advance(10)
    second = amphora()
    assert admin.call("PUT", f"/loadbalancers/{balancer['id']}/failover").status == 202
    served.advance(10)
    third = amphora()
    assert len({one["id"] for one in (first, second, third)}) == 3
    assert {one["loadbalancer_id"] for one in (first, second, third)} == {balancer["id"]}
    assert "_failovers" not in octavia.show(f"/loadbalancers/{balancer['id']}")
