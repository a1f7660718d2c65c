"""What a guest reads about itself, in OpenStack's form and in EC2's.

The documents have the fields of Nova's metadata API of their version: a field is left out of older versions.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from ipaddress import ip_network
from typing import Any

import orjson

from openstack_emulator.compute.records import InjectedFile, Keypair, Server
from openstack_emulator.compute.rules.aggregates import Aggregates
from openstack_emulator.compute.rules.block_devices import BlockDevices
from openstack_emulator.compute.rules.interfaces import Interfaces
from openstack_emulator.compute.rules.keypairs import Keypairs
from openstack_emulator.compute.rules.security_groups import ServerSecurityGroups
from openstack_emulator.core.cloud import Records
from openstack_emulator.core.rules import Rules
from openstack_emulator.network.records.core import Route, Subnet
from openstack_emulator.network.rules.composition import NetworkService

EC2_VERSIONS = ("1.0", "2007-01-19", "2007-03-01", "2007-08-29", "2007-10-10", "2007-12-15", "2008-02-01",
                "2008-09-01", "2009-04-04")  # fmt: skip
GRIZZLY, HAVANA, LIBERTY, NEWTON, NEWTON_TWO = "2013-04-04", "2013-10-17", "2015-10-15", "2016-06-30", "2016-10-06"
VICTORIA = "2020-10-14"
OPENSTACK_VERSIONS = ("2012-08-10", GRIZZLY, HAVANA, LIBERTY, NEWTON, NEWTON_TWO, "2017-02-22", "2018-08-27", VICTORIA)
LATEST = "latest"
"""As a version: greater than all dates as a string too."""
DOMAIN = "novalocal"
SEED_BYTES = 512
LABEL = "_label"
"""In a folder of EC2's form: how the folder is listed, instead of its name and a slash."""


@dataclass(frozen=True)
class Sources:
    """Where the documents of a guest come from."""

    network: NetworkService
    aggregates: Aggregates
    keypairs: Keypairs
    interfaces: Interfaces
    security_groups: ServerSecurityGroups
    block_devices: BlockDevices
    vendor_data: Mapping[str, object]


class Guest:
    """A server as its guest sees it."""

    def __init__(self, sources: Sources, server: Server) -> None:
        self.server = server
        self.sources = sources
        self.network = sources.network
        self.ports = sources.interfaces.of_server(server)

    @property
    def hostname(self) -> str:
        return f"{self.server.hostname}.{DOMAIN}"

    @property
    def zone(self) -> str:
        """The availability zone of the server's host."""
        return self.sources.aggregates.zone_of(self.server.host)

    @property
    def user_data(self) -> bytes | None:
        """The decoded user data; None if there is none."""
        encoded = self.server.user_data
        return None if encoded is None else base64.b64decode("".join(encoded.split()))

    @property
    def files(self) -> list[InjectedFile]:
        """The files that the user has given the server (`personality`)."""
        return self.server.files

    def file(self, number: str) -> bytes | None:
        """Return the content of a file by the number in its `content_path`; None without such a file."""
        found = {content_name(index): file for index, file in enumerate(self.files)}.get(number)
        return None if found is None else base64.b64decode("".join(found.contents.split()))

    def keypair(self) -> Keypair | None:
        """The key pair of the server, while it exists."""
        name = self.server.key_name
        return self.sources.keypairs.rows.get(f"{self.server.user_id}:{name}") if name else None

    def addresses(self, version: int) -> list[str]:
        """The fixed addresses of an IP version."""
        found = [fixed.ip_address for port in self.ports for fixed in port.fixed_ips]
        return [address for address in found if (":" in address) == (version == 6)]

    def floating_addresses(self) -> list[str]:
        rows = (row for port in self.ports for row in self.network.floating_ips_of_port(port.id))
        return [row.floating_ip_address for row in rows]


class Documents(Rules):
    """What the guests of servers read about themselves."""

    def __init__(
        self,
        records: Records,
        aggregates: Aggregates,
        keypairs: Keypairs,
        interfaces: Interfaces,
        security_groups: ServerSecurityGroups,
        block_devices: BlockDevices,
    ) -> None:
        super().__init__(records)
        self._aggregates = aggregates
        self._keypairs = keypairs
        self._interfaces = interfaces
        self._security_groups = security_groups
        self._block_devices = block_devices

    def of_server(self, server: Server) -> Guest:
        """A server as its guest sees it."""
        sources = Sources(
            self.cloud.of(NetworkService),
            self._aggregates,
            self._keypairs,
            self._interfaces,
            self._security_groups,
            self._block_devices,
            self.cloud.vendor_data,
        )
        return Guest(sources, server)


def content_name(number: int) -> str:
    """Return the name of a file in the folder `content`."""
    return f"{number:04d}"


# -- OpenStack's form --------------------------------------------------------------------------------------------


def meta_data(guest: Guest, version: str) -> dict[str, object]:
    """Return `meta_data.json`."""
    server, keypair = guest.server, guest.keypair()
    found: dict[str, Any] = {
        "uuid": server.id,
        "availability_zone": guest.zone,
        "hostname": guest.hostname,
        "launch_index": server.launch_index,
        "name": server.name,
    }
    if server.metadata:
        found |= {"meta": server.metadata}
    if guest.files:
        paths = [(f"/{CONTENT}/{content_name(index)}", file.path) for index, file in enumerate(guest.files)]
        found |= {"files": [{"content_path": content, "path": path} for content, path in paths]}
    if keypair is not None:
        found |= {"public_keys": {keypair.name: keypair.public_key}}
        if version >= HAVANA:
            found |= {"keys": [{"name": keypair.name, "type": keypair.type, "data": keypair.public_key}]}
    if version >= GRIZZLY:
        found |= {"random_seed": base64.b64encode(os.urandom(SEED_BYTES)).decode()}
    if version >= LIBERTY:
        found |= {"project_id": server.project_id}
    if version >= NEWTON:
        found |= {"devices": _devices(guest)}
    if version >= VICTORIA:
        found |= {"dedicated_cpus": []}
    return found


def _devices(guest: Guest) -> list[dict[str, Any]]:
    """Return the devices that the user has tagged."""
    place = {"bus": "none", "address": "none"}
    tags = {row.id: row.tag for row in guest.sources.interfaces.rows.select(server_id=guest.server.id)}
    cards = [
        {"type": "nic", **place, "mac": port.mac_address, "tags": [tags[port.id]]}
        for port in guest.ports
        if tags.get(port.id)
    ]
    disks = [
        {"type": "disk", **place, "serial": device.volume_id, "path": device.device, "tags": [device.tag]}
        for device in guest.sources.block_devices.of_server(guest.server)
        if device.tag
    ]
    return cards + disks


def network_data(guest: Guest, version: str) -> dict[str, object]:
    """Return `network_data.json`: links (ports), networks (subnets of their addresses) and services (name servers)."""
    links: list[dict[str, Any]] = []
    networks: list[dict[str, Any]] = []
    servers: list[dict[str, str]] = []
    for port in guest.ports:
        link = f"tap{port.id[:11]}"
        mtu = guest.network.networks.rows.require(port.network_id).mtu
        shown = {"id": link, "vif_id": port.id, "type": "ovs", "mtu": mtu}
        links.append({**shown, "ethernet_mac_address": port.mac_address})
        for fixed in port.fixed_ips:
            subnet = guest.network.subnets.rows.require(fixed.subnet_id)
            names = [{"type": "dns", "address": address} for address in subnet.dns_nameservers]
            place = {"id": f"network{len(networks)}", "link": link, "network_id": port.network_id}
            networks.append({**place, **_addressing(subnet, fixed.ip_address, names)})
            servers += [name for name in names if name not in servers]
    return {"links": links, "networks": networks, "services": servers}


def _addressing(subnet: Subnet, address: str, names: list[dict[str, str]]) -> dict[str, object]:
    """Return how a guest gets an address: by DHCP, or as it is shown here."""
    form = f"ipv{subnet.ip_version}"
    if subnet.ip_version == 6 and subnet.ipv6_address_mode:
        return {"type": f"ipv6_{subnet.ipv6_address_mode}", **_static(subnet, address, names)}
    if subnet.enable_dhcp:
        return {"type": f"{form}_dhcp"}
    return {"type": form, **_static(subnet, address, names)}


def _static(subnet: Subnet, address: str, names: list[dict[str, str]]) -> dict[str, object]:
    default = "0.0.0.0/0" if subnet.ip_version == 4 else "::/0"
    routes = [Route(destination=default, nexthop=subnet.gateway_ip)] if subnet.gateway_ip else []
    shown = []
    for route in [*routes, *subnet.host_routes]:
        to = ip_network(route.destination)
        shown.append({"network": str(to.network_address), "netmask": str(to.netmask), "gateway": route.nexthop})
    return {
        "ip_address": address,
        "netmask": str(ip_network(subnet.cidr).netmask),
        "routes": shown,
        "services": names,
    }


def vendor_data(guest: Guest, version: str) -> dict[str, object]:
    """Return `vendor_data.json`: what the operator of the cloud has to say to all servers."""
    return dict(guest.sources.vendor_data)


def more_vendor_data(guest: Guest, version: str) -> dict[str, object]:
    """Return `vendor_data2.json`, whose parts come from different providers; there is one."""
    return {"static": vendor_data(guest, version)}


NETWORK_DATA = "network_data.json"
DOCUMENTS: Mapping[str, tuple[str, Callable[[Guest, str], dict[str, object]]]] = {
    "meta_data.json": ("", meta_data),
    "vendor_data.json": (HAVANA, vendor_data),
    NETWORK_DATA: (LIBERTY, network_data),
    "vendor_data2.json": (NEWTON_TWO, more_vendor_data),
}
"""The JSON documents of a version's folder, each with the version that introduced it."""
PASSWORD, PASSWORD_SINCE = "password", GRIZZLY
CONTENT = "content"
"""The folder, beside those of the versions, with the files that users have given a server."""


def folder(guest: Guest, version: str) -> list[str]:
    """Return the names in the folder of a version of OpenStack's form."""
    documents = {name: since for name, (since, _) in DOCUMENTS.items()} | {PASSWORD: PASSWORD_SINCE}
    order = ("meta_data.json", "user_data", PASSWORD, "vendor_data.json", "network_data.json", "vendor_data2.json")
    present = {name for name, since in documents.items() if version >= since}
    if guest.user_data is not None:
        present.add("user_data")
    return [name for name in order if name in present]


def config_drive(guest: Guest) -> dict[str, bytes]:
    """Return the files of a config drive, in the latest version of OpenStack's form: path → content.

    `network_data.json` is left out: guests do not have the interfaces of their servers, and cloud-init would fail.
    """
    files = {
        f"openstack/{LATEST}/{name}": orjson.dumps(document(guest, LATEST))
        for name, (_, document) in DOCUMENTS.items()
        if name != NETWORK_DATA
    }
    if guest.user_data is not None:
        files[f"openstack/{LATEST}/user_data"] = guest.user_data
    for index in range(len(guest.files)):
        name = content_name(index)
        files[f"openstack/{CONTENT}/{name}"] = guest.file(name) or b""
    return files


# -- EC2's form --------------------------------------------------------------------------------------------------


def ec2_tree(guest: Guest, version: str) -> dict[str, object]:
    """Return the folder of a version of EC2's form: folders are mappings, files are strings or bytes."""
    tree: dict[str, object] = {"meta-data": _ec2_meta_data(guest, version)}
    if guest.user_data is not None:
        tree |= {"user-data": guest.user_data}
    return tree


def _ec2_meta_data(guest: Guest, version: str) -> dict[str, object]:
    server, fixed, floating = guest.server, guest.addresses(4), guest.floating_addresses()
    groups = guest.sources.security_groups.of_server(server)
    found: dict[str, Any] = {
        "ami-id": f"ami-{(server.image_id or '0' * 8)[:8]}",
        "ami-launch-index": str(server.launch_index),
        "ami-manifest-path": "FIXME",
        "instance-id": f"i-{server.number:08x}",
        "hostname": guest.hostname,
        "local-ipv4": fixed[0] if fixed else "",
        "reservation-id": server.reservation_id,
        "security-groups": "\n".join(dict.fromkeys(group.name for group in groups)),
    }
    if version == "1.0":
        return found
    found |= {
        "local-hostname": guest.hostname,
        "public-hostname": guest.hostname,
        "public-ipv4": floating[0] if floating else "",
    }
    if (keypair := guest.keypair()) is not None:
        found |= {"public-keys": {"0": {LABEL: f"0={keypair.name}", "openssh-key": keypair.public_key}}}
    if version >= "2007-08-29":
        found |= {"instance-type": server.flavor.name}
    if version >= "2007-12-15":
        found |= {"block-device-mapping": _mapping(guest)}
    if version >= "2008-02-01":
        found |= {"placement": {"availability-zone": guest.zone}}
    if version >= "2008-09-01":
        found |= {"instance-action": "none"}
    return found


def _mapping(guest: Guest) -> dict[str, str]:
    """Return the devices by their names in EC2: the root disk, and volumes as `ebs0` and so on."""
    devices = guest.sources.block_devices.of_server(guest.server)
    root = next((device.device for device in devices if device.boot_index == 0), "/dev/vda")
    volumes = {f"ebs{index}": device.device for index, device in enumerate(devices)}
    return {"ami": root.removeprefix("/dev/"), "root": root, **volumes}
