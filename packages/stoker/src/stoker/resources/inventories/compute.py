"""Inventories of Nova's types."""

from __future__ import annotations

from collections.abc import Mapping

from stoker.plugins.inventory import Fields, RelatedList

PORTS = "ports"
"""Under this key, the ports of a server are among its fields."""


def _server(values: Mapping[str, object], server: Fields) -> Fields:
    """A server, with its ports and the volumes that are attached to it.

    Without an image, it boots from the first volume.
    """
    flavor, image = server["flavor"], server.get("image") or {}
    ports = sorted(server[PORTS], key=lambda port: (str(port.get("created_at")), port["id"]))
    volumes = [volume["id"] for volume in server.get("os-extended-volumes:volumes_attached") or ()]
    boots = None if image else next(iter(volumes), None)
    disks = [{"volume_id": volume, "boot_index": 0 if volume == boots else -1} for volume in volumes]
    return {
        "name": server["name"],
        "image": image.get("id"),
        "flavor": flavor.get("id") or flavor.get("original_name"),
        "key_name": server.get("key_name") or None,
        "availability_zone": server.get("OS-EXT-AZ:availability_zone"),
        "config_drive": bool(server.get("config_drive")),
        "metadata": server.get("metadata"),
        "tags": server.get("tags") or None,
        "networks": [{"port": port["id"]} for port in ports] or None,
        "block_device_mapping_v2": disks or None,
    }


def _key_pair(values: Mapping[str, object], key: Fields) -> Fields:
    return {"name": key["name"], "public_key": key.get("public_key"), "type": key.get("type")}


def _server_group(values: Mapping[str, object], group: Fields) -> Fields:
    policies = [group["policy"]] if "policy" in group else list(group["policies"])
    return {"name": group["name"], "policies": policies[:1], "rules": group.get("rules") or None}


ROWS: Mapping[str, Mapping[str, object]] = {
    "OS::Nova::Server": {
        "related": RelatedList("neutron", "/v2.0/ports", "ports", "device_id", PORTS, "project_id"),
        "usual": {"config_drive": False},
        "varying": frozenset({"availability_zone"}),
        "describe": _server,
    },
    "OS::Nova::KeyPair": {"usual": {"type": "ssh"}, "describe": _key_pair},
    "OS::Nova::ServerGroup": {"describe": _server_group},
}
