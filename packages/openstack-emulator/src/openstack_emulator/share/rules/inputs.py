"""What requests want to be created, as far as it is not only a name.

Without a value, the service decides. Sizes and protocols come as requests have them: which of them are valid depends
on what a share is created from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from openstack_emulator.core.validation.conversions import as_boolean


def _named(body: Mapping[str, Any], name: str) -> str | None:
    """A field of a body under its present name, or with the old prefix `display_`."""
    found: str | None = body.get(name) or body.get(f"display_{name}")
    return found


@dataclass(frozen=True, kw_only=True)
class NewShare:
    """A share that is to be created; its type by id or name.

    request_id: the request that messages about the share name.
    """

    name: str | None
    description: str | None
    is_public: bool
    metadata: dict[str, str]
    share_type: str | None
    availability_zone: str | None
    size: object = None
    share_proto: object = None
    share_network_id: str | None = None
    snapshot_id: str | None = None
    request_id: str | None = None

    @classmethod
    def from_json(cls, body: Mapping[str, Any], share_type: str | None, request_id: str | None = None) -> Self:
        """The share of a request's body, in which an empty string is the same as null."""
        return cls(
            name=_named(body, "name"),
            description=_named(body, "description"),
            is_public=bool(as_boolean(body.get("is_public"))),
            metadata=body.get("metadata") or {},
            share_type=share_type or None,
            availability_zone=body.get("availability_zone") or None,
            size=body.get("size"),
            share_proto=body.get("share_proto"),
            share_network_id=body.get("share_network_id") or None,
            snapshot_id=body.get("snapshot_id") or None,
            request_id=request_id,
        )


@dataclass(frozen=True, kw_only=True)
class BackendLocation:
    """Where a share is that is to be managed: its host, the path of its export, and its protocol."""

    host: str
    path: str
    protocol: str


@dataclass(frozen=True, kw_only=True)
class NewSnapshot:
    """A snapshot that is to be taken."""

    name: str | None
    description: str | None
    metadata: dict[str, str]

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Self:
        return cls(
            name=_named(body, "name"),
            description=_named(body, "description"),
            metadata=body.get("metadata") or {},
        )


@dataclass(frozen=True, kw_only=True)
class NewRule:
    """A client that is to be allowed the use of a share."""

    access_type: str
    access_to: str
    access_level: str | None
    metadata: dict[str, str]


@dataclass(frozen=True, kw_only=True)
class NewSubnet:
    """A subnet that a share network is to have."""

    availability_zone: str | None
    metadata: dict[str, str]
    neutron_net_id: str | None
    neutron_subnet_id: str | None

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Self:
        return cls(
            availability_zone=body.get("availability_zone"),
            metadata=body.get("metadata") or {},
            neutron_net_id=body.get("neutron_net_id"),
            neutron_subnet_id=body.get("neutron_subnet_id"),
        )


@dataclass(frozen=True, kw_only=True)
class NewSecurityService:
    """A security service that is to be created."""

    type: str
    name: str | None = None
    description: str | None = None
    dns_ip: str | None = None
    server: str | None = None
    domain: str | None = None
    user: str | None = None
    password: str | None = None
    ou: str | None = None
