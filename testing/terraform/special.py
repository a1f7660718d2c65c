"""Objects that the provider makes with more than one request, or shows otherwise than their service does."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

from testing.terraform.applying import Applying, Fields, Maker, Refresh

NETWORK, NOVA, LBAAS, SHARES = "/network/v2.0", "/compute/v2.1", "/load-balancer/v2/lbaas", "/share/v2"
_TIMEOUT = 500
"""How often a server is asked for until it is built."""
_NO_IMAGE = "Attempt to boot from volume - no image supplied"


def _network(cloud: Applying, kind: str, arguments: Fields) -> Fields:
    names = {"network_type", "physical_network", "segmentation_id"}
    segment = (arguments.get("segments") or [{}])[0]
    provider = {f"provider:{name}": value for name, value in segment.items() if name in names}
    return cloud.make(kind, arguments, **provider)


def _subnet(cloud: Applying, kind: str, arguments: Fields) -> Fields:
    no_gateway = bool(arguments.get("no_gateway"))
    made = cloud.make(kind, arguments, **({"gateway_ip": None} if no_gateway else {}))
    return {**made, "no_gateway": no_gateway, "gateway_ip": made["gateway_ip"] or "", "service_types": []}


def _subnet_route(cloud: Applying, kind: str, arguments: Fields) -> Fields:
    route = {"destination": arguments["destination_cidr"], "nexthop": arguments["next_hop"]}
    path = f"{NETWORK}/subnets/{arguments['subnet_id']}"
    routes = cloud.send("GET", path)["subnet"]["host_routes"]
    cloud.send("PUT", path, {"subnet": {"host_routes": [*routes, route]}})
    return {
        **arguments,
        "id": f"{arguments['subnet_id']}-route-{arguments['destination_cidr']}-{arguments['next_hop']}",
    }


def _port(cloud: Applying, kind: str, arguments: Fields) -> Fields:
    also: Fields = {}
    if arguments.get("fixed_ip"):
        also["fixed_ips"] = [{key: each[key] for key in each if each[key]} for each in arguments["fixed_ip"]]
    if arguments.get("no_fixed_ip"):
        also["fixed_ips"] = []
    if arguments.get("no_security_groups"):
        also["security_groups"] = []
    if arguments.get("allowed_address_pairs"):
        also["allowed_address_pairs"] = [
            {key: each[key] for key in each if each[key]} for each in arguments["allowed_address_pairs"]
        ]
    made = cloud.make(kind, arguments, **also)
    return {**made, "fixed_ip": arguments.get("fixed_ip", []), "no_fixed_ip": arguments.get("no_fixed_ip")}


def _port_later(cloud: Applying, made: Fields) -> Fields:
    port = cloud.send("GET", f"{NETWORK}/ports/{made['id']}")["port"]
    names = ("device_id", "device_owner", "mac_address")
    return {
        **{name: port[name] for name in names},
        "all_fixed_ips": [each["ip_address"] for each in port["fixed_ips"]],
        "all_security_group_ids": port["security_groups"],
        "security_group_ids": port["security_groups"],
    }


def _router(cloud: Applying, kind: str, arguments: Fields) -> Fields:
    gateway: Fields = {}
    if arguments.get("external_network_id"):
        gateway = {"network_id": arguments["external_network_id"]}
        gateway |= {"enable_snat": arguments["enable_snat"]} if "enable_snat" in arguments else {}
    made = cloud.make(kind, arguments, **({"external_gateway_info": gateway} if gateway else {}))
    return {**made, "external_network_id": arguments.get("external_network_id", "")}


def _router_later(cloud: Applying, made: Fields) -> Fields:
    gateway = cloud.send("GET", f"{NETWORK}/routers/{made['id']}")["router"].get("external_gateway_info") or {}
    return {
        "enable_snat": gateway.get("enable_snat", False),
        "external_fixed_ip": gateway.get("external_fixed_ips", []),
        "distributed": bool(made.get("distributed")),
    }


def _router_interface(cloud: Applying, kind: str, arguments: Fields) -> Fields:
    body = {name: arguments[name] for name in ("subnet_id", "port_id") if name in arguments}
    made = cloud.send("PUT", f"{NETWORK}/routers/{arguments['router_id']}/add_router_interface", body)
    return {
        "router_id": arguments["router_id"],
        "id": made["port_id"],
        "port_id": made["port_id"],
        "subnet_id": made["subnet_id"],
        "region": "RegionOne",
    }


def _router_route(cloud: Applying, kind: str, arguments: Fields) -> Fields:
    _add_routes(cloud, arguments["router_id"], [arguments])
    return {
        **arguments,
        "id": f"{arguments['router_id']}-route-{arguments['destination_cidr']}-{arguments['next_hop']}",
    }


def _router_routes(cloud: Applying, kind: str, arguments: Fields) -> Fields:
    _add_routes(cloud, arguments["router_id"], arguments["routes"])
    return {**arguments, "id": arguments["router_id"]}


def _add_routes(cloud: Applying, router_id: str, routes: Iterable[Fields]) -> None:
    body = [{"destination": each["destination_cidr"], "nexthop": each["next_hop"]} for each in routes]
    cloud.send("PUT", f"{NETWORK}/routers/{router_id}/add_extraroutes", {"router": {"routes": body}})


def _floating_ip(cloud: Applying, kind: str, arguments: Fields) -> Fields:
    networks = cloud.send("GET", f"{NETWORK}/networks?router:external=true")["networks"]
    network = next(each["id"] for each in networks if each["name"] == arguments["pool"])
    return cloud.make(kind, arguments, floating_network_id=network)


def _floating_ip_later(cloud: Applying, made: Fields) -> Fields:
    shown = cloud.send("GET", f"{NETWORK}/floatingips/{made['id']}")["floatingip"]
    return {"port_id": shown["port_id"] or "", "fixed_ip": shown["fixed_ip_address"] or ""}


def _floating_ip_associate(cloud: Applying, kind: str, arguments: Fields) -> Fields:
    found = cloud.send("GET", f"{NETWORK}/floatingips?floating_ip_address={arguments['floating_ip']}")["floatingips"][0]
    cloud.send("PUT", f"{NETWORK}/floatingips/{found['id']}", {"floatingip": {"port_id": arguments["port_id"]}})
    return {**arguments, "id": found["id"]}


def _port_forwarding(cloud: Applying, kind: str, arguments: Fields) -> Fields:
    names = ("internal_ip_address", "internal_port_id", "internal_port", "external_port", "protocol", "description")
    body = {"port_forwarding": {name: arguments[name] for name in names if name in arguments}}
    made = cloud.send("POST", f"{NETWORK}/floatingips/{arguments['floatingip_id']}/port_forwardings", body)
    return {**arguments, "id": made["port_forwarding"]["id"]}


def _security_group(cloud: Applying, kind: str, arguments: Fields) -> Fields:
    made = cloud.make(kind, arguments)
    if arguments.get("delete_default_rules"):
        group = cloud.send("GET", f"{NETWORK}/security-groups/{made['id']}")["security_group"]
        for rule in group["security_group_rules"]:
            cloud.send("DELETE", f"{NETWORK}/security-group-rules/{rule['id']}")
    return {**made, "delete_default_rules": arguments.get("delete_default_rules")}


def _compute_security_group(cloud: Applying, kind: str, arguments: Fields) -> Fields:
    """Nova passes groups and their rules on to Neutron, and shows ports that are not limited as -1."""
    body = {"security_group": {"name": arguments["name"], "description": arguments.get("description", "")}}
    made = cloud.send("POST", f"{NETWORK}/security-groups", body)["security_group"]
    rules = []
    for each in arguments.get("rule", []):
        rule = {"security_group_id": made["id"], "direction": "ingress", "protocol": each["ip_protocol"]}
        rule |= {"remote_ip_prefix": each["cidr"]} if each.get("cidr") else {}
        remote = made["id"] if each.get("self") else each.get("from_group_id")
        rule |= {"remote_group_id": remote} if remote else {}
        if each["from_port"] != -1:
            rule |= {"port_range_min": each["from_port"], "port_range_max": each["to_port"]}
        rule["ethertype"] = "IPv6" if ":" in each.get("cidr", "") else "IPv4"
        shown = cloud.send("POST", f"{NETWORK}/security-group-rules", {"security_group_rule": rule})
        empty = {"cidr": "", "from_group_id": "", "self": False}
        rules.append({**empty, **each, "id": shown["security_group_rule"]["id"]})
    return {**arguments, "id": made["id"], "rule": rules, "region": "RegionOne"}


def _compute_floating_ip(cloud: Applying, kind: str, arguments: Fields) -> Fields:
    made = _floating_ip(cloud, "networking_floatingip_v2", arguments)
    return {"id": made["id"], "pool": arguments["pool"], "address": made["address"], "fixed_ip": "", "instance_id": ""}


def _compute_floating_ip_associate(cloud: Applying, kind: str, arguments: Fields) -> Fields:
    ports = cloud.send("GET", f"{NETWORK}/ports?device_id={arguments['instance_id']}")["ports"]
    ports = [
        each
        for each in ports
        if arguments.get("fixed_ip") in (None, "", *(one["ip_address"] for one in each["fixed_ips"]))
    ]
    _floating_ip_associate(cloud, kind, {**arguments, "port_id": ports[0]["id"]})
    fixed = arguments.get("fixed_ip") or ""
    return {**arguments, "fixed_ip": fixed, "id": f"{arguments['floating_ip']}/{arguments['instance_id']}/{fixed}"}


def _lifetime(cloud: Applying, kind: str, arguments: Fields) -> Fields:
    lifetime = arguments.get("lifetime")
    made = cloud.make(kind, arguments, **({"lifetime": lifetime[0]} if lifetime else {}))
    return {**made, "lifetime": lifetime or [{"units": "seconds", "value": 3600}]}


def _instance(cloud: Applying, kind: str, arguments: Fields) -> Fields:
    networks = [
        {"port": each["port"]} if each.get("port") else {"uuid": each["uuid"]} for each in arguments.get("network", [])
    ]
    disks = [
        {
            name: each[name]
            for name in (
                "uuid",
                "source_type",
                "destination_type",
                "boot_index",
                "volume_size",
                "delete_on_termination",
            )
            if name in each
        }
        for each in arguments.get("block_device", [])
    ]
    body: Fields = {"name": arguments["name"], "flavorRef": arguments["flavor_id"], "networks": networks or "auto"}
    body |= {"imageRef": arguments["image_id"]} if arguments.get("image_id") else {}
    body |= {"block_device_mapping_v2": disks} if disks else {}
    body |= {"key_name": arguments["key_pair"]} if arguments.get("key_pair") else {}
    body |= {name: arguments[name] for name in ("metadata", "config_drive", "availability_zone") if name in arguments}
    if "security_groups" in arguments:
        body["security_groups"] = [{"name": name} for name in arguments["security_groups"]]
    hints = (arguments.get("scheduler_hints") or [{}])[0]
    made = cloud.send("POST", f"{NOVA}/servers", {"server": body, "os:scheduler_hints": hints})["server"]
    hashed = hashlib.sha1(arguments["user_data"].encode()).hexdigest() if arguments.get("user_data") else None
    return {**arguments, "id": made["id"], "region": "RegionOne", "user_data": hashed}


def _built(cloud: Applying, identifier: str) -> Fields:
    """Return a server when it is built, which takes a while if its disk is copied from an image."""
    for _ in range(_TIMEOUT):
        server: Fields = cloud.send("GET", f"{NOVA}/servers/{identifier}")["server"]
        if server["status"] == "ACTIVE":
            return server
    raise AssertionError(server)


def _instance_later(cloud: Applying, made: Fields) -> Fields:
    server = _built(cloud, made["id"])
    ports = cloud.send("GET", f"{NETWORK}/ports?device_id={made['id']}")["ports"]
    entries = []
    for network in made.get("network", []):
        fits = [each for each in ports if (network.get("port") or each["id"]) == each["id"]]
        port = next(each for each in fits if (network.get("uuid") or each["network_id"]) == each["network_id"])
        address = next((each["ip_address"] for each in port["fixed_ips"]), "")
        given_port = network.get("port", "")
        entry = {"uuid": port["network_id"], "port": given_port, "fixed_ip_v4": address, "mac": port["mac_address"]}
        name = cloud.send("GET", f"{NETWORK}/networks/{port['network_id']}")["network"]["name"]
        entries.append({**entry, "name": name, "fixed_ip_v6": "", "access_network": False})
    flavor = next(each for each in cloud.send("GET", f"{NOVA}/flavors")["flavors"] if each["id"] == made["flavor_id"])
    return {
        "network": entries,
        "access_ip_v4": next((each["fixed_ip_v4"] for each in entries if each["fixed_ip_v4"]), ""),
        "image_id": made.get("image_id") or _NO_IMAGE,
        "availability_zone": server["OS-EXT-AZ:availability_zone"],
        "flavor_name": flavor["name"],
        "security_groups": sorted({each["name"] for each in server.get("security_groups", [])}),
        "config_drive": made.get("config_drive"),
        "created": server["created"],
        "power_state": "active",
    }


def _keypair(cloud: Applying, kind: str, arguments: Fields) -> Fields:
    made = cloud.send("POST", f"{NOVA}/os-keypairs", {"keypair": arguments})["keypair"]
    more = {name: made.get(name) for name in ("public_key", "fingerprint", "user_id")}
    return {**arguments, **more, "private_key": made.get("private_key", ""), "id": arguments["name"]}


def _volume_attach(cloud: Applying, kind: str, arguments: Fields) -> Fields:
    path = f"{NOVA}/servers/{arguments['instance_id']}/os-volume_attachments"
    made = cloud.send("POST", path, {"volumeAttachment": {"volumeId": arguments["volume_id"]}})["volumeAttachment"]
    return {**arguments, "id": f"{arguments['instance_id']}/{arguments['volume_id']}", "device": made.get("device")}


def _interface_attach(cloud: Applying, kind: str, arguments: Fields) -> Fields:
    path = f"{NOVA}/servers/{arguments['instance_id']}/os-interface"
    cloud.send("POST", path, {"interfaceAttachment": {"port_id": arguments["port_id"]}})
    return {**arguments, "id": f"{arguments['instance_id']}/{arguments['port_id']}"}


def _flavor(cloud: Applying, kind: str, arguments: Fields) -> Fields:
    made = cloud.make(kind, arguments)
    if arguments.get("extra_specs"):
        cloud.send("POST", f"{NOVA}/flavors/{made['id']}/os-extra_specs", {"extra_specs": arguments["extra_specs"]})
    return made


def _aggregate(cloud: Applying, kind: str, arguments: Fields) -> Fields:
    made = cloud.make(kind, arguments)
    path = f"{NOVA}/os-aggregates/{made['id']}/action"
    if arguments.get("metadata"):
        cloud.send("POST", path, {"set_metadata": {"metadata": arguments["metadata"]}})
    for host in arguments.get("hosts", []):
        cloud.send("POST", path, {"add_host": {"host": host}})
    return {**made, "id": str(made["id"])}


def _qos_specs(cloud: Applying, kind: str, arguments: Fields) -> Fields:
    return {**cloud.make(kind, arguments, **arguments.get("specs", {})), "specs": arguments.get("specs", {})}


def _image(cloud: Applying, kind: str, arguments: Fields) -> Fields:
    made = cloud.make(kind, arguments)
    method = {"name": "web-download", "uri": arguments["image_source_url"]}
    cloud.send("POST", f"/image/v2/images/{made['id']}/import", {"method": method})
    return made


def _role_assignment(cloud: Applying, kind: str, arguments: Fields) -> Fields:
    scope = "projects" if arguments.get("project_id") else "domains"
    who = "users" if arguments.get("user_id") else "groups"
    place = arguments.get("project_id") or arguments.get("domain_id")
    actor = arguments.get("user_id") or arguments.get("group_id")
    cloud.send("PUT", f"/identity/v3/{scope}/{place}/{who}/{actor}/roles/{arguments['role_id']}")
    keys = ("domain_id", "project_id", "group_id", "user_id", "role_id")
    return {**dict.fromkeys(keys, ""), **arguments, "id": "/".join(str(arguments.get(name, "")) for name in keys)}


def _membership(cloud: Applying, kind: str, arguments: Fields) -> Fields:
    cloud.send("PUT", f"/identity/v3/groups/{arguments['group_id']}/users/{arguments['user_id']}")
    return {**arguments, "id": f"{arguments['user_id']}/{arguments['group_id']}"}


def _pool(cloud: Applying, kind: str, arguments: Fields) -> Fields:
    persistence = arguments.get("persistence")
    return cloud.make(kind, arguments, **({"session_persistence": persistence[0]} if persistence else {}))


def _listener_later(cloud: Applying, made: Fields) -> Fields:
    listener = cloud.send("GET", f"{LBAAS}/listeners/{made['id']}")["listener"]
    return {"default_pool_id": listener["default_pool_id"] or ""}


def _members(cloud: Applying, kind: str, arguments: Fields) -> Fields:
    path = f"{LBAAS}/pools/{arguments['pool_id']}/members"
    cloud.send("PUT", path, {"members": arguments["member"]})
    names = ("id", "name", "address", "protocol_port", "weight", "subnet_id", "admin_state_up", "monitor_address")
    listed = cloud.send("GET", path)["members"]
    members = [{**{name: each[name] for name in names}, "monitor_port": each["monitor_port"] or 0} for each in listed]
    return {**arguments, "member": members, "id": arguments["pool_id"]}


def _container(cloud: Applying, kind: str, arguments: Fields) -> Fields:
    headers = {f"X-Container-Meta-{name}": value for name, value in arguments.get("metadata", {}).items()}
    for name, header in (("container_read", "X-Container-Read"), ("container_write", "X-Container-Write")):
        headers |= {header: arguments[name]} if name in arguments else {}
    cloud.send("PUT", f"/object-store/v1/AUTH_{cloud.project_id}/{arguments['name']}", headers=headers)
    return {**arguments, "id": arguments["name"], "force_destroy": False, "versioning": False}


def _secret(cloud: Applying, kind: str, arguments: Fields) -> Fields:
    made = cloud.make(kind, arguments)
    reference = str(cloud.last["secret_ref"])
    return {**made, "secret_ref": reference, "id": reference.rpartition("/")[2]}


def _key_container(cloud: Applying, kind: str, arguments: Fields) -> Fields:
    made = cloud.make(kind, arguments, secret_refs=arguments["secret_refs"])
    reference = str(cloud.last["container_ref"])
    return {**made, "container_ref": reference, "id": reference.rpartition("/")[2]}


def _share_access(cloud: Applying, kind: str, arguments: Fields) -> Fields:
    rule = {name: arguments[name] for name in ("access_type", "access_to", "access_level")}
    made = cloud.send("POST", f"{SHARES}/shares/{arguments['share_id']}/action", {"allow_access": rule})["access"]
    return {**arguments, "id": made["id"]}


def _share_network(cloud: Applying, kind: str, arguments: Fields) -> Fields:
    made = cloud.make(kind, arguments)
    for each in arguments.get("security_service_ids", []):
        body = {"add_security_service": {"security_service_id": each}}
        cloud.send("POST", f"{SHARES}/share-networks/{made['id']}/action", body)
    return made


MAKERS: Mapping[str, Maker] = {
    "networking_network_v2": _network,
    "networking_subnet_v2": _subnet,
    "networking_subnet_route_v2": _subnet_route,
    "networking_port_v2": _port,
    "networking_router_v2": _router,
    "networking_router_interface_v2": _router_interface,
    "networking_router_route_v2": _router_route,
    "networking_router_routes_v2": _router_routes,
    "networking_floatingip_v2": _floating_ip,
    "networking_floatingip_associate_v2": _floating_ip_associate,
    "networking_portforwarding_v2": _port_forwarding,
    "networking_secgroup_v2": _security_group,
    "compute_secgroup_v2": _compute_security_group,
    "compute_floatingip_v2": _compute_floating_ip,
    "compute_floatingip_associate_v2": _compute_floating_ip_associate,
    "vpnaas_ike_policy_v2": _lifetime,
    "vpnaas_ipsec_policy_v2": _lifetime,
    "compute_instance_v2": _instance,
    "compute_keypair_v2": _keypair,
    "compute_volume_attach_v2": _volume_attach,
    "compute_interface_attach_v2": _interface_attach,
    "compute_flavor_v2": _flavor,
    "compute_aggregate_v2": _aggregate,
    "blockstorage_qos_v3": _qos_specs,
    "images_image_v2": _image,
    "identity_role_assignment_v3": _role_assignment,
    "identity_user_membership_v3": _membership,
    "lb_pool_v2": _pool,
    "lb_members_v2": _members,
    "objectstorage_container_v1": _container,
    "keymanager_secret_v1": _secret,
    "keymanager_container_v1": _key_container,
    "sharedfilesystem_share_access_v2": _share_access,
    "sharedfilesystem_sharenetwork_v2": _share_network,
}
REFRESHED: Mapping[str, Refresh] = {
    "networking_port_v2": _port_later,
    "networking_router_v2": _router_later,
    "networking_floatingip_v2": _floating_ip_later,
    "compute_instance_v2": _instance_later,
    "lb_listener_v2": _listener_later,
}
