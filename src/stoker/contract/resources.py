"""Requests about the resources of a stack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stoker.contract.request import OfStack


@dataclass(frozen=True, kw_only=True)
class SignalResource(OfStack[None]):
    """Deliver a signal to a resource, by its name or, if that is unambiguous, its physical ID."""

    method = "resource_signal"
    name: str
    details: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class MarkResourceUnhealthy(OfStack[None]):
    """Have the next update replace a resource, or revoke that."""

    method = "resource_mark_unhealthy"
    name: str
    mark_unhealthy: bool
    resource_status_reason: str | None = None
