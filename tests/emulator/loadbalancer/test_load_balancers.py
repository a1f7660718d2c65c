"""Load balancers, what they consist of, and what administrators set up, over HTTP and through openstacksdk."""

from __future__ import annotations

from typing import Any

import openstack
import pytest

from openstack_emulator.testing import Answer, ServedCloud


class Octavia:
    """A user of the load-balancer service, and of the network service."""

    def __init__(self, served: ServedCloud, user: str = "demo") -> None:
        self.served, self.user = served, user

    def call(self, method: str, path: str, body: Any = None, mount: str = "/load-balancer/v2/lbaas") -> Answer:
        return self.served.call(method, f"{mount}{path}", body, self.served.token(self.user, self.user))

    def make(self, path: str, member: str, fields: dict[str, Any], wait: bool = True) -> dict[str, Any]:
        answer = self.call("POST", path, {member: fields})
        assert answer.status == 201, answer.content
        if wait:
            self.served.advance(10)
        made: dict[str, Any] = answer.json[member]
        return made

    def show(self, path: str) -> dict[str, Any]:
        answer = self.call("GET", path)
        assert answer.status == 200, answer.content
        return dict(next(iter(answer.json.values())))

    def refused(self, method: str, path: str, body: Any = None) -> tuple[int, str]:
        answer = self.call(method, path, body)
        assert answer.json.keys() == {"faultcode", "faultstring", "debuginfo"}, answer.content
        return answer.status, answer.json["faultstring"]

    def network(self, path: str, member: str, fields: dict[str, Any]) -> dict[str, Any]:
        answer = self.call("POST", path, {member: fields}, "/network/v2.0")
        assert answer.status == 201, answer.content
        made: dict[str, Any] = answer.json[member]
        return made

    def subnet(self) -> str:
        network = self.network("/networks", "network", {"name": "lb"})
        fields = {"network_id": network["id"], "cidr": "10.60.0.0/24", "ip_version": 4}
        return str(self.network("/subnets", "subnet", fields)["id"])

    def balancer(self, **fields: Any) -> dict[str, Any]:
        return self.make("/loadbalancers", "loadbalancer", {"vip_subnet_id": self.subnet(), "name": "web", **fields})


@pytest.fixture
def octavia(served: ServedCloud) -> Octavia:
    return Octavia(served)


@pytest.fixture
def admin(served: ServedCloud) -> Octavia:
    return Octavia(served, "admin")


def test_a_load_balancer_is_built_and_has_a_port(octavia: Octavia, served: ServedCloud) -> None:
    subnet = octavia.subnet()
    given = {"vip_subnet_id": subnet, "vip_address": "10.60.0.77"}
    made = octavia.make("/loadbalancers", "loadbalancer", given, wait=False)
    path = f"/loadbalancers/{made['id']}"
    assert (made["provisioning_status"], made["operating_status"]) == ("PENDING_CREATE", "OFFLINE")
    assert octavia.refused("PUT", path, {"loadbalancer": {"name": "x"}}) == (
        409,
        f"Load Balancer {made['id']} is immutable and cannot be updated.",
    )
    served.advance(10)
    shown = octavia.show(path)
    assert (shown["provisioning_status"], shown["operating_status"]) == ("ACTIVE", "ONLINE")
    port = octavia.call("GET", f"/ports/{shown['vip_port_id']}", None, "/network/v2.0").json["port"]
    assert (port["device_owner"], port["device_id"]) == ("Octavia", f"lb-{made['id']}")
    assert port["fixed_ips"] == [{"subnet_id": subnet, "ip_address": "10.60.0.77"}]
    assert octavia.call("DELETE", path).status == 204
    assert octavia.show(path)["provisioning_status"] == "PENDING_DELETE"
    served.advance(10)
    assert octavia.refused("GET", path) == (404, f"Load Balancer {made['id']} not found.")
    assert octavia.call("GET", f"/ports/{shown['vip_port_id']}", None, "/network/v2.0").status == 404


def test_a_port_of_the_user_outlives_the_load_balancer(octavia: Octavia, served: ServedCloud) -> None:
    subnet = octavia.subnet()
    network = octavia.call("GET", f"/subnets/{subnet}", None, "/network/v2.0").json["subnet"]["network_id"]
    port = octavia.network("/ports", "port", {"network_id": network})
    made = octavia.make("/loadbalancers", "loadbalancer", {"vip_port_id": port["id"]})
    assert made["vip_address"] == port["fixed_ips"][0]["ip_address"]
    octavia.call("DELETE", f"/loadbalancers/{made['id']}")
    served.advance(10)
    assert octavia.call("GET", f"/ports/{port['id']}", None, "/network/v2.0").status == 200


def test_a_change_makes_the_whole_tree_immutable(octavia: Octavia, served: ServedCloud) -> None:
    balancer = octavia.balancer()
    given = {"loadbalancer_id": balancer["id"], "protocol": "HTTP", "protocol_port": 80}
    listener = octavia.make("/listeners", "listener", given)
    pool = octavia.make(
        "/pools", "pool", {"listener_id": listener["id"], "protocol": "HTTP", "lb_algorithm": "ROUND_ROBIN"}
    )
    assert octavia.show(f"/listeners/{listener['id']}")["default_pool_id"] == pool["id"]
    members = f"/pools/{pool['id']}/members"
    member = octavia.make(members, "member", {"address": "10.60.0.9", "protocol_port": 80}, wait=False)
    states = [
        octavia.show(path)["provisioning_status"]
        for path in (
            f"{members}/{member['id']}",
            f"/pools/{pool['id']}",
            f"/listeners/{listener['id']}",
            f"/loadbalancers/{balancer['id']}",
        )
    ]
    assert states == ["PENDING_CREATE", "PENDING_UPDATE", "PENDING_UPDATE", "PENDING_UPDATE"]
    for method, path, body in (
        ("PUT", f"/listeners/{listener['id']}", {"listener": {"name": "x"}}),
        ("DELETE", f"{members}/{member['id']}", None),
        ("POST", members, {"member": {"address": "10.60.0.10", "protocol_port": 80}}),
    ):
        assert octavia.refused(method, path, body)[0] == 409
    served.advance(2)
    assert octavia.show(f"{members}/{member['id']}")["provisioning_status"] == "ACTIVE"
    assert octavia.refused("POST", members, {"member": {"address": "10.60.0.9", "protocol_port": 80}}) == (
        409,
        "Another member on this pool is already using ip 10.60.0.9 on protocol_port 80",
    )
    assert octavia.refused("DELETE", f"/loadbalancers/{balancer['id']}") == (
        400,
        f"Validation failure: Cannot delete Load Balancer {balancer['id']} - it has children",
    )
    octavia.call("DELETE", f"/pools/{pool['id']}")
    served.advance(2)
    assert octavia.show(f"/listeners/{listener['id']}")["default_pool_id"] is None
    assert octavia.call("DELETE", f"/loadbalancers/{balancer['id']}?cascade=true").status == 204
    served.advance(2)
    assert octavia.call("GET", f"/listeners/{listener['id']}").status == 404


def test_the_health_of_members(octavia: Octavia, served: ServedCloud) -> None:
    balancer = octavia.balancer()
    network = balancer["vip_network_id"]
    body = {"server": {"name": "a", "imageRef": image(served), "flavorRef": "1", "networks": [{"uuid": network}]}}
    assert octavia.call("POST", "/servers", body, "/compute/v2.1").status == 202
    served.advance(60)
    ports = octavia.call("GET", f"/ports?network_id={network}", None, "/network/v2.0").json["ports"]
    address = next(port for port in ports if port["device_owner"].startswith("compute"))["fixed_ips"][0]["ip_address"]
    pool = octavia.make(
        "/pools", "pool", {"loadbalancer_id": balancer["id"], "protocol": "HTTP", "lb_algorithm": "ROUND_ROBIN"}
    )
    members = f"/pools/{pool['id']}/members"
    up = octavia.make(members, "member", {"address": address, "protocol_port": 80})
    assert octavia.show(f"{members}/{up['id']}")["operating_status"] == "NO_MONITOR"
    monitor = {"pool_id": pool["id"], "type": "HTTP", "delay": 5, "timeout": 3, "max_retries": 2}
    made = octavia.make("/healthmonitors", "healthmonitor", monitor)
    assert (made["http_method"], made["url_path"], made["expected_codes"]) == ("GET", "/", "200")
    assert octavia.refused("POST", "/healthmonitors", {"healthmonitor": monitor})[0] == 409
    assert octavia.show(f"{members}/{up['id']}")["operating_status"] == "ONLINE"
    assert octavia.show(f"/pools/{pool['id']}")["operating_status"] == "OFFLINE"
    listener = {"protocol": "HTTP", "protocol_port": 80, "default_pool_id": pool["id"]}
    octavia.make("/listeners", "listener", {**listener, "loadbalancer_id": balancer["id"]})
    assert octavia.show(f"/pools/{pool['id']}")["operating_status"] == "ONLINE"
    down = octavia.make(members, "member", {"address": "10.60.0.200", "protocol_port": 80})
    assert octavia.show(f"{members}/{down['id']}")["operating_status"] == "ERROR"
    assert octavia.show(f"/pools/{pool['id']}")["operating_status"] == "DEGRADED"
    assert octavia.show(f"/loadbalancers/{balancer['id']}")["operating_status"] == "DEGRADED"
    octavia.call("PUT", f"{members}/{down['id']}", {"member": {"admin_state_up": False}})
    served.advance(2)
    tree = octavia.show(f"/loadbalancers/{balancer['id']}/status")["loadbalancer"]["listeners"][0]["pools"][0]
    assert [one["operating_status"] for one in tree["members"]] == ["ONLINE", "OFFLINE"]
    assert tree["health_monitor"]["id"] == made["id"]
    assert octavia.show(f"/loadbalancers/{balancer['id']}/stats")["bytes_in"] == 0


def image(served: ServedCloud) -> str:
    listed = served.call("GET", "/image/v2/images?name=cirros", token=served.token("demo", "demo")).json["images"]
    return str(listed[0]["id"])


def test_load_balancer_tree_is_created_in_one_request(octavia: Octavia, served: ServedCloud) -> None:
    pool = {
        "name": "web",
        "protocol": "HTTP",
        "lb_algorithm": "ROUND_ROBIN",
        "members": [{"address": "10.60.0.5", "protocol_port": 80}, {"address": "10.60.0.6", "protocol_port": 80}],
        "healthmonitor": {"type": "PING", "delay": 5, "timeout": 3, "max_retries": 2},
    }
    policy = {"action": "REDIRECT_TO_POOL", "redirect_pool": {"name": "web"}}
    rule = {"type": "PATH", "compare_type": "STARTS_WITH", "value": "/api"}
    listeners = [
        {"protocol": "HTTP", "protocol_port": 80, "default_pool": {"name": "web"}},
        {"protocol": "HTTP", "protocol_port": 81, "l7policies": [{**policy, "rules": [rule]}]},
    ]
    twice = [listeners[0], {**listeners[1], "protocol_port": 80}]
    subnet = octavia.subnet()
    body = {"loadbalancer": {"vip_subnet_id": subnet, "pools": [pool], "listeners": twice}}
    assert octavia.refused("POST", "/loadbalancers", body)[0] == 409
    assert octavia.call("GET", "/pools").json["pools"] == []
    made = octavia.balancer(pools=[pool], listeners=listeners)
    tree = octavia.show(f"/loadbalancers/{made['id']}/status")["loadbalancer"]
    assert [len(one["pools"]) for one in tree["listeners"]] == [1, 0]
    assert len(tree["listeners"][0]["pools"][0]["members"]) == 2
    policy_id = tree["listeners"][1]["l7policies"][0]["id"]
    pool_id = tree["listeners"][0]["pools"][0]["id"]
    assert octavia.show(f"/l7policies/{policy_id}")["redirect_pool_id"] == pool_id
    assert octavia.refused("DELETE", f"/pools/{pool_id}")[0] == 409
    assert [one["value"] for one in octavia.call("GET", f"/l7policies/{policy_id}/rules").json["rules"]] == ["/api"]


def test_members_are_replaced_together(octavia: Octavia, served: ServedCloud) -> None:
    members = [{"address": f"10.60.0.{number}", "protocol_port": 80} for number in (5, 6)]
    pool = {"name": "web", "protocol": "TCP", "lb_algorithm": "SOURCE_IP", "members": members}
    made = octavia.balancer(pools=[pool])
    path = f"/pools/{octavia.show('/loadbalancers/' + made['id'])['pools'][0]['id']}/members"
    before = {row["address"]: row["id"] for row in octavia.call("GET", path).json["members"]}
    new_members = [{**members[1], "weight": 7}, {"address": "10.60.0.7", "protocol_port": 80}]
    assert octavia.call("PUT", path, {"members": new_members}).status == 202
    states = {row["address"]: row["provisioning_status"] for row in octavia.call("GET", path).json["members"]}
    assert states == {
        "10.60.0.5": "PENDING_DELETE",
        "10.60.0.6": "PENDING_UPDATE",
        "10.60.0.7": "PENDING_CREATE",
    }
    served.advance(2)
    after = {row["address"]: (row["id"], row["weight"]) for row in octavia.call("GET", path).json["members"]}
    assert after.keys() == {"10.60.0.6", "10.60.0.7"}
    assert after["10.60.0.6"] == (before["10.60.0.6"], 7)


def test_policies_keep_an_order(octavia: Octavia, served: ServedCloud) -> None:
    made = octavia.balancer(listeners=[{"protocol": "HTTP", "protocol_port": 80}])
    listener = octavia.show(f"/loadbalancers/{made['id']}")["listeners"][0]["id"]
    for name, more in (("a", {}), ("b", {}), ("c", {"position": 1})):
        octavia.make("/l7policies", "l7policy", {"listener_id": listener, "action": "REJECT", "name": name, **more})

    def order() -> list[str]:
        rows = octavia.call("GET", "/l7policies?sort=position:asc").json["l7policies"]
        assert [row["position"] for row in rows] == list(range(1, len(rows) + 1))
        return [row["name"] for row in rows]

    assert order() == ["c", "a", "b"]
    first = octavia.call("GET", "/l7policies?name=c").json["l7policies"][0]
    octavia.call("PUT", f"/l7policies/{first['id']}", {"l7policy": {"position": 2}})
    served.advance(2)
    assert order() == ["a", "c", "b"]
    octavia.call("DELETE", f"/l7policies/{first['id']}")
    served.advance(2)
    assert order() == ["a", "b"]


@pytest.mark.parametrize(
    ("path", "body", "status", "why"),
    [
        ("/loadbalancers", {"loadbalancer": {}}, 400, "VIP must contain one of"),
        ("/loadbalancers", {"loadbalancer": {"provider": "x", "vip_subnet_id": "0" * 32}}, 400, "not enabled"),
        ("/loadbalancers", {"loadbalancer": {"vip_subnet_id": "0" * 32}}, 400, "Subnet 0+ not found"),
        ("/loadbalancers", {"loadbalancer": {"colour": "blue"}}, 400, "Unknown attribute"),
        ("/loadbalancers", {"loadbalancer": 5}, 400, "must be a JSON object"),
        ("/listeners", {"listener": {"protocol": "HTTP", "protocol_port": 80}}, 400, "loadbalancer_id"),
        ("/listeners", {"listener": {"loadbalancer_id": "x"}}, 400, "Value should be UUID format"),
        ("/pools", {"pool": {"protocol": "TCP"}}, 400, "lb_algorithm. Value: 'None'. Mandatory field missing"),
    ],
)
def test_impossible_requests_are_refused(octavia: Octavia, path: str, body: Any, status: int, why: str) -> None:
    code, words = octavia.refused("POST", path, body)
    assert code == status
    with pytest.raises(AssertionError, match=why):
        raise AssertionError(words)


@pytest.mark.parametrize(
    ("path", "member", "fields", "status"),
    [
        ("/listeners", "listener", {"protocol": "SMTP", "protocol_port": 25}, 400),
        ("/listeners", "listener", {"protocol": "TERMINATED_HTTPS", "protocol_port": 443}, 400),
        ("/listeners", "listener", {"protocol": "TCP", "protocol_port": 80}, 409),
        ("/pools", "pool", {"protocol": "HTTP"}, 400),
        (
            "/pools",
            "pool",
            {"protocol": "HTTP", "lb_algorithm": "ROUND_ROBIN", "session_persistence": {"type": "APP_COOKIE"}},
            400,
        ),
    ],
)
def test_invalid_load_balancer_properties_are_refused(
    octavia: Octavia, path: str, member: str, fields: dict[str, Any], status: int
) -> None:
    balancer = octavia.balancer(listeners=[{"protocol": "HTTP", "protocol_port": 80}])
    body = {member: {"loadbalancer_id": balancer["id"], **fields}}
    assert octavia.refused("POST", path, body)[0] == status


def test_load_balancers_are_isolated_by_project(octavia: Octavia, admin: Octavia) -> None:
    theirs = admin.balancer()
    mine = octavia.balancer()
    assert [row["id"] for row in octavia.call("GET", "/loadbalancers").json["loadbalancers"]] == [mine["id"]]
    assert octavia.refused("GET", f"/loadbalancers/{theirs['id']}")[0] == 403
    seen = admin.call("GET", "/loadbalancers?fields=id&limit=1").json
    assert seen["loadbalancers"] == [{"id": theirs["id"]}]
    assert f"marker={theirs['id']}" in seen["loadbalancers_links"][0]["href"]


def test_an_object_with_an_injected_fault_is_in_error(octavia: Octavia, served: ServedCloud) -> None:
    balancer = octavia.balancer()
    rule = {"on": "POST /load-balancer/v2/lbaas/listeners", "do": "error_state", "times": 1}
    served.call("POST", "/control/faults", rule)
    given = {"loadbalancer_id": balancer["id"], "protocol": "HTTP", "protocol_port": 80}
    listener = octavia.make("/listeners", "listener", given)
    assert octavia.show(f"/listeners/{listener['id']}")["provisioning_status"] == "ERROR"
    assert octavia.show(f"/loadbalancers/{balancer['id']}")["provisioning_status"] == "ACTIVE"


def test_flavors_and_zones_are_for_administrators(octavia: Octavia, admin: Octavia) -> None:
    profile = {"name": "p", "provider_name": "amphora", "flavor_data": '{"loadbalancer_topology": "SINGLE"}'}
    assert octavia.refused("POST", "/flavorprofiles", {"flavorprofile": profile})[0] == 403
    assert octavia.refused("GET", "/flavorprofiles")[0] == 403
    bad = {**profile, "flavor_data": '{"colour": "blue"}'}
    assert admin.refused("POST", "/flavorprofiles", {"flavorprofile": bad})[0] == 400
    made = admin.make("/flavorprofiles", "flavorprofile", profile)
    flavor = admin.make("/flavors", "flavor", {"name": "small", "flavor_profile_id": made["id"]})
    assert octavia.show(f"/flavors/{flavor['id']}")["name"] == "small"
    assert octavia.balancer(flavor_id=flavor["id"])["flavor_id"] == flavor["id"]
    assert admin.refused("DELETE", f"/flavors/{flavor['id']}")[0] == 409
    assert admin.refused("DELETE", f"/flavorprofiles/{made['id']}")[0] == 409
    data = {"name": "z", "provider_name": "amphora", "availability_zone_data": '{"compute_zone": "nova"}'}
    zone_profile = admin.make("/availabilityzoneprofiles", "availability_zone_profile", data)
    given = {"name": "east", "availability_zone_profile_id": zone_profile["id"], "enabled": False}
    admin.make("/availabilityzones", "availability_zone", given)
    body = {"loadbalancer": {"vip_subnet_id": octavia.subnet(), "availability_zone": "east"}}
    assert octavia.refused("POST", "/loadbalancers", body)[0] == 400
    admin.call("PUT", "/availabilityzones/east", {"availability_zone": {"enabled": True}})
    assert octavia.call("POST", "/loadbalancers", body).status == 201


def test_quotas(octavia: Octavia, admin: Octavia) -> None:
    balancer = octavia.balancer()
    project = balancer["project_id"]
    assert octavia.show(f"/quotas/{project}")["loadbalancer"] == -1
    assert octavia.refused("PUT", f"/quotas/{project}", {"quota": {"pool": 0}})[0] == 403
    answer = admin.call("PUT", f"/quotas/{project}", {"quota": {"pool": 0, "load_balancer": 1}})
    assert (answer.status, answer.json["quota"]["loadbalancer"]) == (202, 1)
    body = {"pool": {"loadbalancer_id": balancer["id"], "protocol": "TCP", "lb_algorithm": "ROUND_ROBIN"}}
    assert octavia.refused("POST", "/pools", body) == (403, "Quota has been met for resources: pool")
    other = {"loadbalancer": {"vip_subnet_id": balancer["vip_subnet_id"]}}
    assert octavia.refused("POST", "/loadbalancers", other)[0] == 403
    assert [row["project_id"] for row in admin.call("GET", "/quotas").json["quotas"]] == [project]
    assert admin.call("DELETE", f"/quotas/{project}").status == 202
    assert octavia.call("POST", "/pools", body).status == 201


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::PendingDeprecationWarning")
def test_openstacksdk(served: ServedCloud, octavia: Octavia) -> None:
    cloud: Any = openstack.connect(
        auth_url=f"{served.url}/identity",
        username="demo",
        password="secret",
        project_name="demo",
        user_domain_id="default",
        project_domain_id="default",
        region_name="RegionOne",
    )
    lb = cloud.load_balancer
    made = lb.create_load_balancer(name="web", vip_subnet_id=octavia.subnet(), tags=["a"])
    served.advance(10)
    assert lb.find_load_balancer("web").provisioning_status == "ACTIVE"
    listener = lb.create_listener(load_balancer_id=made.id, protocol="HTTP", protocol_port=80)
    served.advance(10)
    pool = lb.create_pool(listener_id=listener.id, protocol="HTTP", lb_algorithm="ROUND_ROBIN")
    served.advance(10)
    member = lb.create_member(pool, address="10.60.0.5", protocol_port=80, weight=3)
    assert [row.weight for row in lb.members(pool)] == [3]
    assert lb.get_member(member, pool).provisioning_status == "PENDING_CREATE"
    assert [row.id for row in lb.listeners(protocol_port=80)] == [listener.id]
    assert lb.get_load_balancer_statistics(made.id).total_connections == 0
    assert {row.name for row in lb.providers()} == {"amphora", "octavia"}
    served.advance(10)
    lb.delete_load_balancer(made, cascade=True)
    served.advance(10)
    assert list(lb.load_balancers()) == []
    cloud.close()
