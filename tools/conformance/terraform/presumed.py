"""What a configuration presumes of its cloud, and what the provider makes of its arguments before it sends them.

A configuration of somebody else names images, flavors and networks of the cloud that it is for. They are made on the
emulated cloud first. An ID that is written into a configuration is that of such an object, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from openstack_emulator.testing import ServedCloud
from testing.terraform.applying import PREFIX, Applying, Fields
from testing.terraform.special import MAKERS, REFRESHED
from tools.conformance.terraform.functions import KEY
from tools.conformance.terraform.reading import last_servers

_OF_ADMINISTRATORS = re.compile(
    r"identity_|compute_flavor|compute_aggregate|blockstorage_qos|blockstorage_volume_type|lb_flavor"
)
_NUMBERS = frozenset(
    [
        "size",
        "ram",
        "vcpus",
        "disk",
        "swap",
        "ephemeral",
        "ttl",
        "delay",
        "timeout",
        "max_retries",
        "weight",
        "protocol_port",
        "port_range_min",
        "port_range_max",
        "ip_version",
        "volume_size",
        "boot_index",
        "node_count",
        "master_count",
        "docker_volume_size",
        "mtu",
        "from_port",
        "to_port",
        "priority",
        "connection_limit",
        "min_disk_gb",
        "min_ram_mb",
        "bit_length",
    ]
)
_STRINGS = frozenset(["expected_codes", "flavor_id"])
_MAPS_OF_STRINGS = frozenset(["metadata", "labels", "extra_specs", "specs", "extra", "properties"])
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_NAMES_OF_IDS = {
    "image_id": "image",
    "flavor_id": "flavor",
    "external_network_id": "outside",
    "external_gateway": "outside",
    "network_id": "network",
    "vip_network_id": "network",
    "subnet_id": "subnet",
    "vip_subnet_id": "subnet",
}
"""Arguments that are IDs, with what they are IDs of."""


class AssumedObjects:
    """The objects that a configuration presumes, made on an emulated cloud as they are asked for."""

    def __init__(self, served: ServedCloud, configuration: Mapping[str, Any]) -> None:
        self._resources: Mapping[str, Fields] = configuration["resources"]
        kinds = [address.removeprefix("data.").split(".")[-2] for address in self._resources]
        self._project = (
            "admin" if any(_OF_ADMINISTRATORS.match(kind.removeprefix(PREFIX)) for kind in kinds) else "demo"
        )
        self._administrator = Applying(served, "admin", MAKERS, REFRESHED)
        self._user = Applying(served, self._project, MAKERS, REFRESHED)
        self._known: dict[tuple[str, str], str] = {}

    def configuration(self, read: Mapping[str, Any]) -> Fields:
        """Return a configuration whose arguments are as the provider sends them."""
        found = {address: self._arguments(address, fields) for address, fields in self._resources.items()}
        return {**read, "as": self._project, "resources": last_servers(found)}

    def _arguments(self, address: str, arguments: Mapping[str, Any]) -> Fields:
        kind = re.sub(r"^(data\.)?(module\.[^.]+\.)*", "", address).partition(".")[0].removeprefix(PREFIX)
        if address.startswith("data."):
            return self._source(kind, _converted(arguments))
        fields = self._with_ids(_converted(arguments))
        if kind == "networking_subnet_v2":
            fields.setdefault("ip_version", 4)
        elif kind == "compute_instance_v2":
            self._server(fields)
        elif kind in ("networking_floatingip_v2", "compute_floatingip_v2"):
            self._outside(fields["pool"])
        elif kind == "containerinfra_clustertemplate_v1":
            self._clusters(fields)
        elif kind.startswith("blockstorage_volume") and fields.get("volume_type"):
            self._volume_type(fields["volume_type"])
        return fields

    def _with_ids(self, fields: Fields) -> Fields:
        for name, noun in _NAMES_OF_IDS.items():
            value = fields.get(name)
            if isinstance(value, str) and value and not value.startswith("${"):
                target = "external_network_id" if name == "external_gateway" else name
                del fields[name]
                fields[target] = self._named(noun, value)
        return fields

    def _server(self, fields: Fields) -> None:
        if name := fields.pop("image_name", None):
            fields["image_id"] = self._named("image", name)
        if name := fields.pop("flavor_name", None):
            fields["flavor_id"] = self._named("flavor", name)
        for entry in fields.get("network", []):
            name = entry.pop("name", None)
            if name and not entry.get("uuid"):
                entry["uuid"] = self._reference("networking_network_v2", name) or self._named("network", name)
            elif entry.get("uuid") and not entry["uuid"].startswith("${"):
                entry["uuid"] = self._named("network", entry["uuid"])
        key = fields.get("key_pair", "")
        if key and not key.startswith("${") and not self._reference("compute_keypair_v2", key):
            self._key_pair(key)
        for name in fields.get("security_groups", []):
            if not self._made("secgroup_v2", name) and not name.startswith("${"):
                self._security_group(name)

    def _clusters(self, fields: Fields) -> None:
        for name in ("flavor", "master_flavor"):
            if fields.get(name):
                self._named("flavor", fields[name])
        self._named("image", fields["image"])

    def _source(self, kind: str, arguments: Fields) -> Fields:
        """Return by which name or reference a data source finds its object, which is made if it is presumed."""
        name = str(arguments.get("name") or f"presumed {kind}")
        if kind.startswith("images_image"):
            self._named("image", name)
        elif kind.startswith("compute_flavor"):
            self._named("flavor", name)
        elif kind == "networking_network_v2" and not self._made(kind, name):
            self._outside(name) if re.search("ext|public|internet|provider", name, re.I) else self._named(
                "network", name
            )
        elif kind == "networking_secgroup_v2" and not self._made("secgroup_v2", name):
            self._security_group(name)
        elif kind == "networking_port_v2":
            return {key: arguments[key] for key in ("name", "device_id", "network_id") if key in arguments}
        elif kind == "networking_subnet_v2":
            self._named("network", name)
        elif kind.startswith("identity_project"):
            name = "admin"
        return {"name": name}

    def _reference(self, kind: str, name: str) -> str | None:
        address = self._made(kind, name)
        return f"${{{address}.id}}" if address else None

    def _made(self, kind: str, name: str) -> str | None:
        """Return the address of the resource that makes an object with this name."""
        fits = (
            address
            for address, fields in self._resources.items()
            if f"{kind}." in address and not address.startswith("data.") and fields.get("name") == name
        )
        return next(fits, None)

    def _named(self, noun: str, name: str) -> str:
        """Return the ID of the presumed object with this name, or of the one that stands for this ID."""
        if noun == "outside" and _UUID.fullmatch(name):
            pools = [each["pool"] for each in self._resources.values() if isinstance(each.get("pool"), str)]
            name = pools[0] if pools else name
        if (noun, name) not in self._known:
            make = {"image": self._image, "flavor": self._flavor, "outside": self._outside, "network": self._network}
            self._known[noun, name] = make.get(noun, self._subnet)(name)
        return self._known[noun, name]

    def _image(self, name: str) -> str:
        body = {
            "name": name,
            "container_format": "bare",
            "disk_format": "qcow2",
            "visibility": "public",
            "os_distro": "fedora-coreos",
        }
        image = self._administrator.send("POST", "/image/v2/images", body)
        method = {"method": {"name": "web-download", "uri": "http://images.example/image"}}
        self._administrator.send("POST", f"/image/v2/images/{image['id']}/import", method)
        return str(image["id"])

    def _flavor(self, name: str) -> str:
        name = f"flavor {name}" if name.isdigit() else name
        known = self._administrator.send("GET", "/compute/v2.1/flavors")["flavors"]
        for each in known:
            if each["name"] == name:
                return str(each["id"])
        body = {"flavor": {"name": name, "ram": 1024, "vcpus": 1, "disk": 10}}
        return str(self._administrator.send("POST", "/compute/v2.1/flavors", body)["flavor"]["id"])

    def _outside(self, name: str) -> str:
        return self._net(self._administrator, name, {"router:external": True}, "198.51.100.0/24")

    def _network(self, name: str) -> str:
        return self._net(self._user, name, {}, "10.200.0.0/16")

    def _subnet(self, name: str) -> str:
        network = self._network(name)
        return str(self._user.send("GET", f"/network/v2.0/subnets?network_id={network}")["subnets"][0]["id"])

    def _net(self, by: Applying, name: str, also: Mapping[str, Any], cidr: str) -> str:
        found = by.send("GET", "/network/v2.0/networks")["networks"]
        for each in found:
            if each["name"] == name:
                return str(each["id"])
        made = by.send("POST", "/network/v2.0/networks", {"network": {"name": name, **also}})["network"]
        subnet = {"name": name, "network_id": made["id"], "cidr": cidr, "ip_version": 4}
        by.send("POST", "/network/v2.0/subnets", {"subnet": subnet})
        return str(made["id"])

    def _key_pair(self, name: str) -> None:
        if ("key", name) not in self._known:
            body = {"keypair": {"name": name, "public_key": KEY}}
            self._known["key", name] = self._user.send("POST", "/compute/v2.1/os-keypairs", body)["keypair"]["name"]

    def _security_group(self, name: str) -> None:
        known = self._user.send("GET", "/network/v2.0/security-groups")["security_groups"]
        if name not in {each[key] for each in known for key in ("id", "name")}:
            body = {"security_group": {"name": name}}
            self._user.send("POST", "/network/v2.0/security-groups", body)

    def _volume_type(self, name: str) -> None:
        known = self._administrator.send("GET", "/volume/v3/types")["volume_types"]
        if name not in {each["name"] for each in known}:
            self._administrator.send("POST", "/volume/v3/types", {"volume_type": {"name": name}})


def _converted(arguments: Mapping[str, Any]) -> Fields:
    """Return arguments in the types of the provider's schema."""
    return dict(_typed(arguments))


def _typed(arguments: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in arguments.items():
        if isinstance(value, list):
            yield name, [_converted(each) if isinstance(each, dict) else each for each in value]
        elif isinstance(value, dict):
            is_text = name in _MAPS_OF_STRINGS
            yield name, {key: _text(each) for key, each in value.items()} if is_text else value
        elif name in _NUMBERS and isinstance(value, str) and re.fullmatch(r"-?\d+", value):
            yield name, int(value)
        elif name in _STRINGS:
            yield name, str(value)
        elif value in ("true", "false"):
            yield name, value == "true"
        else:
            yield name, value


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
