"""Objects of a project that belong to no stack, created over the services' APIs."""

from __future__ import annotations

from typing import Any

from openstack_emulator.testing import ServedCloud

NEUTRON, NOVA, CINDER = "/network/v2.0", "/compute/v2.1", "/volume"
MANILA = "/share/v2"
OCTAVIA, DESIGNATE = "/load-balancer/v2/lbaas", "/dns/v2"


class Objects:
    """Makes objects of a project; each method returns the ID."""

    def __init__(self, served: ServedCloud, project: str = "demo") -> None:
        self._served = served
        self._user = project

    def send(self, method: str, path: str, body: Any = None, also: int = 200) -> Any:
        headers = {"X-OpenStack-Manila-API-Version": "2.13"} if path.startswith(MANILA) else {}
        answer = self._served.call(method, path, body, self._served.token(self._user, self._user), headers)
        assert answer.status < 300 or answer.status == also, (method, path, answer.status, answer.content)
        return answer.json if answer.content else None

    def make(self, path: str, member: str, **fields: Any) -> str:
        made = self.send("POST", path, {member: fields})[member]
        return str(made["id"])

    def named(self, path: str, members: str, name: str) -> str:
        """The ID of the first listed object whose name begins so."""
        return next(str(each["id"]) for each in self.send("GET", path)[members] if each["name"].startswith(name))

    def net(self, name: str = "shop", **fields: Any) -> str:
        return self.make(f"{NEUTRON}/networks", "network", name=name, **fields)

    def network(self, identifier: str) -> dict[str, Any] | None:
        found = self.send("GET", f"{NEUTRON}/networks/{identifier}", also=404)
        shown: dict[str, Any] | None = found.get("network")
        return shown

    def subnet(self, net: str, cidr: str = "10.1.0.0/24", **fields: Any) -> str:
        return self.make(f"{NEUTRON}/subnets", "subnet", network_id=net, cidr=cidr, ip_version=4, **fields)

    def port(self, net: str, name: str = "", **fields: Any) -> str:
        return self.make(f"{NEUTRON}/ports", "port", network_id=net, name=name, **fields)

    def external(self) -> str:
        listed = self.send("GET", f"{NEUTRON}/networks?router:external=true")["networks"]
        return str(listed[0]["id"])

    def router(self, subnet: str, name: str = "way-out", **fields: Any) -> str:
        gateway = {"network_id": self.external()}
        made = self.make(f"{NEUTRON}/routers", "router", name=name, external_gateway_info=gateway, **fields)
        self.send("PUT", f"{NEUTRON}/routers/{made}/add_router_interface", {"subnet_id": subnet})
        return made

    def floating_ip(self, port: str | None = None) -> str:
        fields = {"port_id": port} if port else {}
        return self.make(f"{NEUTRON}/floatingips", "floatingip", floating_network_id=self.external(), **fields)

    def group(self, name: str = "web") -> str:
        return self.make(f"{NEUTRON}/security-groups", "security_group", name=name, description="Web servers")

    def rule(self, group: str, **fields: Any) -> None:
        """Add a rule to a group, unless it has an equal one."""
        body = {"security_group_id": group, "direction": "ingress", **fields}
        self.send("POST", f"{NEUTRON}/security-group-rules", {"security_group_rule": body}, also=409)

    def closed(self, group: str) -> None:
        """Let a group have no rules."""
        for rule in self.send("GET", f"{NEUTRON}/security-groups/{group}")["security_group"]["security_group_rules"]:
            self.send("DELETE", f"{NEUTRON}/security-group-rules/{rule['id']}")

    def volume(self, name: str = "data", **fields: Any) -> str:
        made = self.make(f"{CINDER}/v3/volumes", "volume", **{"size": 1, "name": name, **fields})
        return made

    def key(self, name: str = "ops") -> str:
        public = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGo5uvqq8lVZl4cXkT2Sx0mX1v3vZ0kW5B8C0m3iT1aB ops"
        self.send("POST", f"{NOVA}/os-keypairs", {"keypair": {"name": name, "public_key": public}})
        return name

    def server(self, name: str, *ports: str, volumes: tuple[str, ...] = (), **fields: Any) -> str:
        flavor = self.named(f"{NOVA}/flavors", "flavors", "m1.small")
        image = self.named("/image/v2/images", "images", "cirros")
        body = {"name": name, "flavorRef": flavor, "imageRef": image, "networks": [{"port": port} for port in ports]}
        made = self.make(f"{NOVA}/servers", "server", **{**body, **fields})
        for volume in volumes:
            self.send(
                "POST", f"{NOVA}/servers/{made}/os-volume_attachments", {"volumeAttachment": {"volumeId": volume}}
            )
        return made

    def balancer(self, subnet: str) -> str:
        made = self.make(f"{OCTAVIA}/loadbalancers", "loadbalancer", name="front", vip_subnet_id=subnet)
        pool = {"loadbalancer_id": made, "protocol": "HTTP", "lb_algorithm": "ROUND_ROBIN", "name": "web"}
        pool_id = self._part("pools", "pool", **pool)
        self._part(f"pools/{pool_id}/members", "member", address="10.1.0.40", protocol_port=80, subnet_id=subnet)
        self._part("healthmonitors", "healthmonitor", pool_id=pool_id, type="TCP", delay=5, timeout=3, max_retries=2)
        listener = {"loadbalancer_id": made, "protocol": "HTTP", "protocol_port": 80, "default_pool_id": pool_id}
        listener_id = self._part("listeners", "listener", name="http", **listener)
        policy = self._part("l7policies", "l7policy", listener_id=listener_id, action="REJECT", name="no-admin")
        self._part(f"l7policies/{policy}/rules", "rule", type="PATH", compare_type="STARTS_WITH", value="/admin")
        return made

    def _part(self, path: str, member: str, **fields: Any) -> str:
        made = self.make(f"{OCTAVIA}/{path}", member, **fields)
        return made

    def zone(self, name: str = "shop.example.") -> str:
        made = self.send("POST", f"{DESIGNATE}/zones", {"name": name, "email": "dns@shop.example"})
        records = {"name": f"www.{name}", "type": "A", "records": ["192.0.2.10"], "ttl": 300}
        self.send("POST", f"{DESIGNATE}/zones/{made['id']}/recordsets", records)
        return str(made["id"])

    def share(self, net: str, subnet: str) -> str:
        """A share, which one client may mount and another one read, and a share network."""
        place = {"neutron_net_id": net, "neutron_subnet_id": subnet, "name": "files"}
        self.make(f"{MANILA}/share-networks", "share_network", **place)
        fields = {"share_proto": "NFS", "size": 1, "name": "files"}
        made = self.make(f"{MANILA}/shares", "share", **fields, metadata={"role": "files"})
        for address, level in (("10.1.0.0/24", "rw"), ("10.2.0.0/24", "ro")):
            rule = {"access_type": "ip", "access_to": address, "access_level": level}
            self.send("POST", f"{MANILA}/shares/{made}/action", {"allow_access": rule})
        return made

    def everything(self) -> None:
        """One or more objects of each type that can be generated."""
        net = self.net()
        sub = self.subnet(net, name="shop", dns_nameservers=["192.0.2.53"])
        inner = self.subnet(net, "10.2.0.0/24", gateway_ip=None, enable_dhcp=False, name="inner")
        self.router(sub)
        group, ops = self.group(), self.group("ops")
        self.rule(group, protocol="tcp", port_range_min=443, port_range_max=443)
        self.rule(group, protocol="tcp", port_range_min=22, port_range_max=22, remote_group_id=ops)
        self.rule(ops, remote_group_id=ops)
        self.rule(ops, protocol="icmp", remote_group_id=group)
        port = self.port(net, "web", security_groups=[group], fixed_ips=[{"subnet_id": sub}])
        self.port(net, "spare", fixed_ips=[{"subnet_id": inner, "ip_address": "10.2.0.77"}])
        data = self.volume(metadata={"get_param": "x"})
        self.volume("spare")
        self.key()
        self.make(f"{NOVA}/os-server-groups", "server_group", name="apart", policies=["anti-affinity"])
        self.server("web", port, volumes=(data,), key_name="ops", metadata={"role": "web"})
        self.floating_ip(port)
        self.floating_ip()
        self.balancer(sub)
        self.share(net, sub)
        self.zone()
