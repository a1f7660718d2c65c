"""What requests ask for, in the words of this service."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from ipaddress import ip_address
from typing import Any

from openstack_emulator.compute.records import InjectedFile


@dataclass(frozen=True, kw_only=True)
class NewServer:
    """The body of `POST /servers`, checked. count: how many servers are to be made.

    networks: a list, `none`, `auto`, or None. mappings, legacy_mappings: the block devices in the present and in the
    old form. hints: what the scheduler is to consider. security_groups: names or ids.
    """

    name: str
    flavor: Any
    image: str | None
    hostname: str | None
    password: str | None
    metadata: dict[str, str]
    description: str | None
    tags: list[str]
    networks: Any
    security_groups: list[str]
    mappings: Sequence[Mapping[str, object]]
    legacy_mappings: Sequence[Mapping[str, object]]
    key_name: str | None
    config_drive: bool
    user_data: str | None
    files: list[InjectedFile]
    disk_config: str
    access_ip_v4: str
    access_ip_v6: str
    trusted_image_certificates: list[str] | None
    availability_zone: str
    host: str | None
    count: int
    hints: dict[str, Any]

    @classmethod
    def from_json(cls, body: Mapping[str, Any], hints: dict[str, object]) -> NewServer:
        """What the `server` of a body asks for."""
        get = body.get
        return cls(
            name=get("name", "").strip(),
            flavor=get("flavorRef"),
            image=get("imageRef"),
            hostname=get("hostname"),
            password=get("adminPass"),
            metadata=get("metadata") or {},
            description=get("description"),
            tags=list(get("tags") or []),
            networks=get("networks"),
            security_groups=[group.get("name") for group in get("security_groups") or []],
            mappings=get("block_device_mapping_v2") or [],
            legacy_mappings=get("block_device_mapping") or [],
            key_name=get("key_name"),
            config_drive=str(get("config_drive") or "").lower() in ("true", "1"),
            user_data=get("user_data"),
            files=[InjectedFile.from_json(entry) for entry in get("personality") or []],
            disk_config=get("OS-DCF:diskConfig", "MANUAL"),
            access_ip_v4=shortest(get("accessIPv4", "")),
            access_ip_v6=shortest(get("accessIPv6", "")),
            trusted_image_certificates=get("trusted_image_certificates"),
            availability_zone=get("availability_zone") or "",
            host=get("host") or get("hypervisor_hostname"),
            count=int(get("max_count") or get("min_count") or 1),
            hints=hints,
        )

    def with_mappings(self, mappings: Sequence[Mapping[str, object]]) -> NewServer:
        """The same with other block devices."""
        return replace(self, mappings=mappings)


_CHANGES: Mapping[str, str] = {
    "accessIPv4": "access_ip_v4",
    "accessIPv6": "access_ip_v6",
    "OS-DCF:diskConfig": "disk_config",
    **{name: name for name in ("name", "description", "metadata", "user_data", "key_name", "hostname")},
}
"""What a rebuild and an update may change, with the names in the record."""


def changes_of(body: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a server that the body of a rebuild or an update sets."""
    changes = {field: body[name] for name, field in _CHANGES.items() if name in body}
    for field in ("access_ip_v4", "access_ip_v6"):
        if field in changes:
            changes[field] = shortest(changes[field])
    if "personality" in body:
        changes |= {"files": [InjectedFile.from_json(entry) for entry in body.get("personality") or []]}
    return changes


def shortest(address: str) -> str:
    """An address in its shortest form; empty stays empty."""
    return str(ip_address(address)) if address else ""
