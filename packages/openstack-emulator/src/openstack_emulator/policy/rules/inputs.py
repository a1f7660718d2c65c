"""What requests want to be created."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class NewPolicy:
    """A policy that is to be created."""

    name: str
    abbreviation: str | None = None
    description: str | None = None
    kind: str | None = None


@dataclass(frozen=True, kw_only=True)
class NewRule:
    """A rule that a policy is to have; `rule` is what a request has in place of one, which the parser examines."""

    rule: Any
    name: str | None
    comment: str | None
