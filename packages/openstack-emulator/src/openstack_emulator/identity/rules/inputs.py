"""What requests want of the identity service, beyond records as they are to be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class NewTrust:
    """A trust that is to be made; `roles` has an object with the ID or the name of each."""

    trustor_user_id: str
    trustee_user_id: str
    impersonation: bool
    project_id: str | None = None
    roles: Sequence[Mapping[str, object]] = ()
    expires_at: str | None = None
    remaining_uses: int | None = None
    allow_redelegation: bool = False
    redelegation_count: int | None = None
    extra: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class NewAccessRule:
    """An access rule: a known one, by its ID, or what it is to allow."""

    id: str | None = None
    service: str | None = None
    path: str | None = None
    method: str | None = None


@dataclass(frozen=True, kw_only=True)
class NewApplicationCredential:
    """An application credential that is to be made; `roles` has an object with the ID or the name of each."""

    name: str
    description: str | None = None
    secret: str | None = None
    expires_at: str | None = None
    roles: Sequence[Mapping[str, object]] = ()
    unrestricted: bool | None = None
    access_rules: Sequence[NewAccessRule] | None = None
