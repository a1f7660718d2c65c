"""What the policy service keeps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from openstack_emulator.core.typed import TypedRecord


@dataclass(slots=True, kw_only=True, eq=False)
class Policy(TypedRecord):
    """A policy; `owner_id` is the user who created it."""

    name: str
    abbreviation: str
    description: str
    owner_id: str
    kind: str


@dataclass(slots=True, kw_only=True, eq=False)
class PolicyRule(TypedRecord):
    """A rule of a policy, in the form in which the language writes it."""

    policy_id: str
    rule: str
    name: str | None
    comment: str | None


@dataclass(slots=True, kw_only=True, eq=False)
class DataSource(TypedRecord):
    """The objects of a service as tables, which a driver reads.

    type, config: always empty; a driver reads this cloud with the caller's token, whatever requests configure.
    """

    name: str
    driver: str
    description: str
    type: str | None
    enabled: bool
    config: dict[str, Any]
