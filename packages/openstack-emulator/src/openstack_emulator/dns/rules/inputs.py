"""What requests want to be created, with fields that were checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from openstack_emulator.dns.rules.pools import DEFAULT_POOL

DEFAULT_TTL = 3600


@dataclass(frozen=True, kw_only=True)
class NewZone:
    """A zone."""

    name: str
    type: str
    email: str = ""
    description: str | None = None
    masters: list[str] = field(default_factory=list)
    ttl: int = DEFAULT_TTL
    attributes: dict[str, str] = field(default_factory=dict)
    pool_id: str = DEFAULT_POOL

    @classmethod
    def from_json(cls, body: Mapping[str, Any], kind: str) -> Self:
        """The zone of a request's body, in which what is null is the same as what is not there."""
        ttl = body.get("ttl")
        return cls(
            name=body["name"],
            type=kind,
            email=body.get("email") or "",
            description=body.get("description"),
            masters=body.get("masters") or [],
            ttl=DEFAULT_TTL if ttl is None else ttl,
            attributes=body.get("attributes") or {},
            pool_id=body.get("pool_id") or DEFAULT_POOL,
        )


@dataclass(frozen=True, kw_only=True)
class NewRecordSet:
    """A record set."""

    name: str
    type: str
    records: Sequence[str]
    ttl: int | None = None
    description: str | None = None

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Self:
        return cls(
            name=body["name"],
            type=body["type"],
            records=body["records"],
            ttl=body.get("ttl"),
            description=body.get("description"),
        )


@dataclass(frozen=True, kw_only=True)
class NewTransferRequest:
    """A request to transfer a zone; without a target, every project may accept it."""

    target_project_id: str | None
    description: str | None

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Self:
        return cls(target_project_id=body.get("target_project_id"), description=body.get("description"))


@dataclass(frozen=True, kw_only=True)
class NewName:
    """The name of a floating IP."""

    host: str
    ttl: int | None
    description: str | None

    @classmethod
    def from_json(cls, body: Mapping[str, Any], host: str) -> Self:
        return cls(host=host, ttl=body.get("ttl"), description=body.get("description"))
