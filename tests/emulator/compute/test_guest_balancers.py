"""Load balancers between guests: connections and probes with real packets."""

from __future__ import annotations

from collections.abc import Iterator
from http.client import HTTPConnection

import pytest

from openstack_emulator.guests.forwarding import local_address, local_port

from .guest_cloud import Octavia, RealNova, address_of, boot, group, guest_cloud, neutron, program
from .test_guest_networks import page

pytestmark = pytest.mark.guests

NAMED = """
import http.server, sys
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path != "/broken" else 404)
        self.end_headers()
        self.wfile.write(sys.argv[1].encode())
    def log_message(self, *words): pass
server = http.server.ThreadingHTTPServer(("", 8000), Answer)
print("SERVING", flush=True)
server.serve_forever()
"""


@pytest.fixture(scope="module")
def cloud() -> Iterator[RealNova]:
    with guest_cloud() as nova:
        yield nova


def status(address: str, port: int) -> int:
    """The status that an address and port answers with; 0 without an answer."""
    connection = HTTPConnection(address, port, timeout=3)
    try:
        connection.request("GET", "/")
        return connection.getresponse().status
    except OSError:
        return 0
    finally:
        connection.close()


def test_connections_are_distributed_and_members_probed(cloud: RealNova) -> None:
    octavia = Octavia(cloud)
    network = cloud.network()
    [subnet] = neutron(cloud, "GET", f"/subnets?network_id={network}&ip_version=4")
    opened = group(cloud, port_range_min=8000, port_range_max=8000, remote_ip_prefix=subnet["cidr"])
    permit_ping = {"security_group_id": opened, "direction": "ingress", "ethertype": "IPv4", "protocol": "icmp"}
    neutron(cloud, "POST", "/security-group-rules", {"security_group_rule": permit_ping})
    keys = []
    for name in ("one", "two"):
        body = {"network_id": network, "security_groups": [opened]}
        port = neutron(cloud, "POST", "/ports", {"port": body})
        keys.append(boot(cloud, program(NAMED, name) + " &", networks=[{"port": port["id"]}]))
    for key in keys:
        cloud.until(lambda key=key: "SERVING" in cloud.console(key))  # type: ignore[misc]

    balancer = octavia.make("/loadbalancers", "loadbalancer", "", vip_subnet_id=subnet["id"])
    listener = octavia.make(
        "/listeners", "listener", balancer, loadbalancer_id=balancer, protocol="HTTP", protocol_port=80
    )
    pool = octavia.make("/pools", "pool", balancer, listener_id=listener, protocol="HTTP", lb_algorithm="ROUND_ROBIN")
    vip = octavia.call("GET", f"/loadbalancers/{balancer}")
    public = neutron(cloud, "GET", "/networks?name=public")[0]["id"]
    body = {"floating_network_id": public, "port_id": vip["vip_port_id"]}
    floating = neutron(cloud, "POST", "/floatingips", {"floatingip": body})["floating_ip_address"]
    place = local_address(floating), local_port(80)

    def answers(times: int = 4) -> list[str]:
        return sorted(page(*place).decode() for _ in range(times))

    cloud.until(lambda: status(*place) == 503)  # no members
    members = [
        octavia.make(f"/pools/{pool}/members", "member", balancer, address=address_of(cloud, key), protocol_port=8000)
        for key in keys
    ]
    cloud.until(lambda: answers(2) == ["one", "two"])
    assert answers(8) == ["one"] * 4 + ["two"] * 4
    octavia.call("PUT", f"/pools/{pool}/members/{members[1]}", {"member": {"weight": 3}})
    octavia.settled(balancer)
    cloud.until(lambda: answers(8) == ["one"] * 2 + ["two"] * 6)

    watched = {"delay": 1, "timeout": 1, "max_retries": 1, "max_retries_down": 1}
    for kind, path, expected in (("PING", None, "ONLINE"), ("HTTP", "/broken", "ERROR"), ("HTTP", "/", "ONLINE")):
        more = {} if path is None else {"url_path": path}
        monitor = octavia.make("/healthmonitors", "healthmonitor", balancer, pool_id=pool, type=kind, **watched, **more)
        cloud.until(lambda expected=expected: octavia.health(pool) == [expected] * 2)  # type: ignore[misc]
        if path != "/":
            octavia.call("DELETE", f"/healthmonitors/{monitor}")
            octavia.settled(balancer)

    cloud.act(keys[0], "os-stop")
    cloud.until(lambda: octavia.health(pool) == ["ERROR", "ONLINE"])
    assert octavia.call("GET", f"/loadbalancers/{balancer}")["operating_status"] == "DEGRADED"
    assert answers() == ["two"] * 4
    cloud.act(keys[0], "os-start")

    octavia.call("PUT", f"/listeners/{listener}", {"listener": {"allowed_cidrs": ["10.0.0.0/26"]}})
    octavia.settled(balancer)
    cloud.until(lambda: page(*place) == b"")
    octavia.call("DELETE", f"/loadbalancers/{balancer}?cascade=true")
    cloud.until(lambda: cloud.other("GET", f"/load-balancer/v2/lbaas/loadbalancers/{balancer}").status == 404)
